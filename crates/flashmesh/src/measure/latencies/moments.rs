//! Mean and standard deviation of latencies, from exact sums: no latency is rounded, for any number of latencies.

/// Number of latencies, their sum, and the sum of their squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moments {
    count: u64,
    sum: u128,
    squares: Wide,
}

/// An integer of 256 bits: high half and low half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Wide(u128, u128);

impl Moments {
    /// Adds one latency, in picoseconds.
    pub fn record(&mut self, ps: u64) {
        self.count += 1;
        self.sum += u128::from(ps);
        let (low, carries) = self.squares.1.overflowing_add(u128::from(ps) * u128::from(ps));
        self.squares = Wide(self.squares.0 + u128::from(carries), low);
    }

    /// Adds the latencies of `other`.
    pub fn add(&mut self, other: &Moments) {
        self.count += other.count;
        self.sum += other.sum;
        let (low, carries) = self.squares.1.overflowing_add(other.squares.1);
        self.squares = Wide(self.squares.0 + other.squares.0 + u128::from(carries), low);
    }

    /// Returns the number of latencies added so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of the latencies, in picoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the mean of the latencies, in picoseconds. There must be at least one latency.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count as f64
    }

    /// Returns the standard deviation of the latencies in picoseconds: sqrt(n * sum of squares - (sum)^2) / n. Only the difference is rounded, so the
    /// result stays accurate if the mean is much larger than the deviation.
    pub fn deviation(&self) -> f64 {
        let Wide(high, low) = self.squares;
        let count = u128::from(self.count);
        let scaled = product(low, count);
        let scaled = Wide(scaled.0 + high * count, scaled.1);
        let mean = product(self.sum, self.sum);
        let (low, borrows) = scaled.1.overflowing_sub(mean.1);
        let high = scaled.0 - mean.0 - u128::from(borrows);
        (high as f64 * 2f64.powi(128) + low as f64).sqrt() / self.count as f64
    }
}

/// Returns the exact product of two integers of 128 bits.
fn product(one: u128, other: u128) -> Wide {
    let halves = |value: u128| (value >> 64, value & u128::from(u64::MAX));
    let ((a, b), (c, d)) = (halves(one), halves(other));
    let (middle, carries) = (a * d).overflowing_add(b * c);
    let (low, carry) = (b * d).overflowing_add(middle << 64);
    Wide(a * c + (middle >> 64) + (u128::from(carries) << 64) + u128::from(carry), low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn moments_of(latencies: &[u64]) -> Moments {
        let mut moments = Moments::default();
        latencies.iter().for_each(|&ps| moments.record(ps));
        moments
    }

    #[test]
    fn products_of_large_numbers_are_whole() {
        // (2^128 - 1)^2 = 2^256 - 2^129 + 1.
        assert_eq!(product(u128::MAX, u128::MAX), Wide(u128::MAX - 1, 1));
        assert_eq!(product(1 << 100, 1 << 100), Wide(1 << 72, 0));
        assert_eq!(product(u128::MAX, 2), Wide(1, u128::MAX - 1));
    }

    /// Latencies of one second that differ by 30 us (0.003 %), which bins of three digits cannot resolve.
    #[test]
    fn a_deviation_much_smaller_than_the_mean_keeps_its_digits() {
        let latencies: Vec<u64> = (0..1000).map(|each| 1_000_000_000_000 + 60_000_000 * (each % 2)).collect();
        assert_eq!(moments_of(&latencies).deviation(), 30_000_000.0);
        assert_eq!(moments_of(&[u64::MAX / 2; 7]).deviation(), 0.0);
        assert_eq!(moments_of(&[u64::MAX / 2, u64::MAX / 2 - 2]).deviation(), 1.0);
    }

    proptest! {
        #[test]
        fn the_deviation_is_that_of_the_latencies(
            latencies in prop::collection::vec((0..62u32, any::<u64>()), 1..200),
            at in any::<prop::sample::Index>(),
        ) {
            let latencies: Vec<u64> = latencies.iter().map(|&(bits, random)| random % (1 << bits)).collect();
            let moments = moments_of(&latencies);
            let count = latencies.len() as f64;
            let mean = latencies.iter().map(|&ps| ps as f64).sum::<f64>() / count;
            let variance = latencies.iter().map(|&ps| (ps as f64 - mean).powi(2)).sum::<f64>() / count;
            prop_assert!((moments.deviation() - variance.sqrt()).abs() <= 1e-9 * (1.0 + mean), "{moments:?}");
            let (one, other) = latencies.split_at(at.index(latencies.len()));
            let mut together = moments_of(one);
            together.add(&moments_of(other));
            prop_assert_eq!(together, moments);
        }
    }
}
