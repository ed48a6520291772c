//! Transactions in flight, and the queues of the dies.

use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, ReadNotice};
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::{Transaction, TransactionClass};
use crate::schedule::{QueueId, Scheduler};
use crate::units::Time;

use super::Datapath;
use super::path::PathGrant;

impl<M: Model> Datapath<M> {
    #[inline]
    pub fn transaction(&self, id: TransactionId) -> &Transaction {
        &self.transactions[id]
    }

    /// Returns a transaction for modification. The transaction must not be queued.
    #[inline]
    pub fn transaction_mut(&mut self, id: TransactionId) -> &mut Transaction {
        &mut self.transactions[id]
    }

    /// Adds a transaction without enqueueing it.
    #[inline]
    pub fn insert(&mut self, transaction: Transaction) -> TransactionId {
        self.transactions.insert(transaction)
    }

    /// Removes a completed transaction, which must have been dequeued.
    #[inline]
    pub fn remove(&mut self, id: TransactionId) {
        self.transactions.remove(id);
    }

    /// Returns the next number in the arrival order of all transactions, and advances the counter.
    #[inline]
    pub fn take_order(&mut self) -> u64 {
        self.arrival_order.take_order()
    }

    /// Enqueues a transaction at its die. `work` must equal the purpose of the transaction. Returns the die. Next, call [`Datapath::try_issue`] for
    /// the die.
    #[inline(always)]
    pub fn enqueue(&mut self, id: TransactionId, work: Purpose, kernel: &mut Kernel<M>) -> DieId {
        let now = kernel.now();
        let transaction = &mut self.transactions[id];
        debug_assert_eq!(transaction.purpose, work, "the work passed is that of the transaction");
        let class = work.class();
        // A write with early binding got its arrival number together with its page, and keeps this number.
        let is_early_bound = class == TransactionClass::UserProgram && self.rules.binds_early;
        // Arrival number 0 puts parity before all other programs of its die.
        let is_parity = M::ALL_FEATURES && work == Purpose::Parity;
        if !is_early_bound {
            transaction.order = if is_parity { 0 } else { self.arrival_order.take_order() };
        }
        let request = transaction.owner.request;
        self.arrival_order.record(request);
        let die = self.geometry.die_of_plane(transaction.plane);
        let plane = self.geometry.plane_in_die(transaction.plane) as u8;
        kernel.notify(|| Notice::Enqueued(die, class, request));
        let internal_busy = self.dies.internal_busy_at(die, self.transactions[id].plane, now);
        self.transactions[id].account.queue(now, internal_busy);
        if self.gathers() && work.is_whole() {
            self.enqueue_complete_program(die, plane, id, kernel);
        } else if is_early_bound || is_parity {
            self.queues.insert(&mut self.transactions, die, plane, id);
        } else {
            self.queues.push_with_class(&mut self.transactions, die, class, plane, id);
        }
        self.count_queued(id, die, work, plane, kernel);
        if self.dispatches() {
            self.scheduling.scheduler.queue_changed(die);
        }
        self.dies.mark_busy(die);
        if class == TransactionClass::UserRead && kernel.watches_reads() {
            let Transaction { lpn, purpose: work, .. } = self.transactions[id];
            kernel.notify_read(ReadNotice::Queued(id, die, lpn, work.read_for()));
        }
        die
    }

    /// Notifies probes that a user read has left its die.
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

    /// Notifies probes that a transaction was dequeued in order to be rerouted.
    pub fn notify_rerouted(&self, id: TransactionId, kernel: &mut Kernel<M>) {
        self.notify_read_left(id, kernel);
        let transaction = &self.transactions[id];
        let die = self.geometry.die_of_plane(transaction.plane);
        let (class, request) = (transaction.class(), transaction.owner.request);
        kernel.notify(|| Notice::Rerouted(die, class, request));
    }

    /// Charges the queue wait of a transaction that is dequeued but not issued.
    pub fn count_wait(&mut self, id: TransactionId, now: Time) {
        let internal_busy = self.dies.internal_busy(self.transactions[id].plane, now);
        self.transactions[id].account.wait(now, internal_busy);
    }

    /// Dequeues and returns all user reads and programs for which `is_unwanted` holds.
    pub fn dequeue_unwanted(
        &mut self,
        is_unwanted: impl Fn(&Transaction) -> bool,
        kernel: &mut Kernel<M>,
    ) -> Vec<TransactionId> {
        let mut kept: Vec<TransactionId> = Vec::new();
        let mut removed: Vec<TransactionId> = Vec::new();
        let priorities = self.queues.priorities();
        for die in (0..self.geometry.dies()).map(DieId) {
            for class in [TransactionClass::UserRead, TransactionClass::UserProgram] {
                let planes = 0..self.geometry.planes_per_die as u8;
                for (plane, &priority) in
                    planes.flat_map(|plane| priorities.iter().map(move |priority| (plane, priority)))
                {
                    let queue = QueueId { die, class, plane, priority };
                    while let Some(id) = self.queues.pop(&mut self.transactions, queue) {
                        if is_unwanted(&self.transactions[id]) { removed.push(id) } else { kept.push(id) }
                    }
                    for id in kept.drain(..) {
                        self.queues.push(&mut self.transactions, die, plane, id);
                    }
                }
            }
        }
        if self.dispatches() {
            (0..self.geometry.dies()).for_each(|die| self.scheduling.scheduler.queue_changed(DieId(die)));
        }
        if M::ALL_FEATURES {
            removed.iter().for_each(|&id| {
                self.count_dequeued(id);
                self.notify_read_left(id, kernel);
            });
        }
        removed
    }

    /// Charges the queue and path wait of a dequeued transaction, which is issued now.
    #[inline(always)]
    pub(super) fn on_dequeued(&mut self, id: TransactionId, die: DieId, path: PathGrant, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        self.count_dequeued(id);
        let internal_busy = self.dies.internal_busy_at(die, self.transactions[id].plane, now);
        let transaction = &mut self.transactions[id];
        transaction.account.charge_issue_wait(now, path.wait, internal_busy);
        let (class, request) = (transaction.class(), transaction.owner.request);
        kernel.notify(|| Notice::Taken(die, class, request));
    }
}
