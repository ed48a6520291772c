//! Distributions of values: their means, and the distance between two of them.

use std::collections::BTreeMap;

use serde::Serialize;

/// The number of occurrences of each value. Values are exact up to [`Distribution::EXACT_MAX`] and rounded to steps of 1/64
/// above.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Distribution {
    counts: BTreeMap<u64, u64>,
    total: u64,
    /// The number of infinite values, such as the stack distance of a page without an earlier access.
    beyond: u64,
}

impl Distribution {
    /// The largest value that is not rounded.
    pub const EXACT_MAX: u64 = 1 << 12;

    pub(super) fn add(&mut self, value: u64) {
        let step = (64 - value.leading_zeros()).saturating_sub(Self::EXACT_MAX.trailing_zeros());
        let kept = if value <= Self::EXACT_MAX { value } else { value >> (step + 5) << (step + 5) };
        *self.counts.entry(kept).or_default() += 1;
        self.total += 1;
    }

    /// Counts an infinite value.
    pub fn add_infinite(&mut self) {
        self.beyond += 1;
        self.total += 1;
    }

    #[cfg(test)]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the share of finite values, from 0 to 1; 0 without values.
    pub fn finite_share(&self) -> f64 {
        if self.total == 0 { 0.0 } else { (self.total - self.beyond) as f64 / self.total as f64 }
    }

    /// Returns the Kolmogorov distance: the largest difference between the two distribution functions, from 0 (equal) to 1. Two empty distributions
    /// are equal; an empty distribution has distance 1 from any other.
    pub fn distance(&self, other: &Distribution) -> f64 {
        match (self.total, other.total) {
            (0, 0) => return 0.0,
            (0, _) | (_, 0) => return 1.0,
            _ => {}
        }
        let mut values: Vec<u64> = self.counts.keys().chain(other.counts.keys()).copied().collect();
        values.sort_unstable();
        values.dedup();
        let (mut below, mut other_below, mut distance) = (0, 0, 0.0_f64);
        for value in values {
            below += self.counts.get(&value).copied().unwrap_or(0);
            other_below += other.counts.get(&value).copied().unwrap_or(0);
            let apart = below as f64 / self.total as f64 - other_below as f64 / other.total as f64;
            distance = distance.max(apart.abs());
        }
        distance
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};

    use super::*;

    fn of(values: &[u64]) -> Distribution {
        let mut distribution = Distribution::default();
        values.iter().for_each(|&value| distribution.add(value));
        distribution
    }

    #[test]
    fn the_distance_is_that_of_a_naive_comparison_of_samples() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(3);
        for round in 0..50_u64 {
            let mut draw =
                |count: u64, spread: u64| -> Vec<u64> { (0..count).map(|_| random.next_u64() % spread).collect() };
            let (some, others) = (draw(1 + round, 40), draw(30, 20 + round));
            let share = |values: &[u64], up_to: u64| {
                values.iter().filter(|&&value| value <= up_to).count() as f64 / values.len() as f64
            };
            let naive = (0..100).map(|value| (share(&some, value) - share(&others, value)).abs()).fold(0.0, f64::max);
            assert!((of(&some).distance(&of(&others)) - naive).abs() < 1e-12, "round {round}");
        }
    }

    #[test]
    fn empty_ones_are_equal_and_far_from_all_others() {
        assert_eq!(of(&[]).distance(&of(&[])), 0.0);
        assert_eq!(of(&[]).distance(&of(&[1])), 1.0);
        assert_eq!(of(&[1]).distance(&of(&[2])), 1.0);
    }

    #[test]
    fn what_is_beyond_counts_as_the_largest() {
        let mut with = of(&[1, 2]);
        with.add_infinite();
        with.add_infinite();
        assert_eq!(with.finite_share(), 0.5);
        assert_eq!(with.distance(&of(&[1, 2])), 0.5);
    }

    #[test]
    fn large_values_are_kept_to_a_64th() {
        for value in [4097_u64, 5000, 1 << 20, u64::MAX / 3, u64::MAX] {
            let kept = *of(&[value]).counts.keys().next().unwrap();
            assert!(kept <= value && value - kept <= value / 32, "{value} kept as {kept}");
        }
    }
}
