//! What the array has done since the last page of the journal: what a scan of the pages finds.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::Stamp;
use crate::ids::{BlockId, Lpn, Ppn};

/// A programmed page of the host, with what is beside its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// When it was programmed.
    pub at: Stamp,
    pub ppn: Ppn,
    pub lpn: Lpn,
    /// The write that its data is from.
    pub stamp: Stamp,
    pub is_copy: bool,
}

/// Programs and erases since the last page of the journal.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    programs: VecDeque<Found>,
    erases: VecDeque<(Stamp, BlockId)>,
}

impl Recent {
    pub(super) fn programmed(&mut self, found: Found) {
        self.programs.push_back(found);
    }

    pub(super) fn erased(&mut self, block: BlockId, at: Stamp) {
        self.erases.push_back((at, block));
    }

    /// The journal has everything up to `to`.
    pub(super) fn forget(&mut self, to: Stamp) {
        while self.programs.front().is_some_and(|found| found.at <= to) {
            self.programs.pop_front();
        }
        while self.erases.front().is_some_and(|&(at, _)| at <= to) {
            self.erases.pop_front();
        }
    }

    /// The programs, in their order.
    pub(super) fn programs(&self) -> impl Iterator<Item = &Found> {
        self.programs.iter()
    }

    /// When each block was erased last.
    pub(super) fn erased_at(&self) -> FxHashMap<BlockId, Stamp> {
        self.erases.iter().map(|&(at, block)| (block, at)).collect()
    }
}
