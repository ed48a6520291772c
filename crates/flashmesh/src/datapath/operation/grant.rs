//! Grants of paths. The transaction that uses a command path is chosen only at the grant (late binding).

use crate::datapath::gate::has_awaited_read;
use crate::datapath::path::PathGrant;
use crate::datapath::{Datapath, NewOperation, PageSource};
use crate::fabric::{Fabric, Grant, GrantRecord, TransferPhase};
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::QueueId;
use crate::schedule::queues::NOTHING;
use crate::schedule::transaction::{Priority, TransactionClass};
use crate::units::Time;

/// Action that the controller must take after the grant of a path.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub enum GrantOutcome {
    /// No action for the controller: the transfer has started, or the path was released.
    Done,
    /// The path was released, because no transaction may run. Next, call [`Datapath::try_issue`], which may resume a suspended operation.
    TryIssue(DieId),
    /// The chosen transaction can no longer run on its plane. Next, queue it again at the right plane, or drop it, and call
    /// [`Datapath::choose_again`].
    Moved(StaleLead),
    /// A program operation was built. Next, assign a page to each transaction and call [`Datapath::start_operation`].
    Programs(NewOperation),
    /// The command and page list of a Clean (chip-to-chip move of a whole block) have been sent. Contains the first read of the Clean.
    Listed(TransactionId),
}

/// Granted path whose chosen first transaction (lead) cannot run on its plane: its page has moved or was deallocated, or its write goes to another
/// plane.
#[derive(Clone, Copy, Debug)]
pub struct StaleLead {
    pub moved: TransactionId,
    granted: GrantedPath,
}

/// Granted command path, and the time from its request to its grant.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct GrantedPath {
    pub grant: Grant,
    pub path: PathGrant,
    /// Time to suspend another operation, added to the array time of the operation that uses this path; zero without a suspension.
    pub suspension: Time,
}

impl<M: Model> Datapath<M> {
    /// Starts the transfer over a granted path: a command, for which the scheduler chooses a transaction now, or data from a page register.
    #[inline(always)]
    pub fn handle_grant<S: PageSource<M>>(
        &mut self,
        granted: GrantRecord,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> GrantOutcome {
        let grant = granted.grant;
        let has_multi_page_requests = self.queues.have_multi_page_requests();
        let path_state = &mut self.dies[grant.die].path;
        let mut path = path_state.end_request(&granted);
        let is_exclusive = self.interconnect.fabric.has_exclusive_paths();
        // Whether another host request caused the wait. Exclusive paths (used by one transfer at a time): `true` as long as every request has a
        // single transaction; otherwise `attribute_wait` decides once the transaction is known. Other paths: recorded at the path request.
        let is_by_another = if is_exclusive {
            !has_multi_page_requests
        } else {
            !path_state.blocked_by_own_request[grant.phase.index()]
        };
        if path.waited() > Time::ZERO {
            path.wait.causes = self.interconnect.wait_causes(&granted, is_by_another);
            let (causes, waited) = (path.wait.causes, path.waited());
            kernel.notify(|| Notice::PathBlocked(grant, causes, waited));
        }
        kernel.notify(|| Notice::PathGranted(grant));
        if grant.phase == TransferPhase::Command {
            self.scheduling.path_granted();
        }
        // Each arm passes a constant phase, so that the compiler specialises the send path. Only the variant with all features copies from chip to
        // chip.
        match grant.phase {
            TransferPhase::Command => {
                self.on_command_grant(Grant { phase: TransferPhase::Command, ..grant }, path, source, kernel)
            }
            TransferPhase::Copy if M::ALL_FEATURES => {
                self.send_data(grant, path, kernel);
                GrantOutcome::Done
            }
            TransferPhase::DataOut | TransferPhase::Copy => {
                self.send_data(Grant { phase: TransferPhase::DataOut, ..grant }, path, kernel);
                GrantOutcome::Done
            }
        }
    }

    /// Starts an operation over a granted command path.
    #[inline(always)]
    fn on_command_grant<S: PageSource<M>>(
        &mut self,
        grant: Grant,
        path: PathGrant,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> GrantOutcome {
        let requester = grant.die;
        if !M::ALL_FEATURES {
            let granted = GrantedPath { grant, path, suspension: Time::ZERO };
            return match self.queues.masks(requester).only(TransactionClass::UserRead) {
                Some(plane) => self.start_only_read(requester, plane, granted, source, kernel),
                None => self.choose_and_start_out_of_line(requester, granted, source, kernel),
            };
        }
        if self.scheduling.rules.skips_scheduler
            && let Some(plane) = self.queues.masks(requester).only(TransactionClass::UserRead)
            && self.dies.is_free(requester)
        {
            return self.start_only_read(
                requester,
                plane,
                GrantedPath { grant, path, suspension: Time::ZERO },
                source,
                kernel,
            );
        }
        if self.dies.are_suspended_as_chips() {
            return self.on_command_grant_at_chip(grant, path, source, kernel);
        }
        // If the die is busy, use the path only for a read that is still queued and can suspend the operation of the die. Otherwise release the path;
        // the end of the operation triggers the next issue.
        let user = self.dies.path_user(requester);
        let busy = user.filter(|&die| !self.dies.accepts(die));
        if let Some(die) = busy
            && !(has_awaited_read(&self.queues.masks(die))
                && self.gate().read_may_suspend(die, source, kernel)
                && self.dies.suspend(die, kernel))
        {
            self.interconnect.release(grant, kernel);
            return GrantOutcome::Done;
        }
        let suspending = busy.or_else(|| user.filter(|&die| self.dies.is_suspending(die, kernel.now())));
        let suspension = suspending.map_or(Time::ZERO, |die| self.dies[die].suspension_time);
        let granted = GrantedPath { grant, path, suspension };
        self.choose_and_start(requester, granted, source, kernel)
    }

    /// Starts a user read of `plane`. No other plane of the die has queued transactions, and no other class is queued, so there is nothing to choose
    /// or to join.
    #[inline(always)]
    fn start_only_read<S: PageSource<M>>(
        &mut self,
        die: DieId,
        plane: u8,
        mut granted: GrantedPath,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> GrantOutcome {
        let class = TransactionClass::UserRead;
        let lead = self.queues.pop_only(die, class, plane);
        if !self.is_valid_lead(lead, source) {
            self.dies[die].path.request_command(kernel.now());
            return self.report_stale(lead, granted, kernel);
        }
        self.interconnect.attribute_wait(&self.queues, lead, granted.grant, &mut granted.path, kernel.now());
        self.interconnect.count_transfer(granted.grant, granted.path);
        self.on_dequeued(lead, die, granted.path.wait, kernel);
        let queue = QueueId { die, class, plane, priority: Priority::Medium };
        self.start_operation(NewOperation::new(queue, lead, granted, 0), kernel);
        GrantOutcome::Done
    }

    /// Like [`choose_and_start`](Self::choose_and_start), but not inlined, so that the fast path for reads stays short.
    #[inline(never)]
    fn choose_and_start_out_of_line<S: PageSource<M>>(
        &mut self,
        die: DieId,
        granted: GrantedPath,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> GrantOutcome {
        self.choose_and_start(die, granted, source, kernel)
    }

    /// Starts the operation that the scheduler chooses among the dies for which `requester` requests paths.
    #[inline(always)]
    pub(in super::super) fn choose_and_start<S: PageSource<M>>(
        &mut self,
        requester: DieId,
        granted: GrantedPath,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> GrantOutcome {
        match self.dequeue_chosen(requester, source, kernel) {
            Some((_, lead)) if !self.is_valid_lead(lead, source) => {
                // Keep the path request while the controller requeues or drops the lead. Otherwise, if other transactions are queued at the die
                // meanwhile, the die would resume the suspended operation or request a second path.
                self.dies[requester].path.request_command(kernel.now());
                self.report_stale(lead, granted, kernel)
            }
            chosen => self.start_chosen(chosen, granted, source, kernel),
        }
    }

    #[inline(never)]
    fn report_stale(&mut self, lead: TransactionId, granted: GrantedPath, kernel: &mut Kernel<M>) -> GrantOutcome {
        self.queues.record_rerouted(lead, kernel);
        GrantOutcome::Moved(StaleLead { moved: lead, granted })
    }

    /// Chooses another transaction for the granted path of `stale`, after the stale one was queued again or dropped.
    #[inline(never)]
    pub fn choose_again<S: PageSource<M>>(
        &mut self,
        stale: StaleLead,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> GrantOutcome {
        let granted = stale.granted;
        let requester = granted.grant.die;
        match self.dequeue_chosen(requester, source, kernel) {
            Some((_, lead)) if !self.is_valid_lead(lead, source) => self.report_stale(lead, granted, kernel),
            chosen => {
                self.dies[requester].path.cancel_command();
                self.start_chosen(chosen, granted, source, kernel)
            }
        }
    }

    /// Starts the operation of the chosen transaction, or releases the path if no transaction was chosen.
    #[inline(always)]
    fn start_chosen<S: PageSource<M>>(
        &mut self,
        chosen: Option<(QueueId, TransactionId)>,
        mut granted: GrantedPath,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> GrantOutcome {
        let Some((queue, lead)) = chosen else {
            let requester = granted.grant.die;
            self.interconnect.release(granted.grant, kernel);
            let (first, count) = self.dies.possible_path_users(requester);
            let has_nothing =
                (first.0..first.0 + count).all(|die| self.gate().ready_planes(DieId(die), source) == NOTHING);
            return if has_nothing { GrantOutcome::TryIssue(requester) } else { GrantOutcome::Done };
        };
        self.interconnect.attribute_wait(&self.queues, lead, granted.grant, &mut granted.path, kernel.now());
        // In an arm of its own, the most frequent class is a constant for the compiler.
        match queue.class {
            TransactionClass::UserRead => {
                let queue = QueueId { class: TransactionClass::UserRead, ..queue };
                match self.admit_lead(queue, lead, granted, source, kernel) {
                    // Each arm constructs its own `NewOperation`, which stays in CPU registers if no plane can join.
                    0 => self.start_operation(NewOperation::new(queue, lead, granted, 0), kernel),
                    candidate_planes => self.start_with_joiners(
                        NewOperation::new(queue, lead, granted, candidate_planes),
                        source,
                        kernel,
                    ),
                }
                GrantOutcome::Done
            }
            class if class.is_program() => {
                let candidate_planes = self.admit_lead(queue, lead, granted, source, kernel);
                GrantOutcome::Programs(NewOperation::new(queue, lead, granted, candidate_planes))
            }
            _ => self.start_other(queue, lead, granted, source, kernel),
        }
    }
}
