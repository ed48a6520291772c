//! Blocks of the drive: their states, valid pages, and the next page to program.
//!
//! This module handles physical pages only. The map handles logical pages, and [`Collector`](super::collection::Collector) selects victims.

mod audit;
mod fill;
pub(super) mod free_blocks;
mod image;
mod move_destination;
pub(super) mod open_blocks;
mod plane;
mod programs;
mod table;
mod twins;
mod wear_spread;

pub(super) use plane::Plane;
#[cfg(test)]
pub(super) use table::BlockEntry;
pub use table::BlockState;
pub(super) use table::BlockTable;

use open_blocks::OpenBlock;
use twins::Twins;

use super::open_block_kind::OpenBlockKind;
use super::{FtlRules, Partition, Superblocks};
use crate::flash::geometry::Geometry;
use crate::ids::{BlockId, PlaneId, Ppn};

/// All blocks of the drive, by plane.
#[derive(Clone, Debug)]
pub(super) struct BlockManager {
    geometry: Geometry,
    table: BlockTable,
    planes: Vec<Plane>,
    moves_share_write_block: bool,
    /// Whether each program covers all planes of its die, so that the write pointers of these planes stay equal.
    levels_programs: bool,
    /// State of the superblocks, whose planes open, collect and erase blocks together; `None` without superblocks.
    twins: Option<Twins>,
}

impl BlockManager {
    /// Creates the blocks of a fresh drive, all free. With `has_map`, translation pages are written to every plane. With `least_erased_first`
    /// (dynamic wear levelling), the least erased free block is opened first, otherwise the one free for longest.
    pub(super) fn new(
        geometry: &Geometry,
        partition: &Partition,
        rules: &FtlRules,
        has_map: bool,
        least_erased_first: bool,
    ) -> BlockManager {
        let plane = |plane: PlaneId| {
            let mut account = Plane::new(geometry, plane, least_erased_first);
            account.holds_translation = has_map;
            account.open.set_dedicated_streams(partition.dedicated_streams(plane));
            account
        };
        BlockManager {
            table: BlockTable::new(geometry),
            planes: (0..geometry.planes()).map(PlaneId).map(plane).collect(),
            moves_share_write_block: rules.moves_share_write_block,
            levels_programs: geometry.gathers_units() && rules.superblock_dies.is_some() && rules.joins_planes,
            twins: rules.superblock_dies.map(|dies| Twins::new(Superblocks::new(geometry, dies))),
            geometry: geometry.clone(),
        }
    }

    #[inline]
    pub(super) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Returns the table of blocks, so that the SLC cache can change the entries of its blocks.
    pub(super) fn slc_table_mut(&mut self) -> &mut BlockTable {
        &mut self.table
    }

    #[inline]
    pub(super) fn table(&self) -> &BlockTable {
        &self.table
    }

    #[inline]
    pub(super) fn pages_per_plane(&self) -> u32 {
        self.geometry.pages_per_plane()
    }

    #[inline]
    pub(super) fn planes(&self) -> &[Plane] {
        &self.planes
    }

    #[inline]
    pub(super) fn plane(&self, plane: PlaneId) -> &Plane {
        &self.planes[plane.index()]
    }

    #[inline]
    pub(super) fn plane_mut(&mut self, plane: PlaneId) -> &mut Plane {
        &mut self.planes[plane.index()]
    }

    /// Returns whether [`BlockManager::allocate`] would find a page in `plane` for data of kind `stream`.
    #[inline(always)]
    pub(super) fn has_page(&self, plane: PlaneId, stream: OpenBlockKind) -> bool {
        let account = &self.planes[plane.index()];
        account.open.pages_left(stream) > 0 || account.can_open(stream)
    }

    /// Returns the block and page offset that [`BlockManager::allocate`] would allocate; `None` if it would fail.
    #[inline]
    pub(super) fn next_offset(&self, plane: PlaneId, stream: OpenBlockKind) -> Option<(BlockId, u32)> {
        let account = &self.planes[plane.index()];
        if account.open.pages_left(stream) > 0 {
            let open = account.open.get(stream);
            return Some((open.block, open.next_page));
        }
        if account.can_open(stream) { account.peek_free(stream).map(|block| (block, 0)) } else { None }
    }

    /// Allocates the next page of the open block for data of kind `stream` in `plane`. If this block is full, opens another one. Returns `None` if
    /// all remaining free blocks are reserved for other kinds.
    #[inline]
    pub(super) fn allocate(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Option<Ppn> {
        if self.planes[plane.index()].open.pages_left(stream) == 0 {
            self.open_block(plane, stream)?;
        }
        let account = &mut self.planes[plane.index()];
        let open = account.open.get_mut(stream);
        let ppn = self.geometry.ppn(open.block, open.next_page);
        open.next_page += 1;
        account.free_pages -= u32::from(stream != OpenBlockKind::Slc);
        Some(ppn)
    }

    /// Opens another block for data of kind `stream`; with superblocks, one in each plane of the superblock. Returns `None` if all
    /// remaining free blocks are reserved for other kinds.
    pub(super) fn open_block(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Option<()> {
        if !self.planes[plane.index()].can_open(stream) {
            return None;
        }
        match self.twins {
            Some(_) => self.open_twins(plane, stream),
            None => self.open_single(plane, stream),
        }
    }

    /// Opens the next free block of a single plane, even the reserve (the last free block, kept for collection). Returns `None` if no block is free.
    fn open_single(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Option<()> {
        let account = &mut self.planes[plane.index()];
        let block = account.pop_free(stream)?;
        self.table.open(block, stream.is_translation());
        *account.open.get_mut(stream) = OpenBlock { block, next_page: 0 };
        if stream == OpenBlockKind::Slc {
            self.lend(plane, block);
        }
        Some(())
    }

    /// Records that `ppn` was programmed with valid data. Returns the plane of `ppn`.
    #[inline]
    pub(super) fn program_valid(&mut self, ppn: Ppn) -> PlaneId {
        let block = self.table.block_of(ppn);
        self.table.set_valid(block, ppn);
        let plane = self.table.plane_of(block);
        self.planes[plane.index()].valid_pages += 1;
        self.count_program(block);
        plane
    }

    /// Records that `ppn` was programmed with data that is already invalid, or that it was allocated and will not be programmed.
    pub(super) fn program_invalid(&mut self, ppn: Ppn) {
        self.count_program(self.table.block_of(ppn));
    }

    #[inline]
    fn count_program(&mut self, block: BlockId) {
        if self.table.count_program(block) {
            self.fill(block);
        }
    }

    fn fill(&mut self, block: BlockId) {
        if self.geometry.is_slc(block) {
            return self.fill_slc(block);
        }
        let account = &mut self.planes[self.table.plane_of(block).index()];
        account.blocks_filled += 1;
        account.invalid_pages += self.table.fill(block, account.blocks_filled);
        let erase_count = self.table.erase_count(block);
        account.wear.filled(erase_count);
    }

    #[inline]
    pub(super) fn invalidate(&mut self, ppn: Ppn) -> PlaneId {
        let block = self.table.block_of(ppn);
        let plane = self.table.plane_of(block);
        let account = &mut self.planes[plane.index()];
        account.valid_pages -= 1;
        account.invalid_pages += u32::from(self.table.clear_valid(block, ppn));
        plane
    }

    /// Returns the kind of open block for valid pages moved out of `block`. Host pages of native blocks may go to the open block of host
    /// writes first; see [`allocate_move`](Self::allocate_move).
    pub(super) fn move_block_kind(&self, block: BlockId) -> OpenBlockKind {
        match self.table.holds_translation(block) {
            _ if self.geometry.is_slc(block) => OpenBlockKind::Fold,
            true => OpenBlockKind::TranslationCollection,
            false => OpenBlockKind::Collection,
        }
    }

    /// Returns whether the plane of `block` has enough free pages for all valid pages of `block`, which are moved before `block` is erased.
    pub(super) fn fits(&self, block: BlockId) -> bool {
        let account = &self.planes[self.table.plane_of(block).index()];
        u64::from(self.table.valid_pages(block)) <= account.collection_pages(self.move_block_kind(block))
    }

    pub(super) fn mark_victim(&mut self, block: BlockId) {
        let account = &mut self.planes[self.table.plane_of(block).index()];
        account.invalid_pages -= self.table.collect(block);
        account.collecting += 1;
    }

    /// Records that a victim was erased, and frees it. With superblocks, frees the victims only when the blocks of all planes are erased.
    pub(super) fn finish_erase(&mut self, block: BlockId) {
        if self.twins.is_some() {
            return self.twin_erased(block);
        }
        if self.geometry.is_slc(block) {
            return self.free_folded(block);
        }
        self.free_erased(block);
        if self.moves_share_write_block {
            self.take_over_reserve(self.table.plane_of(block));
        }
    }

    fn free_erased(&mut self, block: BlockId) {
        let erase_count = self.table.erase(block);
        let account = &mut self.planes[self.table.plane_of(block).index()];
        account.collecting -= 1;
        account.free_pages += self.geometry.pages_per_block;
        account.free.push(block, erase_count);
        account.wear.erased(erase_count);
    }
}

/// Access to the table of blocks, for tests that inject faults.
#[cfg(test)]
impl BlockManager {
    pub(super) fn table_mut(&mut self) -> &mut BlockTable {
        &mut self.table
    }
}
