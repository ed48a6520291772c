//! Programs of several mapping units, and the units that are skipped in partly filled programs.
//!
//! An open block is written program by program, so each program begins at the page after the previous one. If the planes of a die share superblocks
//! and are programmed together, their write pointers stay equal.

use super::BlockManager;
use super::open_blocks::OpenBlock;
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ids::{BlockId, PlaneId, Ppn};

impl BlockManager {
    /// Skips the remaining mapping units of a program that begins partly filled; `last` is the last unit that the program writes. If
    /// programs cover all planes of a die, skips the units in all of these planes. Returns the number of units skipped.
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

    /// Skips the mapping units left in the program whose first unit is `start`. Returns the number of units skipped; 0 if the next page of
    /// no open block lies in this program.
    pub(in super::super) fn close_program(&mut self, start: Ppn) -> u32 {
        let block = self.table.block_of(start);
        let plane = self.table.plane_of(block);
        let first = self.geometry.page_in_block(start);
        let end = first + self.geometry.units_per_program_of(block);
        let is_in_program = |open: &OpenBlock| open.block == block && (first..end).contains(&open.next_page);
        let opened = self.planes[plane.index()].open.opened().find(|(_, open)| is_in_program(open));
        opened.map_or(0, |(stream, _)| self.skip_to(plane, stream, block, end))
    }

    /// Prepares a program of moved pages of kind `stream`. If the pages go to the open block of host writes, skips the mapping units left
    /// in the last program of that block. Returns the last skipped unit and the number of skipped units; `None` if no unit was skipped.
    pub(in super::super) fn begin_program_of_move(
        &mut self,
        plane: PlaneId,
        stream: OpenBlockKind,
    ) -> Option<(Ppn, u32)> {
        let shared = self.shared_with(plane, stream)?;
        let OpenBlock { block, next_page } = *self.planes[plane.index()].open.get(shared);
        let end = next_page.next_multiple_of(self.geometry.units_per_program);
        let skipped = self.skip_to(plane, shared, block, end);
        (skipped > 0).then(|| (self.geometry.ppn(block, end - 1), skipped))
    }

    /// Returns the block and page offset at which the next program of kind `stream` begins in `plane`; `None` if no page is left and no block can be
    /// opened.
    pub(super) fn next_program(&self, plane: PlaneId, stream: OpenBlockKind) -> Option<(BlockId, u32)> {
        let (block, page) = self.next_offset(plane, stream)?;
        let page = page.next_multiple_of(self.geometry.units_per_program);
        if page < self.geometry.pages_per_block {
            return Some((block, page));
        }
        let account = &self.planes[plane.index()];
        if account.can_open(stream) { account.peek_free(stream).map(|block| (block, 0)) } else { None }
    }

    /// Advances every partly written open block to the beginning of its next program, skipping pages. Does nothing if each program writes a
    /// single mapping unit.
    pub(in super::super) fn align_programs(&mut self) {
        if !self.geometry.gathers_units() {
            return;
        }
        for plane in (0..self.geometry.planes()).map(PlaneId) {
            let opened: Vec<(OpenBlockKind, OpenBlock)> = self.planes[plane.index()].open.opened().collect();
            for (_, OpenBlock { block, next_page }) in opened {
                if next_page > 0 {
                    self.finish_program(self.geometry.ppn(block, next_page - 1));
                }
            }
        }
    }

    /// Advances every open block to a page offset that is a multiple of `pages`, skipping pages.
    pub(in super::super) fn align_open_blocks(&mut self, pages: u32) {
        for plane in (0..self.geometry.planes()).map(PlaneId) {
            let opened: Vec<(OpenBlockKind, OpenBlock)> = self.planes[plane.index()].open.opened().collect();
            for (stream, OpenBlock { block, next_page }) in opened {
                self.skip_to(plane, stream, block, next_page.next_multiple_of(pages));
            }
        }
    }

    /// Skips the pages of `block` before offset `end`, if it is the open block of kind `stream` in `plane`. Returns the number of pages skipped.
    fn skip_to(&mut self, plane: PlaneId, stream: OpenBlockKind, block: BlockId, end: u32) -> u32 {
        let open = self.planes[plane.index()].open.get(stream);
        if open.block != block || open.next_page >= end {
            return 0;
        }
        let skipped = end - open.next_page;
        self.skip_pages(plane, stream, skipped);
        skipped
    }
}
