//! Virtual copies of pages, which estimate the gain of replication without programming any copy.

use lru::LruCache;
use rustc_hash::FxBuildHasher;

use super::AnalysisOptions;
use super::report::ReplicationGain;
use crate::collisions::{OutstandingReads, ReplicationDecision};
use crate::ids::{DieId, Lpn};
use crate::units::Time;

#[derive(Clone, Debug)]
pub(super) struct VirtualReplicas {
    read_time: Time,
    copies_max: usize,
    copies: LruCache<Lpn, DieId, FxBuildHasher>,
    /// Bit set of the logical pages that have a virtual copy (assumed, but never programmed).
    has_copy: Vec<u64>,
    gain: ReplicationGain,
}

impl VirtualReplicas {
    pub fn new(options: &AnalysisOptions) -> VirtualReplicas {
        VirtualReplicas {
            read_time: options.detector.read_time,
            copies_max: options.copies_max as usize,
            copies: LruCache::unbounded_with_hasher(FxBuildHasher),
            has_copy: vec![0; options.logical_pages as usize / 64 + 1],
            gain: ReplicationGain::default(),
        }
    }

    pub fn contains(&self, lpn: Lpn) -> bool {
        self.has_copy.get(lpn.index() / 64).is_some_and(|flags| flags >> (lpn.0 % 64) & 1 != 0)
    }

    /// Toggles the bit of `lpn` in `has_copy`.
    fn flag(&mut self, lpn: Lpn) {
        self.has_copy[lpn.index() / 64] ^= 1 << (lpn.0 % 64);
    }

    /// Adds the virtual copy (assumed, but never programmed) of a page on its target die. Above the limit `l_M`, evicts the least recently read copy.
    pub fn add(&mut self, replicate: &ReplicationDecision) {
        self.gain.replications += 1;
        self.copies.put(replicate.lpn, replicate.to);
        self.flag(replicate.lpn);
        if self.copies.len() > self.copies_max {
            if let Some((lpn, _)) = self.copies.pop_lru() {
                self.flag(lpn);
            }
            self.gain.evictions += 1;
        }
    }

    pub fn read(&mut self, die: DieId, lpn: Lpn, occupancy: &OutstandingReads) {
        let Some(&mut copy) = self.copies.get_mut(&lpn) else { return };
        self.gain.reads += 1;
        let (here, there) = (occupancy.outstanding(die), occupancy.outstanding(copy));
        if there >= here {
            return;
        }
        self.gain.reads_moved += 1;
        self.gain.wait_saved_ps += (self.read_time * u64::from(here - there)).as_ps();
        // The reads outstanding on the die of the original (`here`) and of the copy (`there`) exclude the arriving read, so add 1.
        let is_imbalanced = |outstanding: u32| outstanding > 0 && occupancy.is_imbalanced(outstanding + 1);
        self.gain.imbalanced_avoided += u64::from(is_imbalanced(here) && !is_imbalanced(there));
    }

    pub fn end(&mut self, lpn: Lpn) {
        if self.contains(lpn) {
            self.copies.pop(&lpn);
            self.flag(lpn);
            self.gain.ended_by_writes += 1;
        }
    }

    pub fn gain(&self) -> ReplicationGain {
        self.gain.clone()
    }
}
