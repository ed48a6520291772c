//! General case of flit movement: flits follow their head over a link, as far as their arrivals and free slots are known.

use crate::fabric::wormhole::flit_run::{FlitRun, RunPool};
use crate::fabric::wormhole::link::{Holder, LinkState};
use crate::fabric::wormhole::network::{NO_LINK, NO_REQUEST, NOT_YET, WormholeNetwork};
use crate::fabric::wormhole::packet::{Crossing, Delivery, NetworkReports, PacketId};
use crate::fabric::wormhole::parameters::{GrantRule, Parameters};
use crate::ids::LinkId;

impl WormholeNetwork {
    /// Moves the flits that can move because `link` was granted. No other link that the packet holds is nearer to its destination.
    ///
    /// If the buffers on the path cannot hold the whole packet, its tail is still at the terminal, and the timing of the flits in between is not
    /// observable. Only the flits over `link` are then moved; the later ones catch up in one step when their timing becomes observable.
    pub(in super::super) fn follow_head(&mut self, link: LinkId, outbox: &mut NetworkReports) {
        let state = &self.links[link.index()];
        let in_flight = &self.packets[state.holder.packet];
        let buffers_before = if state.holder.source == NO_LINK { 0 } else { u64::from(in_flight.hops) + 1 };
        let exceeds =
            |buffers: u64| u64::from(in_flight.packet.flits) > buffers * u64::from(self.parameters.buffer_flits);
        let has_lagged = buffers_before > 0 && exceeds(buffers_before);
        if !state.is_ejection && exceeds(buffers_before + 1) {
            self.extend(link, outbox);
            return;
        }
        self.worklist.push(link);
        let mut feeder = state.holder.source;
        while has_lagged && feeder != NO_LINK {
            self.worklist.push(feeder);
            feeder = self.links[feeder.index()].holder.source;
        }
        self.settle(outbox);
    }

    /// Moves flits over the links of the worklist, until it is empty. A move over a link creates arrivals for the next link and slots for the
    /// previous one, so both are added to the worklist.
    pub(super) fn settle(&mut self, outbox: &mut NetworkReports) {
        while let Some(link) = self.worklist.pop() {
            if self.extend(link, outbox) {
                let LinkState { buffer, holder, .. } = &self.links[link.index()];
                let (drain, source) = (buffer.output_link(), holder.source);
                self.add_to_worklist(drain);
                self.add_to_worklist(source);
            }
        }
    }

    #[inline]
    pub(super) fn add_to_worklist(&mut self, link: LinkId) {
        if link != NO_LINK && self.links[link.index()].holder.is_crossing() {
            self.worklist.push(link);
        }
    }

    /// Handles the usual case of a grant in one step: `link` is granted to packet `id`, whose flits follow its head evenly spaced.
    ///
    /// Applies if all flits find free slots and arrive in the buffer at the end of link `source` in time; or if the packet is longer than the buffers
    /// on its path, so that later flits may be moved later (see [`follow_head`](Self::follow_head)). Returns whether it applied; otherwise nothing
    /// has changed.
    #[inline]
    pub(in super::super) fn hop(
        &mut self,
        link: LinkId,
        source: LinkId,
        id: PacketId,
        outbox: &mut NetworkReports,
    ) -> bool {
        let Parameters { flit_cycles: stride, hop_cycles, head_of_line_cycles, buffer_flits, .. } = self.parameters;
        if self.parameters.grant_rule != GrantRule::Immediate {
            return false;
        }
        let now = self.events.now();
        let packet = &mut self.packets[id];
        let flits = packet.packet.flits;
        let [state, feeder] =
            self.links.get_disjoint_mut([link.index(), source.index()]).expect("no link feeds its own port");
        // The head is in the buffer; otherwise the packet would not have been granted the link.
        let arrivals = feeder.buffer.arrivals().front();
        if arrivals.stride > stride {
            return false;
        }
        if state.is_ejection {
            if arrivals.count < flits {
                return false;
            }
            let run = FlitRun { start: now, count: flits, stride };
            let tail = run.last();
            feeder.buffer.remove_and_return(run, &mut self.runs);
            feeder.buffer.tail_leaves(tail, head_of_line_cycles);
            state.holder.source = source;
            state.carry_packet(run);
            let next = feeder.buffer.pop(&self.packets);
            self.log.record(|| Crossing { token: self.packets[id].packet.token, link, head: now, tail });
            if let Some(next) = next {
                self.request_output(source, next);
            }
            self.report_delivery(id, now, tail, outbox);
            self.wake(link);
        } else {
            let slots = state.buffer.merge_slots(now, &mut self.runs);
            let count = flits.min(arrivals.count).min(slots.count);
            let lags = u64::from(flits) > (u64::from(packet.hops) + 2) * u64::from(buffer_flits);
            let is_even = slots.start <= now && slots.stride <= stride;
            if count == 0 || !is_even || (count < flits && !lags) {
                return false;
            }
            let run = FlitRun { start: now, count, stride };
            let tail = run.last();
            state.buffer.reserve_slots(count, &mut self.runs);
            state.holder.source = source;
            (packet.head, packet.hops) = (now, packet.hops + 1);
            let is_alone = count == flits
                && state.buffer.is_empty()
                && state.is_uncontended()
                && feeder.buffer.has_one_packet()
                && !feeder.holder.is_crossing();
            if is_alone {
                feeder.buffer.remove_and_return(run, &mut self.runs);
                feeder.buffer.tail_leaves(tail, head_of_line_cycles);
                feeder.buffer.pop(&self.packets);
                state.carry_packet(run);
                self.log.record(|| Crossing { token: self.packets[id].packet.token, link, head: now, tail });
                self.cut_through(link, id, outbox);
                return true;
            }
            state.buffer.arrive(run.delayed_by(hop_cycles), &mut self.runs);
            let is_first = state.buffer.push(id, &mut self.packets);
            feeder.buffer.remove_and_return(run, &mut self.runs);
            if count < flits {
                state.start_packet(id, run, flits - count);
                feeder.buffer.set_output_link(link);
                let is_stuck = state.buffer.slots().len() == 0 || feeder.buffer.arrivals().len() == 0;
                if is_first {
                    self.request_after_hop(link, id);
                }
                if !is_stuck {
                    self.extend(link, outbox);
                }
                return true;
            }
            state.carry_packet(run);
            self.log.record(|| Crossing { token: self.packets[id].packet.token, link, head: now, tail });
            if is_first {
                self.request_after_hop(link, id);
            }
            let buffer = &mut self.links[source.index()].buffer;
            buffer.tail_leaves(tail, head_of_line_cycles);
            if let Some(next) = buffer.pop(&self.packets) {
                self.request_output(source, next);
            }
            self.wake(link);
        }
        // The freed slots of the buffer between `source` and `link` may let flits move over `source`.
        if self.links[source.index()].holder.is_crossing() {
            self.worklist.push(source);
            self.settle(outbox);
        }
        true
    }

    /// Moves the flits with known arrivals and free slots over `link`, and handles the crossings of head and tail. Returns whether any flit moved.
    pub(in super::super) fn extend(&mut self, link: LinkId, outbox: &mut NetworkReports) -> bool {
        let mut has_moved = false;
        while let Some((first, last)) = self.cross(link) {
            has_moved = true;
            let state = &mut self.links[link.index()];
            let left = state.holder.remaining_flits;
            if state.holder.head == NOT_YET {
                state.holder.head = first;
                self.head_crosses(link, first);
            }
            if left == 0 {
                self.tail_crosses(link, last, outbox);
                break;
            }
            if self.parameters.grant_rule == GrantRule::Immediate {
                break;
            }
        }
        has_moved
    }

    /// Moves one run (evenly spaced flits), or under [`GrantRule::Immediate`] all flits that can move, over `link` to the buffer at its end. Returns
    /// the cycles of the first and the last flit moved; `None` if no flit can move.
    #[inline(always)]
    fn cross(&mut self, link: LinkId) -> Option<(u64, u64)> {
        let Parameters { flit_cycles: stride, hop_cycles, grant_rule, .. } = self.parameters;
        let source = self.links[link.index()].holder.source;
        if source == NO_LINK {
            return self.links[link.index()].inject(stride, hop_cycles, &mut self.runs);
        }
        let [state, feeder] =
            self.links.get_disjoint_mut([link.index(), source.index()]).expect("no link feeds its own port");
        let (mut arrivals, mut left) = (feeder.buffer.arrivals().front(), state.holder.remaining_flits);
        let mut slots = if state.is_ejection { FlitRun::UNLIMITED } else { state.buffer.slots().front() };
        if left.min(arrivals.count).min(slots.count) == 0 {
            return None;
        }
        let mut moved = CrossedRuns::default();
        let mut free = state.holder.free;
        loop {
            let run = FlitRun::crossing(arrivals, slots, free, stride, left);
            left -= run.count;
            free = run.last() + u64::from(stride);
            feeder.buffer.leave(run.count, &mut self.runs);
            if !state.is_ejection {
                state.buffer.reserve_slots(run.count, &mut self.runs);
                slots = state.buffer.slots().front();
            }
            arrivals = feeder.buffer.arrivals().front();
            if let Some(run) = moved.add(run) {
                state.accept_flits(run.delayed_by(hop_cycles), &mut self.runs);
                feeder.buffer.free_slots(run, &mut self.runs);
            }
            if left.min(arrivals.count).min(slots.count) == 0 || grant_rule != GrantRule::Immediate {
                break;
            }
        }
        let CrossedRuns { first, run } = moved;
        state.carry_until(left, free);
        state.accept_flits(run.delayed_by(hop_cycles), &mut self.runs);
        let has_freed = feeder.buffer.free_slots(run, &mut self.runs);
        if grant_rule != GrantRule::Immediate {
            let (wire, is_wanted) = (feeder.wire, has_freed && feeder.requests != NO_REQUEST);
            if is_wanted && !self.links[wire.index()].wire_state.is_held {
                self.wake(wire);
            }
        }
        Some((first, run.last()))
    }

    fn head_crosses(&mut self, link: LinkId, at: u64) {
        let state = &mut self.links[link.index()];
        if state.is_ejection {
            return;
        }
        let Holder { packet, source, .. } = state.holder;
        let in_flight = &mut self.packets[packet];
        in_flight.head = at;
        in_flight.hops += u32::from(source != NO_LINK);
        if state.buffer.push(packet, &mut self.packets) {
            self.request_after_hop(link, packet);
        }
    }

    pub(super) fn tail_crosses(&mut self, link: LinkId, at: u64, outbox: &mut NetworkReports) {
        let state = &mut self.links[link.index()];
        let free = state.release();
        let (wire, is_ejection) = (state.wire, state.is_ejection);
        let Holder { packet, source, head, .. } = state.holder;
        self.links[wire.index()].wire_state.release(free);
        self.log.record(|| Crossing { token: self.packets[packet].packet.token, link, head, tail: at });
        if source == NO_LINK {
            outbox.report_injection(self.packets[packet].packet, at);
        } else {
            let buffer = &mut self.links[source.index()].buffer;
            buffer.tail_leaves(at, self.parameters.head_of_line_cycles);
            if let Some(next) = buffer.pop(&self.packets) {
                self.request_output(source, next);
            }
        }
        if is_ejection {
            self.report_delivery(packet, head, at, outbox);
        }
        self.wake(wire);
    }

    pub(super) fn report_delivery(&mut self, id: PacketId, head: u64, tail: u64, outbox: &mut NetworkReports) {
        let in_flight = &self.packets[id];
        let (packet, hops) = (in_flight.packet, in_flight.hops);
        let stalled = tail - in_flight.created - self.parameters.zero_load_cycles(packet.flits, hops);
        let (token, destination) = (packet.token, packet.destination);
        outbox.deliveries.push(Delivery { token, destination, head, tail, hops, stalled });
        self.packets.remove(id);
    }
}

/// Successive runs (evenly spaced flits) that cross a link. Runs that are evenly spaced together are merged.
pub(super) struct CrossedRuns {
    /// Cycle of the first flit of all runs; [`NOT_YET`] if there is none.
    first: u64,
    /// Last run, which the next one may still extend; empty before the first.
    pub(super) run: FlitRun,
}

impl Default for CrossedRuns {
    fn default() -> CrossedRuns {
        CrossedRuns { first: NOT_YET, run: FlitRun::NONE }
    }
}

impl CrossedRuns {
    /// Adds a run. If it cannot extend the last run, returns that run, which is then complete; otherwise `None`, as for the first run.
    #[inline(always)]
    pub(super) fn add(&mut self, run: FlitRun) -> Option<FlitRun> {
        if self.run.count == 0 {
            *self = CrossedRuns { first: run.start, run };
            return None;
        }
        let is_even = self.run.stride == run.stride && self.run.at(self.run.count) == run.start;
        if is_even {
            self.run.count += run.count;
            return None;
        }
        Some(std::mem::replace(&mut self.run, run))
    }
}

impl LinkState {
    /// Moves flits from the terminal over this injection link, as far as the buffer at its end has slots. Returns the cycles of the first and the
    /// last flit moved; `None` if no flit can move.
    fn inject(&mut self, flit_cycles: u32, hop_cycles: u32, runs: &mut RunPool) -> Option<(u64, u64)> {
        let buffer = &mut self.buffer;
        let Holder { remaining_flits: mut left, mut free, .. } = self.holder;
        if left.min(buffer.slots().len()) == 0 {
            return None;
        }
        let mut moved = CrossedRuns::default();
        while left.min(buffer.slots().len()) > 0 {
            let run = FlitRun::crossing(FlitRun::UNLIMITED, buffer.slots().front(), free, flit_cycles, left);
            left -= run.count;
            free = run.last() + u64::from(flit_cycles);
            buffer.reserve_slots(run.count, runs);
            if let Some(run) = moved.add(run) {
                buffer.arrive(run.delayed_by(hop_cycles), runs);
            }
        }
        let CrossedRuns { first, run } = moved;
        buffer.arrive(run.delayed_by(hop_cycles), runs);
        self.carry_until(left, free);
        Some((first, run.last()))
    }
}
