//! Programs of consecutive pages in one step, and copies of whole planes, all without simulated time.

use super::BlockAccounts;
use crate::ftl::blocks::plane::open_blocks::OpenBlock;
use crate::ftl::interleaving::Interleaving;
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ids::{BlockId, PlaneId, Ppn};

impl BlockAccounts {
    /// Returns the first page that [`BlockAccounts::open_and_fill`] would program in `plane`; `None` if no block is free. If no block of the
    /// plane was erased yet, the pages programmed after the first have consecutive addresses.
    pub(in crate::rooms::ftl) fn next_fresh_page(&self, plane: PlaneId) -> Option<Ppn> {
        self.planes[plane.index()].free.peek().map(|block| self.geometry.ppn(block, 0))
    }

    /// Opens blocks of `plane` for data of kind `stream` one after the other, until `pages` pages are programmed and valid, or no block is free.
    pub(in crate::rooms::ftl) fn open_and_fill(&mut self, plane: PlaneId, stream: OpenBlockKind, pages: u32) {
        let pages_per_block = self.geometry.pages_per_block;
        let mut left = pages;
        while left > 0 {
            let account = &mut self.planes[plane.index()];
            let Some(block) = account.free.pop() else { break };
            let programmed = left.min(pages_per_block);
            *account.open.get_mut(stream) = OpenBlock { block, next_page: programmed };
            account.free_pages -= programmed;
            self.table.open(block, stream.is_translation());
            self.program_run(self.geometry.ppn(block, 0), programmed);
            left -= programmed;
        }
    }

    /// Records that `pages` consecutive pages of one block, from `first` on, were programmed with valid data.
    pub(in crate::rooms::ftl) fn program_run(&mut self, first: Ppn, pages: u32) {
        let block = self.table.block_of(first);
        self.planes[self.table.plane_of(block).index()].valid_pages += pages;
        if self.table.program_run(block, first, pages) {
            self.fill(block);
        }
    }

    /// Marks all pages of victim `block` as invalid, after its valid pages have been moved.
    pub(in crate::rooms::ftl) fn invalidate_victim(&mut self, block: BlockId) {
        let account = &mut self.planes[self.table.plane_of(block).index()];
        account.valid_pages -= self.table.clear_all_valid(block);
    }

    /// Copies the state of the planes of `source`, except for wear, to `planes`, which are consecutive and unused. A block of this drive consists of
    /// `interleaving.copies()` copies of a block of `source`, which alternate in groups of pages. With several copies, the next page of each open
    /// block of `source` must be the first of a group. Returns the first page of the first of `planes`.
    pub(in crate::rooms::ftl) fn copy_planes(
        &mut self,
        planes: &[PlaneId],
        source: &BlockAccounts,
        interleaving: &Interleaving,
    ) -> Ppn {
        let first_block = planes.first().map_or(0, |&plane| self.geometry.first_block(plane).0);
        for (from, &to) in source.planes.iter().zip(planes) {
            self.planes[to.index()].copy_from(from, first_block, interleaving.copies());
        }
        for plane in (0..planes.len() as u32).map(PlaneId) {
            for block in source.table.blocks_of_plane(plane) {
                self.table.copy_from(BlockId(first_block + block.0), &source.table, block, interleaving);
            }
        }
        self.geometry.ppn(BlockId(first_block), 0)
    }
}
