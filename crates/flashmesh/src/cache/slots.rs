//! The pages that the cache holds.

use rustc_hash::FxHashMap;

use crate::engine::arena::Arena;
use crate::ids::{Lpn, StreamId, id};

use super::recency::Links;
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
    pub links: Links,
    /// When it was used last, in the order of all uses.
    pub used: u64,
    /// Sectors whose newest data is here.
    pub valid: Sectors,
    /// Of these, those that flash has yet to be given.
    pub dirty: Sectors,
    /// Those that are on their way to flash.
    pub destaging: Sectors,
    /// A read of flash under way is to bring these.
    pub filling: Sectors,
    /// All that the program under way carries: those, or the whole page.
    pub carried: Sectors,
    /// Whether such a read is under way, even when nothing of it is wanted any more.
    pub is_filled: bool,
    /// Writes under way that complete when flash has their data.
    pub passing: u32,
    /// Whether the host deallocated it since its destage began.
    pub is_forgotten: bool,
    /// Whether flash has what is on its way, and the controller has yet to be told.
    pub is_programmed: bool,
    /// What tells the data that is dirty now from the data destaged before.
    pub generation: u64,
    /// The same of the data on its way to flash.
    pub destaging_generation: u64,
    /// Sectors of which flash lacks data that was acknowledged: dirty ones, and those on their way.
    pub acknowledged: Sectors,
    pub acknowledged_destaging: Sectors,
}

impl Slot {
    pub fn new(lpn: Lpn, part: u32, generation: u64) -> Slot {
        Slot {
            lpn,
            part,
            writer: StreamId(0),
            listed: Listed::Nowhere,
            links: Links::default(),
            used: 0,
            valid: Sectors::NONE,
            dirty: Sectors::NONE,
            destaging: Sectors::NONE,
            filling: Sectors::NONE,
            carried: Sectors::NONE,
            is_filled: false,
            passing: 0,
            is_forgotten: false,
            is_programmed: false,
            generation,
            destaging_generation: generation,
            acknowledged: Sectors::NONE,
            acknowledged_destaging: Sectors::NONE,
        }
    }

    /// Sectors that flash has yet to have.
    #[inline]
    pub fn unsaved(&self) -> Sectors {
        self.dirty.or(self.destaging)
    }

    /// Whether something under way keeps it here.
    #[inline]
    pub fn is_held(&self) -> bool {
        !self.destaging.is_empty() || self.is_filled || self.passing > 0
    }

    /// The list it belongs in.
    #[inline]
    pub fn belongs(&self) -> Listed {
        if !self.dirty.is_empty() && self.destaging.is_empty() {
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
