//! Packets that are as a whole where they are and find as many slots free where they go: link after link, without a place in the buffers
//! on their way.

use crate::ids::LinkId;

use super::network::{HeldBack, Link, NO_LINK, Network};
use super::packet::{Crossing, Outbox, PacketId, RequestId};
use super::parameters::{GrantRule, Parameters};
use super::stream::{Run, RunPool};

impl Network {
    /// A packet is granted its injection link now, and all of it finds its slots free. Tells whether it was so; if not, nothing has changed.
    #[inline]
    pub(super) fn enter(&mut self, link: LinkId, id: PacketId, queue: u32, outbox: &mut Outbox) -> bool {
        let Parameters { flit_cycles: stride, hop_cycles, grant_rule, .. } = self.parameters;
        let now = self.now;
        let flits = self.packets[id].packet.flits;
        let state = &mut self.links[link.index()];
        if grant_rule != GrantRule::Immediate || !state.has_slots(flits, now, stride, &mut self.runs) {
            return false;
        }
        let run = Run { start: now, count: flits, stride };
        let tail = run.last();
        state.slots.consume(flits, &mut self.runs);
        state.arrivals.push(run.after(hop_cycles), &mut self.runs);
        state.carried += u64::from(flits);
        state.held_cycles += tail + u64::from(stride) - now;
        state.source = NO_LINK;
        // Whoever follows from the terminal waits for all of it.
        state.driven.is_held = true;
        let is_first = state.queue.push(id, &mut self.packets);
        self.packets[id].head = now;
        self.leave_terminal(id, queue);
        if is_first {
            self.ask_after_hop(link, id);
        }
        if let Some(log) = &mut self.log {
            log.push(Crossing { token: self.packets[id].packet.token, link, head: now, tail });
        }
        self.report_injection(id, tail, outbox);
        let state = &mut self.links[link.index()];
        let drain = state.drain;
        (state.driven.is_held, state.driven.free) = (false, tail + u64::from(stride + state.gap_cycles));
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
        let limit = self.until.min(self.calendar.first().unwrap_or(u64::MAX));
        let packet = self.packets[id];
        let flits = packet.packet.flits;
        let (mut head, mut hops, mut source) = (packet.head, packet.hops, link);
        loop {
            let buffer = &self.links[source.index()];
            let next = self.topology.next_from(buffer.end, packet.to, packet.packet.destination);
            let ready = (head + self.route_cycles).max(buffer.looked_at);
            let input = self.requests[source.index()].input;
            let [state, buffer] =
                self.links.get_disjoint_mut([next.index(), source.index()]).expect("no link feeds its own port");
            let at = ready.max(state.driven.free);
            let is_next = at <= limit && !state.driven.is_held && state.is_asked_by_nobody();
            let is_free = is_next
                && (state.is_ejection || state.queue.is_empty() && state.has_slots(flits, at, stride, &mut self.runs));
            if !is_free {
                // It stops here.
                buffer.arrivals.push(Run { start: head, count: flits, stride }.after(hop_cycles), &mut self.runs);
                buffer.queue.push(id, &mut self.packets);
                (self.packets[id].head, self.packets[id].hops) = (head, hops);
                if is_next {
                    self.held_back = Some(HeldBack { at, ready, link: next, buffer: source, packet: id });
                } else {
                    self.ask(next, RequestId(source.0), id, ready);
                }
                return;
            }
            let run = Run { start: at, count: flits, stride };
            let tail = run.last();
            buffer.slots.push(run.after(buffer.credit_cycles), &mut self.runs);
            buffer.looked_at = tail + 1 + u64::from(head_of_line_cycles);
            state.source = source;
            state.input_served = input;
            state.carried += u64::from(flits);
            state.driven.free = tail + u64::from(stride + state.gap_cycles);
            state.held_cycles += tail + u64::from(stride) - at;
            if let Some(log) = &mut self.log {
                log.push(Crossing { token: packet.packet.token, link: next, head: at, tail });
            }
            self.now = at;
            if state.is_ejection {
                self.packets[id].hops = hops;
                return self.report_delivery(id, at, tail, outbox);
            }
            state.slots.consume(flits, &mut self.runs);
            (head, hops, source) = (at, hops + 1, next);
        }
    }
}

impl Link {
    /// Whether so many flits find free slots at its end, the first of them at `at` and the others one every `stride` cycles.
    #[inline(always)]
    fn has_slots(&mut self, flits: u32, at: u64, stride: u32, runs: &mut RunPool) -> bool {
        self.slots.merge_until(at, runs);
        let slots = self.slots.front();
        slots.count >= flits && slots.start <= at && slots.stride <= stride
    }
}
