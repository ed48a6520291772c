//! Programs of several mapping units whose data does not come from the controller: copybacks, and what gathered in the page buffer of another
//! chip. All units of one are together before it is queued ([`Work::is_whole`]), so it waits for no others, and goes before the programs of its
//! queue that do.

use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::transaction::{Class, Transaction};
use crate::schedule::{Choice, Scheduler};

use super::path::PathGrant;
use super::{Beginning, Datapath, PageSource};

impl<M: Model> Datapath<M> {
    /// Has transactions, which are in no queue, run as one in this order; gives the first, which leads.
    ///
    /// # Panics
    /// When there are none.
    pub fn run_together(&mut self, ids: &[TransactionId]) -> TransactionId {
        for pair in ids.windows(2) {
            self.transactions[pair[0]].set_companion(pair[1]);
        }
        self.transactions[*ids.last().expect("something runs")].end_chain();
        ids[0]
    }

    /// What runs with `lead` takes its place in the queue of the die behind whole programs that are there.
    pub(super) fn queue_whole(&mut self, die: DieId, plane: u8, lead: TransactionId, kernel: &mut Kernel<M>) {
        self.queue_companions(die, lead, kernel);
        let ahead = |other: &Transaction| other.work.is_whole();
        self.queues.insert_behind(&self.transactions, die, plane, lead, ahead);
    }

    /// What runs with `lead`, which was taken out of its queue and is to run no more, goes on with the next one in front, back into the queue.
    pub fn go_on_without(&mut self, lead: TransactionId) {
        let Some(next) = self.companion(lead) else { return };
        self.transactions[lead].end_chain();
        let plane = self.transactions[next].plane;
        let (die, plane) = (self.geometry.die_of_plane(plane), self.geometry.plane_in_die(plane) as u8);
        self.queues.insert_behind(&self.transactions, die, plane, next, |_| false);
        if self.dispatches() {
            self.scheduling.scheduler.queue_changed(die);
        }
    }

    /// Those that run with `lead` wait from now on.
    pub(super) fn queue_companions(&mut self, die: DieId, lead: TransactionId, kernel: &mut Kernel<M>) {
        let (now, internal_busy) = (kernel.now(), self.units[die].state.internal_busy(kernel.now()));
        let mut next = self.companion(lead);
        while let Some(id) = next {
            self.transactions[id].account.queue(now, internal_busy);
            let class = self.transactions[id].class();
            kernel.tell(|| Notice::Enqueued(die, class, None));
            next = self.companion(id);
        }
    }

    /// Its die takes what runs with `lead`.
    pub(super) fn take_companions(&mut self, die: DieId, lead: TransactionId, path: PathGrant, kernel: &mut Kernel<M>) {
        let mut next = self.companion(lead);
        while let Some(id) = next {
            self.taken(id, die, path, kernel);
            next = self.companion(id);
        }
    }

    /// Those that were to run with `lead`, a whole program that its die has taken, and for which this holds no more: they run with it no longer.
    pub fn leave_out(
        &mut self,
        lead: TransactionId,
        holds_no_more: impl Fn(&Transaction) -> bool,
    ) -> Vec<TransactionId> {
        let all: Vec<TransactionId> = self.with_companions(lead).collect();
        let (out, kept): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|&id| id != lead && holds_no_more(&self.transactions[id]));
        self.run_together(&kept);
        out.iter().for_each(|&id| self.transactions[id].end_chain());
        out
    }

    /// The next program of a whole one that begins; all before it have their pages.
    pub(super) fn next_of_whole(
        &mut self,
        beginning: &mut Beginning,
        lead: TransactionId,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        let id = self.with_companions(lead).nth(beginning.companions as usize + 1)?;
        beginning.companions += 1;
        self.taken(id, beginning.queue.die, beginning.path(), kernel);
        Some(id)
    }

    /// Whether the move that goes next in a plane waits for no others: it is a whole program, or its data was written anew. Only a few moves are
    /// on their way before a Clean, and such a one would keep the others waiting.
    pub(super) fn waits_for_nothing<S: PageSource<M>>(&self, die: DieId, plane: u8, source: &S) -> bool {
        self.queues.priorities().iter().any(|&priority| {
            let class = Class::CollectProgram;
            let head = self.queues.head(Choice { die, class, plane, priority }).map(|head| &self.transactions[head]);
            head.is_some_and(|head| head.work.is_whole() || (self.rules.cleans && !source.is_current(head)))
        })
    }
}
