//! The places that a drive has for the requests of one workload.

use std::collections::VecDeque;

use super::replay::Arrived;

/// Requests in the slots of the drive, and requests that wait for one.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    depth: usize,
    taken: usize,
    waiting: VecDeque<Arrived>,
}

impl Slots {
    pub(super) fn new(depth: u32) -> Slots {
        Slots { depth: depth as usize, taken: 0, waiting: VecDeque::new() }
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
    pub(super) fn take(&mut self) {
        self.taken += 1;
    }

    #[inline(always)]
    pub(super) fn wait(&mut self, request: Arrived) {
        self.waiting.push_back(request);
    }

    /// Frees a slot; the longest waiting request takes it.
    #[inline(always)]
    pub(super) fn hand_over(&mut self) -> Option<Arrived> {
        if self.waiting.is_empty() {
            self.taken -= 1;
            return None;
        }
        self.next_waiting()
    }

    /// Out of line: in stress replay no request waits.
    #[inline(never)]
    fn next_waiting(&mut self) -> Option<Arrived> {
        self.waiting.pop_front()
    }
}
