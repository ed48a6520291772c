//! The map after a cut of the power, from what is on flash.
//!
//! 1. The pages of the map, as the last program of each left them.
//! 2. The journal: entries that are newer than the page of the map which they are about.
//! 3. Pages that were programmed since. One with a newer stamp than the page has is its newest version; one with the same stamp is a
//!    move, or a copy. One with an older stamp was superseded while it was on its way.
//! 4. What the map has in a block that was erased since holds nothing any more: its copy takes its place, where there is one. Without one
//!    it had been deallocated.
//! 5. A copy counts while it has the stamp of its page. The pages of the two maps are programmed at different times, so that one may know of
//!    a write that the other has not heard of.
//!
//! The stamp of the page that the map names is taken to be known; a drive reads it beside the data of that page \[choice\].

use rustc_hash::FxHashMap;

use super::image::{Copy, Image};
use super::{Persistence, Stamp};
use crate::ftl::Ftl;
use crate::ids::{BlockId, Lpn, Ppn};

/// The map as it was found on flash.
#[derive(Clone, Debug)]
pub struct Recovered {
    image: Image,
    /// Entries of the journal that were read.
    pub entries: u64,
    /// Pages of the host whose place was found by the scan.
    pub pages_found: u64,
    /// Pages of the host that are on flash, and whose newest version was not found.
    pub pages_lost: u64,
    /// Pages that the host had deallocated, and that hold data again.
    pub deallocations_lost: u64,
}

impl Recovered {
    /// Where `lpn` was found.
    pub fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.image.get(lpn)
    }

    /// The copies that were found, in no order.
    pub fn copies(&self) -> impl Iterator<Item = (Lpn, Ppn)> + '_ {
        self.image.copies.iter().map(|(&lpn, copy)| (lpn, copy.ppn))
    }

    /// Pages with a copy.
    pub fn copy_count(&self) -> u64 {
        self.image.copies.len() as u64
    }
}

impl Persistence {
    /// Rebuilds the map from flash; `ftl` holds the state at the power cut, for comparison only.
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
            let has_data = ftl.lookup(lpn).is_some() && !self.emptied.contains(&lpn);
            let is_newest = recovered.image.stamp(lpn) == self.stamps[lpn.index()];
            let is_undone = !has_data && !is_newest && recovered.lookup(lpn).is_some();
            recovered.pages_lost += u64::from(has_data && !is_newest);
            recovered.deallocations_lost += u64::from(is_undone);
        }
        recovered
    }

    /// Applies the result of the scan; returns the number of pages found.
    fn apply_found(&self, image: &mut Image) -> u64 {
        let erased_at: FxHashMap<BlockId, Stamp> = self.recent.erased_at();
        let block_of = |ppn: Ppn| BlockId(ppn.0 / self.pages_per_block);
        let is_there = |ppn: Ppn, since: Stamp| erased_at.get(&block_of(ppn)).is_none_or(|&at| at < since);
        // When the places that the scan found were programmed; all others were before any of these erases.
        let (mut since, mut copied_since) = (FxHashMap::default(), FxHashMap::default());
        for found in self.recent.programs().filter(|found| is_there(found.ppn, found.at)) {
            let known = image.stamp(found.lpn);
            let is_same = found.stamp == known;
            if found.stamp > known || (is_same && !found.is_copy && image.get(found.lpn).is_some()) {
                image.set(found.lpn, Some(found.ppn), found.stamp);
                since.insert(found.lpn, found.at);
            } else if is_same && found.is_copy && image.get(found.lpn) == Some(found.ppn) {
                // The map knows already that the copy is the original.
                since.insert(found.lpn, found.at);
            } else if is_same && found.is_copy {
                image.copies.insert(found.lpn, Copy { ppn: found.ppn, stamp: found.stamp });
                copied_since.insert(found.lpn, found.at);
            }
        }
        image.drop_stale_copies();
        let pages_found = since.len() as u64;
        if erased_at.is_empty() {
            return pages_found;
        }
        let of = |since: &FxHashMap<Lpn, Stamp>, lpn: Lpn| since.get(&lpn).copied().unwrap_or(0);
        image.copies.retain(|&lpn, copy| is_there(copy.ppn, of(&copied_since, lpn)));
        for lpn in image.lpns() {
            if image.get(lpn).is_some_and(|ppn| !is_there(ppn, of(&since, lpn))) {
                let copy = image.copies.remove(&lpn);
                image.set(lpn, copy.map(|copy| copy.ppn), image.stamp(lpn));
            }
        }
        pages_found
    }
}
