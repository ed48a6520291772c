//! Event queue of a network, and the current cycle of its simulation.

use crate::ids::LinkId;

use super::calendar::CalendarQueue;
use super::packet::PacketId;

/// An uncontended request of a packet that has just moved. Kept out of the request lists, so that its grant needs no event.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeferredRequest {
    /// Cycle of the grant, if no event precedes it.
    pub(super) at: u64,
    pub(super) ready: u64,
    pub(super) link: LinkId,
    /// Link that feeds the buffer of the packet.
    pub(super) buffer: LinkId,
    pub(super) packet: PacketId,
}

/// Pending arbitrations of wires, and at most one grant that may precede all of them.
#[derive(Clone, Debug)]
pub(super) struct ArbitrationQueue {
    calendar: CalendarQueue,
    /// Deferred request. Set only within a cycle: before the cycle ends, the request is granted or moved to the request lists.
    held_back: Option<DeferredRequest>,
    /// Last cycle of this run, if no report ends the run earlier.
    until: u64,
    /// Cycle of the last event.
    now: u64,
}

impl ArbitrationQueue {
    /// Creates an empty queue for `wires` wires.
    pub(super) fn new(wires: u32) -> ArbitrationQueue {
        ArbitrationQueue { calendar: CalendarQueue::new(wires), held_back: None, until: 0, now: 0 }
    }

    /// Returns the cycle of the last event.
    #[inline(always)]
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// Advances to `cycle`, the cycle of the next event.
    #[inline(always)]
    pub(super) fn advance(&mut self, cycle: u64) {
        self.now = cycle;
    }

    /// Sets the last cycle of this run.
    #[inline(always)]
    pub(super) fn set_run_end(&mut self, cycle: u64) {
        self.until = cycle;
    }

    /// Returns the cycle of the first pending arbitration; `None` if there is none.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<u64> {
        self.calendar.first()
    }

    /// Returns the end of the lookahead: the last cycle of this run before which no event is pending.
    #[inline(always)]
    pub(super) fn safe_horizon(&self) -> u64 {
        self.until.min(self.first().unwrap_or(u64::MAX))
    }

    /// Schedules the arbitration of `wire` at cycle `at` or earlier.
    #[inline(always)]
    pub(super) fn schedule(&mut self, wire: LinkId, at: u64) {
        self.calendar.schedule(wire, at);
    }

    /// Dequeues the next arbitration of this run, advances to its cycle, and returns its wire; `None` if no arbitration is left in this run.
    #[inline(always)]
    pub(super) fn next_wire(&mut self) -> Option<LinkId> {
        let (at, wire) = self.calendar.dequeue(self.until)?;
        self.now = at;
        Some(wire)
    }

    /// Returns whether `cycle` is in this run and no pending event precedes it.
    #[inline(always)]
    pub(super) fn is_next(&self, cycle: u64) -> bool {
        cycle <= self.until && self.first().is_none_or(|first| cycle <= first)
    }

    #[inline(always)]
    pub(super) fn deferred(&self) -> Option<DeferredRequest> {
        self.held_back
    }

    #[inline(always)]
    pub(super) fn defer(&mut self, request: DeferredRequest) {
        self.held_back = Some(request);
    }

    #[inline(always)]
    pub(super) fn take_deferred(&mut self) -> Option<DeferredRequest> {
        self.held_back.take()
    }
}
