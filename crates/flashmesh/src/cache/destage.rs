//! Destages: the writes of dirty pages to flash.

use std::collections::VecDeque;

use super::slots::{DestageUnderWay, Slot, SlotId};
use super::{Cache, Sectors};
use crate::config::{self, Destage};
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, StreamId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destaged {
    pub lpn: Lpn,
    pub stream: StreamId,
    pub slot: SlotId,
    /// Sectors that the program writes; the rest of the page stays as it is on flash.
    pub sectors: Sectors,
    /// Whether `sectors` are exactly the data of the newest write, which need not be read from DRAM.
    pub is_at_hand: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Destaging {
    policy: Destage,
    /// Whether a page stays cached after its destage.
    keeps: bool,
    /// Sectors in destage, per part, at which writes stall.
    limit: u64,
    whole: Sectors,
    /// Pages whose destage has begun, in order, until [`Cache::next_destage`] returns them.
    due: VecDeque<SlotId>,
}

impl Destaging {
    pub fn new(settings: &config::Cache, geometry: &Geometry) -> Destaging {
        let sector = geometry.sector_size.as_u64();
        Destaging {
            policy: settings.destage,
            keeps: settings.keep_destaged,
            limit: settings.destage_limit.map_or(u64::MAX, |limit| limit.as_u64().div_ceil(sector)),
            whole: Sectors::range(0, (geometry.page_size.as_u64() / sector) as u32),
            due: VecDeque::new(),
        }
    }

    /// Returns whether writes stall when `carried` sectors of the part are in destage.
    pub fn is_full(&self, carried: u64) -> bool {
        carried >= self.limit
    }

    /// Returns whether high and low marks start destages, instead of recency of use.
    fn is_by_marks(&self) -> bool {
        self.policy == Destage::Watermark
    }

    /// Returns the sectors to program: the whole page if all of it is in DRAM, so that flash is not read first; otherwise only `unsaved`.
    fn carried(&self, page: &Slot, unsaved: Sectors) -> Sectors {
        if page.valid == self.whole { self.whole } else { unsaved }
    }
}

impl Cache {
    /// Returns the next page to program. Call until `None` after every call that offers a write or reports progress; with stripes the call may be
    /// delayed.
    pub fn next_destage(&mut self) -> Option<Destaged> {
        let slot = self.destaging.due.pop_front()?;
        let page = &mut self.slots[slot];
        page.destage.is_due = false;
        let DestageUnderWay { carried, is_at_hand, .. } = page.destage;
        Some(Destaged { lpn: page.lpn, stream: page.writer, slot, sectors: carried, is_at_hand })
    }

    /// Cancels the destage of a deallocated page if [`next_destage`](Self::next_destage) has not returned it yet. Returns whether it was cancelled.
    pub(super) fn drop_due(&mut self, lpn: Lpn, slot: SlotId) -> bool {
        let Some(at) = self.destaging.due.iter().position(|&due| due == slot) else { return false };
        self.destaging.due.remove(at);
        self.end_destage(lpn, slot);
        true
    }

    /// Returns the number of pages that [`Cache::next_destage`] will return.
    pub fn due(&self) -> u64 {
        self.destaging.due.len() as u64
    }

    /// Returns whether the page was deallocated while its destage was in flight.
    pub fn is_forgotten(&self, lpn: Lpn) -> bool {
        self.table.get(&lpn).is_some_and(|&slot| self.slots[slot].destage.is_forgotten)
    }

    /// Records that the page is on flash. [`Cache::saved`] follows when the controller is notified.
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

    /// Begins the destage of the dirty sectors of a page. `at_hand` are the sectors of the write just accepted, none if another event begins the
    /// destage.
    pub(super) fn begin_destage(&mut self, slot: SlotId, at_hand: Sectors) {
        let generation = self.stamps.next_generation();
        let page = &mut self.slots[slot];
        let carried = self.destaging.carried(page, page.dirty);
        page.destage = DestageUnderWay {
            sectors: page.dirty,
            carried,
            acknowledged: page.acknowledged,
            is_due: true,
            // A write-through of the page in flight is programmed first.
            is_at_hand: carried == at_hand && page.passing == 0,
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

    /// Extends the pending destage of a page by a new write; its data leaves DRAM only later. The write belongs to the generation of the destage.
    pub(super) fn join_destage(&mut self, slot: SlotId) {
        let page = &mut self.slots[slot];
        let before = page.destage.carried;
        let carried = self.destaging.carried(page, page.destage.sectors);
        (page.destage.carried, page.destage.is_at_hand) = (carried, false);
        let part = &mut self.parts[page.part as usize];
        part.carried = part.carried + u64::from(carried.count()) - u64::from(before.count());
    }

    /// Begins the destage of the least recently used dirty page if every clean page was used after it.
    pub(super) fn press(&mut self, part: u32) {
        let room = &self.parts[part as usize];
        // For stalled writes, `balance` has begun destages already.
        if self.destaging.is_by_marks() || !room.waiting.is_empty() {
            return;
        }
        let Some(dirty) = room.pages.oldest_dirty() else { return };
        let is_oldest = room.pages.oldest_clean().is_none_or(|clean| self.slots[dirty].used < self.slots[clean].used);
        if is_oldest && room.destages < room.destages_max {
            self.begin_destage(dirty, Sectors::NONE);
        }
    }

    /// Begins a destage for a stalled write if the part has none in flight.
    pub(super) fn relieve(&mut self, part: u32) {
        let room = &self.parts[part as usize];
        if room.destages == 0
            && let Some(dirty) = room.pages.oldest_dirty()
        {
            self.begin_destage(dirty, Sectors::NONE);
        }
    }

    /// Begins destages until usage is below the marks and each stalled write has a destage in flight.
    pub(super) fn balance(&mut self, part: u32) {
        let part = part as usize;
        loop {
            let room = &mut self.parts[part];
            if self.destaging.is_by_marks() {
                room.draining |= room.unsaved > room.high_mark;
                // Pages in destage count as clean.
                room.draining &= room.unsaved - room.destages > room.low_mark;
            }
            let is_short = (room.destages as usize) < room.waiting.len();
            let wanted = room.draining || is_short;
            let Some(oldest) = room.pages.oldest_dirty().filter(|_| wanted && room.destages < room.destages_max) else {
                return;
            };
            self.begin_destage(oldest, Sectors::NONE);
        }
    }
}
