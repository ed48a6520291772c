//! Dequeueing of the lead (first transaction) of an operation.

use crate::datapath::{Datapath, PageSource};
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::QueueId;
use crate::schedule::transaction::TransactionClass;

impl<M: Model> Datapath<M> {
    /// Returns whether `lead`, the dequeued first transaction of an operation, may run on its plane: its page has not moved and, for a write, the
    /// allocator still chooses this plane.
    #[inline(always)]
    pub(super) fn is_valid_lead<S: PageSource<M>>(&self, lead: TransactionId, source: &S) -> bool {
        let transaction = self.queues.transaction(lead);
        source.is_current(transaction)
            && (!M::ALL_FEATURES
                || transaction.class() != TransactionClass::UserProgram
                || source.keeps_plane(lead, self))
    }

    /// Dequeues the transaction that the scheduler chooses for the path granted to `requester`. Returns the transaction with its queue; `None` if no
    /// transaction may run now.
    #[inline(always)]
    pub(super) fn dequeue_chosen<S: PageSource<M>>(
        &mut self,
        requester: DieId,
        source: &S,
        kernel: &Kernel<M>,
    ) -> Option<(QueueId, TransactionId)> {
        let Datapath { scheduling, gate_rules, queues, dies, .. } = self;
        let (choice, lead) = scheduling.choose_lead(requester, gate_rules, queues, dies, source, kernel.now())?;
        if self.dies.planes_read_alone() && !self.dies.may_begin(choice) {
            return None;
        }
        if self.queues.gathers() && self.queues.is_early_bound(choice.class) {
            return self.queues.dequeue_early_bound(choice, lead);
        }
        let lead = match lead {
            Some(lead)
                if M::ALL_FEATURES
                    && self.queues.need_not_wait_for_page(lead, source)
                    && !self.queues.starts_with_head(choice, source) =>
            {
                let was_queued = self.queues.dequeue(choice, lead);
                assert!(was_queued, "the scheduler chose a lead that is not in the queue it chose");
                lead
            }
            _ => self.queues.pop(choice)?,
        };
        Some((choice, lead))
    }
}
