use crate::datapath::issue::DispatchCandidates;
use crate::flash::geometry::Geometry;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::{AnyScheduler, Joiners};

/// Scheduler of a drive, the joiners (transactions of other planes) of its last decision, and the dies that it can select to request a path
/// next.
#[derive(Clone)]
pub(super) struct SchedulingState {
    pub scheduler: AnyScheduler,
    /// Joiners (transactions of other planes) that the scheduler allows for the last chosen lead.
    pub joiners: Joiners,
    pub candidates: DispatchCandidates,
    /// Reused buffer for decisions among all dies of a chip: for each die, the planes with transactions that may run, by class.
    pub ready_of_chip: Vec<PlaneMasks>,
}

impl SchedulingState {
    pub fn new(scheduler: AnyScheduler, geometry: &Geometry) -> SchedulingState {
        let candidates = DispatchCandidates::new(geometry);
        SchedulingState { scheduler, joiners: Joiners::First, candidates, ready_of_chip: Vec::new() }
    }
}
