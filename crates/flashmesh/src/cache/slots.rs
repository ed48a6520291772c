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

/// Which list of its part a page is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// None: it is being filled, destaged or written through.
    Nowhere,
    /// It can be evicted.
    Clean,
    /// It can be destaged.
    Dirty,
}

/// A page in DRAM.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub lpn: Lpn,
    /// Whose part it takes room in.
    pub part: u32,
    /// Who wrote it last.
    pub writer: StreamId,
    pub listed: Listed,
    pub neighbours: Neighbours,
    /// When it was used last, in the order of all uses.
    pub used: u64,
    /// Sectors whose newest data is here.
    pub valid: Sectors,
    /// Of these, those that flash has yet to be given.
    pub dirty: Sectors,
    /// A read of flash under way is to bring these.
    pub filling: Sectors,
    /// Whether such a read is under way, even when nothing of it is wanted any more.
    pub is_filled: bool,
    /// Writes under way that complete when flash has their data.
    pub passing: u32,
    /// What tells the data that is dirty now from the data destaged before.
    pub generation: u64,
    /// Dirty sectors whose data was acknowledged.
    pub acknowledged: Sectors,
    /// Its way to flash.
    pub destage: DestageUnderWay,
}

/// The data of a page on its way to flash.
#[derive(Clone, Copy, Debug)]
pub(super) struct DestageUnderWay {
    /// The sectors whose newest data it was; none when nothing is on its way.
    pub sectors: Sectors,
    /// All that the program carries: those, or the whole page.
    pub carried: Sectors,
    /// What tells the data from that of other destages.
    pub generation: u64,
    /// Of the sectors, those whose data was acknowledged.
    pub acknowledged: Sectors,
    /// Whether the host deallocated the page since.
    pub is_forgotten: bool,
    /// Whether flash has the data, and the controller has yet to be told.
    pub is_programmed: bool,
}

impl DestageUnderWay {
    /// Nothing is on its way; the last that was is of `generation`.
    pub fn none(generation: u64) -> DestageUnderWay {
        DestageUnderWay {
            sectors: Sectors::NONE,
            carried: Sectors::NONE,
            generation,
            acknowledged: Sectors::NONE,
            is_forgotten: false,
            is_programmed: false,
        }
    }

    /// Sectors that flash lacks.
    #[inline]
    pub fn unsaved(&self) -> Sectors {
        if self.is_programmed { Sectors::NONE } else { self.sectors }
    }
}

/// Numbers that rise, by which uses of pages and their data are told apart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamps {
    uses: u64,
    generations: u64,
}

impl Stamps {
    /// That of the next use of a page.
    #[inline]
    pub fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }

    /// That of data which no destage has begun to carry yet.
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

    /// Sectors that the controller does not know flash to have.
    #[inline]
    pub fn unsaved(&self) -> Sectors {
        self.dirty.or(self.destage.sectors)
    }

    /// Whether something under way keeps it here.
    #[inline]
    pub fn is_held(&self) -> bool {
        !self.destage.sectors.is_empty() || self.is_filled || self.passing > 0
    }

    /// The list it belongs in.
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

/// All slots in use.
pub(super) type Slots = Arena<SlotId, Slot>;

/// Where each page in DRAM is.
pub(super) type Table = FxHashMap<Lpn, SlotId>;

/// The part of the cache that `stream` uses, of `parts`.
#[inline]
pub(super) fn part_of(stream: StreamId, parts: usize) -> u32 {
    if parts == 1 { 0 } else { stream.0 }
}
