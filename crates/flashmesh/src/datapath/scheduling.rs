use crate::datapath::issue::DispatchCandidates;
use crate::flash::geometry::Geometry;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::{AnyScheduler, Joiners};

/// Scheduler of a drive, with the joiners and candidates of its last decisions.
#[derive(Clone)]
pub(super) struct SchedulingState {
    pub scheduler: AnyScheduler,
    /// Joiners that the scheduler allows for the last chosen lead.
    pub joiners: Joiners,
    pub candidates: DispatchCandidates,
    /// Buffer for the runnable planes of each die of a chip, used while the scheduler chooses among the dies.
    pub ready_of_chip: Vec<PlaneMasks>,
}

impl SchedulingState {
    pub fn new(scheduler: AnyScheduler, geometry: &Geometry) -> SchedulingState {
        let candidates = DispatchCandidates::new(geometry);
        SchedulingState { scheduler, joiners: Joiners::First, candidates, ready_of_chip: Vec::new() }
    }
}
