//! Slots of the cache and their contents.

use rustc_hash::FxHashMap;

use crate::engine::arena::Arena;
use crate::ids::{Lpn, StreamId, id};

use super::lru_lists::Neighbours;
use super::sectors::Sectors;

id!(
    /// Identifier of a slot: DRAM space for one cached page.
    SlotId
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// Page in neither the clean nor the dirty list, because it is being filled, destaged or written through.
    Nowhere,
    Clean,
    Dirty,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub lpn: Lpn,
    pub part: u32,
    pub writer: StreamId,
    pub listed: Listed,
    pub neighbours: Neighbours,
    /// Sequence number of the last use of the page.
    pub used: u64,
    pub valid: Sectors,
    /// Sectors with dirty data that is not in destage.
    pub dirty: Sectors,
    /// Sectors that the fill in flight (caching of read data) will store.
    pub filling: Sectors,
    /// Whether a fill is in flight, even if none of its data will be stored.
    pub is_filled: bool,
    /// Number of write-throughs of the page in flight (writes that complete once they are on flash).
    pub passing: u32,
    /// Generation of the dirty data: a version number that changes when a destage begins, and when the page is deallocated.
    pub generation: u64,
    pub acknowledged: Sectors,
    pub destage: DestageUnderWay,
}

/// State of the destage of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct DestageUnderWay {
    /// Sectors that were dirty when the destage began, or were written before the controller fetched it. Empty if no destage is in flight.
    pub sectors: Sectors,
    /// Sectors that the program writes: `sectors`, or the whole page.
    pub carried: Sectors,
    /// Generation of the data in destage, or of the last destage if none is in flight.
    pub generation: u64,
    pub acknowledged: Sectors,
    /// Whether the controller has not fetched the destage yet. Until then, new writes of the page join it.
    pub is_due: bool,
    /// Whether the program writes exactly the data of the newest write, so that the data need not be read from DRAM.
    pub is_newest_write: bool,
    pub is_forgotten: bool,
    /// Whether the data is on flash. The controller may not be notified yet.
    pub is_programmed: bool,
}

impl DestageUnderWay {
    /// Returns the state without a destage in flight. `generation` is the generation of the last destage.
    pub fn none(generation: u64) -> DestageUnderWay {
        DestageUnderWay {
            sectors: Sectors::NONE,
            carried: Sectors::NONE,
            generation,
            acknowledged: Sectors::NONE,
            is_due: false,
            is_newest_write: false,
            is_forgotten: false,
            is_programmed: false,
        }
    }

    pub fn unsaved(&self) -> Sectors {
        if self.is_programmed { Sectors::NONE } else { self.sectors }
    }
}

/// Counters that number the uses of pages and the generations (versions) of data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SequenceCounters {
    uses: u64,
    generations: u64,
}

impl SequenceCounters {
    pub fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }

    /// Returns a new generation: a version number that no data has had.
    pub fn next_generation(&mut self) -> u64 {
        self.generations += 1;
        self.generations
    }
}

impl Slot {
    pub fn new(lpn: Lpn, part: u32, generation: u64) -> Slot {
        Slot {
            lpn,
            part,
            writer: StreamId(0),
            listed: Listed::Nowhere,
            neighbours: Neighbours::default(),
            used: 0,
            valid: Sectors::NONE,
            dirty: Sectors::NONE,
            filling: Sectors::NONE,
            is_filled: false,
            passing: 0,
            generation,
            acknowledged: Sectors::NONE,
            destage: DestageUnderWay::none(generation),
        }
    }

    pub fn unsaved(&self) -> Sectors {
        self.dirty.or(self.destage.sectors)
    }

    pub fn is_held(&self) -> bool {
        !self.destage.sectors.is_empty() || self.is_filled || self.passing > 0
    }

    pub fn belongs(&self) -> Listed {
        if !self.dirty.is_empty() && self.destage.sectors.is_empty() {
            Listed::Dirty
        } else if self.is_held() {
            Listed::Nowhere
        } else {
            Listed::Clean
        }
    }
}

pub(super) type Slots = Arena<SlotId, Slot>;

pub(super) type Table = FxHashMap<Lpn, SlotId>;

pub(super) fn part_of(stream: StreamId, parts: usize) -> u32 {
    if parts == 1 { 0 } else { stream.0 }
}
