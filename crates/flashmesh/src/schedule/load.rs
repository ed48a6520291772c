//! Queues and states of the dies, for policies that balance load.

use crate::ids::{DieId, TransactionId};

use super::queues::{DieQueues, Transactions};
use super::transaction::{Transaction, TransactionClass};
use super::{DieStates, QueueId};

/// A read-only view of the queues and states of all dies.
#[derive(Clone, Copy)]
pub struct LoadView<'a> {
    dies: &'a dyn DieStates,
    queues: &'a DieQueues,
    transactions: &'a Transactions,
}

impl<'a> LoadView<'a> {
    /// Creates a view of all dies of a drive.
    #[inline]
    pub fn new(dies: &'a dyn DieStates, queues: &'a DieQueues, transactions: &'a Transactions) -> LoadView<'a> {
        LoadView { dies, queues, transactions }
    }

    /// Returns the states of all dies: their operations in progress, and whether they request or use a path.
    #[inline]
    pub fn states(&self) -> &'a dyn DieStates {
        self.dies
    }

    /// Returns the transaction `id`, queued or in progress.
    #[inline]
    pub fn transaction(&self, id: TransactionId) -> &'a Transaction {
        &self.transactions[id]
    }

    /// Returns all transactions of `class` queued at a die, each with its queue and id, in any order. Includes transactions that may not run yet.
    #[inline]
    pub fn queued(
        &self,
        die: DieId,
        class: TransactionClass,
    ) -> impl Iterator<Item = (QueueId, TransactionId, &'a Transaction)> + use<'a> {
        self.queued_first(die, class, usize::MAX)
    }

    /// Like [`queued`](Self::queued), but only the first `limit` transactions of each queue.
    #[inline]
    pub fn queued_first(
        &self,
        die: DieId,
        class: TransactionClass,
        limit: usize,
    ) -> impl Iterator<Item = (QueueId, TransactionId, &'a Transaction)> + use<'a> {
        self.queues.waiting(self.transactions, die, class, limit)
    }

    /// Returns the oldest transaction of a class queued at a die; `None` if no such transaction is queued.
    #[inline]
    pub fn oldest(&self, die: DieId, class: TransactionClass) -> Option<&'a Transaction> {
        self.queues.oldest_of(self.transactions, die, class)
    }

    /// Returns the number of transactions queued at a die.
    pub fn waiting(&self, die: DieId) -> usize {
        TransactionClass::ALL.iter().map(|&class| self.queued(die, class).count()).sum()
    }

    /// Returns the number of transactions queued at a die or in progress there.
    pub fn outstanding(&self, die: DieId) -> usize {
        self.waiting(die) + self.dies.in_progress(die)
    }

    /// Returns whether a die is idle and has empty queues.
    pub fn is_idle(&self, die: DieId) -> bool {
        self.dies.is_idle(die) && !self.queues.has_work(die)
    }
}
