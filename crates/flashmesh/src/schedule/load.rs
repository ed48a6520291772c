//! What waits for the dies of a drive and what they do, for policies that look at load.

use crate::ids::{DieId, TransactionId};

use super::queues::{DieQueues, Transactions};
use super::transaction::{Class, Transaction};
use super::{Choice, DieStates};

/// The queues and states of all dies, to be looked at and not changed.
#[derive(Clone, Copy)]
pub struct Load<'a> {
    dies: &'a dyn DieStates,
    queues: &'a DieQueues,
    transactions: &'a Transactions,
}

impl<'a> Load<'a> {
    /// The view of all dies of a drive.
    #[inline]
    pub fn new(dies: &'a dyn DieStates, queues: &'a DieQueues, transactions: &'a Transactions) -> Load<'a> {
        Load { dies, queues, transactions }
    }

    /// What each die does now.
    #[inline]
    pub fn states(&self) -> &'a dyn DieStates {
        self.dies
    }

    /// A transaction, whatever it waits for.
    #[inline]
    pub fn transaction(&self, id: TransactionId) -> &'a Transaction {
        &self.transactions[id]
    }

    /// All that waits in the queues of a die, in no order; not all of it may run now.
    #[inline]
    pub fn queued(
        &self,
        die: DieId,
        class: Class,
    ) -> impl Iterator<Item = (Choice, TransactionId, &'a Transaction)> + use<'a> {
        self.queued_first(die, class, usize::MAX)
    }

    /// The same of the first `limit` of each queue.
    #[inline]
    pub fn queued_first(
        &self,
        die: DieId,
        class: Class,
        limit: usize,
    ) -> impl Iterator<Item = (Choice, TransactionId, &'a Transaction)> + use<'a> {
        self.queues.waiting(self.transactions, die, class, limit)
    }

    /// Of all that waits for a die in a class, what waits longest.
    #[inline]
    pub fn oldest(&self, die: DieId, class: Class) -> Option<&'a Transaction> {
        self.queues.oldest_of(self.transactions, die, class)
    }

    /// Transactions that wait for a die.
    pub fn waiting(&self, die: DieId) -> usize {
        Class::ALL.iter().map(|&class| self.queued(die, class).count()).sum()
    }

    /// Transactions that wait for a die, and those that it works on.
    pub fn outstanding(&self, die: DieId) -> usize {
        self.waiting(die) + self.dies.working(die)
    }

    /// Whether a die does nothing and nothing waits for it.
    pub fn is_idle(&self, die: DieId) -> bool {
        self.dies.is_idle(die) && !self.queues.has_work(die)
    }
}
