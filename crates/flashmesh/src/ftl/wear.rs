//! Wear levelling: which free block is opened next (dynamic), and when cold data must make way (static).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::Ftl;
use super::blocks::BlockState;
use crate::ids::{BlockId, PlaneId};

/// The free blocks of a plane.
///
/// Blocks that were never opened need no list: they are those from a cursor on. They go first in either order, being
/// both the least erased and the ones longest free.
#[derive(Clone, Debug)]
pub(super) struct FreeBlocks {
    fresh_next: u32,
    fresh_end: u32,
    recycled: Recycled,
}

/// Erased blocks, in the order in which they are opened.
#[derive(Clone, Debug)]
enum Recycled {
    /// Dynamic wear levelling: the least erased first; of equals the one freed first.
    LeastErased { heap: BinaryHeap<Reverse<(u32, u64, u32)>>, freed: u64 },
    /// No wear levelling: the one freed first.
    FirstFreed(VecDeque<u32>),
}

impl FreeBlocks {
    pub(super) fn new(first: BlockId, blocks: u32, least_erased_first: bool) -> FreeBlocks {
        let recycled = if least_erased_first {
            Recycled::LeastErased { heap: BinaryHeap::new(), freed: 0 }
        } else {
            Recycled::FirstFreed(VecDeque::new())
        };
        FreeBlocks { fresh_next: first.0, fresh_end: first.0 + blocks, recycled }
    }

    /// How many blocks are free.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        let recycled = match &self.recycled {
            Recycled::LeastErased { heap, .. } => heap.len(),
            Recycled::FirstFreed(queue) => queue.len(),
        };
        self.fresh_end - self.fresh_next + recycled as u32
    }

    /// The block that [`FreeBlocks::pop`] would take.
    pub(super) fn peek(&self) -> Option<BlockId> {
        if self.fresh_next < self.fresh_end {
            return Some(BlockId(self.fresh_next));
        }
        match &self.recycled {
            Recycled::LeastErased { heap, .. } => heap.peek().map(|Reverse((_, _, block))| BlockId(*block)),
            Recycled::FirstFreed(queue) => queue.front().copied().map(BlockId),
        }
    }

    /// Takes the block to open next.
    pub(super) fn pop(&mut self) -> Option<BlockId> {
        if self.fresh_next < self.fresh_end {
            self.fresh_next += 1;
            return Some(BlockId(self.fresh_next - 1));
        }
        match &mut self.recycled {
            Recycled::LeastErased { heap, .. } => heap.pop().map(|Reverse((_, _, block))| BlockId(block)),
            Recycled::FirstFreed(queue) => queue.pop_front().map(BlockId),
        }
    }

    /// Takes back an erased block.
    pub(super) fn push(&mut self, block: BlockId, erase_count: u32) {
        match &mut self.recycled {
            Recycled::LeastErased { heap, freed } => {
                heap.push(Reverse((erase_count, *freed, block.0)));
                *freed += 1;
            }
            Recycled::FirstFreed(queue) => queue.push_back(block.0),
        }
    }

    /// Every free block, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = BlockId> + '_ {
        let recycled: Box<dyn Iterator<Item = u32>> = match &self.recycled {
            Recycled::LeastErased { heap, .. } => Box::new(heap.iter().map(|Reverse((_, _, block))| *block)),
            Recycled::FirstFreed(queue) => Box::new(queue.iter().copied()),
        };
        (self.fresh_next..self.fresh_end).chain(recycled).map(BlockId)
    }
}

/// How far apart the erase counts of a plane are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WearSpread {
    /// The highest erase count.
    most: u32,
    /// No full block has a lower erase count.
    least: u32,
    /// Whether a block was erased since the least erased one was last looked for.
    has_changed: bool,
}

impl WearSpread {
    /// The highest erase count.
    pub(super) fn most(self) -> u32 {
        self.most
    }

    /// An erase count that no full block is below.
    pub(super) fn least(self) -> u32 {
        self.least
    }

    /// A block was erased, for the `erase_count`th time.
    pub(super) fn erased(&mut self, erase_count: u32) {
        self.most = self.most.max(erase_count);
        self.has_changed = true;
    }

    /// A block that was erased so often is full.
    pub(super) fn filled(&mut self, erase_count: u32) {
        if erase_count < self.least {
            self.least = erase_count;
            self.has_changed = true;
        }
    }

    /// Whether the least erased full block may be more than `threshold` behind the most erased block, as far as is known
    /// without looking for it; not where it was looked for and nothing has changed since.
    fn may_exceed(self, threshold: u32) -> bool {
        self.has_changed && self.most - self.least > threshold
    }

    /// The least erased full block was looked for and was erased so often; gives how far that is behind the most erased.
    fn found_least(&mut self, erase_count: u32) -> u32 {
        (self.least, self.has_changed) = (erase_count, false);
        self.most - self.least
    }
}

#[cfg(test)]
impl WearSpread {
    /// Makes it wrong, for tests of what finds that out.
    pub(super) fn set(&mut self, most: u32, least: u32) {
        (self.most, self.least) = (most, least);
    }
}

impl Ftl {
    /// Static wear levelling: when the most erased block of `plane` is more than the threshold ahead of its least
    /// erased full block, marks the latter as a victim and returns it. Its (cold) data is to be moved like that of any
    /// victim; the block itself is the next to be opened, since it is the least erased one.
    ///
    /// `None` while the plane is being collected, and always when static wear levelling is off.
    pub fn wants_wear_move(&mut self, plane: PlaneId) -> Option<BlockId> {
        let threshold = self.collection.wear_threshold()?;
        let account = &self.planes[plane.index()];
        if account.collecting > 0 || !account.wear.may_exceed(threshold) {
            return None;
        }
        let least = self
            .blocks
            .of_plane(plane)
            .filter(|&block| self.blocks.state(block) == BlockState::Full)
            .min_by_key(|&block| self.blocks.erase_count(block))?;
        let erase_count_min = self.blocks.erase_count(least);
        let fits = match self.has_twins() {
            true => self.twins_are_full(least) && self.twins_fit(plane, least.0 % self.geometry.blocks_per_plane),
            false => self.fits(least),
        };
        let spread = self.planes[plane.index()].wear.found_least(erase_count_min);
        if spread <= threshold || !fits {
            return None;
        }
        if self.has_twins() {
            self.mark_twins_of(least);
        } else {
            self.mark_victim(least);
        }
        Some(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Config};
    use crate::engine::random::SimRng;
    use crate::flash::geometry::Geometry;
    use crate::ftl::IdleDies;
    use crate::ids::Lpn;

    fn drain(free: &mut FreeBlocks) -> Vec<u32> {
        std::iter::from_fn(|| free.pop()).map(|block| block.0).collect()
    }

    #[test]
    fn the_least_erased_block_is_opened_first_and_of_equals_the_one_freed_first() {
        let mut free = FreeBlocks::new(BlockId(10), 2, true);
        for (block, erase_count) in [(13, 5), (12, 5), (14, 2)] {
            free.push(BlockId(block), erase_count);
        }
        assert_eq!(free.peek(), Some(BlockId(10)));
        assert_eq!(free.len(), 5);
        assert_eq!(drain(&mut free), [10, 11, 14, 13, 12]);
        assert_eq!(free.peek(), None);
    }

    #[test]
    fn without_dynamic_wear_levelling_the_block_freed_first_is_opened_first() {
        let mut free = FreeBlocks::new(BlockId(10), 1, false);
        for (block, erase_count) in [(13, 5), (12, 5), (14, 2)] {
            free.push(BlockId(block), erase_count);
        }
        assert_eq!(drain(&mut free), [10, 13, 12, 14]);
    }

    /// Erase counts after a tenth of the pages took nearly all writes: the difference between the most and the least
    /// erased block.
    fn spread(dynamic: bool, static_levelling: bool) -> u32 {
        let mut config = Config::default();
        config.geometry = config::Geometry {
            channels: 1,
            chips_per_channel: 1,
            planes_per_die: 1,
            blocks_per_plane: 64,
            pages_per_block: 16,
            over_provisioning: 0.2,
            ..config::Geometry::default()
        };
        config.wear = config::Wear { dynamic, static_levelling, static_threshold: THRESHOLD };
        let geometry = Geometry::new(&config.geometry).unwrap();
        let mut ftl = Ftl::new(&geometry, &config);
        let idle = IdleDies::new(1);
        let mut random = SimRng::new(1);
        for lpn in 0..geometry.logical_pages {
            ftl.write_untimed(Lpn(lpn), &idle);
        }
        for _ in 0..100_000 {
            ftl.write_untimed(Lpn(random.below(geometry.logical_pages / 10)), &idle);
        }
        ftl.audit().unwrap();
        let erase_counts = || (0..geometry.blocks()).map(|block| ftl.erase_count(BlockId(block)));
        erase_counts().max().unwrap() - erase_counts().min().unwrap()
    }

    const THRESHOLD: u32 = 10;

    #[test]
    fn static_wear_levelling_keeps_erase_counts_together() {
        // A block may be erased again before a move of the least erased one gets its turn.
        assert!(spread(true, true) <= THRESHOLD + 3, "{}", spread(true, true));
        let unlevelled = spread(true, false);
        assert!(unlevelled > 10 * THRESHOLD, "the workload does not wear blocks unevenly: {unlevelled}");
    }

    #[test]
    fn nothing_is_moved_while_static_wear_levelling_is_off() {
        let config = Config::default();
        let geometry = Geometry::new(&config.geometry).unwrap();
        let mut ftl = Ftl::new(&geometry, &config);
        ftl.planes[0].wear.erased(1000);
        assert_eq!(ftl.wants_wear_move(PlaneId(0)), None);
    }
}
