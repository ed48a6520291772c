//! Checks of the sectors that host requests read and write, at the arrival and the completion of the requests.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::{Cache, RequestInFlight, Stamp};
use crate::cache::Sectors;
use crate::ids::{Lpn, RequestId};
use crate::workload::{IoRequest, RequestKind};

impl Cache {
    pub(in super::super) fn submitted(&mut self, id: RequestId, io: &IoRequest) {
        self.order += 1;
        let mut floors = FxHashMap::default();
        if io.kind == RequestKind::Read {
            for lpn in self.cuts.extent(io).pages() {
                floors.insert(lpn, self.known.get(&lpn).cloned().unwrap_or_else(|| self.initial_stamps()));
            }
        }
        let flying = RequestInFlight {
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

    pub(super) fn gets(
        flying: &mut RequestInFlight,
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

    /// Records what flash must contain when a flush of `pages` completes: every sector that is dirty when the flush begins, and the data of
    /// every write that reached the drive before the flush. Records nothing if flushes complete without programs.
    pub(in super::super) fn flush_began(&mut self, id: RequestId, pages: Range<u32>) {
        if self.is_protected {
            return;
        }
        let mut floors: FxHashMap<Lpn, Vec<Stamp>> = FxHashMap::default();
        for (&lpn, held) in self.dram.iter().filter(|(lpn, _)| pages.contains(&lpn.0)) {
            let floor = floors.entry(lpn).or_insert_with(|| vec![0; self.sectors as usize]);
            for sector in held.unsaved.iter().map(|sector| sector as usize) {
                floor[sector] = held.stamps[sector].unwrap_or_default();
            }
        }
        let writes =
            |flying: &&RequestInFlight| matches!(flying.io.kind, RequestKind::Write | RequestKind::WriteZeroes);
        for flying in self.flying.values().filter(writes) {
            for lpn in self.pages_moved(&flying.io).filter(|lpn| pages.contains(&lpn.0)) {
                // A write and a deallocation of the same page that are in flight together can take effect in either order. So the flush
                // does not require the data of such a write.
                if flying.overtaken.contains(&lpn) {
                    continue;
                }
                let floor = floors.entry(lpn).or_insert_with(|| vec![0; self.sectors as usize]);
                for sector in self.cuts.touched(&flying.io, lpn).iter().map(|sector| sector as usize) {
                    floor[sector] = floor[sector].max(flying.order);
                }
            }
        }
        if let Some(flush) = self.flying.get_mut(&id) {
            flush.floors = floors;
        }
    }

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

    pub(in super::super) fn completed(&mut self, id: RequestId) -> Result<(), String> {
        let Some(flying) = self.flying.remove(&id) else { return Ok(()) };
        match flying.io.kind {
            RequestKind::Deallocate => return Ok(()),
            RequestKind::Flush => return self.flushed(id, &flying.floors),
            RequestKind::Read | RequestKind::Write | RequestKind::WriteZeroes => {}
        }
        for lpn in self.pages_moved(&flying.io) {
            let touched = self.cuts.touched(&flying.io, lpn);
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
}
