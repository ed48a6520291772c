//! Stalled misses of the map cache: the translation page is in DRAM, but no entry can be evicted to make room for the missing entry.

use std::collections::VecDeque;

use super::Waiter;
use crate::ids::StreamId;

/// FIFO queues of stalled misses, one for each part of the cache (the whole cache, or the share of one stream). Parts are served in rounds. Each
/// round serves every part once, and starts one part later than the previous round.
#[derive(Clone, Debug)]
pub(super) struct StalledMisses {
    queues: Vec<VecDeque<Waiter>>,
    /// Part to be served first in the next round.
    next: usize,
}

impl StalledMisses {
    pub(super) fn new(parts: usize) -> StalledMisses {
        StalledMisses { queues: vec![VecDeque::new(); parts], next: 0 }
    }

    /// Returns the number of parts of the cache: 1, or one for each stream.
    #[inline]
    pub(super) fn parts(&self) -> usize {
        self.queues.len()
    }

    /// Returns the index of the part of the cache to which entries fetched by `stream` belong.
    #[inline]
    pub(super) fn part_of(&self, stream: StreamId) -> usize {
        if self.parts() == 1 { 0 } else { stream.index() % self.parts() }
    }

    #[inline]
    pub(super) fn is_empty(&self, part: usize) -> bool {
        self.queues[part].is_empty()
    }

    pub(super) fn push(&mut self, waiter: Waiter) {
        self.queues[waiter.partition].push_back(waiter);
    }

    /// Returns the miss stalled for longest in `part`; `None` if no miss of `part` is stalled.
    pub(super) fn first(&self, part: usize) -> Option<Waiter> {
        self.queues[part].front().copied()
    }

    /// Removes the miss stalled for longest in `part`, which is resumed.
    pub(super) fn pop(&mut self, part: usize) {
        self.queues[part].pop_front();
    }

    /// Returns the part of the cache that is served at position `turn`, from 0, of the current round.
    pub(super) fn part_at_turn(&self, turn: usize) -> usize {
        (self.next + turn) % self.parts()
    }

    /// Ends a round. The next one starts with the next part, in cyclic order.
    pub(super) fn advance_turn(&mut self) {
        self.next = (self.next + 1) % self.parts();
    }
}
