//! Chips that are suspended as a whole: `flash.suspension-scope = "chip"`, for dies that start together.
//!
//! A chip is busy or not, as one (MBM, sections IV.C and VI.D). A read of any of its dies suspends what all of them do, when all of that may be
//! suspended. Then reads of all its dies run, and no other operation. When none waits any more, and no data is left in a register, all that is
//! suspended goes on at once. Reads that begin before the time of a suspension is over take that time \[choice\].

use crate::fabric::Grant;
use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;

use super::grant::{GrantedPath, Next};
use super::issue::has_awaited_read;
use super::path::PathGrant;
use super::{Datapath, PageSource, Wants};

impl<M: Model> Datapath<M> {
    /// Whether a die takes reads only, since it, or a die that it is suspended with, has an operation suspended.
    #[inline]
    pub(super) fn is_limited_to_reads(&self, die: DieId) -> bool {
        self.units[die].state.has_suspended() || (self.rules.suspends_chips && self.is_chip_suspended(die))
    }

    /// Whether what is suspended there goes before reads.
    pub(super) fn has_suspended_what_goes_first<S: PageSource<M>>(&self, die: DieId, source: &S) -> bool {
        let goes_first =
            |die: DieId| self.units[die].state.has_suspended_internal() && self.collection_first(die, source);
        if self.rules.suspends_chips { self.dies_of_chip(die).any(goes_first) } else { goes_first(die) }
    }

    fn is_chip_suspended(&self, die: DieId) -> bool {
        self.dies_of_chip(die).any(|die| self.units[die].state.has_suspended())
    }

    /// Whether all that the chip of a die does may be suspended, which is something.
    fn may_suspend_chip<S: PageSource<M>>(&self, die: DieId, source: &S, kernel: &Kernel<M>) -> bool {
        let is_idle = |die: &DieId| self.units[*die].state.is_idle();
        let mut busy = self.dies_of_chip(die).filter(|die| !is_idle(die)).peekable();
        busy.peek().is_some() && busy.all(|die| self.may_suspend(die, source, kernel))
    }

    /// Something changed for a die of a chip that is not idle: reads of any of its dies may suspend what it does, or run beside what is suspended,
    /// or that goes on.
    pub(super) fn try_issue_of_busy_chip<S: PageSource<M>>(
        &mut self,
        die: DieId,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Wants {
        let is_suspended = self.is_chip_suspended(die);
        if !is_suspended && !self.may_suspend_chip(die, source, kernel) {
            return Wants::Nothing;
        }
        let mut is_in_use = false;
        for die in self.dies_of_chip(die) {
            let unit = &self.units[die];
            let asks = unit.path.wants_command();
            is_in_use |= asks || !unit.state.rests();
            let is_kept = self.alone.is_in_use() && self.alone.keeps(die);
            let takes = !is_kept && (!is_suspended || unit.state.accepts(&self.rules.die));
            if !asks && takes && has_awaited_read(&self.ready(die, source)) {
                self.units[die].asks_to_suspend = true;
                self.ask_command(die, kernel);
                is_in_use = true;
            }
        }
        if is_suspended && !is_in_use {
            for die in self.dies_of_chip(die) {
                if self.units[die].state.has_suspended() {
                    self.resume(die, kernel);
                }
            }
        }
        Wants::Nothing
    }

    /// A path was granted to a die of such a chip.
    #[inline(never)]
    pub(super) fn start_on_chip<S: PageSource<M>>(
        &mut self,
        grant: Grant,
        path: PathGrant,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Next {
        let die = grant.die;
        let asks_to_suspend = std::mem::take(&mut self.units[die].asks_to_suspend);
        let is_idle = |die: DieId| self.units[die].state.is_idle();
        let needs_suspension = asks_to_suspend && !self.is_chip_suspended(die) && !self.dies_of_chip(die).all(is_idle);
        if needs_suspension {
            let is_wanted = has_awaited_read(&self.queues.masks(die)) && self.may_suspend_chip(die, source, kernel);
            if !is_wanted {
                // What the chip does ends, and the end of it asks again.
                self.release(grant, kernel);
                return Next::Done;
            }
            self.suspend_chip(die, kernel);
        } else if !self.units[die].state.accepts(&self.rules.die) {
            self.release(grant, kernel);
            return Next::Done;
        }
        let since = self.units[self.first_of_chip(die)].chip_suspended;
        let suspends = self.is_chip_suspended(die) && kernel.now() < since + self.timing.suspend;
        self.start_on(die, GrantedPath { grant, path, suspends }, source, kernel)
    }

    fn suspend_chip(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        let first = self.first_of_chip(die);
        self.units[first].chip_suspended = kernel.now();
        for die in self.dies_of_chip(die) {
            let state = &mut self.units[die].state;
            if !state.is_idle() {
                state.suspend(&self.rules.die, kernel.now()).expect("all that the chip does may be suspended");
                self.counters.suspensions += 1;
                kernel.tell(|| Notice::Suspended(die));
            }
        }
    }
}
