//! Where each logical page is, and which logical page each physical page holds.

use std::ops::Range;
use std::sync::Arc;

use super::initial_map::InitialMap;
use crate::engine::prefetch::prefetch;
use crate::ids::{Lpn, Ppn};
use crate::units::Bytes;

/// Entries of a region of the forward table: those of a page of memory, 4 KiB.
const REGION_ENTRIES: u32 = 1024;

/// Pages whose entries are prefetched together: these fit into the first-level cache.
pub(super) const PREFETCHED: usize = 128;

/// The entry of a logical page that was mapped and is no more.
const UNMAPPED: u32 = u32::MAX;
/// What would be its place: behind that of all pages.
const UNMAPPED_PLACE: u32 = UNMAPPED - 1;

/// The page-level map in both directions.
///
/// Both tables come zeroed from the operating system and zero means "nothing here", so a fresh drive of any size
/// costs no time and no memory until it is written. A look at an entry that was never set does not touch the table either:
/// it would bring a page of memory into the process, for nothing.
#[derive(Debug)]
pub(super) struct Mapping {
    /// By logical page: physical page + 1; 0 where nothing was set, [`UNMAPPED`] where that was cleared.
    forward: Vec<u32>,
    /// By region of the forward table, a bit each: whether an entry of it was ever set.
    written_regions: Vec<u64>,
    /// By physical page: the logical page last programmed there + 1; meaningful only while the page is valid. 0 where nothing was set.
    reverse: Vec<u32>,
    /// What holds where nothing was set.
    initial: Option<Arc<InitialMap>>,
    /// How often an entry was changed that a queued read may have been given.
    changes: u64,
    /// Reads of unmapped pages.
    unmapped_reads: u64,
}

/// A copy of `table` that takes no memory for the regions that hold nothing, by their number.
fn sparse_copy(table: &[u32], holds: impl Fn(u32, &[u32]) -> bool) -> Vec<u32> {
    let mut copy = vec![0; table.len()];
    let regions = copy.chunks_mut(REGION_ENTRIES as usize).zip(table.chunks(REGION_ENTRIES as usize));
    for (number, (to, from)) in (0..).zip(regions) {
        if holds(number, from) {
            to.copy_from_slice(from);
        }
    }
    copy
}

impl Clone for Mapping {
    fn clone(&self) -> Mapping {
        Mapping {
            forward: sparse_copy(&self.forward, |region, _| self.is_written(region)),
            written_regions: self.written_regions.clone(),
            reverse: sparse_copy(&self.reverse, |_, entries| entries.iter().any(|&entry| entry != 0)),
            initial: self.initial.clone(),
            changes: self.changes,
            unmapped_reads: self.unmapped_reads,
        }
    }
}

impl Mapping {
    /// A map of `logical_pages`, those of the host and translation pages, over `pages` physical pages.
    pub(super) fn new(logical_pages: u32, pages: u32) -> Mapping {
        let regions = logical_pages.div_ceil(REGION_ENTRIES);
        Mapping {
            forward: vec![0; logical_pages as usize],
            written_regions: vec![0; regions.div_ceil(u64::BITS) as usize],
            reverse: vec![0; pages as usize],
            initial: None,
            changes: 0,
            unmapped_reads: 0,
        }
    }

    /// Begins with `initial`; no host page is mapped yet.
    pub(super) fn begin_with(&mut self, initial: InitialMap) {
        self.initial = Some(Arc::new(initial));
    }

    /// Whether an entry of the region of `lpn` was ever set.
    #[inline]
    fn is_region_written(&self, lpn: Lpn) -> bool {
        self.is_written(lpn.0 / REGION_ENTRIES)
    }

    #[inline]
    fn is_written(&self, region: u32) -> bool {
        self.written_regions[(region / u64::BITS) as usize] >> (region % u64::BITS) & 1 != 0
    }

    #[inline]
    pub(super) fn get(&self, lpn: Lpn) -> Option<Ppn> {
        let entry = self.entry(lpn);
        self.place_in(entry, lpn)
    }

    /// The entry of `lpn`. One that was never set does not touch the table.
    #[inline]
    fn entry(&self, lpn: Lpn) -> u32 {
        if self.is_region_written(lpn) { self.forward[lpn.index()] } else { 0 }
    }

    /// Sets the entry of `lpn`, and gives the one before.
    #[inline]
    fn set_entry(&mut self, lpn: Lpn, entry: u32) -> u32 {
        let region = lpn.0 / REGION_ENTRIES;
        self.written_regions[(region / u64::BITS) as usize] |= 1 << (region % u64::BITS);
        std::mem::replace(&mut self.forward[lpn.index()], entry)
    }

    /// What `entry` of `lpn` says.
    #[inline(always)]
    fn place_in(&self, entry: u32, lpn: Lpn) -> Option<Ppn> {
        // One comparison for both entries that are no place.
        match entry.wrapping_sub(1) {
            place @ 0..UNMAPPED_PLACE => Some(Ppn(place)),
            _ if entry == UNMAPPED => None,
            _ => self.initial.as_ref()?.get(lpn),
        }
    }

    /// Whether `lpn` is mapped, without computing where.
    pub(super) fn is_mapped(&self, lpn: Lpn) -> bool {
        match self.entry(lpn) {
            0 => self.initial.as_ref().is_some_and(|initial| initial.contains(lpn)),
            entry => entry != UNMAPPED,
        }
    }

    /// Whether the map of some pages is computed.
    #[inline]
    pub(super) fn is_computed(&self) -> bool {
        self.initial.is_some()
    }

    /// Stores entries of valid `pages` that are computed so far: a stored entry is found faster.
    pub(super) fn store(&mut self, pages: impl Iterator<Item = Ppn>) {
        let Some(initial) = &self.initial else { return };
        let computed = pages.filter(|ppn| self.reverse[ppn.index()] == 0);
        let computed: Vec<(Lpn, Ppn)> = computed.filter_map(|ppn| Some((initial.lpn_at(ppn)?, ppn))).collect();
        self.set_all(&computed);
    }

    /// Stores all entries that are computed so far.
    pub(super) fn store_all(&mut self) {
        let Some(initial) = self.initial.take() else { return };
        initial.in_batches(|batch| {
            batch.retain(|&(lpn, _)| self.entry(lpn) == 0);
            self.set_all(batch);
        });
    }

    /// Where `lpn` is, if that is stored.
    #[inline]
    pub(super) fn stored(&self, lpn: Lpn) -> Option<Ppn> {
        let entry = self.entry(lpn);
        entry.checked_sub(1).filter(|_| entry != UNMAPPED).map(Ppn)
    }

    /// Whether any page was ever mapped.
    pub(super) fn is_used(&self) -> bool {
        self.initial.is_some() || self.written() > Bytes::ZERO
    }

    /// Maps `lpn` to `ppn` in both directions and returns where it was before.
    #[inline]
    pub(super) fn set(&mut self, lpn: Lpn, ppn: Ppn) -> Option<Ppn> {
        self.reverse[ppn.index()] = lpn.0 + 1;
        let entry = self.set_entry(lpn, ppn.0 + 1);
        let old = self.place_in(entry, lpn);
        self.changes += u64::from(old.is_some() | (self.unmapped_reads > 0));
        old
    }

    /// As [`Mapping::set`], for pages that nobody was told another place of, without a wait for the entries of each in turn.
    #[inline]
    pub(super) fn set_all(&mut self, pages: &[(Lpn, Ppn)]) {
        for pages in pages.chunks(PREFETCHED) {
            for &(lpn, ppn) in pages {
                prefetch(&self.reverse, ppn.index());
                prefetch(&self.forward, lpn.index());
            }
            for &(lpn, ppn) in pages {
                self.reverse[ppn.index()] = lpn.0 + 1;
                self.set_entry(lpn, ppn.0 + 1);
            }
        }
    }

    /// How often the physical page of any logical page has changed. The first write of a page counts only once an unmapped page
    /// [was read](Mapping::note_unmapped_read).
    #[inline(always)]
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Counts a read of an unmapped page.
    #[inline(always)]
    pub(super) fn note_unmapped_read(&mut self) {
        self.unmapped_reads += 1;
    }

    /// Returns the reads of unmapped pages.
    pub(super) fn unmapped_reads(&self) -> u64 {
        self.unmapped_reads
    }

    /// `ppn` holds `lpn`, beside where the map has it.
    pub(super) fn note(&mut self, ppn: Ppn, lpn: Lpn) {
        self.reverse[ppn.index()] = lpn.0 + 1;
    }

    /// Unmaps `lpn` and returns where it was.
    #[inline]
    pub(super) fn clear(&mut self, lpn: Lpn) -> Option<Ppn> {
        let old = self.get(lpn)?;
        self.changes += 1;
        self.set_entry(lpn, UNMAPPED);
        Some(old)
    }

    /// The logical page last programmed at `ppn`.
    #[inline]
    pub(super) fn lpn_at(&self, ppn: Ppn) -> Lpn {
        match self.reverse[ppn.index()].checked_sub(1) {
            Some(lpn) => Lpn(lpn),
            None => self.initial.as_ref().and_then(|initial| initial.lpn_at(ppn)).unwrap_or(Lpn(0)),
        }
    }

    /// The physical page of each of `lpns`, all of which were written.
    pub(super) fn physical_pages(&self, lpns: Range<u32>) -> impl Iterator<Item = Ppn> {
        let entries = &self.forward[lpns.start as usize..lpns.end as usize];
        entries
            .iter()
            .map(|entry| Ppn(entry.checked_sub(1).expect("all pages of a sample are written before it is copied")))
    }

    /// Prefetches the entry of `lpn`, if any entry of its region was ever set.
    #[inline]
    pub(super) fn prefetch(&self, lpn: Lpn) {
        if lpn.index() < self.forward.len() && self.is_region_written(lpn) {
            prefetch(&self.forward, lpn.index());
        }
    }

    /// The pages that are mapped, each with its place, in time that grows with the regions of the table that were ever set, and with all of them where
    /// places are computed.
    pub(super) fn mapped(&self) -> impl Iterator<Item = (Lpn, Ppn)> {
        let regions = (0..self.logical_pages()).step_by(REGION_ENTRIES as usize);
        let used = regions.filter(|&first| self.initial.is_some() || self.is_region_written(Lpn(first)));
        let pages = used.flat_map(|first| first..self.logical_pages().min(first + REGION_ENTRIES));
        pages.filter_map(|lpn| Some((Lpn(lpn), self.get(Lpn(lpn))?)))
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
