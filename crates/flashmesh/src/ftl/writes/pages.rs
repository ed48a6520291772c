//! Allocation of physical pages to programs, and the mapping units that they leave empty.

use crate::ftl::{Ftl, OpenBlockKind};
use crate::ids::{PlaneId, Ppn};

impl Ftl {
    /// Returns the kind of open block for pages moved by collection out of the block that contains `from`.
    #[inline]
    pub(crate) fn move_block_kind(&self, from: Ppn) -> OpenBlockKind {
        match self.translation {
            Some(_) => self.blocks.accounts.move_block_kind(self.geometry.block_of(from)),
            None if self.geometry.is_slc_page(from) => OpenBlockKind::Fold,
            None => OpenBlockKind::Collection,
        }
    }

    /// Allocates the next page of the open block of `stream`, a kind of data, in `plane`. If this block is full, opens another one. The caller must
    /// program the page.
    ///
    /// Returns `None` if the plane has no free block left that this kind may open. Only collection may open the reserve (the last free block), and a
    /// single collection never uses it up.
    #[inline]
    pub fn allocate(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Option<Ppn> {
        self.blocks.allocate(plane, stream)
    }

    /// Skips the remaining mapping units of a program that begins partly filled; `last` is the last unit that the program writes. Returns
    /// the number of skipped units, whose pages count as programmed and invalid.
    pub(crate) fn finish_program(&mut self, last: Ppn) -> u32 {
        self.blocks.finish_program(last)
    }

    /// Skips the mapping units left in the early-bound program whose first unit is `start`, because no more units are added to the program.
    /// Returns the number of skipped units; 0 if the program is full.
    pub(crate) fn close_program(&mut self, start: Ppn) -> u32 {
        self.blocks.close_program(start)
    }

    /// Prepares the program of a moved page of kind `stream` in `plane`. If the page goes to the open block of host writes, skips the mapping units
    /// left there in an early-bound program. Returns the last skipped unit and the number of skipped units; `None` if no unit was skipped.
    pub(crate) fn begin_program_of_move(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Option<(Ppn, u32)> {
        self.blocks.begin_program_of_move(plane, stream)
    }

    /// Like [`Ftl::allocate`], but for a moved page, which may go to the open block of host writes. `stream` is the kind that
    /// [`Ftl::move_block_kind`] returns.
    pub(crate) fn allocate_move(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Option<Ppn> {
        self.blocks.allocate_move(plane, stream)
    }
}
