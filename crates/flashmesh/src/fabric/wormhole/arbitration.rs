//! Who gets a link next.

use crate::ids::LinkId;

use super::network::{NO_LINK, NOT_YET, Network, Request};
use super::packet::Outbox;
use super::parameters::{Arbitration, GrantRule};

impl Network {
    /// A packet asks for `link`.
    pub(super) fn ask(&mut self, link: LinkId, request: Request) {
        let state = &mut self.links[link.index()];
        state.requests.push(request);
        let wire = &self.wires[state.wire.index()];
        if !wire.is_held
            && let Some(at) = self.opportunity(link, &request, wire.free)
        {
            self.agenda.schedule(self.links[link.index()].wire, at);
        }
    }

    /// Grants `wire` to the best request, or sees to it that it is looked at again.
    pub(super) fn arbitrate(&mut self, wire: LinkId, outbox: &mut Outbox) {
        let state = &self.wires[wire.index()];
        if state.is_held {
            return;
        }
        if state.free <= self.now {
            // Of two directions that could be served, the one that was not served last (paper 003 section 5.3).
            let [forward, backward] = state.links;
            let (first, second) = if state.served == forward { (backward, forward) } else { (forward, backward) };
            for link in [first, second] {
                if link != NO_LINK
                    && let Some(request) = self.winner(link)
                {
                    return self.grant(link, request, outbox);
                }
            }
        }
        self.wake(wire);
    }

    /// The place of the best request for `link` among those that could be served now, if it finds its slots.
    ///
    /// A worse request never overtakes it because it needs fewer slots: a long packet would wait for ever.
    #[inline]
    fn winner(&self, link: LinkId) -> Option<usize> {
        let state = &self.links[link.index()];
        let mut ready = state.requests.iter().enumerate().filter(|(_, request)| request.ready <= self.now);
        let (best, request) = match state.requests.len() {
            1 => ready.next()?,
            _ => ready.min_by_key(|(_, request)| {
                let inputs = state.inputs;
                let packet = &self.packets[request.packet];
                let class = self.parameters.small_first.then_some(packet.packet.class);
                let key = match self.parameters.arbitration {
                    Arbitration::RoundRobin => (((request.input + inputs - 1 - state.input_served) % inputs).into(), 0),
                    Arbitration::Fifo => (request.ready, request.input.into()),
                    Arbitration::Oldest => (packet.created, packet.order),
                };
                (class, key)
            })?,
        };
        self.slots_at(link, request).is_some_and(|at| at <= self.now).then_some(best)
    }

    /// From when `link` has the slots that `request` needs for a grant; none when that is not known yet.
    #[inline]
    fn slots_at(&self, link: LinkId, request: &Request) -> Option<u64> {
        let state = &self.links[link.index()];
        match self.parameters.grant_rule {
            GrantRule::Immediate => Some(0),
            _ if state.is_ejection => Some(0),
            GrantRule::OneSlot => state.slots.nth(0),
            GrantRule::WholePacket => state.slots.nth(self.packets[request.packet].packet.flits - 1),
        }
    }

    /// The first cycle in which `request` could be granted if it were the best, as far as is known.
    #[inline]
    fn opportunity(&self, link: LinkId, request: &Request, wire_free: u64) -> Option<u64> {
        self.slots_at(link, request).map(|slots| slots.max(request.ready).max(wire_free))
    }

    /// Has `wire`, which nobody holds, looked at when its next request can be granted.
    ///
    /// Requests that could have been granted by now wait for a better one, and that one has an opportunity of its own.
    pub(super) fn wake(&mut self, wire: LinkId) {
        let state = &self.wires[wire.index()];
        let mut next = NOT_YET;
        for link in state.links.into_iter().filter(|&link| link != NO_LINK) {
            for request in &self.links[link.index()].requests {
                if let Some(at) = self.opportunity(link, request, state.free)
                    && at > self.now
                {
                    next = next.min(at);
                }
            }
        }
        if next != NOT_YET {
            self.agenda.schedule(wire, next);
        }
    }

    /// Grants `link` to the request at `place`, and moves whatever can move in consequence.
    fn grant(&mut self, link: LinkId, place: usize, outbox: &mut Outbox) {
        let state = &mut self.links[link.index()];
        let request = state.requests.swap_remove(place);
        state.packet = request.packet;
        state.source = request.source;
        state.input_served = request.input;
        state.left = self.packets[request.packet].packet.flits;
        state.free = self.now;
        state.head = NOT_YET;
        let is_ejection = state.is_ejection;
        let wire = &mut self.wires[state.wire.index()];
        wire.is_held = true;
        wire.served = link;
        if request.source == NO_LINK {
            self.leave_terminal(request);
        } else {
            self.links[request.source.index()].drain = link;
        }
        if is_ejection && self.buffers_cover_the_round_trip {
            self.drain_at_once(link, outbox);
        } else {
            self.follow_head(link, outbox);
        }
    }
}
