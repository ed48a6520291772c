//! Scheduler of a drive, its last decision, and the dies that the scheduler may choose to request a path.

mod dispatch;

use std::marker::PhantomData;

use crate::flash::geometry::Geometry;
use crate::ids::DieId;
use crate::kernel::model::Model;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::{AnyScheduler, Joiners, Scheduler};

use dispatch::DispatchCandidates;

/// Scheduler of a drive, the transactions of other planes (joiners) that its last decision allows in a multi-plane operation, and the dies that the
/// scheduler can choose to request the next path.
#[derive(Clone)]
pub struct SchedulingState<M: Model> {
    pub(super) scheduler: AnyScheduler,
    /// Transactions of other planes (joiners) that may run in one operation with the transaction that the scheduler chose last.
    pub(super) joiners: Joiners,
    candidates: DispatchCandidates,
    /// Reused buffer for decisions among all dies of a chip: for each die, the planes with transactions that may run, by class.
    pub(super) ready_of_chip: Vec<PlaneMasks>,
    /// Whether the scheduler decides which die requests a path.
    dispatches: bool,
    model: PhantomData<M>,
}

impl<M: Model> SchedulingState<M> {
    pub(super) fn new(scheduler: AnyScheduler, geometry: &Geometry) -> SchedulingState<M> {
        let candidates = DispatchCandidates::new(geometry);
        let dispatches = scheduler.dispatches();
        let (joiners, ready_of_chip, model) = (Joiners::First, Vec::new(), PhantomData);
        SchedulingState { scheduler, joiners, candidates, ready_of_chip, dispatches, model }
    }

    /// Converts the state to model `N` (a variant of the simulation, compiled for one set of features).
    pub(super) fn into_model<N: Model>(self) -> SchedulingState<N> {
        let SchedulingState { scheduler, joiners, candidates, ready_of_chip, dispatches, .. } = self;
        SchedulingState { scheduler, joiners, candidates, ready_of_chip, dispatches, model: PhantomData }
    }

    /// Replaces the configured scheduler by a custom one.
    pub(super) fn set_scheduler(&mut self, scheduler: AnyScheduler) {
        self.dispatches = scheduler.dispatches();
        self.scheduler = scheduler;
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
