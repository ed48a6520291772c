//! Counts of consecutive requests, in blocks that grow with the trace.

use std::collections::BTreeMap;

use super::model::{Block, Counts};

/// Requests of a block at least.
pub(super) const BLOCK_REQUESTS_MIN: u64 = 32;
/// Requests of a block at most: a source draws them together.
pub(super) const BLOCK_REQUESTS_MAX: u64 = 1 << 22;
/// Blocks at most.
pub(super) const BLOCKS_MAX: usize = 512;

/// A block while its requests are counted, by the keys of what is counted.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockCounts {
    duration_ps: u64,
    requests: u64,
    fresh_pages: u64,
    /// Of operations, gaps and targets.
    counts: [BTreeMap<u32, u64>; 3],
}

impl BlockCounts {
    fn absorb(&mut self, other: BlockCounts) {
        self.duration_ps += other.duration_ps;
        self.requests += other.requests;
        self.fresh_pages += other.fresh_pages;
        for (counts, others) in self.counts.iter_mut().zip(other.counts) {
            others.into_iter().for_each(|(key, count)| *counts.entry(key).or_default() += count);
        }
    }
}

/// Blocks of equally many requests.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    block_requests: u64,
    blocks: Vec<BlockCounts>,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks { block_requests: BLOCK_REQUESTS_MIN, blocks: Vec::new() }
    }
}

impl Blocks {
    /// Counts a request that arrives after a gap and touches fresh pages by the keys of its operation, gap and target.
    #[inline]
    pub(super) fn add(&mut self, gap_ps: u64, fresh_pages: u64, keys: [u32; 3]) {
        if self.blocks.last().is_none_or(|block| block.requests == self.block_requests) {
            if self.blocks.len() == BLOCKS_MAX {
                self.merge();
            }
            self.blocks.push(BlockCounts::default());
        }
        let Some(block) = self.blocks.last_mut() else { return };
        block.duration_ps += gap_ps;
        block.requests += 1;
        block.fresh_pages += fresh_pages;
        for (counts, key) in block.counts.iter_mut().zip(keys) {
            *counts.entry(key).or_default() += 1;
        }
    }

    /// Whether there is but one block.
    pub(super) fn is_merged(&self) -> bool {
        self.blocks.len() <= 1
    }

    /// Whether a source can draw a block of so many requests.
    pub(super) fn can_be_drawn(&self) -> bool {
        self.block_requests <= BLOCK_REQUESTS_MAX
    }

    /// Makes one block of every two.
    pub(super) fn merge(&mut self) {
        self.block_requests *= 2;
        let mut merged: Vec<BlockCounts> = Vec::new();
        for (index, block) in std::mem::take(&mut self.blocks).into_iter().enumerate() {
            match merged.last_mut() {
                Some(last) if index % 2 == 1 => last.absorb(block),
                _ => merged.push(block),
            }
        }
        self.blocks = merged;
    }

    /// The blocks, with keys of operations, gaps and targets replaced by their positions in these sorted lists.
    pub(super) fn finish(&self, keys: [&[u32]; 3]) -> Vec<Block> {
        let (mut end_ps, mut end_ns) = (0, 0);
        let finish = |block: &BlockCounts| {
            // Four digits are kept of each duration; what they leave out is made up for by the next.
            end_ps += block.duration_ps;
            let duration_ns = rounded((end_ps / 1000).saturating_sub(end_ns));
            end_ns += duration_ns;
            let counts = |part: usize| -> Counts {
                let counts = &block.counts[part];
                counts.iter().map(|(key, &count)| (position(keys[part], *key), count)).collect()
            };
            Block { duration_ns, fresh_pages: block.fresh_pages, counts: [0, 1, 2].map(counts) }
        };
        self.blocks.iter().map(finish).collect()
    }
}

/// Where `key` is in a sorted list.
pub(super) fn position(keys: &[u32], key: u32) -> u32 {
    keys.binary_search(&key).unwrap_or_default() as u32
}

fn rounded(number: u64) -> u64 {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(3));
    number / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_with_the_trace_and_lose_no_request() {
        for requests in [1, 32, 33, 16_384, 16_385, 100_000_u64] {
            let mut blocks = Blocks::default();
            (0..requests).for_each(|index| blocks.add(1_000_000 + index, 2, [index as u32 % 3, 0, 7]));
            let finished = blocks.finish([&[0, 1, 2], &[0], &[5, 7]]);
            assert!(finished.len() <= BLOCKS_MAX, "{} blocks", finished.len());
            let total =
                |part: usize| finished.iter().flat_map(|block| &block.counts[part]).map(|(_, count)| count).sum();
            assert_eq!([total(0), total(1), total(2)], [requests; 3]);
            assert_eq!(finished.iter().map(|block| block.fresh_pages).sum::<u64>(), 2 * requests);
            assert!(finished.iter().all(|block| block.counts[2][0].0 == 1), "positions stand for keys");
            let duration_ps: u64 = finished.iter().map(|block| block.duration_ns * 1000).sum();
            let expected_ps = (0..requests).map(|index| 1_000_000 + index).sum::<u64>();
            assert!(expected_ps.abs_diff(duration_ps) <= expected_ps / 1000, "{duration_ps} of {expected_ps} ps");
        }
    }
}
