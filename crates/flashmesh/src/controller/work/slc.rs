//! Counters of the SLC cache: host writes into the cache and to native blocks, folds, and the time for which the cache is full.

use crate::flash::geometry::Geometry;
use crate::ftl::Ftl;
use crate::ids::{PlaneId, Ppn};
use crate::results::counters::SlcReport;
use crate::units::Time;

/// The counters of the SLC cache of a drive.
#[derive(Clone, Debug)]
pub struct SlcWork {
    pages_written: u64,
    pages_direct: u64,
    folds: u64,
    pages_folded: u64,
    erases: u64,
    /// Time at which the SLC cache of a plane became full, by plane; `None` if the plane has space.
    full_since: Vec<Option<Time>>,
    /// Total time for which planes had a full SLC cache, without the periods in `full_since` that have not ended.
    full: Time,
}

impl SlcWork {
    /// Creates zero counters; `None` if the drive has no SLC cache.
    pub fn new(geometry: &Geometry) -> Option<Box<SlcWork>> {
        geometry.has_slc().then(|| {
            Box::new(SlcWork {
                pages_written: 0,
                pages_direct: 0,
                folds: 0,
                pages_folded: 0,
                erases: 0,
                full_since: vec![None; geometry.planes() as usize],
                full: Time::ZERO,
            })
        })
    }

    /// Counts a host write that was programmed to `to`, in the SLC cache or in a native block. Records whether the SLC cache of its plane is then
    /// full.
    pub fn written(&mut self, to: Ppn, geometry: &Geometry, ftl: &Ftl, now: Time) {
        let plane = geometry.plane_of(to);
        if geometry.is_slc_page(to) {
            self.pages_written += 1;
        } else {
            self.pages_direct += 1;
        }
        if !ftl.blocks().has_slc_page(plane) {
            self.full_since[plane.index()].get_or_insert(now);
        }
    }

    pub fn fold_began(&mut self) {
        self.folds += 1;
    }

    pub fn page_folded(&mut self) {
        self.pages_folded += 1;
    }

    /// Counts an erase of a block of the SLC cache, after its pages were moved to native blocks (fold).
    pub fn erased(&mut self) {
        self.erases += 1;
    }

    /// Ends the period for which the SLC cache of `plane` was full, because a block of the SLC cache is free again.
    pub fn has_room(&mut self, plane: PlaneId, now: Time) {
        if let Some(since) = self.full_since[plane.index()].take() {
            self.full += now - since;
        }
    }

    /// Returns the report of a run up to `now`; `erases` is the number of erases of all blocks.
    pub fn report(&self, geometry: &Geometry, erases: u64, now: Time) -> SlcReport {
        let planes = u64::from(geometry.planes());
        let blocks = planes * u64::from(geometry.slc.per_plane);
        let native_blocks = planes * u64::from(geometry.native_blocks_per_plane());
        // With a dynamic SLC cache, the blocks of the cache are also native blocks, so each erase counts for both.
        let of_cache_alone = if geometry.slc.is_dynamic { 0 } else { self.erases };
        let still_full =
            self.full_since.iter().flatten().fold(Time::ZERO, |sum, &since| sum + now.saturating_sub(since));
        let full_s = (self.full + still_full).as_secs_f64();
        let written = self.pages_written + self.pages_direct;
        SlcReport {
            blocks,
            capacity_bytes: blocks * u64::from(geometry.slc.pages_per_block) * geometry.page_size.as_u64(),
            pages_written: self.pages_written,
            pages_direct: self.pages_direct,
            direct_share: (written > 0).then(|| self.pages_direct as f64 / written as f64),
            folds: self.folds,
            pages_folded: self.pages_folded,
            erases: self.erases,
            erases_per_block: self.erases as f64 / blocks as f64,
            native_erases_per_block: (erases - of_cache_alone) as f64 / native_blocks as f64,
            full_share: (now > Time::ZERO).then(|| (full_s / (now.as_secs_f64() * planes as f64)).min(1.0)),
        }
    }
}
