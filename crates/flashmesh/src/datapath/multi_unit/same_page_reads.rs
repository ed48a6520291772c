//! Reads of several mapping units of a page. Reads that are queued together are sensed once.

use crate::datapath::path::PathGrant;
use crate::datapath::{Datapath, PageSource};
use crate::ids::TransactionId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::QueueId;
use crate::schedule::transaction::TransactionClass;

impl<M: Model> Datapath<M> {
    /// Dequeues reads of mapping units on the page of `lead`, and chains them to `lead`, so that the page is sensed only once.
    #[inline(always)]
    pub(in super::super) fn chain_same_page_reads<S: PageSource<M>>(
        &mut self,
        queue: QueueId,
        lead: TransactionId,
        path: PathGrant,
        source: &S,
        kernel: &mut Kernel<M>,
    ) {
        if self.gathers() && !self.transactions[lead].purpose.is_whole() {
            self.transactions[lead].end_chain();
            if matches!(
                queue.class,
                TransactionClass::MapRead | TransactionClass::UserRead | TransactionClass::CollectRead
            ) {
                self.chain_reads_of_page(queue, lead, path, source, kernel);
            }
        }
    }

    #[inline(never)]
    fn chain_reads_of_page<S: PageSource<M>>(
        &mut self,
        queue: QueueId,
        lead: TransactionId,
        path: PathGrant,
        source: &S,
        kernel: &mut Kernel<M>,
    ) {
        let units = self.gather.units_per_page;
        let leading = self.transactions[lead];
        let page = leading.from.0 / units;
        let mut last = lead;
        for _ in 1..units {
            let companion = self.queues.dequeue_first(&mut self.transactions, queue, self.rules.lookahead, |other| {
                other.from.0 / units == page && source.is_current(other) && source.may_join(&leading, other)
            });
            let Some(id) = companion else { return };
            self.on_dequeued(id, queue.die, path, kernel);
            self.append_companion(last, id);
            last = id;
        }
    }
}
