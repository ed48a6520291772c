//! What happens next in a network, and how far it has come.

use crate::ids::LinkId;

use super::calendar::CalendarQueue;
use super::packet::PacketId;

/// A request for a link that nobody else wants, of a packet that has just moved; it is not among the others yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldRequest {
    /// When it will be granted, if nothing comes first.
    pub(super) at: u64,
    pub(super) ready: u64,
    pub(super) link: LinkId,
    /// The link that feeds the buffer where the packet waits.
    pub(super) buffer: LinkId,
    pub(super) packet: PacketId,
}

/// When wires are looked at, and a grant that may come before all of them.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    calendar: CalendarQueue,
    /// Within a cycle only: at its end it is granted, or among the other requests.
    held_back: Option<HeldRequest>,
    /// The last cycle that is run now, if nothing is reported before.
    until: u64,
    /// The cycle of the last event.
    now: u64,
}

impl Agenda {
    /// Nothing is to happen on any of so many wires.
    pub(super) fn new(wires: u32) -> Agenda {
        Agenda { calendar: CalendarQueue::new(wires), held_back: None, until: 0, now: 0 }
    }

    /// The cycle of the last event.
    #[inline(always)]
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// The next event is at `cycle`.
    #[inline(always)]
    pub(super) fn advance(&mut self, cycle: u64) {
        self.now = cycle;
    }

    /// `cycle` is the last one that is run now.
    #[inline(always)]
    pub(super) fn run_until(&mut self, cycle: u64) {
        self.until = cycle;
    }

    /// The first cycle in which a wire is looked at.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<u64> {
        self.calendar.first()
    }

    /// The last cycle of which it is known that nothing else happens before it, among those that are run now.
    #[inline(always)]
    pub(super) fn certain_until(&self) -> u64 {
        self.until.min(self.first().unwrap_or(u64::MAX))
    }

    /// Has `wire` looked at by cycle `at`.
    #[inline(always)]
    pub(super) fn schedule(&mut self, wire: LinkId, at: u64) {
        self.calendar.schedule(wire, at);
    }

    /// Goes on to the next cycle in which a wire is looked at, if it is run now; gives the wire.
    #[inline(always)]
    pub(super) fn next_wire(&mut self) -> Option<LinkId> {
        let (at, wire) = self.calendar.take(self.until)?;
        self.now = at;
        Some(wire)
    }

    /// Whether nothing else is known to happen before `cycle`, and it is run now.
    #[inline(always)]
    pub(super) fn is_next(&self, cycle: u64) -> bool {
        cycle <= self.until && self.first().is_none_or(|first| cycle <= first)
    }

    /// The request that is held back.
    #[inline(always)]
    pub(super) fn held_back(&self) -> Option<HeldRequest> {
        self.held_back
    }

    /// Keeps a request from the others.
    #[inline(always)]
    pub(super) fn hold_back(&mut self, request: HeldRequest) {
        self.held_back = Some(request);
    }

    /// The request that was held back, no longer so.
    #[inline(always)]
    pub(super) fn take_held_back(&mut self) -> Option<HeldRequest> {
        self.held_back.take()
    }
}
