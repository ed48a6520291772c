//! A lane of the event queue.

use std::hint::select_unpredictable;

use super::key::NEVER;
use super::ring::Ring;
use super::scheduled::Scheduled;

#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    pub entries: Ring<Scheduled>,
    pub last: u64,
}

impl Lane {
    #[inline(always)]
    pub fn push(&mut self, entry: Scheduled) {
        self.entries.push_back(entry);
        self.last = entry.key;
    }

    /// Takes the first event of a lane that is not empty; returns also the key of the next one.
    #[inline(always)]
    pub fn take(&mut self) -> (u32, u64) {
        let first = self.entries.take_first();
        (first.number, self.first_key())
    }

    #[inline(always)]
    pub fn first_key(&self) -> u64 {
        let first = self.entries.front_or_any().key;
        // A branch would often be mispredicted.
        select_unpredictable(self.entries.is_empty(), NEVER, first)
    }
}
