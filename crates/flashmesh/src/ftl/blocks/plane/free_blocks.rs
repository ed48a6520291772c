//! Free blocks of a plane, in the order in which they will be opened. Dynamic wear levelling orders free blocks by erase count.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::ids::BlockId;

/// Free blocks of a plane. Blocks that were never opened are stored as a range and opened first, with or without wear levelling: such
/// blocks are the least erased and have been free for longest.
#[derive(Clone, Debug)]
pub(in crate::rooms::ftl) struct FreeBlocks {
    fresh_next: u32,
    fresh_end: u32,
    recycled: Recycled,
}

/// Free blocks that have been erased, in the order in which they will be opened.
#[derive(Clone, Debug)]
enum Recycled {
    /// Order with dynamic wear levelling: least erased first, ties in order of erase. `heap` holds (erase count, sequence number of the
    /// erase, block), and `freed` is the next sequence number.
    LeastErased { heap: BinaryHeap<Reverse<(u32, u64, u32)>>, freed: u64 },
    /// Order without wear levelling: in order of erase. Holds block numbers.
    FirstFreed(VecDeque<u32>),
}

impl FreeBlocks {
    pub(in crate::rooms::ftl) fn new(first: BlockId, blocks: u32, least_erased_first: bool) -> FreeBlocks {
        let recycled = if least_erased_first {
            Recycled::LeastErased { heap: BinaryHeap::new(), freed: 0 }
        } else {
            Recycled::FirstFreed(VecDeque::new())
        };
        FreeBlocks { fresh_next: first.0, fresh_end: first.0 + blocks, recycled }
    }

    #[inline]
    pub(in crate::rooms::ftl) fn len(&self) -> u32 {
        let recycled = match &self.recycled {
            Recycled::LeastErased { heap, .. } => heap.len(),
            Recycled::FirstFreed(queue) => queue.len(),
        };
        self.fresh_end - self.fresh_next + recycled as u32
    }

    pub(in super::super) fn peek(&self) -> Option<BlockId> {
        if self.fresh_next < self.fresh_end {
            return Some(BlockId(self.fresh_next));
        }
        match &self.recycled {
            Recycled::LeastErased { heap, .. } => heap.peek().map(|Reverse((_, _, block))| BlockId(*block)),
            Recycled::FirstFreed(queue) => queue.front().copied().map(BlockId),
        }
    }

    pub(in crate::rooms::ftl) fn pop(&mut self) -> Option<BlockId> {
        if self.fresh_next < self.fresh_end {
            self.fresh_next += 1;
            return Some(BlockId(self.fresh_next - 1));
        }
        match &mut self.recycled {
            Recycled::LeastErased { heap, .. } => heap.pop().map(|Reverse((_, _, block))| BlockId(block)),
            Recycled::FirstFreed(queue) => queue.pop_front().map(BlockId),
        }
    }

    pub(in crate::rooms::ftl) fn push(&mut self, block: BlockId, erase_count: u32) {
        match &mut self.recycled {
            Recycled::LeastErased { heap, freed } => {
                heap.push(Reverse((erase_count, *freed, block.0)));
                *freed += 1;
            }
            Recycled::FirstFreed(queue) => queue.push_back(block.0),
        }
    }

    /// Returns the free blocks in no particular order.
    pub(in crate::rooms::ftl) fn iter(&self) -> impl Iterator<Item = BlockId> + '_ {
        let recycled: Box<dyn Iterator<Item = u32>> = match &self.recycled {
            Recycled::LeastErased { heap, .. } => Box::new(heap.iter().map(|Reverse((_, _, block))| *block)),
            Recycled::FirstFreed(queue) => Box::new(queue.iter().copied()),
        };
        (self.fresh_next..self.fresh_end).chain(recycled).map(BlockId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn drain(free: &mut FreeBlocks) -> Vec<u32> {
        std::iter::from_fn(|| free.pop()).map(|block| block.0).collect()
    }

    #[test]
    fn blocks_are_opened_by_erase_count_and_ties_in_order_of_erase() {
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
    fn blocks_are_opened_in_order_of_erase_without_dynamic_wear_levelling() {
        let mut free = FreeBlocks::new(BlockId(10), 1, false);
        for (block, erase_count) in [(13, 5), (12, 5), (14, 2)] {
            free.push(BlockId(block), erase_count);
        }
        assert_eq!(drain(&mut free), [10, 13, 12, 14]);
    }
}
