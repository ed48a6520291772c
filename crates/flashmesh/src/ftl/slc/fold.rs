//! Folds of full SLC blocks (moves of their valid pages to native blocks): choice of the block, and space for its pages.

use crate::ftl::BlockState;
use crate::ftl::blocks::BlockManager;
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ids::{BlockId, PlaneId};

/// SLC blocks to be folded next, and whether their fold needs another free block.
struct NextFold {
    /// One block in each plane that shares superblocks; without superblocks, a single block.
    blocks: Vec<BlockId>,
    /// Whether the open block for folded pages is too full for the pages of `blocks`. Each plane then keeps another free block for the fold.
    keeps_another: bool,
}

impl BlockManager {
    /// Begins a fold if more than `above` SLC blocks of `plane` are full. Marks the full block with the fewest valid pages as being folded, with
    /// superblocks all blocks of its superblock, and returns them. Returns `None` if no fold can begin; see [`next_fold`](Self::next_fold).
    pub(super) fn begin_fold(&mut self, plane: PlaneId, above: u32) -> Option<Vec<BlockId>> {
        let NextFold { blocks, keeps_another } = self.next_fold(plane, above)?;
        for (plane, &block) in self.superblock_planes(plane).zip(&blocks) {
            let account = self.accounts.plane_mut(plane);
            account.kept_for_fold = account.kept_for_fold.max(u32::from(keeps_another));
            account.collecting += 1;
            if let Some(slc) = &mut account.slc {
                slc.full.retain(|&full| full != block);
            }
            self.accounts.table_mut().fold(block);
        }
        Some(blocks)
    }

    /// Returns whether a page of the SLC cache of `plane` will become free. The cache has no free page now. True if a fold can begin now, after the
    /// programs in the open SLC block, or after the collection or fold in progress.
    pub(super) fn will_free_page(&self, plane: PlaneId) -> bool {
        let Some(slc) = &self.accounts.plane(plane).slc else { return false };
        // If the last pages of the open SLC block are still being programmed, the block can be folded afterwards.
        let is_filling = self.accounts.table().state(self.accounts.plane(plane).open.get(OpenBlockKind::Slc).block)
            == BlockState::Open;
        let is_in_use = slc.free.len() < self.accounts.geometry().slc.per_plane;
        let is_collected =
            || is_in_use && self.superblock_planes(plane).any(|plane| self.accounts.plane(plane).collecting > 0);
        is_filling || is_collected() || self.next_fold(plane, 0).is_some()
    }

    /// Returns the full blocks to fold next in `plane`, those with the fewest valid pages: one block, or the blocks of a superblock. Returns `None`
    /// if at most `above` blocks are full, a collection or fold of their planes is in progress, or there is no space for the pages.
    fn next_fold(&self, plane: PlaneId, above: u32) -> Option<NextFold> {
        let full = &self.accounts.plane(plane).slc.as_ref()?.full;
        if full.len() as u32 <= above
            || self.superblock_planes(plane).any(|plane| self.accounts.plane(plane).collecting > 0)
        {
            return None;
        }
        let is_full = |block| self.accounts.table().state(block) == BlockState::SlcFull;
        let all_full = full.iter().copied().filter(|&block| self.superblock_blocks(block).all(is_full));
        // `min_by_key` returns the first minimum, and `full` is in the order of filling. So on a tie the block filled first is folded.
        let first = all_full.min_by_key(|&block| self.valid_of(self.superblock_blocks(block)))?;
        let blocks: Vec<BlockId> = self.superblock_blocks(first).collect();
        let needed = self.pages_for_fold(&blocks);
        let left = self
            .superblock_planes(plane)
            .map(|plane| self.accounts.plane(plane).open.pages_left(OpenBlockKind::Fold))
            .min();
        let keeps_another = left.is_some_and(|left| needed > left);
        let has_place = !keeps_another || self.accounts.plane(plane).can_open(OpenBlockKind::Fold);
        has_place.then_some(NextFold { blocks, keeps_another })
    }

    fn valid_of(&self, blocks: impl Iterator<Item = BlockId>) -> u32 {
        blocks.map(|block| self.accounts.table().valid_pages(block)).sum()
    }

    /// Returns an upper bound of the pages that the fold of `blocks` needs in any plane. Planes are filled evenly. If programs write several mapping
    /// units, partly filled programs skip units, which the factor 2 covers.
    fn pages_for_fold(&self, blocks: &[BlockId]) -> u32 {
        let valid = self.valid_of(blocks.iter().copied()).div_ceil(blocks.len() as u32);
        if self.accounts.geometry().gathers_units() {
            2 * valid.next_multiple_of(self.accounts.geometry().units_per_program)
        } else {
            valid
        }
    }
}
