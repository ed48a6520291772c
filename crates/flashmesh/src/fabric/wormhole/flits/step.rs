//! One cycle: links are granted, then flits cross.

use crate::ids::LinkId;

use crate::fabric::wormhole::packet::{Crossing, Delivery, Injection, Outbox, Packet};

use super::port::{Flit, Holder, Request, Side};
use super::{FlitNetwork, FlyingId};

impl FlitNetwork {
    /// Runs cycle `now`, the first one in which anything may happen.
    pub(super) fn run_cycle(&mut self, now: u64, outbox: &mut Outbox) {
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

    fn ask(&mut self, link: LinkId, request: Request) {
        let port = &mut self.ports[link.index()];
        port.arbiter.ask(request);
        if !std::mem::replace(&mut port.is_active, true) {
            self.active.push(link);
        }
        self.next = self.next.min(request.ready.max(self.reached));
    }

    pub(super) fn ask_for_injection(&mut self, packet: FlyingId, queue: usize) {
        let flying = &self.packets[packet];
        let ready = flying.created + u64::from(self.parameters.interface_cycles);
        let link = self.topology.injection(flying.packet.source);
        self.ask(link, Request { packet, source: None, input: queue as u32, ready });
    }

    /// The head that has come to the front of the buffer behind `source` asks for its next link.
    fn ask_for_output(&mut self, source: LinkId) {
        let port = &self.ports[source.index()];
        let route_cycles = u64::from(self.parameters.hop_cycles + self.parameters.head_cycles);
        let Some((packet, ready)) = port.buffer.first_head(route_cycles) else { return };
        let link = self.topology.next(port.end, self.packets[packet].packet.destination);
        self.ask(link, Request { packet, source: Some(source), input: self.topology.input(source), ready });
    }

    /// Grants a free link to the best of those that may be granted it.
    fn grant(&mut self, link: LinkId, now: u64) {
        let port = &mut self.ports[link.index()];
        if port.holder.is_some() || port.grant_free > now {
            return;
        }
        let Some(request) = port.arbiter.take_best(now, &self.parameters, &self.packets) else { return };
        let Request { packet, source, input, .. } = request;
        port.holder = Some(Holder { packet, source, sent: 0, head: now });
        self.wire_taken(link, now);
        match source {
            Some(source) => self.ports[source.index()].buffer.drains_over(link),
            None => {
                let packet = self.packets[packet].packet;
                let terminal = &mut self.terminals[packet.source.index()];
                terminal.waiting.remove(&packet);
                let queue = input as usize;
                terminal.queues[queue].pop_front();
                if let Some(&next) = terminal.queues[queue].front() {
                    self.ask_for_injection(next, queue);
                }
            }
        }
    }

    /// The link that keeps the account of the wire of `link`, and whether the other direction of it is held.
    fn wire_of(&self, link: LinkId) -> (LinkId, bool) {
        match self.ports[link.index()].side {
            Some(Side { reverse, .. }) => (link.min(reverse), self.ports[reverse.index()].holder.is_some()),
            None => (link, false),
        }
    }

    /// `link` was granted at `now`.
    fn wire_taken(&mut self, link: LinkId, now: u64) {
        if let (wire, false) = self.wire_of(link) {
            self.ports[wire.index()].held.begin(now);
        }
    }

    /// The packet on `link` has let go of it, from `free` on.
    fn wire_left(&mut self, link: LinkId, free: u64) {
        if let (wire, false) = self.wire_of(link) {
            self.ports[wire.index()].held.end(free);
        }
    }

    /// Whether the packet on `link` has a flit that may cross now, and a slot for it.
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

    /// Moves the next flit over `link`, if it can cross now and has the wire.
    fn cross(&mut self, link: LinkId, now: u64, outbox: &mut Outbox) {
        if self.parameters.credit_cycles.min(self.parameters.injection_credit_cycles) == 0 {
            self.make_room(link, now, outbox);
        }
        if !self.can_cross(link, now) {
            return;
        }
        if let Some(Side { reverse, has_token }) = self.ports[link.index()].side {
            // Whoever does not have the token sends only when the other side cannot, or has passed it on in this cycle.
            let is_taken = self.ports[reverse.index()].flit_free > now;
            if is_taken || (!has_token && self.can_cross(reverse, now)) {
                return;
            }
            self.pass_token(link, reverse);
        }
        self.carry(link, now, outbox);
    }

    /// The token of the wire goes from `link` to the other direction, `reverse`.
    fn pass_token(&mut self, link: LinkId, reverse: LinkId) {
        self.ports[link.index()].side = Some(Side { reverse, has_token: false });
        self.ports[reverse.index()].side = Some(Side { reverse: link, has_token: true });
    }

    /// Where a slot is free again in the cycle in which a flit leaves it: lets the first flit in the buffer behind `link` go on, if that is
    /// full. Links lead on without a circle, so this ends.
    fn make_room(&mut self, link: LinkId, now: u64, outbox: &mut Outbox) {
        let port = &self.ports[link.index()];
        if port.holder.is_some()
            && let Some(drain) = port.buffer.drain_if_full()
        {
            self.cross(drain, now, outbox);
        }
    }

    /// The next flit crosses `link`.
    fn carry(&mut self, link: LinkId, now: u64, outbox: &mut Outbox) {
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
            self.wire_left(link, now + flit_cycles);
        }
        let port = &mut self.ports[link.index()];
        if !is_ejection && port.buffer.enter(Flit { packet, index, crossed: now }) && index == 0 {
            self.ask_for_output(link);
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

    /// The first flit leaves the buffer behind `source`.
    fn leave(&mut self, source: LinkId, is_tail: bool, now: u64) {
        let buffer = &mut self.ports[source.index()].buffer;
        buffer.leave(now);
        if is_tail {
            buffer.tail_left(now, self.parameters.head_of_line_cycles);
            self.ask_for_output(source);
        }
    }
}
