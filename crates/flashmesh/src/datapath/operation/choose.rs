//! Choice of the lead (first transaction) of an operation.

use crate::config::EraseOrder;
use crate::datapath::{Datapath, PageSource};
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::queues::{NOTHING, PlaneMasks};
use crate::schedule::transaction::TransactionClass;
use crate::schedule::{Decision, QueueId, Scheduler, SchedulerView};
use crate::units::Time;

/// Queue that the scheduler has chosen, and its transaction that becomes the lead (first transaction) of the operation; `None` for the head
/// of the queue.
type ChosenLead = (QueueId, Option<TransactionId>);

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

    /// Dequeues the transaction that the scheduler chooses for a path granted to `requester`, a die that requests paths for itself or for its chip.
    /// Returns the transaction with its queue; `None` if no transaction may run now.
    #[inline(always)]
    pub(super) fn dequeue_chosen<S: PageSource<M>>(
        &mut self,
        requester: DieId,
        source: &S,
        kernel: &Kernel<M>,
    ) -> Option<(QueueId, TransactionId)> {
        let (choice, lead) = match self.dies.possible_path_users(requester) {
            (die, 1) => {
                let ready = self.gate().ready_planes(die, source);
                self.choose_lead(die, &[ready], source, kernel)
            }
            (first, count) => self.choose_lead_of_chip(first, count, source, kernel),
        }?;
        if self.dies.planes_read_alone() && !self.dies.may_begin(choice) {
            return None;
        }
        if self.queues.gathers() && self.queues.is_early_bound(choice.class) {
            return self.queues.dequeue_early_bound(choice, lead);
        }
        let lead = match lead {
            Some(lead)
                if M::ALL_FEATURES
                    && self.queues.has_page(lead, source)
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

    /// Returns the lead (first transaction) that the scheduler chooses for the next operation, among the dies from `first` on; `None` if no
    /// transaction may run. `ready` contains the planes of these dies with transactions that may run. If the model (compiled variant) has all
    /// features, stores the transactions of other planes (joiners) that the scheduler allows in
    /// [`SchedulingState::joiners`](crate::datapath::scheduling::SchedulingState::joiners).
    #[inline(always)]
    fn choose_lead<S: PageSource<M>>(
        &mut self,
        first: DieId,
        ready: &[PlaneMasks],
        source: &S,
        kernel: &Kernel<M>,
    ) -> Option<ChosenLead> {
        if ready.iter().all(|ready| *ready == NOTHING) {
            return None;
        }
        if let ([ready], false) = (ready, M::ALL_FEATURES) {
            let collection_first = source.collection_first(first);
            let (queues, transactions) = self.queues.views();
            let scheduler = &mut self.scheduling.scheduler;
            let choice = scheduler.choose_plain(first, *ready, collection_first, kernel.now(), queues, transactions);
            return Some((choice, None));
        }
        let dies = || (first.0..).map(DieId).take(ready.len());
        let now = kernel.now();
        if self.scheduling.rules.paces_collection {
            dies().for_each(|die| self.update_overdue_collection(die, source, now));
        }
        let gate = self.gate();
        let collection_first = dies().any(|die| gate.collection_goes_first(die, source));
        // Only schedulers that can defer erases read `space_is_out`, so compute it only for them.
        let space_is_out =
            self.scheduling.rules.erase_order == EraseOrder::Last && dies().any(|die| source.collects_for_space(die));
        let dies = self.dies.states();
        let (queues, transactions) = self.queues.views();
        let waiting =
            SchedulerView::new(now, &dies, first, queues, transactions, ready, collection_first, space_is_out);
        let replica = || waiting.oldest(TransactionClass::ReplicaProgram).map(Decision::from);
        let Decision { queue, lead, joiners } = self.scheduling.scheduler.decide(&waiting).or_else(replica)?;
        self.scheduling.joiners = joiners;
        Some((queue, lead))
    }

    /// Returns the lead (first transaction) that the scheduler chooses for the next operation, among the `count` dies of a chip from `first` on;
    /// `None` if no transaction may run.
    fn choose_lead_of_chip<S: PageSource<M>>(
        &mut self,
        first: DieId,
        count: u32,
        source: &S,
        kernel: &Kernel<M>,
    ) -> Option<ChosenLead> {
        let mut ready = std::mem::take(&mut self.scheduling.ready_of_chip);
        ready.clear();
        for die in (first.0..first.0 + count).map(DieId) {
            ready.push(self.gate().ready_planes(die, source));
        }
        let choice = self.choose_lead(first, &ready, source, kernel);
        self.scheduling.ready_of_chip = ready;
        choice
    }

    /// Updates whether GC of `die` is overdue. GC becomes overdue when a GC transaction has waited for `schedule.age-bound` while writes of the die
    /// wait for page moves, and stays overdue until no write of the die waits for page moves.
    fn update_overdue_collection<S: PageSource<M>>(&mut self, die: DieId, source: &S, now: Time) {
        let was_overdue = self.dies[die].is_collection_overdue;
        self.dies[die].is_collection_overdue = source.writes_wait(die)
            && (was_overdue || self.queues.has_aged_collection(die, self.scheduling.rules.age_bound, now));
    }
}
