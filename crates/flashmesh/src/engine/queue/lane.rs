//! A lane of the event queue: a FIFO of events with the same delay.

use std::hint::select_unpredictable;

use super::key::NEVER;
use crate::engine::ring::Ring;

/// A FIFO of keys in ascending order. No key may be smaller than `last`, the key pushed before.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    pub keys: Ring<u64>,
    pub last: u64,
}

impl Lane {
    #[inline(always)]
    pub fn push(&mut self, key: u64) {
        self.keys.push_back(key);
        self.last = key;
    }

    /// Dequeues the first key of a lane, which must not be empty. Returns the key after it, or `NEVER`.
    #[inline(always)]
    pub fn pop(&mut self) -> u64 {
        self.keys.take_first();
        self.first_key()
    }

    #[inline(always)]
    pub fn first_key(&self) -> u64 {
        let first = *self.keys.front_or_any();
        // Branch-free, because a branch would often be mispredicted.
        select_unpredictable(self.keys.is_empty(), NEVER, first)
    }
}
