//! Companions: mapping units that are chained behind the lead, the first mapping unit of their page or program operation.

use crate::datapath::Datapath;
use crate::ids::TransactionId;
use crate::kernel::model::Model;

impl<M: Model> Datapath<M> {
    #[inline(always)]
    pub(in super::super) fn gathers(&self) -> bool {
        M::ALL_FEATURES && self.gather.is_enabled()
    }

    /// Returns the companion that follows `id` (the next mapping unit of the same page or program); `None` after the last one.
    #[inline(always)]
    pub fn companion(&self, id: TransactionId) -> Option<TransactionId> {
        if self.gathers() { self.transactions[id].companion() } else { None }
    }

    /// Returns `id` and its companions, the mapping units chained behind it.
    pub fn with_companions(&self, id: TransactionId) -> impl Iterator<Item = TransactionId> {
        std::iter::successors(Some(id), |&id| self.companion(id))
    }

    pub(super) fn append_companion(&mut self, last: TransactionId, id: TransactionId) {
        self.transactions[id].end_chain();
        self.transactions[last].set_companion(id);
    }
}
