//! Latency histograms (HDR: three significant digits over any range) with an exact mean.

use hdrhistogram::Histogram;

use crate::quantities;
use crate::units::Time;

/// Three significant digits: a reported percentile is within 0.1 % of the exact one.
const SIGNIFICANT_DIGITS: u8 = 3;

/// The longest latency told apart, 53 days.
const LONGEST_PS: u64 = 1 << 62;

/// Two to this many points of a distribution cover a power of two: neighbours differ by 3 % at most.
const POINT_BITS: u32 = 5;

/// Latencies below two to this many picoseconds, times two, have a bin each; above, as many bins cover a power of two as below it. These are the bins
/// of a histogram of three digits.
pub(super) const EXACT_BITS: u32 = 10;

/// All bins up to that of the longest latency.
const BINS: usize = bin_of(LONGEST_PS) + 1;

/// The number of the bin of a latency.
#[inline(always)]
const fn bin_of(ps: u64) -> usize {
    let shift = (ps | 1).ilog2().saturating_sub(EXACT_BITS);
    ((shift as usize) << EXACT_BITS) + (ps >> shift) as usize
}

/// The shortest latency of a bin.
fn shortest_of(bin: usize) -> u64 {
    let shift = (bin >> EXACT_BITS).saturating_sub(1);
    ((bin - (shift << EXACT_BITS)) as u64) << shift
}

/// The latencies of one kind of request.
///
/// Counted in plain bins, which is quicker than a histogram that may grow; the histogram is made of them when it is asked.
#[derive(Debug)]
pub struct Latencies {
    bins: Vec<u64>,
    count: u64,
    sum_ps: u128,
    max: Time,
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies { bins: vec![0; BINS], count: 0, sum_ps: 0, max: Time::ZERO }
    }
}

impl Latencies {
    /// Counts one request.
    #[inline]
    pub fn record(&mut self, latency: Time) {
        self.bins[bin_of(latency.as_ps().min(LONGEST_PS))] += 1;
        self.count += 1;
        self.sum_ps += u128::from(latency.as_ps());
        self.max = self.max.later(latency);
    }

    /// Adds what `other` counted.
    pub fn add(&mut self, other: &Latencies) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(bin, further)| *bin += further);
        self.count += other.count;
        self.sum_ps += other.sum_ps;
        self.max = self.max.later(other.max);
    }

    /// How many requests were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The shortest latency of each bin that holds some, with how many.
    fn counted(&self) -> impl Iterator<Item = (u64, u64)> + Clone {
        let up_to_max = &self.bins[..=bin_of(self.max.as_ps().min(LONGEST_PS))];
        let counted = up_to_max.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(bin, &count)| (shortest_of(bin), count))
    }

    /// The latency that a share `quantile` of the requests does not exceed.
    pub fn quantile(&self, quantile: f64) -> Time {
        Time::from_ps(histogram_of(self.counted()).value_at_quantile(quantile)).min(self.max)
    }

    /// The summary, or nothing when no request was counted.
    pub fn summary(&self) -> Option<LatencySummary> {
        let Latencies { count, sum_ps, max, .. } = *self;
        summary_of(self.counted(), Total { count, sum_ps, max })
    }

    /// How the latencies are distributed, or nothing when no request was counted.
    pub fn distribution(&self) -> Option<LatencyDistribution> {
        if self.count() == 0 {
            return None;
        }
        let mut found = LatencyDistribution { latency_ps: Vec::new(), requests: Vec::new() };
        let (mut bin, mut requests) = (None, 0);
        for value in histogram_of(self.counted()).iter_recorded() {
            let latency_ps = value.value_iterated_to().min(self.max.as_ps());
            requests += value.count_since_last_iteration();
            // All of a bin become one point: that of its longest latency.
            if bin.replace(point_of(latency_ps)) == Some(point_of(latency_ps)) {
                found.latency_ps.pop();
                found.requests.pop();
            }
            found.latency_ps.push(latency_ps);
            found.requests.push(requests);
        }
        Some(found)
    }
}

/// What is known exactly of some latencies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Total {
    /// How many there are.
    pub count: u64,
    /// Their sum, in picoseconds.
    pub sum_ps: u128,
    /// The longest.
    pub max: Time,
}

/// A histogram of `counted`: latencies in picoseconds, each with how many are of its bin.
fn histogram_of(counted: impl Iterator<Item = (u64, u64)>) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, LONGEST_PS, SIGNIFICANT_DIGITS)
        .expect("three digits and the bounds are within the histogram's range");
    counted.for_each(|(ps, count)| histogram.saturating_record_n(ps, count));
    histogram
}

/// The summary of `counted`, as [`histogram_of`] takes it, in order, with what is known exactly; nothing when there are none.
pub(super) fn summary_of(counted: impl Iterator<Item = (u64, u64)> + Clone, total: Total) -> Option<LatencySummary> {
    let Total { count, sum_ps, max } = total;
    if count == 0 {
        return None;
    }
    let histogram = histogram_of(counted.clone());
    let at = |quantile| histogram.value_at_quantile(quantile).min(max.as_ps());
    Some(LatencySummary {
        count,
        mean: sum_ps as f64 / count as f64,
        deviation: deviation(counted, count),
        p50: at(0.5),
        p95: at(0.95),
        p97: at(0.97),
        p98: at(0.98),
        p99: at(0.99),
        p99_5: at(0.995),
        p99_9: at(0.999),
        p99_99: at(0.9999),
        p99_999: at(0.99999),
        max: max.as_ps(),
    })
}

/// The standard deviation, of latencies as far as bins tell them apart.
fn deviation(counted: impl Iterator<Item = (u64, u64)> + Clone, count: u64) -> f64 {
    let middles = counted.map(|(ps, count)| {
        let bin = bin_of(ps.min(LONGEST_PS));
        (f64::midpoint(shortest_of(bin) as f64, shortest_of(bin + 1) as f64), count as f64)
    });
    let count = count as f64;
    let mean = middles.clone().map(|(latency, count)| latency * count).sum::<f64>() / count;
    let variance = middles.map(|(latency, count)| (latency - mean).powi(2) * count).sum::<f64>() / count;
    variance.sqrt()
}

/// The point of a distribution that a latency belongs to: its power of two, and which part of it.
fn point_of(ps: u64) -> (u32, u64) {
    let power = ps.max(1).ilog2();
    (power, if power < POINT_BITS { ps } else { (ps >> (power - POINT_BITS)) & ((1 << POINT_BITS) - 1) })
}

quantities! {
    /// Cumulative distribution of the latencies of some requests, in at most 32 points for each power of two.
    LatencyDistribution as "Distribution" {
        /// Latencies, in order; within 0.1 % of ones that occurred, the last one exact.
        latency_ps: Vec<u64>, in "ps";
        /// Requests that took at most as long, for each of them; the last one is all requests.
        requests: Vec<u64>, in "requests";
    }
}

quantities! {
    /// Completion latency of some requests, from arrival to completion. Percentiles are within 0.1 % of the exact ones.
    LatencySummary as "Latency" {
        /// Requests whose latency was counted.
        count: u64, in "requests";
        /// Mean, exact.
        mean: f64, in "ps";
        /// Standard deviation of the latencies around their mean, to three digits.
        deviation: f64, in "ps";
        /// Median.
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
        /// Maximum, exact.
        max: u64, in "ps";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_the_latencies() {
        let mut latencies = Latencies::default();
        // 10 us and 30 us alike: 10 us from their mean.
        (0..1000).for_each(|each| latencies.record(Time::from_us(10 + 20 * (each % 2))));
        let summary = latencies.summary().expect("there are some");
        assert!((summary.deviation / 1e7 - 1.0).abs() < 0.002, "{}", summary.deviation);
        let mut alike = Latencies::default();
        (0..1000).for_each(|_| alike.record(Time::from_ps(123_456_789)));
        assert_eq!(alike.summary().expect("there are some").deviation, 0.0);
    }

    #[test]
    fn mean_and_max_are_exact_and_percentiles_within_a_thousandth() {
        let mut latencies = Latencies::default();
        for ns in 1..=10_000 {
            latencies.record(Time::from_ns(ns));
        }
        let summary = latencies.summary().expect("there are requests");
        assert_eq!((summary.count, summary.mean, summary.max), (10_000, 5_000_500.0, 10_000_000));
        for (value, exact) in [(summary.p50, 5_000_000.0), (summary.p99, 9_900_000.0), (summary.p99_99, 9_999_000.0)] {
            assert!((value as f64 / exact - 1.0).abs() < 0.001, "{value} for {exact}");
        }
    }

    /// Every power of two, its neighbours, and latencies between them.
    #[test]
    fn the_bins_are_those_of_the_histogram() {
        let histogram = Histogram::<u64>::new_with_bounds(1, LONGEST_PS, SIGNIFICANT_DIGITS).expect("within its range");
        let around = |power: u32| [0, 1, 3, 1 << (power / 2)].map(|off| (1u64 << power) + off);
        for ps in (1..62).flat_map(|power| around(power).into_iter().chain([(1 << power) - 1, LONGEST_PS])) {
            let shortest = shortest_of(bin_of(ps));
            assert_eq!(histogram.lowest_equivalent(shortest), histogram.lowest_equivalent(ps), "{ps}");
            assert_eq!(bin_of(histogram.highest_equivalent(ps).min(LONGEST_PS)), bin_of(ps), "{ps}");
            assert!(shortest <= ps && bin_of(shortest) == bin_of(ps), "{ps}");
        }
    }

    #[test]
    fn nothing_counted_gives_no_summary() {
        assert_eq!(Latencies::default().summary(), None);
        assert_eq!(Latencies::default().distribution(), None);
    }

    #[test]
    fn a_distribution_tells_how_many_requests_took_at_most_as_long() {
        let mut latencies = Latencies::default();
        let exact: Vec<u64> = (1..=10_000u64).map(|number| number * number * 1_000).collect();
        exact.iter().for_each(|&ps| latencies.record(Time::from_ps(ps)));
        let found = latencies.distribution().expect("there are requests");
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
