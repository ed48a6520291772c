//! Blocks filled without programming page by page, before a run.

use super::BlockManager;
use super::open_blocks::OpenBlock;
use crate::ftl::stream::Stream;
use crate::ids::{BlockId, PlaneId, Ppn};

impl BlockManager {
    /// The page that [`BlockManager::open_and_fill`] of a plane begins with, where no block was erased yet.
    pub(in super::super) fn next_fresh_page(&self, plane: PlaneId) -> Option<Ppn> {
        self.planes[plane.index()].free.peek().map(|block| self.geometry.ppn(block, 0))
    }

    /// Opens blocks of `plane` for `stream`, one after the other, until `pages` pages are programmed and valid.
    pub(in super::super) fn open_and_fill(&mut self, plane: PlaneId, stream: Stream, pages: u32) {
        let pages_per_block = self.geometry.pages_per_block;
        let mut left = pages;
        while left > 0 {
            let account = &mut self.planes[plane.index()];
            let Some(block) = account.free.pop() else { break };
            let programmed = left.min(pages_per_block);
            *account.open.get_mut(stream) = OpenBlock { block, next_page: programmed };
            self.table.open(block, stream.is_translation());
            self.table.program_valid(block, programmed);
            if programmed == pages_per_block {
                self.fill(block);
            }
            left -= programmed;
        }
        let account = &mut self.planes[plane.index()];
        account.free_pages -= pages;
        account.valid_pages += pages;
    }

    /// Brings `planes`, which follow each other and were never used, to the state of those of `source`, but for their wear. Blocks of the
    /// source have `times` fewer pages, and all that is open there goes on with a multiple of 64 unless `times` is 1.
    /// Returns the first page of the first one.
    pub(in super::super) fn copy_planes(&mut self, planes: &[PlaneId], source: &BlockManager, times: u32) -> Ppn {
        let first_block = planes.first().map_or(0, |&plane| self.geometry.first_block(plane).0);
        for (from, &to) in source.planes.iter().zip(planes) {
            self.planes[to.index()].copy_from(from, first_block, times);
        }
        for plane in (0..planes.len() as u32).map(PlaneId) {
            for block in source.table.of_plane(plane) {
                self.table.copy_from(BlockId(first_block + block.0), &source.table, block, times);
            }
        }
        self.geometry.ppn(BlockId(first_block), 0)
    }
}
