//! The scheduling policy, and what is kept for it.

use crate::flash::geometry::Geometry;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::{AnyScheduler, Joiners};

use super::dispatch::Candidates;

/// The scheduler and its state in the datapath.
#[derive(Clone)]
pub(super) struct Scheduling {
    pub scheduler: AnyScheduler,
    /// The transactions that may join the lead it chose last.
    pub joiners: Joiners,
    pub candidates: Candidates,
    /// What is ready on each die of a chip, while one of them is chosen.
    pub ready_of_chip: Vec<PlaneMasks>,
}

impl Scheduling {
    /// `scheduler` at the start of a run.
    pub fn new(scheduler: AnyScheduler, geometry: &Geometry) -> Scheduling {
        let candidates = Candidates::new(geometry);
        Scheduling { scheduler, joiners: Joiners::First, candidates, ready_of_chip: Vec::new() }
    }
}
