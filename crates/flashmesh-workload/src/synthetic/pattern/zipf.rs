//! The Zipf pattern: few blocks receive most of the requests.

use super::scatter::Scatter;
use super::{AddressPattern, Cursor};
use crate::error::WorkloadError;
use crate::synthetic::random::{self, Generator};
use crate::synthetic::sizes::{Size, SizeTable};
use crate::synthetic::unusable;

/// The Zipf pattern: the block of rank k is drawn with probability proportional to k^-theta. Ranks are scattered over the
/// footprint, so that popular blocks are not neighbours.
///
/// A request that would cross the end of the footprint is moved back to the last block in which it fits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zipf {
    ranks: Ranks,
    scatter: Scatter,
}

impl Zipf {
    /// Creates a pattern with skew `theta` (0 is uniform) over the blocks in which the smallest size can begin. The error names the key to change.
    pub(crate) fn new(theta: f64, sizes: &SizeTable) -> Result<Zipf, WorkloadError> {
        if !(0.0..=5.0).contains(&theta) {
            return Err(unusable("workload.zipf-theta", format!("{theta} is not between 0 and 5")));
        }
        let count = sizes.smallest().starts;
        Ok(Zipf { ranks: Ranks::new(theta, count), scatter: Scatter::new(count) })
    }
}

impl AddressPattern for Zipf {
    fn choose(&self, generator: &mut Generator, _cursor: &mut Cursor, size: &Size) -> u64 {
        let rank = self.ranks.choose(generator);
        self.scatter.place_of(rank - 1).min(size.starts - 1)
    }
}

/// A sampler of ranks 1..=n with probability proportional to rank^-theta, in constant time and memory.
///
/// Rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions",
/// ACM TOMACS 6(3), 1996): a point drawn under the hat h(x) = x^-theta is rounded to the nearest rank. The rank is accepted if
/// the point lies in the part of the rank's column whose area is the rank's probability. More than nine in ten are accepted at
/// once. Implemented here because results must be equal on every machine: published crates use the platform's logarithm as soon
/// as any crate of the build enables the standard library.
#[derive(Clone, Copy, Debug)]
struct Ranks {
    /// The exponent of the integral, 1 - theta.
    exponent: f64,
    theta: f64,
    count: u64,
    /// H(1.5) - h(1), the start of the column of rank 1. h is the hat (`hat`), and H its integral (`integral`).
    area_first: f64,
    /// Area under the hat from the start of the column of rank 1 to the end of the last column: H(n + 0.5) - `area_first`.
    area: f64,
    /// The largest `rank - point` at which a rank is accepted without computing its column.
    squeeze: f64,
}

impl Ranks {
    fn new(theta: f64, count: u64) -> Ranks {
        let mut ranks = Ranks { exponent: 1.0 - theta, theta, count, area_first: 0.0, area: 0.0, squeeze: 0.0 };
        ranks.area_first = ranks.integral(1.5) - 1.0;
        ranks.area = ranks.integral(count as f64 + 0.5) - ranks.area_first;
        ranks.squeeze = 2.0 - ranks.integral_inverse(ranks.integral(2.5) - ranks.hat(2.0));
        ranks
    }

    fn choose(&self, generator: &mut Generator) -> u64 {
        loop {
            let area = self.area_first + (1.0 - random::unit(generator)) * self.area;
            let point = self.integral_inverse(area);
            // The cast saturates, so even a point with a large rounding error yields a valid rank.
            let rank = ((point + 0.5) as u64).clamp(1, self.count);
            let rank_f64 = rank as f64;
            if rank_f64 - point <= self.squeeze || area >= self.integral(rank_f64 + 0.5) - self.hat(rank_f64) {
                return rank;
            }
        }
    }

    /// Returns the hat, h(x) = x^-theta.
    fn hat(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// Returns H(x), an integral of h: (x^(1 - theta) - 1) / (1 - theta), or ln x if theta is 1.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        if self.exponent == 0.0 { log } else { libm::expm1(self.exponent * log) / self.exponent }
    }

    /// Returns the x with H(x) = `area`.
    fn integral_inverse(&self, area: f64) -> f64 {
        if self.exponent == 0.0 {
            libm::exp(area)
        } else {
            // Rounding must not push the argument below the domain of the logarithm.
            libm::exp(libm::log1p((area * self.exponent).max(-1.0)) / self.exponent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::random::stream_of;
    use super::*;

    #[test]
    fn frequencies_follow_the_closed_form_by_chi_square() {
        let (count, draws) = (50_u64, 1_000_000_u64);
        for theta in [0.0, 0.2, 0.5, 0.99, 0.999_999_999, 1.0, 1.2, 2.0, 5.0] {
            let ranks = Ranks::new(theta, count);
            let mut generator = stream_of(17);
            let mut counts = vec![0_u64; count as usize];
            for _ in 0..draws {
                counts[ranks.choose(&mut generator) as usize - 1] += 1;
            }
            let total: f64 = (1..=count).map(|rank| (rank as f64).powf(-theta)).sum();
            let expected = |rank: usize| draws as f64 * (rank as f64 + 1.0).powf(-theta) / total;
            // Ranks too rare for the test are merged into the last frequent one.
            let frequent = (0..counts.len()).take_while(|&rank| expected(rank) >= 10.0).count();
            let rest = |of: &dyn Fn(usize) -> f64| (frequent - 1..counts.len()).map(of).sum::<f64>();
            let mut chi_square: f64 =
                (0..frequent - 1).map(|rank| (counts[rank] as f64 - expected(rank)).powi(2) / expected(rank)).sum();
            let rest_expected = rest(&expected);
            chi_square += (rest(&|rank| counts[rank] as f64) - rest_expected).powi(2) / rest_expected;
            // At most 49 degrees of freedom: exceeds 85.4 for one in a thousand seeds.
            assert!(chi_square < 85.4, "theta {theta}: chi-square {chi_square} over {frequent} ranks");
        }
    }

    #[test]
    fn the_head_of_a_drive_sized_footprint_follows_the_closed_form() {
        let (count, draws, theta) = (100_000_000_u64, 1_000_000, 0.9_f64);
        let ranks = Ranks::new(theta, count);
        let mut generator = stream_of(23);
        let head = (0..draws).filter(|_| ranks.choose(&mut generator) <= 1000).count() as f64 / f64::from(draws);
        // The sum of rank^-theta by the Euler-Maclaurin formula, accurate to 1e-9 here.
        let sum = |n: f64| {
            let tail = |x: f64| (x.powf(1.0 - theta) - 10_f64.powf(1.0 - theta)) / (1.0 - theta);
            (1..10).map(|rank| f64::from(rank).powf(-theta)).sum::<f64>()
                + tail(n)
                + (10_f64.powf(-theta) + n.powf(-theta)) / 2.0
                + theta / 12.0 * 10_f64.powf(-theta - 1.0)
        };
        let expected = sum(1000.0) / sum(count as f64);
        assert!((head / expected - 1.0).abs() < 0.01, "{head} of the draws in the head instead of {expected}");
    }

    #[test]
    fn a_single_rank_is_always_drawn() {
        for theta in [0.0, 1.0, 5.0] {
            let ranks = Ranks::new(theta, 1);
            let mut generator = stream_of(1);
            assert!((0..1000).all(|_| ranks.choose(&mut generator) == 1));
        }
    }

    #[test]
    fn the_extremes_of_skew_and_count_stay_in_range() {
        for (theta, count) in [(0.0, u64::MAX / 512), (5.0, u64::MAX / 512), (1.0, 1 << 40), (1e-12, 2)] {
            let ranks = Ranks::new(theta, count);
            let mut generator = stream_of(2);
            assert!((0..10_000).all(|_| (1..=count).contains(&ranks.choose(&mut generator))), "{theta} {count}");
        }
    }
}
