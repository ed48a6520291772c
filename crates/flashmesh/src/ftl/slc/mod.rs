//! The SLC cache of the translation layer: which of its blocks take what the host writes, and which is folded next.
//!
//! Its blocks are the last ones of each plane. They hold one page a word line, have free blocks of their own, and are no candidates for
//! collection or wear levelling. Writes go there while a page is free; a full block is *folded*: its valid pages move to blocks with all bits
//! of their cells, and it is erased.
//!
//! Planes that share superblocks have superblocks of the cache too: they open, fold and erase the blocks of one position together, and folded
//! pages go to whichever plane is furthest behind.
//!
//! The blocks of a dynamic cache are numbers that no block of the plane has. Opening one takes a free block of the plane, which it stands for until
//! it was folded ([`BlockManager::lend`]); the erase is one of the lent block as well.
//!
//! # Why nothing gets stuck
//!
//! All logical pages of a plane fit outside the cache ([`Partition`](super::Partition) counts no block of it), so what lies in it can always be
//! moved out. A write waits for the cache (`slc.when-full = "fold"`) only while a fold that makes room is under way or can begin, or will be
//! able to since something else ends first: pages of the open block that are being programmed, or a collection of the plane. A fold begins only when all of its pages have a place: in the open block for folded pages, and where
//! that has too few left in one free block more, which it keeps from the others. So it waits for no collection, and the collection of the plane
//! begins when it ends. The plane has both blocks to spare ([`FOLD_BLOCKS`](super::spare_blocks::FOLD_BLOCKS)).
//!
//! A dynamic cache takes blocks only while so many are free that no collection begins, and a plane that has lent any keeps one for folds. A
//! plane that is short of free pages and has lent blocks is folded before it is collected ([`Ftl::begin_fold_for_space`]). A fold moves a half of a
//! block at most and gives a whole one back, so that all are given back in the end, but for the open one, which is a block more to spare. What is
//! left is a plane without a cache.

mod fold;
mod plane;

pub(super) use plane::SlcPlane;

use super::Ftl;
use super::blocks::{BlockManager, Plane};
use super::stream::Stream;
use crate::config::{self, SlcWhenFull};
use crate::ids::{BlockId, PlaneId, StreamId};

/// When blocks are folded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Full blocks of a plane above which it is folded while its die is idle.
    fold_above: u32,
    /// Whether writes that find the cache full wait for a fold.
    writes_wait: bool,
}

impl Rules {
    pub fn new(slc: &config::Slc) -> Rules {
        let fold_above = (f64::from(slc.blocks_per_plane) * slc.fold_threshold) as u32;
        Rules { fold_above, writes_wait: slc.is_on() && slc.when_full == SlcWhenFull::Fold }
    }
}

impl Ftl {
    /// Whether the SLC cache of `plane` has a page for a write.
    #[inline]
    pub(crate) fn has_slc_page(&self, plane: PlaneId) -> bool {
        self.blocks.has_page(plane, Stream::Slc)
    }

    /// Returns the pages of the SLC cache.
    pub(crate) fn slc_pages(&self) -> u64 {
        let of_plane = u64::from(self.geometry.slc.per_plane) * u64::from(self.geometry.slc.pages_per_block);
        if self.geometry.has_slc() { of_plane * u64::from(self.geometry.planes()) } else { 0 }
    }

    /// Returns the pages of the SLC cache that were programmed since they were erased.
    pub(crate) fn slc_pages_in_use(&self) -> u64 {
        let (blocks, pages) = (self.geometry.slc.per_plane, self.geometry.slc.pages_per_block);
        let in_use = |plane: &Plane| {
            let free = plane.slc.as_ref()?.free.len() * pages + plane.open.pages_left(Stream::Slc);
            Some(u64::from((blocks * pages).saturating_sub(free)))
        };
        self.blocks.planes().iter().filter_map(in_use).sum()
    }

    /// Begins to fold a block of `plane`, and gives it: of those that are full the one with the fewest valid pages, since its erase gives back as
    /// much for the fewest moves, and of equals the one filled first \[choice\]. Of planes that share superblocks all blocks at one position are
    /// folded together.
    ///
    /// `None` while few enough are full, while a collection of the planes is under way, and when there is no place for the pages.
    pub(crate) fn begin_fold(&mut self, plane: PlaneId) -> Option<Vec<BlockId>> {
        self.blocks.begin_fold(plane, self.slc.fold_above)
    }

    /// Whether writes of `plane` wait until a block of its SLC cache, which has no page for them, is folded.
    #[inline]
    pub(crate) fn waits_for_fold(&self, plane: PlaneId) -> bool {
        self.slc.writes_wait && !self.has_slc_page(plane) && self.blocks.makes_room(plane)
    }

    /// Which open block of `plane` takes what `stream` of the host writes there next: the SLC cache while it has a page, or will have one that
    /// is waited for.
    pub(crate) fn write_stream(&self, plane: PlaneId, stream: Option<StreamId>) -> Stream {
        let to_slc = self.geometry.has_slc() && (self.has_slc_page(plane) || self.waits_for_fold(plane));
        if to_slc { Stream::Slc } else { self.host_stream(plane, stream) }
    }

    /// The same of the plane that a write is placed on, or of those that share superblocks with it.
    pub(crate) fn write_stream_beside(&self, plane: PlaneId) -> Stream {
        let to_slc = self.geometry.has_slc() && self.blocks.set_of(plane).any(|twin| self.has_slc_page(twin));
        if to_slc { Stream::Slc } else { self.host_stream(plane, None) }
    }

    /// As [`Ftl::begin_fold`], however few are full: in a plane that is short of free pages and has lent full blocks, and where writes wait.
    pub(crate) fn begin_fold_for_space(&mut self, plane: PlaneId) -> Option<Vec<BlockId>> {
        let has_lent = self.blocks.plane(plane).slc.as_ref().is_some_and(|slc| slc.has_lent());
        let is_short = || self.blocks.set_of(plane).any(|plane| self.is_short(plane));
        let is_needed = (has_lent && is_short()) || self.waits_for_fold(plane);
        if is_needed { self.blocks.begin_fold(plane, 0) } else { None }
    }

    /// Has planes keep so many free blocks that lending others asks for no collection.
    pub(super) fn limit_lending(&mut self) {
        let kept_free = self.collector.pages_kept_free().div_ceil(self.geometry.pages_per_block) + LENDING_BLOCKS;
        self.blocks.limit_lending(kept_free);
    }
}

/// Blocks that a plane keeps beside what collection would begin below: the one for folds, and the one that is lent next.
const LENDING_BLOCKS: u32 = 2;

impl BlockManager {
    fn limit_lending(&mut self, kept_free: u32) {
        for plane in (0..self.geometry().planes()).map(PlaneId) {
            let lent = self.plane_mut(plane).slc.as_mut().and_then(|slc| slc.lent.as_mut());
            lent.into_iter().for_each(|lent| lent.kept_free = kept_free);
        }
    }

    /// A block of the SLC cache was opened: where that is dynamic it stands for a free block of the plane, which is lent.
    #[inline(never)]
    pub(super) fn lend(&mut self, plane: PlaneId, block: BlockId) {
        let pages = self.geometry().pages_per_block;
        let account = self.plane_mut(plane);
        let Some(lent) = account.slc.as_mut().and_then(|slc| slc.lent.as_mut()) else { return };
        let native = account.free.pop().expect("a block is lent only while others are free");
        lent.blocks.push((block, native));
        account.free_pages -= pages;
        account.kept = 1;
        self.table_of_slc().open(native, false);
    }

    /// A block that was folded is erased: the block that it stands for is free, where it was lent.
    fn give_back(&mut self, plane: PlaneId, block: BlockId) {
        let pages = self.geometry().pages_per_block;
        let account = self.plane_mut(plane);
        let Some(lent) = account.slc.as_mut().and_then(|slc| slc.lent.as_mut()) else { return };
        let at = lent.blocks.iter().position(|&(lent, _)| lent == block).expect("a block that was opened was lent");
        let (_, native) = lent.blocks.swap_remove(at);
        let has_more = !lent.blocks.is_empty();
        let erase_count = self.table_of_slc().erase_lent(native);
        let account = self.plane_mut(plane);
        account.kept = u32::from(has_more);
        account.free_pages += pages;
        account.free.push(native, erase_count);
        account.wear.erased(erase_count);
    }

    /// A block of the SLC cache is full.
    pub(super) fn fill_slc(&mut self, block: BlockId) {
        self.table_of_slc().fill_slc(block);
        let plane = self.geometry().plane_of_block(block);
        if let Some(slc) = &mut self.plane_mut(plane).slc {
            slc.full.push(block);
        }
    }

    /// A block that was folded is erased, and free for the cache again.
    pub(super) fn free_folded(&mut self, block: BlockId) {
        let erase_count = self.table_of_slc().erase(block);
        let plane = self.geometry().plane_of_block(block);
        let account = self.plane_mut(plane);
        account.collecting -= 1;
        account.kept = 0;
        if let Some(slc) = &mut account.slc {
            slc.free.push(block, erase_count);
        }
        self.give_back(plane, block);
    }
}

#[cfg(test)]
mod tests;
