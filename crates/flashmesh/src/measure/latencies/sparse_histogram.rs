//! Histogram of latencies in which only non-empty bins take memory.
//!
//! The histograms of a run ([`super::latency`]) take half a megabyte each, however few latencies they have. A run that is divided into intervals has
//! hundreds of them, so an interval has a list of its non-empty bins. The bins are the same as those of the histograms, and so are the percentiles.

use super::latency::{EXACT_BITS, LatencyDistribution, LatencySummary, distribution_of, quantiles_of, summary_of};
use super::moments::Moments;
use crate::measure::confidence::{Distribution, INTERVAL_ENDS};
use crate::units::Time;

/// Number of latencies that are buffered before they are sorted into bins.
const RECENT_MAX: usize = 4096;

#[derive(Clone, Debug, Default)]
pub struct SparseHistogram {
    /// Non-empty bins in ascending order, each with its longest latency in picoseconds and its count.
    bins: Vec<(u64, u64)>,
    /// Buffered latencies in picoseconds, which are not in `bins` yet. Each is rounded up to the longest latency of its bin.
    recent: Vec<u64>,
    moments: Moments,
    max: Time,
}

fn bin_of(ps: u64) -> u64 {
    let shift = ps.max(1).ilog2().saturating_sub(EXACT_BITS);
    ps | ((1 << shift) - 1)
}

fn merge_bins(one: &[(u64, u64)], other: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut bins = Vec::with_capacity(one.len().max(other.len()));
    let (mut one, mut other) = (one.iter().copied().peekable(), other.iter().copied().peekable());
    loop {
        let next = match (one.peek().copied(), other.peek().copied()) {
            (Some((a, count)), Some((b, further))) if a == b => {
                one.next();
                other.next();
                Some((a, count + further))
            }
            (Some((a, _)), Some((b, _))) if b < a => other.next(),
            (Some(_), _) => one.next(),
            (None, _) => other.next(),
        };
        match next {
            Some(bin) => bins.push(bin),
            None => break,
        }
    }
    bins.shrink_to_fit();
    bins
}

impl SparseHistogram {
    pub fn record(&mut self, latency: Time) {
        self.moments.record(latency.as_ps());
        self.max = self.max.later(latency);
        self.recent.push(bin_of(latency.as_ps()));
        if self.recent.len() == RECENT_MAX {
            self.flush_recent();
        }
    }

    fn flush_recent(&mut self) {
        self.recent.sort_unstable();
        let mut found: Vec<(u64, u64)> = Vec::new();
        for &bin in &self.recent {
            match found.last_mut() {
                Some((last, count)) if *last == bin => *count += 1,
                _ => found.push((bin, 1)),
            }
        }
        self.bins = merge_bins(&self.bins, &found);
        self.recent.clear();
    }

    /// Sorts the buffered latencies into bins, and releases the buffer.
    pub fn close(&mut self) {
        self.flush_recent();
        self.recent = Vec::new();
    }

    pub fn add(&mut self, other: &SparseHistogram) {
        debug_assert!(other.recent.is_empty(), "bins are closed before they are added");
        self.bins = merge_bins(&self.bins, &other.bins);
        self.moments.add(&other.moments);
        self.max = self.max.later(other.max);
    }

    pub fn count(&self) -> u64 {
        self.moments.count()
    }

    pub fn sum_ps(&self) -> u128 {
        self.moments.sum()
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.bins.len() + self.recent.len()
    }

    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Returns the summary of the latencies; `None` without latencies. Must be called after [`close`](Self::close).
    pub fn summary(&self) -> Option<LatencySummary> {
        debug_assert!(self.recent.is_empty(), "bins are closed before they are summarised");
        summary_of(self.bins.iter().copied(), self.moments, self.max)
    }

    /// Returns the distribution of the latencies; `None` without latencies. Must be called after [`close`](Self::close).
    pub fn distribution(&self) -> Option<LatencyDistribution> {
        distribution_of(self.bins.iter().copied(), self.max)
    }
}

impl Distribution for SparseHistogram {
    fn count(&self) -> u64 {
        self.moments.count()
    }

    fn mean_ps(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.moments.mean() }
    }

    fn quantiles_ps(&self, shares: [f64; INTERVAL_ENDS]) -> [f64; INTERVAL_ENDS] {
        let longest = quantiles_of(self.bins.iter().copied(), self.count(), shares);
        longest.map(|ps| if self.is_empty() { 0.0 } else { ps.min(self.max.as_ps()) as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::super::latency::LatencyHistogram;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bins_summarise_as_the_histogram_does_in_any_number_of_parts(
            parts in prop::collection::vec(prop::collection::vec((0..62u32, any::<u64>()), 0..200), 1..6),
        ) {
            let mut whole = LatencyHistogram::default();
            let mut together = SparseHistogram::default();
            for part in parts {
                let mut bins = SparseHistogram::default();
                for (bits, random) in part {
                    let latency = Time::from_ps(random % (1 << bits));
                    whole.record(latency);
                    bins.record(latency);
                }
                bins.close();
                together.add(&bins);
            }
            prop_assert_eq!(together.count(), whole.count());
            prop_assert_eq!(together.summary(), whole.summary());
            prop_assert_eq!(together.distribution(), whole.distribution());
            prop_assert!(together.bins.is_sorted_by(|one, other| one.0 < other.0));
        }
    }

    #[test]
    fn many_requests_take_the_memory_of_their_bins() {
        let mut bins = SparseHistogram::default();
        for number in 0..1_000_000u64 {
            bins.record(Time::from_ns(50_000 + number % 10_000));
        }
        bins.close();
        // Latencies of 50 to 60 us are at least 2^25 ps, where bins are 2^15 ps wide.
        let width = 1u64 << 15;
        assert!(bins.len() as u64 <= 10_000_000 / width + 2, "{} bins", bins.len());
        assert_eq!(bins.count(), 1_000_000);
    }
}
