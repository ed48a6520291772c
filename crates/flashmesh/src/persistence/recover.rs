//! Recovery of the map after a power cut, from data on flash.
//!
//! 1. Load the translation pages of the map, as their last programs left them.
//! 2. Replay each journal entry that is newer than its translation page.
//! 3. Apply the pages programmed after the last journal page, found by a scan. A page with a newer stamp than the map is the newest version. A page
//!    with the same stamp is a moved page or a replica. A page with an older stamp was superseded while its program was in flight.
//! 4. Unmap pages whose block was erased after their program. If such a page has a replica, the replica becomes the original; otherwise the page had
//!    been deallocated.
//! 5. Drop replicas whose stamp differs from that of their page. The map and the replication map are programmed at different times, so that one may
//!    include a write that the other lacks.
//!
//! The stamp of a mapped page is assumed to be known; a drive reads it from the spare area of that page \[choice\].

use rustc_hash::FxHashMap;

use super::flash_map::{FlashMap, ReplicaEntry};
use super::{Persistence, Stamp};
use crate::ftl::Ftl;
use crate::ids::{BlockId, Lpn, Ppn};

/// The map rebuilt from flash after a power cut, and what was lost.
#[derive(Clone, Debug)]
pub struct Recovered {
    image: FlashMap,
    /// Number of journal entries read.
    pub entries: u64,
    /// Number of host pages whose newest version the scan of the blocks found, because it was programmed after the last journal page.
    pub pages_found: u64,
    /// Number of host pages with data whose newest version was not found.
    pub pages_lost: u64,
    /// Number of deallocated host pages that the recovered map maps to data again.
    pub deallocations_lost: u64,
}

impl Recovered {
    /// Returns the recovered location of `lpn`; `None` if `lpn` is unmapped in the recovered map.
    pub fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.image.get(lpn)
    }

    /// Returns the recovered replicas, each as its logical page and its location, in no particular order.
    pub fn replicas(&self) -> impl Iterator<Item = (Lpn, Ppn)> + '_ {
        self.image.replicas.iter().map(|(&lpn, copy)| (lpn, copy.ppn))
    }

    /// Returns the number of pages with a recovered replica.
    pub fn replica_count(&self) -> u64 {
        self.image.replicas.len() as u64
    }
}

impl Persistence {
    /// Rebuilds the map from flash. `ftl`, the state at the power cut, is used only to count lost pages and lost deallocations.
    pub fn recover(&self, ftl: &Ftl) -> Recovered {
        let mut image = self.image.clone();
        let mut entries = 0;
        for &(at, change) in self.journal.durable_entries() {
            image.replay(at, change);
            entries += 1;
        }
        let pages_found = self.apply_found(&mut image);
        let mut recovered = Recovered { image, entries, pages_found, pages_lost: 0, deallocations_lost: 0 };
        for lpn in recovered.image.lpns() {
            let has_data = ftl.lookup(lpn).is_some() && !self.deallocated.contains(&lpn);
            let is_newest = recovered.image.stamp(lpn) == self.stamps[lpn.index()];
            let is_undone = !has_data && !is_newest && recovered.lookup(lpn).is_some();
            recovered.pages_lost += u64::from(has_data && !is_newest);
            recovered.deallocations_lost += u64::from(is_undone);
        }
        recovered
    }

    /// Applies the programs and erases found by the scan to `image`. Returns the number of host pages whose location was found.
    fn apply_found(&self, image: &mut FlashMap) -> u64 {
        let erased_at: FxHashMap<BlockId, Stamp> = self.recent.erased_at();
        let block_of = |ppn: Ppn| BlockId(ppn.0 / self.pages_per_block);
        let is_there = |ppn: Ppn, since: Stamp| erased_at.get(&block_of(ppn)).is_none_or(|&at| at < since);
        // Stamps of the programs of the originals and of the replicas that the scan found. All other locations were programmed before the erases in
        // `erased_at`.
        let (mut since, mut copied_since) = (FxHashMap::default(), FxHashMap::default());
        for found in self.recent.programs().filter(|found| is_there(found.ppn, found.at)) {
            let known = image.stamp(found.lpn);
            let is_same = found.stamp == known;
            if found.stamp > known || (is_same && !found.is_replica && image.get(found.lpn).is_some()) {
                image.set(found.lpn, Some(found.ppn), found.stamp);
                since.insert(found.lpn, found.at);
            } else if is_same && found.is_replica && image.get(found.lpn) == Some(found.ppn) {
                // The map on flash already points to this former replica.
                since.insert(found.lpn, found.at);
            } else if is_same && found.is_replica {
                image.replicas.insert(found.lpn, ReplicaEntry { ppn: found.ppn, stamp: found.stamp });
                copied_since.insert(found.lpn, found.at);
            }
        }
        image.drop_stale_replicas();
        let pages_found = since.len() as u64;
        if erased_at.is_empty() {
            return pages_found;
        }
        let of = |since: &FxHashMap<Lpn, Stamp>, lpn: Lpn| since.get(&lpn).copied().unwrap_or(0);
        image.replicas.retain(|&lpn, copy| is_there(copy.ppn, of(&copied_since, lpn)));
        for lpn in image.lpns() {
            if image.get(lpn).is_some_and(|ppn| !is_there(ppn, of(&since, lpn))) {
                let copy = image.replicas.remove(&lpn);
                image.set(lpn, copy.map(|copy| copy.ppn), image.stamp(lpn));
            }
        }
        pages_found
    }
}
