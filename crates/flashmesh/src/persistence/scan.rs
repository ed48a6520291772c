//! What a recovery reads, in the order in which one read tells what the next ones are.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Persistence;
use crate::flash::geometry::Geometry;
use crate::ftl::{BlockState, Ftl};
use crate::ids::{BlockId, Lpn, Ppn};

/// A page that is read, whole or only what is beside its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanRead {
    /// Where.
    pub ppn: Ppn,
    /// Whether its data is read.
    pub is_whole: bool,
}

/// The reads of a recovery. Each step begins when the one before is done.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// What is beside the data of the first page of each block: whether it is erased, which blocks hold translation pages, and which were
    /// opened since the last page of the journal.
    pub blocks: Vec<ScanRead>,
    /// What is beside the data of the other pages of blocks with translation pages: where the newest of each is.
    pub system: Vec<ScanRead>,
    /// Pages of the map, unless it stays on flash in normal operation.
    pub map: Vec<ScanRead>,
    /// Pages of the journal and of the replication map.
    pub journal: Vec<ScanRead>,
    /// What is beside the data of pages programmed since the last page of the journal, which says which blocks were open, and in each
    /// block that is not full of the first page that is erased.
    pub open: Vec<ScanRead>,
}

impl Persistence {
    /// What a recovery reads after the power was cut while `torn` pages were being programmed; `ftl` says what the array holds.
    pub fn scan(&self, geometry: &Geometry, ftl: &Ftl, torn: &[Ppn], keeps_map: bool) -> Scan {
        let beside = |ppn| ScanRead { ppn, is_whole: false };
        let whole = |lpn: Lpn| ftl.lookup(lpn).map(|ppn| ScanRead { ppn, is_whole: true });
        let mut torn_of: FxHashMap<BlockId, Vec<Ppn>> = FxHashMap::default();
        torn.iter().for_each(|&ppn| torn_of.entry(geometry.block_of(ppn)).or_default().push(ppn));
        let erased_at = self.recent.erased_at();
        let mut found_of: FxHashMap<BlockId, FxHashSet<Ppn>> = FxHashMap::default();
        for found in self.recent.programs() {
            let block = geometry.block_of(found.ppn);
            if erased_at.get(&block).is_none_or(|&at| at < found.at) {
                found_of.entry(block).or_default().insert(found.ppn);
            }
        }
        let mut scan = Scan::default();
        for block in (0..geometry.blocks()).map(BlockId) {
            scan.blocks.push(beside(geometry.ppn(block, 0)));
            let state = ftl.block_state(block);
            if state == BlockState::Free {
                continue;
            }
            let torn = torn_of.get(&block).map_or(&[][..], Vec::as_slice);
            let programmed = ftl.programmed_pages(block);
            let mut pages: Vec<Ppn> = if ftl.holds_translation(block) {
                (1..programmed).map(|page| geometry.ppn(block, page)).collect()
            } else {
                found_of.get(&block).into_iter().flatten().copied().collect()
            };
            pages.sort_unstable();
            pages.extend(torn);
            let written = programmed + torn.len() as u32;
            if state == BlockState::Open && written < geometry.pages_per_block {
                pages.push(geometry.ppn(block, written));
            }
            let of_step = if ftl.holds_translation(block) { &mut scan.system } else { &mut scan.open };
            of_step.extend(pages.into_iter().map(beside));
        }
        if !keeps_map {
            scan.map.extend(self.pages.of_map().map(Lpn).filter_map(whole));
        }
        scan.journal.extend(self.journal.durable_pages().filter_map(whole));
        scan.journal.extend(self.pages.of_replicas().map(Lpn).filter_map(whole));
        scan
    }
}
