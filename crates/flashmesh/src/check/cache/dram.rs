//! Checks of the sectors in the DRAM of the device cache: written by requests, found by reads, filled from flash, and evicted.

use super::{Cache, CachedPage};
use crate::cache::Sectors;
use crate::ids::{Lpn, RequestId};

impl Cache {
    /// Checks that DRAM has the `sectors` that read `id` found there, in a version that is recent enough for the read. Returns whether
    /// these are all sectors of page `lpn` that the read covers.
    pub(in super::super) fn found(&mut self, id: RequestId, lpn: Lpn, sectors: Sectors) -> Result<bool, String> {
        let Some(io) = self.flying.get(&id).map(|flying| flying.io) else {
            return Err(format!("request {} found logical page {} in the cache, but is not in flight", id.0, lpn.0));
        };
        let wanted = self.cuts.touched(&io, lpn);
        let nothing = vec![None; self.sectors as usize];
        let stamps = self.dram.get(&lpn).map_or(&nothing, |held| &held.stamps);
        if let Some(flying) = self.flying.get_mut(&id) {
            Cache::gets(flying, id, lpn, sectors, stamps, "DRAM")?;
        }
        Ok(wanted.without(sectors).is_empty())
    }

    /// Checks the sectors of page `lpn` that a write stores in DRAM. With `stays`, the write of the page is complete and its data is
    /// destaged later; otherwise the write completes when the data is on flash.
    pub(in super::super) fn accept_write(
        &mut self,
        id: RequestId,
        lpn: Lpn,
        sectors: Sectors,
        stays: bool,
    ) -> Result<(), String> {
        let Some(flying) = self.flying.get_mut(&id) else {
            return Err(format!("the cache took logical page {} for request {}, which is not in flight", lpn.0, id.0));
        };
        let (io, order) = (flying.io, flying.order);
        if stays {
            flying.done.push(lpn);
        }
        if self.cuts.touched(&io, lpn) != sectors {
            return Err(format!("the cache took other sectors of logical page {} than request {} wrote", lpn.0, id.0));
        }
        let empty = || CachedPage { stamps: vec![None; self.sectors as usize], unsaved: Sectors::NONE };
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

    pub(in super::super) fn filled(&mut self, id: RequestId, lpn: Lpn, sectors: Sectors) -> Result<(), String> {
        let base = self.flying.get(&id).and_then(|flying| flying.base.get(&lpn)).cloned();
        let Some(base) = base else {
            return Err(format!("logical page {} filled the cache for request {}, which did not read it", lpn.0, id.0));
        };
        let empty = || CachedPage { stamps: vec![None; self.sectors as usize], unsaved: Sectors::NONE };
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

    pub(in super::super) fn removed(&mut self, lpn: Lpn) -> Result<(), String> {
        match self.dram.remove(&lpn) {
            Some(held) if !held.unsaved.is_empty() => {
                Err(format!("logical page {} left DRAM with {} sectors that flash lacks", lpn.0, held.unsaved.count()))
            }
            _ => Ok(()),
        }
    }
}
