//! Transactions in flight, and the queues of the dies.
//!
//! [`TransactionQueues`] owns the transactions with the chains of mapping units that run together ([`TransactionTable`]), the queues in which they
//! wait for their dies, and the programs that wait for further mapping units ([`gather`]). The gate (`datapath::gate`) decides which transactions may
//! run; this module only determines which programs need not wait for further mapping units.

mod arrival_order;
mod companions;
mod gather;
mod joiners;
mod transaction_table;
mod unit_programs;

use std::marker::PhantomData;

use crate::config::{Config, MultiPlane, PageMove, Priorities, WriteBinding};
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, RequestId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, ReadNotice};
use crate::schedule::latency_account::PathWait;
use crate::schedule::load::LoadView;
use crate::schedule::purpose::Purpose;
use crate::schedule::queues::{DieQueues, PlaneMasks, Transactions, planes};
use crate::schedule::transaction::{Priority, Transaction, TransactionClass};
use crate::schedule::{DieStates, QueueId};
use crate::units::Time;

use super::PageSource;

use arrival_order::ArrivalOrder;
use gather::may_gather;

pub use gather::{EarlyBoundPrograms, GatherState};
pub use transaction_table::TransactionTable;

/// Transactions in flight, and the queues of the dies.
#[derive(Clone)]
pub struct TransactionQueues<M: Model> {
    pub transactions: TransactionTable<M>,
    by_die: DieQueues,
    arrival_order: ArrivalOrder,
    /// Mapping units that get their pages at the grant (late binding), and wait in their queues until they fill a program.
    pub gather: GatherState,
    /// Programs whose mapping units already have their pages (early binding).
    pub early_bound: EarlyBoundPrograms,
    geometry: Geometry,
    rules: QueueRules,
    model: PhantomData<M>,
}

#[derive(Clone, Debug)]
struct QueueRules {
    multi_plane: MultiPlane,
    /// Number of transactions, from the head of a queue, that are searched for a joiner (transaction of another plane).
    lookahead: u32,
    /// Whether writes get their pages when they are placed on a plane (early binding), not at the grant of a path.
    binds_early: bool,
    /// Whether GC moves whole blocks by Cleans (Network-on-SSD): one packet makes a chip send all valid pages of a block to another chip.
    cleans: bool,
}

/// Wait that is charged to the latency account of a transaction when the transaction is issued.
#[derive(Clone, Copy, Debug)]
pub(super) struct IssueWait {
    /// Wait from the request of the path to its grant.
    pub path: PathWait,
    /// Total time for which GC or wear levelling has occupied the plane so far, to compute the wait behind GC.
    pub internal_busy: Time,
}

impl<M: Model> TransactionQueues<M> {
    /// Creates the empty queues of the drive in `config`.
    pub(super) fn new(config: &Config, geometry: &Geometry) -> TransactionQueues<M> {
        let has_priorities = config.schedule.priorities != Priorities::Off;
        TransactionQueues {
            transactions: TransactionTable::new(geometry),
            by_die: DieQueues::new(geometry.dies(), geometry.planes_per_die, has_priorities),
            arrival_order: ArrivalOrder::default(),
            gather: GatherState::new(config, geometry),
            early_bound: EarlyBoundPrograms::new(config.ftl.gather_timeout, geometry),
            geometry: geometry.clone(),
            rules: QueueRules {
                multi_plane: config.flash.multi_plane,
                lookahead: config.schedule.lookahead,
                binds_early: config.ftl.write_binding == WriteBinding::Early,
                cleans: config.gc.r#move == PageMove::Clean,
            },
            model: PhantomData,
        }
    }

    /// Converts the queues to model `N` (a variant of the simulation, compiled for one set of features).
    pub(super) fn into_model<N: Model>(self) -> TransactionQueues<N> {
        let TransactionQueues { transactions, by_die, arrival_order, gather, early_bound, geometry, rules, .. } = self;
        let (transactions, model) = (transactions.into_model(), PhantomData);
        TransactionQueues { transactions, by_die, arrival_order, gather, early_bound, geometry, rules, model }
    }

    #[inline]
    pub fn transaction(&self, id: TransactionId) -> &Transaction {
        &self.transactions[id]
    }

    /// Returns a transaction for modification. The transaction must not be queued.
    #[inline]
    pub fn transaction_mut(&mut self, id: TransactionId) -> &mut Transaction {
        &mut self.transactions[id]
    }

    /// Returns the queues and the transactions, from which the views for schedulers are built.
    #[inline(always)]
    pub(super) fn views(&self) -> (&DieQueues, &Transactions) {
        (&self.by_die, &self.transactions)
    }

    /// Returns the planes of `die` with queued transactions, by class.
    #[inline(always)]
    pub(super) fn masks(&self, die: DieId) -> PlaneMasks {
        self.by_die.masks(die)
    }

    #[inline(always)]
    pub(super) fn has_work(&self, die: DieId) -> bool {
        self.by_die.has_work(die)
    }

    /// Returns the priorities that have queues of their own.
    #[inline(always)]
    pub(super) fn priorities(&self) -> &'static [Priority] {
        self.by_die.priorities()
    }

    #[inline(always)]
    pub(super) fn head(&self, queue: QueueId) -> Option<TransactionId> {
        self.by_die.head(queue)
    }

    /// Removes and returns the head of `queue`; `None` if the queue is empty.
    #[inline(always)]
    pub(super) fn pop(&mut self, queue: QueueId) -> Option<TransactionId> {
        self.by_die.pop(&mut self.transactions, queue)
    }

    /// Removes and returns the head of the only queue of `die` that is not empty.
    #[inline(always)]
    pub(super) fn pop_only(&mut self, die: DieId, class: TransactionClass, plane: u8) -> TransactionId {
        self.by_die.pop_only(&mut self.transactions, die, class, plane)
    }

    /// Removes `id` from `queue`. Returns whether `queue` contained `id`.
    #[inline(always)]
    pub(super) fn dequeue(&mut self, queue: QueueId, id: TransactionId) -> bool {
        self.by_die.dequeue(&mut self.transactions, queue, id)
    }

    /// Returns the next number in the arrival order of all transactions, and advances the counter.
    #[inline]
    pub fn take_order(&mut self) -> u64 {
        self.arrival_order.take_order()
    }

    pub(super) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Returns whether any request has had several transactions so far, queued one directly after the other.
    #[inline(always)]
    pub(super) fn have_multi_page_requests(&self) -> bool {
        self.arrival_order.has_multi_page_requests()
    }

    /// Returns whether programs of the drive write several mapping units, which wait in their queues until they fill a program.
    #[inline(always)]
    pub fn gathers(&self) -> bool {
        M::ALL_FEATURES && self.gather.is_enabled()
    }

    /// Returns whether programs of `class` get their pages when they are placed on a plane, not at the grant of a path.
    #[inline(always)]
    pub(super) fn is_early_bound(&self, class: TransactionClass) -> bool {
        self.rules.binds_early && class == TransactionClass::UserProgram
    }

    /// Returns whether `id` is a program that gets its page only when its operation starts, not when it is placed on a plane.
    #[inline(always)]
    pub fn needs_page(&self, id: TransactionId) -> bool {
        let class = self.transactions[id].class();
        class.is_program() && !self.is_early_bound(class)
    }

    /// Enqueues a transaction at `die`, the die of its plane. `work` is the purpose of the transaction. `internal_busy` is the total time for which
    /// GC or wear levelling has occupied the plane so far.
    #[inline(always)]
    pub(super) fn enqueue(
        &mut self,
        id: TransactionId,
        work: Purpose,
        die: DieId,
        internal_busy: Time,
        kernel: &mut Kernel<M>,
    ) {
        let now = kernel.now();
        let is_early_bound = self.is_early_bound(work.class());
        let transaction = &mut self.transactions[id];
        debug_assert_eq!(transaction.purpose, work, "the work passed is that of the transaction");
        let class = work.class();
        // Parity gets arrival number 0 and so becomes the head of its queue; `gate::parity` then holds back the other programs of the die. An
        // early-bound write (page already assigned) may have an arrival number from the read of its read-modify-write, and keeps it.
        let is_parity = M::ALL_FEATURES && work == Purpose::Parity;
        if !is_early_bound {
            transaction.order = if is_parity { 0 } else { self.arrival_order.take_order() };
        }
        let request = transaction.owner.request;
        self.arrival_order.record(request);
        let plane = self.geometry.plane_in_die(transaction.plane) as u8;
        kernel.notify(|| Notice::Enqueued(die, class, request));
        self.transactions[id].account.queue(now, internal_busy);
        if self.gathers() && work.is_whole() {
            self.enqueue_complete_program(die, plane, id, internal_busy, kernel);
        } else if is_early_bound || is_parity {
            self.by_die.insert(&mut self.transactions, die, plane, id);
        } else {
            self.by_die.push_with_class(&mut self.transactions, die, class, plane, id);
        }
        self.count_queued(id, die, work, plane, kernel);
    }

    /// Counts a queued mapping unit that waits until its program is full. Does nothing for other transactions.
    #[inline(always)]
    fn count_queued(&mut self, id: TransactionId, die: DieId, work: Purpose, plane: u8, kernel: &mut Kernel<M>) {
        if self.gathers() && self.is_early_bound(work.class()) {
            self.early_bound.count_queued(self.transactions[id].to, true);
        } else if self.gathers() && may_gather(work) {
            self.gather.count_queued(die, work.class(), plane, kernel);
        }
    }

    /// Dequeues and returns the user reads and programs of all dies that match `is_unwanted`.
    pub(super) fn dequeue_unwanted(
        &mut self,
        is_unwanted: impl Fn(&Transaction) -> bool,
        kernel: &mut Kernel<M>,
    ) -> Vec<TransactionId> {
        let mut removed: Vec<TransactionId> = Vec::new();
        for die in (0..self.geometry.dies()).map(DieId) {
            for class in [TransactionClass::UserRead, TransactionClass::UserProgram] {
                self.dequeue_where(die, class, &is_unwanted, &mut removed);
            }
        }
        if M::ALL_FEATURES {
            removed.iter().for_each(|&id| {
                self.count_dequeued(id);
                self.notify_read_left(id, kernel);
            });
        }
        removed
    }

    /// Dequeues and returns the user reads of `die` whose pages have moved. The caller must enqueue them at the dies that hold the pages now.
    pub(super) fn dequeue_moved<S: PageSource<M>>(&mut self, die: DieId, source: &S) -> Vec<TransactionId> {
        let mut moved = Vec::new();
        self.dequeue_where(die, TransactionClass::UserRead, |read| !source.is_current(read), &mut moved);
        moved
    }

    /// Dequeues the transactions of `class` at `die` that match `is_wanted`, and appends them to `removed`.
    fn dequeue_where(
        &mut self,
        die: DieId,
        class: TransactionClass,
        is_wanted: impl Fn(&Transaction) -> bool,
        removed: &mut Vec<TransactionId>,
    ) {
        let mut kept: Vec<TransactionId> = Vec::new();
        let priorities = self.by_die.priorities();
        let planes = 0..self.geometry.planes_per_die as u8;
        for (plane, &priority) in planes.flat_map(|plane| priorities.iter().map(move |priority| (plane, priority))) {
            let queue = QueueId { die, class, plane, priority };
            while let Some(id) = self.by_die.pop(&mut self.transactions, queue) {
                if is_wanted(&self.transactions[id]) { removed.push(id) } else { kept.push(id) }
            }
            for id in kept.drain(..) {
                self.by_die.push(&mut self.transactions, die, plane, id);
            }
        }
    }

    /// Reverts `count_queued` for a dequeued mapping unit. Does nothing for other transactions.
    #[inline(always)]
    fn count_dequeued(&mut self, id: TransactionId) {
        if self.gathers() {
            let transaction = &self.transactions[id];
            if !may_gather(transaction.purpose) {
                return;
            }
            if self.is_early_bound(transaction.class()) {
                return self.early_bound.count_queued(transaction.to, false);
            }
            let die = self.geometry.die_of_plane(transaction.plane);
            let plane = self.geometry.plane_in_die(transaction.plane) as u8;
            let class = transaction.class();
            self.gather.count_dequeued(die, class, plane);
        }
    }

    /// Charges the queue and path wait of a dequeued transaction of `die`, which is issued now, to its latency account.
    #[inline(always)]
    pub(super) fn charge_issue_wait(&mut self, id: TransactionId, die: DieId, wait: IssueWait, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        self.count_dequeued(id);
        let transaction = &mut self.transactions[id];
        transaction.account.charge_issue_wait(now, wait.path, wait.internal_busy);
        let (class, request) = (transaction.class(), transaction.owner.request);
        kernel.notify(|| Notice::Taken(die, class, request));
    }

    /// Returns the request of the head of the first non-empty queue of `die`, in class order. `None` if nothing is queued, or if the head
    /// belongs to no request.
    #[inline]
    pub(super) fn first_queued_request(&self, die: DieId) -> Option<RequestId> {
        self.transactions[self.by_die.first(die)?].owner.request
    }

    /// Returns whether any GC transaction queued at `die` has waited for `age_bound` or longer.
    #[inline(never)]
    pub(super) fn has_aged_collection(&self, die: DieId, age_bound: Time, now: Time) -> bool {
        let masks = self.by_die.masks(die);
        let is_late = |class, plane| {
            let head = |&priority| self.by_die.head(QueueId { die, class, plane, priority });
            let heads = self.by_die.priorities().iter().filter_map(head);
            heads.map(|id| self.transactions[id].account.queued()).any(|since| now - since >= age_bound)
        };
        TransactionClass::INTERNAL.into_iter().any(|class| planes(masks.of(class)).any(|plane| is_late(class, plane)))
    }

    /// Returns a view of the queue lengths and states of the dies, for policies that balance load.
    pub fn load<'a>(&'a self, states: &'a dyn DieStates) -> LoadView<'a> {
        LoadView::new(states, &self.by_die, &self.transactions)
    }

    /// Notifies probes (observers of a run) that the data of a user read has left its die.
    #[inline(always)]
    pub fn notify_read_left(&self, id: TransactionId, kernel: &mut Kernel<M>) {
        if kernel.watches_reads() {
            self.notify_user_read_left(id, kernel);
        }
    }

    #[inline(never)]
    fn notify_user_read_left(&self, id: TransactionId, kernel: &mut Kernel<M>) {
        let transaction = &self.transactions[id];
        if transaction.class() == TransactionClass::UserRead {
            let die = self.geometry.die_of_plane(transaction.plane);
            kernel.notify_read(ReadNotice::Left(id, die));
        }
    }

    /// Records that `id` was dequeued and will be queued again or dropped, because its page has moved or its write goes to another plane.
    pub(super) fn record_rerouted(&mut self, id: TransactionId, kernel: &mut Kernel<M>) {
        self.count_dequeued(id);
        self.notify_rerouted(id, kernel);
    }

    /// Notifies probes (observers of a run) that a transaction was dequeued and will be queued again or dropped, usually because its page has moved.
    pub fn notify_rerouted(&self, id: TransactionId, kernel: &mut Kernel<M>) {
        self.notify_read_left(id, kernel);
        let transaction = &self.transactions[id];
        let die = self.geometry.die_of_plane(transaction.plane);
        let (class, request) = (transaction.class(), transaction.owner.request);
        kernel.notify(|| Notice::Rerouted(die, class, request));
    }
}
