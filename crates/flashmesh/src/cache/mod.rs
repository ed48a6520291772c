//! The cache in the DRAM of the drive: which pages it holds, and when they go to flash.
//!
//! A pure state machine: the simulation offers it reads and writes of pages, asks which pages are to be written to
//! flash, and tells it when flash has them. After each of these it asks for writes that have waited
//! ([`Cache::admit_next`]) and for pages that are to be programmed ([`Cache::next_destage`]). Time is passed in, and
//! only to know which pages were written of late; what an access costs is the business of [`dram`]. A page is known by
//! the sectors of it that are here, so that nothing is read from flash to be overwritten.
//!
//! # What it promises
//!
//! - *The newest data is found.* A sector whose newest data is not on flash is here, until flash has it. A read takes
//!   what is here, and the rest from flash. What a read brings from flash is taken only where nothing was written
//!   meanwhile.
//! - *Writes of one page keep their order.* One program of a page is under way at a time for the cache; what is written
//!   meanwhile is dirty, and goes to flash with the next. A write that goes past the cache updates a page that is here
//!   as well.
//! - *Reads never wait for room.* A page that a read brings takes the place of a clean one, or is not kept.
//! - *Writes wait in order.* One that finds no room waits until a page is on flash, and those of its part that come
//!   after it wait behind it. No more pages are dirty than the limit says.
//!
//! # Who leaves first
//!
//! Clean and dirty pages are each kept in the order of their last use. Room is made by forgetting the clean page that
//! was not used for longest. Under the policies `eviction` and `first-write` a dirty page that was not used for longer
//! still is the one to leave: its destage begins, and once it is on flash it is the first to be forgotten, unless it
//! was used meanwhile.

mod acknowledged;
mod admission;
mod destage;
pub mod dram;
mod first_writes;
mod flush;
#[cfg(test)]
mod model;
mod recency;
mod sectors;
mod slots;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::config::{self, CacheSharing, Caching, Config, Destage};
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, StreamId};
use crate::quantities;
use crate::units::Bytes;

pub use admission::{Admitted, PageWrite};
pub use destage::Destaged;
pub use sectors::Sectors;
pub use slots::SlotId;

use acknowledged::Acknowledged;
use admission::Admission;
use destage::Destaging;
use first_writes::FirstWrites;
use flush::Flush;
use recency::Recency;
use slots::{Slot, Slots, Stamps, Table, part_of};

quantities! {
    /// Pages looked up in the device cache.
    #[derive(Copy, Default, Eq)]
    Lookups as "CacheLookups" {
        /// Pages of which all sectors that were read or written were in the cache.
        hits: u64, in "pages";
        /// Pages of which some of them were; the rest of a read came from flash.
        partial_hits: u64, in "pages";
        /// Pages of which none of them were.
        misses: u64, in "pages";
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub reads: Lookups,
    /// Pages written by streams whose writes are cached.
    pub writes: Lookups,
    pub fills: u64,
    pub destages: u64,
    pub evictions: u64,
    /// Writes that waited for room, or behind others that did.
    pub waits: u64,
    pub dirty_max: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub here: Option<(SlotId, Sectors)>,
    pub missing: Sectors,
    /// Whether the cache keeps it; the caller then calls [`Cache::filled`].
    pub fills: bool,
}

#[derive(Clone, Debug)]
struct CachePart {
    capacity: u32,
    /// Most dirty pages, high mark and low mark.
    dirty_limit: u32,
    high_mark: u32,
    low_mark: u32,
    used: u32,
    unsaved: u32,
    destages: u32,
    destages_max: u32,
    carried: u64,
    /// Whether it rose above the high mark and has not fallen to the low mark since.
    draining: bool,
    pages: Recency,
    waiting: VecDeque<PageWrite>,
}

#[derive(Clone, Debug)]
pub struct Cache {
    admission: Admission,
    destaging: Destaging,
    /// Where the first write of a page goes to flash.
    first_writes: Option<FirstWrites>,
    slots: Slots,
    table: Table,
    parts: Vec<CachePart>,
    /// Pages that wait to be written, with their part where there are several.
    waiting: FxHashMap<Lpn, (u32, u32)>,
    stamps: Stamps,
    flushes: Vec<Flush>,
    acknowledged: Option<Acknowledged>,
    /// Pages removed since the oracles last asked; `None` without oracles.
    removed: Option<Vec<Lpn>>,
    counts: Counts,
    /// Whether writes wait although there is room.
    is_closed: bool,
}

impl Cache {
    /// `None` when the cache is turned off.
    pub fn new(config: &Config, geometry: &Geometry) -> Option<Cache> {
        let caching: Vec<Caching> = config.streams().iter().map(|stream| stream.queue.caching).collect();
        Cache::taking(config, geometry, &caching)
    }

    /// How many pages may be on their way to flash, those written at once aside.
    pub fn destages_max(settings: &config::Cache, geometry: &Geometry) -> u32 {
        settings.destages_max.unwrap_or(2 * geometry.planes() * geometry.units_per_program)
    }

    fn taking(config: &Config, geometry: &Geometry, caching: &[Caching]) -> Option<Cache> {
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
            pages: Recency::default(),
            waiting: VecDeque::new(),
        };
        let is_by_first_write = settings.destage == Destage::FirstWrite;
        Some(Cache {
            admission: Admission::new(caching, settings.writes),
            destaging: Destaging::new(settings, geometry),
            first_writes: is_by_first_write.then(|| FirstWrites::new(settings.destage_window)),
            slots: Slots::default(),
            table: Table::default(),
            parts: (0..parts).map(part).collect(),
            waiting: FxHashMap::default(),
            stamps: Stamps::default(),
            flushes: Vec::new(),
            acknowledged: config.power.cut.map(|_| Acknowledged::default()),
            removed: None,
            counts: Counts::default(),
            is_closed: false,
        })
    }

    pub fn keep_removed(&mut self) {
        self.removed = Some(Vec::new());
    }

    /// Ends that.
    pub fn drop_removed(&mut self) {
        self.removed = None;
    }

    /// The pages forgotten since it was asked last.
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

    /// A stream reads `wanted` of `lpn`. With `may_fill` it keeps what comes from flash, if it caches the reads of the stream and
    /// has room; not while a write is on its way to flash that it does not know of, nor beside a write that passes through: after
    /// a deallocation flash would hold other data than was read.
    pub fn read(&mut self, stream: StreamId, lpn: Lpn, wanted: Sectors, may_fill: bool) -> Found {
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
        Found { here: resident.filter(|_| !here.is_empty()).map(|slot| (slot, here)), missing, fills }
    }

    /// The data of a filling read has come from flash; returns what of it is kept, and where.
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

    /// A slot for `lpn` in a part: a free one, or that of the least recently used clean page.
    fn allocate(&mut self, part: u32, lpn: Lpn) -> Option<SlotId> {
        if self.parts[part as usize].used >= self.parts[part as usize].capacity {
            self.press(part);
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

    #[inline]
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

    /// Changes a page and the counts of its part.
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

    /// Lists a changed page anew, or removes it when it is of no use.
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
