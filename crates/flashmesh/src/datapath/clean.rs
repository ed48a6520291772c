//! Execution of Clean packets (Network-on-SSD, CAL 2012, section 3.4): the chips read the valid pages of a block on one die and program them on a die
//! of another chip, without further commands from the controller.
//!
//! The die of the block is reserved from the start of the first read until the acknowledgement of the Clean (*CleanAck*) reaches the controller: "all
//! subsequent read/write requests with the same target have to wait till the end of reclaiming". The programming die serves its queues between the
//! pages; a page that has arrived from the other chip precedes the queues.

use crate::datapath::{Datapath, IssueOutcome, PageSource};
use crate::fabric::{Fabric, PAGE_ADDRESS_SIZE};
use crate::flash::die::PlaneTransactions;
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::latency_account::PathWait;
use crate::units::{Bytes, Time};

/// State of the Cleans in progress. A *Clean* moves the valid pages of a block to a die of another chip, by a single packet from the controller.
#[derive(Clone, Debug, Default)]
pub struct CleanExecution {
    /// Source dies of the Cleans in progress. Nothing is issued from their queues.
    reserved: Vec<DieId>,
    /// Reads and programs of Cleans that start as soon as their die is free, each with this die.
    pending: Vec<(DieId, TransactionId)>,
}

impl CleanExecution {
    #[inline(always)]
    pub(super) fn is_active(&self) -> bool {
        !self.reserved.is_empty() || !self.pending.is_empty()
    }

    /// Returns whether `die` is the source of a Clean (chip-to-chip move of a whole block), so that nothing is issued from its queues.
    #[inline]
    pub(super) fn is_reserved(&self, die: DieId) -> bool {
        self.reserved.contains(&die)
    }

    /// Reserves `die` as the source of a Clean (chip-to-chip move of a whole block) of `pages` pages. Returns the size of the page list that follows
    /// the command of the Clean.
    pub(super) fn reserve(&mut self, die: DieId, pages: usize) -> Bytes {
        self.reserved.push(die);
        PAGE_ADDRESS_SIZE * pages as u64
    }

    /// Returns whether a read or program of a Clean (chip-to-chip move of a whole block) waits at `die` until the die is free.
    pub(super) fn has_pending(&self, die: DieId) -> bool {
        self.pending.iter().any(|(waiting, _)| *waiting == die)
    }

    /// Removes and returns the read or program of a Clean (chip-to-chip move of a whole block) that waits at `die`, if any.
    pub(super) fn take_pending(&mut self, die: DieId) -> Option<TransactionId> {
        let at = self.pending.iter().position(|(waiting, _)| *waiting == die)?;
        Some(self.pending.remove(at).1)
    }

    /// Ends the reservation of `die` as the source of a Clean (chip-to-chip move of a whole block). Call this after the CleanAck (its
    /// acknowledgement) has arrived, and the reads of [moved pages](Datapath::take_moved) are queued at the dies that hold the pages now. Next, call
    /// [`Datapath::try_issue`].
    pub fn end_reservation(&mut self, die: DieId) {
        self.reserved.retain(|reserved| *reserved != die);
    }
}

impl<M: Model> Datapath<M> {
    /// Chains `others` to `lead`, so that the page is sensed once for all of them. `lead` is the read in progress with which a Clean (chip-to-chip
    /// move of a whole block) starts; `others` read further mapping units of its page.
    pub fn chain_listed(&mut self, lead: TransactionId, others: &[TransactionId], kernel: &mut Kernel<M>) {
        let plane = self.queues.transaction(lead).plane;
        let die = self.geometry.die_of_plane(plane);
        let together: Vec<TransactionId> = std::iter::once(lead).chain(others.iter().copied()).collect();
        self.queues.transactions.chain_operation(&together);
        let wait = self.dies.issue_wait(die, plane, PathWait::none(kernel.now()), kernel.now());
        self.queues.start_companion_waits(die, lead, wait.internal_busy, kernel);
        self.queues.end_companion_waits(die, lead, wait, kernel);
    }

    /// Queues a read or program of a Clean (chip-to-chip move of a whole block), which starts as soon as its die is free. Returns the die.
    /// Next, call [`Datapath::try_issue`].
    pub fn enqueue_clean_operation(&mut self, id: TransactionId, kernel: &mut Kernel<M>) -> DieId {
        let now = kernel.now();
        let transaction = self.queues.transaction_mut(id);
        let die = self.geometry.die_of_plane(transaction.plane);
        let (class, request, plane) = (transaction.class(), transaction.owner.request, transaction.plane);
        let internal_busy = self.dies.internal_busy_at(die, plane, now);
        self.queues.transaction_mut(id).account.queue(now, internal_busy);
        kernel.notify(|| Notice::Enqueued(die, class, request));
        self.queues.start_companion_waits(die, id, internal_busy, kernel);
        self.dies.mark_busy(die);
        self.clean_execution.pending.push((die, id));
        die
    }

    /// Starts a read or program of a Clean (chip-to-chip move of a whole block) at `die`. No command is sent, because the chips execute a Clean
    /// without the controller. A page must already be assigned to a program.
    pub fn start_clean_operation<S: PageSource<M>>(
        &mut self,
        die: DieId,
        id: TransactionId,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> IssueOutcome {
        let now = kernel.now();
        let class = self.queues.transaction(id).class();
        let wait = self.on_dequeued(id, die, PathWait::none(now), kernel);
        self.queues.end_companion_waits(die, id, wait, kernel);
        let operation =
            self.operation_rules.operation(class, PlaneTransactions::one(id), &self.queues.transactions, now);
        let kind = operation.kind;
        if class.is_program() {
            let by = self.geometry.die_of_plane(self.geometry.plane_of(self.queues.transaction(id).from));
            self.interconnect.fabric.redirect_acknowledgement(die, by);
        }
        let extent = self.dies.begin(die, || self.queues.transaction(id).plane, operation, now);
        self.scheduling.queue_changed(die);
        kernel.notify(|| Notice::OperationBegan(die, extent, kind, 1));
        self.start_array(die, Time::ZERO, kernel);
        self.issue_beside_array(die, source, kernel)
    }
}
