//! Skipped pages of open blocks. They count as programmed and invalid.

use super::BlockAccounts;
use crate::ftl::blocks::plane::open_blocks::OpenBlock;
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ids::{BlockId, PlaneId};

impl BlockAccounts {
    /// Skips the next `pages` pages of the open block of kind `stream`. Skipped pages count as programmed and invalid.
    pub(in super::super) fn skip_pages(&mut self, plane: PlaneId, stream: OpenBlockKind, pages: u32) {
        let account = &mut self.planes[plane.index()];
        let open = account.open.get_mut(stream);
        let block = open.block;
        open.next_page += pages;
        account.free_pages -= if stream == OpenBlockKind::Slc { 0 } else { pages };
        (0..pages).for_each(|_| self.count_program(block));
    }

    /// Skips all remaining pages of the open block of kind `stream` in `plane`.
    pub(in super::super) fn skip_open_pages(&mut self, plane: PlaneId, stream: OpenBlockKind) {
        self.skip_pages(plane, stream, self.planes[plane.index()].open.pages_left(stream));
    }

    /// Skips the pages of `block` before offset `end`, if it is the open block of kind `stream` in `plane`. Returns the number of pages skipped.
    pub(in super::super) fn skip_to(&mut self, plane: PlaneId, stream: OpenBlockKind, block: BlockId, end: u32) -> u32 {
        let open = self.planes[plane.index()].open.get(stream);
        if open.block != block || open.next_page >= end {
            return 0;
        }
        let skipped = end - open.next_page;
        self.skip_pages(plane, stream, skipped);
        skipped
    }

    /// Advances every open block to a page offset that is a multiple of `pages`, skipping pages.
    pub(in crate::rooms::ftl) fn align_open_blocks(&mut self, pages: u32) {
        for plane in (0..self.geometry.planes()).map(PlaneId) {
            let opened: Vec<(OpenBlockKind, OpenBlock)> = self.planes[plane.index()].open.opened().collect();
            for (stream, OpenBlock { block, next_page }) in opened {
                self.skip_to(plane, stream, block, next_page.next_multiple_of(pages));
            }
        }
    }
}
