//! Start of an operation: the transactions of other planes that join it, the pages of programs, and the command.

use crate::datapath::operation::GrantedPath;
use crate::datapath::queues::IssueWait;
use crate::datapath::{Datapath, GrantOutcome, PageSource};
use crate::flash::die::{OperationKind, PlaneTransactions};
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::QueueId;
use crate::schedule::latency_account::PathWait;
use crate::schedule::multi_plane::PlaneAddress;
use crate::schedule::queues::Transactions;
use crate::schedule::transaction::TransactionClass;
use crate::units::Bytes;

/// Operation under construction: until its command is sent, transactions of other planes join, and programs get their pages.
#[derive(Clone, Copy, Debug)]
pub struct NewOperation {
    /// Queue of the lead, the first transaction of the operation.
    pub(in super::super) queue: QueueId,
    granted: GrantedPath,
    planes: PlaneTransactions,
    /// Other planes with queued transactions of the lead's class that have not been tried as joiners yet, as a bit mask by index in the die.
    candidate_planes: u8,
    /// Location of the lead (first transaction) in its plane; `None` until the first search for a joiner (transaction of another plane).
    lead_location: Option<PlaneAddress>,
    /// Number of companions (further mapping units of the same program) that the transaction added last (lead or joiner) has taken so far.
    pub(in super::super) companion_count: u32,
}

impl NewOperation {
    #[inline(always)]
    pub(in super::super) fn new(
        queue: QueueId,
        lead: TransactionId,
        granted: GrantedPath,
        candidate_planes: u8,
    ) -> NewOperation {
        let planes = PlaneTransactions::one(lead);
        NewOperation { queue, granted, planes, candidate_planes, lead_location: None, companion_count: 0 }
    }

    #[inline]
    pub fn lead(&self) -> TransactionId {
        self.planes.transactions()[0]
    }

    /// Returns the transactions of the operation, one for each plane: the lead, then the joiners (transactions of other planes) so far. With
    /// `flash.plane-order = "arrival"`, a complete read is sorted in the order in which data leaves the die.
    #[inline]
    pub fn transactions(&self) -> &[TransactionId] {
        self.planes.transactions()
    }

    #[inline]
    pub fn class(&self) -> TransactionClass {
        self.queue.class
    }

    /// Sorts the planes of a read for the transfer of their data: translation pages first, then in the order of arrival.
    fn sort_by_arrival(&mut self, transactions: &Transactions) {
        self.planes.sort_by_key(|id| {
            let transaction = &transactions[id];
            (transaction.class() != TransactionClass::MapRead, transaction.order)
        });
    }
}

impl<M: Model> Datapath<M> {
    /// Charges the wait of the dequeued `lead` (first transaction of an operation), and chains reads of the same page to it. Returns the planes that
    /// may join, as a bit mask by index in the die.
    #[inline(always)]
    pub(super) fn admit_lead<S: PageSource<M>>(
        &mut self,
        queue: QueueId,
        lead: TransactionId,
        granted: GrantedPath,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> u8 {
        self.interconnect.count_transfer(granted.grant, granted.path);
        let queued = self.queues.masks(queue.die);
        let wait = || kernel.now() - self.queues.transaction(lead).account.queued();
        self.counters.count_overdue(queue.class, queued, || wait() >= self.scheduling.rules.age_bound);
        let wait = self.on_dequeued(lead, queue.die, granted.path.wait, kernel);
        self.queues.chain_same_page_reads(queue, lead, wait, source, kernel);
        let kind = self.operation_rules.kind(queue.class, self.queues.transaction(lead));
        if kind == OperationKind::Copyback || (self.dies.planes_read_alone() && kind == OperationKind::Read) {
            return 0;
        }
        let planes = queued.of(queue.class) & !(1 << queue.plane);
        if self.queues.gathers() && queue.class == TransactionClass::CollectProgram {
            return self.queues.planes_with_full_moves(queue.die, planes, source);
        }
        planes
    }

    /// Dequeues a transaction of another plane that joins `operation`; `None` if no other plane can join. In a program, all earlier transactions must
    /// already have their pages.
    #[inline(always)]
    pub fn next_joiner<S: PageSource<M>>(
        &mut self,
        operation: &mut NewOperation,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        if operation.candidate_planes == 0 { None } else { self.dequeue_next_joiner(operation, source, kernel) }
    }

    /// Adds transactions of all other planes that can join `operation`, a read or an erase, and starts the operation. With
    /// `flash.plane-order = "arrival"`, sorts the planes of a read, so that they send their data in the order of arrival.
    #[inline(never)]
    pub(super) fn start_with_joiners<S: PageSource<M>>(
        &mut self,
        mut operation: NewOperation,
        source: &S,
        kernel: &mut Kernel<M>,
    ) {
        while self.next_joiner(&mut operation, source, kernel).is_some() {}
        if self.operation_rules.map_reads_take_others && operation.class() == TransactionClass::MapRead {
            self.join_user_reads(&mut operation, source, kernel);
        }
        if self.operation_rules.sends_by_arrival {
            operation.sort_by_arrival(&self.queues.transactions);
        }
        self.start_operation(operation, kernel);
    }

    #[inline(never)]
    fn dequeue_next_joiner<S: PageSource<M>>(
        &mut self,
        operation: &mut NewOperation,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        let lead = operation.lead();
        let lead_location = *operation.lead_location.get_or_insert_with(|| self.queues.location_in_plane(lead));
        while operation.candidate_planes != 0 {
            let plane = operation.candidate_planes.trailing_zeros() as u8;
            operation.candidate_planes &= operation.candidate_planes - 1;
            let queue = QueueId { plane, ..operation.queue };
            if let Some(id) = self.queues.dequeue_joiner(queue, lead, lead_location, self.scheduling.joiners, source) {
                let wait = self.on_dequeued(id, queue.die, operation.granted.path.wait, kernel);
                self.queues.chain_same_page_reads(queue, id, wait, source, kernel);
                operation.planes.join(id);
                operation.companion_count = 0;
                return Some(id);
            }
        }
        None
    }

    /// Adds user reads of planes without a map read to `operation`, a read of translation pages (`schedule.map-reads-take-others`).
    #[inline(never)]
    fn join_user_reads<S: PageSource<M>>(&mut self, operation: &mut NewOperation, source: &S, kernel: &mut Kernel<M>) {
        let (lead, die) = (operation.lead(), operation.queue.die);
        let lead_location = self.queues.location_in_plane(lead);
        let used = operation
            .transactions()
            .iter()
            .fold(0, |used, &id| used | 1 << self.geometry.plane_in_die(self.queues.transaction(id).plane));
        let mut planes: u8 = self.queues.masks(die).of(TransactionClass::UserRead) & !used;
        while planes != 0 {
            let plane = planes.trailing_zeros() as u8;
            planes &= planes - 1;
            for at in 0..self.queues.priorities().len() {
                let priority = self.queues.priorities()[at];
                let queue = QueueId { plane, class: TransactionClass::UserRead, priority, ..operation.queue };
                if let Some(id) =
                    self.queues.dequeue_joiner(queue, lead, lead_location, self.scheduling.joiners, source)
                {
                    self.on_dequeued(id, die, operation.granted.path.wait, kernel);
                    operation.planes.join(id);
                    break;
                }
            }
        }
    }

    /// Starts an erase, or a read for GC or the map.
    #[inline(never)]
    pub(super) fn start_other<S: PageSource<M>>(
        &mut self,
        queue: QueueId,
        lead: TransactionId,
        granted: GrantedPath,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> GrantOutcome {
        let candidate_planes = self.admit_lead(queue, lead, granted, source, kernel);
        let operation = NewOperation::new(queue, lead, granted, candidate_planes);
        if M::ALL_FEATURES && self.queues.transaction(lead).purpose.is_clean() {
            let pages = source.listed_pages(self.queues.transaction(lead));
            let list = self.clean_execution.reserve(queue.die, pages);
            self.send_command(operation, list, kernel);
            return GrantOutcome::Listed(lead);
        }
        self.start_with_joiners(operation, source, kernel);
        GrantOutcome::Done
    }

    /// Starts an operation: sends its command over the granted path. All of its programs must have their pages.
    #[inline(always)]
    pub fn start_operation(&mut self, operation: NewOperation, kernel: &mut Kernel<M>) {
        if self.queues.gathers() && operation.class().is_program() {
            self.queues.restart_gathering(&operation, kernel);
        }
        self.send_command(operation, Bytes::ZERO, kernel);
    }

    /// Sends the command of an operation, followed by program data or, for a Clean (chip-to-chip move of a whole block), by the page list. `list` is
    /// the size of this list; zero for other operations.
    #[inline(always)]
    fn send_command(&mut self, operation: NewOperation, list: Bytes, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        let NewOperation { queue: QueueId { class, die, .. }, granted, planes, .. } = operation;
        let count = planes.transactions().len();
        self.counters.multi_plane_operations += u64::from(count > 1);
        let mut operation = self.operation_rules.operation(class, planes, &self.queues.transactions, now);
        operation.array_time += granted.suspension;
        let kind = operation.kind;
        let payload = self.operation_rules.command(&operation, list, &self.queues.transactions);
        let lead_plane = || self.queues.transaction(planes.transactions()[0]).plane;
        let extent = self.dies.begin(die, lead_plane, operation, now);
        self.scheduling.queue_changed(die);
        self.dies.mark_others_waiting(die);
        kernel.notify(|| Notice::OperationBegan(die, extent, kind, count));
        self.send_payload(granted.grant, granted.path, payload, kernel);
    }

    /// Dequeues a further mapping unit for the program that was added last to `operation`; `None` if no queued unit fits. Pages must already be
    /// assigned to the earlier units.
    #[inline(always)]
    pub fn next_companion<S: PageSource<M>>(
        &mut self,
        operation: &mut NewOperation,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        if !self.queues.gathers() {
            return None;
        }
        let last = *operation.transactions().last()?;
        let (die, plane) = (operation.queue.die, self.queues.transaction(last).plane);
        let wait = self.dies.issue_wait(die, plane, operation.granted.path.wait, kernel.now());
        self.queues.next_unit_of_program(operation, wait, source, kernel)
    }

    /// Charges the queue and path wait of a dequeued transaction, which is issued now. Returns the wait, which also applies to its companions
    /// (further mapping units of the same program or read).
    #[inline(always)]
    pub(in super::super) fn on_dequeued(
        &mut self,
        id: TransactionId,
        die: DieId,
        path: PathWait,
        kernel: &mut Kernel<M>,
    ) -> IssueWait {
        let wait = self.dies.issue_wait(die, self.queues.transaction(id).plane, path, kernel.now());
        self.queues.charge_issue_wait(id, die, wait, kernel);
        wait
    }
}
