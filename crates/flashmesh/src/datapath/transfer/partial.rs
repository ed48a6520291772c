//! Partial transfers of register data. The mapping units of a page leave in several transfers, each over its own path, if their destinations differ,
//! or if the page buffer of the destination chip has no space for all.

use crate::datapath::Datapath;
use crate::ids::{DieId, TransactionId};
use crate::kernel::model::Model;

/// Dies whose next transfer takes only part of the data in the register, each with the first read of the remaining data.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct PartialTransfers(Vec<(DieId, TransactionId)>);

impl PartialTransfers {
    /// Removes and returns the first read of the data that remains in the register of `die`; `None` if the whole page leaves.
    #[inline]
    pub(super) fn take_remainder(&mut self, die: DieId) -> Option<TransactionId> {
        let at = self.0.iter().position(|(of, _)| *of == die)?;
        Some(self.0.swap_remove(at).1)
    }
}

impl<M: Model> Datapath<M> {
    /// Limits the next transfer from the register of `die` to the data of its first `count` reads.
    pub fn limit_transfer(&mut self, die: DieId, count: usize) {
        let Some(read) = self.dies.outgoing(die) else { return };
        let ids: Vec<TransactionId> = self.queues.transactions.with_companions(read).collect();
        if let Some(&rest) = ids.get(count) {
            self.queues.transaction_mut(ids[count - 1]).end_chain();
            self.partial_transfers.0.push((die, rest));
        }
    }
}
