//! What a flash controller is busy with.

use crate::ids::LinkId;
use crate::units::Time;

use super::mesh::Place;
use super::trace::Trace;
use super::waiting::PathRequest;

/// How far a controller has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has nothing to do.
    Free,
    /// Its scout looks for a path.
    Searching,
    /// Its scout comes back over the path it has reserved.
    Returning,
    /// Its circuit is granted to the die.
    Granted,
}

/// A flash controller, with the die it serves.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    pub stage: Stage,
    /// For whom it works; the last one while it is free.
    pub request: PathRequest,
    /// Since when it works for that die.
    pub since: Time,
    /// The links of its circuit.
    pub circuit: Vec<LinkId>,
    /// How long it was busy, up to the last time it got free.
    pub busy: Time,
    pub trace: Trace,
}

impl Controller {
    /// One that has not worked yet.
    pub fn new() -> Controller {
        use crate::fabric::TransferPhase;
        use crate::ids::{ChipId, DieId};
        Controller {
            stage: Stage::Free,
            request: PathRequest {
                sequence: 0,
                die: DieId(0),
                phase: TransferPhase::Command,
                chip: ChipId(0),
                place: Place { row: 0, column: 0 },
            },
            since: Time::ZERO,
            circuit: Vec::new(),
            busy: Time::ZERO,
            trace: Trace::default(),
        }
    }

    /// How long it was busy up to `now`.
    pub fn busy_until(&self, now: Time) -> Time {
        if self.stage == Stage::Free { self.busy } else { self.busy + now.saturating_sub(self.since) }
    }
}
