//! Choice of the lead (first transaction) of an operation.

use crate::config::EraseOrder;
use crate::datapath::gate::{Gate, GateRules};
use crate::datapath::{Dies, PageSource, TransactionQueues};
use crate::ids::{DieId, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::queues::{NOTHING, PlaneMasks};
use crate::schedule::transaction::TransactionClass;
use crate::schedule::{Decision, QueueId, Scheduler, SchedulerView};
use crate::units::Time;

use super::SchedulingState;

/// Queue that the scheduler has chosen, and its transaction that becomes the lead (first transaction) of the operation; `None` for the head
/// of the queue.
type ChosenLead = (QueueId, Option<TransactionId>);

impl<M: Model> SchedulingState<M> {
    /// Returns the lead (first transaction) that the scheduler chooses for the path granted to `requester`, with its queue, among the transactions of
    /// all dies that may use this path: several if the chip executes one operation at a time and is idle. `None` if no transaction may run. Models
    /// (compiled variants) with `ALL_FEATURES` also store the joiners (transactions of other planes) that the scheduler allows in
    /// [`joiners`](SchedulingState::joiners).
    #[inline(always)]
    pub(in super::super) fn choose_lead<S: PageSource<M>>(
        &mut self,
        requester: DieId,
        gate_rules: &GateRules,
        queues: &TransactionQueues<M>,
        dies: &mut Dies<M>,
        source: &S,
        now: Time,
    ) -> Option<ChosenLead> {
        let (first, count) = dies.possible_path_users(requester);
        let gate = Gate::new(gate_rules, queues, dies);
        if count == 1 {
            let ready = gate.ready_planes(first, source);
            return self.choose_among((first, &[ready]), gate_rules, queues, dies, source, now);
        }
        let mut ready = std::mem::take(&mut self.ready_of_chip);
        ready.clear();
        ready.extend((first.0..first.0 + count).map(|die| gate.ready_planes(DieId(die), source)));
        let choice = self.choose_among((first, &ready), gate_rules, queues, dies, source, now);
        self.ready_of_chip = ready;
        choice
    }

    /// Like [`choose_lead`](Self::choose_lead), but among consecutive dies from `first` on. `ready` contains, for each of these dies, the planes with
    /// transactions that may run.
    #[inline(always)]
    fn choose_among<S: PageSource<M>>(
        &mut self,
        (first, ready): (DieId, &[PlaneMasks]),
        gate_rules: &GateRules,
        queues: &TransactionQueues<M>,
        dies: &mut Dies<M>,
        source: &S,
        now: Time,
    ) -> Option<ChosenLead> {
        if ready.iter().all(|ready| *ready == NOTHING) {
            return None;
        }
        let (waiting, transactions) = queues.views();
        if let ([ready], false) = (ready, M::ALL_FEATURES) {
            let collection_first = source.collection_first(first);
            let choice = self.scheduler.choose_plain(first, *ready, collection_first, now, waiting, transactions);
            return Some((choice, None));
        }
        let candidates = || (first.0..).map(DieId).take(ready.len());
        if self.rules.paces_collection {
            candidates().for_each(|die| self.update_overdue_collection(die, queues, dies, source, now));
        }
        let gate = Gate::new(gate_rules, queues, dies);
        let collection_first = candidates().any(|die| gate.collection_goes_first(die, source));
        // Only schedulers that can defer erases read `space_is_out`, so compute it only for them.
        let space_is_out =
            self.rules.erase_order == EraseOrder::Last && candidates().any(|die| source.collects_for_space(die));
        let states = dies.states();
        let view =
            SchedulerView::new(now, &states, first, waiting, transactions, ready, collection_first, space_is_out);
        let replica = || view.oldest(TransactionClass::ReplicaProgram).map(Decision::from);
        let Decision { queue, lead, joiners } = self.scheduler.decide(&view).or_else(replica)?;
        self.joiners = joiners;
        Some((queue, lead))
    }

    /// Updates whether GC of `die` is overdue. GC becomes overdue when a GC transaction has waited for `schedule.age-bound` while writes of the die
    /// wait for page moves, and stays overdue until no write of the die waits for page moves.
    fn update_overdue_collection<S: PageSource<M>>(
        &self,
        die: DieId,
        queues: &TransactionQueues<M>,
        dies: &mut Dies<M>,
        source: &S,
        now: Time,
    ) {
        let is_aged = || queues.has_aged_collection(die, self.rules.age_bound, now);
        let was_overdue = dies[die].is_collection_overdue;
        dies[die].is_collection_overdue = source.writes_wait(die) && (was_overdue || is_aged());
    }
}
