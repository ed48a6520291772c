//! Suspended operations: while an operation of a die is suspended, only reads run there that requests wait for.

use crate::ids::DieId;
use crate::kernel::model::Model;
use crate::schedule::queues::{NOTHING, PlaneMasks};

use super::{AWAITED_READS, Gate, PageSource};

impl<M: Model> Gate<'_, M> {
    /// Returns the planes in `masks` (planes with queued transactions, by class) whose transactions may run while an operation of `die` is suspended:
    /// reads that requests wait for, or none if the operation belongs to GC that precedes reads, so that it must resume first. Returns `masks` if no
    /// operation is suspended.
    pub(super) fn during_suspension<S: PageSource<M>>(&self, die: DieId, masks: PlaneMasks, source: &S) -> PlaneMasks {
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
