//! Flushes: destages of all pages that are dirty when the flush arrives.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::Cache;
use super::sectors::Sectors;
use super::slots::SlotId;
use crate::ids::{Lpn, RequestId};

#[derive(Clone, Debug)]
pub(super) struct Flush {
    /// Request that issued the flush; `None` for a flush of the drive itself (at the end of the run or after a power cut).
    waiter: Option<RequestId>,
    /// Pages that the flush waits for, each with the generation (version number of its data) that must be programmed.
    generations: FxHashMap<Lpn, u64>,
}

impl Flush {
    pub fn forget(&mut self, lpn: Lpn) {
        self.generations.remove(&lpn);
    }
}

impl Cache {
    /// Begins to destage all dirty pages among the logical pages `pages`. [`Cache::take_flushed`] returns `waiter` when all of them are on flash.
    pub fn flush(&mut self, waiter: Option<RequestId>, pages: Range<u32>) {
        let mut unsaved: Vec<(Lpn, SlotId)> = self
            .table
            .iter()
            .map(|(&lpn, &slot)| (lpn, slot))
            .filter(|&(lpn, slot)| pages.contains(&lpn.0) && !self.slots[slot].unsaved().is_empty())
            .collect();
        unsaved.sort_unstable();
        let mut generations = FxHashMap::default();
        for (lpn, slot) in unsaved {
            let page = &self.slots[slot];
            if page.dirty.is_empty() {
                generations.insert(lpn, page.destage.generation);
            } else {
                generations.insert(lpn, page.generation);
                if page.destage.sectors.is_empty() {
                    self.begin_destage(slot, Sectors::NONE);
                }
            }
        }
        self.flushes.push(Flush { waiter, generations });
    }

    /// Returns whether a flush is in progress.
    pub fn is_flushing(&self) -> bool {
        !self.flushes.is_empty()
    }

    /// Removes a finished flush. Returns its request, `Some(None)` for a flush of the drive itself, and `None` if no flush is finished.
    pub fn take_flushed(&mut self) -> Option<Option<RequestId>> {
        let at = self.flushes.iter().position(|flush| flush.generations.is_empty())?;
        Some(self.flushes.remove(at).waiter)
    }

    /// Records that the data with number `generation` is on flash. Returns whether the page needs another destage, because a flush also waits for
    /// newer data of it that is still dirty.
    pub(super) fn flush_saved(&mut self, lpn: Lpn, slot: SlotId, generation: u64) -> bool {
        let dirty = Some(self.slots[slot].generation).filter(|_| !self.slots[slot].dirty.is_empty());
        let mut goes_on = false;
        for flush in &mut self.flushes {
            match flush.generations.get(&lpn) {
                Some(&wanted) if wanted <= generation => flush.forget(lpn),
                Some(&wanted) => goes_on |= Some(wanted) == dirty,
                None => {}
            }
        }
        goes_on
    }
}
