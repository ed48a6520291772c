//! Oracle `cache`: the device cache returns no stale data and loses none, sector by sector.
//!
//! For every sector the oracle tracks the last write that changed its copy on flash, and the last write that changed its copy in DRAM. Writes are
//! numbered in order of arrival at the drive. A read returns nothing older than what was acknowledged, or read, before it reached the drive; a
//! program never replaces newer data by older; a page leaves DRAM only when flash has its data; the limit of dirty pages holds; and at the end all
//! acknowledged data is in DRAM or on flash, or was counted as lost in the power cut.

mod dram;
mod flash;
mod host;

use rustc_hash::FxHashMap;

use crate::cache::Sectors;
use crate::config::{CacheSharing, CacheWrites, Config};
use crate::ids::{Lpn, RequestId};
use crate::results::counters::PowerCutReport;
use crate::workload::{IoRequest, RequestKind};

use super::arithmetic::PageSplit;

/// Sequence number of a write in order of arrival at the drive; 0 for data from before the run.
type Stamp = u64;

#[derive(Clone, Debug)]
struct RequestInFlight {
    io: IoRequest,
    order: Stamp,
    /// Minimum version of each sector of a page. For a read, applies to the returned data; for a flush, to the data on flash at its
    /// completion.
    floors: FxHashMap<Lpn, Vec<Stamp>>,
    got: FxHashMap<Lpn, Vec<Option<Stamp>>>,
    /// Versions of the sectors of each page that the array read for the request, to complete a partial write or to fill the cache.
    base: FxHashMap<Lpn, Vec<Stamp>>,
    /// Pages of a write whose data is on flash, or in DRAM until its destage.
    done: Vec<Lpn>,
    /// Pages deallocated after the request had stored them. For a read or a flush: pages deallocated while the request was in flight.
    deallocated: Vec<Lpn>,
    /// Pages deallocated while the request was in flight.
    overtaken: Vec<Lpn>,
}

#[derive(Clone, Debug)]
struct CachedPage {
    stamps: Vec<Option<Stamp>>,
    unsaved: Sectors,
}

#[derive(Clone, Debug)]
pub(super) struct Cache {
    /// Whether flushes complete without programs, because data in the device cache is safe (write-back with `cache.flush-programs =
    /// false`).
    is_protected: bool,
    cuts: PageSplit,
    sectors: u32,
    capacity: usize,
    dirty_limit: u64,
    order: Stamp,
    flying: FxHashMap<RequestId, RequestInFlight>,
    dram: FxHashMap<Lpn, CachedPage>,
    /// Number of pages in DRAM with sectors newer than on flash.
    dirty: u64,
    flash: FxHashMap<Lpn, Vec<Stamp>>,
    acknowledged: FxHashMap<Lpn, Vec<Stamp>>,
    /// For each page, the newest version of each sector that a completed write stored or a completed read returned. Later reads must not
    /// return older versions.
    known: FxHashMap<Lpn, Vec<Stamp>>,
    destages: FxHashMap<Lpn, (Sectors, Vec<Option<Stamp>>)>,
    /// For each partly written page that the array read to complete its destage, the versions of the sectors that were read.
    base: FxHashMap<Lpn, Vec<Stamp>>,
}

impl Cache {
    pub(super) const NAME: &'static str = "cache";

    /// Creates the oracle; `None` without a device cache.
    pub(super) fn new(config: &Config) -> Option<Cache> {
        let (settings, cuts) = (&config.cache, PageSplit::new(config));
        let pages = settings.capacity.as_u64() / cuts.page_size().as_u64();
        if pages == 0 {
            return None;
        }
        let parts = match settings.sharing {
            CacheSharing::Shared => 1,
            CacheSharing::PerStream => config.streams().len() as u64,
        };
        // Each part of the cache (one for each stream, or one for all) has space for at least one page, and at least one of its pages may be dirty.
        let of_a_part = (pages / parts).max(1);
        let dirty_of_a_part = ((of_a_part as f64 * settings.dirty_limit) as u64).max(1);
        Some(Cache {
            is_protected: settings.writes == CacheWrites::Back && !settings.flush_programs,
            sectors: cuts.sectors(),
            capacity: (parts * of_a_part) as usize,
            dirty_limit: parts * dirty_of_a_part,
            cuts,
            order: 0,
            flying: FxHashMap::default(),
            dram: FxHashMap::default(),
            dirty: 0,
            flash: FxHashMap::default(),
            acknowledged: FxHashMap::default(),
            known: FxHashMap::default(),
            destages: FxHashMap::default(),
            base: FxHashMap::default(),
        })
    }

    fn initial_stamps(&self) -> Vec<Stamp> {
        vec![0; self.sectors as usize]
    }

    fn on_flash(&self, lpn: Lpn) -> Vec<Stamp> {
        self.flash.get(&lpn).cloned().unwrap_or_else(|| self.initial_stamps())
    }

    /// Returns the pages whose data a request reads or writes. For write zeroes, only the partly covered pages, because whole pages are deallocated.
    fn pages_moved(&self, io: &IoRequest) -> impl Iterator<Item = Lpn> + use<> {
        let extent = self.cuts.extent(io);
        let zeroes = io.kind == RequestKind::WriteZeroes;
        extent.pages().filter(move |lpn| !zeroes || extent.is_partial(*lpn))
    }

    fn count_dirty(&mut self, before: bool, after: bool) -> Result<(), String> {
        self.dirty = self.dirty + u64::from(after) - u64::from(before);
        if self.dirty > self.dirty_limit {
            return Err(format!("{} pages are dirty, but {} may be", self.dirty, self.dirty_limit));
        }
        Ok(())
    }

    pub(super) fn deallocated(&mut self, lpn: Lpn) {
        self.flash.remove(&lpn);
        // Content that was read before the deallocation must not be used to complete a later partial write.
        self.base.remove(&lpn);
        self.known.remove(&lpn);
        self.acknowledged.remove(&lpn);
        // Data that reaches the cache after the deallocation is newer than the deallocation. A read in flight may return the content from
        // before or from after the deallocation.
        for flying in self.flying.values_mut() {
            flying.overtaken.push(lpn);
            if matches!(flying.io.kind, RequestKind::Read | RequestKind::Flush) || flying.done.contains(&lpn) {
                flying.floors.remove(&lpn);
                flying.deallocated.push(lpn);
            }
        }
        if let Some(held) = self.dram.get_mut(&lpn) {
            self.dirty -= u64::from(!held.unsaved.is_empty());
            held.unsaved = Sectors::NONE;
            held.stamps.fill(None);
        }
    }

    pub(super) fn finish(&self, power_cut: Option<&PowerCutReport>) -> Result<(), String> {
        let (mut pages, mut sectors) = (0, 0);
        for (&lpn, acknowledged) in &self.acknowledged {
            let flash = self.on_flash(lpn);
            let dram = self.dram.get(&lpn).filter(|_| power_cut.is_none());
            let held = |at: usize| dram.and_then(|held| held.stamps[at]).unwrap_or(flash[at]);
            let lost = (0..acknowledged.len()).filter(|&at| held(at) < acknowledged[at]).count() as u64;
            if lost > 0 && power_cut.is_none_or(|cut| cut.capacitors) {
                return Err(format!("{lost} sectors of logical page {} are lost that were acknowledged", lpn.0));
            }
            pages += u64::from(lost > 0);
            sectors += lost;
        }
        let Some(cut) = power_cut else { return Ok(()) };
        let bytes = sectors * self.cuts.sector_size().as_u64();
        if (cut.pages_lost, cut.bytes_lost) != (pages, bytes) {
            return Err(format!(
                "{} pages and {} B were reported as lost with the power, but {pages} pages and {bytes} B were",
                cut.pages_lost, cut.bytes_lost
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
