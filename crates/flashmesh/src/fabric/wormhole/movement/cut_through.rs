//! Fast path (virtual cut-through) for packets that are complete in a buffer or at a terminal and find free slots for all flits. They move from link
//! to link without entering the buffers in between.

use crate::fabric::wormhole::arbitration::arbitration_queue::DeferredRequest;
use crate::fabric::wormhole::flit_run::FlitRun;
use crate::fabric::wormhole::network::{NO_LINK, WormholeNetwork};
use crate::fabric::wormhole::packet::{Crossing, LinkRequestId, NetworkReports, PacketId};
use crate::fabric::wormhole::parameters::{GrantRule, Parameters};
use crate::ids::LinkId;

impl WormholeNetwork {
    /// Moves packet `id` as a whole over its injection link, which was just granted, if all of its flits find free slots. The packet is first in
    /// queue `queue` of its terminal. Returns whether it was moved; otherwise nothing has changed.
    #[inline]
    pub(in super::super) fn inject_whole(
        &mut self,
        link: LinkId,
        id: PacketId,
        queue: u32,
        outbox: &mut NetworkReports,
    ) -> bool {
        let Parameters { flit_cycles: stride, hop_cycles, grant_rule, .. } = self.parameters;
        let now = self.events.now();
        let flits = self.packets[id].packet.flits;
        let state = &mut self.links[link.index()];
        if grant_rule != GrantRule::Immediate || !state.buffer.has_slots(flits, now, stride, &mut self.runs) {
            return false;
        }
        let run = FlitRun { start: now, count: flits, stride };
        let tail = run.last();
        state.buffer.reserve_slots(flits, &mut self.runs);
        state.buffer.arrive(run.delayed_by(hop_cycles), &mut self.runs);
        state.carry_packet(run);
        state.holder.source = NO_LINK;
        // While the wire counts as held, the request of the next packet at the terminal schedules no arbitration; `wake` below does.
        state.wire_state.is_held = true;
        let is_first = state.buffer.push(id, &mut self.packets);
        self.packets[id].head = now;
        self.leave_terminal(id, queue);
        if is_first {
            self.request_after_hop(link, id);
        }
        self.log.record(|| Crossing { token: self.packets[id].packet.token, link, head: now, tail });
        outbox.report_injection(self.packets[id].packet, tail);
        let state = &mut self.links[link.index()];
        let drain = state.buffer.output_link();
        state.wire_state.is_held = false;
        self.wake(link);
        if drain != NO_LINK {
            self.add_to_worklist(drain);
            self.settle(outbox);
        }
        true
    }

    /// Moves packet `id`, which has just crossed `link` as a whole into an empty buffer, over all further links that it can be granted before the
    /// next event. Then delivers it, or leaves it in the buffer where it has to wait.
    pub(in super::super) fn cut_through(&mut self, link: LinkId, id: PacketId, outbox: &mut NetworkReports) {
        let Parameters { flit_cycles: stride, hop_cycles, head_of_line_cycles, .. } = self.parameters;
        let limit = self.events.safe_horizon();
        let packet = self.packets[id];
        let flits = packet.packet.flits;
        let (mut head, mut hops, mut source) = (packet.head, packet.hops, link);
        loop {
            let feeder = &self.links[source.index()];
            let next = self.topology.next_link_from(feeder.end, packet.destination_router, packet.packet.destination);
            let ready = self.timing.grantable_from(head, &feeder.buffer);
            let input = self.requests[source.index()].input;
            let [state, feeder] =
                self.links.get_disjoint_mut([next.index(), source.index()]).expect("no link feeds its own port");
            let at = ready.max(state.wire_state.free);
            let is_next = at <= limit && !state.wire_state.is_held && state.is_uncontended();
            let is_free = is_next
                && (state.is_ejection
                    || state.buffer.is_empty() && state.buffer.has_slots(flits, at, stride, &mut self.runs));
            if !is_free {
                // The packet stops in this buffer, and requests the next link.
                feeder
                    .buffer
                    .arrive(FlitRun { start: head, count: flits, stride }.delayed_by(hop_cycles), &mut self.runs);
                feeder.buffer.push(id, &mut self.packets);
                (self.packets[id].head, self.packets[id].hops) = (head, hops);
                if is_next {
                    self.events.defer(DeferredRequest { at, ready, link: next, buffer: source, packet: id });
                } else {
                    self.request(next, LinkRequestId(source.0), id, ready);
                }
                return;
            }
            let run = FlitRun { start: at, count: flits, stride };
            let tail = run.last();
            feeder.buffer.return_slots(run, &mut self.runs);
            feeder.buffer.tail_leaves(tail, head_of_line_cycles);
            state.holder.source = source;
            state.round_robin.serve(input);
            state.carry_packet(run);
            self.log.record(|| Crossing { token: packet.packet.token, link: next, head: at, tail });
            self.events.advance(at);
            if state.is_ejection {
                self.packets[id].hops = hops;
                return self.report_delivery(id, at, tail, outbox);
            }
            state.buffer.reserve_slots(flits, &mut self.runs);
            (head, hops, source) = (at, hops + 1, next);
        }
    }
}
