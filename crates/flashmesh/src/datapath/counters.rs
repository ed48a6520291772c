use crate::measure::conflicts::Conflicts;
use crate::power::energy::ArrayWork;

/// Counts of transfers and operations, for reports.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Transfers started.
    pub transfers: u64,
    /// Transfers that found a free path at the first attempt.
    pub transfers_free: u64,
    /// Waits of the other transfers, by cause.
    pub conflicts: Conflicts,
    /// Array operations, by kind and page type.
    pub work: ArrayWork,
    /// Programs and erases suspended.
    pub suspensions: u64,
    /// Operations of more than one plane.
    pub multi_plane_operations: u64,
    /// Operations whose lead is a user read that waited beyond the age bound while user programs were queued.
    pub overdue_reads: u64,
    /// Operations whose lead is a user program that waited beyond the age bound while user reads were queued.
    pub overdue_programs: u64,
}
