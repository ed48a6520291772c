//! The places that a drive has for the requests of one workload.

use std::collections::VecDeque;

use super::replay::Arrived;

/// Who holds a place, and who waits for one.
#[derive(Debug)]
pub(super) struct Places {
    /// How many there are.
    depth: usize,
    taken: usize,
    /// Arrived, but all places were taken.
    waiting: VecDeque<Arrived>,
}

impl Places {
    /// So many, all of them free.
    pub(super) fn new(depth: u32) -> Places {
        Places { depth: depth as usize, taken: 0, waiting: VecDeque::new() }
    }

    /// How many are taken.
    #[inline(always)]
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// Whether all are taken.
    #[inline(always)]
    pub(super) fn are_taken(&self) -> bool {
        self.taken == self.depth
    }

    /// Takes a free one.
    #[inline(always)]
    pub(super) fn take(&mut self) {
        self.taken += 1;
    }

    /// A request that found none waits.
    #[inline(always)]
    pub(super) fn wait(&mut self, request: Arrived) {
        self.waiting.push_back(request);
    }

    /// One is free again; gives the request that waited longest and takes it, if any.
    #[inline]
    pub(super) fn hand_over(&mut self) -> Option<Arrived> {
        let next = self.waiting.pop_front();
        if next.is_none() {
            self.taken -= 1;
        }
        next
    }
}
