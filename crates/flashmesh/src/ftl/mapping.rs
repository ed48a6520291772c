//! Where each logical page is, and which logical page each physical page holds.

use crate::engine::prefetch::prefetch;
use crate::ids::{Lpn, Ppn};
use crate::units::Bytes;

/// Entries of a region of the forward table: those of a page of memory, 4 KiB.
const REGION_ENTRIES: u32 = 1024;

/// The page-level map in both directions.
///
/// Both tables come zeroed from the operating system and zero means "nothing here", so a fresh drive of any size
/// costs no time and no memory until it is written. A look at an entry that was never set does not touch the table either:
/// it would bring a page of memory into the process, for nothing.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    /// By logical page: physical page + 1, or 0 when unmapped.
    forward: Vec<u32>,
    /// By region of the forward table, a bit each: whether an entry of it was ever set.
    written_regions: Vec<u64>,
    /// By physical page: the logical page last programmed there; meaningful only while the page is valid.
    reverse: Vec<u32>,
    /// How often an entry was changed that a queued read may have been given.
    changes: u64,
    /// Whether any unmapped page was read.
    has_read_unmapped: bool,
}

impl Mapping {
    /// A map of `logical_pages`, those of the host and translation pages, over `pages` physical pages.
    pub(super) fn new(logical_pages: u32, pages: u32) -> Mapping {
        let regions = logical_pages.div_ceil(REGION_ENTRIES);
        Mapping {
            forward: vec![0; logical_pages as usize],
            written_regions: vec![0; regions.div_ceil(u64::BITS) as usize],
            reverse: vec![0; pages as usize],
            changes: 0,
            has_read_unmapped: false,
        }
    }

    /// Whether an entry of the region of `lpn` was ever set.
    #[inline]
    fn is_region_written(&self, lpn: Lpn) -> bool {
        let region = lpn.0 / REGION_ENTRIES;
        self.written_regions[(region / u64::BITS) as usize] >> (region % u64::BITS) & 1 != 0
    }

    #[inline]
    pub(super) fn get(&self, lpn: Lpn) -> Option<Ppn> {
        if !self.is_region_written(lpn) {
            return None;
        }
        self.forward[lpn.index()].checked_sub(1).map(Ppn)
    }

    /// Maps `lpn` to `ppn` in both directions and returns where it was before.
    #[inline]
    pub(super) fn set(&mut self, lpn: Lpn, ppn: Ppn) -> Option<Ppn> {
        self.reverse[ppn.index()] = lpn.0;
        let region = lpn.0 / REGION_ENTRIES;
        self.written_regions[(region / u64::BITS) as usize] |= 1 << (region % u64::BITS);
        let entry = &mut self.forward[lpn.index()];
        let old = entry.checked_sub(1).map(Ppn);
        *entry = ppn.0 + 1;
        self.changes += u64::from(old.is_some() | self.has_read_unmapped);
        old
    }

    /// As [`Mapping::set`] for many pages: faster, since it does not wait for the entries of one after the other.
    #[inline]
    pub(super) fn set_all(&mut self, pages: &[(Lpn, Ppn)]) {
        for &(lpn, ppn) in pages {
            prefetch(&self.reverse, ppn.index());
            prefetch(&self.forward, lpn.index());
        }
        for &(lpn, ppn) in pages {
            self.reverse[ppn.index()] = lpn.0;
            let region = lpn.0 / REGION_ENTRIES;
            self.written_regions[(region / u64::BITS) as usize] |= 1 << (region % u64::BITS);
            self.forward[lpn.index()] = ppn.0 + 1;
        }
        self.changes += pages.len() as u64;
    }

    /// How often the physical page of any logical page has changed. The first write of a page counts only once an unmapped page
    /// [was read](Mapping::note_unmapped_read).
    #[inline(always)]
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// An unmapped page is read.
    #[inline(always)]
    pub(super) fn note_unmapped_read(&mut self) {
        self.has_read_unmapped = true;
    }

    /// `ppn` holds `lpn`, beside where the map has it.
    pub(super) fn note(&mut self, ppn: Ppn, lpn: Lpn) {
        self.reverse[ppn.index()] = lpn.0;
    }

    /// Unmaps `lpn` and returns where it was.
    #[inline]
    pub(super) fn clear(&mut self, lpn: Lpn) -> Option<Ppn> {
        let old = self.get(lpn)?;
        self.changes += 1;
        self.forward[lpn.index()] = 0;
        Some(old)
    }

    /// The logical page last programmed at `ppn`.
    #[inline]
    pub(super) fn lpn_at(&self, ppn: Ppn) -> Lpn {
        Lpn(self.reverse[ppn.index()])
    }

    /// Prefetches the entry of `lpn`, if any entry of its region was ever set.
    #[inline]
    pub(super) fn prefetch(&self, lpn: Lpn) {
        if lpn.index() < self.forward.len() && self.is_region_written(lpn) {
            prefetch(&self.forward, lpn.index());
        }
    }

    /// The pages that are mapped, each with its place, in time that grows with the regions of the table that were ever set.
    pub(super) fn mapped(&self) -> impl Iterator<Item = (Lpn, Ppn)> {
        let regions = self.forward.chunks(REGION_ENTRIES as usize).zip((0..).step_by(REGION_ENTRIES as usize));
        let written = regions.filter(|&(_, first)| self.is_region_written(Lpn(first)));
        written.flat_map(|(entries, first)| {
            let entries = (first..).zip(entries);
            entries.filter_map(|(lpn, entry)| entry.checked_sub(1).map(|ppn| (Lpn(lpn), Ppn(ppn))))
        })
    }

    /// How much of the forward table was ever written.
    pub(super) fn written(&self) -> Bytes {
        let regions: u32 = self.written_regions.iter().map(|word| word.count_ones()).sum();
        Bytes::new(u64::from(regions) * u64::from(REGION_ENTRIES) * size_of::<u32>() as u64)
    }

    pub(super) fn logical_pages(&self) -> u32 {
        self.forward.len() as u32
    }
}
