//! Writes that have to go to their dies.

use std::collections::VecDeque;

use crate::ids::{DieId, TransactionId};

/// A queue for each die, and how many are in all of them.
#[derive(Clone, Debug)]
pub(super) struct BoundWrites {
    queues: Vec<VecDeque<TransactionId>>,
    count: usize,
}

impl BoundWrites {
    /// None for any of `dies`.
    pub(super) fn new(dies: u32) -> BoundWrites {
        BoundWrites { queues: vec![VecDeque::new(); dies as usize], count: 0 }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// One comes for `die`.
    pub(super) fn push(&mut self, die: DieId, id: TransactionId) {
        self.queues[die.index()].push_back(id);
        self.count += 1;
    }

    /// The first one for `die`.
    pub(super) fn first(&self, die: DieId) -> Option<TransactionId> {
        self.queues[die.index()].front().copied()
    }

    /// How many there are for `die`.
    pub(super) fn count(&self, die: DieId) -> u32 {
        self.queues[die.index()].len() as u32
    }

    /// The first one for `die` goes.
    pub(super) fn pop(&mut self, die: DieId) {
        self.count -= usize::from(self.queues[die.index()].pop_front().is_some());
    }

    /// Takes out those of which `is_taken` says so, into `taken`.
    pub(super) fn take(&mut self, is_taken: impl Fn(&TransactionId) -> bool, taken: &mut Vec<TransactionId>) {
        for queue in &mut self.queues {
            taken.extend(queue.iter().copied().filter(&is_taken));
            queue.retain(|id| !is_taken(id));
        }
        self.count = self.queues.iter().map(VecDeque::len).sum();
    }
}
