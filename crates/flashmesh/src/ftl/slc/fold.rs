//! Which full blocks of the SLC cache are folded, and whether their pages have a place.

use crate::ftl::BlockState;
use crate::ftl::blocks::BlockManager;
use crate::ftl::stream::Stream;
use crate::ids::{BlockId, PlaneId};

impl BlockManager {
    /// Begins to fold: marks a full block of `plane`, and of all planes that share superblocks with it, while more than `above` are full.
    pub(super) fn begin_fold(&mut self, plane: PlaneId, above: u32) -> Option<Vec<BlockId>> {
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
        if keeps_another && !self.plane(plane).can_open(Stream::Fold) {
            return None;
        }
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
