//! State of a flash controller.

use crate::ids::LinkId;
use crate::units::Time;

use super::link_use_recorder::LinkUseRecorder;
use super::mesh::MeshCoord;
use super::path_queue::PathRequest;

/// Stage of the work of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControllerStage {
    Free,
    /// The scout searches for a path.
    Searching,
    /// The scout returns over the reserved circuit.
    Returning,
    /// The circuit is granted to the die.
    Granted,
}

/// A flash controller and the request that it serves.
#[derive(Clone, Debug)]
pub(super) struct FlashController {
    pub stage: ControllerStage,
    /// Request that is served; the last one served if the controller is idle.
    pub request: PathRequest,
    /// Start of the current or last service.
    pub since: Time,
    /// Links of the circuit, from the controller to the chip.
    pub circuit: Vec<LinkId>,
    /// Busy time up to the end of the last service.
    pub busy: Time,
    pub trace: LinkUseRecorder,
}

impl FlashController {
    /// Creates an idle controller.
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

    /// Returns the busy time up to `now`.
    pub fn busy_until(&self, now: Time) -> Time {
        if self.stage == ControllerStage::Free { self.busy } else { self.busy + now.saturating_sub(self.since) }
    }
}
