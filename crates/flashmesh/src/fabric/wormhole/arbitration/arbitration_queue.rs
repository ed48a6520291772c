//! Event queue of a network: pending arbitrations of wires, and the current cycle.

use crate::fabric::wormhole::packet::PacketId;
use crate::ids::LinkId;

use super::calendar::CalendarQueue;

/// A request of a packet that has just moved, kept out of the request chain of its link so that its grant needs no event. The link has no other
/// pending request.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct DeferredRequest {
    /// Cycle of the next grant. An event before this cycle, such as a request, can change it.
    pub(in super::super) at: u64,
    pub(in super::super) ready: u64,
    pub(in super::super) link: LinkId,
    /// Link to the buffer in which the packet is.
    pub(in super::super) buffer: LinkId,
    pub(in super::super) packet: PacketId,
}

/// Pending arbitrations of wires (links, or half-duplex pairs of links), and at most one deferred request, whose grant may precede them all.
#[derive(Clone, Debug)]
pub(in super::super) struct ArbitrationQueue {
    calendar: CalendarQueue,
    /// Deferred request, if any. Before the next event, it is granted or moved to the request chain of its link.
    held_back: Option<DeferredRequest>,
    /// Last cycle that the current call of [`advance_to_report`](crate::fabric::wormhole::WormholeNetwork::advance_to_report) may simulate.
    until: u64,
    /// Current cycle of the network: of the last event, or of the last grant without an event.
    now: u64,
}

impl ArbitrationQueue {
    pub(in super::super) fn new(wires: u32) -> ArbitrationQueue {
        ArbitrationQueue { calendar: CalendarQueue::new(wires), held_back: None, until: 0, now: 0 }
    }

    #[inline(always)]
    pub(in super::super) fn now(&self) -> u64 {
        self.now
    }

    /// Advances the current cycle to `cycle`, in which a grant is made without an event.
    #[inline(always)]
    pub(in super::super) fn advance(&mut self, cycle: u64) {
        self.now = cycle;
    }

    /// Sets the last cycle that the current call of [`advance_to_report`](crate::fabric::wormhole::WormholeNetwork::advance_to_report) may simulate.
    #[inline(always)]
    pub(in super::super) fn set_run_end(&mut self, cycle: u64) {
        self.until = cycle;
    }

    /// Returns the cycle of the first pending arbitration; `None` if there is none.
    #[inline(always)]
    pub(in super::super) fn first(&self) -> Option<u64> {
        self.calendar.first()
    }

    /// Returns the last cycle in which a grant needs no event: the cycle of the first pending arbitration, or the end of the current simulation call,
    /// whichever is earlier.
    #[inline(always)]
    pub(in super::super) fn safe_horizon(&self) -> u64 {
        self.until.min(self.first().unwrap_or(u64::MAX))
    }

    /// Schedules an arbitration of `wire` at cycle `at`, unless one is pending at that cycle or earlier.
    #[inline(always)]
    pub(super) fn schedule(&mut self, wire: LinkId, at: u64) {
        self.calendar.schedule(wire, at);
    }

    /// Dequeues the first pending arbitration, advances to its cycle, and returns its wire; `None` if none is pending up to the end of the current
    /// simulation call.
    #[inline(always)]
    pub(in super::super) fn next_wire(&mut self) -> Option<LinkId> {
        let (at, wire) = self.calendar.dequeue(self.until)?;
        self.now = at;
        Some(wire)
    }

    /// Returns whether `cycle` can be simulated next: it is within the current simulation call, and no pending arbitration precedes it.
    #[inline(always)]
    pub(in super::super) fn is_next(&self, cycle: u64) -> bool {
        cycle <= self.until && self.first().is_none_or(|first| cycle <= first)
    }

    #[inline(always)]
    pub(in super::super) fn deferred(&self) -> Option<DeferredRequest> {
        self.held_back
    }

    #[inline(always)]
    pub(in super::super) fn defer(&mut self, request: DeferredRequest) {
        self.held_back = Some(request);
    }

    #[inline(always)]
    pub(super) fn take_deferred(&mut self) -> Option<DeferredRequest> {
        self.held_back.take()
    }
}
