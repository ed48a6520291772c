//! Enqueueing and dequeueing of transactions, together with the updates of dies and scheduler that this requires.

use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::ReadNotice;
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::{Transaction, TransactionClass};
use crate::units::Time;

use super::{Datapath, PageSource};

impl<M: Model> Datapath<M> {
    /// Enqueues transaction `id` at the die of its plane, and returns the die. `work` is the purpose of the transaction. Next, call
    /// [`Datapath::try_issue`] for the die.
    #[inline(always)]
    pub fn enqueue(&mut self, id: TransactionId, work: Purpose, kernel: &mut Kernel<M>) -> DieId {
        let plane = self.queues.transaction(id).plane;
        let die = self.geometry.die_of_plane(plane);
        let internal_busy = self.dies.internal_busy_at(die, plane, kernel.now());
        self.queues.enqueue(id, work, die, internal_busy, kernel);
        self.scheduling.queue_changed(die);
        self.dies.mark_busy(die);
        if work.class() == TransactionClass::UserRead && kernel.watches_reads() {
            let Transaction { lpn, purpose: work, .. } = *self.queues.transaction(id);
            kernel.notify_read(ReadNotice::Queued(id, die, lpn, work.read_for()));
        }
        die
    }

    /// Charges the queue wait of transaction `id`, which has left its queue without being issued.
    pub fn charge_queue_wait(&mut self, id: TransactionId, now: Time) {
        let transaction = self.queues.transaction_mut(id);
        transaction.account.wait(now, self.dies.internal_busy(transaction.plane, now));
    }

    /// Dequeues and returns the user reads and user programs of all dies that match `is_unwanted`.
    pub fn dequeue_unwanted(
        &mut self,
        is_unwanted: impl Fn(&Transaction) -> bool,
        kernel: &mut Kernel<M>,
    ) -> Vec<TransactionId> {
        let removed = self.queues.dequeue_unwanted(is_unwanted, kernel);
        (0..self.geometry.dies()).for_each(|die| self.scheduling.queue_changed(DieId(die)));
        removed
    }

    /// Dequeues and returns the user reads of `die` whose pages have moved. The caller must enqueue them at the dies that hold the pages now.
    pub fn take_moved<S: PageSource<M>>(&mut self, die: DieId, source: &S) -> Vec<TransactionId> {
        let moved = self.queues.dequeue_moved(die, source);
        self.scheduling.queue_changed(die);
        moved
    }

    /// Replaces the dequeued `lead`, which will not run, by its first companion (further mapping unit of the same page or program, chained to
    /// `lead`), which becomes the head of the queue. Does nothing without a companion.
    pub fn replace_lead(&mut self, lead: TransactionId) {
        if let Some(die) = self.queues.replace_lead(lead) {
            self.scheduling.queue_changed(die);
        }
    }
}
