//! What the datapath counts.

use crate::measure::conflicts::Conflicts;
use crate::power::energy::ArrayWork;

/// What the datapath counts.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Transfers begun.
    pub transfers: u64,
    /// Of these, those whose path was free at the first try.
    pub transfers_free: u64,
    /// What was in the way of the others, and for how long.
    pub conflicts: Conflicts,
    /// What the arrays did.
    pub work: ArrayWork,
    /// Programs and erases suspended.
    pub suspensions: u64,
    /// Operations of more than one plane.
    pub multi_plane_operations: u64,
    /// Operations that began with a read of a request which had waited for the age bound, while programs of others waited.
    pub overdue_reads: u64,
    /// Operations that began with such a program, while reads waited.
    pub overdue_programs: u64,
}
