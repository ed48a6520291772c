use crate::power::energy::ArrayOperationCounts;

/// Numbers of array steps and of operations, for reports.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Number of array steps (reads, programs and erases), by kind and page type. A multi-plane operation counts as the steps of one plane.
    pub work: ArrayOperationCounts,
    /// Number of operations on more than one plane.
    pub multi_plane_operations: u64,
    /// Number of operations whose lead (first transaction) is a user read that waited for `schedule.age-bound` or longer, while user programs were
    /// queued at the die when the operation started.
    pub overdue_reads: u64,
    /// Number of operations whose lead (first transaction) is a user program that waited for `schedule.age-bound` or longer, while user reads were
    /// queued at the die when the operation started.
    pub overdue_programs: u64,
}
