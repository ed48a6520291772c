//! Collisions of all reads, those of read-modify-write among them: a second figure beside that of the reads that requests ask for.

use super::{Collision, Occupancy};
use crate::ids::{DieId, Lpn, TransactionId};

#[derive(Clone, Debug)]
pub(super) struct AllReads {
    occupancy: Occupancy,
    counts: AllCounts,
}

/// What is counted of all reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AllCounts {
    pub collisions: u64,
    pub imbalanced: u64,
    pub pair_occurrences: u64,
}

impl AllReads {
    /// Goes on from reads of requests alone, as the first read of another kind is about to come.
    pub fn after(occupancy: &Occupancy, counts: AllCounts) -> AllReads {
        AllReads { occupancy: occupancy.clone(), counts }
    }

    pub fn counts(&self) -> AllCounts {
        self.counts
    }

    pub fn queued(&mut self, id: TransactionId, die: DieId, lpn: Lpn) {
        let collision = self.occupancy.enter(die, id, lpn).collision;
        self.counts.collisions += u64::from(collision.is_some());
        if collision == Some(Collision::Imbalanced) {
            self.counts.imbalanced += 1;
            self.occupancy.record_pairs(die, |_, _| self.counts.pair_occurrences += 1);
        }
    }

    /// A read whose page has moved is outstanding at another die.
    pub fn queued_again(&mut self, id: TransactionId, die: DieId, lpn: Lpn) {
        self.occupancy.enter(die, id, lpn);
    }

    pub fn left(&mut self, id: TransactionId, die: DieId) {
        self.occupancy.leave(die, id);
    }
}
