//! Checks of the versions of sectors that the flash array reads and programs, behind the device cache.

use super::{Cache, Stamp};
use crate::cache::Sectors;
use crate::check::Origin;
use crate::ids::{Lpn, RequestId};
use crate::units::Bytes;
use crate::workload::RequestKind;

impl Cache {
    pub(in super::super) fn read(&mut self, id: Option<RequestId>, lpn: Lpn) -> Result<(), String> {
        let stamps = self.on_flash(lpn);
        let Some(id) = id else {
            self.base.insert(lpn, stamps);
            return Ok(());
        };
        let Some(io) = self.flying.get(&id).map(|flying| flying.io) else { return Ok(()) };
        let wanted = self.cuts.touched(&io, lpn);
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

    pub(in super::super) fn destage_began(&mut self, lpn: Lpn, sectors: Sectors) -> Result<(), String> {
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

    pub(in super::super) fn destaged_bytes(&self, lpn: Lpn) -> Option<Bytes> {
        let (sectors, _) = self.destages.get(&lpn)?;
        Some(self.cuts.sector_size() * u64::from(sectors.count()))
    }

    pub(in super::super) fn programmed(&mut self, lpn: Lpn, origin: Origin) -> Result<(), String> {
        let before = self.on_flash(lpn);
        let (mut content, new, sectors): (_, Vec<Option<Stamp>>, _) = match origin {
            Origin::Moved(_) | Origin::Map | Origin::Replica(_) => return Ok(()),
            Origin::User(id) => {
                let Some(io) = self.flying.get(&id).map(|flying| flying.io) else { return Ok(()) };
                let sectors = self.cuts.touched(&io, lpn);
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

    pub(in super::super) fn destage_forgotten(&mut self, lpn: Lpn) {
        let Some(content) = self.flash.remove(&lpn) else { return };
        // The destaged page may contain data of writes that were in flight when it was deallocated. Do not require these versions any more.
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
}
