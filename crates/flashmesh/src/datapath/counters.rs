use crate::power::energy::ArrayOperationCounts;

/// Counts of operations, for reports.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Number of array operations, by kind and page type.
    pub work: ArrayOperationCounts,
    /// Number of operations on more than one plane.
    pub multi_plane_operations: u64,
    /// Number of operations whose lead is a user read that waited beyond `schedule.age-bound` while user programs were queued.
    pub overdue_reads: u64,
    /// Number of operations whose lead is a user program that waited beyond `schedule.age-bound` while user reads were queued.
    pub overdue_programs: u64,
}
