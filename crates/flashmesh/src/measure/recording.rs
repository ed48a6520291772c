//! Extent of a timeline, which is written into a file of its own.

use crate::quantities;

quantities! {
    /// The part of the run that the timeline covers (`measure.window-start`, `measure.window-length`).
    #[derive(Default, Eq)]
    TimelineReport as "TimelineRecording" {
        /// When it begins, in simulated time.
        start_ps: u64, in "ps";
        /// When it ends.
        end_ps: u64, in "ps";
        /// Whether it ended before its window did, because it was full (`measure.timeline-events-max`).
        is_cut: bool;
    }
}
