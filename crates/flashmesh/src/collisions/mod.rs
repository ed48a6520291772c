//! Read collisions: reads that wait behind other reads of their die (Patterned Read Collisions, IEEE Access 2023).
//!
//! The types of this module are state machines without a clock. [`OutstandingReads`] tracks the outstanding reads of each die and classifies the collision
//! of an arriving read. From these, [`Analysis`] computes the statistics of section II of the paper. [`Detector`] implements section III.A: it finds
//! pairs of pages that collide repeatedly, and decides which page to replicate to which die. The analysis uses a detector to estimate the gain of
//! replication, and the firmware uses one to replicate.
//!
//! A read is outstanding from its entry into the queue of its die until its data has left the die \[choice\]. Only reads of user pages for requests
//! count. Such reads have priority over programs and erases of their die, or suspend them. So in the sense of the paper only other reads delay a
//! read. Reads of garbage collection and of translation pages do not count, because they are not host reads. Reads of read-modify-write count only if
//! `replication.counted-reads` includes them.

mod all_reads;
mod analysis;
mod counting;
mod detector;
mod expected;
mod lists;
mod lru;
mod observations;
mod occupancy;
mod pair_counts;
mod pairs;
mod random_dies;
mod rates;
mod repetitions;
mod replication;
mod report;
mod virtual_copies;

pub use analysis::{Analysis, Options};
pub use detector::{Detector, DetectorRules, ReplicationDecision};
pub use expected::{colliding_reads, colliding_states};
pub use lists::PairLists;
pub use occupancy::{Collision, OutstandingReads};
pub use pair_counts::PairCounts;
pub use pairs::Pair;
pub use replication::{ReplicationCounts, ReplicationReport};
pub use report::{CollisionPair, CollisionsReport, RepetitionBin, ReplicationGain};

use counting::{count, mean_of, share};
