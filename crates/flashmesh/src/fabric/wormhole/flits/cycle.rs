//! One cycle of the flit-level network: first links are granted, then flits cross.

use crate::ids::LinkId;

use crate::fabric::wormhole::packet::{Crossing, Delivery, Injection, NetworkReports, Packet};

use super::flit_link::{Flit, Holder, Request, SharedWireSide};
use super::{FlitNetwork, FlitPacketId};

impl FlitNetwork {
    /// Runs cycle `now`, which must be the next cycle with a possible event. Adds the injections and deliveries of the cycle to `outbox`.
    pub(super) fn run_cycle(&mut self, now: u64, outbox: &mut NetworkReports) {
        self.reached = now + 1;
        let mut links = std::mem::take(&mut self.stepped);
        links.clone_from(&self.active);
        for &link in &links {
            self.grant(link, now);
        }
        for &link in &links {
            self.cross(link, now, outbox);
        }
        self.stepped = links;
        self.next = u64::MAX;
        let FlitNetwork { active, ports, next, .. } = self;
        active.retain(|link| {
            let port = &mut ports[link.index()];
            port.is_active = port.holder.is_some() || !port.arbiter.is_empty();
            if port.holder.is_some() {
                *next = now + 1;
            } else if let Some(ready) = port.arbiter.ready() {
                *next = (*next).min(ready.max(port.grant_free).max(now + 1));
            }
            port.is_active
        });
    }

    fn request(&mut self, link: LinkId, request: Request) {
        let port = &mut self.ports[link.index()];
        port.arbiter.request(request);
        if !std::mem::replace(&mut port.is_active, true) {
            self.active.push(link);
        }
        self.next = self.next.min(request.ready.max(self.reached));
    }

    pub(super) fn request_injection(&mut self, packet: FlitPacketId, queue: usize) {
        let flying = &self.packets[packet];
        let ready = flying.created + u64::from(self.parameters.interface_cycles);
        let link = self.topology.injection(flying.packet.source);
        self.request(link, Request { packet, source: None, input: queue as u32, ready });
    }

    /// Requests the next link for the first flit in the buffer at the end of link `source`, if that flit is a head.
    fn request_output(&mut self, source: LinkId) {
        let port = &self.ports[source.index()];
        let route_cycles = u64::from(self.parameters.hop_cycles + self.parameters.head_cycles);
        let Some((packet, ready)) = port.buffer.first_head(route_cycles) else { return };
        let link = self.topology.next_link(port.end, self.packets[packet].packet.destination);
        self.request(link, Request { packet, source: Some(source), input: self.topology.input(source), ready });
    }

    /// Grants `link`, if it is free, to its best request that can be granted at `now`.
    fn grant(&mut self, link: LinkId, now: u64) {
        let port = &mut self.ports[link.index()];
        if port.holder.is_some() || port.grant_free > now {
            return;
        }
        let Some(request) = port.arbiter.dequeue_best(now, &self.parameters, &self.packets) else { return };
        let Request { packet, source, input, .. } = request;
        port.holder = Some(Holder { packet, source, sent: 0, head: now });
        self.start_wire_hold(link, now);
        match source {
            Some(source) => self.ports[source.index()].buffer.set_output_link(link),
            None => {
                let packet = self.packets[packet].packet;
                let terminal = &mut self.terminals[packet.source.index()];
                terminal.waiting.remove(&packet);
                let queue = input as usize;
                terminal.queues[queue].pop_front();
                if let Some(&next) = terminal.queues[queue].front() {
                    self.request_injection(next, queue);
                }
            }
        }
    }

    /// Returns the link that counts the hold times of the wire of `link`, and whether the other direction of the wire is held. Without a shared wire,
    /// these are `link` and `false`.
    fn wire_of(&self, link: LinkId) -> (LinkId, bool) {
        match self.ports[link.index()].side {
            Some(SharedWireSide { reverse, .. }) => (link.min(reverse), self.ports[reverse.index()].holder.is_some()),
            None => (link, false),
        }
    }

    /// Starts a hold of the wire of `link` at `now`, unless the link in the other direction holds the wire already.
    fn start_wire_hold(&mut self, link: LinkId, now: u64) {
        if let (wire, false) = self.wire_of(link) {
            self.ports[wire.index()].held.begin(now);
        }
    }

    /// Ends the hold of the wire of `link` at `free`, unless the link in the other direction still holds the wire.
    fn end_wire_hold(&mut self, link: LinkId, free: u64) {
        if let (wire, false) = self.wire_of(link) {
            self.ports[wire.index()].held.end(free);
        }
    }

    /// Returns whether the packet that holds `link` has a flit that can cross at `now` into a free slot. `false` if no packet holds the link.
    fn can_cross(&self, link: LinkId, now: u64) -> bool {
        let port = &self.ports[link.index()];
        let Some(Holder { packet, source, sent, .. }) = port.holder else { return false };
        let has_flit = source.is_none_or(|source| {
            self.ports[source.index()].buffer.first().is_some_and(|flit| {
                (flit.packet, flit.index) == (packet, sent)
                    && flit.crossed + u64::from(self.parameters.hop_cycles) <= now
            })
        });
        has_flit && port.has_slot(now) && port.flit_free <= now
    }

    /// Moves the next flit of the packet that holds `link`, if it can cross at `now` and the wire is available. A shared wire is not if it carries a
    /// flit in the other direction, or if that direction has the token and a flit that can cross.
    fn cross(&mut self, link: LinkId, now: u64, outbox: &mut NetworkReports) {
        if self.parameters.credit_cycles.min(self.parameters.injection_credit_cycles) == 0 {
            self.make_room(link, now, outbox);
        }
        if !self.can_cross(link, now) {
            return;
        }
        if let Some(SharedWireSide { reverse, has_token }) = self.ports[link.index()].side {
            // A direction sends only if the wire carries no flit of the other direction and, without the token, only if that direction cannot send.
            let is_taken = self.ports[reverse.index()].flit_free > now;
            if is_taken || (!has_token && self.can_cross(reverse, now)) {
                return;
            }
            self.pass_token(link, reverse);
        }
        self.carry(link, now, outbox);
    }

    /// Passes the transfer token of a shared wire from `link` to `reverse`, the link in the other direction.
    fn pass_token(&mut self, link: LinkId, reverse: LinkId) {
        self.ports[link.index()].side = Some(SharedWireSide { reverse, has_token: false });
        self.ports[reverse.index()].side = Some(SharedWireSide { reverse: link, has_token: true });
    }

    /// Moves the first flit out of the buffer at the end of `link`, if it is full, so that the slot is free in the same cycle. Recurses along the
    /// links, but not for ever: deadlock-free routes form no cycle of links.
    fn make_room(&mut self, link: LinkId, now: u64, outbox: &mut NetworkReports) {
        let port = &self.ports[link.index()];
        if port.holder.is_some()
            && let Some(drain) = port.buffer.output_if_full()
        {
            self.cross(drain, now, outbox);
        }
    }

    /// Moves the next flit of the packet that holds `link`, which must be able to cross, over `link` at `now`. Releases the link after the tail.
    fn carry(&mut self, link: LinkId, now: u64, outbox: &mut NetworkReports) {
        let port = &mut self.ports[link.index()];
        let Some(holder) = &mut port.holder else { return };
        let Holder { packet, source, sent: index, .. } = *holder;
        holder.sent += 1;
        if index == 0 {
            holder.head = now;
        }
        let head = holder.head;
        let Packet { token, source: terminal, destination, flits, .. } = self.packets[packet].packet;
        let is_tail = index + 1 == flits;
        let is_ejection = port.is_ejection;
        let flit_cycles = u64::from(self.parameters.flit_cycles);
        port.flit_free = now + flit_cycles;
        if is_tail {
            port.holder = None;
            port.grant_free = now + flit_cycles + u64::from(port.gap_cycles);
            self.end_wire_hold(link, now + flit_cycles);
        }
        let port = &mut self.ports[link.index()];
        if !is_ejection && port.buffer.enter(Flit { packet, index, crossed: now }) && index == 0 {
            self.request_output(link);
        }
        self.log.record(|| Crossing { token, link, head: now, tail: now });
        match source {
            Some(source) => self.leave(source, is_tail, now),
            None if is_tail => outbox.injections.push(Injection { token, source: terminal, tail: now }),
            None => {}
        }
        if is_tail && is_ejection {
            let flying = self.packets[packet];
            let least = self.parameters.zero_load_cycles(flits, flying.hops);
            let stalled = (now - flying.created).saturating_sub(least);
            outbox.deliveries.push(Delivery { token, destination, head, tail: now, hops: flying.hops, stalled });
            self.packets.remove(packet);
        }
    }

    /// Removes the first flit, which leaves at `now`, from the buffer at the end of link `source`. After a tail, the next packet in the buffer
    /// requests its link.
    fn leave(&mut self, source: LinkId, is_tail: bool, now: u64) {
        let buffer = &mut self.ports[source.index()].buffer;
        buffer.leave(now);
        if is_tail {
            buffer.tail_left(now, self.parameters.head_of_line_cycles);
            self.request_output(source);
        }
    }
}
