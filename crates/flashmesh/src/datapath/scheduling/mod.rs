//! Scheduler of a drive, its last decision, and the dies that the scheduler may choose to request a path.

mod choose;
mod dispatch;
mod rules;

use std::marker::PhantomData;

use crate::config::{Config, EraseOrder};
use crate::flash::geometry::Geometry;
use crate::ids::DieId;
use crate::kernel::model::Model;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::{AnyScheduler, Joiners, Scheduler};
use crate::units::Time;

use dispatch::DispatchCandidates;
use rules::ChoiceRules;

/// Scheduler of a drive, the transactions of other planes (joiners) that its last decision allows in a multi-plane operation, and the dies that the
/// scheduler can choose to request the next path.
#[derive(Clone)]
pub struct SchedulingState<M: Model> {
    scheduler: AnyScheduler,
    pub(super) rules: ChoiceRules,
    /// Transactions of other planes (joiners) that may run in one operation with the transaction that the scheduler chose last.
    pub(super) joiners: Joiners,
    candidates: DispatchCandidates,
    /// Reused buffer for decisions among all dies of a chip: for each die, the planes with transactions that may run, by class.
    ready_of_chip: Vec<PlaneMasks>,
    /// Whether the scheduler decides which die requests a path.
    dispatches: bool,
    model: PhantomData<M>,
}

impl<M: Model> SchedulingState<M> {
    /// Creates the scheduler of the drive in `config`, without candidates. `dies_are_independent` is true if only the queues and state of a die
    /// decide which of its transactions may run.
    pub(super) fn new(config: &Config, geometry: &Geometry, dies_are_independent: bool) -> SchedulingState<M> {
        let scheduler = AnyScheduler::new(config, geometry);
        let rules = ChoiceRules::new(config, &scheduler, dies_are_independent);
        let candidates = DispatchCandidates::new(geometry);
        let dispatches = scheduler.dispatches();
        let (joiners, ready_of_chip, model) = (Joiners::First, Vec::new(), PhantomData);
        SchedulingState { scheduler, rules, joiners, candidates, ready_of_chip, dispatches, model }
    }

    /// Converts the state to model `N` (a variant of the simulation, compiled for one set of features).
    pub(super) fn into_model<N: Model>(self) -> SchedulingState<N> {
        let SchedulingState { scheduler, rules, joiners, candidates, ready_of_chip, dispatches, .. } = self;
        SchedulingState { scheduler, rules, joiners, candidates, ready_of_chip, dispatches, model: PhantomData }
    }

    /// Replaces the scheduler that the configuration selected by a custom one.
    pub fn set_scheduler(&mut self, scheduler: AnyScheduler) {
        self.rules.skips_scheduler &= scheduler.takes_only_queue();
        self.dispatches = scheduler.dispatches();
        self.scheduler = scheduler;
    }

    /// Lets a custom scheduler decide the order of all transactions, regardless of the configuration: no transaction counts as overdue
    /// (`schedule.age-bound`), and the scheduler may defer erases. To decide about erases, the scheduler sees whether a die is nearly out of free
    /// pages, or writes wait for a fold of the SLC cache (`SchedulerView::space_is_out`).
    pub fn leave_order_to_scheduler(&mut self) {
        (self.rules.age_bound, self.rules.erase_order) = (Time::MAX, EraseOrder::Last);
    }

    /// Notifies the scheduler that a transaction of `die` was enqueued or dequeued, or that an operation started there. Does nothing unless the
    /// scheduler decides which die requests a path.
    #[inline(always)]
    pub(super) fn queue_changed(&mut self, die: DieId) {
        if self.dispatches() {
            self.scheduler.queue_changed(die);
        }
    }
}
