//! Which full blocks of the SLC cache are folded, and whether their pages have a place.

use crate::ftl::BlockState;
use crate::ftl::blocks::BlockManager;
use crate::ftl::stream::Stream;
use crate::ids::{BlockId, PlaneId};

/// Blocks that can be folded.
struct NextFold {
    /// One in each plane that shares superblocks.
    blocks: Vec<BlockId>,
    /// Whether the open block for folded pages has too few left, so that each plane keeps another.
    keeps_another: bool,
}

impl BlockManager {
    /// Begins to fold: marks a full block of `plane`, and of all planes that share superblocks with it, while more than `above` are full.
    pub(super) fn begin_fold(&mut self, plane: PlaneId, above: u32) -> Option<Vec<BlockId>> {
        let NextFold { blocks, keeps_another } = self.next_fold(plane, above)?;
        for (plane, &block) in self.set_of(plane).zip(&blocks) {
            let account = self.plane_mut(plane);
            account.kept = account.kept.max(u32::from(keeps_another));
            account.collecting += 1;
            if let Some(slc) = &mut account.slc {
                slc.full.retain(|&full| full != block);
            }
            self.table_of_slc().fold(block);
        }
        Some(blocks)
    }

    /// Whether the cache of `plane`, which has no page, gets one by what is under way or can begin: a fold, or what a fold waits for.
    pub(super) fn makes_room(&self, plane: PlaneId) -> bool {
        let Some(slc) = &self.plane(plane).slc else { return false };
        // The last pages of the open block are being programmed, after which it can be folded.
        let is_filling = self.table().state(self.plane(plane).open.get(Stream::Slc).block) == BlockState::Open;
        let is_in_use = slc.free.len() < self.geometry().slc.per_plane;
        let is_collected = || is_in_use && self.set_of(plane).any(|plane| self.plane(plane).collecting > 0);
        is_filling || is_collected() || self.next_fold(plane, 0).is_some()
    }

    /// What is folded next in `plane` while more than `above` blocks are full; `None` too while another collection of its planes is under way, and
    /// where there is no place for the pages.
    fn next_fold(&self, plane: PlaneId, above: u32) -> Option<NextFold> {
        let full = &self.plane(plane).slc.as_ref()?.full;
        if full.len() as u32 <= above || self.set_of(plane).any(|plane| self.plane(plane).collecting > 0) {
            return None;
        }
        let is_full = |block| self.table().state(block) == BlockState::Cached;
        let all_full = full.iter().copied().filter(|&block| self.set_of_block(block).all(is_full));
        // Of equals the first, which was filled first.
        let first = all_full.min_by_key(|&block| self.valid_of(self.set_of_block(block)))?;
        let blocks: Vec<BlockId> = self.set_of_block(first).collect();
        let needed = self.pages_for_fold(&blocks);
        let left = self.set_of(plane).map(|plane| self.plane(plane).open.pages_left(Stream::Fold)).min();
        let keeps_another = left.is_some_and(|left| needed > left);
        let has_place = !keeps_another || self.plane(plane).can_open(Stream::Fold);
        has_place.then_some(NextFold { blocks, keeps_another })
    }

    fn valid_of(&self, blocks: impl Iterator<Item = BlockId>) -> u32 {
        blocks.map(|block| self.table().valid_pages(block)).sum()
    }

    /// Pages of each plane that the fold of `blocks` takes at most: it fills the planes evenly, from the one that is furthest on. Where programs
    /// write several units, those that run with fewer leave some empty.
    fn pages_for_fold(&self, blocks: &[BlockId]) -> u32 {
        let valid = self.valid_of(blocks.iter().copied()).div_ceil(blocks.len() as u32);
        if self.geometry().gathers() { 2 * valid.next_multiple_of(self.geometry().units_per_program) } else { valid }
    }
}
