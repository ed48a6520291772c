//! Queueing and issue of transactions with companions (further mapping units of the same page or program, which run with the transaction).
//!
//! Reads of several mapping units of a page that are queued together are chained when the first of them starts, so that the page is sensed once.

use crate::datapath::PageSource;
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::QueueId;
use crate::schedule::transaction::TransactionClass;
use crate::units::Time;

use super::{IssueWait, TransactionQueues};

impl<M: Model> TransactionQueues<M> {
    /// Replaces the dequeued `lead`, which will not run, by its first companion (further mapping unit of the same page or program), which becomes the
    /// head of the queue. Returns the die; `None`, without effect, if there is no companion.
    pub(in super::super) fn replace_lead(&mut self, lead: TransactionId) -> Option<DieId> {
        let next = self.transactions.companion(lead)?;
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
        let mut next = self.transactions.companion(lead);
        while let Some(id) = next {
            self.transactions[id].account.queue(now, internal_busy);
            let class = self.transactions[id].class();
            kernel.notify(|| Notice::Enqueued(die, class, None));
            next = self.transactions.companion(id);
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
        let mut next = self.transactions.companion(lead);
        while let Some(id) = next {
            self.charge_issue_wait(id, die, wait, kernel);
            next = self.transactions.companion(id);
        }
    }

    /// Starts a new chain of companions (mapping units that run together) behind `lead`. For a read, dequeues the other reads of its page and chains
    /// them, so that the page is sensed only once. A complete program (all units queued together) keeps its chain. Does nothing if each program of
    /// the drive has one mapping unit.
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
            self.transactions.append_companion(last, id);
            last = id;
        }
    }
}
