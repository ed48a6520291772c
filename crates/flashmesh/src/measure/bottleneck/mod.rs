//! Limits of a run: its bottleneck, the lower bound on its time, the busy times of the parts of the drive, and path conflicts.

pub mod bound;
pub mod lower_bound;
pub mod part_times;
pub mod path_conflicts;
