//! Reads of mapping units of one page that wait together sense it once.

use crate::ids::TransactionId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::Choice;
use crate::schedule::transaction::Class;

use super::path::PathGrant;
use super::{Datapath, PageSource};

impl<M: Model> Datapath<M> {
    /// Reads of the same page that wait behind `lead` run with it.
    #[inline(always)]
    pub(super) fn join_reads<S: PageSource<M>>(
        &mut self,
        queue: Choice,
        lead: TransactionId,
        path: PathGrant,
        source: &S,
        kernel: &mut Kernel<M>,
    ) {
        if self.gathers() && !self.transactions[lead].work.is_whole() {
            self.transactions[lead].end_chain();
            if matches!(queue.class, Class::MapRead | Class::UserRead | Class::CollectRead) {
                self.join_reads_of_page(queue, lead, path, source, kernel);
            }
        }
    }

    #[inline(never)]
    fn join_reads_of_page<S: PageSource<M>>(
        &mut self,
        queue: Choice,
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
            let companion = self.queues.take_first(&mut self.transactions, queue, self.rules.lookahead, |other| {
                other.from.0 / units == page && source.is_current(other) && source.joins(&leading, other)
            });
            let Some(id) = companion else { return };
            self.taken(id, queue.die, path, kernel);
            self.chain(last, id);
            last = id;
        }
    }
}
