//! Latencies in the bins of an HDR histogram (three significant digits over any range), and their exact mean.

use super::moments::Moments;
use crate::measure::confidence::{Distribution, INTERVAL_ENDS};
use crate::quantities;
use crate::units::Time;

/// Longest latency that the bins distinguish, in picoseconds (53 days). Longer latencies count in the bin of this latency, which is the last.
const LONGEST_PS: u64 = 1 << 62;

/// log2 of the number of points that a reported [`LatencyDistribution`] has in each power of two. Adjacent points differ by at most 3 %.
const POINT_BITS: u32 = 5;

/// log2 of the number of bins in each power of two. Below 2^11 ps, each latency has a bin of its own. An HDR histogram of three significant digits
/// has the same bins, so a reported percentile is within 0.1 % of the exact one.
pub(super) const EXACT_BITS: u32 = 10;

const BINS: usize = bin_of(LONGEST_PS) + 1;

#[inline(always)]
const fn bin_of(ps: u64) -> usize {
    let shift = (ps | 1).ilog2().saturating_sub(EXACT_BITS);
    ((shift as usize) << EXACT_BITS) + (ps >> shift) as usize
}

fn bin_min(bin: usize) -> u64 {
    let shift = (bin >> EXACT_BITS).saturating_sub(1);
    ((bin - (shift << EXACT_BITS)) as u64) << shift
}

/// Returns the longest latency, in picoseconds, of the bin that contains `ps`.
fn bin_max(ps: u64) -> u64 {
    bin_min(bin_of(ps.min(LONGEST_PS)) + 1) - 1
}

/// Histogram of the latencies of a set of requests, with their exact sum, sum of squares and maximum.
#[derive(Clone, Debug)]
pub struct LatencyHistogram {
    bins: Vec<u64>,
    moments: Moments,
    max: Time,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        LatencyHistogram { bins: vec![0; BINS], moments: Moments::default(), max: Time::ZERO }
    }
}

impl LatencyHistogram {
    pub fn record(&mut self, latency: Time) {
        self.bins[bin_of(latency.as_ps().min(LONGEST_PS))] += 1;
        self.moments.record(latency.as_ps());
        self.max = self.max.later(latency);
    }

    pub fn add(&mut self, other: &LatencyHistogram) {
        if other.count() == 0 {
            return;
        }
        // Add only the bins in use: most streams use few bins, and the first access to an unused bin is slow.
        self.bins.iter_mut().zip(other.bins_in_use()).for_each(|(bin, further)| *bin += further);
        self.moments.add(&other.moments);
        self.max = self.max.later(other.max);
    }

    pub fn count(&self) -> u64 {
        self.moments.count()
    }

    /// Returns the number of latencies in each bin, from the shortest latency up to the last bin in use.
    fn bins_in_use(&self) -> &[u64] {
        &self.bins[..=bin_of(self.max.as_ps().min(LONGEST_PS))]
    }

    /// Returns for each non-empty bin, in ascending order, its shortest latency in picoseconds and the number of its latencies.
    fn counted(&self) -> impl Iterator<Item = (u64, u64)> + Clone {
        let counted = self.bins_in_use().iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(bin, &count)| (bin_min(bin), count))
    }

    pub fn quantile(&self, quantile: f64) -> Time {
        let [longest] = quantiles_of(self.counted(), self.count(), [quantile]);
        Time::from_ps(longest).min(self.max)
    }

    pub fn summary(&self) -> Option<LatencySummary> {
        summary_of(self.counted(), self.moments, self.max)
    }

    pub fn distribution(&self) -> Option<LatencyDistribution> {
        distribution_of(self.counted(), self.max)
    }
}

impl Distribution for LatencyHistogram {
    fn count(&self) -> u64 {
        self.moments.count()
    }

    fn mean_ps(&self) -> f64 {
        if self.moments.count() == 0 { 0.0 } else { self.moments.mean() }
    }

    fn quantiles_ps(&self, shares: [f64; INTERVAL_ENDS]) -> [f64; INTERVAL_ENDS] {
        quantiles_of(self.counted(), self.count(), shares).map(|longest| longest.min(self.max.as_ps()) as f64)
    }
}

/// Percentiles of a summary, as shares of the requests.
const SUMMARY_PERCENTILES: [f64; 9] = [0.5, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999, 0.9999, 0.99999];

/// Returns for each of `shares` the latency in picoseconds that this share of `count` requests does not exceed, rounded up to the longest latency of
/// its bin. The shares must ascend. `counted` yields for each non-empty bin, in ascending order, any latency of the bin and its count.
pub(super) fn quantiles_of<const N: usize>(
    mut counted: impl Iterator<Item = (u64, u64)>,
    count: u64,
    shares: [f64; N],
) -> [u64; N] {
    let (mut ps, mut reached) = (0, 0);
    shares.map(|share| {
        // A share of zero selects the first request.
        let wanted = ((share.min(1.0) * count as f64).ceil() as u64).max(1);
        while reached < wanted
            && let Some((next, further)) = counted.next()
        {
            (ps, reached) = (next, reached + further);
        }
        bin_max(ps)
    })
}

/// Returns the summary of the latencies in `counted`; `None` without latencies. `counted` yields for each non-empty bin, in ascending order, any
/// latency of the bin in picoseconds and its count. `moments` and `max` are exact.
pub(super) fn summary_of(
    counted: impl Iterator<Item = (u64, u64)>,
    moments: Moments,
    max: Time,
) -> Option<LatencySummary> {
    let count = moments.count();
    if count == 0 {
        return None;
    }
    let [p50, p95, p97, p98, p99, p99_5, p99_9, p99_99, p99_999] =
        quantiles_of(counted, count, SUMMARY_PERCENTILES).map(|ps| ps.min(max.as_ps()));
    Some(LatencySummary {
        count,
        mean: moments.mean(),
        deviation: moments.deviation(),
        p50,
        p95,
        p97,
        p98,
        p99,
        p99_5,
        p99_9,
        p99_99,
        p99_999,
        max: max.as_ps(),
    })
}

/// Returns the distribution of the latencies in `counted`; `None` without latencies. `counted` yields for each non-empty bin, in ascending order, any
/// latency of the bin in picoseconds and its count. `max` is exact.
pub(super) fn distribution_of(counted: impl Iterator<Item = (u64, u64)>, max: Time) -> Option<LatencyDistribution> {
    let mut found = LatencyDistribution { latency_ps: Vec::new(), requests: Vec::new() };
    let (mut bin, mut requests) = (None, 0);
    for (ps, count) in counted {
        let latency_ps = bin_max(ps).min(max.as_ps());
        requests += count;
        // Merge the bins of one point into one entry, with the longest latency of the point.
        if bin.replace(point_of(latency_ps)) == Some(point_of(latency_ps)) {
            found.latency_ps.pop();
            found.requests.pop();
        }
        found.latency_ps.push(latency_ps);
        found.requests.push(requests);
    }
    (requests > 0).then_some(found)
}

/// Returns the point of a reported distribution to which a latency belongs: its power of two, and the next [`POINT_BITS`] bits.
fn point_of(ps: u64) -> (u32, u64) {
    let power = ps.max(1).ilog2();
    (power, if power < POINT_BITS { ps } else { (ps >> (power - POINT_BITS)) & ((1 << POINT_BITS) - 1) })
}

quantities! {
    /// Cumulative distribution of the latencies of a set of requests, with at most 32 points for each power of two.
    LatencyDistribution as "Distribution" {
        /// Latencies, ascending. Each is within 0.1 % of a latency that occurred; the last is exact.
        latency_ps: Vec<u64>, in "ps";
        /// Number of requests with at most each latency. The last is the number of all requests.
        requests: Vec<u64>, in "requests";
    }
}

quantities! {
    /// Completion latencies of a set of requests, from arrival to completion. Percentiles are within 0.1 % of the exact ones.
    LatencySummary as "Latency" {
        /// Number of requests in the set.
        count: u64, in "requests";
        /// Exact mean.
        mean: f64, in "ps";
        /// Exact standard deviation.
        deviation: f64, in "ps";
        /// 50th percentile (median).
        p50: u64, in "ps";
        /// 95th percentile.
        p95: u64, in "ps";
        /// 97th percentile.
        p97: u64, in "ps";
        /// 98th percentile.
        p98: u64, in "ps";
        /// 99th percentile.
        p99: u64, in "ps";
        /// 99.5th percentile.
        p99_5: u64, in "ps";
        /// 99.9th percentile.
        p99_9: u64, in "ps";
        /// 99.99th percentile.
        p99_99: u64, in "ps";
        /// 99.999th percentile.
        p99_999: u64, in "ps";
        /// Exact maximum.
        max: u64, in "ps";
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;

    const SIGNIFICANT_DIGITS: u8 = 3;

    fn histogram() -> Histogram<u64> {
        Histogram::new_with_bounds(1, LONGEST_PS, SIGNIFICANT_DIGITS).expect("the bounds are valid")
    }

    proptest! {
        #[test]
        fn percentiles_and_distribution_are_those_of_a_histogram(
            drawn in prop::collection::vec((0..62u32, any::<u64>(), 1..2_000u64), 1..60),
            share in 0.001..=1.0,
        ) {
            let (mut latencies, mut histogram) = (LatencyHistogram::default(), histogram());
            for (bits, random, times) in drawn {
                let ps = random % (1 << bits);
                histogram.saturating_record_n(ps, times);
                (0..times).for_each(|_| latencies.record(Time::from_ps(ps)));
            }
            let max = latencies.max.as_ps();
            let summary = latencies.summary().expect("requests completed");
            let found = [
                summary.p50, summary.p95, summary.p97, summary.p98, summary.p99, summary.p99_5, summary.p99_9,
                summary.p99_99, summary.p99_999,
            ];
            prop_assert_eq!(found, SUMMARY_PERCENTILES.map(|share| histogram.value_at_quantile(share).min(max)));
            prop_assert_eq!(latencies.quantile(share).as_ps(), histogram.value_at_quantile(share).min(max));
            let distribution = latencies.distribution().expect("requests completed");
            for (&latency, &requests) in distribution.latency_ps.iter().zip(&distribution.requests) {
                let below = histogram.iter_recorded().filter(|bin| bin.value_iterated_to().min(max) <= latency);
                prop_assert_eq!(requests, below.map(|bin| bin.count_since_last_iteration()).sum::<u64>());
            }
        }
    }

    #[test]
    fn the_deviation_is_that_of_the_latencies() {
        let mut latencies = LatencyHistogram::default();
        // Latencies are 10 us and 30 us equally often, each 10 us from the mean.
        (0..1000).for_each(|each| latencies.record(Time::from_us(10 + 20 * (each % 2))));
        let summary = latencies.summary().expect("latencies were recorded");
        assert_eq!(summary.deviation, 1e7);
        let mut alike = LatencyHistogram::default();
        (0..1000).for_each(|_| alike.record(Time::from_ps(123_456_789)));
        assert_eq!(alike.summary().expect("latencies were recorded").deviation, 0.0);
    }

    #[test]
    fn mean_and_max_are_exact_and_percentiles_within_a_thousandth() {
        let mut latencies = LatencyHistogram::default();
        for ns in 1..=10_000 {
            latencies.record(Time::from_ns(ns));
        }
        let summary = latencies.summary().expect("requests completed");
        assert_eq!((summary.count, summary.mean, summary.max), (10_000, 5_000_500.0, 10_000_000));
        for (value, exact) in [(summary.p50, 5_000_000.0), (summary.p99, 9_900_000.0), (summary.p99_99, 9_999_000.0)] {
            assert!((value as f64 / exact - 1.0).abs() < 0.001, "{value} for {exact}");
        }
    }

    /// Compares bins at every power of two, its neighbours, and latencies in between.
    #[test]
    fn the_bins_are_those_of_the_histogram() {
        let histogram = histogram();
        let around = |power: u32| [0, 1, 3, 1 << (power / 2)].map(|off| (1u64 << power) + off);
        for ps in (1..62).flat_map(|power| around(power).into_iter().chain([(1 << power) - 1, LONGEST_PS])) {
            let shortest = bin_min(bin_of(ps));
            assert_eq!(histogram.lowest_equivalent(shortest), histogram.lowest_equivalent(ps), "{ps}");
            assert_eq!(bin_of(histogram.highest_equivalent(ps).min(LONGEST_PS)), bin_of(ps), "{ps}");
            assert!(shortest <= ps && bin_of(shortest) == bin_of(ps), "{ps}");
        }
    }

    #[test]
    fn nothing_counted_gives_no_summary() {
        assert_eq!(LatencyHistogram::default().summary(), None);
        assert_eq!(LatencyHistogram::default().distribution(), None);
    }

    #[test]
    fn a_distribution_tells_how_many_requests_took_at_most_as_long() {
        let mut latencies = LatencyHistogram::default();
        let exact: Vec<u64> = (1..=10_000u64).map(|number| number * number * 1_000).collect();
        exact.iter().for_each(|&ps| latencies.record(Time::from_ps(ps)));
        let found = latencies.distribution().expect("requests completed");
        assert!(found.latency_ps.is_sorted_by(|one, other| one < other));
        assert_eq!((found.latency_ps.last(), found.requests.last()), (Some(&100_000_000_000), Some(&10_000)));
        assert!(found.latency_ps.len() <= 32 * 28, "{} points", found.latency_ps.len());
        for (latency, requests) in found.latency_ps.iter().zip(&found.requests) {
            let at_most = |ps: f64| exact.partition_point(|&exact| exact as f64 <= ps) as u64;
            let (least, most) = (at_most(*latency as f64 * 0.998), at_most(*latency as f64 * 1.002));
            assert!((least..=most).contains(requests), "{requests} up to {latency} ps, not {least} to {most}");
        }
        let steps = found.latency_ps.windows(2).filter(|pair| pair[0] > 100_000_000);
        for pair in steps {
            assert!(pair[1] as f64 / (pair[0] as f64) < 1.07, "{pair:?}");
        }
    }
}
