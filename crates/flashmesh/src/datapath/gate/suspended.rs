//! Suspended operations: while an operation of a die is suspended, only reads run there that requests wait for.

use crate::ids::DieId;
use crate::kernel::model::Model;
use crate::schedule::queues::{NOTHING, PlaneMasks};

use super::{AWAITED_READS, Gate, PageSource};

impl<M: Model> Gate<'_, M> {
    /// Returns `masks` (planes with queued transactions, by class) with only the reads that may run beside the suspended operation of `die`: none if
    /// the operation belongs to GC with priority over reads. Without a suspended operation, returns `masks`.
    pub(super) fn beside_suspended<S: PageSource<M>>(&self, die: DieId, masks: PlaneMasks, source: &S) -> PlaneMasks {
        if !self.dies.is_limited_to_reads(die) {
            masks
        } else if self.has_suspended_priority_collection(die, source) {
            NOTHING
        } else {
            masks.and(AWAITED_READS)
        }
    }

    /// Returns whether an operation suspended at `die` (or on its chip, under chip-wide suspension) belongs to GC with priority over reads.
    fn has_suspended_priority_collection<S: PageSource<M>>(&self, die: DieId, source: &S) -> bool {
        let has_priority =
            |die: DieId| self.dies[die].state.has_suspended_internal() && self.has_collection_priority(die, source);
        if self.dies.are_suspended_as_chips() {
            self.dies.dies_of_chip(die).any(has_priority)
        } else {
            has_priority(die)
        }
    }
}
