//! Probes that record the events in a window of simulated time for display.
//!
//! [`timeline`] writes a trace for Perfetto; [`network`] records the transfers over the interconnect for the animation in the HTML report. The number
//! of recorded events is bounded. A recorder is detached when its window has ended or it is full, as soon as all recorded activity has ended.
//! Detached, it costs no run time.

pub mod network;
mod pending_paths;
mod requests;
pub mod timeline;

use crate::config::Measure;
use crate::units::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingWindow {
    pub start: Time,
    pub end: Time,
}

impl RecordingWindow {
    pub fn new(settings: &Measure) -> RecordingWindow {
        let start = settings.window_start;
        let end = settings
            .window_length
            .map_or(Time::MAX, |length| Time::from_ps(start.as_ps().saturating_add(length.as_ps())));
        RecordingWindow { start, end }
    }

    fn overlaps(&self, from: Time, until: Time) -> bool {
        from < self.end && until >= self.start
    }
}
