//! Free pages: programs wait until their plane has a page for them. GC moves never wait, because they have a reserve.

use crate::ids::{DieId, PlaneId};
use crate::kernel::model::Model;
use crate::schedule::QueueId;
use crate::schedule::queues::{PlaneMasks, planes};
use crate::schedule::transaction::TransactionClass;

use super::{Gate, PageSource};

impl<M: Model> Gate<'_, M> {
    /// Returns `masks` (planes with queued transactions, by class) without programs of planes that have no free page for them.
    pub(super) fn with_free_pages<S: PageSource<M>>(
        &self,
        die: DieId,
        mut masks: PlaneMasks,
        source: &S,
    ) -> PlaneMasks {
        for class in TransactionClass::WAITING_PROGRAMS {
            let has_pages = self.queues.is_early_bound(class);
            for plane in planes(if has_pages { 0 } else { masks.of(class) }) {
                let plane_id = PlaneId(self.queues.geometry().first_plane(die).0 + u32::from(plane));
                let head = |&priority| self.queues.head(QueueId { die, class, plane, priority });
                let heads = self.queues.priorities().iter().filter_map(head).map(|id| self.queues.transaction(id));
                if !source.has_page(class, plane_id, heads) {
                    masks.remove(class, plane);
                }
            }
        }
        masks
    }

    /// Returns `masks` (planes with queued transactions, by class) without host writes of planes whose open block, which all streams share, has no
    /// free page.
    #[inline(always)]
    pub(super) fn with_shared_pages<S: PageSource<M>>(&self, die: DieId, masks: PlaneMasks, source: &S) -> PlaneMasks {
        if self.queues.is_early_bound(TransactionClass::UserProgram) {
            return masks;
        }
        let first = self.queues.geometry().first_plane(die).0;
        let mut ready = masks;
        let mut unchecked = masks.of(TransactionClass::UserProgram);
        while unchecked != 0 {
            let plane = unchecked.trailing_zeros();
            unchecked &= unchecked - 1;
            if !source.has_shared_page(PlaneId(first + plane)) {
                ready.remove(TransactionClass::UserProgram, plane as u8);
            }
        }
        ready
    }

    /// Returns `masks` (planes with queued transactions, by class) without host writes, if paced GC (`gc.paced`) holds back the writes of `die`.
    pub(super) fn without_paced_writes<S: PageSource<M>>(
        &self,
        die: DieId,
        masks: PlaneMasks,
        source: &S,
    ) -> PlaneMasks {
        let writes = PlaneMasks::all_of(&[TransactionClass::UserProgram]);
        if masks.of(TransactionClass::UserProgram) != 0 && source.writes_wait(die) {
            masks.without(writes)
        } else {
            masks
        }
    }
}
