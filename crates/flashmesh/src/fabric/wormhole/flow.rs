//! How flits follow their heads: whole runs at a time, as far as arrivals and free slots are known.

use crate::ids::LinkId;

use super::network::{Link, NO_LINK, NO_REQUEST, NOT_YET, Network};
use super::packet::{Crossing, Delivery, Outbox, PacketId};
use super::parameters::GrantRule;
use super::stream::{Cursor, Run, RunPool};

impl Network {
    /// Moves what can move once `link`, the last one that its packet has been granted, is.
    ///
    /// As long as the buffers on the way do not hold the whole packet, its tail has yet to leave the terminal, whatever
    /// the flits in between do: nobody else can tell when they move. So only those next to the head do, and the
    /// others catch up in one go later.
    pub(super) fn follow_head(&mut self, link: LinkId, outbox: &mut Outbox) {
        let state = &self.links[link.index()];
        let in_flight = &self.packets[state.packet];
        let buffers_before = if state.source == NO_LINK { 0 } else { u64::from(in_flight.hops) + 1 };
        let exceeds =
            |buffers: u64| u64::from(in_flight.packet.flits) > buffers * u64::from(self.parameters.buffer_flits);
        let has_lagged = buffers_before > 0 && exceeds(buffers_before);
        if !state.is_ejection && exceeds(buffers_before + 1) {
            self.extend(link, outbox);
            return;
        }
        self.worklist.push(link);
        let mut feeder = state.source;
        while has_lagged && feeder != NO_LINK {
            self.worklist.push(feeder);
            feeder = self.links[feeder.index()].source;
        }
        self.settle(outbox);
    }

    /// Moves flits until none can move: a link that moved some has given arrivals to the next and slots to the one
    /// before.
    fn settle(&mut self, outbox: &mut Outbox) {
        while let Some(link) = self.worklist.pop() {
            if self.extend(link, outbox) {
                let drain = self.links[link.index()].drain;
                self.enlist(drain);
                self.enlist(self.links[link.index()].source);
            }
        }
    }

    #[inline]
    fn enlist(&mut self, link: LinkId) {
        if link != NO_LINK && self.links[link.index()].left > 0 {
            self.worklist.push(link);
        }
    }

    /// Takes a packet over `link` to which it is granted now, when all of its flits are in the buffer behind `source`, or
    /// will be in time, and find their slots free; tells whether it did. The usual case of all that is below, in one.
    #[inline]
    pub(super) fn hop_whole(&mut self, link: LinkId, source: LinkId, id: PacketId, outbox: &mut Outbox) -> bool {
        if self.parameters.grant_rule != GrantRule::Immediate {
            return false;
        }
        let (now, stride) = (self.now, self.parameters.flit_cycles);
        let packet = &mut self.packets[id];
        let flits = packet.packet.flits;
        let [state, feeder] =
            self.links.get_disjoint_mut([link.index(), source.index()]).expect("no link feeds its own port");
        // The first flit is there, or its packet would not have been granted the link.
        let arrivals = feeder.arrivals.front();
        if arrivals.count < flits || arrivals.stride > stride {
            return false;
        }
        let run = Run { start: now, count: flits, stride };
        if !state.is_ejection {
            state.slots.merge_until(now, &mut self.runs);
            let slots = state.slots.front();
            if slots.count < flits || slots.last() > now {
                return false;
            }
            state.slots.consume(flits, &mut self.runs);
            state.arrivals.push(run.after(self.parameters.hop_cycles), &mut self.runs);
        }
        feeder.arrivals.consume(flits, &mut self.runs);
        feeder.slots.push(run.after(feeder.credit_cycles), &mut self.runs);
        feeder.drain = NO_LINK;
        let tail = run.last();
        state.source = source;
        state.carried += u64::from(flits);
        state.driven.free = tail + u64::from(stride + state.gap_cycles);
        if let Some(log) = &mut self.log {
            log.push(Crossing { token: packet.packet.token, link, head: now, tail });
        }
        if state.is_ejection {
            feeder.looked_at = tail + 1 + u64::from(self.parameters.head_of_line_cycles);
            if let Some(next) = feeder.queue.pop(&self.packets) {
                self.ask_for_output(source, next);
            }
            self.report_delivery(id, now, tail, outbox);
        } else {
            (packet.head, packet.hops) = (now, packet.hops + 1);
            let is_first = state.queue.push(id, &mut self.packets);
            if is_first {
                self.ask_after_hop(link, id);
            }
            let feeder = &mut self.links[source.index()];
            feeder.looked_at = tail + 1 + u64::from(self.parameters.head_of_line_cycles);
            if let Some(next) = feeder.queue.pop(&self.packets) {
                self.ask_for_output(source, next);
            }
        }
        self.wake(link);
        // Whoever waits for the slots it has left moves on.
        if self.links[source.index()].left > 0 {
            self.worklist.push(source);
            self.settle(outbox);
        }
        true
    }

    /// Moves the flits of the packet on `link` that are known to arrive and to find slots; tells whether any did.
    fn extend(&mut self, link: LinkId, outbox: &mut Outbox) -> bool {
        let mut has_moved = false;
        while self.links[link.index()].left > 0 {
            let Some(run) = self.cross(link) else { break };
            has_moved = true;
            let state = &mut self.links[link.index()];
            let left = state.left;
            if state.head == NOT_YET {
                state.head = run.start;
                self.head_crosses(link, run.start);
            }
            if left == 0 {
                self.tail_crosses(link, run.last(), outbox);
            }
        }
        has_moved
    }

    /// Moves the next run of flits from the buffer it comes from to the one at the end of `link`.
    #[inline]
    fn cross(&mut self, link: LinkId) -> Option<Run> {
        let (stride, hop_cycles) = (self.parameters.flit_cycles, self.parameters.hop_cycles);
        let source = self.links[link.index()].source;
        if source == NO_LINK {
            let state = &mut self.links[link.index()];
            let slots = if state.is_ejection { Run::UNLIMITED } else { state.slots.front() };
            if slots.count == 0 {
                return None;
            }
            let run = Run::crossing(Run::UNLIMITED, slots, state.free, stride, state.left);
            state.carry(run, stride, hop_cycles, &mut self.runs);
            return Some(run);
        }
        let [state, feeder] =
            self.links.get_disjoint_mut([link.index(), source.index()]).expect("no link feeds its own port");
        let arrivals = feeder.arrivals.front();
        let slots = if state.is_ejection { Run::UNLIMITED } else { state.slots.front() };
        if arrivals.count == 0 || slots.count == 0 {
            return None;
        }
        let run = Run::crossing(arrivals, slots, state.free, stride, state.left);
        state.carry(run, stride, hop_cycles, &mut self.runs);
        feeder.arrivals.consume(run.count, &mut self.runs);
        let foretold = feeder.lent.min(run.count);
        feeder.lent -= foretold;
        if foretold < run.count {
            feeder.slots.push(run.skip(foretold).after(feeder.credit_cycles), &mut self.runs);
            if self.parameters.grant_rule != GrantRule::Immediate && feeder.requests != NO_REQUEST {
                let wire = feeder.wire;
                if !self.links[wire.index()].driven.is_held {
                    self.wake(wire);
                }
            }
        }
        Some(run)
    }

    fn head_crosses(&mut self, link: LinkId, at: u64) {
        let state = &mut self.links[link.index()];
        if state.is_ejection {
            return;
        }
        let (packet, source) = (state.packet, state.source);
        let in_flight = &mut self.packets[packet];
        in_flight.head = at;
        in_flight.hops += u32::from(source != NO_LINK);
        if state.queue.push(packet, &mut self.packets) {
            self.ask_after_hop(link, packet);
        }
    }

    fn tail_crosses(&mut self, link: LinkId, at: u64, outbox: &mut Outbox) {
        let state = &self.links[link.index()];
        let (packet, source, head, wire) = (state.packet, state.source, state.head, state.wire);
        let is_ejection = state.is_ejection;
        let free = state.free + u64::from(state.gap_cycles);
        let freed = &mut self.links[wire.index()].driven;
        (freed.is_held, freed.free) = (false, free);
        if let Some(log) = &mut self.log {
            log.push(Crossing { token: self.packets[packet].packet.token, link, head, tail: at });
        }
        if source == NO_LINK {
            self.report_injection(packet, at, outbox);
        } else {
            let buffer = &mut self.links[source.index()];
            buffer.drain = NO_LINK;
            buffer.looked_at = at + 1 + u64::from(self.parameters.head_of_line_cycles);
            if let Some(next) = buffer.queue.pop(&self.packets) {
                self.ask_for_output(source, next);
            }
        }
        if is_ejection {
            self.report_delivery(packet, head, at, outbox);
        }
        self.wake(wire);
    }

    fn report_delivery(&mut self, id: PacketId, head: u64, tail: u64, outbox: &mut Outbox) {
        let in_flight = &self.packets[id];
        let (packet, hops) = (in_flight.packet, in_flight.hops);
        let stalled = tail - in_flight.created - self.cycles_when_empty(packet.flits, hops);
        let (token, destination) = (packet.token, packet.destination);
        outbox.deliveries.push(Delivery { token, destination, head, tail, hops, stalled });
        self.packets.remove(id);
    }

    /// The packet on `ejection` has its whole way: moves all that is left of it, in two passes over its links.
    ///
    /// [`settle`](Self::settle) would move a buffer of flits at a time back and forth. But with buffers that cover the
    /// round trip of a slot, a flit that waits for its slot waits no longer than one that follows the flit that frees
    /// it: going forth and back over a pair of links is never the longest way through the recurrence. So slots can be
    /// foretold, from the ejection link backwards, as if every flit were there in time, and then the flits follow them
    /// forwards.
    pub(super) fn drain_at_once(&mut self, ejection: LinkId, outbox: &mut Outbox) {
        let packet = self.links[ejection.index()].packet;
        let mut link = ejection;
        loop {
            let feeder = self.links[link.index()].source;
            if feeder == NO_LINK {
                break;
            }
            let state = &self.links[feeder.index()];
            if state.left == 0 || state.packet != packet {
                break;
            }
            self.foretell(link, feeder);
            link = feeder;
        }
        let first_feeder = self.links[link.index()].source;
        loop {
            let next = self.links[link.index()].drain;
            self.extend(link, outbox);
            if link == ejection {
                break;
            }
            link = next;
        }
        if first_feeder != NO_LINK {
            self.enlist(first_feeder);
            self.settle(outbox);
        }
    }

    /// Gives `feeder` the slots it still needs for its packet, from when `link` will have freed them.
    fn foretell(&mut self, link: LinkId, feeder: LinkId) {
        let stride = self.parameters.flit_cycles;
        let [state, feeder] =
            self.links.get_disjoint_mut([link.index(), feeder.index()]).expect("no link feeds its own port");
        let mut missing = feeder.left.saturating_sub(feeder.slots.len());
        feeder.lent = missing;
        if missing == 0 {
            return;
        }
        let mut free = state.free;
        let mut known = if state.is_ejection { Cursor::of(Run::UNLIMITED) } else { state.slots.cursor() };
        loop {
            let mut slots = known.run;
            while missing > 0 && slots.count > 0 {
                let run = Run::crossing(Run::UNLIMITED, slots, free, stride, missing);
                feeder.slots.push(run.after(feeder.credit_cycles), &mut self.runs);
                free = run.last() + u64::from(stride);
                missing -= run.count;
                slots = slots.skip(run.count);
            }
            if missing == 0 || !known.advance(&self.runs) {
                return;
            }
        }
    }
}

impl Link {
    /// Takes `run` over into the buffer at its end.
    #[inline]
    fn carry(&mut self, run: Run, flit_cycles: u32, hop_cycles: u32, runs: &mut RunPool) {
        self.left -= run.count;
        self.free = run.last() + u64::from(flit_cycles);
        self.carried += u64::from(run.count);
        if !self.is_ejection {
            self.slots.consume(run.count, runs);
            self.arrivals.push(run.after(hop_cycles), runs);
        }
    }
}
