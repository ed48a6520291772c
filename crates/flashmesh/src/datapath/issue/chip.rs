//! Issue at chips whose dies depend on each other.
//!
//! *Dies take turns* (`flash.die-interleaving = false`): if all dies of a chip are idle, the scheduler chooses among the transactions of all dies. If
//! a die is busy, only this die may start another operation: a read while its operation is suspended \[choice\] or, with `flash.read-cache`, any
//! operation while its register still holds read data. The first die of the chip requests the paths for all of its dies.
//!
//! *Dies start together* (`flash.die-start = "together"`; Design for Scalability, PACT 2014, section 4.3: an interleaved command is issued when all
//! dies of the chip are idle, and its transfers follow each other). A die requests a path only while all dies of its chip are idle. Dies that request
//! a path before the first command is sent start together, each with an operation of its own kind \[choice\]. The other dies wait until all of these
//! operations have ended. Reads may suspend the operation of their die, or of the chip ([`chip_suspension`](super::chip_suspension)).

use crate::datapath::{Datapath, HeldDie, IssueOutcome, PageSource};
use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::queues::NOTHING;

/// Progress of a scan over the dies of a chip, in search of transactions that may run.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct ChipScan {
    /// Whether any die scanned so far has a transaction that may run.
    is_ready: bool,
    /// Whether any die scanned so far has queued transactions.
    has_queued: bool,
}

impl<M: Model> Datapath<M> {
    /// Like [`Datapath::try_issue`], for a chip that executes one operation at a time.
    #[inline(never)]
    pub(super) fn try_issue_at_chip<S: PageSource<M>>(
        &mut self,
        die: DieId,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> IssueOutcome {
        if let Some(die) = self.dies.path_user(die) {
            return self.try_issue_of_die(die, source, kernel);
        }
        let requester = self.dies.requester(die);
        if self.dies[requester].path.requests_command() {
            return IssueOutcome::Nothing;
        }
        self.scan_chip(requester, self.dies.first_die_of_chip(requester), ChipScan::default(), source, kernel)
    }

    /// Scans the dies of a chip from `next` on; none is left if `next` is beyond the chip. If a transaction of any die of the chip may run, requests
    /// a path for `requester`, the first die of the chip. Stops at a die whose programs may lack a free page; the caller then triggers GC and
    /// continues the scan.
    pub(super) fn scan_chip<S: PageSource<M>>(
        &mut self,
        requester: DieId,
        next: DieId,
        mut scan: ChipScan,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> IssueOutcome {
        let first = self.dies.first_die_of_chip(requester);
        for die in (next.0..first.0 + self.geometry.dies_per_chip).map(DieId) {
            let ready = self.gate().ready_planes(die, source);
            scan.is_ready |= ready != NOTHING;
            scan.has_queued |= self.queues.has_work(die);
            if self.gate().is_short_of_pages(die, ready, source) {
                return IssueOutcome::Pages(HeldDie { die, chip: Some(scan) });
            }
        }
        if scan.is_ready && !self.dies[requester].path.requests_command() {
            self.request_or_await_dispatch(requester, kernel);
        } else if !scan.has_queued {
            self.dies.dies_of_chip(requester).for_each(|die| self.dies.mark_idle(die));
            return IssueOutcome::Idle(first, self.geometry.dies_per_chip);
        }
        IssueOutcome::Nothing
    }

    /// Like [`Datapath::try_issue`], for a chip whose dies start operations only together, when all of them are idle.
    #[inline(never)]
    pub(super) fn try_issue_together<S: PageSource<M>>(
        &mut self,
        die: DieId,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> IssueOutcome {
        let are_all_idle = self.dies.dies_of_chip(die).all(|die| self.dies[die].state.is_idle());
        if self.dies.are_suspended_as_chips() && !are_all_idle {
            return self.try_issue_at_busy_chip(die, source, kernel);
        }
        if self.dies[die].state.has_suspended() || !self.dies.accepts_beside_plane_reads(die) {
            self.try_issue_of_die(die, source, kernel)
        } else if are_all_idle {
            IssueOutcome::Each(self.dies.first_die_of_chip(die), self.geometry.dies_per_chip)
        } else {
            IssueOutcome::Nothing
        }
    }
}
