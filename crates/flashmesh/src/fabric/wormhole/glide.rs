//! Packets that are as a whole where they are and find as many slots free where they go: link after link, without a place in the buffers
//! on their way.

use crate::ids::LinkId;

use super::agenda::HeldRequest;
use super::network::{NO_LINK, Network};
use super::packet::{Crossing, Outbox, PacketId, RequestId};
use super::parameters::{GrantRule, Parameters};
use super::stream::Run;

impl Network {
    /// A packet is granted its injection link now, and all of it finds its slots free. Tells whether it was so; if not, nothing has changed.
    #[inline]
    pub(super) fn enter(&mut self, link: LinkId, id: PacketId, queue: u32, outbox: &mut Outbox) -> bool {
        let Parameters { flit_cycles: stride, hop_cycles, grant_rule, .. } = self.parameters;
        let now = self.agenda.now();
        let flits = self.packets[id].packet.flits;
        let state = &mut self.links[link.index()];
        if grant_rule != GrantRule::Immediate || !state.buffer.has_slots(flits, now, stride, &mut self.runs) {
            return false;
        }
        let run = Run { start: now, count: flits, stride };
        let tail = run.last();
        state.buffer.take_slots(flits, &mut self.runs);
        state.buffer.arrive(run.after(hop_cycles), &mut self.runs);
        state.carry_packet(run);
        state.holder.source = NO_LINK;
        // Whoever follows from the terminal waits for all of it.
        state.driven.is_held = true;
        let is_first = state.buffer.push(id, &mut self.packets);
        self.packets[id].head = now;
        self.leave_terminal(id, queue);
        if is_first {
            self.ask_after_hop(link, id);
        }
        self.log.record(|| Crossing { token: self.packets[id].packet.token, link, head: now, tail });
        outbox.report_injection(self.packets[id].packet, tail);
        let state = &mut self.links[link.index()];
        let drain = state.buffer.drain();
        state.driven.is_held = false;
        self.wake(link);
        if drain != NO_LINK {
            self.enlist(drain);
            self.settle(outbox);
        }
        true
    }

    /// A packet that nobody follows has been granted `link` now and is going to be in the buffer at its end as a whole, all alone: takes it
    /// on over all links that it will be granted before anything else happens, and to where it has to wait.
    pub(super) fn glide(&mut self, link: LinkId, id: PacketId, outbox: &mut Outbox) {
        let Parameters { flit_cycles: stride, hop_cycles, head_of_line_cycles, .. } = self.parameters;
        let limit = self.agenda.certain_until();
        let packet = self.packets[id];
        let flits = packet.packet.flits;
        let (mut head, mut hops, mut source) = (packet.head, packet.hops, link);
        loop {
            let feeder = &self.links[source.index()];
            let next = self.topology.next_from(feeder.end, packet.to, packet.packet.destination);
            let ready = self.timing.ready_to_ask(head, &feeder.buffer);
            let input = self.requests[source.index()].input;
            let [state, feeder] =
                self.links.get_disjoint_mut([next.index(), source.index()]).expect("no link feeds its own port");
            let at = ready.max(state.driven.free);
            let is_next = at <= limit && !state.driven.is_held && state.is_asked_by_nobody();
            let is_free = is_next
                && (state.is_ejection
                    || state.buffer.is_empty() && state.buffer.has_slots(flits, at, stride, &mut self.runs));
            if !is_free {
                // It stops here.
                feeder.buffer.arrive(Run { start: head, count: flits, stride }.after(hop_cycles), &mut self.runs);
                feeder.buffer.push(id, &mut self.packets);
                (self.packets[id].head, self.packets[id].hops) = (head, hops);
                if is_next {
                    self.agenda.hold_back(HeldRequest { at, ready, link: next, buffer: source, packet: id });
                } else {
                    self.ask(next, RequestId(source.0), id, ready);
                }
                return;
            }
            let run = Run { start: at, count: flits, stride };
            let tail = run.last();
            feeder.buffer.return_slots(run, &mut self.runs);
            feeder.buffer.tail_leaves(tail, head_of_line_cycles);
            state.holder.source = source;
            state.turns.serve(input);
            state.carry_packet(run);
            self.log.record(|| Crossing { token: packet.packet.token, link: next, head: at, tail });
            self.agenda.advance(at);
            if state.is_ejection {
                self.packets[id].hops = hops;
                return self.report_delivery(id, at, tail, outbox);
            }
            state.buffer.take_slots(flits, &mut self.runs);
            (head, hops, source) = (at, hops + 1, next);
        }
    }
}
