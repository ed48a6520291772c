//! Destages: the writes of dirty pages to flash.

use std::collections::VecDeque;

use super::slots::{DestageUnderWay, Slot, SlotId};
use super::{Cache, Sectors};
use crate::config::{self, Destage};
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, StreamId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueDestage {
    pub lpn: Lpn,
    pub stream: StreamId,
    pub slot: SlotId,
    /// Sectors that the program writes; all other sectors of the page stay as they are on flash.
    pub sectors: Sectors,
    /// Whether `sectors` are exactly the sectors of the newest write, so that their data need not be read from DRAM.
    pub is_newest_write: bool,
}

#[derive(Clone, Debug)]
pub(super) struct DestageQueue {
    policy: Destage,
    /// Whether a page stays cached after its destage.
    keeps: bool,
    /// Limit of sectors in destage of a cache part (the whole cache, or the share of one stream): writes stall while it is reached. `u64::MAX`
    /// without a limit.
    limit: u64,
    whole: Sectors,
    /// Queue of pages to destage, in order, until the controller fetches them with [`Cache::next_destage`].
    due: VecDeque<SlotId>,
}

impl DestageQueue {
    pub fn new(settings: &config::Cache, geometry: &Geometry) -> DestageQueue {
        let sector = geometry.sector_size.as_u64();
        DestageQueue {
            policy: settings.destage,
            keeps: settings.keep_destaged,
            limit: settings.destage_limit.map_or(u64::MAX, |limit| limit.as_u64().div_ceil(sector)),
            whole: Sectors::range(0, (geometry.page_size.as_u64() / sector) as u32),
            due: VecDeque::new(),
        }
    }

    /// Returns whether `carried`, the number of sectors in destage of a cache part (the whole cache, or the share of one stream), is so high that
    /// writes stall.
    pub fn is_full(&self, carried: u64) -> bool {
        carried >= self.limit
    }

    /// Returns whether the high and low marks decide when destages begin (policy `watermark`).
    fn is_by_marks(&self) -> bool {
        self.policy == Destage::Watermark
    }

    /// Returns the sectors to program: `unsaved`, or the whole page if all of it is in DRAM. A program of the whole page avoids a read-modify-write.
    fn carried(&self, page: &Slot, unsaved: Sectors) -> Sectors {
        if page.valid == self.whole { self.whole } else { unsaved }
    }
}

impl Cache {
    /// Returns the next page to program; `None` if no destage is due. Call this until it returns `None` after every offered write and every ended
    /// operation. Calls may be delayed, to gather stripes (`cache.destage-stripe`).
    pub fn next_destage(&mut self) -> Option<DueDestage> {
        let slot = self.destaging.due.pop_front()?;
        let page = &mut self.slots[slot];
        page.destage.is_due = false;
        let DestageUnderWay { carried, is_newest_write: is_at_hand, .. } = page.destage;
        Some(DueDestage { lpn: page.lpn, stream: page.writer, slot, sectors: carried, is_newest_write: is_at_hand })
    }

    /// Cancels the destage of a deallocated page, unless [`next_destage`](Self::next_destage) has already returned it. Returns whether the destage
    /// was cancelled.
    pub(super) fn drop_due(&mut self, lpn: Lpn, slot: SlotId) -> bool {
        let Some(at) = self.destaging.due.iter().position(|&due| due == slot) else { return false };
        self.destaging.due.remove(at);
        self.end_destage(lpn, slot);
        true
    }

    /// Returns the number of destages that [`Cache::next_destage`] has not returned yet.
    pub fn due(&self) -> u64 {
        self.destaging.due.len() as u64
    }

    /// Returns whether the page was deallocated while its destage was in flight.
    pub fn is_forgotten(&self, lpn: Lpn) -> bool {
        self.table.get(&lpn).is_some_and(|&slot| self.slots[slot].destage.is_forgotten)
    }

    /// Records that a page in destage has been programmed. Once the controller is notified, the caller calls [`Cache::saved`].
    pub fn programmed(&mut self, lpn: Lpn) {
        if let Some(&slot) = self.table.get(&lpn) {
            self.slots[slot].destage.is_programmed = true;
        }
    }

    pub fn saved(&mut self, lpn: Lpn) {
        if let Some(&slot) = self.table.get(&lpn) {
            self.counts.destages += 1;
            self.end_destage(lpn, slot);
        }
    }

    fn end_destage(&mut self, lpn: Lpn, slot: SlotId) {
        let page = &self.slots[slot];
        let (part, DestageUnderWay { generation, carried, .. }) = (page.part, page.destage);
        self.parts[part as usize].destages -= 1;
        self.parts[part as usize].carried -= u64::from(carried.count());
        let leaves = !self.destaging.keeps;
        self.change(slot, |page| {
            page.destage = DestageUnderWay::none(generation);
            if leaves && page.dirty.is_empty() && page.passing == 0 && !page.is_filled {
                page.valid = Sectors::NONE;
            }
        });
        let goes_on = self.flush_saved(lpn, slot, generation);
        self.settle(slot);
        if goes_on {
            self.begin_destage(slot, Sectors::NONE);
        }
    }

    /// Begins the destage of the dirty sectors of a page. If a write causes the destage, `at_hand` are the sectors of this write; otherwise empty.
    pub(super) fn begin_destage(&mut self, slot: SlotId, at_hand: Sectors) {
        let generation = self.stamps.next_generation();
        let page = &mut self.slots[slot];
        let carried = self.destaging.carried(page, page.dirty);
        page.destage = DestageUnderWay {
            sectors: page.dirty,
            carried,
            acknowledged: page.acknowledged,
            is_due: true,
            // Read the data from DRAM if an older write-through of the page is in flight: this delays the destage until the older data is queued.
            is_newest_write: carried == at_hand && page.passing == 0,
            ..DestageUnderWay::none(page.generation)
        };
        (page.dirty, page.acknowledged) = (Sectors::NONE, Sectors::NONE);
        page.generation = generation;
        let part = page.part;
        self.parts[part as usize].destages += 1;
        self.parts[part as usize].carried += u64::from(carried.count());
        self.relist(slot);
        self.prefetch(self.parts[part as usize].pages.oldest_dirty());
        self.destaging.due.push_back(slot);
    }

    /// Updates a destage that the controller has not fetched yet, after another write of the page: it now carries the data of both writes, and reads
    /// it from DRAM.
    pub(super) fn join_destage(&mut self, slot: SlotId) {
        let page = &mut self.slots[slot];
        let before = page.destage.carried;
        let carried = self.destaging.carried(page, page.destage.sectors);
        (page.destage.carried, page.destage.is_newest_write) = (carried, false);
        let part = &mut self.parts[page.part as usize];
        part.carried = part.carried + u64::from(carried.count()) - u64::from(before.count());
    }

    /// Begins the destage of the least recently used dirty page if all clean pages were used more recently. Does nothing while writes are stalled,
    /// while `destages_max` destages are in flight, or with the policy `watermark`.
    pub(super) fn destage_oldest(&mut self, part: u32) {
        let room = &self.parts[part as usize];
        // While writes are stalled, `destage_to_marks` begins the destages.
        if self.destaging.is_by_marks() || !room.waiting.is_empty() {
            return;
        }
        let Some(dirty) = room.pages.oldest_dirty() else { return };
        let is_oldest = room.pages.oldest_clean().is_none_or(|clean| self.slots[dirty].used < self.slots[clean].used);
        if is_oldest && room.destages < room.destages_max {
            self.begin_destage(dirty, Sectors::NONE);
        }
    }

    /// Begins a destage to make space for a stalled write, if no destage of part `part` of the cache is in flight.
    pub(super) fn destage_for_space(&mut self, part: u32) {
        let room = &self.parts[part as usize];
        if room.destages == 0
            && let Some(dirty) = room.pages.oldest_dirty()
        {
            self.begin_destage(dirty, Sectors::NONE);
        }
    }

    /// Begins destages, at most `destages_max` at a time. With the policy `watermark`, destages begin when the dirty pages exceed the high mark,
    /// until they fall to the low mark. With any policy, one destage is kept in flight for each stalled write, unless the destage limit is reached.
    pub(super) fn destage_to_marks(&mut self, part: u32) {
        let part = part as usize;
        loop {
            let room = &mut self.parts[part];
            if self.destaging.is_by_marks() {
                room.draining |= room.unsaved > room.high_mark;
                // Pages in destage count as clean here, because they will be clean without further destages.
                room.draining &= room.unsaved - room.destages > room.low_mark;
            }
            // At the destage limit, writes are stalled until programs end, so more destages would not help.
            let is_short = (room.destages as usize) < room.waiting.len() && !self.destaging.is_full(room.carried);
            let wanted = room.draining || is_short;
            let Some(oldest) = room.pages.oldest_dirty().filter(|_| wanted && room.destages < room.destages_max) else {
                return;
            };
            self.begin_destage(oldest, Sectors::NONE);
        }
    }
}
