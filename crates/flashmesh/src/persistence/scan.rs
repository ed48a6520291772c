//! Reads of a recovery, in four steps. The data of each step determines the reads of the next.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Persistence;
use crate::flash::geometry::Geometry;
use crate::ftl::{BlockState, Ftl};
use crate::ids::{BlockId, Lpn, Ppn};

/// Read of a page during recovery: of the whole page if `is_whole` is true, otherwise only of its spare area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanRead {
    pub ppn: Ppn,
    pub is_whole: bool,
}

/// Reads of a recovery, in the order of its steps: `blocks`, `translation`, `map` with `journal`, and `open`. A step begins when the reads of the
/// previous step have ended. `journal` has the pages of the journal and of the replication map.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Spare area of the first page of each block. It shows whether the block is erased, holds translation pages, or was opened after the last
    /// journal page.
    pub blocks: Vec<ScanRead>,
    /// Spare areas in blocks of translation pages, to find the newest version of each translation page: all programmed pages after the first one of
    /// their block, torn pages, and the first erased page of each partly filled block.
    pub translation: Vec<ScanRead>,
    /// Whole translation pages of the map; empty if a mapping cache reads them on demand.
    pub map: Vec<ScanRead>,
    pub journal: Vec<ScanRead>,
    /// Spare areas in blocks of host data: pages programmed after the last journal page, torn pages, and the first erased page of each partly filled
    /// block. The last journal page names the open blocks.
    pub open: Vec<ScanRead>,
}

impl Persistence {
    /// Returns the reads of a recovery after a power cut that interrupted the programs of the pages `torn`. `ftl` describes the contents of
    /// the flash. If `keeps_map`, the recovery does not read the map, because a mapping cache reads its pages later, on demand.
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
            let state = ftl.blocks().state(block);
            if state == BlockState::Free {
                continue;
            }
            let torn = torn_of.get(&block).map_or(&[][..], Vec::as_slice);
            let programmed = ftl.blocks().programmed_pages(block);
            let mut pages: Vec<Ppn> = if ftl.blocks().holds_translation(block) {
                (1..programmed).map(|page| geometry.ppn(block, page)).collect()
            } else {
                found_of.get(&block).into_iter().flatten().copied().collect()
            };
            pages.sort_unstable();
            pages.extend(torn);
            let written = programmed + torn.len() as u32;
            if state == BlockState::Open && written < geometry.pages_of(block) {
                pages.push(geometry.ppn(block, written));
            }
            let of_step = if ftl.blocks().holds_translation(block) { &mut scan.translation } else { &mut scan.open };
            of_step.extend(pages.into_iter().map(beside));
        }
        if !keeps_map {
            scan.map.extend(self.pages.map_pages().map(Lpn).filter_map(whole));
        }
        scan.journal.extend(self.journal.durable_pages().filter_map(whole));
        scan.journal.extend(self.pages.replica_pages().map(Lpn).filter_map(whole));
        scan
    }
}
