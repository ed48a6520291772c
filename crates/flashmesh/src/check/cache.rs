//! The device cache hides no data and loses none, sector by sector.
//!
//! The oracle keeps, for every sector, which write its content on flash and in DRAM comes from, by the order in which
//! writes reached the drive. A read returns nothing older than what was acknowledged, or read, before it reached the
//! drive; a program puts nothing older over something newer; a page leaves DRAM only when flash has it; no more pages
//! are dirty than may be; and at the end everything acknowledged is in DRAM or on flash, or counted as lost with the
//! power.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::cache::{Cache as Device, Sectors};
use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, RequestId};
use crate::measure::cache::PowerCutReport;
use crate::units::Bytes;
use crate::workload::{IoRequest, RequestKind};

use super::Origin;
use super::requests::Extent;

/// A write, by its place in the order of those that reached the drive; 0 for what was there before.
type Stamp = u64;

/// A request in flight.
#[derive(Debug)]
struct Flying {
    io: IoRequest,
    order: Stamp,
    /// What each sector of its pages may not be older than, for a read; of a flush, what flash has to have.
    floors: FxHashMap<Lpn, Vec<Stamp>>,
    /// What a read got so far.
    got: FxHashMap<Lpn, Vec<Option<Stamp>>>,
    /// What the array read for a page of it.
    base: FxHashMap<Lpn, Vec<Stamp>>,
    /// The pages of a write that are where they complete it.
    done: Vec<Lpn>,
    /// Of these, and of the pages of a read, those that were deallocated since.
    deallocated: Vec<Lpn>,
    /// All pages that were deallocated since it reached the drive.
    overtaken: Vec<Lpn>,
}

/// A page in DRAM.
#[derive(Debug)]
struct Held {
    stamps: Vec<Option<Stamp>>,
    unsaved: Sectors,
}

/// What the cache and the flash hold.
#[derive(Debug)]
pub(super) struct Cache {
    geometry: Geometry,
    /// Sectors of a page.
    sectors: u32,
    capacity: usize,
    dirty_limit: u64,
    order: Stamp,
    flying: FxHashMap<RequestId, Flying>,
    dram: FxHashMap<Lpn, Held>,
    /// Pages in DRAM with sectors that flash lacks.
    dirty: u64,
    flash: FxHashMap<Lpn, Vec<Stamp>>,
    /// What the host knows to be written.
    acknowledged: FxHashMap<Lpn, Vec<Stamp>>,
    /// What the host knows to be written, or has read.
    known: FxHashMap<Lpn, Vec<Stamp>>,
    /// What is on its way from DRAM to flash.
    destages: FxHashMap<Lpn, (Sectors, Vec<Option<Stamp>>)>,
    /// What the array read for a destage of a part of a page.
    base: FxHashMap<Lpn, Vec<Stamp>>,
}

impl Cache {
    pub(super) const NAME: &'static str = "cache";

    /// The oracle of a drive with a cache; `None` when it is turned off.
    pub(super) fn new(geometry: &Geometry, config: &Config) -> Option<Cache> {
        let device = Device::new(config, geometry)?;
        Some(Cache {
            sectors: (geometry.page_size.as_u64() / geometry.sector_size.as_u64()) as u32,
            capacity: device.capacity() as usize,
            dirty_limit: device.dirty_limit(),
            geometry: geometry.clone(),
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

    fn none(&self) -> Vec<Stamp> {
        vec![0; self.sectors as usize]
    }

    fn on_flash(&self, lpn: Lpn) -> Vec<Stamp> {
        self.flash.get(&lpn).cloned().unwrap_or_else(|| self.none())
    }

    /// The sectors of `lpn` that a request touches.
    fn touched(&self, io: &IoRequest, lpn: Lpn) -> Sectors {
        let sector = self.geometry.sector_size.as_u64();
        let first_of_page = u64::from(lpn.0) * u64::from(self.sectors);
        let first = (io.offset.as_u64() / sector).max(first_of_page) - first_of_page;
        let end = (io.offset + io.size).as_u64().div_ceil(sector).min(first_of_page + u64::from(self.sectors));
        Sectors::range(first as u32, (end - first_of_page) as u32)
    }

    /// The pages that a request reads or writes; zeroes over a whole page deallocate it.
    fn pages_moved(&self, io: &IoRequest) -> impl Iterator<Item = Lpn> + use<> {
        let extent = Extent::of(io, &self.geometry);
        let zeroes = io.kind == RequestKind::WriteZeroes;
        extent.pages().filter(move |lpn| !zeroes || extent.is_partial(*lpn))
    }

    pub(super) fn submitted(&mut self, id: RequestId, io: &IoRequest) {
        self.order += 1;
        let mut floors = FxHashMap::default();
        if io.kind == RequestKind::Read {
            for lpn in Extent::of(io, &self.geometry).pages() {
                floors.insert(lpn, self.known.get(&lpn).cloned().unwrap_or_else(|| self.none()));
            }
        }
        let flying = Flying {
            io: *io,
            order: self.order,
            floors,
            got: FxHashMap::default(),
            base: FxHashMap::default(),
            done: Vec::new(),
            deallocated: Vec::new(),
            overtaken: Vec::new(),
        };
        self.flying.insert(id, flying);
    }

    /// A read gets `sectors` of a page, as they are in `stamps`.
    fn gets(
        flying: &mut Flying,
        id: RequestId,
        lpn: Lpn,
        sectors: Sectors,
        stamps: &[Option<Stamp>],
        from: &str,
    ) -> Result<(), String> {
        let got = flying.got.entry(lpn).or_insert_with(|| vec![None; stamps.len()]);
        for sector in sectors.iter() {
            let at = sector as usize;
            let Some(stamp) = stamps[at] else {
                return Err(format!(
                    "request {} was given sector {sector} of logical page {} from {from}, which does not hold it",
                    id.0, lpn.0
                ));
            };
            let floor = flying.floors.get(&lpn).map_or(0, |floors| floors[at]);
            if stamp < floor {
                return Err(format!(
                    "request {} was given sector {sector} of logical page {} from {from} as write {stamp} left it, but write \
                     {floor} was known to the host before",
                    id.0, lpn.0
                ));
            }
            got[at] = Some(stamp);
        }
        Ok(())
    }

    /// `sectors` of a page of a read come from DRAM. Gives whether that is all it wants of the page.
    pub(super) fn found(&mut self, id: RequestId, lpn: Lpn, sectors: Sectors) -> Result<bool, String> {
        let Some(io) = self.flying.get(&id).map(|flying| flying.io) else {
            return Err(format!("request {} found logical page {} in the cache, but is not in flight", id.0, lpn.0));
        };
        let wanted = self.touched(&io, lpn);
        let nothing = vec![None; self.sectors as usize];
        let stamps = self.dram.get(&lpn).map_or(&nothing, |held| &held.stamps);
        if let Some(flying) = self.flying.get_mut(&id) {
            Cache::gets(flying, id, lpn, sectors, stamps, "DRAM")?;
        }
        Ok(wanted.without(sectors).is_empty())
    }

    /// The array read a page, for a request or for the drive itself.
    pub(super) fn read(&mut self, id: Option<RequestId>, lpn: Lpn) -> Result<(), String> {
        let stamps = self.on_flash(lpn);
        let Some(id) = id else {
            self.base.insert(lpn, stamps);
            return Ok(());
        };
        let Some(io) = self.flying.get(&id).map(|flying| flying.io) else { return Ok(()) };
        let wanted = self.touched(&io, lpn);
        let Some(flying) = self.flying.get_mut(&id) else { return Ok(()) };
        if io.kind == RequestKind::Read {
            let got = flying.got.get(&lpn);
            let from_dram = |sector: &u32| got.is_some_and(|got| got[*sector as usize].is_some());
            let missing = wanted.iter().filter(|sector| !from_dram(sector));
            let missing = missing.fold(Sectors::NONE, |all, sector| all.or(Sectors::range(sector, sector + 1)));
            let whole: Vec<_> = stamps.iter().copied().map(Some).collect();
            Cache::gets(flying, id, lpn, missing, &whole, "flash")?;
        }
        flying.base.insert(lpn, stamps);
        Ok(())
    }

    /// A page is in DRAM now, or not.
    fn count_dirty(&mut self, before: bool, after: bool) -> Result<(), String> {
        self.dirty = self.dirty + u64::from(after) - u64::from(before);
        if self.dirty > self.dirty_limit {
            return Err(format!("{} pages are dirty, but {} may be", self.dirty, self.dirty_limit));
        }
        Ok(())
    }

    /// The data of a page of a write is in DRAM; with `stays` flash is to have it later.
    pub(super) fn took(&mut self, id: RequestId, lpn: Lpn, sectors: Sectors, stays: bool) -> Result<(), String> {
        let Some(flying) = self.flying.get_mut(&id) else {
            return Err(format!("the cache took logical page {} for request {}, which is not in flight", lpn.0, id.0));
        };
        let (io, order) = (flying.io, flying.order);
        if stays {
            flying.done.push(lpn);
        }
        if self.touched(&io, lpn) != sectors {
            return Err(format!("the cache took other sectors of logical page {} than request {} wrote", lpn.0, id.0));
        }
        let empty = || Held { stamps: vec![None; self.sectors as usize], unsaved: Sectors::NONE };
        let held = self.dram.entry(lpn).or_insert_with(empty);
        for sector in sectors.iter() {
            if let Some(newer) = held.stamps[sector as usize].replace(order).filter(|&stamp| stamp > order) {
                return Err(format!(
                    "write {order} came into DRAM over write {newer} of sector {sector} of logical page {}",
                    lpn.0
                ));
            }
        }
        let before = held.unsaved;
        if stays {
            held.unsaved = before.or(sectors);
        }
        let after = held.unsaved;
        if self.dram.len() > self.capacity {
            return Err(format!("the cache holds {} pages, but has room for {}", self.dram.len(), self.capacity));
        }
        self.count_dirty(!before.is_empty(), !after.is_empty())
    }

    /// What a read brought from flash is in DRAM.
    pub(super) fn filled(&mut self, id: RequestId, lpn: Lpn, sectors: Sectors) -> Result<(), String> {
        let base = self.flying.get(&id).and_then(|flying| flying.base.get(&lpn)).cloned();
        let Some(base) = base else {
            return Err(format!("logical page {} filled the cache for request {}, which did not read it", lpn.0, id.0));
        };
        let empty = || Held { stamps: vec![None; self.sectors as usize], unsaved: Sectors::NONE };
        let held = self.dram.entry(lpn).or_insert_with(empty);
        for sector in sectors.iter() {
            let at = sector as usize;
            if let Some(newer) = held.stamps[at].replace(base[at]) {
                return Err(format!(
                    "a read of write {} of sector {sector} of logical page {} came into DRAM over write {newer}",
                    base[at], lpn.0
                ));
            }
        }
        if self.dram.len() > self.capacity {
            return Err(format!("the cache holds {} pages, but has room for {}", self.dram.len(), self.capacity));
        }
        Ok(())
    }

    /// A page is in DRAM no more.
    pub(super) fn removed(&mut self, lpn: Lpn) -> Result<(), String> {
        match self.dram.remove(&lpn) {
            Some(held) if !held.unsaved.is_empty() => {
                Err(format!("logical page {} left DRAM with {} sectors that flash lacks", lpn.0, held.unsaved.count()))
            }
            _ => Ok(()),
        }
    }

    /// `sectors` of a page begin their way from DRAM to flash.
    pub(super) fn destage_began(&mut self, lpn: Lpn, sectors: Sectors) -> Result<(), String> {
        let Some(held) = self.dram.get(&lpn) else {
            return Err(format!("logical page {} is to be written to flash, but is not in DRAM", lpn.0));
        };
        if sectors.iter().any(|sector| held.stamps[sector as usize].is_none()) {
            return Err(format!(
                "sectors of logical page {} are to be written to flash that DRAM does not hold",
                lpn.0
            ));
        }
        match self.destages.insert(lpn, (sectors, held.stamps.clone())) {
            None => Ok(()),
            Some(_) => Err(format!("logical page {} is on its way to flash twice", lpn.0)),
        }
    }

    /// The array programmed a page.
    pub(super) fn programmed(&mut self, lpn: Lpn, origin: Origin) -> Result<(), String> {
        let before = self.on_flash(lpn);
        let (mut content, new, sectors): (_, Vec<Option<Stamp>>, _) = match origin {
            Origin::Moved(_) | Origin::Map => return Ok(()),
            Origin::User(id) => {
                let Some(io) = self.flying.get(&id).map(|flying| flying.io) else { return Ok(()) };
                let sectors = self.touched(&io, lpn);
                let Some(flying) = self.flying.get_mut(&id) else { return Ok(()) };
                flying.done.push(lpn);
                let base = flying.base.remove(&lpn);
                (base, vec![Some(flying.order); self.sectors as usize], sectors)
            }
            Origin::Destaged => {
                let Some((sectors, stamps)) = self.destages.remove(&lpn) else {
                    return Err(format!("logical page {} was programmed for nobody", lpn.0));
                };
                (self.base.remove(&lpn), stamps, sectors)
            }
        };
        let content = content.get_or_insert_with(|| vec![0; self.sectors as usize]);
        for sector in sectors.iter() {
            content[sector as usize] = new[sector as usize].unwrap_or_default();
        }
        if let Some(sector) = (0..content.len()).find(|&sector| content[sector] < before[sector]) {
            return Err(format!(
                "write {} of sector {sector} of logical page {} was programmed over write {}",
                content[sector], lpn.0, before[sector]
            ));
        }
        if origin == Origin::Destaged
            && let Some(held) = self.dram.get_mut(&lpn)
        {
            let is_saved = |sector: &u32| held.stamps[*sector as usize] == Some(content[*sector as usize]);
            let saved = sectors.iter().filter(is_saved);
            let saved = saved.fold(Sectors::NONE, |all, sector| all.or(Sectors::range(sector, sector + 1)));
            let before = held.unsaved;
            held.unsaved = before.without(saved);
            let after = held.unsaved;
            self.flash.insert(lpn, content.clone());
            return self.count_dirty(!before.is_empty(), !after.is_empty());
        }
        self.flash.insert(lpn, content.clone());
        Ok(())
    }

    /// The host no longer needs a page.
    pub(super) fn deallocated(&mut self, lpn: Lpn) {
        self.flash.remove(&lpn);
        self.known.remove(&lpn);
        self.acknowledged.remove(&lpn);
        // What a write brings later comes after it; of a read nobody knows.
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

    /// A page that was deallocated on its way to flash, and is forgotten now that it is there.
    pub(super) fn destage_forgotten(&mut self, lpn: Lpn) {
        let Some(content) = self.flash.remove(&lpn) else { return };
        // A write that was on its way before it came to flash after the page was deallocated, and goes with it.
        let forget = |stamps: &mut Vec<Stamp>| {
            let gone = stamps.iter_mut().zip(&content).filter(|(stamp, gone)| **stamp <= **gone);
            gone.for_each(|(stamp, _)| *stamp = 0);
        };
        [&mut self.known, &mut self.acknowledged].into_iter().filter_map(|of| of.get_mut(&lpn)).for_each(forget);
        let newest = content.iter().copied().max().unwrap_or_default();
        for flying in self.flying.values_mut() {
            flying.floors.get_mut(&lpn).into_iter().for_each(forget);
            let is_gone = flying.order <= newest && flying.done.contains(&lpn);
            if flying.io.kind == RequestKind::Read || is_gone {
                flying.deallocated.push(lpn);
            }
        }
    }

    /// A flush has reached the drive: what DRAM has of these pages, and flash lacks, is to be on flash when it completes, as is what
    /// writes that reached the drive before have yet to bring.
    pub(super) fn flush_began(&mut self, id: RequestId, pages: Range<u32>) {
        let mut floors: FxHashMap<Lpn, Vec<Stamp>> = FxHashMap::default();
        for (&lpn, held) in self.dram.iter().filter(|(lpn, _)| pages.contains(&lpn.0)) {
            let floor = floors.entry(lpn).or_insert_with(|| vec![0; self.sectors as usize]);
            for sector in held.unsaved.iter().map(|sector| sector as usize) {
                floor[sector] = held.stamps[sector].unwrap_or_default();
            }
        }
        let writes = |flying: &&Flying| matches!(flying.io.kind, RequestKind::Write | RequestKind::WriteZeroes);
        for flying in self.flying.values().filter(writes) {
            for lpn in self.pages_moved(&flying.io).filter(|lpn| pages.contains(&lpn.0)) {
                // The two were in flight together: either may be the last.
                if flying.overtaken.contains(&lpn) {
                    continue;
                }
                let floor = floors.entry(lpn).or_insert_with(|| vec![0; self.sectors as usize]);
                for sector in self.touched(&flying.io, lpn).iter().map(|sector| sector as usize) {
                    floor[sector] = floor[sector].max(flying.order);
                }
            }
        }
        if let Some(flush) = self.flying.get_mut(&id) {
            flush.floors = floors;
        }
    }

    /// A flush has completed.
    fn flushed(&self, id: RequestId, floors: &FxHashMap<Lpn, Vec<Stamp>>) -> Result<(), String> {
        for (&lpn, floor) in floors {
            let flash = self.on_flash(lpn);
            if let Some(sector) = (0..floor.len()).find(|&sector| flash[sector] < floor[sector]) {
                return Err(format!(
                    "flush {} completed with write {} of sector {sector} of logical page {} on flash, but write {} came before it",
                    id.0, flash[sector], lpn.0, floor[sector]
                ));
            }
        }
        Ok(())
    }

    /// How much of a page the device cache has sent to flash.
    pub(super) fn destaged_bytes(&self, lpn: Lpn) -> Option<Bytes> {
        let (sectors, _) = self.destages.get(&lpn)?;
        Some(self.geometry.sector_size * u64::from(sectors.count()))
    }

    /// The completion of a request has reached the host.
    pub(super) fn completed(&mut self, id: RequestId) -> Result<(), String> {
        let Some(flying) = self.flying.remove(&id) else { return Ok(()) };
        match flying.io.kind {
            RequestKind::Deallocate => return Ok(()),
            RequestKind::Flush => return self.flushed(id, &flying.floors),
            RequestKind::Read | RequestKind::Write | RequestKind::WriteZeroes => {}
        }
        for lpn in self.pages_moved(&flying.io) {
            let touched = self.touched(&flying.io, lpn);
            let nothing = vec![None; self.sectors as usize];
            let written = vec![Some(flying.order); self.sectors as usize];
            let stamps = match flying.io.kind {
                RequestKind::Read => flying.got.get(&lpn).unwrap_or(&nothing),
                _ if flying.done.contains(&lpn) => &written,
                _ => &nothing,
            };
            if touched.iter().any(|sector| stamps[sector as usize].is_none()) {
                return Err(format!("request {} completed without all of logical page {}", id.0, lpn.0));
            }
            if flying.deallocated.contains(&lpn) {
                continue;
            }
            let raise = |of: &mut FxHashMap<Lpn, Vec<Stamp>>| {
                let known = of.entry(lpn).or_insert_with(|| vec![0; nothing.len()]);
                for sector in touched.iter().map(|sector| sector as usize) {
                    known[sector] = known[sector].max(stamps[sector].unwrap_or_default());
                }
            };
            raise(&mut self.known);
            if flying.io.kind != RequestKind::Read {
                raise(&mut self.acknowledged);
            }
        }
        Ok(())
    }

    /// The run is over, by a cut of the power if there is one.
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
        let bytes = sectors * self.geometry.sector_size.as_u64();
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
mod tests {
    use super::super::planted::{
        assert_fails, assert_silent, config, end, operation, oracles_with, program, read, submit, us,
    };
    use super::super::{Oracles, Origin};
    use crate::cache::Sectors;
    use crate::flash::die::OperationKind;
    use crate::ids::{DieId, Lpn, Ppn, RequestId};
    use crate::measure::cache::PowerCutReport;
    use crate::units::{Bytes, Time};
    use crate::workload::RequestKind::{Deallocate, Read, Write};

    const PAGE: u64 = 4096;
    const WHOLE: Sectors = Sectors::range(0, 8);

    /// A cache of two pages, one of which may be dirty.
    fn oracles() -> Oracles {
        let mut config = config();
        config.cache.capacity = Bytes::from_kib(8);
        config.cache.dirty_limit = 0.5;
        oracles_with(&config)
    }

    /// Writes a part of a page into the cache with a request of its own, which completes.
    fn cached(oracles: &mut Oracles, id: u32, lpn: u32, sectors: Sectors, now: Time) {
        let offset = u64::from(lpn) * PAGE + u64::from(sectors.first()) * 512;
        submit(oracles, id, Write, offset, u64::from(sectors.count()) * 512, now);
        oracles.cache_took(RequestId(id), Lpn(lpn), sectors, true, now);
        oracles.request_completed(RequestId(id), now);
    }

    /// The cache writes a page to flash.
    fn destaged(oracles: &mut Oracles, ppn: u32, lpn: u32, sectors: Sectors, now: Time) -> Time {
        oracles.destage_began(Lpn(lpn), sectors, now);
        program(oracles, ppn, lpn, Origin::Destaged, now)
    }

    #[test]
    fn pages_that_are_written_read_destaged_and_removed_are_right() {
        let mut oracles = oracles();
        cached(&mut oracles, 0, 3, WHOLE, us(0));
        submit(&mut oracles, 1, Read, 3 * PAGE, PAGE, us(0));
        oracles.cache_found(RequestId(1), Lpn(3), WHOLE, us(0));
        oracles.request_completed(RequestId(1), us(0));
        let now = destaged(&mut oracles, 0, 3, WHOLE, us(0));
        oracles.cache_removed(Lpn(3), now);
        submit(&mut oracles, 2, Read, 3 * PAGE, PAGE, now);
        let now = read(&mut oracles, 0, 3, Some(2), now);
        oracles.cache_filled(RequestId(2), Lpn(3), WHOLE, now);
        oracles.request_completed(RequestId(2), now);
        end(&mut oracles, now);
        oracles.cache_finished(None, now);
        assert_silent(&oracles);
    }

    #[test]
    fn a_read_of_flash_that_misses_newer_data_in_dram_is_caught() {
        let mut oracles = oracles();
        let now = super::super::planted::write(&mut oracles, 0, 0, 3, us(0));
        cached(&mut oracles, 1, 3, WHOLE, now);
        submit(&mut oracles, 2, Read, 3 * PAGE, PAGE, now);
        read(&mut oracles, 0, 3, Some(2), now);
        let message =
            "request 2 was given sector 0 of logical page 3 from flash as write 1 left it, but write 2 was known";
        assert_fails(&oracles, "cache", message);
    }

    #[test]
    fn a_hit_of_what_dram_does_not_hold_is_caught() {
        let mut oracles = oracles();
        cached(&mut oracles, 0, 3, Sectors::range(0, 2), us(0));
        submit(&mut oracles, 1, Read, 3 * PAGE, PAGE, us(0));
        oracles.cache_found(RequestId(1), Lpn(3), Sectors::range(0, 3), us(0));
        assert_fails(&oracles, "cache", "was given sector 2 of logical page 3 from DRAM, which does not hold it");
    }

    #[test]
    fn a_dirty_page_that_leaves_is_caught() {
        let mut oracles = oracles();
        cached(&mut oracles, 0, 3, WHOLE, us(0));
        oracles.cache_removed(Lpn(3), us(0));
        assert_fails(&oracles, "cache", "logical page 3 left DRAM with 8 sectors that flash lacks");
    }

    #[test]
    fn what_is_written_during_a_destage_stays_dirty() {
        let mut oracles = oracles();
        cached(&mut oracles, 0, 3, WHOLE, us(0));
        oracles.destage_began(Lpn(3), WHOLE, us(0));
        cached(&mut oracles, 1, 3, Sectors::range(1, 2), us(0));
        let now = program(&mut oracles, 0, 3, Origin::Destaged, us(0));
        assert_silent(&oracles);
        oracles.cache_removed(Lpn(3), now);
        assert_fails(&oracles, "cache", "logical page 3 left DRAM with 1 sectors that flash lacks");
    }

    #[test]
    fn more_dirty_pages_than_may_be_are_caught() {
        let mut oracles = oracles();
        cached(&mut oracles, 0, 3, WHOLE, us(0));
        cached(&mut oracles, 1, 4, WHOLE, us(0));
        assert_fails(&oracles, "cache", "2 pages are dirty, but 1 may be");
    }

    #[test]
    fn a_part_of_a_page_programmed_without_the_rest_is_caught() {
        let mut oracles = oracles();
        let now = super::super::planted::write(&mut oracles, 0, 0, 3, us(0));
        cached(&mut oracles, 1, 3, Sectors::range(0, 1), now);
        destaged(&mut oracles, 1, 3, Sectors::range(0, 1), now);
        assert_fails(&oracles, "cache", "write 0 of sector 1 of logical page 3 was programmed over write 1");
    }

    #[test]
    fn a_fill_over_newer_data_is_caught() {
        let mut oracles = oracles();
        submit(&mut oracles, 0, Read, 3 * PAGE, PAGE, us(0));
        let now = read(&mut oracles, 0, 3, Some(0), us(0));
        cached(&mut oracles, 1, 3, Sectors::range(0, 1), now);
        oracles.cache_filled(RequestId(0), Lpn(3), WHOLE, now);
        assert_fails(&oracles, "cache", "a read of write 0 of sector 0 of logical page 3 came into DRAM over write 2");
    }

    #[test]
    fn a_write_that_completes_before_its_data_is_anywhere_is_caught() {
        let mut oracles = oracles();
        submit(&mut oracles, 0, Write, 0, PAGE, us(0));
        oracles.cache_took(RequestId(0), Lpn(0), WHOLE, false, us(0));
        oracles.request_completed(RequestId(0), us(0));
        assert_fails(&oracles, "requests", "completed at 0ps with 0 of 1 pages programmed");
    }

    #[test]
    fn acknowledged_data_that_is_nowhere_at_the_end_is_caught() {
        let mut oracles = oracles();
        cached(&mut oracles, 0, 3, WHOLE, us(0));
        let cut = PowerCutReport { capacitors: true, ..PowerCutReport::default() };
        oracles.cache_finished(Some(&cut), us(0));
        assert_fails(&oracles, "cache", "8 sectors of logical page 3 are lost that were acknowledged");
    }

    #[test]
    fn losses_that_are_counted_wrong_are_caught() {
        let mut oracles = oracles();
        cached(&mut oracles, 0, 3, WHOLE, us(0));
        let right = PowerCutReport { pages_lost: 1, bytes_lost: PAGE, ..PowerCutReport::default() };
        oracles.cache_finished(Some(&right), us(0));
        assert_silent(&oracles);
        oracles.cache_finished(Some(&PowerCutReport::default()), us(0));
        assert_fails(
            &oracles,
            "cache",
            "0 pages and 0 B were reported as lost with the power, but 1 pages and 4096 B were",
        );
    }

    #[test]
    fn a_page_deallocated_on_its_way_is_forgotten_for_good() {
        let mut oracles = oracles();
        cached(&mut oracles, 0, 3, WHOLE, us(0));
        oracles.destage_began(Lpn(3), WHOLE, us(0));
        submit(&mut oracles, 1, Deallocate, 3 * PAGE, PAGE, us(0));
        oracles.deallocated(Lpn(3), us(0));
        oracles.request_completed(RequestId(1), us(0));
        let now = operation(&mut oracles, DieId(0), OperationKind::Program, us(0));
        oracles.page_programmed(Ppn(0), Lpn(3), Origin::Destaged, now);
        oracles.destage_forgotten(Lpn(3), now);
        end(&mut oracles, now);
        oracles.cache_finished(None, now);
        assert_silent(&oracles);
    }
}
