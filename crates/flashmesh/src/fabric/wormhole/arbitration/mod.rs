//! Arbitration of links among the packets that request them.

pub(super) mod arbitration_queue;
mod calendar;
mod requests;
pub(super) mod round_robin;

use crate::ids::LinkId;

use super::link::LinkState;
use super::network::{LinkRequest, NO_LINK, NO_REQUEST, WormholeNetwork};
use super::packet::{LinkRequestId, NetworkReports, PacketId};
use super::parameters::Arbitration;
use arbitration_queue::DeferredRequest;

impl WormholeNetwork {
    /// Grants the deferred request if no event precedes the grant, otherwise moves it to the request chain of its link.
    #[inline(always)]
    pub(super) fn grant_deferred(
        &mut self,
        DeferredRequest { at, link, buffer, packet, .. }: DeferredRequest,
        outbox: &mut NetworkReports,
    ) {
        if !self.events.is_next(at) {
            return self.enqueue_deferred();
        }
        self.events.take_deferred();
        self.events.advance(at);
        self.grant(link, LinkRequestId(buffer.0), packet, outbox);
    }

    /// Grants a link of the free `wire` (one link, or the two directions of a half-duplex pair) to its best request. If nothing can be granted,
    /// schedules the next arbitration. A held wire is arbitrated after its release.
    #[inline(always)]
    pub(super) fn arbitrate(&mut self, wire: LinkId, outbox: &mut NetworkReports) {
        let forward = &self.links[wire.index()];
        let state = &forward.wire_state;
        if state.is_held {
            return;
        }
        if state.free <= self.events.now() {
            if state.backward == NO_LINK {
                if let Some(request) = self.winner(forward) {
                    return self.grant_request(wire, request, outbox);
                }
            } else {
                // If both directions of the wire have a grantable request, the one not served last is granted (Design for Scalability in Enterprise
                // SSDs, PACT 2014, section 5.3).
                let both = if state.served_first { [state.backward, wire] } else { [wire, state.backward] };
                for link in both {
                    if let Some(request) = self.winner(&self.links[link.index()]) {
                        return self.grant_request(link, request, outbox);
                    }
                }
            }
        }
        self.wake(wire);
    }

    /// Returns the best request for `link` among those that are ready in the current cycle; `None` if none is ready, or if too few slots are free for
    /// the best one.
    ///
    /// A request that needs fewer slots never overtakes it, because that could starve a long packet.
    #[inline(always)]
    fn winner(&self, link: &LinkState) -> Option<LinkRequestId> {
        if link.requests == NO_REQUEST {
            return None;
        }
        let only = &self.requests[link.requests.index()];
        let best = match only.next {
            NO_REQUEST if only.ready <= self.events.now() => link.requests,
            NO_REQUEST => return None,
            _ => self.best_of_several(link)?,
        };
        self.slots_at(link, &self.requests[best.index()]).is_some_and(|at| at <= self.events.now()).then_some(best)
    }

    fn best_of_several(&self, link: &LinkState) -> Option<LinkRequestId> {
        let key = |request: &LinkRequest| {
            let packet = &self.packets[request.packet];
            let class = self.parameters.small_first.then_some(packet.packet.class);
            let key = match self.parameters.arbitration {
                Arbitration::RoundRobin => (link.round_robin.turns_before(request.input).into(), 0),
                Arbitration::Fifo => (request.ready, request.input.into()),
                Arbitration::Oldest => (packet.created, packet.order),
            };
            (class, key)
        };
        let ready = self.requests_for(link).filter(|(_, request)| request.ready <= self.events.now());
        ready.min_by_key(|(_, request)| key(request)).map(|(id, _)| id)
    }

    #[inline(always)]
    fn grant_request(&mut self, link: LinkId, request: LinkRequestId, outbox: &mut NetworkReports) {
        self.withdraw(link, request);
        self.grant(link, request, self.requests[request.index()].packet, outbox);
    }

    /// Grants `link` to `packet` by its `request`, and moves all flits that can then move.
    fn grant(&mut self, link: LinkId, request: LinkRequestId, packet: PacketId, outbox: &mut NetworkReports) {
        let input = self.requests[request.index()].input;
        self.links[link.index()].round_robin.serve(input);
        if request.0 >= self.topology.links() {
            if self.inject_whole(link, packet, input, outbox) {
                return;
            }
            self.hold(link, NO_LINK, packet);
            self.leave_terminal(packet, input);
        } else {
            let source = LinkId(request.0);
            if self.hop(link, source, packet, outbox) {
                return;
            }
            self.hold(link, source, packet);
            self.links[source.index()].buffer.set_output_link(link);
        }
        if self.links[link.index()].is_ejection && self.timing.covers_credit_round_trip {
            self.drain_at_once(link, outbox);
        } else {
            self.follow_head(link, outbox);
        }
    }

    /// Marks `link` as held by `packet` from the current cycle on. The packet comes from the buffer at the end of link `source`, or from a terminal
    /// if this is [`NO_LINK`].
    #[inline(always)]
    fn hold(&mut self, link: LinkId, source: LinkId, packet: PacketId) {
        let now = self.events.now();
        let state = &mut self.links[link.index()];
        state.holder.grant(packet, source, self.packets[packet].packet.flits, now);
        if !state.is_ejection {
            state.buffer.merge_slots(now, &mut self.runs);
        }
        let wire = state.wire;
        self.links[wire.index()].wire_state.hold(wire == link);
    }

    /// Removes `request`, which is granted, from the request chain of `link`.
    #[inline]
    fn withdraw(&mut self, link: LinkId, request: LinkRequestId) {
        let behind = self.requests[request.index()].next;
        let mut before = self.links[link.index()].requests;
        if before == request {
            self.links[link.index()].requests = behind;
            return;
        }
        while self.requests[before.index()].next != request {
            before = self.requests[before.index()].next;
        }
        self.requests[before.index()].next = behind;
    }
}
