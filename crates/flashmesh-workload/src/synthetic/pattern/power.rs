//! The Pareto and the normal pattern.

use super::scatter::Scatter;
use super::{AddressPattern, Cursor};
use crate::error::WorkloadError;
use crate::synthetic::random::{self, Generator};
use crate::synthetic::sizes::{Size, SizeTable};
use crate::synthetic::unusable;

/// The number of uniform draws that are averaged for one draw of [`Normal`].
const SUMMED: u64 = 12;

/// The Pareto pattern: the first share `h` of the blocks receives a share `1 - h` of the requests. The same holds within these blocks, at every
/// scale. Blocks are scattered over the footprint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pareto {
    exponent: f64,
    scatter: Scatter,
    count: u64,
}

impl Pareto {
    /// Creates a pattern with share `h`, between 0 and 1, over the blocks in which the smallest size can begin. The error names the key to change.
    pub(crate) fn new(h: f64, sizes: &SizeTable) -> Result<Pareto, WorkloadError> {
        if !(h > 0.0 && h < 1.0) {
            return Err(unusable("workload.pareto-share", format!("{h} is not above 0 and below 1")));
        }
        let count = sizes.smallest().starts;
        Ok(Pareto { exponent: libm::log(h) / libm::log(1.0 - h), scatter: Scatter::new(count), count })
    }
}

impl AddressPattern for Pareto {
    fn choose(&self, generator: &mut Generator, _cursor: &mut Cursor, size: &Size) -> u64 {
        let rank = ((self.count - 1) as f64 * libm::pow(random::unit(generator), self.exponent)) as u64;
        self.scatter.place_of(rank.min(self.count - 1)).min(size.starts - 1)
    }
}

/// The normal pattern: the mean of twelve uniform draws, plus a uniform deviation. Blocks are scattered over the footprint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Normal {
    /// The width, in blocks, of the range from which the uniform deviation is drawn.
    deviation: u64,
    scatter: Scatter,
    count: u64,
}

impl Normal {
    /// Creates a pattern whose deviation is at most half of `share` of the footprint, to either side. The error names the key to change.
    pub(crate) fn new(share: f64, sizes: &SizeTable) -> Result<Normal, WorkloadError> {
        if !(0.0..=1.0).contains(&share) {
            return Err(unusable("workload.normal-deviation", format!("{share} is not a share between 0 and 1")));
        }
        let count = sizes.smallest().starts;
        let deviation = (libm::ceil(share * count as f64) as u64).min(count / 2);
        Ok(Normal { deviation, scatter: Scatter::new(count), count })
    }
}

impl AddressPattern for Normal {
    fn choose(&self, generator: &mut Generator, _cursor: &mut Cursor, size: &Size) -> u64 {
        let sum: u64 = (0..SUMMED).map(|_| random::below(generator, self.count)).sum();
        let middle = sum.div_ceil(SUMMED);
        let moved = middle + if self.deviation > 0 { random::below(generator, self.deviation) } else { 0 };
        let place = moved.saturating_sub(self.deviation / 2).min(self.count - 1);
        self.scatter.place_of(place).min(size.starts - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::layout::FootprintLayout;
    use super::super::super::random::stream_of;
    use super::*;
    use crate::config::Sizes;
    use crate::units::Bytes;

    fn draws(pattern: &impl AddressPattern, sizes: &SizeTable) -> Vec<u32> {
        let mut counts = vec![0; 1000];
        let (mut generator, mut cursor) = (stream_of(9), Cursor::of_part(0, 1, 1000));
        for _ in 0..100_000 {
            counts[pattern.choose(&mut generator, &mut cursor, sizes.smallest()) as usize] += 1;
        }
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }

    fn table() -> SizeTable {
        let block = Bytes::from_kib(4);
        let layout = FootprintLayout::new(Bytes::ZERO, None, block, Bytes::from_kib(4000), Bytes::new(512)).unwrap();
        SizeTable::new(&Sizes(vec![(block, 1.0)]), &layout, Bytes::new(512)).unwrap()
    }

    #[test]
    fn a_fifth_of_the_blocks_gets_four_fifths_of_the_requests_of_pareto() {
        let sizes = table();
        let counts = draws(&Pareto::new(0.2, &sizes).unwrap(), &sizes);
        let hot: u32 = counts[..200].iter().sum();
        assert!((f64::from(hot) / 1e5 - 0.8).abs() < 0.02, "{hot}");
        assert!(Pareto::new(1.0, &sizes).is_err());
    }

    #[test]
    fn a_sixth_of_the_blocks_gets_two_thirds_of_the_requests_of_normal() {
        let sizes = table();
        let counts = draws(&Normal::new(0.0, &sizes).unwrap(), &sizes);
        // A normal distribution has 68.3 % of its draws within one standard deviation of the mean. Here that is a twelfth of 1,000 blocks to either
        // side.
        let hot: u32 = counts[..167].iter().sum();
        assert!((f64::from(hot) / 1e5 - 0.683).abs() < 0.02, "{hot}");
        assert!(Normal::new(1.5, &sizes).is_err());
    }
}
