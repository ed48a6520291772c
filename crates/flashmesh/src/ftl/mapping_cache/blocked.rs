//! Misses whose entry is at hand and has no room, in the parts of the cache.

use std::collections::VecDeque;

use super::Waiter;
use crate::ids::StreamId;

/// A queue for each part, and whose turn it is when room may have come.
#[derive(Clone, Debug)]
pub(super) struct Blocked {
    queues: Vec<VecDeque<Waiter>>,
    /// The part that goes first next time.
    next: usize,
}

impl Blocked {
    /// Nobody waits in any of so many parts.
    pub(super) fn new(parts: usize) -> Blocked {
        Blocked { queues: vec![VecDeque::new(); parts], next: 0 }
    }

    /// How many parts there are.
    #[inline]
    pub(super) fn parts(&self) -> usize {
        self.queues.len()
    }

    /// The part that entries count against which `stream` brings.
    #[inline]
    pub(super) fn part_of(&self, stream: StreamId) -> usize {
        if self.parts() == 1 { 0 } else { stream.index() % self.parts() }
    }

    /// Whether nobody waits in `part`.
    #[inline]
    pub(super) fn is_empty(&self, part: usize) -> bool {
        self.queues[part].is_empty()
    }

    /// `waiter` waits in its part.
    pub(super) fn push(&mut self, waiter: Waiter) {
        self.queues[waiter.partition].push_back(waiter);
    }

    /// Who has waited longest in `part`.
    pub(super) fn first(&self, part: usize) -> Option<Waiter> {
        self.queues[part].front().copied()
    }

    /// Who has waited longest in `part` goes on.
    pub(super) fn pop(&mut self, part: usize) {
        self.queues[part].pop_front();
    }

    /// The part whose turn is the `turn`th this time.
    pub(super) fn in_turn(&self, turn: usize) -> usize {
        (self.next + turn) % self.parts()
    }

    /// Another part goes first next time.
    pub(super) fn turn(&mut self) {
        self.next = (self.next + 1) % self.parts();
    }
}
