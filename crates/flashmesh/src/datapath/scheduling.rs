use crate::datapath::issue::DispatchCandidates;
use crate::flash::geometry::Geometry;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::{AnyScheduler, Joiners};

/// Scheduler, and its state in the datapath.
#[derive(Clone)]
pub(super) struct SchedulingState {
    pub scheduler: AnyScheduler,
    /// Joiners allowed for the lead chosen last.
    pub joiners: Joiners,
    pub candidates: DispatchCandidates,
    /// Buffer for the runnable planes of each die of a chip, during a choice among them.
    pub ready_of_chip: Vec<PlaneMasks>,
}

impl SchedulingState {
    pub fn new(scheduler: AnyScheduler, geometry: &Geometry) -> SchedulingState {
        let candidates = DispatchCandidates::new(geometry);
        SchedulingState { scheduler, joiners: Joiners::First, candidates, ready_of_chip: Vec::new() }
    }
}
