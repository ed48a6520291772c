//! Acknowledged writes whose data is not on flash yet. A power cut loses these writes, so they are tracked only if a power cut is configured.
//!
//! A write is acknowledged when its completion reaches the host. By then its data may be dirty, in destage, or on flash. The generation of the write
//! shows which of the three.

use rustc_hash::FxHashMap;

use super::Cache;
use super::admission::PageWrite;
use super::sectors::Sectors;
use crate::ids::{Lpn, RequestId};

/// Writes accepted by DRAM whose completion has not reached the host yet. For each request: pages, sectors and generations of its data.
#[derive(Clone, Debug, Default)]
pub(super) struct UnacknowledgedWrites {
    pending: FxHashMap<RequestId, Vec<(Lpn, Sectors, u64)>>,
}

impl UnacknowledgedWrites {
    /// Records a write that DRAM has accepted. `generation` is the version number of its data: that of the dirty page or, once the page is in
    /// destage, that of the copy in destage.
    pub fn record(&mut self, write: &PageWrite, generation: u64) {
        self.pending.entry(write.request).or_default().push((write.lpn, write.sectors, generation));
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unsaved {
    pub pages: u64,
    pub sectors: u64,
}

impl Unsaved {
    fn add(&mut self, sectors: Sectors) {
        self.pages += u64::from(!sectors.is_empty());
        self.sectors += u64::from(sectors.count());
    }
}

impl Cache {
    pub fn acknowledge(&mut self, request: RequestId) {
        let Some(acknowledged) = &mut self.acknowledged else { return };
        for (lpn, sectors, generation) in acknowledged.pending.remove(&request).unwrap_or_default() {
            let Some(&slot) = self.table.get(&lpn) else { continue };
            let page = &mut self.slots[slot];
            if generation == page.generation {
                page.acknowledged = page.acknowledged.or(sectors);
            } else if generation == page.destage.generation && !page.destage.is_forgotten {
                let destage = &mut page.destage;
                destage.acknowledged = destage.acknowledged.or(sectors.and(destage.sectors));
            }
        }
    }

    /// Counts the dirty sectors, the sectors in destage that are not programmed yet, and their pages. Data of a finished program is not counted, even
    /// if the controller is not notified yet.
    pub fn unsaved(&self) -> Unsaved {
        let mut unsaved = Unsaved::default();
        for &slot in self.table.values() {
            let page = &self.slots[slot];
            unsaved.add(page.dirty.or(page.destage.unsaved()));
        }
        unsaved
    }

    /// Counts those sectors of [`unsaved`](Self::unsaved) whose write is acknowledged, and their pages; zero unless a power cut is configured.
    pub fn unsaved_acknowledged(&self) -> Unsaved {
        let mut unsaved = Unsaved::default();
        for &slot in self.table.values() {
            let page = &self.slots[slot];
            unsaved.add(page.acknowledged.or(page.destage.acknowledged.and(page.destage.unsaved())));
        }
        unsaved
    }
}
