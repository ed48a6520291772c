//! The pages that the cache holds.

use rustc_hash::FxHashMap;

use crate::engine::arena::Arena;
use crate::ids::{Lpn, StreamId, id};

use super::recency::Neighbours;
use super::sectors::Sectors;

id!(
    /// A place for a page in DRAM.
    SlotId
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// Neither: it is being filled, destaged or written through.
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
    /// Sequence number of its last use.
    pub used: u64,
    pub valid: Sectors,
    /// Those of them not yet sent to flash.
    pub dirty: Sectors,
    /// Sectors that a read of flash under way brings.
    pub filling: Sectors,
    /// Whether such a read is under way, even when its data is no longer wanted.
    pub is_filled: bool,
    /// Writes under way that complete when they are on flash.
    pub passing: u32,
    /// Tells the dirty data from the data destaged before.
    pub generation: u64,
    pub acknowledged: Sectors,
    pub destage: DestageUnderWay,
}

/// The data of a page on its way to flash.
#[derive(Clone, Copy, Debug)]
pub(super) struct DestageUnderWay {
    /// The sectors with their newest data; none when nothing is on its way.
    pub sectors: Sectors,
    /// All sectors of the program: those, or the whole page.
    pub carried: Sectors,
    /// Tells the data from that of other destages.
    pub generation: u64,
    pub acknowledged: Sectors,
    /// Whether the simulation has yet to take it: what is written meanwhile goes with it.
    pub is_due: bool,
    /// Whether the program carries the data of the newest write alone, which need not be read from DRAM.
    pub is_at_hand: bool,
    pub is_forgotten: bool,
    /// Whether flash has the data and the controller does not know it yet.
    pub is_programmed: bool,
}

impl DestageUnderWay {
    /// No destage; the last one was of `generation`.
    pub fn none(generation: u64) -> DestageUnderWay {
        DestageUnderWay {
            sectors: Sectors::NONE,
            carried: Sectors::NONE,
            generation,
            acknowledged: Sectors::NONE,
            is_due: false,
            is_at_hand: false,
            is_forgotten: false,
            is_programmed: false,
        }
    }

    #[inline]
    pub fn unsaved(&self) -> Sectors {
        if self.is_programmed { Sectors::NONE } else { self.sectors }
    }
}

/// Rising numbers for uses of pages and for generations of data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamps {
    uses: u64,
    generations: u64,
}

impl Stamps {
    #[inline]
    pub fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }

    /// A generation that no destage has carried yet.
    #[inline]
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

    #[inline]
    pub fn unsaved(&self) -> Sectors {
        self.dirty.or(self.destage.sectors)
    }

    #[inline]
    pub fn is_held(&self) -> bool {
        !self.destage.sectors.is_empty() || self.is_filled || self.passing > 0
    }

    #[inline]
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

#[inline]
pub(super) fn part_of(stream: StreamId, parts: usize) -> u32 {
    if parts == 1 { 0 } else { stream.0 }
}
