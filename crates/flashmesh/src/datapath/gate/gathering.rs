//! Gathering: programs of several mapping units wait until they are full, or need not wait for further units.

use crate::ids::DieId;
use crate::kernel::model::Model;
use crate::schedule::queues::{PlaneMasks, planes};
use crate::schedule::transaction::TransactionClass;

use super::{Gate, PageSource};

/// Classes of programs that wait in the queue until enough mapping units have gathered for a full program.
const GATHERING_CLASSES: [TransactionClass; 4] = [
    TransactionClass::UserProgram,
    TransactionClass::MapProgram,
    TransactionClass::ReplicaProgram,
    TransactionClass::CollectProgram,
];

impl<M: Model> Gate<'_, M> {
    /// Returns `masks` (planes with queued transactions, by class) without programs that still wait for mapping units.
    pub(super) fn without_gathering_programs<S: PageSource<M>>(
        &self,
        die: DieId,
        mut masks: PlaneMasks,
        source: &S,
    ) -> PlaneMasks {
        if !self.queues.gathers() {
            return masks;
        }
        for class in GATHERING_CLASSES {
            let queued = masks.of(class);
            let gathering = queued & !self.queues.runnable_programs(die, class, queued, source);
            planes(gathering).for_each(|plane| masks.remove(class, plane));
        }
        masks
    }
}
