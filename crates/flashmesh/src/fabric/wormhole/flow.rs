//! How flits follow their heads: whole runs at a time, as far as arrivals and free slots are known.

use crate::ids::LinkId;

use super::network::{NO_LINK, NOT_YET, Network, Request};
use super::packet::{Crossing, Delivery, Outbox, PacketId};
use super::parameters::GrantRule;
use super::stream::Run;

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

    /// Moves the flits of the packet on `link` that are known to arrive and to find slots; tells whether any did.
    #[inline]
    fn extend(&mut self, link: LinkId, outbox: &mut Outbox) -> bool {
        let mut has_moved = false;
        while self.links[link.index()].left > 0 {
            let state = &self.links[link.index()];
            let source = state.source;
            let arrivals = match source {
                NO_LINK => Some(Run::UNLIMITED),
                _ => self.links[source.index()].arrivals.front(),
            };
            let slots = if state.is_ejection { Some(Run::UNLIMITED) } else { state.slots.front() };
            let (Some(arrivals), Some(slots)) = (arrivals, slots) else { break };
            let run = Run::crossing(arrivals, slots, state.free, self.parameters.flit_cycles, state.left);
            self.cross(link, run);
            has_moved = true;
            if self.links[link.index()].head == NOT_YET {
                self.links[link.index()].head = run.start;
                self.head_crosses(link, run.start);
            }
            if self.links[link.index()].left == 0 {
                self.tail_crosses(link, run.last(), outbox);
            }
        }
        has_moved
    }

    /// Moves `run` from the buffer it comes from to the one at the end of `link`.
    #[inline]
    fn cross(&mut self, link: LinkId, run: Run) {
        let state = &mut self.links[link.index()];
        state.left -= run.count;
        state.free = run.last() + u64::from(self.parameters.flit_cycles);
        state.carried += u64::from(run.count);
        if !state.is_ejection {
            state.slots.consume(run.count);
            state.arrivals.push(run.after(self.parameters.hop_cycles));
        }
        let source = state.source;
        if source == NO_LINK {
            return;
        }
        let feeder = &mut self.links[source.index()];
        feeder.arrivals.consume(run.count);
        let foretold = feeder.lent.min(run.count);
        feeder.lent -= foretold;
        if foretold < run.count {
            feeder.slots.push(run.skip(foretold).after(feeder.credit_cycles));
            if self.parameters.grant_rule != GrantRule::Immediate && !feeder.requests.is_empty() {
                let wire = feeder.wire;
                if !self.wires[wire.index()].is_held {
                    self.wake(wire);
                }
            }
        }
    }

    fn head_crosses(&mut self, link: LinkId, at: u64) {
        let state = &mut self.links[link.index()];
        if state.is_ejection {
            return;
        }
        let packet = &mut self.packets[state.packet];
        packet.head = at;
        packet.hops += u32::from(state.source != NO_LINK);
        let is_first = state.line.first().is_none();
        state.line.push(state.packet, &mut self.packets);
        if is_first {
            let packet = state.packet;
            self.ask_for_output(link, packet);
        }
    }

    /// The first packet in the buffer at the end of `buffer` asks for its next link.
    fn ask_for_output(&mut self, buffer: LinkId, packet: PacketId) {
        let state = &self.links[buffer.index()];
        let in_flight = &self.packets[packet];
        let routed = in_flight.head + u64::from(self.parameters.hop_cycles + self.parameters.head_cycles);
        let ready = routed.max(state.looked_at);
        let link = self.topology.next(self.topology.router_at_end(buffer), in_flight.packet.destination);
        self.ask(link, Request { ready, packet, source: buffer, input: self.topology.input(buffer) });
    }

    fn tail_crosses(&mut self, link: LinkId, at: u64, outbox: &mut Outbox) {
        let state = &self.links[link.index()];
        let (packet, source, head, wire) = (state.packet, state.source, state.head, state.wire);
        let is_ejection = state.is_ejection;
        self.wires[wire.index()].is_held = false;
        self.wires[wire.index()].free = state.free + u64::from(state.gap_cycles);
        if let Some(log) = &mut self.log {
            log.push(Crossing { token: self.packets[packet].packet.token, link, head, tail: at });
        }
        if source == NO_LINK {
            self.report_injection(packet, at, outbox);
        } else {
            let buffer = &mut self.links[source.index()];
            buffer.drain = NO_LINK;
            buffer.looked_at = at + 1 + u64::from(self.parameters.head_of_line_cycles);
            if let Some(next) = buffer.line.pop(&self.packets) {
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
        let mut missing = self.links[feeder.index()].left.saturating_sub(self.links[feeder.index()].slots.len());
        self.links[feeder.index()].lent = missing;
        let credit_cycles = self.links[feeder.index()].credit_cycles;
        let mut free = self.links[link.index()].free;
        let mut runs = 0;
        let is_ejection = self.links[link.index()].is_ejection;
        while missing > 0 {
            let known = if is_ejection { Some(Run::UNLIMITED) } else { self.links[link.index()].slots.run(runs) };
            let Some(mut slots) = known else { break };
            runs += 1;
            while missing > 0 && slots.count > 0 {
                let run = Run::crossing(Run::UNLIMITED, slots, free, stride, missing);
                self.links[feeder.index()].slots.push(run.after(credit_cycles));
                free = run.last() + u64::from(stride);
                missing -= run.count;
                slots = slots.skip(run.count);
            }
        }
    }
}
