//! State of one flash controller of Venice.

use crate::fabric::venice::link_use_recorder::LinkUseRecorder;
use crate::fabric::venice::mesh::MeshCoord;
use crate::ids::LinkId;
use crate::units::Time;

use super::path_queue::PathRequest;

/// Stage of the work of a controller on a path request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum ControllerStage {
    Free,
    /// The scout of the controller searches for a path.
    Searching,
    /// The circuit is reserved, and the scout returns over it to the controller.
    Returning,
    /// The circuit is granted to the die of the request.
    Granted,
}

/// A flash controller of Venice, with the path request that it serves.
#[derive(Clone, Debug)]
pub(in super::super) struct FlashController {
    pub stage: ControllerStage,
    /// Path request that the controller serves or, if it is free, served last.
    pub request: PathRequest,
    /// Time of the launch of the last scout, which starts a service.
    pub since: Time,
    /// Links of the reserved or granted circuit, from the controller link to the chip link; of the last circuit if there is none.
    pub circuit: Vec<LinkId>,
    /// Busy time up to the end of the last completed service. A controller is busy from the launch of a scout until it is free.
    pub busy: Time,
    pub trace: LinkUseRecorder,
}

impl FlashController {
    pub fn new() -> FlashController {
        use crate::fabric::TransferPhase;
        use crate::ids::{ChipId, DieId};
        FlashController {
            stage: ControllerStage::Free,
            request: PathRequest {
                sequence: 0,
                die: DieId(0),
                phase: TransferPhase::Command,
                chip: ChipId(0),
                coord: MeshCoord { row: 0, column: 0 },
            },
            since: Time::ZERO,
            circuit: Vec::new(),
            busy: Time::ZERO,
            trace: LinkUseRecorder::default(),
        }
    }

    /// Returns the busy time up to `now`, including the current service.
    pub fn busy_until(&self, now: Time) -> Time {
        if self.stage == ControllerStage::Free { self.busy } else { self.busy + now.saturating_sub(self.since) }
    }
}
