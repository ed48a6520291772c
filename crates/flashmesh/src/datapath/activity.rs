//! Operations in progress at the dies, and the requests that these operations serve.

use crate::fabric::DataOwner;
use crate::ids::{DieId, RequestId, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::transaction::TransactionClass;

use super::{Dies, TransactionQueues};

/// Read-only view of the queues and dies. Shows the transactions that a die executes, and the request that the die works for.
pub struct DieActivity<'a, M: Model> {
    pub(super) queues: &'a TransactionQueues<M>,
    pub(super) dies: &'a Dies<M>,
}

impl<M: Model> DieActivity<'_, M> {
    /// Returns whether `die` is idle and has no queued transactions.
    pub fn is_idle(&self, die: DieId) -> bool {
        !self.queues.has_work(die) && self.dies[die].is_idle()
    }

    /// Returns whether the page of `id`, a read of `die`, has been sensed. Its data then waits in the array or in the page register, or is in
    /// transfer.
    pub fn is_in_register(&self, die: DieId, id: TransactionId) -> bool {
        self.dies[die].sensed().any(|&lead| self.queues.transactions.with_companions(lead).any(|held| held == id))
    }

    /// Returns whether `id`, a read of `die`, is being sensed or its command is in transfer.
    pub fn is_sensed_now(&self, die: DieId, id: TransactionId) -> bool {
        let mut leads = self.dies[die].in_progress().flat_map(|operation| operation.transactions());
        leads.any(|&lead| self.queues.transactions.with_companions(lead).any(|sensed| sensed == id))
    }

    /// Returns the request of the operation in progress at `die`; `None` if the die is idle or works for no request.
    #[inline]
    pub fn active_request(&self, die: DieId) -> Option<RequestId> {
        let first = self.dies.first_in_progress(die)?;
        self.queues.transaction(first).owner.request
    }

    /// Like [`active_request`](Self::active_request), but for an idle die returns the request of its first queued transaction, if any.
    #[inline]
    pub(super) fn active_or_next_request(&self, die: DieId) -> Option<RequestId> {
        match self.dies.first_in_progress(die) {
            Some(id) => self.queues.transaction(id).owner.request,
            None => self.queues.first_queued_request(die),
        }
    }

    /// Returns the owner (request, GC or map) of the data that `die` sends next, by which the channel is arbitrated.
    #[inline(never)]
    pub(super) fn data_owner(&self, die: DieId) -> DataOwner {
        let entry = &self.dies[die];
        if entry.outgoing().is_some_and(|read| self.queues.transaction(read).class() == TransactionClass::MapRead) {
            DataOwner::Mapping
        } else if entry.is_sending_internal() {
            DataOwner::Collection
        } else {
            DataOwner::Request
        }
    }
}
