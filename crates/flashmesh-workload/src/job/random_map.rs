//! The random map: the blocks not yet covered in a pass, with a fast search for the next one.

const BITS: u64 = u64::BITS as u64;

/// A hierarchical bitmap. Level 0 has a bit per block, set if the block is covered. Each higher level has a bit per word of the level below, set if
/// all bits of the word are set.
#[derive(Clone, Debug)]
pub(crate) struct RandomMap {
    levels: Vec<Vec<u64>>,
    count: u64,
    free: u64,
}

impl RandomMap {
    /// Creates a map of `count` free blocks.
    pub(crate) fn new(count: u64) -> RandomMap {
        let mut levels = Vec::new();
        let mut bits = count;
        loop {
            let words = bits.div_ceil(BITS).max(1);
            levels.push(vec![0; words as usize]);
            if words == 1 {
                break;
            }
            bits = words;
        }
        let mut map = RandomMap { levels, count, free: count };
        map.close_ends();
        map
    }

    /// Frees all blocks.
    pub(crate) fn reset(&mut self) {
        self.levels.iter_mut().for_each(|level| level.fill(0));
        self.free = self.count;
        self.close_ends();
    }

    /// Sets the unused bits of the last word of each level, so that the word can become full.
    fn close_ends(&mut self) {
        let mut bits = self.count;
        for level in &mut self.levels {
            if let (false, Some(last)) = (bits.is_multiple_of(BITS), level.last_mut()) {
                *last |= u64::MAX << (bits % BITS);
            }
            bits = level.len() as u64;
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.free == 0
    }

    /// Returns whether `block` is not yet covered in this pass. `block` must be less than the number of blocks.
    pub(crate) fn is_free(&self, block: u64) -> bool {
        self.levels[0][(block / BITS) as usize] >> (block % BITS) & 1 == 0
    }

    pub(crate) fn cover(&mut self, block: u64) {
        if !self.is_free(block) {
            return;
        }
        self.free -= 1;
        let mut bit = block;
        for level in &mut self.levels {
            let word = &mut level[(bit / BITS) as usize];
            *word |= 1 << (bit % BITS);
            if *word != u64::MAX {
                break;
            }
            bit /= BITS;
        }
    }

    /// Covers up to `count` free blocks from `block` on, and stops at the first block that was already covered. Returns the number of blocks covered
    /// by this call, 0 if `block` was covered before.
    pub(crate) fn cover_run(&mut self, block: u64, count: u64) -> u64 {
        let end = block.saturating_add(count).min(self.count);
        let run = (block..end).take_while(|&at| self.is_free(at)).count() as u64;
        (block..block + run).for_each(|at| self.cover(at));
        run
    }

    /// Returns the first free block at or after `block`, wrapping around; `None` if all are covered.
    pub(crate) fn next_free(&self, block: u64) -> Option<u64> {
        if self.is_full() {
            return None;
        }
        self.first_from(block).or_else(|| self.first_from(0))
    }

    fn first_from(&self, block: u64) -> Option<u64> {
        let (mut bit, mut level) = (block, 0);
        loop {
            let word = *self.levels[level].get((bit / BITS) as usize)?;
            let free = !word & (u64::MAX << (bit % BITS));
            if free == 0 {
                // No free bit in the rest of this word: find the next word that is not full in the level above.
                level += 1;
                if level == self.levels.len() {
                    return None;
                }
                bit = bit / BITS + 1;
                continue;
            }
            bit = bit / BITS * BITS + u64::from(free.trailing_zeros());
            if level == 0 {
                return Some(bit);
            }
            level -= 1;
            bit *= BITS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::synthetic::{below, generator_of};
    use super::*;

    #[test]
    fn finds_what_a_plain_search_finds() {
        let mut generator = generator_of(3);
        for count in [1, 2, 63, 64, 65, 4095, 4096, 4097, 10_000] {
            let mut map = RandomMap::new(count);
            let mut free = vec![true; count as usize];
            for _ in 0..count {
                let block = below(&mut generator, count);
                let plain = (block..count).chain(0..block).find(|&at| free[at as usize]);
                assert_eq!(map.next_free(block), plain, "{block} of {count}");
                let Some(found) = plain else { break };
                map.cover(found);
                free[found as usize] = false;
            }
            assert!(map.is_full());
            assert_eq!(map.next_free(0), None);
            map.reset();
            assert_eq!((map.next_free(count - 1), map.is_full()), (Some(count - 1), false));
        }
    }

    #[test]
    fn a_run_ends_at_the_first_covered_block_and_at_the_end() {
        let mut map = RandomMap::new(100);
        map.cover(10);
        assert_eq!(map.cover_run(8, 5), 2);
        assert_eq!(map.cover_run(98, 5), 2);
        assert!(map.is_free(11) && !map.is_free(8) && !map.is_free(99));
    }
}
