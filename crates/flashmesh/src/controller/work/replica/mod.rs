//! Replication of pages that collide repeatedly (Patterned Read Collisions, IEEE Access 2023, section III).
//!
//! A read that is enqueued at its die can have an imbalanced collision with earlier reads. The [detector](crate::collisions::Detector) then decides
//! whether one of the pages should be replicated, and to which die. The replica is programmed from the data that an outstanding read of the page
//! brings to the controller ([`replicate`]), when the target die is otherwise idle. From then on, the die with fewer outstanding reads serves the
//! page ([`replica_selector`]). At most `l_M` pages have a replica. Beyond that, the least recently read page keeps only one of its two copies: the
//! copy that served more reads.
//!
//! Choices \[choice\]: A read that becomes the source of a replica transfers the whole page, whatever its request needs. A page that is being
//! written, or whose read has left the array, is not replicated this time. The translation layer stores the location of a replica
//! ([`Ftl::replica_of`](crate::ftl::Ftl::replica_of)), in place of the flag that the paper keeps in the mapping entry. Translation pages contain the
//! location of the original only.

pub mod metadata;
pub mod replica_selector;
mod replicate;
mod serve;

pub use replicate::read_done;
pub use serve::{choose_location, read_left, read_lost, read_queued};

use lru::LruCache;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::collisions::{Detector, DetectorRules, OutstandingReads, ReplicationCounts, ReplicationReport};
use crate::config::{Config, CountedReads};
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, Lpn, TransactionId};
use crate::schedule::purpose::ReadPurpose;

use replica_selector::{FewestOutstanding, ReplicaSelector};

/// A planned replica of a page.
#[derive(Clone, Copy, Debug)]
enum Planned {
    /// Replica on this die that will be programmed from the data of this outstanding read. Its program is not queued yet.
    Read(TransactionId, DieId),
    /// Replica whose program is queued or in progress. `wanted` is false if the page was written or deallocated meanwhile.
    Program { wanted: bool },
}

/// The state of replication: loads of the dies, detected collisions, planned and existing replicas.
#[derive(Clone)]
pub struct Replication {
    copies_max: usize,
    dies: u32,
    pairs_per_die: u32,
    logical_pages: u32,
    /// Outstanding reads that count for collisions. A read collides if it arrives at a die that has other outstanding reads.
    occupancy: OutstandingReads,
    /// All outstanding reads, for the choice between original and replica; `None` if `occupancy` already contains all reads.
    all: Option<OutstandingReads>,
    detector: Detector,
    selector: Box<dyn ReplicaSelector + Send>,
    /// For each replicated page, the reads that the replica served minus the reads that the original served. In LRU order of reads.
    map: LruCache<Lpn, i32, FxBuildHasher>,
    planned: FxHashMap<Lpn, Planned>,
    counts: ReplicationCounts,
    copies_peak: u64,
}

impl Replication {
    /// Creates the replication that `config` describes; `None` if it is disabled.
    pub fn new(config: &Config, geometry: &Geometry) -> Option<Box<Replication>> {
        let own = &config.replication;
        let dies = geometry.dies();
        let rules = DetectorRules {
            pairs_per_die: own.l_r,
            rate_window: own.rate_window,
            read_time: config.flash.read_time,
            program_time: config.flash.program_time,
        };
        own.enabled.then(|| {
            Box::new(Replication {
                copies_max: own.replicas_max(geometry.logical_pages) as usize,
                dies,
                pairs_per_die: own.l_r,
                logical_pages: geometry.logical_pages,
                occupancy: OutstandingReads::new(dies),
                all: (own.counted_reads == CountedReads::Host).then(|| OutstandingReads::new(dies)),
                detector: Detector::new(dies, rules),
                selector: Box::new(FewestOutstanding),
                map: LruCache::unbounded_with_hasher(FxBuildHasher),
                planned: FxHashMap::default(),
                counts: ReplicationCounts::default(),
                copies_peak: 0,
            })
        })
    }

    /// Returns whether a read for this purpose counts for collisions. Depending on the configuration, all reads count, or only reads of
    /// requests.
    fn counts(&self, read_for: ReadPurpose) -> bool {
        self.all.is_none() || read_for == ReadPurpose::Request
    }

    /// Returns the number of outstanding reads of user pages on a die, for read requests or for partial writes.
    fn outstanding(&self, die: DieId) -> u32 {
        self.all.as_ref().unwrap_or(&self.occupancy).outstanding(die)
    }

    /// Sets a user-supplied rule that chooses between the original and the replica for each read.
    pub fn set_selector(&mut self, selector: Box<dyn ReplicaSelector + Send>) {
        self.selector = selector;
    }

    /// Returns the report of the run so far.
    pub fn report(&self) -> ReplicationReport {
        let map_entry = metadata::map_entry_bytes();
        ReplicationReport {
            counts: self.counts.clone(),
            copies_end: self.map.len() as u64,
            copies_peak: self.copies_peak,
            copies_max: self.copies_max as u64,
            pair_bytes: metadata::pair_bits(self.dies) as f64 / 8.0,
            list_bytes: metadata::list_bytes(self.dies, self.pairs_per_die),
            map_bytes: self.copies_max as u64 * map_entry,
            flag_bytes: metadata::flag_bytes(self.logical_pages),
        }
    }
}
