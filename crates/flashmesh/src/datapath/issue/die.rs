//! Issue at a die: the request of a command path for transactions that may run, or the resumption of a suspended operation.

use crate::datapath::gate::{has_awaited_read, has_unreserved_programs};
use crate::datapath::{Datapath, HeldDie, IssueOutcome, PageSource};
use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::queues::{NOTHING, PlaneMasks};

impl<M: Model> Datapath<M> {
    /// Tries to issue at `die`: requests a command path if a transaction may run, or resumes a suspended operation. May act on other dies of the
    /// chip, if the chip executes one operation at a time or its dies start only together. Called after every change that may allow an operation.
    #[inline(always)]
    pub fn try_issue<S: PageSource<M>>(&mut self, die: DieId, source: &S, kernel: &mut Kernel<M>) -> IssueOutcome {
        if self.dies.take_turns() {
            self.try_issue_at_chip(die, source, kernel)
        } else if self.dies.start_together() {
            self.try_issue_together(die, source, kernel)
        } else {
            self.try_issue_of_die(die, source, kernel)
        }
    }

    /// Like [`try_issue`](Self::try_issue), but only for `die`, never for the other dies of its chip.
    #[inline(always)]
    pub fn try_issue_of_die<S: PageSource<M>>(
        &mut self,
        die: DieId,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> IssueOutcome {
        let queued = self.queues.masks(die);
        let may_need_collection = has_unreserved_programs(&queued) || source.may_hold_programs(&queued, &queued);
        if self.gate().is_independent(die) && !may_need_collection {
            self.try_issue_without_programs(die, queued, kernel)
        } else if self.is_cleaning() || self.gate().may_issue(die, queued, may_need_collection, kernel.now()) {
            self.try_issue_general(die, queued, source, kernel)
        } else {
            IssueOutcome::Nothing
        }
    }

    /// Tries to issue at `die` under all rules, including those for Cleans (chip-to-chip moves of whole blocks), for programs without a free page,
    /// and for suspension.
    #[inline(never)]
    fn try_issue_general<S: PageSource<M>>(
        &mut self,
        die: DieId,
        queued: PlaneMasks,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> IssueOutcome {
        if self.is_cleaning() {
            let is_free = self.dies.accepts_whole(die) && !self.dies.has_suspended(die);
            match if is_free { self.clean_execution.take_pending(die) } else { None } {
                Some(id) => return IssueOutcome::StartClean(die, id),
                None if self.clean_execution.is_reserved(die)
                    || self.dies[self.dies.requester(die)].path.requests_command() =>
                {
                    return IssueOutcome::Nothing;
                }
                None if self.dies.planes_read_alone() && self.clean_execution.has_pending(die) => {
                    self.dies.resume_for_whole(die, kernel);
                    return IssueOutcome::Nothing;
                }
                None => {}
            }
        }
        let ready = self.gate().ready_of_queued(die, queued, source);
        if self.gate().is_short_of_pages(die, ready, source) {
            return IssueOutcome::Pages(HeldDie { die, chip: None });
        }
        self.issue_ready(die, ready, source, kernel)
    }

    /// Continues the issue attempt at the die of `shortage`, after GC was triggered for its planes without free pages.
    #[inline(never)]
    pub fn resume_issue<S: PageSource<M>>(
        &mut self,
        shortage: HeldDie,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> IssueOutcome {
        let (HeldDie { die, chip }, requester) = (shortage, self.dies.requester(shortage.die));
        if let Some(scan) = chip {
            return self.scan_chip(requester, DieId(die.0 + 1), scan, source, kernel);
        }
        if self.dies[requester].path.requests_command() {
            return IssueOutcome::Nothing;
        }
        self.issue_ready(die, self.gate().ready_planes(die, source), source, kernel)
    }

    /// Requests a command path for a transaction in `ready` (planes with transactions that may run), or resumes the suspended operation.
    #[inline(always)]
    fn issue_ready<S: PageSource<M>>(
        &mut self,
        die: DieId,
        ready: PlaneMasks,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> IssueOutcome {
        if self.dies.accepts(die) {
            // While other planes read, only reads may begin, and a suspended operation does not resume.
            let is_whole_free = !self.dies.planes_read_alone() || self.dies.accepts_whole(die);
            let ready = if is_whole_free { ready } else { ready.and(self.dies.independent_reads()) };
            if ready != NOTHING {
                // Reads during a suspension request their path at once, even if the scheduler decides which die requests a path next.
                if self.dies.has_suspended(die) {
                    self.request_command_path(die, kernel);
                } else {
                    self.request_or_await_dispatch(die, kernel);
                }
            } else if !is_whole_free {
                return IssueOutcome::Nothing;
            } else if self.dies.has_suspended(die) {
                self.dies.resume_suspended(die, kernel);
            } else if !self.queues.has_work(die) {
                self.dies.mark_idle(die);
                return IssueOutcome::Idle(die, 1);
            }
        } else if self.dies.have_suspension()
            && has_awaited_read(&ready)
            && self.gate().read_may_suspend(die, source, kernel)
        {
            self.request_command_path(die, kernel);
        }
        IssueOutcome::Nothing
    }

    /// Tries to issue at a die that is [independent](crate::datapath::gate::Gate::is_independent) of other dies and has no queued program that may
    /// lack a free page: every queued transaction may run.
    #[inline(always)]
    fn try_issue_without_programs(&mut self, die: DieId, queued: PlaneMasks, kernel: &mut Kernel<M>) -> IssueOutcome {
        if self.dies[die].path.requests_command() || !self.dies.accepts_beside_plane_reads(die) {
            return IssueOutcome::Nothing;
        }
        if queued == NOTHING {
            self.dies.mark_idle(die);
            return IssueOutcome::Idle(die, 1);
        }
        self.request_or_await_dispatch(die, kernel);
        IssueOutcome::Nothing
    }

    /// Tries to issue at `die` after its array has started: queued reads may suspend the new operation, or run on other planes if planes
    /// read independently. Does nothing on drives without suspension and without independent plane reads.
    #[inline(always)]
    pub fn issue_beside_array<S: PageSource<M>>(
        &mut self,
        die: DieId,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> IssueOutcome {
        if self.dies.have_suspension() || self.dies.planes_read_alone() {
            self.try_issue(die, source, kernel)
        } else {
            IssueOutcome::Nothing
        }
    }
}
