use crate::measure::path_conflicts::PathConflicts;
use crate::power::energy::ArrayOperationCounts;

/// Counts of transfers and operations, for reports.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Number of transfers started, of commands and of data.
    pub transfers: u64,
    /// Number of transfers whose path was free at the first attempt, and that the network did not block afterwards.
    pub transfers_free: u64,
    /// Number of transfers that waited for their path or were blocked in the network, and their waits, by cause.
    pub conflicts: PathConflicts,
    /// Number of array operations, by kind and page type.
    pub work: ArrayOperationCounts,
    /// Number of suspensions of programs and erases.
    pub suspensions: u64,
    /// Number of operations on more than one plane.
    pub multi_plane_operations: u64,
    /// Number of operations whose lead is a user read that waited beyond `schedule.age-bound` while user programs were queued.
    pub overdue_reads: u64,
    /// Number of operations whose lead is a user program that waited beyond `schedule.age-bound` while user reads were queued.
    pub overdue_programs: u64,
}
