//! The slots of the drive for the requests of one workload.

use std::collections::VecDeque;

use super::replay::Arrived;

/// The number of occupied slots, and the requests that wait for a slot.
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

    /// Frees a slot. If a request waits, the oldest one occupies the slot and is returned.
    #[inline(always)]
    pub(super) fn hand_over(&mut self) -> Option<Arrived> {
        if self.waiting.is_empty() {
            self.taken -= 1;
            return None;
        }
        self.next_waiting()
    }

    /// Removes the oldest waiting request. Not inlined: in stress replay, requests wait only if more are outstanding than the drive has slots.
    #[inline(never)]
    fn next_waiting(&mut self) -> Option<Arrived> {
        self.waiting.pop_front()
    }
}
