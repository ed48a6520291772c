//! Stalled misses: their translation page is in DRAM, but their part of the cache has no room for the entry.

use std::collections::VecDeque;

use super::Waiter;
use crate::ids::StreamId;

/// A FIFO of stalled misses for each part of the cache, served in rounds. Each round begins with another part.
#[derive(Clone, Debug)]
pub(super) struct StalledMisses {
    queues: Vec<VecDeque<Waiter>>,
    /// Part to be served first in the next round.
    next: usize,
}

impl StalledMisses {
    /// Creates empty queues for `parts` parts.
    pub(super) fn new(parts: usize) -> StalledMisses {
        StalledMisses { queues: vec![VecDeque::new(); parts], next: 0 }
    }

    /// Returns the number of parts.
    #[inline]
    pub(super) fn parts(&self) -> usize {
        self.queues.len()
    }

    /// Returns the part that entries fetched by `stream` count against.
    #[inline]
    pub(super) fn part_of(&self, stream: StreamId) -> usize {
        if self.parts() == 1 { 0 } else { stream.index() % self.parts() }
    }

    /// Returns whether no miss of `part` is stalled.
    #[inline]
    pub(super) fn is_empty(&self, part: usize) -> bool {
        self.queues[part].is_empty()
    }

    /// Enqueues `waiter` in its part.
    pub(super) fn push(&mut self, waiter: Waiter) {
        self.queues[waiter.partition].push_back(waiter);
    }

    /// Returns the miss stalled for longest in `part`.
    pub(super) fn first(&self, part: usize) -> Option<Waiter> {
        self.queues[part].front().copied()
    }

    /// Removes the miss stalled for longest in `part`.
    pub(super) fn pop(&mut self, part: usize) {
        self.queues[part].pop_front();
    }

    /// Returns the part to be served at position `turn` (from 0) of this round.
    pub(super) fn part_at_turn(&self, turn: usize) -> usize {
        (self.next + turn) % self.parts()
    }

    /// Ends a round, so that another part is served first in the next round.
    pub(super) fn advance_turn(&mut self) {
        self.next = (self.next + 1) % self.parts();
    }
}
