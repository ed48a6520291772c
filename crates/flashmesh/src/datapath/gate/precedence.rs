//! Precedence between reads and GC: whether a read may suspend the operation of a die, and whether reads or GC run first.

use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;

use super::{Gate, PageSource, has_awaited_read};

impl<M: Model> Gate<'_, M> {
    /// Returns whether a read may suspend the operation of `die`. `false` if the operation belongs to GC that precedes user transactions, or while
    /// the device cache is full and `cache.suspend-when-full` forbids suspensions.
    #[inline(never)]
    pub(in super::super) fn read_may_suspend<S: PageSource<M>>(
        &self,
        die: DieId,
        source: &S,
        kernel: &Kernel<M>,
    ) -> bool {
        let entry = &self.dies[die];
        self.dies.may_suspend(die, kernel.now())
            && source.may_suspend()
            && !(entry.state.is_internal_busy() && self.collection_goes_first(die, source))
    }

    /// Returns whether the chip of `die` is busy and a read may suspend all operations of the chip.
    pub(in super::super) fn may_suspend_chip<S: PageSource<M>>(
        &self,
        die: DieId,
        source: &S,
        kernel: &Kernel<M>,
    ) -> bool {
        let is_idle = |die: &DieId| self.dies[*die].state.is_idle();
        let mut busy = self.dies.dies_of_chip(die).filter(|die| !is_idle(die)).peekable();
        busy.peek().is_some() && busy.all(|die| self.read_may_suspend(die, source, kernel))
    }

    /// Returns whether GC has priority over user transactions on `die`. `false` while reads are queued that precede GC in any case
    /// (`GateRules::reads_before_collection`).
    #[inline]
    pub(super) fn has_collection_priority<S: PageSource<M>>(&self, die: DieId, source: &S) -> bool {
        let yields = || self.rules.reads_before_collection && has_awaited_read(&self.queues.masks(die));
        source.collection_first(die) && !yields()
    }

    /// Returns whether GC precedes user transactions on `die`: it has priority, or paced GC (`gc.paced`) is overdue and holds back writes of the die.
    /// Otherwise a flood of reads would starve the page moves, and with them the writes.
    #[inline]
    pub(in super::super) fn collection_goes_first<S: PageSource<M>>(&self, die: DieId, source: &S) -> bool {
        let is_overdue = || self.dies[die].is_collection_overdue && source.writes_wait(die);
        self.has_collection_priority(die, source) || (M::ALL_FEATURES && is_overdue())
    }

    /// Returns whether suspension is on (`flash.suspension`) and user or map reads are queued at `die`.
    pub fn has_waiting_reads(&self, die: DieId) -> bool {
        self.dies.have_suspension() && has_awaited_read(&self.queues.masks(die))
    }
}
