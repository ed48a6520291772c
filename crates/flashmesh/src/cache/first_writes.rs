//! Detection of the first write of a page within a time window (policy `first-write`).

use rustc_hash::FxHashSet;

use crate::ids::Lpn;
use crate::units::Time;

/// Pages written in the current window.
#[derive(Clone, Debug)]
pub(super) struct FirstWrites {
    window: Time,
    pages: FxHashSet<Lpn>,
    since: Time,
}

impl FirstWrites {
    pub fn new(window: Time) -> FirstWrites {
        FirstWrites { window, pages: FxHashSet::default(), since: Time::ZERO }
    }

    /// Records a write of `lpn` that arrived at `at`. Returns whether it is the first of the page in the window.
    pub fn add(&mut self, lpn: Lpn, at: Time) -> bool {
        // `at`, the arrival of the write, can lie before the window, because a stalled write is admitted late. The window never moves back.
        let now = at.later(self.since);
        if now - self.since > self.window {
            self.pages.clear();
            self.since = now;
        }
        self.pages.insert(lpn)
    }
}
