//! SLC cache of the translation layer: which of its blocks take host writes, and which is folded next.
//!
//! The SLC blocks are the last ones of each plane. They store one page per word line, have a free list of their own, and are not candidates for
//! garbage collection or wear levelling. Host writes go to the cache while it has a free page. A full block is *folded*: its valid pages are moved to
//! native blocks, which use all bits of their cells, and it is erased.
//!
//! Planes that share superblocks also open, fold and erase the SLC blocks with the same index together. Folded pages go to the plane with the fewest
//! whole programs in its open block.
//!
//! The block numbers of a dynamic cache are not real blocks. An SLC block is opened as an alias of a free native block, which is lent until the SLC
//! block was folded ([`BlockAccounts::lend`]); the erase of the SLC block counts as an erase of the lent block as well.
//!
//! # Why there is no deadlock
//!
//! All logical pages of a plane fit outside the cache ([`Partition`](super::Partition) does not count SLC blocks), so the content of the cache can
//! always be moved out. A write waits for the cache (`slc.when-full = "fold"`) only if a fold that makes room is in progress, or can begin now, after
//! the programs of the open block, or after a collection of the plane. A fold begins only if there is space for all of its pages. If the open block
//! for folded pages has too few pages left, the fold needs one more free block, which is kept from other kinds of data. So a fold waits for no
//! collection, and the collection of the plane begins when the fold ends. The plane has spare blocks for both
//! ([`FOLD_BLOCKS`](super::division::spare_blocks::FOLD_BLOCKS)).
//!
//! A dynamic cache takes a free block only if the remaining free blocks suffice to avoid a collection, and a plane with lent blocks keeps one free
//! block for folds. If a plane is short of free pages and has lent blocks, these are folded before it is collected ([`Ftl::begin_fold_for_space`]). A
//! fold moves at most half a native block of pages and returns a whole block, so in the end all lent blocks are returned except for the open one. For
//! the open block, a plane has one more spare block. The plane then behaves like a plane without a cache.

mod fold;
mod plane;

pub(super) use plane::SlcPlane;

use super::Ftl;
use super::blocks::BlockAccounts;
use super::open_block_kind::OpenBlockKind;
use crate::config::{self, SlcWhenFull};
use crate::ids::{BlockId, PlaneId, StreamId};

/// Conditions for folds, from `[slc]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoldRules {
    /// Number of full SLC blocks of a plane above which one of them is folded while the die is idle.
    fold_above: u32,
    /// Whether host writes wait for a fold if the cache is full, instead of going to native blocks.
    writes_wait: bool,
}

impl FoldRules {
    pub fn new(slc: &config::Slc) -> FoldRules {
        let fold_above = (f64::from(slc.blocks_per_plane) * slc.fold_threshold) as u32;
        FoldRules { fold_above, writes_wait: slc.is_on() && slc.when_full == SlcWhenFull::Fold }
    }
}

impl Ftl {
    /// Begins a fold in `plane`. Marks and returns the full SLC block with the fewest valid pages, because its fold needs the fewest moves; on a tie,
    /// the block filled first \[choice\]. With superblocks, all blocks of its superblock are folded together. The caller moves the valid pages of the
    /// returned blocks and erases them.
    ///
    /// Returns `None` if too few blocks are full (`slc.fold-threshold`), a collection or fold of the planes is in progress, there is no space for the
    /// pages, or the drive has no SLC cache.
    pub(crate) fn begin_fold(&mut self, plane: PlaneId) -> Option<Vec<BlockId>> {
        self.blocks.begin_fold(plane, self.slc.fold_above)
    }

    /// Returns whether a host write to `plane` has to wait for a fold: the SLC cache of `plane` has no free page, but a fold will free some. Always
    /// false unless `slc.when-full = "fold"`.
    #[inline]
    pub(crate) fn waits_for_fold(&self, plane: PlaneId) -> bool {
        self.slc.writes_wait && !self.blocks.has_slc_page(plane) && self.blocks.will_free_page(plane)
    }

    /// Returns the kind of open block for the next write of host stream `stream` to `plane`: the SLC cache if it has a free page, or if the
    /// write has to wait for one. Otherwise, returns the kind of the open block of the stream.
    pub(crate) fn write_block_kind(&self, plane: PlaneId, stream: Option<StreamId>) -> OpenBlockKind {
        let to_slc = self.geometry.has_slc() && (self.blocks.has_slc_page(plane) || self.waits_for_fold(plane));
        if to_slc { OpenBlockKind::Slc } else { self.blocks.host_block_kind(plane, stream) }
    }

    /// Returns the kind of open block for a host write to any of the planes that share superblocks with `plane`: the SLC cache if it has a
    /// free page in one of these planes, otherwise the kind of host writes.
    pub(crate) fn superblock_write_kind(&self, plane: PlaneId) -> OpenBlockKind {
        let to_slc =
            self.geometry.has_slc() && self.blocks.superblock_planes(plane).any(|twin| self.blocks.has_slc_page(twin));
        if to_slc { OpenBlockKind::Slc } else { self.blocks.host_block_kind(plane, None) }
    }

    /// Like [`Ftl::begin_fold`], but for lack of space: begins a fold even if only one block is full. Returns `None` unless the planes are short of
    /// free pages and `plane` has lent native blocks to the cache, or host writes have to wait for a fold.
    pub(crate) fn begin_fold_for_space(&mut self, plane: PlaneId) -> Option<Vec<BlockId>> {
        let has_lent = self.blocks.accounts.plane(plane).slc.as_ref().is_some_and(|slc| slc.has_lent());
        let is_short = || self.blocks.superblock_planes(plane).any(|plane| self.is_short(plane));
        let is_needed = (has_lent && is_short()) || self.waits_for_fold(plane);
        if is_needed { self.blocks.begin_fold(plane, 0) } else { None }
    }

    /// Sets the number of free native blocks that each plane does not lend to a dynamic cache, so that lending triggers no collection.
    pub(super) fn limit_lending(&mut self) {
        let kept_free = self.collector.collection_threshold().div_ceil(self.geometry.pages_per_block) + LENDING_BLOCKS;
        self.blocks.accounts.limit_lending(kept_free);
    }
}

/// Number of free native blocks that a plane keeps instead of lending them to a dynamic SLC cache, beyond the free blocks that the threshold of
/// collection requires: one for folds, and one as a margin.
const LENDING_BLOCKS: u32 = 2;

impl BlockAccounts {
    fn limit_lending(&mut self, kept_free: u32) {
        for plane in (0..self.geometry().planes()).map(PlaneId) {
            let lent = self.plane_mut(plane).slc.as_mut().and_then(|slc| slc.lent.as_mut());
            lent.into_iter().for_each(|lent| lent.kept_free = kept_free);
        }
    }

    /// Lends a free native block to a dynamic SLC cache, for the SLC block `block` just opened. Does nothing for a static cache.
    #[inline(never)]
    pub(super) fn lend(&mut self, plane: PlaneId, block: BlockId) {
        let pages = self.geometry().pages_per_block;
        let account = self.plane_mut(plane);
        let Some(lent) = account.slc.as_mut().and_then(|slc| slc.lent.as_mut()) else { return };
        let native = account.free.pop().expect("a block is lent only while others are free");
        lent.blocks.push((block, native));
        account.free_pages -= pages;
        account.kept_for_fold = 1;
        self.table_mut().open(native, false);
    }

    /// Frees the native block lent for the SLC block `block`, which was folded and erased. Does nothing for a static cache.
    fn return_lent(&mut self, plane: PlaneId, block: BlockId) {
        let pages = self.geometry().pages_per_block;
        let account = self.plane_mut(plane);
        let Some(lent) = account.slc.as_mut().and_then(|slc| slc.lent.as_mut()) else { return };
        let at = lent.blocks.iter().position(|&(lent, _)| lent == block).expect("a block that was opened was lent");
        let (_, native) = lent.blocks.swap_remove(at);
        let has_more = !lent.blocks.is_empty();
        let erase_count = self.table_mut().erase_lent(native);
        let account = self.plane_mut(plane);
        account.kept_for_fold = u32::from(has_more);
        account.free_pages += pages;
        account.free.push(native, erase_count);
        account.wear.erased(erase_count);
    }

    pub(super) fn fill_slc(&mut self, block: BlockId) {
        self.table_mut().fill_slc(block);
        let plane = self.geometry().plane_of_block(block);
        if let Some(slc) = &mut self.plane_mut(plane).slc {
            slc.full.push(block);
        }
    }

    /// Returns a folded and erased block to the free blocks of the SLC cache.
    pub(super) fn free_folded(&mut self, block: BlockId) {
        let erase_count = self.table_mut().erase(block);
        let plane = self.geometry().plane_of_block(block);
        let account = self.plane_mut(plane);
        account.collecting -= 1;
        account.kept_for_fold = 0;
        if let Some(slc) = &mut account.slc {
            slc.free.push(block, erase_count);
        }
        self.return_lent(plane, block);
    }
}

#[cfg(test)]
mod tests;
