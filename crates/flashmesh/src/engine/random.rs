//! Random numbers from a generator with a specified algorithm, identical on every machine.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator for all random choices of a run.
///
/// Algorithm: xoshiro256++ 1.0 (Blackman and Vigna), with its state expanded from the seed by SplitMix64. Numbers below a bound are drawn without
/// bias by Lemire's multiplication method with rejection ("Fast Random Integer Generation in an Interval", 2019). A change of the algorithm or of the
/// method changes simulated results, and needs a new [`ALGORITHM`](SimRng::ALGORITHM).
#[derive(Clone, Debug)]
pub struct SimRng(Xoshiro256PlusPlus);

impl SimRng {
    /// Name and version of the algorithm, for reports.
    pub const ALGORITHM: &'static str = "xoshiro256++ 1.0";

    /// Creates a generator from `seed`.
    pub fn new(seed: u64) -> SimRng {
        SimRng(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a random number from 0 to `bound` - 1; 0 if `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        let mut product = u64::from(self.0.next_u32()) * u64::from(bound);
        if (product as u32) < bound {
            let rejected = bound.wrapping_neg() % bound;
            while (product as u32) < rejected {
                product = u64::from(self.0.next_u32()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_a_bound_are_uniform() {
        let mut random = SimRng::new(7);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[random.below(6) as usize] += 1;
        }
        // Five standard deviations of a binomial count around 10,000.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 457), "{counts:?}");
    }

    #[test]
    fn bounds_of_any_size_are_respected() {
        let mut random = SimRng::new(7);
        for bound in [1, 2, 3, 1 << 31, (1 << 31) + 1, u32::MAX] {
            assert!((0..1000).all(|_| random.below(bound) < bound));
        }
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn the_sequence_of_a_seed_never_changes() {
        let mut random = SimRng::new(0);
        let first = [random.next_u64(), random.next_u64(), u64::from(random.below(1000))];
        assert_eq!(first, [0x5317_5d61_490b_23df, 0x61da_6f3d_c380_d507, 359]);
    }
}
