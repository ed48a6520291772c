//! Pauses of GC that alternates with the destage of stripes (`cache.destage-stripe`).

use crate::ids::DieId;
use crate::kernel::model::Model;
use crate::schedule::queues::{NOTHING, PlaneMasks};

use super::{Gate, PageSource};

impl<M: Model> Gate<'_, M> {
    /// Returns `masks` (planes with queued transactions, by class) without GC transactions, if GC of `die` waits for its turn.
    pub(super) fn without_paused_collection<S: PageSource<M>>(
        &self,
        die: DieId,
        masks: PlaneMasks,
        source: &S,
    ) -> PlaneMasks {
        let pausing = self.rules.pausing_collection;
        if masks.and(pausing) != NOTHING && source.collection_waits(die) { masks.without(pausing) } else { masks }
    }
}
