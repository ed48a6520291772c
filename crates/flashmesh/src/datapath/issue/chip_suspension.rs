//! Suspension of whole chips (`flash.suspension-scope = "chip"`), for dies that start together.
//!
//! A chip is busy or idle as a whole (MBM, Maximizing Bandwidth Management FTL, sections IV.C and VI.D). A read of any die suspends the operations of
//! all dies, if all of them can be suspended. While the chip is suspended, its dies execute only reads. When no more reads wait and no register holds
//! data, all operations resume at once. A read that starts within the suspension time pays the whole suspension time \[choice\].

use crate::datapath::issue::has_awaited_read;
use crate::datapath::operation::GrantedPath;
use crate::datapath::path::PathGrant;
use crate::datapath::{Datapath, GrantOutcome, IssueOutcome, PageSource};
use crate::fabric::Grant;
use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;

impl<M: Model> Datapath<M> {
    /// Returns whether `die` executes only reads, because it has a suspended operation or its chip is suspended as a whole.
    #[inline]
    pub(super) fn is_limited_to_reads(&self, die: DieId) -> bool {
        self.dies[die].state.has_suspended() || (self.rules.suspends_chips && self.is_chip_suspended(die))
    }

    /// Returns whether an operation suspended at `die` (or at its chip, if chips are suspended as a whole) belongs to GC that has priority over
    /// reads.
    pub(super) fn has_suspended_priority_collection<S: PageSource<M>>(&self, die: DieId, source: &S) -> bool {
        let has_priority =
            |die: DieId| self.dies[die].state.has_suspended_internal() && self.has_collection_priority(die, source);
        if self.rules.suspends_chips { self.dies_of_chip(die).any(has_priority) } else { has_priority(die) }
    }

    fn is_chip_suspended(&self, die: DieId) -> bool {
        self.dies_of_chip(die).any(|die| self.dies[die].state.has_suspended())
    }

    /// Returns whether the chip of `die` is busy and a read may suspend all operations of the chip.
    fn may_suspend_chip<S: PageSource<M>>(&self, die: DieId, source: &S, kernel: &Kernel<M>) -> bool {
        let is_idle = |die: &DieId| self.dies[*die].state.is_idle();
        let mut busy = self.dies_of_chip(die).filter(|die| !is_idle(die)).peekable();
        busy.peek().is_some() && busy.all(|die| self.read_may_suspend(die, source, kernel))
    }

    /// Issues at a busy chip whose operations are suspended together. Requests paths for reads that suspend the operations, or that run
    /// during the suspension. Resumes the suspended operations if no read is left.
    pub(super) fn try_issue_at_busy_chip<S: PageSource<M>>(
        &mut self,
        die: DieId,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> IssueOutcome {
        let is_suspended = self.is_chip_suspended(die);
        if !is_suspended && !self.may_suspend_chip(die, source, kernel) {
            return IssueOutcome::Nothing;
        }
        let mut is_in_use = false;
        for die in self.dies_of_chip(die) {
            let entry = &self.dies[die];
            let is_requesting = entry.path.requests_command();
            is_in_use |= is_requesting || !entry.state.is_inactive();
            let is_reserved = self.clean_execution.is_active() && self.clean_execution.is_reserved(die);
            let may_accept = !is_reserved && (!is_suspended || entry.state.accepts(&self.rules.die));
            if !is_requesting && may_accept && has_awaited_read(&self.ready_planes(die, source)) {
                self.dies[die].requests_suspension = true;
                self.request_command_path(die, kernel);
                is_in_use = true;
            }
        }
        if is_suspended && !is_in_use {
            for die in self.dies_of_chip(die) {
                if self.dies[die].state.has_suspended() {
                    self.resume_suspended(die, kernel);
                }
            }
        }
        IssueOutcome::Nothing
    }

    /// Starts an operation over a command path that was granted to a die of a chip with chip-wide suspension.
    #[inline(never)]
    pub(in super::super) fn on_command_grant_at_chip<S: PageSource<M>>(
        &mut self,
        grant: Grant,
        path: PathGrant,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> GrantOutcome {
        let die = grant.die;
        let requests_suspension = std::mem::take(&mut self.dies[die].requests_suspension);
        let is_idle = |die: DieId| self.dies[die].state.is_idle();
        let needs_suspension =
            requests_suspension && !self.is_chip_suspended(die) && !self.dies_of_chip(die).all(is_idle);
        if needs_suspension {
            let is_wanted = has_awaited_read(&self.queues.masks(die)) && self.may_suspend_chip(die, source, kernel);
            if !is_wanted {
                // No retry is needed, because the end of the current operations triggers the next issue.
                self.release(grant, kernel);
                return GrantOutcome::Done;
            }
            self.suspend_chip(die, kernel);
        } else if !self.dies[die].state.accepts(&self.rules.die) {
            self.release(grant, kernel);
            return GrantOutcome::Done;
        }
        let since = self.dies[self.first_die_of_chip(die)].suspended_at;
        let suspends = self.is_chip_suspended(die) && kernel.now() < since + self.timing.suspend;
        self.choose_and_start(die, GrantedPath { grant, path, suspends }, source, kernel)
    }

    fn suspend_chip(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        let first = self.first_die_of_chip(die);
        self.dies[first].suspended_at = kernel.now();
        for die in self.dies_of_chip(die) {
            let state = &mut self.dies[die].state;
            if !state.is_idle() {
                state.suspend(&self.rules.die, kernel.now()).expect("every operation of the chip can be suspended");
                self.counters.suspensions += 1;
                kernel.notify(|| Notice::Suspended(die));
            }
        }
    }
}
