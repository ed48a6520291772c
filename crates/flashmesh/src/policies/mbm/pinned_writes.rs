//! Waiting writes that may go to one die only.

use std::collections::VecDeque;

use crate::ids::{DieId, TransactionId};

/// Queues of pinned writes (writes that may go to one die only), indexed by die. `count` is the total number of writes.
#[derive(Clone, Debug)]
pub(super) struct PinnedWrites {
    queues: Vec<VecDeque<TransactionId>>,
    count: usize,
}

impl PinnedWrites {
    pub(super) fn new(dies: u32) -> PinnedWrites {
        PinnedWrites { queues: vec![VecDeque::new(); dies as usize], count: 0 }
    }

    /// Returns whether no write is pinned to any die.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Enqueues the write `id` for `die`.
    pub(super) fn push(&mut self, die: DieId, id: TransactionId) {
        self.queues[die.index()].push_back(id);
        self.count += 1;
    }

    /// Returns the first write in the queue of `die`; `None` if the queue is empty.
    pub(super) fn first(&self, die: DieId) -> Option<TransactionId> {
        self.queues[die.index()].front().copied()
    }

    /// Returns the number of writes in the queue of `die`.
    pub(super) fn count(&self, die: DieId) -> u32 {
        self.queues[die.index()].len() as u32
    }

    /// Removes the first write from the queue of `die`, if any.
    pub(super) fn pop(&mut self, die: DieId) {
        self.count -= usize::from(self.queues[die.index()].pop_front().is_some());
    }

    /// Removes the writes for which `is_taken` holds, and appends them to `taken`.
    pub(super) fn remove_where(&mut self, is_taken: impl Fn(&TransactionId) -> bool, taken: &mut Vec<TransactionId>) {
        for queue in &mut self.queues {
            taken.extend(queue.iter().copied().filter(&is_taken));
            queue.retain(|id| !is_taken(id));
        }
        self.count = self.queues.iter().map(VecDeque::len).sum();
    }
}
