//! The DRAM cache of the drive: which pages it holds, and when they are destaged.
//!
//! The cache is a pure state machine. The controller offers reads and writes of pages to the cache, destages the pages that the cache selects, and
//! reports when they are programmed. After each of these calls the controller fetches stalled writes that are now admitted ([`Cache::admit_next`])
//! and pages to program ([`Cache::next_destage`]). Time is passed in only to find recently written pages; the cost of an access is computed by
//! [`dram`]. Valid and dirty data is tracked per sector, so that no page is read from flash only to be overwritten.
//!
//! With `cache.sharing = "per-stream"` the cache is divided into *parts*, one for each stream, with separate limits and queues; otherwise one part
//! serves all streams.
//!
//! # Guarantees
//!
//! - *Reads return the newest data.* A sector whose newest data is not on flash stays cached until it is. A read takes cached sectors from DRAM and
//!   the rest from flash. A fill stores only sectors that were not written while it was in flight.
//! - *Writes of one page keep their order.* The cache has at most one program of a page in flight. Data written meanwhile stays dirty and goes with
//!   the next program. A write that bypasses the cache also updates a cached copy of its page.
//! - *Reads never stall.* A page filled by a read takes a free slot or replaces a clean page; otherwise it is not cached.
//! - *Writes stall in order.* A write without space stalls until a page is programmed, and later writes of its part queue behind it. The number of
//!   dirty pages never exceeds the dirty limit.
//!
//! # Eviction
//!
//! Clean and dirty pages are each kept in LRU order. To make space, the least recently used clean page is evicted. Under the policies `eviction` and
//! `first-write`, if a dirty page is less recently used than all clean ones, its destage begins as well. Once on flash, this page is the first to be
//! evicted, unless it was used meanwhile.

mod admission;
mod destage;
pub mod dram;
mod first_writes;
mod flush;
mod lru_lists;
#[cfg(test)]
mod model;
mod sectors;
mod slots;
mod unacknowledged;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::config::{self, CacheSharing, CacheStall, Caching, Config, Destage};
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, StreamId};
use crate::quantities;
use crate::units::Bytes;

pub use admission::{Admitted, PageWrite};
pub use destage::DueDestage;
pub use sectors::Sectors;
pub use slots::SlotId;

use admission::Admission;
use destage::DestageQueue;
use first_writes::FirstWrites;
use flush::Flush;
use lru_lists::LruLists;
use slots::{SequenceCounters, Slot, Slots, Table, part_of};
use unacknowledged::UnacknowledgedWrites;

quantities! {
    /// Pages looked up in the device cache.
    #[derive(Copy, Default, Eq)]
    Lookups as "CacheLookups" {
        /// Pages with all sectors of the read or write in the cache.
        hits: u64, in "pages";
        /// Pages with some of the sectors in the cache; a read takes the rest from flash.
        partial_hits: u64, in "pages";
        /// Pages with none of the sectors in the cache.
        misses: u64, in "pages";
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub reads: Lookups,
    /// Lookups of pages written by streams whose writes are cached.
    pub writes: Lookups,
    pub fills: u64,
    pub destages: u64,
    pub evictions: u64,
    /// Number of page writes that were not admitted at once: stalled, or queued behind stalled writes.
    pub waits: u64,
    pub dirty_max: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLookup {
    pub here: Option<(SlotId, Sectors)>,
    pub missing: Sectors,
    /// Whether the cache will keep the missing sectors. The caller calls [`Cache::filled`] once they are read.
    pub fills: bool,
}

#[derive(Clone, Debug)]
struct CachePart {
    capacity: u32,
    /// Maximum number of dirty pages in this part of the cache.
    dirty_limit: u32,
    high_mark: u32,
    low_mark: u32,
    used: u32,
    unsaved: u32,
    destages: u32,
    destages_max: u32,
    carried: u64,
    /// Whether the number of dirty pages exceeded the high mark and has not yet fallen to the low mark (policy `watermark`).
    draining: bool,
    pages: LruLists,
    waiting: VecDeque<PageWrite>,
}

#[derive(Clone, Debug)]
pub struct Cache {
    admission: Admission,
    /// Whether a write that bypasses the cache may overtake stalled writes of other pages, if its own page is not cached.
    lets_pass: bool,
    destaging: DestageQueue,
    /// Recently written pages; `None` unless the policy is `first-write`.
    first_writes: Option<FirstWrites>,
    slots: Slots,
    table: Table,
    parts: Vec<CachePart>,
    /// Queue (index of the cache part) and number of the stalled writes of each page. Maintained only if a write can overtake another one, which
    /// requires several parts or `lets_pass`.
    waiting: FxHashMap<Lpn, (u32, u32)>,
    stamps: SequenceCounters,
    flushes: Vec<Flush>,
    acknowledged: Option<UnacknowledgedWrites>,
    /// Pages removed from the cache since the last call of [`take_removed`](Self::take_removed); `None` if removals are not recorded.
    removed: Option<Vec<Lpn>>,
    counts: Counts,
    /// Whether the write throttle delays writes now: write-back writes then stall even if there is space.
    is_closed: bool,
}

impl Cache {
    /// Returns the cache; `None` if it is turned off.
    pub fn new(config: &Config, geometry: &Geometry) -> Option<Cache> {
        let caching: Vec<Caching> = config.streams().iter().map(|stream| stream.queue.caching).collect();
        Cache::with_caching(config, geometry, &caching)
    }

    /// Returns the maximum number of pages in destage at a time, over all parts. Writes that bypass the cache are not counted.
    pub fn destages_max(settings: &config::Cache, geometry: &Geometry) -> u32 {
        settings.destages_max.unwrap_or(2 * geometry.planes() * geometry.units_per_program)
    }

    fn with_caching(config: &Config, geometry: &Geometry, caching: &[Caching]) -> Option<Cache> {
        let settings = &config.cache;
        let pages = u32::try_from(settings.capacity.as_u64() / geometry.page_size.as_u64()).unwrap_or(u32::MAX);
        if pages == 0 {
            return None;
        }
        let parts = match settings.sharing {
            CacheSharing::Shared => 1,
            CacheSharing::PerStream => caching.len() as u32,
        };
        let capacity = (pages / parts).max(1);
        let share = |share: f64| (f64::from(capacity) * share) as u32;
        let destages_max = Cache::destages_max(settings, geometry);
        let part = |_| CachePart {
            capacity,
            dirty_limit: share(settings.dirty_limit).max(1),
            high_mark: share(settings.high_mark),
            low_mark: share(settings.low_mark),
            used: 0,
            unsaved: 0,
            destages: 0,
            destages_max: (destages_max / parts).max(1),
            carried: 0,
            draining: false,
            pages: LruLists::default(),
            waiting: VecDeque::new(),
        };
        let is_by_first_write = settings.destage == Destage::FirstWrite;
        Some(Cache {
            admission: Admission::new(caching, settings.writes),
            lets_pass: config.cache.stall == CacheStall::CachedWrites,
            destaging: DestageQueue::new(settings, geometry),
            first_writes: is_by_first_write.then(|| FirstWrites::new(settings.destage_window)),
            slots: Slots::default(),
            table: Table::default(),
            parts: (0..parts).map(part).collect(),
            waiting: FxHashMap::default(),
            stamps: SequenceCounters::default(),
            flushes: Vec::new(),
            acknowledged: config.power.cut.map(|_| UnacknowledgedWrites::default()),
            removed: None,
            counts: Counts::default(),
            is_closed: false,
        })
    }

    pub fn keep_removed(&mut self) {
        self.removed = Some(Vec::new());
    }

    /// Stops recording removed pages.
    pub fn drop_removed(&mut self) {
        self.removed = None;
    }

    /// Returns the pages removed from the cache since the last call; empty if removals are not recorded.
    pub fn take_removed(&mut self) -> Vec<Lpn> {
        self.removed.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    pub fn capacity(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.capacity)).sum()
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    pub fn dirty_limit(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.dirty_limit)).sum()
    }

    pub fn dirty_pages(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.unsaved)).sum()
    }

    /// Looks up the sectors `wanted` of `lpn` for a read of `stream`.
    ///
    /// With `may_fill`, the missing sectors are cached once they are read, if reads of the stream are cached and there is space. The caller must not
    /// set `may_fill` while a write of the page that bypasses the cache is in flight: the read could sense the old data, which would then be cached.
    /// For the same reason, the cache does not fill a page with a write-through in flight, because the page could be deallocated meanwhile.
    pub fn read(&mut self, stream: StreamId, lpn: Lpn, wanted: Sectors, may_fill: bool) -> ReadLookup {
        let takes = self.admission.keeps_reads(stream);
        let resident = self.table.get(&lpn).copied();
        let here = resident.map_or(Sectors::NONE, |slot| self.slots[slot].valid.and(wanted));
        let missing = wanted.without(here);
        let lookups = &mut self.counts.reads;
        match (here.is_empty(), missing.is_empty()) {
            (_, true) => lookups.hits += 1,
            (false, false) => lookups.partial_hits += 1,
            (true, false) => lookups.misses += 1,
        }
        if let Some(slot) = resident.filter(|_| !here.is_empty()) {
            self.touch(slot);
        }
        let mut fills = false;
        if takes && may_fill && !missing.is_empty() {
            let slot = resident.or_else(|| self.allocate(part_of(stream, self.parts.len()), lpn));
            if let Some(slot) = slot.filter(|&slot| !self.slots[slot].is_filled && self.slots[slot].passing == 0) {
                self.slots[slot].is_filled = true;
                self.slots[slot].filling = missing;
                self.relist(slot);
                fills = true;
            }
        }
        ReadLookup { here: resident.filter(|_| !here.is_empty()).map(|slot| (slot, here)), missing, fills }
    }

    /// Stores the data of a fill (read data to be cached). Returns the slot and the sectors stored; `None` if the page has left the cache, or all of
    /// these sectors were written or deallocated meanwhile.
    pub fn filled(&mut self, lpn: Lpn) -> Option<(SlotId, Sectors)> {
        let slot = *self.table.get(&lpn)?;
        let page = &mut self.slots[slot];
        let taken = page.filling;
        page.valid = page.valid.or(taken);
        page.filling = Sectors::NONE;
        page.is_filled = false;
        if taken.is_empty() {
            self.settle(slot);
            return None;
        }
        self.counts.fills += 1;
        self.touch(slot);
        Some((slot, taken))
    }

    pub fn not_filled(&mut self, lpn: Lpn) {
        let Some(&slot) = self.table.get(&lpn) else { return };
        self.slots[slot].filling = Sectors::NONE;
        self.slots[slot].is_filled = false;
        self.settle(slot);
    }

    pub fn deallocate(&mut self, lpn: Lpn) {
        let Some(&slot) = self.table.get(&lpn) else { return };
        let generation = self.stamps.next_generation();
        self.change(slot, |page| {
            page.valid = Sectors::NONE;
            page.dirty = Sectors::NONE;
            page.filling = Sectors::NONE;
            page.acknowledged = Sectors::NONE;
            page.destage.acknowledged = Sectors::NONE;
            page.destage.is_forgotten = !page.destage.sectors.is_empty();
            page.generation = generation;
        });
        self.flushes.iter_mut().for_each(|flush| flush.forget(lpn));
        if !self.drop_due(lpn, slot) {
            self.settle(slot);
        }
    }

    pub fn address(slot: SlotId, sector: u32, page_size: Bytes, sector_size: Bytes) -> u64 {
        u64::from(slot.0) * page_size.as_u64() + u64::from(sector) * sector_size.as_u64()
    }

    /// Allocates a slot for `lpn` in a part of the cache: a free slot, or the slot of the least recently used clean page, which is evicted.
    /// Returns `None` if there is neither.
    fn allocate(&mut self, part: u32, lpn: Lpn) -> Option<SlotId> {
        if self.parts[part as usize].used >= self.parts[part as usize].capacity {
            self.destage_oldest(part);
            let oldest = self.parts[part as usize].pages.oldest_clean()?;
            self.counts.evictions += 1;
            self.remove(oldest);
            self.prefetch(self.parts[part as usize].pages.oldest_clean());
        }
        self.parts[part as usize].used += 1;
        let slot = self.slots.insert(Slot::new(lpn, part, self.stamps.next_generation()));
        self.parts[part as usize].pages.add(&mut self.slots, slot);
        self.table.insert(lpn, slot);
        self.touch(slot);
        Some(slot)
    }

    fn prefetch(&self, slot: Option<SlotId>) {
        if let Some(slot) = slot {
            self.slots.prefetch(slot);
        }
    }

    fn remove(&mut self, slot: SlotId) {
        let Slot { lpn, part, .. } = self.slots[slot];
        let part = &mut self.parts[part as usize];
        part.pages.unlist(&mut self.slots, slot);
        part.pages.forget(&mut self.slots, slot);
        part.used -= 1;
        self.table.remove(&lpn);
        self.slots.remove(slot);
        if let Some(removed) = &mut self.removed {
            removed.push(lpn);
        }
    }

    fn touch(&mut self, slot: SlotId) {
        let page = &mut self.slots[slot];
        page.used = self.stamps.next_use();
        let belongs = page.belongs();
        let pages = &mut self.parts[page.part as usize].pages;
        pages.unlist(&mut self.slots, slot);
        pages.renew(&mut self.slots, slot);
        pages.list(&mut self.slots, slot, belongs);
    }

    /// Applies `change` to a page and updates the number of dirty pages in its part of the cache.
    fn change(&mut self, slot: SlotId, change: impl FnOnce(&mut Slot)) {
        let page = &mut self.slots[slot];
        let before = page.unsaved().is_empty();
        change(page);
        let after = page.unsaved().is_empty();
        let part = &mut self.parts[page.part as usize];
        part.unsaved = part.unsaved + u32::from(before) - u32::from(after);
        if before && !after {
            let unsaved = self.dirty_pages();
            self.counts.dirty_max = self.counts.dirty_max.max(unsaved);
        }
    }

    /// Moves a page to the list of its new state (clean, dirty or neither). Removes the page if it has no valid data and nothing is in flight.
    fn settle(&mut self, slot: SlotId) {
        let page = &self.slots[slot];
        if page.valid.is_empty() && !page.is_held() {
            self.remove(slot);
        } else {
            self.relist(slot);
        }
    }

    fn relist(&mut self, slot: SlotId) {
        let page = &self.slots[slot];
        let belongs = page.belongs();
        if page.listed != belongs {
            let pages = &mut self.parts[page.part as usize].pages;
            pages.unlist(&mut self.slots, slot);
            pages.list(&mut self.slots, slot, belongs);
        }
    }
}
