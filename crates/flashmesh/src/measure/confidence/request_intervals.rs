//! Requests counted for each batch, and the confidence intervals of their rates and latencies.

use std::ops::Range;

use super::ratio::{NORMAL_QUANTILE, half_width};
use super::{
    BreakdownConfidence, ConfidenceInterval, Distribution, INTERVAL_ENDS, LatencyConfidence, LatencyConfidenceReport,
    PERCENTILES,
};
use crate::measure::latencies::breakdown::{BreakdownSums, PARTS};
use crate::measure::steady_state::batches::{Batches, CumulativeSamples, RequestSample};
use crate::measure::stream::MeasuredKind;
use crate::units::Time;

/// Returns the number and the summed latency parts of the requests of `kinds`, of all streams, in the batches that begin at `start` or
/// later.
pub fn tally(batches: &Batches, start: Time, kinds: &[MeasuredKind]) -> BreakdownSums {
    let marks = batches.requests();
    BatchTallies::new(marks, marks.batch_indices(start), None, kinds).total
}

/// Rates and latencies of the requests of a window, for which confidence intervals are computed.
pub struct RequestMetrics<'a> {
    pub iops: f64,
    pub bandwidth_bytes_per_s: f64,
    /// Latencies of all requests, of reads, and of writes.
    pub latencies: [&'a dyn Distribution; 3],
}

impl<'a> RequestMetrics<'a> {
    /// Creates the metrics of a window from its rates and its latencies. `latencies` has the latencies of all requests, of reads, and of
    /// writes.
    pub fn from_latencies<D: Distribution>(
        iops: f64,
        bandwidth_bytes_per_s: f64,
        latencies: &'a [D; 3],
    ) -> RequestMetrics<'a> {
        let latencies = latencies.each_ref().map(|latencies| latencies as &dyn Distribution);
        RequestMetrics { iops, bandwidth_bytes_per_s, latencies }
    }
}

/// Confidence intervals of [`RequestMetrics`], with the number of batches from which they are computed.
pub(super) struct RequestIntervals {
    pub batches: u64,
    pub iops: Option<ConfidenceInterval>,
    pub bandwidth_bytes_per_s: Option<ConfidenceInterval>,
    pub latency_ps: LatencyConfidenceReport,
    pub breakdown_share: Option<BreakdownConfidence>,
}

impl RequestIntervals {
    /// Returns the intervals around `figures` from the batches that end at the marks `steps`. `figures` belong to the stream at the index `stream`,
    /// or to all streams if `None`.
    pub fn new(
        marks: &CumulativeSamples<RequestSample>,
        steps: Range<usize>,
        stream: Option<usize>,
        figures: &RequestMetrics<'_>,
    ) -> Self {
        let [of_all, of_reads, of_writes] = figures.latencies;
        let spacing = vec![seconds(marks.spacing()); steps.len()];
        let counted = |kinds: &[MeasuredKind]| BatchTallies::new(marks, steps.clone(), stream, kinds);
        let (all, read, write) =
            (counted(&MeasuredKind::ALL), counted(&[MeasuredKind::Read]), counted(&[MeasuredKind::Write]));
        let bytes: Vec<f64> =
            steps.clone().map(|step| increment(marks, step, |mark| mark.stream_counts(stream).bytes as f64)).collect();
        let rate = |value: f64, counts: &[f64]| {
            half_width(counts, &spacing).map(|width| ConfidenceInterval::around(value, width))
        };
        RequestIntervals {
            batches: steps.len() as u64,
            iops: rate(figures.iops, &all.requests),
            bandwidth_bytes_per_s: rate(figures.bandwidth_bytes_per_s, &bytes),
            latency_ps: LatencyConfidenceReport {
                all: all.latency(of_all),
                read: read.latency(of_reads),
                write: write.latency(of_writes),
            },
            breakdown_share: all.shares(),
        }
    }
}

/// Numbers of requests of selected kinds in each batch, and the sums of their latency parts.
struct BatchTallies {
    tallies: Vec<BreakdownSums>,
    /// Number of requests and sums of their latency parts, over all batches.
    total: BreakdownSums,
    requests: Vec<f64>,
    latency_ps: Vec<f64>,
}

impl BatchTallies {
    fn new(
        marks: &CumulativeSamples<RequestSample>,
        steps: Range<usize>,
        stream: Option<usize>,
        kinds: &[MeasuredKind],
    ) -> BatchTallies {
        let joined = |mark: &RequestSample| {
            let counts = mark.stream_counts(stream);
            let mut joined = BreakdownSums::default();
            kinds.iter().for_each(|&kind| joined.add(&counts.kinds[kind as usize]));
            joined
        };
        let start = joined(marks.batch_start(steps.start));
        let (mut before, mut tallies) = (start.clone(), Vec::with_capacity(steps.len()));
        for index in steps {
            let now = joined(&marks.values()[index]);
            tallies.push(now.since(&before));
            before = now;
        }
        let total = before.since(&start);
        let requests = tallies.iter().map(|tally| tally.count as f64).collect();
        let latency_ps = tallies.iter().map(|tally| tally.parts_ps.iter().sum::<u128>() as f64).collect();
        BatchTallies { tallies, total, requests, latency_ps }
    }

    fn latency(&self, latencies: &dyn Distribution) -> LatencyConfidence {
        let mean = half_width(&self.latency_ps, &self.requests)
            .map(|width| ConfidenceInterval::around(latencies.mean_ps(), width));
        let [p50, p95, p99, p99_9] = self.percentiles(latencies);
        LatencyConfidence { mean, p50, p95, p99, p99_9 }
    }

    /// Returns the interval of each of `PERCENTILES`; `None` for those with too few requests or batches. Sorts all interval ends first, to look them
    /// up in one pass over the latencies.
    fn percentiles(&self, latencies: &dyn Distribution) -> [Option<ConfidenceInterval>; PERCENTILES.len()] {
        let spans = PERCENTILES.map(|share| self.percentile_interval(latencies, share));
        let mut ends = [(0.0, 0); INTERVAL_ENDS];
        for (number, (low, high)) in spans.iter().map(|span| span.unwrap_or_default()).enumerate() {
            ends[2 * number] = (low, 2 * number);
            ends[2 * number + 1] = (high, 2 * number + 1);
        }
        ends.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let mut found = [0.0; INTERVAL_ENDS];
        for ((_, place), ps) in ends.iter().zip(latencies.quantiles_ps(ends.map(|(share, _)| share))) {
            found[*place] = ps;
        }
        std::array::from_fn(|number| {
            spans[number].map(|_| ConfidenceInterval { low: found[2 * number], high: found[2 * number + 1] })
        })
    }

    /// Returns both ends of the confidence interval of the percentile at `share`, as shares of the requests; `None` if there are too few batches, or
    /// too few requests for an upper end.
    fn percentile_interval(&self, latencies: &dyn Distribution, share: f64) -> Option<(f64, f64)> {
        let count = latencies.count() as f64;
        let below = self.requests_below(share)?;
        let independent = NORMAL_QUANTILE * (share * (1.0 - share) / count).sqrt();
        let width = half_width(&below, &self.requests)?.max(independent);
        let (low, high) = ((share - width).max(0.0), share + width);
        (high <= 1.0 - 1.0 / count).then_some((low, high))
    }

    /// Returns for each batch the number of requests whose latency is below the percentile `share` over all batches; `None` without requests.
    /// Interpolates within the latency bucket of the percentile.
    fn requests_below(&self, share: f64) -> Option<Vec<f64>> {
        let wanted = share * self.total.count as f64;
        let mut reached = 0.0;
        let first = self.total.buckets.iter().position(|&count| count > 0)?;
        for (bucket, &count) in self.total.buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
            if reached + count as f64 >= wanted {
                let inside = (wanted - reached) / count as f64;
                let below = |tally: &BreakdownSums| {
                    let of = &tally.buckets;
                    let whole: u64 = of[first.min(of.len())..bucket.min(of.len())].iter().sum();
                    whole as f64 + inside * of.get(bucket).copied().unwrap_or(0) as f64
                };
                return Some(self.tallies.iter().map(below).collect());
            }
            reached += count as f64;
        }
        None
    }

    fn shares(&self) -> Option<BreakdownConfidence> {
        let latency: f64 = self.latency_ps.iter().sum();
        let mut shares = [ConfidenceInterval { low: 0.0, high: 0.0 }; PARTS];
        for (part, share) in shares.iter_mut().enumerate() {
            let spent: Vec<f64> = self.tallies.iter().map(|tally| tally.parts_ps[part] as f64).collect();
            let width = half_width(&spent, &self.latency_ps)?;
            *share = ConfidenceInterval::around(spent.iter().sum::<f64>() / latency, width);
            share.high = share.high.min(1.0);
        }
        let [host, firmware, cache, map_wait, die_wait, behind_gc, path_wait, array, transfer] = shares;
        Some(BreakdownConfidence { host, firmware, cache, map_wait, die_wait, behind_gc, path_wait, array, transfer })
    }
}

/// Returns the increase of a cumulative value in the batch that ends at the mark `index`.
pub(super) fn increment<T>(marks: &CumulativeSamples<T>, index: usize, value: impl Fn(&T) -> f64) -> f64 {
    value(&marks.values()[index]) - value(marks.batch_start(index))
}

fn seconds(time: Time) -> f64 {
    time.as_ps() as f64 / Time::PS_PER_SECOND as f64
}
