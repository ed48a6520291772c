//! Asking for paths, and what the waiting for them cost.

use crate::fabric::{Cause, Causes, Granted, TransferPhase};
use crate::ids::PathId;
use crate::schedule::account::PathWait;
use crate::units::Time;

/// The places of [`PathRequest::asked`].
const COMMAND: usize = 0;
const DATA: usize = 1;

/// What a die has asked of the fabric, and how it went.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathRequest {
    /// Since when it wants a path for its next command, and for the data in its register: [`Time::MAX`] when it wants none.
    asked: [Time; 2],
    /// Whether the last path of each phase had to be waited for.
    pub waited: [bool; TransferPhase::ALL.len()],
    /// Whether nothing but the same request was in the way of the last path of each phase, as far as was looked at.
    pub behind_itself: [bool; TransferPhase::ALL.len()],
    /// What was in the way of the data that leaves the register.
    pub causes: Causes,
    /// The path that it got for each phase.
    pub paths: [PathId; TransferPhase::ALL.len()],
    /// How long what moves for each phase takes at least.
    pub least: [Time; TransferPhase::ALL.len()],
}

/// A path that a die got.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathGrant {
    /// How long it was waited for, and all that was in the way.
    pub wait: PathWait,
    /// What was in the way of the first try.
    pub cause: Cause,
}

impl Default for PathRequest {
    fn default() -> PathRequest {
        const PHASES: usize = TransferPhase::ALL.len();
        PathRequest {
            asked: [Time::MAX; 2],
            waited: [false; PHASES],
            behind_itself: [false; PHASES],
            causes: Causes::default(),
            paths: [PathId(0); PHASES],
            least: [Time::ZERO; PHASES],
        }
    }
}

impl PathRequest {
    /// Whether it wants a path for its next command.
    #[inline(always)]
    pub fn wants_command(&self) -> bool {
        self.asked[COMMAND] != Time::MAX
    }

    /// Whether it wants a path for the data in its register.
    pub fn wants_data(&self) -> bool {
        self.asked[DATA] != Time::MAX
    }

    /// It wants a path for its next command since `now`.
    #[inline(always)]
    pub fn ask_command(&mut self, now: Time) {
        self.asked[COMMAND] = now;
    }

    /// It wants a path for the data in its register since `now`.
    #[inline(always)]
    pub fn ask_data(&mut self, now: Time) {
        self.asked[DATA] = now;
    }

    /// It wants no path for its next command.
    pub fn forget_command(&mut self) {
        self.asked[COMMAND] = Time::MAX;
    }

    /// The path that was asked for has been granted.
    #[inline]
    pub fn granted(&mut self, granted: &Granted) -> PathGrant {
        let place = if granted.grant.phase == TransferPhase::Command { COMMAND } else { DATA };
        let asked = std::mem::replace(&mut self.asked[place], Time::MAX);
        assert!(asked != Time::MAX, "a path is granted only to a die that asked for it");
        // The die may have become ready only while the path was set up for it.
        let wait = PathWait { asked, tried: asked.later(granted.since), causes: Causes::default() };
        PathGrant { wait, cause: granted.cause }
    }
}

impl PathGrant {
    /// How long something was in the way.
    #[inline]
    pub fn waited(&self) -> Time {
        self.wait.tried - self.wait.asked
    }
}
