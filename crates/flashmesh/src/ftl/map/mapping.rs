//! The map: location of each logical page, and logical page of each physical page.

use std::ops::Range;
use std::sync::Arc;

use super::initial_map::InitialMap;
use crate::engine::prefetch::prefetch;
use crate::ids::{Lpn, Ppn};
use crate::units::Bytes;

/// Number of entries in a region of the forward table; a region is a 4 KiB page of memory.
const REGION_ENTRIES: u32 = 1024;

/// Number of pages whose entries are prefetched together; the entries fit into the L1 cache.
pub(in super::super) const PREFETCHED: usize = 128;

/// Encoded entry of a logical page that was mapped and then deallocated.
const UNMAPPED: u32 = u32::MAX;
/// Page number to which `UNMAPPED` would decode, since an entry is a physical page number plus 1. Larger than every physical page number of
/// a drive.
const UNMAPPED_PLACE: u32 = UNMAPPED - 1;

/// The page-level map in both directions.
///
/// The operating system provides both tables zeroed, and zero means "not set". So a fresh drive of any size takes no time and no memory until it is
/// written. Lookups of entries that were never set do not touch the forward table either, because that would allocate a page of memory for nothing.
#[derive(Debug)]
pub struct Mapping {
    /// For each logical page, its physical page + 1; 0 if never set, [`UNMAPPED`] if deallocated.
    forward: Vec<u32>,
    /// Regions of the forward table in which an entry was ever set, as a bit set by region number.
    written_regions: Vec<u64>,
    /// For each physical page, the logical page + 1 last programmed there; 0 if never set. Meaningful only while the physical page is
    /// valid.
    reverse: Vec<u32>,
    /// Computed entries for pages whose entry in the tables is 0; `None` if there are no computed entries, so that 0 means unmapped.
    initial: Option<Arc<InitialMap>>,
    /// Number of changes of map entries so far; see [`Mapping::changes`]. Queued reads look up their page again if this number has changed.
    changes: u64,
    /// Number of reads of unmapped pages so far, in the whole drive.
    unmapped_reads: u64,
}

/// Returns a copy of `table`. Regions for which `holds(number, entries)` is false stay zero and untouched in the copy, so that they take no memory.
/// `number` counts the regions from 0.
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
    /// Creates a map without entries. `logical_pages` counts host pages and translation pages, `pages` all physical pages of the drive.
    pub(in super::super) fn new(logical_pages: u32, pages: u32) -> Mapping {
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

    /// Sets the computed entries, which apply to pages never set in the tables. No host page may be mapped yet.
    pub(in super::super) fn set_initial(&mut self, initial: InitialMap) {
        self.initial = Some(Arc::new(initial));
    }

    /// Returns whether an entry of the region that contains `lpn` was ever set in the forward table.
    #[inline]
    fn is_region_written(&self, lpn: Lpn) -> bool {
        self.is_written(lpn.0 / REGION_ENTRIES)
    }

    #[inline]
    fn is_written(&self, region: u32) -> bool {
        self.written_regions[(region / u64::BITS) as usize] >> (region % u64::BITS) & 1 != 0
    }

    #[inline]
    pub(in super::super) fn get(&self, lpn: Lpn) -> Option<Ppn> {
        let entry = self.entry(lpn);
        self.place_in(entry, lpn)
    }

    /// Returns the encoded entry of `lpn`, as in `forward`. Does not touch the table if no entry of its region was ever set.
    #[inline]
    fn entry(&self, lpn: Lpn) -> u32 {
        if self.is_region_written(lpn) { self.forward[lpn.index()] } else { 0 }
    }

    /// Sets the encoded entry of `lpn`. Returns the previous encoded entry.
    #[inline]
    fn set_entry(&mut self, lpn: Lpn, entry: u32) -> u32 {
        let region = lpn.0 / REGION_ENTRIES;
        self.written_regions[(region / u64::BITS) as usize] |= 1 << (region % u64::BITS);
        std::mem::replace(&mut self.forward[lpn.index()], entry)
    }

    /// Returns the location encoded by `entry`, the entry of `lpn`, or the computed location if `entry` is 0. Returns `None` if the page is unmapped.
    #[inline(always)]
    fn place_in(&self, entry: u32, lpn: Lpn) -> Option<Ppn> {
        // A single comparison separates physical pages from the two entries that encode none, 0 and `UNMAPPED`.
        match entry.wrapping_sub(1) {
            place @ 0..UNMAPPED_PLACE => Some(Ppn(place)),
            _ if entry == UNMAPPED => None,
            _ => self.initial.as_ref()?.get(lpn),
        }
    }

    /// Returns whether `lpn` is mapped, without computing its location.
    pub(crate) fn is_mapped(&self, lpn: Lpn) -> bool {
        match self.entry(lpn) {
            0 => self.initial.as_ref().is_some_and(|initial| initial.contains(lpn)),
            entry => entry != UNMAPPED,
        }
    }

    /// Returns whether the map has computed entries, for pages not written since the preconditioning.
    #[inline]
    pub(in super::super) fn is_computed(&self) -> bool {
        self.initial.is_some()
    }

    /// Stores the map entries of the valid physical `pages` in the tables, where lookups are faster. Entries already stored do not change.
    pub(in super::super) fn materialize(&mut self, pages: impl Iterator<Item = Ppn>) {
        let Some(initial) = &self.initial else { return };
        let computed = pages.filter(|ppn| self.reverse[ppn.index()] == 0);
        let computed: Vec<(Lpn, Ppn)> = computed.filter_map(|ppn| Some((initial.lpn_at(ppn)?, ppn))).collect();
        self.set_all(&computed);
    }

    /// Stores all entries that are still computed in the tables, and drops the computed map.
    pub(in super::super) fn materialize_all(&mut self) {
        let Some(initial) = self.initial.take() else { return };
        initial.in_batches(|batch| {
            batch.retain(|&(lpn, _)| self.entry(lpn) == 0);
            self.set_all(batch);
        });
    }

    /// Returns the location of `lpn` in the forward table; `None` if the table has no entry for it (the location may then be computed) or the page
    /// was deallocated.
    #[inline]
    pub(in super::super) fn stored(&self, lpn: Lpn) -> Option<Ppn> {
        let entry = self.entry(lpn);
        entry.checked_sub(1).filter(|_| entry != UNMAPPED).map(Ppn)
    }

    /// Returns whether any page, including translation pages, was ever mapped.
    pub(in super::super) fn is_used(&self) -> bool {
        self.initial.is_some() || self.written_bytes() > Bytes::ZERO
    }

    /// Maps `lpn` to `ppn` in both directions. Returns the previous location of `lpn`; `None` if it was unmapped.
    #[inline]
    pub(in super::super) fn set(&mut self, lpn: Lpn, ppn: Ppn) -> Option<Ppn> {
        self.reverse[ppn.index()] = lpn.0 + 1;
        let entry = self.set_entry(lpn, ppn.0 + 1);
        let old = self.place_in(entry, lpn);
        self.changes += u64::from(old.is_some() | (self.unmapped_reads > 0));
        old
    }

    /// Maps several pages. No queued read may have looked up their entries, because these changes are not counted. Faster than [`Mapping::set`] for
    /// each page, because the entries are prefetched.
    #[inline]
    pub(in super::super) fn set_all(&mut self, pages: &[(Lpn, Ppn)]) {
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

    /// Returns the number of changes of map entries so far, over all pages of the drive. Locations that were looked up stay valid until this number
    /// changes. The first write of a page counts only once [an unmapped page was read](Mapping::count_unmapped_read): before that, no queued read
    /// holds the home (address at which an unmapped page is read) of the page.
    #[inline(always)]
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Counts a read of an unmapped page. From then on, the first write of a page counts as one of the [`changes`](Mapping::changes), because a
    /// queued read may hold the home (address at which an unmapped page is read) of that page.
    #[inline(always)]
    pub(super) fn count_unmapped_read(&mut self) {
        self.unmapped_reads += 1;
    }

    /// Returns the number of reads of unmapped pages so far.
    pub(crate) fn unmapped_reads(&self) -> u64 {
        self.unmapped_reads
    }

    /// Records that `ppn` holds a copy of `lpn`, such as a replica. The mapped location of `lpn` stays the same.
    pub(in super::super) fn set_reverse(&mut self, ppn: Ppn, lpn: Lpn) {
        self.reverse[ppn.index()] = lpn.0 + 1;
    }

    /// Unmaps `lpn`. Returns its previous location; `None` if it was unmapped already.
    #[inline]
    pub(in super::super) fn clear(&mut self, lpn: Lpn) -> Option<Ppn> {
        let old = self.get(lpn)?;
        self.changes += 1;
        self.set_entry(lpn, UNMAPPED);
        Some(old)
    }

    /// Returns the logical page last programmed at `ppn`. Meaningful only while `ppn` is valid; page 0 if none was ever programmed there.
    #[inline]
    pub(in super::super) fn lpn_at(&self, ppn: Ppn) -> Lpn {
        match self.reverse[ppn.index()].checked_sub(1) {
            Some(lpn) => Lpn(lpn),
            None => self.initial.as_ref().and_then(|initial| initial.lpn_at(ppn)).unwrap_or(Lpn(0)),
        }
    }

    /// Returns the physical pages of `lpns`, in this order. All of `lpns` must be mapped by entries in the forward table.
    pub(in super::super) fn physical_pages(&self, lpns: Range<u32>) -> impl Iterator<Item = Ppn> {
        let entries = &self.forward[lpns.start as usize..lpns.end as usize];
        entries
            .iter()
            .map(|entry| Ppn(entry.checked_sub(1).expect("all pages of a sample are written before it is copied")))
    }

    /// Prefetches the forward entry of `lpn` into the CPU cache, if any entry of its region was ever set.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        if lpn.index() < self.forward.len() && self.is_region_written(lpn) {
            prefetch(&self.forward, lpn.index());
        }
    }

    /// Returns the mapped logical pages with their physical pages, by ascending logical page. Takes time proportional to the number of regions in
    /// which an entry was ever set; with computed entries, proportional to the number of all regions.
    pub(in super::super) fn mapped(&self) -> impl Iterator<Item = (Lpn, Ppn)> {
        let regions = (0..self.logical_pages()).step_by(REGION_ENTRIES as usize);
        let used = regions.filter(|&first| self.initial.is_some() || self.is_region_written(Lpn(first)));
        let pages = used.flat_map(|first| first..self.logical_pages().min(first + REGION_ENTRIES));
        pages.filter_map(|lpn| Some((Lpn(lpn), self.get(Lpn(lpn))?)))
    }

    /// Returns the size in memory of the regions of the forward table in which an entry was ever set.
    pub fn written_bytes(&self) -> Bytes {
        let regions: u32 = self.written_regions.iter().map(|word| word.count_ones()).sum();
        Bytes::new(u64::from(regions) * u64::from(REGION_ENTRIES) * size_of::<u32>() as u64)
    }

    pub(in super::super) fn logical_pages(&self) -> u32 {
        self.forward.len() as u32
    }
}
