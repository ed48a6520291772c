//! A lane of the event queue.

use std::hint::select_unpredictable;

use super::entry::Entry;
use super::key::NEVER;
use super::ring::Ring;

/// Events in the order in which they fall due.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub entries: Ring<Entry>,
    /// The key of the newest.
    pub last: u64,
}

impl Lane {
    #[inline(always)]
    pub fn push(&mut self, entry: Entry) {
        self.entries.push_back(entry);
        self.last = entry.key;
    }

    /// Takes the first of its events, of which there is at least one; gives the key of the next as well.
    #[inline(always)]
    pub fn take(&mut self) -> (u32, u64) {
        let first = self.entries.take_first();
        (first.number, self.first_key())
    }

    /// The key of the first event.
    #[inline(always)]
    pub fn first_key(&self) -> u64 {
        let first = self.entries.front_or_any().key;
        // A branch would often be mispredicted.
        select_unpredictable(self.entries.is_empty(), NEVER, first)
    }
}
