//! Transactions in flight, and the chains of mapping units that run together.
//!
//! *Companions* are the further mapping units of the page or program of a transaction. They are chained to the transaction and run with it.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::flash::geometry::Geometry;
use crate::ids::TransactionId;
use crate::kernel::model::Model;
use crate::schedule::queues::Transactions;
use crate::schedule::transaction::Transaction;

/// Transactions in flight, queued or not, with their chains of companions (mapping units of the same page or program). Dereferences to the table of
/// the transactions by id. Modify a transaction only while no queue contains the transaction.
#[derive(Clone)]
pub struct TransactionTable<M: Model> {
    transactions: Transactions,
    /// Whether programs of the drive write several mapping units; otherwise there are no companions.
    has_companions: bool,
    model: PhantomData<M>,
}

impl<M: Model> Deref for TransactionTable<M> {
    type Target = Transactions;

    #[inline(always)]
    fn deref(&self) -> &Transactions {
        &self.transactions
    }
}

impl<M: Model> DerefMut for TransactionTable<M> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Transactions {
        &mut self.transactions
    }
}

impl<M: Model> TransactionTable<M> {
    pub(super) fn new(geometry: &Geometry) -> TransactionTable<M> {
        let (transactions, has_companions) = (Transactions::default(), geometry.gathers_units());
        TransactionTable { transactions, has_companions, model: PhantomData }
    }

    /// Converts the table to model `N` (a variant of the simulation, compiled for one set of features).
    pub(super) fn into_model<N: Model>(self) -> TransactionTable<N> {
        let TransactionTable { transactions, has_companions, .. } = self;
        TransactionTable { transactions, has_companions, model: PhantomData }
    }

    /// Returns the companion that follows `id` (the next mapping unit of the same page or program); `None` after the last companion.
    #[inline(always)]
    pub fn companion(&self, id: TransactionId) -> Option<TransactionId> {
        if M::ALL_FEATURES && self.has_companions { self.transactions[id].companion() } else { None }
    }

    /// Returns `id` and its companions, the further mapping units of its page or program.
    pub fn with_companions(&self, id: TransactionId) -> impl Iterator<Item = TransactionId> {
        std::iter::successors(Some(id), |&id| self.companion(id))
    }

    /// Calls `change` with `lead` and each of its companions (further mapping units of the same page or program).
    #[inline(always)]
    pub(in super::super) fn for_each_unit(&mut self, lead: TransactionId, mut change: impl FnMut(&mut Transaction)) {
        change(&mut self.transactions[lead]);
        let mut companion = self.companion(lead);
        while let Some(id) = companion {
            change(&mut self.transactions[id]);
            companion = self.companion(id);
        }
    }

    /// Chains `id` behind `last`, the last transaction of a chain.
    pub(super) fn append_companion(&mut self, last: TransactionId, id: TransactionId) {
        self.transactions[id].end_chain();
        self.transactions[last].set_companion(id);
    }

    /// Chains `ids` in order into one operation, and returns the first. None of them may be queued.
    ///
    /// # Panics
    /// If `ids` is empty.
    pub fn chain_operation(&mut self, ids: &[TransactionId]) -> TransactionId {
        for pair in ids.windows(2) {
            self.transactions[pair[0]].set_companion(pair[1]);
        }
        self.transactions[*ids.last().expect("an operation has a transaction")].end_chain();
        ids[0]
    }

    /// Removes the mapping units that match `is_stale` from the dequeued program that begins with `lead`, but never `lead` itself. Returns the
    /// removed units.
    pub fn leave_out(&mut self, lead: TransactionId, is_stale: impl Fn(&Transaction) -> bool) -> Vec<TransactionId> {
        let all: Vec<TransactionId> = self.with_companions(lead).collect();
        let (out, kept): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|&id| id != lead && is_stale(&self.transactions[id]));
        self.chain_operation(&kept);
        out.iter().for_each(|&id| self.transactions[id].end_chain());
        out
    }
}
