//! Free, valid and allocatable pages, for readers outside the translation layer.

use super::{BlockManager, BlockState, Plane};
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ids::{BlockId, PlaneId, StreamId};

impl BlockManager {
    /// Returns the number of pages of `plane` that can be allocated: in free blocks, including the reserve (last free block), and in open
    /// blocks. The SLC cache is not counted.
    #[inline]
    pub fn free_pages(&self, plane: PlaneId) -> u32 {
        self.accounts.plane(plane).free_pages
    }

    /// Returns the number of pages that can be allocated, over all planes. The SLC cache is not counted.
    pub(crate) fn free_pages_of_drive(&self) -> u64 {
        self.accounts.planes().iter().map(|plane| u64::from(plane.free_pages)).sum()
    }

    /// Returns the number of valid pages of `plane`, including replicas and the SLC cache.
    #[inline]
    pub(crate) fn valid_pages_of_plane(&self, plane: PlaneId) -> u32 {
        self.accounts.plane(plane).valid_pages
    }

    /// Returns the number of valid physical pages of the drive: one for each mapped page, including translation pages, and one for each
    /// replica.
    pub fn valid_pages_of_drive(&self) -> u64 {
        self.accounts.planes().iter().map(|plane| u64::from(plane.valid_pages)).sum()
    }

    /// Returns the number of valid pages of `block`, including replicas.
    #[inline]
    pub fn valid_pages(&self, block: BlockId) -> u32 {
        self.accounts.table().valid_pages(block)
    }

    /// Returns the number of pages of `block` programmed since its last erase.
    pub(crate) fn programmed_pages(&self, block: BlockId) -> u32 {
        self.accounts.table().programmed_pages(block)
    }

    /// Returns how often `block` has been erased since the drive was new.
    #[inline]
    pub fn erase_count(&self, block: BlockId) -> u32 {
        self.accounts.table().erase_count(block)
    }

    /// Returns the state of `block` in its cycle of programs, collection and erase.
    pub fn state(&self, block: BlockId) -> BlockState {
        self.accounts.table().state(block)
    }

    /// Returns whether `block`, which must not be free, holds translation pages.
    pub(crate) fn holds_translation(&self, block: BlockId) -> bool {
        self.accounts.table().holds_translation(block)
    }

    /// Returns the kind of open block in `plane` for writes of host stream `stream`. If streams have open blocks of their own, but `stream`
    /// has none in this plane or is `None`, returns the kind of the first stream that has one.
    #[inline]
    pub fn host_block_kind(&self, plane: PlaneId, stream: Option<StreamId>) -> OpenBlockKind {
        self.accounts.plane(plane).open.host_block_kind(stream)
    }

    /// Returns the block and page offset that [`Ftl::allocate`](crate::ftl::Ftl::allocate) would allocate in `plane` for data of kind `stream`;
    /// `None` if no page can be allocated.
    #[inline]
    pub fn next_page_offset(&self, plane: PlaneId, stream: OpenBlockKind) -> Option<(BlockId, u32)> {
        self.accounts.next_offset(plane, stream)
    }

    /// Returns whether [`Ftl::allocate`](crate::ftl::Ftl::allocate) would find a page of `plane` for host writes, if all host streams share one open
    /// block.
    #[inline(always)]
    pub(crate) fn has_shared_page(&self, plane: PlaneId) -> bool {
        self.accounts.has_page(plane, OpenBlockKind::SHARED)
    }

    /// Returns whether the SLC cache of `plane` has a free page for a write, or can open a block; false without an SLC cache.
    #[inline]
    pub(crate) fn has_slc_page(&self, plane: PlaneId) -> bool {
        self.accounts.has_page(plane, OpenBlockKind::Slc)
    }

    /// Returns the number of pages of the SLC cache, over all planes; 0 without an SLC cache.
    pub(crate) fn slc_pages(&self) -> u64 {
        let geometry = &self.accounts.geometry;
        let of_plane = u64::from(geometry.slc.per_plane) * u64::from(geometry.slc.pages_per_block);
        if geometry.has_slc() { of_plane * u64::from(geometry.planes()) } else { 0 }
    }

    /// Returns the number of pages of the SLC cache, over all planes, that are not free: allocated or skipped since the last erase of their block.
    pub(crate) fn slc_pages_in_use(&self) -> u64 {
        let slc = &self.accounts.geometry.slc;
        let (blocks, pages) = (slc.per_plane, slc.pages_per_block);
        let in_use = |plane: &Plane| {
            let free = plane.slc.as_ref()?.free.len() * pages + plane.open.pages_left(OpenBlockKind::Slc);
            Some(u64::from((blocks * pages).saturating_sub(free)))
        };
        self.accounts.planes().iter().filter_map(in_use).sum()
    }
}
