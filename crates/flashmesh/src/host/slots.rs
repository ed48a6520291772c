//! The slots (commands outstanding at a time) of the drive for the requests of one stream.

use std::collections::VecDeque;

use super::replay::ReplayRequest;

/// The number of occupied slots, and the requests that wait for a slot.
#[derive(Clone, Debug)]
pub(super) struct QueueSlots {
    depth: usize,
    taken: usize,
    waiting: VecDeque<ReplayRequest>,
}

impl QueueSlots {
    pub(super) fn new(depth: u32) -> QueueSlots {
        QueueSlots { depth: depth as usize, taken: 0, waiting: VecDeque::new() }
    }

    #[inline(always)]
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    #[inline(always)]
    pub(super) fn are_taken(&self) -> bool {
        self.taken == self.depth
    }

    #[inline(always)]
    pub(super) fn occupy(&mut self) {
        self.taken += 1;
    }

    #[inline(always)]
    pub(super) fn wait(&mut self, request: ReplayRequest) {
        self.waiting.push_back(request);
    }

    /// Frees a slot. If a request waits, the oldest one occupies the slot and is returned; otherwise `None`.
    #[inline(always)]
    pub(super) fn release(&mut self) -> Option<ReplayRequest> {
        if self.waiting.is_empty() {
            self.taken -= 1;
            return None;
        }
        self.next_waiting()
    }

    /// Removes and returns the oldest waiting request. Not inlined, because requests seldom wait: in stress replay only if more are outstanding than
    /// the drive has slots.
    #[inline(never)]
    fn next_waiting(&mut self) -> Option<ReplayRequest> {
        self.waiting.pop_front()
    }
}
