//! Companions: further mapping units of the same page or program as a transaction, chained behind the transaction so that they run with it.
//!
//! Reads of several mapping units of a page that are queued together are chained when the first of them starts, so that the page is sensed once.

use crate::datapath::PageSource;
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::QueueId;
use crate::schedule::transaction::{Transaction, TransactionClass};
use crate::units::Time;

use super::{IssueWait, TransactionQueues};

impl<M: Model> TransactionQueues<M> {
    /// Returns the companion that follows `id` (the next mapping unit of the same page or program); `None` after the last companion.
    #[inline(always)]
    pub fn companion(&self, id: TransactionId) -> Option<TransactionId> {
        if self.gathers() { self.transactions[id].companion() } else { None }
    }

    /// Returns `id` and its companions, the further mapping units of its page or program.
    pub fn with_companions(&self, id: TransactionId) -> impl Iterator<Item = TransactionId> {
        std::iter::successors(Some(id), |&id| self.companion(id))
    }

    /// Calls `change` with `lead` and each of its companions (further mapping units of the same page or program).
    #[inline(always)]
    pub(in super::super) fn for_each_unit(&mut self, lead: TransactionId, mut change: impl FnMut(&mut Transaction)) {
        change(&mut self.transactions[lead]);
        let mut companion = self.companion(lead);
        while let Some(id) = companion {
            change(&mut self.transactions[id]);
            companion = self.companion(id);
        }
    }

    pub(super) fn append_companion(&mut self, last: TransactionId, id: TransactionId) {
        self.transactions[id].end_chain();
        self.transactions[last].set_companion(id);
    }

    /// Chains `ids` in order, so that they run in one operation, and returns the first. None of them may be queued.
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

    /// Removes outdated mapping units, for which `is_stale` returns true, from the dequeued program that begins with `lead`; keeps `lead` in any
    /// case. Returns the removed units.
    pub fn leave_out(&mut self, lead: TransactionId, is_stale: impl Fn(&Transaction) -> bool) -> Vec<TransactionId> {
        let all: Vec<TransactionId> = self.with_companions(lead).collect();
        let (out, kept): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|&id| id != lead && is_stale(&self.transactions[id]));
        self.chain_operation(&kept);
        out.iter().for_each(|&id| self.transactions[id].end_chain());
        out
    }

    /// Replaces `lead`, a dequeued transaction that will not run, by its first companion (further mapping unit of the same page or program). Enqueues
    /// that companion at the head of the queue, and returns its die. Does nothing and returns `None` if there is no companion.
    pub(in super::super) fn replace_lead(&mut self, lead: TransactionId) -> Option<DieId> {
        let next = self.companion(lead)?;
        self.transactions[lead].end_chain();
        let plane = self.transactions[next].plane;
        let (die, plane) = (self.geometry.die_of_plane(plane), self.geometry.plane_in_die(plane) as u8);
        self.by_die.insert_behind(&self.transactions, die, plane, next, |_| false);
        Some(die)
    }

    /// Starts the queue waits of the companions of `lead` (further mapping units of the same program or read), which are queued now. `internal_busy`
    /// is the time for which GC or wear levelling has occupied the plane so far.
    pub(in super::super) fn start_companion_waits(
        &mut self,
        die: DieId,
        lead: TransactionId,
        internal_busy: Time,
        kernel: &mut Kernel<M>,
    ) {
        let now = kernel.now();
        let mut next = self.companion(lead);
        while let Some(id) = next {
            self.transactions[id].account.queue(now, internal_busy);
            let class = self.transactions[id].class();
            kernel.notify(|| Notice::Enqueued(die, class, None));
            next = self.companion(id);
        }
    }

    /// Charges the queue and path wait of the companions of `lead` (further mapping units of the same program or read), which are issued now.
    pub(in super::super) fn end_companion_waits(
        &mut self,
        die: DieId,
        lead: TransactionId,
        wait: IssueWait,
        kernel: &mut Kernel<M>,
    ) {
        let mut next = self.companion(lead);
        while let Some(id) = next {
            self.charge_issue_wait(id, die, wait, kernel);
            next = self.companion(id);
        }
    }

    /// Clears the chain of mapping units behind `lead`, unless `lead` is a program whose units were all queued together. If `lead` is a read,
    /// dequeues the other reads of its page and chains them to it, so that the page is sensed only once.
    #[inline(always)]
    pub(in super::super) fn chain_same_page_reads<S: PageSource<M>>(
        &mut self,
        queue: QueueId,
        lead: TransactionId,
        wait: IssueWait,
        source: &S,
        kernel: &mut Kernel<M>,
    ) {
        if self.gathers() && !self.transactions[lead].purpose.is_whole() {
            self.transactions[lead].end_chain();
            if matches!(
                queue.class,
                TransactionClass::MapRead | TransactionClass::UserRead | TransactionClass::CollectRead
            ) {
                self.chain_reads_of_page(queue, lead, wait, source, kernel);
            }
        }
    }

    #[inline(never)]
    fn chain_reads_of_page<S: PageSource<M>>(
        &mut self,
        queue: QueueId,
        lead: TransactionId,
        wait: IssueWait,
        source: &S,
        kernel: &mut Kernel<M>,
    ) {
        let units = self.geometry.units_per_page;
        let leading = self.transactions[lead];
        let page = leading.from.0 / units;
        let mut last = lead;
        for _ in 1..units {
            let companion = self.by_die.dequeue_first(&mut self.transactions, queue, self.rules.lookahead, |other| {
                other.from.0 / units == page && source.is_current(other) && source.may_join(&leading, other)
            });
            let Some(id) = companion else { return };
            self.charge_issue_wait(id, queue.die, wait, kernel);
            self.append_companion(last, id);
            last = id;
        }
    }
}
