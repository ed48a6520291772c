//! Programs and erases that the journal on flash does not cover. Recovery finds them by a scan of the flash.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::Stamp;
use crate::ids::{BlockId, Lpn, Ppn};

/// A programmed host page, with the content of its spare area, as a scan finds it. `at` is the stamp of the program. `stamp` is the stamp
/// of the write whose data the page contains (0 if superseded).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScannedPage {
    pub at: Stamp,
    pub ppn: Ppn,
    pub lpn: Lpn,
    pub stamp: Stamp,
    pub is_replica: bool,
}

/// Programs and erases that the journal on flash does not cover.
#[derive(Clone, Debug, Default)]
pub(super) struct UncoveredOperations {
    programs: VecDeque<ScannedPage>,
    erases: VecDeque<(Stamp, BlockId)>,
}

impl UncoveredOperations {
    pub(super) fn programmed(&mut self, found: ScannedPage) {
        self.programs.push_back(found);
    }

    pub(super) fn erased(&mut self, block: BlockId, at: Stamp) {
        self.erases.push_back((at, block));
    }

    pub(super) fn discard_until(&mut self, to: Stamp) {
        while self.programs.front().is_some_and(|found| found.at <= to) {
            self.programs.pop_front();
        }
        while self.erases.front().is_some_and(|&(at, _)| at <= to) {
            self.erases.pop_front();
        }
    }

    pub(super) fn programs(&self) -> impl Iterator<Item = &ScannedPage> {
        self.programs.iter()
    }

    pub(super) fn erased_at(&self) -> FxHashMap<BlockId, Stamp> {
        self.erases.iter().map(|&(at, block)| (block, at)).collect()
    }
}
