//! One cycle: links are granted, then flits cross.

use crate::ids::LinkId;

use crate::fabric::wormhole::packet::{Class, Crossing, Delivery, Injection, Outbox, Packet};
use crate::fabric::wormhole::parameters::Arbitration;

use super::{Flit, FlitNetwork, FlyingId, Holder, Request};

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
            port.is_active = port.holder.is_some() || !port.requests.is_empty();
            if port.holder.is_some() {
                *next = now + 1;
            } else if let Some(ready) = port.requests.iter().map(|request| request.ready).min() {
                *next = (*next).min(ready.max(port.grant_free).max(now + 1));
            }
            port.is_active
        });
    }

    fn ask(&mut self, link: LinkId, request: Request) {
        let port = &mut self.ports[link.index()];
        port.requests.push(request);
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
        let Some(&Flit { packet, index: 0, crossed }) = port.buffer.front() else { return };
        let route = u64::from(self.parameters.hop_cycles + self.parameters.head_cycles);
        let ready = (crossed + route).max(port.looked_at);
        let link = self.topology.next(port.end, self.packets[packet].packet.destination);
        self.ask(link, Request { packet, source: Some(source), input: self.topology.input(source), ready });
    }

    /// Grants a free link to the best of those that may be granted it.
    fn grant(&mut self, link: LinkId, now: u64) {
        let port = &self.ports[link.index()];
        if port.holder.is_some() || port.grant_free > now {
            return;
        }
        let after_served = |input: u32| (input + port.inputs - 1 - port.served) % port.inputs;
        let key = |request: &Request| {
            let flying = &self.packets[request.packet];
            let Packet { class, token, .. } = flying.packet;
            let key = match self.parameters.arbitration {
                Arbitration::RoundRobin => (u64::from(after_served(request.input)), 0),
                Arbitration::Fifo => (request.ready, request.input.into()),
                Arbitration::Oldest => (flying.created, flying.order),
            };
            let breaks_run = class == Class::Small || port.run != Some(token);
            (self.parameters.small_first.then_some(class), breaks_run, key)
        };
        let ready = port.requests.iter().enumerate().filter(|(_, request)| request.ready <= now);
        let Some((best, _)) = ready.min_by_key(|(_, request)| key(request)) else { return };
        let port = &mut self.ports[link.index()];
        let Request { packet, source, input, .. } = port.requests.swap_remove(best);
        let Packet { class, token, source: terminal, flits, .. } = self.packets[packet].packet;
        port.served = input;
        port.run = if class == Class::Large { Some(token) } else { port.run };
        port.holder = Some(Holder { packet, source, sent: 0, head: now });
        self.wire_taken(link, now);
        match source {
            Some(source) => self.ports[source.index()].drain = Some(link),
            None => {
                let terminal = &mut self.terminals[terminal.index()];
                terminal.waiting.packets -= 1;
                terminal.waiting.flits -= u64::from(flits);
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
        match self.ports[link.index()].reverse {
            Some(reverse) => (link.min(reverse), self.ports[reverse.index()].holder.is_some()),
            None => (link, false),
        }
    }

    /// `link` was granted at `now`.
    fn wire_taken(&mut self, link: LinkId, now: u64) {
        if let (wire, false) = self.wire_of(link) {
            self.ports[wire.index()].held_since = now;
        }
    }

    /// The packet on `link` has let go of it, from `free` on.
    fn wire_left(&mut self, link: LinkId, free: u64) {
        if let (wire, false) = self.wire_of(link) {
            let port = &mut self.ports[wire.index()];
            port.held_cycles += free - port.held_since;
        }
    }

    /// Whether the packet on `link` has a flit that may cross now, and a slot for it.
    fn can_cross(&self, link: LinkId, now: u64) -> bool {
        let port = &self.ports[link.index()];
        let Some(Holder { packet, source, sent, .. }) = port.holder else { return false };
        let has_flit = source.is_none_or(|source| {
            self.ports[source.index()].buffer.front().is_some_and(|flit| {
                (flit.packet, flit.index) == (packet, sent)
                    && flit.crossed + u64::from(self.parameters.hop_cycles) <= now
            })
        });
        let has_slot = port.is_ejection || port.slots.front().is_some_and(|&slot| slot <= now);
        has_flit && has_slot && port.flit_free <= now
    }

    /// Moves the next flit over `link`, if it can cross now and has the wire.
    fn cross(&mut self, link: LinkId, now: u64, outbox: &mut Outbox) {
        if self.parameters.credit_cycles.min(self.parameters.injection_credit_cycles) == 0 {
            self.make_room(link, now, outbox);
        }
        if !self.can_cross(link, now) {
            return;
        }
        if let Some(reverse) = self.ports[link.index()].reverse {
            // Whoever does not have the token sends only when the other side cannot, or has passed it on in this cycle.
            let is_taken = self.ports[reverse.index()].flit_free > now;
            if is_taken || (!self.ports[link.index()].has_token && self.can_cross(reverse, now)) {
                return;
            }
            self.ports[link.index()].has_token = false;
            self.ports[reverse.index()].has_token = true;
        }
        self.carry(link, now, outbox);
    }

    /// Where a slot is free again in the cycle in which a flit leaves it: lets the first flit in the buffer behind `link` go on, if that is
    /// full. Links lead on without a circle, so this ends.
    fn make_room(&mut self, link: LinkId, now: u64, outbox: &mut Outbox) {
        let port = &self.ports[link.index()];
        if port.holder.is_some()
            && port.slots.is_empty()
            && let Some(drain) = port.drain
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
        let (is_ejection, is_injection) = (port.is_ejection, port.is_injection);
        let flit_cycles = u64::from(self.parameters.flit_cycles);
        port.flit_free = now + flit_cycles;
        if is_tail {
            port.holder = None;
            let gap = if is_injection { 0 } else { u64::from(self.parameters.gap_cycles) };
            port.grant_free = now + flit_cycles + gap;
            self.wire_left(link, now + flit_cycles);
        }
        let port = &mut self.ports[link.index()];
        if !is_ejection {
            port.slots.pop_front();
            port.buffer.push_back(Flit { packet, index, crossed: now });
            if index == 0 && port.buffer.len() == 1 {
                self.ask_for_output(link);
            }
        }
        if let Some(log) = &mut self.log {
            log.push(Crossing { token, link, head: now, tail: now });
        }
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
        let buffer = &mut self.ports[source.index()];
        let credit =
            if buffer.is_injection { self.parameters.injection_credit_cycles } else { self.parameters.credit_cycles };
        buffer.buffer.pop_front();
        buffer.slots.push_back(now + u64::from(credit));
        if is_tail {
            buffer.drain = None;
            buffer.looked_at = now + 1 + u64::from(self.parameters.head_of_line_cycles);
            self.ask_for_output(source);
        }
    }
}
