//! Random draws that cost one multiplication and are equal on every machine.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator of all workloads: xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021),
/// seeded through SplitMix64.
pub(crate) type Generator = Xoshiro256PlusPlus;

/// The seed of a workload: the seed of the run, and the index of the workload within a mix.
///
/// The members of a mix draw from distant parts of one sequence. If the members had consecutive seeds instead, two runs with consecutive seeds would
/// have equal members.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed {
    value: u64,
    member: u32,
}

impl Seed {
    /// Creates the seed of member `member` of a mix with seed `value`. Member 0 draws the same numbers as a workload outside a mix.
    pub(crate) fn of_member(value: u64, member: u32) -> Seed {
        Seed { value, member }
    }

    /// Returns the generator at the start of the member's part of the sequence. Each member has two parts of 2^192 draws: one for
    /// its streams, one for its arrivals.
    fn generator(self) -> Generator {
        let mut generator = Generator::seed_from_u64(self.value);
        for _ in 0..2 * self.member {
            generator.long_jump();
        }
        generator
    }
}

impl From<u64> for Seed {
    fn from(value: u64) -> Seed {
        Seed::of_member(value, 0)
    }
}

/// Returns the generator of stream 0. The generator of stream n + 1 is the generator of stream n after a jump of 2^128 draws, so streams do
/// not overlap.
pub(crate) fn stream_of(seed: impl Into<Seed>) -> Generator {
    seed.into().generator()
}

/// Returns the generator of arrival times: 2^192 draws after stream 0, beyond all streams.
///
/// Arrivals have their own draws, so that addresses do not depend on them.
pub(crate) fn arrivals_of(seed: impl Into<Seed>) -> Generator {
    let mut generator = seed.into().generator();
    generator.long_jump();
    generator
}

/// Returns a uniform whole number in 0..`bound`, by one multiplication (Lemire, "Fast random integer generation in an interval",
/// 2019).
///
/// The rejection step is omitted. So some values are more likely than others by `bound` / 2^64, which is below 2^-24 for every
/// possible drive.
pub(crate) fn below(generator: &mut Generator, bound: u64) -> u64 {
    ((u128::from(generator.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// Returns a uniform number in [0, 1), a multiple of 2^-53.
pub(crate) fn unit(generator: &mut Generator) -> f64 {
    const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
    (generator.next_u64() >> 11) as f64 * STEP
}

/// An event with a fixed probability, decided by one comparison of integers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chance {
    /// The number of draws, of 2^63 equally likely ones, for which the event occurs.
    hits: u64,
}

impl Chance {
    const DRAWS: f64 = (1_u64 << 63) as f64;

    /// Creates an event of `probability`, clamped to 0..=1.
    pub(crate) fn new(probability: f64) -> Chance {
        // The product is exact and the cast saturates, so probability 0 never occurs and 1 always does.
        Chance { hits: (probability.min(1.0) * Self::DRAWS) as u64 }
    }

    pub(crate) fn is_never(self) -> bool {
        self.hits == 0
    }

    pub(crate) fn is_always(self) -> bool {
        self.hits == 1 << 63
    }

    /// Returns whether the event occurs for a `draw` of [`Chance::draw`].
    pub(crate) fn holds(self, draw: u64) -> bool {
        draw < self.hits
    }

    /// Returns a uniform 63-bit number for [`Chance::holds`]. To test several exclusive chances with one number, compare it with their running sum.
    pub(crate) fn draw(generator: &mut Generator) -> u64 {
        generator.next_u64() >> 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_draws_are_uniform_by_chi_square() {
        let mut generator = stream_of(7);
        let (bins, draws) = (100_u64, 1_000_000_u64);
        let mut counts = vec![0_u64; bins as usize];
        for _ in 0..draws {
            counts[below(&mut generator, bins) as usize] += 1;
        }
        let expected = draws as f64 / bins as f64;
        let chi_square: f64 = counts.iter().map(|&seen| (seen as f64 - expected).powi(2) / expected).sum();
        // 99 degrees of freedom: exceeds 148.2 for one in a thousand seeds.
        assert!(chi_square < 148.2, "chi-square {chi_square}");
    }

    #[test]
    fn chances_of_nothing_and_everything_are_exact() {
        assert!(Chance::new(0.0).is_never() && !Chance::new(0.0).holds(0));
        assert!(Chance::new(1.0).is_always() && Chance::new(1.0).holds((1 << 63) - 1));
        assert!(!Chance::new(0.5).is_never() && !Chance::new(0.5).is_always());
    }

    #[test]
    fn arrivals_and_addresses_draw_different_numbers() {
        assert_ne!(stream_of(1).next_u64(), arrivals_of(1).next_u64());
    }
}
