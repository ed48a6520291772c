//! Programs of several mapping units, and the units that are skipped in partly filled programs.
//!
//! An open block is written program by program, so each program begins at the page after the previous one. If the planes of a die share superblocks
//! and are programmed together, their write pointers stay equal.

use super::BlockManager;
use super::plane::open_blocks::OpenBlock;
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ids::{BlockId, PlaneId, Ppn};

impl BlockManager {
    /// Skips the remaining mapping units of a program that begins partly filled; `last` is the last unit that the program writes. If
    /// programs cover all planes of a die, skips the units in all of these planes. Returns the number of units skipped.
    pub(in super::super) fn finish_program(&mut self, last: Ppn) -> u32 {
        let block = self.accounts.table.block_of(last);
        let plane = self.accounts.table.plane_of(block);
        let next = self.accounts.geometry.page_in_block(last) + 1;
        let end = next.next_multiple_of(self.accounts.geometry.units_per_program_of(block));
        let Some(stream) = self.accounts.planes[plane.index()].open.stream_at(block, next) else { return 0 };
        if !self.levels_programs {
            return self.accounts.skip_to(plane, stream, block, end);
        }
        let position = block.0 % self.accounts.geometry.blocks_per_plane;
        let first = self.accounts.geometry.first_plane(self.accounts.geometry.die_of_plane(plane)).0;
        (first..first + self.accounts.geometry.planes_per_die)
            .map(|joined| {
                let block = BlockId(self.accounts.geometry.first_block(PlaneId(joined)).0 + position);
                self.accounts.skip_to(PlaneId(joined), stream, block, end)
            })
            .sum()
    }

    /// Skips the mapping units left in the program whose first unit is `start`. Returns the number of units skipped; 0 if the next page of
    /// no open block lies in this program.
    pub(in super::super) fn close_program(&mut self, start: Ppn) -> u32 {
        let block = self.accounts.table.block_of(start);
        let plane = self.accounts.table.plane_of(block);
        let first = self.accounts.geometry.page_in_block(start);
        let end = first + self.accounts.geometry.units_per_program_of(block);
        let is_in_program = |open: &OpenBlock| open.block == block && (first..end).contains(&open.next_page);
        let opened = self.accounts.planes[plane.index()].open.opened().find(|(_, open)| is_in_program(open));
        opened.map_or(0, |(stream, _)| self.accounts.skip_to(plane, stream, block, end))
    }

    /// Prepares a program of moved pages of kind `stream`. If the pages go to the open block of host writes, skips the mapping units left
    /// in the last program of that block. Returns the last skipped unit and the number of skipped units; `None` if no unit was skipped.
    pub(in super::super) fn begin_program_of_move(
        &mut self,
        plane: PlaneId,
        stream: OpenBlockKind,
    ) -> Option<(Ppn, u32)> {
        let shared = self.shared_with(plane, stream)?;
        let OpenBlock { block, next_page } = *self.accounts.planes[plane.index()].open.get(shared);
        let end = next_page.next_multiple_of(self.accounts.geometry.units_per_program);
        let skipped = self.accounts.skip_to(plane, shared, block, end);
        (skipped > 0).then(|| (self.accounts.geometry.ppn(block, end - 1), skipped))
    }

    /// Advances every partly written open block to the beginning of its next program, skipping pages. Does nothing if each program writes a
    /// single mapping unit.
    pub(in super::super) fn align_programs(&mut self) {
        if !self.accounts.geometry.gathers_units() {
            return;
        }
        for plane in (0..self.accounts.geometry.planes()).map(PlaneId) {
            let opened: Vec<(OpenBlockKind, OpenBlock)> = self.accounts.planes[plane.index()].open.opened().collect();
            for (_, OpenBlock { block, next_page }) in opened {
                if next_page > 0 {
                    self.finish_program(self.accounts.geometry.ppn(block, next_page - 1));
                }
            }
        }
    }
}
