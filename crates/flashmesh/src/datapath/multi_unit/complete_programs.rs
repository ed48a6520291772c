//! Complete programs: programs of several mapping units whose data does not come from the controller, such as copybacks and pages gathered in the
//! page buffer of another chip.
//!
//! All units are available when the program is queued ([`Purpose::is_whole`](crate::schedule::purpose::Purpose::is_whole)). So the program does not
//! wait for further units, and precedes the programs of its queue that do.

use crate::datapath::path::PathGrant;
use crate::datapath::{Datapath, NewOperation, PageSource};
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::transaction::{Transaction, TransactionClass};
use crate::schedule::{QueueId, Scheduler};

impl<M: Model> Datapath<M> {
    /// Chains `ids` into one operation, in order, and returns the lead. None of them may be queued.
    ///
    /// # Panics
    /// If `ids` is empty.
    pub fn chain_operation(&mut self, ids: &[TransactionId]) -> TransactionId {
        for pair in ids.windows(2) {
            self.transactions[pair[0]].set_companion(pair[1]);
        }
        self.transactions[*ids.last().expect("an operation has a transaction")].end_chain();
        ids[0]
    }

    /// Enqueues a complete program (all of its mapping units are known) behind the other complete programs of its queue.
    pub(in super::super) fn enqueue_complete_program(
        &mut self,
        die: DieId,
        plane: u8,
        lead: TransactionId,
        kernel: &mut Kernel<M>,
    ) {
        self.start_companion_waits(die, lead, kernel);
        let ahead = |other: &Transaction| other.purpose.is_whole();
        self.queues.insert_behind(&self.transactions, die, plane, lead, ahead);
    }

    /// Replaces a dequeued `lead`, which will not run, by its first companion (mapping unit chained behind it). Enqueues that companion at
    /// the head of the queue. Does nothing if `lead` has no companion.
    pub fn replace_lead(&mut self, lead: TransactionId) {
        let Some(next) = self.companion(lead) else { return };
        self.transactions[lead].end_chain();
        let plane = self.transactions[next].plane;
        let (die, plane) = (self.geometry.die_of_plane(plane), self.geometry.plane_in_die(plane) as u8);
        self.queues.insert_behind(&self.transactions, die, plane, next, |_| false);
        if self.dispatches() {
            self.scheduling.scheduler.queue_changed(die);
        }
    }

    /// Starts the queue wait of the companions of `lead` (mapping units that run with it in the same plane).
    pub(in super::super) fn start_companion_waits(&mut self, die: DieId, lead: TransactionId, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        let internal_busy = self.dies.internal_busy_at(die, self.transactions[lead].plane, now);
        let mut next = self.companion(lead);
        while let Some(id) = next {
            self.transactions[id].account.queue(now, internal_busy);
            let class = self.transactions[id].class();
            kernel.notify(|| Notice::Enqueued(die, class, None));
            next = self.companion(id);
        }
    }

    /// Ends the queue wait of the companions of `lead` (mapping units that run with it in the same plane).
    pub(in super::super) fn end_companion_waits(
        &mut self,
        die: DieId,
        lead: TransactionId,
        path: PathGrant,
        kernel: &mut Kernel<M>,
    ) {
        let mut next = self.companion(lead);
        while let Some(id) = next {
            self.on_dequeued(id, die, path, kernel);
            next = self.companion(id);
        }
    }

    /// Removes the mapping units for which `is_stale` holds from a dequeued complete program, except `lead`. Returns the removed units.
    pub fn leave_out(&mut self, lead: TransactionId, is_stale: impl Fn(&Transaction) -> bool) -> Vec<TransactionId> {
        let all: Vec<TransactionId> = self.with_companions(lead).collect();
        let (out, kept): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|&id| id != lead && is_stale(&self.transactions[id]));
        self.chain_operation(&kept);
        out.iter().for_each(|&id| self.transactions[id].end_chain());
        out
    }

    /// Returns the next mapping unit of a complete program that is being started; `None` after the last one. All earlier units must have
    /// their pages.
    pub(super) fn next_unit_of_complete_program(
        &mut self,
        operation: &mut NewOperation,
        lead: TransactionId,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        let id = self.with_companions(lead).nth(operation.companion_count as usize + 1)?;
        operation.companion_count += 1;
        self.on_dequeued(id, operation.queue.die, operation.path(), kernel);
        Some(id)
    }

    /// Returns whether a GC move at the head of a queue of `plane` may run without waiting for further mapping units: a complete program
    /// or, if GC moves blocks by Cleans (from chip to chip), a stale move (its page has changed). Few moves are in flight before a Clean,
    /// so a stale move would wait in vain and block the others.
    pub(in super::super) fn needs_no_companions<S: PageSource<M>>(&self, die: DieId, plane: u8, source: &S) -> bool {
        self.queues.priorities().iter().any(|&priority| {
            let class = TransactionClass::CollectProgram;
            let head = self.queues.head(QueueId { die, class, plane, priority }).map(|head| &self.transactions[head]);
            head.is_some_and(|head| head.purpose.is_whole() || (self.rules.cleans && !source.is_current(head)))
        })
    }
}
