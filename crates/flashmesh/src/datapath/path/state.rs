//! Path state of a die: its outstanding path requests, and the last granted paths.

use crate::fabric::{Cause, Causes, GrantRecord, TransferPhase};
use crate::ids::PathId;
use crate::schedule::latency_account::PathWait;
use crate::units::Time;

/// Indices in [`DiePathState::requested_at`], for command paths and data paths.
const COMMAND: usize = 0;
const DATA: usize = 1;

/// Path requests of a die, and its last granted path of each phase (command, data out, chip-to-chip copy).
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct DiePathState {
    /// Times at which a command path and a data path were requested; [`Time::MAX`] for a path that is not requested.
    requested_at: [Time; 2],
    /// Whether the last path of each phase (command, data out, chip-to-chip copy) was blocked at the first attempt.
    pub was_blocked: [bool; TransferPhase::ALL.len()],
    /// For each phase (command, data out, chip-to-chip copy), whether only transfers of the same request blocked the path, at the last check.
    pub blocked_by_own_request: [bool; TransferPhase::ALL.len()],
    /// Causes of all path waits of the read data, over all planes of the operation.
    pub data_causes: Causes,
    /// Last granted path of each phase (command, data out, chip-to-chip copy).
    pub paths: [PathId; TransferPhase::ALL.len()],
    /// Minimum duration of the last transfer of each phase (command, data out, chip-to-chip copy): over the shortest path and without contention.
    pub min_times: [Time; TransferPhase::ALL.len()],
}

/// Time from the request of a path to its grant, and the cause of the wait.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct PathGrant {
    /// Time from the request of the path to its grant, with all causes of the wait.
    pub wait: PathWait,
    /// Resource that blocked the first attempt to reserve the path; meaningless if that attempt succeeded.
    pub cause: Cause,
}

impl Default for DiePathState {
    fn default() -> DiePathState {
        const PHASES: usize = TransferPhase::ALL.len();
        DiePathState {
            requested_at: [Time::MAX; 2],
            was_blocked: [false; PHASES],
            blocked_by_own_request: [false; PHASES],
            data_causes: Causes::default(),
            paths: [PathId(0); PHASES],
            min_times: [Time::ZERO; PHASES],
        }
    }
}

impl DiePathState {
    #[inline(always)]
    pub fn requests_command(&self) -> bool {
        self.requested_at[COMMAND] != Time::MAX
    }

    pub fn requests_data(&self) -> bool {
        self.requested_at[DATA] != Time::MAX
    }

    #[inline(always)]
    pub fn request_command(&mut self, now: Time) {
        self.requested_at[COMMAND] = now;
    }

    #[inline(always)]
    pub fn request_data(&mut self, now: Time) {
        self.requested_at[DATA] = now;
    }

    pub fn cancel_command(&mut self) {
        self.requested_at[COMMAND] = Time::MAX;
    }

    /// Ends the outstanding request for the path in `granted`, and returns the time from the request to the grant, with the cause of the wait.
    #[inline]
    pub fn end_request(&mut self, granted: &GrantRecord) -> PathGrant {
        let index = if granted.grant.phase == TransferPhase::Command { COMMAND } else { DATA };
        let asked = std::mem::replace(&mut self.requested_at[index], Time::MAX);
        assert!(asked != Time::MAX, "a path is granted only to a die that requested it");
        // The fabric may begin to set up the path before the die requests it. `tried` is then `requested_at`, so that the wait is zero.
        let wait = PathWait { requested_at: asked, tried: asked.later(granted.since), causes: Causes::default() };
        PathGrant { wait, cause: granted.cause }
    }
}

impl PathGrant {
    /// Returns the time from the request of the path until the path was no longer blocked.
    #[inline]
    pub fn waited(&self) -> Time {
        self.wait.tried - self.wait.requested_at
    }
}
