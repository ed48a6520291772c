//! Read collisions: reads that wait behind other reads of their die (Patterned Read Collisions, IEEE Access 2023).
//!
//! State machines without time. [`Occupancy`] knows which reads are outstanding on each die and says what an arriving read collides
//! with. [`Analysis`] makes the figures of section II of the paper from it. [`Detector`] is section III.A: it finds pairs of pages that
//! collide again and again, and says which page should be replicated to which die. The analysis asks a detector what replication would
//! gain; the firmware asks one what to replicate.
//!
//! What counts as outstanding: reads of user pages that requests ask for, from when they are put into the queue of their die until their
//! data has left it \[choice\]. Reads go before programs and erases on a die, or suspend them, so only other reads make them wait as the
//! paper means it; reads of collection and of translation pages are not the host's, nor are those that complete a write of a part of a page,
//! which count where `replication.counted-reads` says so.

mod all_reads;
mod analysis;
mod counting;
mod detector;
mod expected;
mod followed;
mod lists;
mod observations;
mod occupancy;
mod pair_counts;
mod pairs;
mod random_dies;
mod rates;
mod recency;
mod repetitions;
mod replication;
mod report;

pub use analysis::{Analysis, Options};
pub use detector::{Detector, DetectorRules, Replicate};
pub use expected::{colliding_reads, colliding_states};
pub use lists::PairLists;
pub use occupancy::{Collision, Occupancy};
pub use pair_counts::PairCounts;
pub use pairs::Pair;
pub use replication::{ReplicationCounts, ReplicationReport};
pub use report::{CollisionPair, CollisionsReport, RepetitionBin, ReplicationGain};

use counting::{count, mean_of, share};
