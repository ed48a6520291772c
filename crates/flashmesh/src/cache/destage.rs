//! Dirty pages go to flash.

use std::collections::VecDeque;

use super::slots::{DestageUnderWay, Slot, SlotId};
use super::{Cache, Sectors};
use crate::config::{self, Destage};
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, StreamId};

/// A page on its way to flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destaged {
    /// The page.
    pub lpn: Lpn,
    /// The stream that wrote it last.
    pub stream: StreamId,
    /// Where it is in DRAM.
    pub slot: SlotId,
    /// What of it is programmed; flash keeps the rest of the page.
    pub sectors: Sectors,
    /// Whether that is the data of the write that has just come in, which need not be read from DRAM.
    pub is_at_hand: bool,
}

/// How pages go to flash.
#[derive(Debug)]
pub(super) struct Destaging {
    policy: Destage,
    /// Whether a page stays here once flash has it.
    keeps: bool,
    /// Sectors on their way to flash, of one part, at which writes wait.
    limit: u64,
    /// All sectors of a page.
    whole: Sectors,
    /// Those that have begun and that the simulation has yet to take.
    due: VecDeque<Destaged>,
}

impl Destaging {
    /// That of `settings`; nothing is on its way.
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

    /// Whether writes wait while so many sectors of their part are on their way.
    pub fn is_full(&self, carried: u64) -> bool {
        carried >= self.limit
    }

    /// Whether the marks decide when pages go, and not their use.
    fn is_by_marks(&self) -> bool {
        self.policy == Destage::Watermark
    }

    /// What the program of a page carries: all of it where all of it is here, so that nothing of it is read from flash.
    fn sectors_of(&self, page: &Slot) -> Sectors {
        if page.valid == self.whole { self.whole } else { page.dirty }
    }
}

impl Cache {
    /// The next page to be programmed; asked until there is none, whenever something was offered or told to the cache.
    pub fn next_destage(&mut self) -> Option<Destaged> {
        self.destaging.due.pop_front()
    }

    /// Whether the page on its way to flash as `lpn` was deallocated meanwhile.
    pub fn is_forgotten(&self, lpn: Lpn) -> bool {
        self.table.get(&lpn).is_some_and(|&slot| self.slots[slot].destage.is_forgotten)
    }

    /// The array has programmed the page that was on its way; [`Cache::saved`] is due when the controller knows.
    pub fn programmed(&mut self, lpn: Lpn) {
        if let Some(&slot) = self.table.get(&lpn) {
            self.slots[slot].destage.is_programmed = true;
        }
    }

    /// Flash has the page that was on its way.
    pub fn saved(&mut self, lpn: Lpn) {
        let Some(&slot) = self.table.get(&lpn) else { return };
        self.counts.destages += 1;
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

    /// The dirty sectors of a page begin their way to flash; `at_hand` has just been written.
    pub(super) fn begin_destage(&mut self, slot: SlotId, at_hand: Sectors) {
        let generation = self.stamps.next_generation();
        let page = &mut self.slots[slot];
        let sectors = self.destaging.sectors_of(page);
        page.destage = DestageUnderWay {
            sectors: page.dirty,
            carried: sectors,
            acknowledged: page.acknowledged,
            ..DestageUnderWay::none(page.generation)
        };
        (page.dirty, page.acknowledged) = (Sectors::NONE, Sectors::NONE);
        page.generation = generation;
        let (lpn, part, stream) = (page.lpn, page.part, page.writer);
        // What passes through DRAM goes before it.
        let is_at_hand = sectors == at_hand && page.passing == 0;
        self.parts[part as usize].destages += 1;
        self.parts[part as usize].carried += u64::from(sectors.count());
        self.relist(slot);
        self.prefetch(self.parts[part as usize].pages.oldest_dirty());
        self.destaging.due.push_back(Destaged { lpn, stream, slot, sectors, is_at_hand });
    }

    /// Room is needed: a dirty page that was not used for longer than any clean one begins to leave.
    pub(super) fn press(&mut self, part: u32) {
        let room = &self.parts[part as usize];
        // Writes that wait have destages begun for them already.
        if self.destaging.is_by_marks() || !room.waiting.is_empty() {
            return;
        }
        let Some(dirty) = room.pages.oldest_dirty() else { return };
        let is_oldest = room.pages.oldest_clean().is_none_or(|clean| self.slots[dirty].used < self.slots[clean].used);
        if is_oldest && room.destages < room.destages_max {
            self.begin_destage(dirty, Sectors::NONE);
        }
    }

    /// A write waits for a part: something of it has to be on its way to flash.
    pub(super) fn relieve(&mut self, part: u32) {
        let room = &self.parts[part as usize];
        if room.destages == 0
            && let Some(dirty) = room.pages.oldest_dirty()
        {
            self.begin_destage(dirty, Sectors::NONE);
        }
    }

    /// Begins the destages that the marks and the writes that wait ask for.
    pub(super) fn balance(&mut self, part: u32) {
        let part = part as usize;
        loop {
            let room = &mut self.parts[part];
            if self.destaging.is_by_marks() {
                room.draining |= room.unsaved > room.high_mark;
                // Those on their way count as gone.
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
