//! Recordings of what happens in a window of simulated time: probes that keep it for people to look at.
//!
//! [`timeline`] writes a trace for Perfetto, [`network`] keeps what moved over the interconnect for the moving view of a report.
//! Both hold a bounded number of events, and a run without them does not pay for them.

pub mod network;
mod requests;
pub mod timeline;

use crate::config::Measure;
use crate::units::Time;

/// What part of a run is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// From when.
    pub start: Time,
    /// Until when.
    pub end: Time,
}

impl Window {
    /// The window of `[measure]`.
    pub fn new(settings: &Measure) -> Window {
        let start = settings.window_start;
        let end = settings
            .window_length
            .map_or(Time::MAX, |length| Time::from_ps(start.as_ps().saturating_add(length.as_ps())));
        Window { start, end }
    }

    /// Whether any part of the time `from` one moment `until` another lies in the window.
    fn overlaps(&self, from: Time, until: Time) -> bool {
        from < self.end && until >= self.start
    }
}
