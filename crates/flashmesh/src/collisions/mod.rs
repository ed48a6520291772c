//! Read collisions: reads that wait behind other reads of their die (Patterned Read Collisions, IEEE Access 2023).
//!
//! The types of this module are state machines without a clock. [`OutstandingReads`] tracks the outstanding reads of each die and classifies the
//! collision of an arriving read. From these, [`Analysis`] computes the statistics of section II of the paper. [`Detector`] implements section III.A:
//! it finds pairs of pages that collide repeatedly, and decides which page to replicate to which die. The analysis uses a detector to estimate the
//! gain of replication, and the firmware uses one to replicate.
//!
//! A read is outstanding from its entry into the queue of its die until its data has left the die \[choice\]. Only reads of user pages for requests
//! count. These reads have priority over programs and erases of their die, or suspend them, so that only other reads delay a read, as the paper
//! assumes. Reads of garbage collection and of translation pages do not count, because they are not host reads. Reads of read-modify-write count only
//! if `replication.counted-reads` includes them.

mod analysis;
mod detector;
mod outstanding_reads;
mod pairs;
mod replication;

#[cfg(feature = "internals")]
pub use analysis::random_collisions::{read_collision_probability, state_collision_probability};
pub use analysis::report::{CollisionPair, CollisionsReport, RepetitionBin, ReplicationGain};
pub use analysis::{Analysis, AnalysisOptions};
pub use detector::{Detector, DetectorRules, ReplicationDecision};
pub use outstanding_reads::{Collision, OutstandingReads};
pub use pairs::PagePair;
pub use replication::{ReplicationCounts, ReplicationReport};
