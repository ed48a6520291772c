//! Collision counts that always include reads of read-modify-write, which [`Analysis`](super::Analysis) can exclude.

use crate::collisions::{Collision, OutstandingReads};
use crate::ids::{DieId, Lpn, TransactionId};

#[derive(Clone, Debug)]
pub(super) struct AllReads {
    occupancy: OutstandingReads,
    counts: AllCounts,
}

/// Collision counts over all reads since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AllCounts {
    pub collisions: u64,
    pub imbalanced: u64,
    pub pair_occurrences: u64,
}

impl AllReads {
    /// Creates the counts at the first read of a read-modify-write, from `occupancy` and `counts` of the requested reads: until then, both counts are
    /// equal.
    pub fn continue_from(occupancy: &OutstandingReads, counts: AllCounts) -> AllReads {
        AllReads { occupancy: occupancy.clone(), counts }
    }

    pub fn counts(&self) -> AllCounts {
        self.counts
    }

    pub fn read_queued(&mut self, id: TransactionId, die: DieId, lpn: Lpn) {
        let collision = self.occupancy.enter(die, id, lpn).collision;
        self.counts.collisions += u64::from(collision.is_some());
        if collision == Some(Collision::Imbalanced) {
            self.counts.imbalanced += 1;
            self.occupancy.record_pairs(die, |_, _| self.counts.pair_occurrences += 1);
        }
    }

    /// Adds a rerouted read to the outstanding reads of `die`, which holds its page now. Does not count the read again.
    pub fn read_requeued(&mut self, id: TransactionId, die: DieId, lpn: Lpn) {
        self.occupancy.enter(die, id, lpn);
    }

    pub fn read_finished(&mut self, id: TransactionId, die: DieId) {
        self.occupancy.leave(die, id);
    }
}
