//! Extent of a timeline, which is written to a file of its own.

use crate::quantities;

quantities! {
    /// Extent of the timeline in the run (`measure.window-start`, `measure.window-length`).
    #[derive(Default, Eq)]
    TimelineReport as "TimelineRecording" {
        /// Simulated time at which the timeline begins.
        start_ps: u64, in "ps";
        /// Simulated time at which the timeline ends.
        end_ps: u64, in "ps";
        /// Whether the timeline ended before its window, because it was full (`measure.timeline-events-max`).
        is_cut: bool;
    }
}
