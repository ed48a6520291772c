//! Blocks of the drive: their states, valid pages, and the next page to program.
//!
//! This module handles physical pages only. The map handles logical pages, and [`Collector`](super::collection::Collector) selects victims.

mod accounts;
mod move_destination;
mod plane;
mod preallocated;
mod programs;
mod queries;
mod table;
mod twins;

pub(super) use accounts::BlockAccounts;
pub(super) use plane::{Plane, free_blocks};
#[cfg(test)]
pub(super) use table::BlockEntry;
pub use table::BlockState;
pub(super) use table::BlockTable;

use twins::Twins;

use super::open_block_kind::OpenBlockKind;
use super::{FtlRules, Partition, Superblocks};
use crate::flash::geometry::Geometry;
use crate::ids::{BlockId, PlaneId, Ppn};

/// Blocks of the drive: bookkeeping of single planes, superblocks, destinations of moved pages, and programs of several mapping units.
#[derive(Clone, Debug)]
pub struct BlockManager {
    pub(super) accounts: BlockAccounts,
    moves_share_write_block: bool,
    /// Whether each program covers all planes of its die, so that the write pointers of these planes stay equal.
    levels_programs: bool,
    /// State of the superblocks, whose planes open, collect and erase blocks together; `None` without superblocks.
    twins: Option<Twins>,
}

impl BlockManager {
    /// Creates the blocks of a fresh drive, all free. The arguments are those of [`BlockAccounts::new`], and the rules of the firmware.
    pub(super) fn new(
        geometry: &Geometry,
        partition: &Partition,
        rules: &FtlRules,
        has_map: bool,
        least_erased_first: bool,
    ) -> BlockManager {
        BlockManager {
            accounts: BlockAccounts::new(geometry, partition, has_map, least_erased_first),
            moves_share_write_block: rules.moves_share_write_block,
            levels_programs: geometry.gathers_units() && rules.superblock_dies.is_some() && rules.joins_planes,
            twins: rules.superblock_dies.map(|dies| Twins::new(Superblocks::new(geometry, dies))),
        }
    }

    /// Allocates the next page of the open block for data of kind `stream` in `plane`. If this block is full, opens another one. Returns `None` if no
    /// free block is left that this kind may open.
    #[inline]
    pub(super) fn allocate(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Option<Ppn> {
        if self.accounts.plane(plane).open.pages_left(stream) == 0 {
            self.open_block(plane, stream)?;
        }
        Some(self.accounts.take_page(plane, stream))
    }

    /// Opens another block for data of kind `stream`; with superblocks, one in each plane of the superblock. Returns `None` if no free block is left
    /// that this kind may open.
    pub(super) fn open_block(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Option<()> {
        if !self.accounts.planes[plane.index()].can_open(stream) {
            return None;
        }
        match self.twins {
            Some(_) => self.open_twins(plane, stream),
            None => self.accounts.open(plane, stream),
        }
    }

    /// Records that a victim was erased, and frees it. With superblocks, frees the victims only when the blocks of all planes are erased.
    pub(super) fn finish_erase(&mut self, block: BlockId) {
        if self.twins.is_some() {
            return self.twin_erased(block);
        }
        if self.accounts.geometry.is_slc(block) {
            return self.accounts.free_folded(block);
        }
        self.accounts.free_erased(block);
        if self.moves_share_write_block {
            self.accounts.take_over_reserve(self.accounts.table.plane_of(block));
        }
    }

    /// Checks the tables of blocks and planes, and of superblocks. Returns a description of the first fault. `reads_bitmaps` is passed on to
    /// [`BlockAccounts::audit`].
    pub(super) fn audit(&self, reads_bitmaps: bool) -> Result<(), String> {
        self.accounts.audit(reads_bitmaps)?;
        self.audit_twins()
    }
}
