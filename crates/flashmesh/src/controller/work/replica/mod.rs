//! Replication of pages that collide again and again (Patterned Read Collisions, IEEE Access 2023, section III).
//!
//! A read that is put into the queue of its die may collide out of balance with the reads before it; the
//! [detector](crate::collisions::Detector) then says whether one of the pages should have a copy, and on which die. The copy is programmed
//! from what that read brings to the controller ([`replicate`]), when its die has nothing else to do. From then on the die with fewer
//! reads outstanding serves the page ([`homes`]). At most `l_M` pages have a copy: of the one that was read least recently the copy
//! is kept that served more reads.
//!
//! Decided here \[choice\]: a read that becomes the source of a copy brings the whole page, whatever its request asked for. A page
//! that is being written, or whose read has left the array, is not replicated this time. Which pages lie where is known to the
//! translation layer ([`Ftl::replica_of`](crate::ftl::Ftl::replica_of)); the flag in an entry of the map is whether that knows of one. In
//! translation pages an entry names the original only.

pub mod homes;
pub mod metadata;
mod replicate;
mod serve;

pub use replicate::{is_wanted, programmed, read_done, rerouted};
pub use serve::{home_of, read_left, read_queued};

use lru::LruCache;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::collisions::{Detector, DetectorRules, Occupancy, ReplicationCounts, ReplicationReport};
use crate::config::{Config, CountedReads};
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, Lpn, TransactionId};
use crate::schedule::work::ReadFor;

use homes::{FewestOutstanding, HomeSelector};

/// A page that will have a copy.
#[derive(Clone, Copy, Debug)]
enum Planned {
    /// Once this read has brought it.
    Read(TransactionId, DieId),
    /// Once it has been programmed. Not `wanted` any more when it was written or deallocated meanwhile.
    Program { wanted: bool },
}

/// The state of replication.
#[derive(Clone)]
pub struct Replication {
    copies_max: usize,
    dies: u32,
    pairs_per_die: u32,
    logical_pages: u32,
    /// Reads that collide.
    occupancy: Occupancy,
    /// All reads outstanding on each die, between which homes are chosen; `None` where all collide.
    all: Option<Occupancy>,
    detector: Detector,
    selector: Box<dyn HomeSelector + Send>,
    /// The replication-to-original counter of each page with a copy, by their last read.
    map: LruCache<Lpn, i32, FxBuildHasher>,
    planned: FxHashMap<Lpn, Planned>,
    counts: ReplicationCounts,
    copies_peak: u64,
}

impl Replication {
    /// The replication that `config` asks for.
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
                copies_max: own.copies_max(geometry.logical_pages) as usize,
                dies,
                pairs_per_die: own.l_r,
                logical_pages: geometry.logical_pages,
                occupancy: Occupancy::new(dies),
                all: (own.counted_reads == CountedReads::Host).then(|| Occupancy::new(dies)),
                detector: Detector::new(dies, rules),
                selector: Box::new(FewestOutstanding),
                map: LruCache::unbounded_with_hasher(FxBuildHasher),
                planned: FxHashMap::default(),
                counts: ReplicationCounts::default(),
                copies_peak: 0,
            })
        })
    }

    /// Whether the collisions of a read count.
    fn counts(&self, read_for: ReadFor) -> bool {
        self.all.is_none() || read_for == ReadFor::Request
    }

    /// Reads outstanding on a die, whatever they are for.
    fn outstanding(&self, die: DieId) -> u32 {
        self.all.as_ref().unwrap_or(&self.occupancy).outstanding(die)
    }

    /// Chooses homes by a selector of the caller's own.
    pub fn set_selector(&mut self, selector: Box<dyn HomeSelector + Send>) {
        self.selector = selector;
    }

    /// What became of it.
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
