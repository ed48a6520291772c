//! A fixed permutation that scatters neighbouring blocks.

/// A bijection of 0..n onto itself that scatters neighbouring numbers.
///
/// Rounds of multiplication by an odd number and shift-xor permute the numbers with the bit length of n - 1. A result of n or more is permuted again
/// until the result is below n ("cycle walking", Black and Rogaway, "Ciphers with arbitrary finite domains", 2002), which takes fewer than two passes
/// on average. The permutation depends only on n, so the popular blocks are the same for every seed and every stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scatter {
    count: u64,
    mask: u64,
    shift: u32,
}

impl Scatter {
    /// Creates the permutation of 0..`count`. `count` must be positive.
    pub(crate) fn new(count: u64) -> Scatter {
        let bits = (u64::BITS - (count - 1).leading_zeros()).max(2);
        Scatter { count, mask: u64::MAX >> (u64::BITS - bits), shift: bits / 2 }
    }

    /// Returns the image of `index`, which must be below `count`.
    pub(crate) fn place_of(&self, index: u64) -> u64 {
        let mut place = index;
        loop {
            place = self.round(place, 0x9e37_79b9_7f4a_7c15, 0x2545_f491_4f6c_dd1d);
            place = self.round(place, 0xbf58_476d_1ce4_e5b9, 0x632b_e59b_d9b4_e019);
            place = self.round(place, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93);
            if place < self.count {
                return place;
            }
        }
    }

    /// Applies one invertible round within the mask: an odd factor, an offset and a shift-xor.
    fn round(&self, value: u64, factor: u64, offset: u64) -> u64 {
        let value = value.wrapping_mul(factor).wrapping_add(offset) & self.mask;
        value ^ (value >> self.shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_bijection_for_every_small_count_and_some_large_ones() {
        for count in (1..=300).chain([1 << 16, (1 << 16) + 1, 100_003]) {
            let scatter = Scatter::new(count);
            let mut seen = vec![false; count as usize];
            for index in 0..count {
                let place = scatter.place_of(index) as usize;
                assert!(!seen[place], "{place} of {count} is taken twice");
                seen[place] = true;
            }
        }
    }

    #[test]
    fn holds_for_the_largest_counts() {
        for count in [1 << 63, u64::MAX] {
            assert!(Scatter::new(count).place_of(count - 1) < count);
        }
    }

    #[test]
    fn the_first_hundred_are_spread_over_ranges_and_over_low_bits() {
        let count = 1_000_000;
        let scatter = Scatter::new(count);
        let places: Vec<u64> = (0..1000).map(|index| scatter.place_of(index)).collect();
        // Over ten equal ranges of the footprint, and over sixteen channels with page striping, the load is even within four standard deviations.
        for (bins, bin_of) in [(10_u64, (|place| place / 100_000) as fn(u64) -> u64), (16, |place| place % 16)] {
            let mut counts = vec![0_u64; bins as usize];
            places.iter().for_each(|&place| counts[bin_of(place) as usize] += 1);
            let mean = places.len() as f64 / bins as f64;
            assert!(counts.iter().all(|&seen| (seen as f64 - mean).abs() < 4.0 * mean.sqrt()), "{counts:?}");
        }
        assert!(places.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > 1));
    }
}
