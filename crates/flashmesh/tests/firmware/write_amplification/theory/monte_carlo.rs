//! Monte Carlo simulation of a pool of blocks, to check the theory.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Rule by which the victim of a collection is chosen.
#[derive(Clone, Copy, Debug)]
pub enum Victim {
    /// Block that was filled first.
    Fifo,
    /// Block with the fewest valid pages.
    Greedy,
    /// Emptiest of this many random blocks.
    DChoices(u32),
    /// Random block with at most this many valid pages.
    RandomAtMost(u32),
}

struct Pool {
    generator: Xoshiro256PlusPlus,
    pages_per_block: usize,
    /// Physical page of each logical page.
    place_of: Vec<usize>,
    /// Logical page last written to each physical page.
    written: Vec<usize>,
    /// Valid pages of each block.
    valid: Vec<u32>,
    collections: usize,
}

/// Returns the steady-state write amplification of uniform random writes on `blocks` blocks of `b` pages, with a share `rho` of valid pages.
pub fn write_amplification(victim: Victim, blocks: usize, b: usize, rho: f64, seed: u64) -> f64 {
    let logical = (rho * (blocks * b) as f64).round() as usize;
    let mut pool = Pool {
        generator: Xoshiro256PlusPlus::seed_from_u64(seed),
        pages_per_block: b,
        place_of: (0..logical).collect(),
        written: (0..blocks * b).map(|page| page.min(logical - 1)).collect(),
        valid: (0..blocks).map(|block| logical.saturating_sub(block * b).min(b) as u32).collect(),
        collections: 0,
    };
    // Warm-up, not counted: long enough to erase the effect of the sequential fill under any policy.
    pool.write(victim, 12 * logical);
    let (host, moved) = pool.write(victim, 12 * logical);
    (host + moved) as f64 / host as f64
}

impl Pool {
    /// Collects blocks until at least `writes` host writes are done. Returns the numbers of host writes and of moves.
    fn write(&mut self, victim: Victim, writes: usize) -> (usize, usize) {
        let (mut host, mut moved) = (0, 0);
        while host < writes {
            let block = self.choose(victim);
            let kept = self.collect(block);
            moved += kept;
            for slot in kept..self.pages_per_block {
                let logical = self.below(self.place_of.len());
                self.put(logical, block, slot);
                host += 1;
            }
            self.collections += 1;
        }
        (host, moved)
    }

    /// Erases `block` and rewrites its valid pages at the start of the block. Returns the number of valid pages.
    fn collect(&mut self, block: usize) -> usize {
        let first = block * self.pages_per_block;
        let kept: Vec<usize> = (first..first + self.pages_per_block)
            .filter(|&page| self.place_of[self.written[page]] == page)
            .map(|page| self.written[page])
            .collect();
        assert_eq!(kept.len(), self.valid[block] as usize, "the count of valid pages is wrong");
        for (slot, &logical) in kept.iter().enumerate() {
            self.put(logical, block, slot);
        }
        kept.len()
    }

    fn put(&mut self, logical: usize, block: usize, slot: usize) {
        let page = block * self.pages_per_block + slot;
        self.valid[self.place_of[logical] / self.pages_per_block] -= 1;
        self.valid[block] += 1;
        self.place_of[logical] = page;
        self.written[page] = logical;
    }

    fn choose(&mut self, victim: Victim) -> usize {
        let blocks = self.valid.len();
        match victim {
            Victim::Fifo => self.collections % blocks,
            Victim::Greedy => (0..blocks).min_by_key(|&block| self.valid[block]).expect("there are blocks"),
            Victim::DChoices(d) => {
                let drawn: Vec<usize> = (0..d).map(|_| self.below(blocks)).collect();
                drawn.into_iter().min_by_key(|&block| self.valid[block]).expect("at least one block is drawn")
            }
            Victim::RandomAtMost(valid_max) => loop {
                let block = self.below(blocks);
                if self.valid[block] <= valid_max {
                    return block;
                }
            },
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.generator.next_u64()) * bound as u128) >> 64) as usize
    }
}
