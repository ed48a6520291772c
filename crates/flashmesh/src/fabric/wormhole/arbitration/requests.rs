//! Requests of packets for links, and the cycles at which links are next arbitrated.

use crate::fabric::wormhole::link::{LinkState, Wire};
use crate::fabric::wormhole::network::{LinkRequest, NO_LINK, NO_REQUEST, NOT_YET, WormholeNetwork};
use crate::fabric::wormhole::packet::{LinkRequestId, PacketId};
use crate::fabric::wormhole::parameters::GrantRule;
use crate::fabric::wormhole::topology::TerminalId;
use crate::ids::LinkId;

use super::arbitration_queue::DeferredRequest;

impl WormholeNetwork {
    /// Enqueues the entry `request`, by which `packet` requests `link` and which can be granted from cycle `ready` on. Schedules an arbitration if
    /// the wire is free and the cycle of the grant is known.
    #[inline(never)]
    pub(in super::super) fn request(&mut self, link: LinkId, request: LinkRequestId, packet: PacketId, ready: u64) {
        let state = &mut self.links[link.index()];
        let next = std::mem::replace(&mut state.requests, request);
        let place = &mut self.requests[request.index()];
        (place.ready, place.packet, place.next) = (ready, packet, next);
        let (wire, asked) = (state.wire, *place);
        let Wire { is_held, free, .. } = self.links[wire.index()].wire_state;
        if !is_held && let Some(at) = self.opportunity(&self.links[link.index()], &asked, free) {
            self.schedule(wire, at);
        }
    }

    pub(in super::super) fn request_injection(&mut self, terminal: TerminalId, queue: usize, packet: PacketId) {
        let ready = self.packets[packet].created + u64::from(self.parameters.interface_cycles);
        let request = LinkRequestId(self.topology.links() + 2 * terminal.0 + queue as u32);
        self.request(self.topology.injection(terminal), request, packet, ready);
    }

    /// Removes `packet` from queue `queue` of its terminal, after the grant of its injection link. The next packet of the queue requests the link.
    pub(in super::super) fn leave_terminal(&mut self, packet: PacketId, queue: u32) {
        let packet = self.packets[packet].packet;
        let queue = queue as usize;
        if let Some(next) = self.terminals[packet.source.index()].leave(&packet, queue, &self.packets) {
            self.request_injection(packet.source, queue, next);
        }
    }

    /// Requests the next link for a packet that has just become the first one in the buffer at the end of link `buffer`.
    ///
    /// The request is deferred, so that its grant needs no event, if the link is free and not requested otherwise, the grant is within the current
    /// simulation call and before any pending event, no other request is deferred, and a grant needs no free slots.
    #[inline(never)]
    pub(in super::super) fn request_after_hop(&mut self, buffer: LinkId, packet: PacketId) {
        let (link, ready) = self.next_request(buffer, packet);
        let state = &self.links[link.index()];
        let wire = &state.wire_state;
        let is_alone = state.is_uncontended() && !wire.is_held;
        let at = ready.max(wire.free);
        let is_next = self.events.is_next(at) && self.events.deferred().is_none();
        if is_alone && is_next && self.parameters.grant_rule == GrantRule::Immediate {
            self.events.defer(DeferredRequest { at, ready, link, buffer, packet });
        } else {
            self.request(link, LinkRequestId(buffer.0), packet, ready);
        }
    }

    /// Requests the next link for `packet`, the first packet in the buffer at the end of link `buffer`.
    pub(in super::super) fn request_output(&mut self, buffer: LinkId, packet: PacketId) {
        let (link, ready) = self.next_request(buffer, packet);
        self.request(link, LinkRequestId(buffer.0), packet, ready);
    }

    /// Returns the next link of `packet`, the first packet in the buffer at the end of link `buffer`, and the first cycle in which it can be granted.
    #[inline(always)]
    fn next_request(&self, buffer: LinkId, packet: PacketId) -> (LinkId, u64) {
        let in_flight = &self.packets[packet];
        let feeder = &self.links[buffer.index()];
        let ready = self.timing.grantable_from(in_flight.head, &feeder.buffer);
        (self.topology.next_link_from(feeder.end, in_flight.destination_router, in_flight.packet.destination), ready)
    }

    /// Schedules an arbitration of `wire` at cycle `at`, unless one is pending at that cycle or earlier.
    #[inline(always)]
    pub(super) fn schedule(&mut self, wire: LinkId, at: u64) {
        // Arbitrations of one cycle run in the reverse order of their scheduling. The deferred request is older than this one, so schedule its
        // arbitration first.
        self.enqueue_deferred();
        self.events.schedule(wire, at);
    }

    /// Adds the deferred request, if there is one, to the request chain of its link.
    #[inline(always)]
    pub(super) fn enqueue_deferred(&mut self) {
        if let Some(DeferredRequest { ready, link, buffer, packet, .. }) = self.events.take_deferred() {
            self.request(link, LinkRequestId(buffer.0), packet, ready);
        }
    }

    /// Returns the first cycle in which the buffer at the end of `link` has the free slots for the grant of `request`; 0 if it needs none, `None` if
    /// the cycle is not known yet.
    #[inline(always)]
    pub(super) fn slots_at(&self, link: &LinkState, request: &LinkRequest) -> Option<u64> {
        match self.parameters.grant_rule {
            GrantRule::Immediate => Some(0),
            _ if link.is_ejection => Some(0),
            #[cfg(feature = "internals")]
            GrantRule::OneSlot => link.buffer.slots().nth(0, &self.runs),
            GrantRule::WholePacket => {
                link.buffer.slots().nth(self.packets[request.packet].packet.flits - 1, &self.runs)
            }
        }
    }

    /// Returns the first cycle in which `request` for `link` could be granted without competition, if the wire is free from cycle `wire_free` on;
    /// `None` if the cycle is not known yet.
    #[inline(always)]
    fn opportunity(&self, link: &LinkState, request: &LinkRequest, wire_free: u64) -> Option<u64> {
        self.slots_at(link, request).map(|slots| slots.max(request.ready).max(wire_free))
    }

    /// Schedules the next arbitration of the free `wire` (one link, or the two directions of a half-duplex pair) for the first later cycle in which a
    /// pending request becomes grantable, if this is known.
    ///
    /// Requests that are grantable already are skipped: a better request, which still lacks free slots, holds them back and determines the next
    /// arbitration.
    #[inline(always)]
    pub(in super::super) fn wake(&mut self, wire: LinkId) {
        if !self.links[wire.index()].is_uncontended() {
            self.wake_for_requests(wire);
        }
    }

    fn wake_for_requests(&mut self, wire: LinkId) {
        let Wire { backward, free, .. } = self.links[wire.index()].wire_state;
        let mut next = NOT_YET;
        for link in [wire, backward].into_iter().filter(|&link| link != NO_LINK) {
            let link = &self.links[link.index()];
            for (_, request) in self.requests_for(link) {
                if let Some(at) = self.opportunity(link, request, free)
                    && at > self.events.now()
                {
                    next = next.min(at);
                }
            }
        }
        if next != NOT_YET {
            self.schedule(wire, next);
        }
    }

    /// Returns the pending requests for `link`, with their ids, the latest first.
    #[inline]
    pub(super) fn requests_for(&self, link: &LinkState) -> impl Iterator<Item = (LinkRequestId, &LinkRequest)> {
        let at = |id: LinkRequestId| (id != NO_REQUEST).then(|| (id, &self.requests[id.index()]));
        std::iter::successors(at(link.requests), move |(_, request)| at(request.next))
    }
}
