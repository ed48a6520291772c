//! What the datapath counts.

use crate::measure::conflicts::Conflicts;
use crate::measure::lower_bound::DieWork;
use crate::power::energy::ArrayWork;

/// What the datapath counts.
#[derive(Clone, Debug)]
pub struct Counters {
    /// Transfers begun.
    pub transfers: u64,
    /// Of these, those whose path was free at the first try.
    pub transfers_free: u64,
    /// What was in the way of the others, and for how long.
    pub conflicts: Conflicts,
    /// What each die did.
    pub dies: Vec<DieWork>,
    /// What the arrays did.
    pub work: ArrayWork,
    /// Programs and erases suspended.
    pub suspensions: u64,
    /// Operations of more than one plane.
    pub multi_plane_operations: u64,
}

impl Counters {
    pub(super) fn new(dies: u32) -> Counters {
        Counters {
            transfers: 0,
            transfers_free: 0,
            conflicts: Conflicts::default(),
            dies: vec![DieWork::default(); dies as usize],
            work: ArrayWork::default(),
            suspensions: 0,
            multi_plane_operations: 0,
        }
    }
}
