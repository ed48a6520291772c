//! Latency histograms (HDR: three significant digits over any range) with an exact mean.

use hdrhistogram::Histogram;

use crate::quantities;
use crate::units::Time;

/// Three significant digits: a reported percentile is within 0.1 % of the exact one.
const SIGNIFICANT_DIGITS: u8 = 3;

/// The longest latency told apart, 53 days.
const LONGEST_PS: u64 = 1 << 62;

/// The latencies of one kind of request.
#[derive(Debug)]
pub struct Latencies {
    histogram: Histogram<u64>,
    sum_ps: u128,
    max: Time,
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies {
            histogram: Histogram::new_with_bounds(1, LONGEST_PS, SIGNIFICANT_DIGITS)
                .expect("three digits and the bounds are within the histogram's range"),
            sum_ps: 0,
            max: Time::ZERO,
        }
    }
}

impl Latencies {
    /// Counts one request.
    #[inline]
    pub fn record(&mut self, latency: Time) {
        self.histogram.saturating_record(latency.as_ps());
        self.sum_ps += u128::from(latency.as_ps());
        self.max = self.max.later(latency);
    }

    /// Counts `latencies`, each with how many there are, of which the exact sum and maximum are known.
    pub fn record_bins(&mut self, latencies: impl Iterator<Item = (u64, u64)>, sum_ps: u128, max: Time) {
        for (latency_ps, count) in latencies {
            self.histogram.saturating_record_n(latency_ps, count);
        }
        self.sum_ps += sum_ps;
        self.max = self.max.later(max);
    }

    /// Adds what `other` counted.
    pub fn add(&mut self, other: &Latencies) {
        // Both histograms resize themselves and share their precision, so adding cannot fail.
        self.histogram.add(&other.histogram).expect("histograms of one precision add up");
        self.sum_ps += other.sum_ps;
        self.max = self.max.later(other.max);
    }

    /// How many requests were counted.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The latency that a share `quantile` of the requests does not exceed.
    pub fn quantile(&self, quantile: f64) -> Time {
        Time::from_ps(self.histogram.value_at_quantile(quantile)).min(self.max)
    }

    /// The summary, or nothing when no request was counted.
    pub fn summary(&self) -> Option<LatencySummary> {
        if self.count() == 0 {
            return None;
        }
        let at = |quantile| self.quantile(quantile).as_ps();
        Some(LatencySummary {
            count: self.count(),
            mean: self.sum_ps as f64 / self.count() as f64,
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            p99_9: at(0.999),
            p99_99: at(0.9999),
            max: self.max.as_ps(),
        })
    }
}

quantities! {
    /// Completion latency of some requests, from arrival to completion. Percentiles are within 0.1 % of the exact ones.
    LatencySummary as "Latency" {
        /// Requests whose latency was counted.
        count: u64, in "requests";
        /// Mean, exact.
        mean: f64, in "ps";
        /// Median.
        p50: u64, in "ps";
        /// 95th percentile.
        p95: u64, in "ps";
        /// 99th percentile.
        p99: u64, in "ps";
        /// 99.9th percentile.
        p99_9: u64, in "ps";
        /// 99.99th percentile.
        p99_99: u64, in "ps";
        /// Maximum, exact.
        max: u64, in "ps";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn nothing_counted_gives_no_summary() {
        assert_eq!(Latencies::default().summary(), None);
    }
}
