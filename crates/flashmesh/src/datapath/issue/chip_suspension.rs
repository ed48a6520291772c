//! Suspension of whole chips (`flash.suspension-scope = "chip"`), for dies that start together.
//!
//! A chip is busy or idle as a whole (MBM, Maximizing Bandwidth Management FTL, sections IV.C and VI.D). A read of any die suspends the operations of
//! all dies, if all of them can be suspended. While the chip is suspended, its dies execute only reads. When no more reads wait and no register holds
//! data, all operations resume at once. A read that starts while the suspension takes place takes longer by the whole suspension time \[choice\].

use crate::datapath::gate::has_awaited_read;
use crate::datapath::{Datapath, IssueOutcome, PageSource};
use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;

impl<M: Model> Datapath<M> {
    /// Tries to issue at a busy chip whose dies are suspended together. Requests paths for reads that suspend the operations in progress, or that run
    /// during the suspension. Resumes the suspended operations if no read is left.
    pub(super) fn try_issue_at_busy_chip<S: PageSource<M>>(
        &mut self,
        die: DieId,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> IssueOutcome {
        let is_suspended = self.dies.is_chip_suspended(die);
        if !is_suspended && !self.gate().may_suspend_chip(die, source, kernel) {
            return IssueOutcome::Nothing;
        }
        let mut is_in_use = false;
        for die in self.dies.dies_of_chip(die) {
            let entry = &self.dies[die];
            let is_requesting = entry.path.requests_command();
            is_in_use |= is_requesting || !entry.state.is_inactive();
            let is_reserved = self.is_cleaning() && self.clean_execution.is_reserved(die);
            let may_accept = !is_reserved && (!is_suspended || self.dies.accepts_beside_plane_reads(die));
            if !is_requesting && may_accept && has_awaited_read(&self.gate().ready_planes(die, source)) {
                self.dies[die].requests_suspension = true;
                self.request_command_path(die, kernel);
                is_in_use = true;
            }
        }
        if is_suspended && !is_in_use {
            for die in self.dies.dies_of_chip(die) {
                if self.dies[die].state.has_suspended() {
                    self.dies.resume_suspended(die, kernel);
                }
            }
        }
        IssueOutcome::Nothing
    }
}
