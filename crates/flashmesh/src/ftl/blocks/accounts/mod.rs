//! Bookkeeping of blocks and planes: which blocks are free or open, which pages are valid.
//!
//! The operations here change one block or one plane. [`BlockManager`](super::BlockManager) builds superblocks, programs of several pages and the
//! choice of the destination of moved pages on them.

mod audit;
mod fill;
mod image;
mod skip;

use super::plane::open_blocks::OpenBlock;
use super::{BlockTable, Plane};
use crate::flash::geometry::Geometry;
use crate::ftl::Partition;
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ids::{BlockId, PlaneId, Ppn};

/// All blocks of the drive, by plane.
#[derive(Clone, Debug)]
pub(in super::super) struct BlockAccounts {
    pub(super) geometry: Geometry,
    pub(super) table: BlockTable,
    pub(super) planes: Vec<Plane>,
}

impl BlockAccounts {
    /// Creates the blocks of a fresh drive, all free. With `has_map`, translation pages are written to every plane. With `least_erased_first`
    /// (dynamic wear levelling), the least erased free block is opened first, otherwise the one free for longest.
    pub(in super::super) fn new(
        geometry: &Geometry,
        partition: &Partition,
        has_map: bool,
        least_erased_first: bool,
    ) -> BlockAccounts {
        let plane = |plane: PlaneId| {
            let mut account = Plane::new(geometry, plane, least_erased_first);
            account.holds_translation = has_map;
            account.open.set_dedicated_streams(partition.dedicated_streams(plane));
            account
        };
        BlockAccounts {
            table: BlockTable::new(geometry),
            planes: (0..geometry.planes()).map(PlaneId).map(plane).collect(),
            geometry: geometry.clone(),
        }
    }

    #[inline]
    pub(in super::super) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Returns the table of blocks, so that the SLC cache can change the entries of its blocks.
    pub(in super::super) fn table_mut(&mut self) -> &mut BlockTable {
        &mut self.table
    }

    #[inline]
    pub(in super::super) fn table(&self) -> &BlockTable {
        &self.table
    }

    #[inline]
    pub(in super::super) fn pages_per_plane(&self) -> u32 {
        self.geometry.pages_per_plane()
    }

    #[inline]
    pub(in super::super) fn planes(&self) -> &[Plane] {
        &self.planes
    }

    #[inline]
    pub(in super::super) fn plane(&self, plane: PlaneId) -> &Plane {
        &self.planes[plane.index()]
    }

    #[inline]
    pub(in super::super) fn plane_mut(&mut self, plane: PlaneId) -> &mut Plane {
        &mut self.planes[plane.index()]
    }

    /// Returns whether `plane` has a page to allocate for data of kind `stream`: in its open block, or in a free block that this kind may open.
    #[inline(always)]
    pub(in super::super) fn has_page(&self, plane: PlaneId, stream: OpenBlockKind) -> bool {
        let account = &self.planes[plane.index()];
        account.open.pages_left(stream) > 0 || account.can_open(stream)
    }

    /// Returns the block and page offset of the next page to allocate for data of kind `stream` in `plane`: in its open block, or in the free block
    /// that would be opened. `None` if no page is left and no block can be opened.
    #[inline]
    pub(in super::super) fn next_offset(&self, plane: PlaneId, stream: OpenBlockKind) -> Option<(BlockId, u32)> {
        let account = &self.planes[plane.index()];
        if account.open.pages_left(stream) > 0 {
            let open = account.open.get(stream);
            return Some((open.block, open.next_page));
        }
        if account.can_open(stream) { account.peek_free(stream).map(|block| (block, 0)) } else { None }
    }

    /// Returns the block and page offset at which the next program of kind `stream` begins in `plane`; `None` if no page is left and no block can be
    /// opened.
    pub(in super::super) fn next_program(&self, plane: PlaneId, stream: OpenBlockKind) -> Option<(BlockId, u32)> {
        let (block, page) = self.next_offset(plane, stream)?;
        let page = page.next_multiple_of(self.geometry.units_per_program);
        if page < self.geometry.pages_per_block {
            return Some((block, page));
        }
        let account = &self.planes[plane.index()];
        if account.can_open(stream) { account.peek_free(stream).map(|block| (block, 0)) } else { None }
    }

    /// Allocates the next page of the open block for data of kind `stream` in `plane`. The block must have a page left.
    #[inline]
    pub(in super::super) fn take_page(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Ppn {
        let account = &mut self.planes[plane.index()];
        let open = account.open.get_mut(stream);
        let ppn = self.geometry.ppn(open.block, open.next_page);
        open.next_page += 1;
        account.free_pages -= u32::from(stream != OpenBlockKind::Slc);
        ppn
    }

    /// Opens the next free block of a single plane for data of kind `stream`, even the reserve (the last free block, kept for collection). Returns
    /// `None` if no block is free.
    pub(super) fn open(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Option<()> {
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
    pub(in super::super) fn program_valid(&mut self, ppn: Ppn) -> PlaneId {
        let block = self.table.block_of(ppn);
        self.table.set_valid(block, ppn);
        let plane = self.table.plane_of(block);
        self.planes[plane.index()].valid_pages += 1;
        self.count_program(block);
        plane
    }

    /// Records that `ppn` was programmed with data that is already invalid, or that it was allocated and will not be programmed.
    pub(in super::super) fn program_invalid(&mut self, ppn: Ppn) {
        self.count_program(self.table.block_of(ppn));
    }

    #[inline]
    pub(super) fn count_program(&mut self, block: BlockId) {
        if self.table.count_program(block) {
            self.fill(block);
        }
    }

    pub(super) fn fill(&mut self, block: BlockId) {
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
    pub(in super::super) fn invalidate(&mut self, ppn: Ppn) -> PlaneId {
        let block = self.table.block_of(ppn);
        let plane = self.table.plane_of(block);
        let account = &mut self.planes[plane.index()];
        account.valid_pages -= 1;
        account.invalid_pages += u32::from(self.table.clear_valid(block, ppn));
        plane
    }

    /// Returns the kind of open block for valid pages moved out of `block`. Pages of kind [`OpenBlockKind::Collection`] can also share the open block
    /// of host writes; see [`BlockManager::allocate_move`](super::BlockManager::allocate_move).
    pub(in super::super) fn move_block_kind(&self, block: BlockId) -> OpenBlockKind {
        match self.table.holds_translation(block) {
            _ if self.geometry.is_slc(block) => OpenBlockKind::Fold,
            true => OpenBlockKind::TranslationCollection,
            false => OpenBlockKind::Collection,
        }
    }

    /// Returns whether the plane of `block` has enough free pages for all valid pages of `block`, which are moved before `block` is erased.
    pub(in super::super) fn fits(&self, block: BlockId) -> bool {
        let account = &self.planes[self.table.plane_of(block).index()];
        u64::from(self.table.valid_pages(block)) <= account.collection_pages(self.move_block_kind(block))
    }

    pub(in super::super) fn mark_victim(&mut self, block: BlockId) {
        let account = &mut self.planes[self.table.plane_of(block).index()];
        account.invalid_pages -= self.table.collect(block);
        account.collecting += 1;
    }

    pub(super) fn free_erased(&mut self, block: BlockId) {
        let erase_count = self.table.erase(block);
        let account = &mut self.planes[self.table.plane_of(block).index()];
        account.collecting -= 1;
        account.free_pages += self.geometry.pages_per_block;
        account.free.push(block, erase_count);
        account.wear.erased(erase_count);
    }

    /// Lets host writes continue in the reserve (last free block), if collection has opened it and left pages there, and the open block of host
    /// writes is full. Called after a victim of `plane` was erased.
    pub(in super::super) fn take_over_reserve(&mut self, plane: PlaneId) {
        let open = &mut self.planes[plane.index()].open;
        let written = open.host_block_kind(None);
        if open.pages_left(written) == 0 && open.pages_left(OpenBlockKind::Collection) > 0 {
            let reserve = *open.get(OpenBlockKind::Collection);
            let full = std::mem::replace(open.get_mut(written), reserve);
            *open.get_mut(OpenBlockKind::Collection) = full;
        }
    }

    pub(super) fn position_of(&self, block: BlockId) -> u32 {
        block.0 % self.geometry.blocks_per_plane
    }
}
