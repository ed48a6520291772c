//! Which pages are written for the first time in a while.

use rustc_hash::FxHashSet;

use crate::ids::Lpn;
use crate::units::Time;

/// Pages written within a window of time.
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

    /// Whether this is the first write of `lpn` since the window began; `at` is its arrival.
    pub fn add(&mut self, lpn: Lpn, at: Time) -> bool {
        // The time of coming in would not do: a write that waited is late, and the window only moves on.
        let now = at.later(self.since);
        if now - self.since > self.window {
            self.pages.clear();
            self.since = now;
        }
        self.pages.insert(lpn)
    }
}
