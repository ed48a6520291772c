//! Programs of several mapping units: what one of them leaves of the pages that it writes is given up.
//!
//! An open block is written program by program, so the page that follows the last program begins another one. Where the planes of a die use
//! the same blocks and are programmed together, their write pointers stay equal.

use super::BlockManager;
use super::open_blocks::OpenBlock;
use crate::ftl::stream::Stream;
use crate::ids::{BlockId, PlaneId, Ppn};

impl BlockManager {
    /// A program of units up to `last` begins: gives up what it leaves, and gives how many units that is.
    pub(in super::super) fn finish_program(&mut self, last: Ppn) -> u32 {
        let block = self.table.block_of(last);
        let plane = self.table.plane_of(block);
        let next = self.geometry.page_in_block(last) + 1;
        let end = next.next_multiple_of(self.geometry.units_per_program_of(block));
        let Some(stream) = self.planes[plane.index()].open.stream_at(block, next) else { return 0 };
        if !self.levels_programs {
            return self.skip_to(plane, stream, block, end);
        }
        let position = block.0 % self.geometry.blocks_per_plane;
        let first = self.geometry.first_plane(self.geometry.die_of_plane(plane)).0;
        (first..first + self.geometry.planes_per_die)
            .map(|joined| {
                let block = BlockId(self.geometry.first_block(PlaneId(joined)).0 + position);
                self.skip_to(PlaneId(joined), stream, block, end)
            })
            .sum()
    }

    /// Has every open block go on with another program.
    pub(in super::super) fn align_programs(&mut self) {
        if !self.geometry.gathers() {
            return;
        }
        for plane in (0..self.geometry.planes()).map(PlaneId) {
            let opened: Vec<(Stream, OpenBlock)> = self.planes[plane.index()].open.opened().collect();
            for (_, OpenBlock { block, next_page }) in opened {
                if next_page > 0 {
                    self.finish_program(self.geometry.ppn(block, next_page - 1));
                }
            }
        }
    }

    /// Has every open block go on with a page that is a multiple of `pages`.
    pub(in super::super) fn align_open_blocks(&mut self, pages: u32) {
        for plane in (0..self.geometry.planes()).map(PlaneId) {
            let opened: Vec<(Stream, OpenBlock)> = self.planes[plane.index()].open.opened().collect();
            for (stream, OpenBlock { block, next_page }) in opened {
                self.skip_to(plane, stream, block, next_page.next_multiple_of(pages));
            }
        }
    }

    /// Gives up the pages before `end` of a block that `stream` has open.
    fn skip_to(&mut self, plane: PlaneId, stream: Stream, block: BlockId, end: u32) -> u32 {
        let open = self.planes[plane.index()].open.get(stream);
        if open.block != block || open.next_page >= end {
            return 0;
        }
        let skipped = end - open.next_page;
        self.skip_pages(plane, stream, skipped);
        skipped
    }
}
