//! 95 % confidence intervals of the figures of a run, by batch means.
//!
//! Each figure is a ratio of two quantities that are counted in [batches](super::batches): requests over time, latency over requests, pages
//! programmed over pages written. Consecutive batches are correlated. So the variance of the ratio is the variance of the batches' residuals times
//! (1 + r) / (1 - r), where r is the correlation of the residuals at lag 1 (Steiger, Lada, Wilson, Joines, Alexopoulos and Goldsman, "ASAP3: a batch
//! means procedure for steady-state simulation analysis", ACM TOMACS 15(1), 2005, corrects by the same autoregressive model). Requests are never
//! assumed to be independent.
//!
//! The interval of a percentile follows from the interval of the share of requests below it, by the order statistics of all requests of the window
//! (Seila, "A batching approach to quantile estimation in regenerative simulations", Management Science 28(5), 1982).

mod ratio;
mod request_intervals;

use std::ops::Range;

use self::request_intervals::{RequestIntervals, increment};
use super::epochs::interval::DriveCounts;
use super::latencies::latency::LatencySummary;
use super::steady_state::batches::Batches;
use crate::config::PrecisionOf;
use crate::quantities;
use crate::units::Time;

pub use self::ratio::{half_width, half_width_without_drift};
pub use self::request_intervals::{RequestMetrics, tally};

quantities! {
    /// A 95 % confidence interval of a figure of the run.
    #[derive(Copy)]
    ConfidenceInterval as "ConfidenceInterval" {
        /// Lower end, in the unit of the figure.
        low: f64;
        /// Upper end, in the unit of the figure.
        high: f64;
    }
}

impl ConfidenceInterval {
    /// Returns the interval from `value - half_width`, but at least 0, to `value + half_width`.
    fn around(value: f64, half_width: f64) -> ConfidenceInterval {
        ConfidenceInterval { low: (value - half_width).max(0.0), high: value + half_width }
    }

    /// Returns half the width of the interval as a share of `figure`, the figure whose interval it is; `None` if the figure is zero.
    fn relative_half_width(&self, figure: f64) -> Option<f64> {
        (figure > 0.0).then(|| (self.high - self.low) / 2.0 / figure)
    }
}

quantities! {
    /// Confidence intervals of latencies, in picoseconds.
    #[derive(Copy)]
    LatencyConfidence as "LatencyConfidence" {
        /// Confidence interval of the mean latency.
        mean: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Confidence interval of the median latency.
        p50: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Confidence interval of the 95th percentile of latency.
        p95: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Confidence interval of the 99th percentile of latency.
        p99: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Confidence interval of the 99.9th percentile of latency.
        p99_9: Option<ConfidenceInterval>, null "when there are too few requests to tell";
    }
}

quantities! {
    /// Confidence intervals of latencies, by kind of request.
    #[derive(Copy)]
    LatencyConfidenceReport as "LatencyConfidenceByKind" {
        /// Confidence intervals of the latencies of all requests.
        all: LatencyConfidence;
        /// Confidence intervals of the latencies of reads.
        read: LatencyConfidence;
        /// Confidence intervals of the latencies of writes.
        write: LatencyConfidence;
    }
}

quantities! {
    /// Confidence intervals of the parts of the mean latency, as shares of the mean latency.
    #[derive(Copy)]
    BreakdownConfidence as "BreakdownConfidence" {
        /// Confidence interval of `breakdown_ps.mean.host`, as a share of the mean latency.
        host: ConfidenceInterval;
        /// Confidence interval of `breakdown_ps.mean.firmware`, as a share of the mean latency.
        firmware: ConfidenceInterval;
        /// Confidence interval of `breakdown_ps.mean.cache`, as a share of the mean latency.
        cache: ConfidenceInterval;
        /// Confidence interval of `breakdown_ps.mean.map_wait`, as a share of the mean latency.
        map_wait: ConfidenceInterval;
        /// Confidence interval of `breakdown_ps.mean.die_wait`, as a share of the mean latency.
        die_wait: ConfidenceInterval;
        /// Confidence interval of `breakdown_ps.mean.behind_gc`, as a share of the mean latency.
        behind_gc: ConfidenceInterval;
        /// Confidence interval of `breakdown_ps.mean.path_wait`, as a share of the mean latency.
        path_wait: ConfidenceInterval;
        /// Confidence interval of `breakdown_ps.mean.array`, as a share of the mean latency.
        array: ConfidenceInterval;
        /// Confidence interval of `breakdown_ps.mean.transfer`, as a share of the mean latency.
        transfer: ConfidenceInterval;
    }
}

quantities! {
    /// 95 % confidence intervals of the figures of the measured window, or of the whole run without such a window.
    #[derive(Copy)]
    ConfidenceReport as "Confidence" {
        /// Number of batches of the window, from which the intervals are computed.
        batches: u64, in "batches";
        /// Confidence interval of the requests completed per second.
        iops: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Confidence interval of the bytes per second.
        bandwidth_bytes_per_s: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Confidence intervals of the latencies, in picoseconds.
        latency_ps: LatencyConfidenceReport;
        /// Confidence intervals of the parts of the mean latency, as shares of the mean latency.
        breakdown_share: Option<BreakdownConfidence>, null "when there are too few requests to tell";
        /// Confidence interval of write amplification.
        write_amplification: Option<ConfidenceInterval>, null "when requests wrote no page, or there are too few to tell";
        /// Interval of the mean share of time that dies spend on GC and wear levelling.
        dies_gc_mean: Option<ConfidenceInterval>, null "when there are too few batches to tell";
    }
}

quantities! {
    /// 95 % confidence intervals of the figures of a stream.
    #[derive(Copy)]
    StreamConfidence as "StreamConfidence" {
        /// Confidence interval of the requests completed per second.
        iops: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Confidence interval of the bytes per second.
        bandwidth_bytes_per_s: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Confidence intervals of the latencies, in picoseconds.
        latency_ps: LatencyConfidenceReport;
    }
}

quantities! {
    /// Requested and reached precision of the figure that `measure.precision-of` selects.
    PrecisionReport as "Precision" {
        /// Figure whose precision is reported.
        of: &'static str as PrecisionOf;
        /// Requested half-width of the figure's confidence interval, as a share of the figure.
        wanted: f64, in "share";
        /// Reached half-width of the figure's confidence interval, as a share of the figure.
        reached: Option<f64>, in "share", null "when there are too few requests to tell";
        /// Whether the reached half-width is at most the requested one.
        met: bool;
    }
}

impl PrecisionReport {
    /// Returns the precision of the figure `of` of the measured window, or of the whole run without one. `wanted` is the requested half-width, as a
    /// share of the figure.
    pub fn new(of: PrecisionOf, wanted: f64, confidence: &ConfidenceReport, figures: &PreciseFigures<'_>) -> Self {
        let (intervals, latency) = (&confidence.latency_ps.all, figures.latency_ps);
        let percentile = |of: fn(&LatencySummary) -> u64| latency.map(|latency| of(latency) as f64);
        let (interval, figure) = match of {
            PrecisionOf::Iops => (confidence.iops, Some(figures.iops)),
            PrecisionOf::Bandwidth => (confidence.bandwidth_bytes_per_s, Some(figures.bandwidth_bytes_per_s)),
            PrecisionOf::Mean => (intervals.mean, latency.map(|latency| latency.mean)),
            PrecisionOf::P50 => (intervals.p50, percentile(|latency| latency.p50)),
            PrecisionOf::P95 => (intervals.p95, percentile(|latency| latency.p95)),
            PrecisionOf::P99 => (intervals.p99, percentile(|latency| latency.p99)),
            PrecisionOf::P99_9 => (intervals.p99_9, percentile(|latency| latency.p99_9)),
            PrecisionOf::WriteAmplification => (confidence.write_amplification, figures.write_amplification),
        };
        let reached = interval.zip(figure).and_then(|(interval, figure)| interval.relative_half_width(figure));
        PrecisionReport { of: of.name(), wanted, reached, met: reached.is_some_and(|reached| reached <= wanted) }
    }
}

/// Figures whose precision `measure.precision-of` can select.
pub struct PreciseFigures<'a> {
    pub iops: f64,
    pub bandwidth_bytes_per_s: f64,
    /// Latencies of all requests; `None` without requests.
    pub latency_ps: Option<&'a LatencySummary>,
    pub write_amplification: Option<f64>,
}

/// Values of the figures of a window, around which confidence intervals are computed.
pub struct WindowMetrics<'a> {
    pub requests: RequestMetrics<'a>,
    pub write_amplification: Option<f64>,
    pub dies_gc_mean: f64,
    pub dies: usize,
}

/// Percentiles for which intervals are computed, as shares.
const PERCENTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];
/// Number of interval ends: a lower and an upper one for each of `PERCENTILES`.
pub const INTERVAL_ENDS: usize = 2 * PERCENTILES.len();

/// Access to the latencies of the requests of a window, in any type of histogram.
pub trait Distribution {
    /// Returns the number of latencies.
    fn count(&self) -> u64;
    /// Returns the mean latency in picoseconds; 0 without latencies.
    fn mean_ps(&self) -> f64;
    /// Returns for each of `shares`, which must ascend, the latency in picoseconds that this share of the requests does not exceed; 0 without
    /// latencies.
    fn quantiles_ps(&self, shares: [f64; INTERVAL_ENDS]) -> [f64; INTERVAL_ENDS];
}

impl ConfidenceReport {
    /// Returns the intervals around `figures`, the values of the window that begins at `start`. Their widths follow from the batches that
    /// begin at `start` or later.
    pub fn new(batches: &Batches, start: Time, figures: &WindowMetrics<'_>) -> ConfidenceReport {
        let marks = batches.requests();
        let RequestIntervals { batches: count, iops, bandwidth_bytes_per_s, latency_ps, breakdown_share } =
            RequestIntervals::new(marks, marks.batch_indices(start), None, &figures.requests);
        let drive = batches.drive();
        let of_drive = drive.batch_indices(start);
        let each = |count: &dyn Fn(&DriveCounts) -> f64| -> Vec<f64> {
            of_drive.clone().map(|step| increment(drive, step, |mark| count(&mark.counts))).collect()
        };
        let programmed = each(&|counts| counts.flash.programmed(&counts.gc) as f64);
        let written = each(&|counts| counts.flash.pages_written as f64);
        let collecting = each(&|counts| counts.busy.dies_gc as f64);
        let time = each(&|counts| counts.span.as_ps() as f64 * figures.dies as f64);
        let ratio = |value: f64, over: &[f64], under: &[f64]| {
            half_width(over, under).map(|width| ConfidenceInterval::around(value, width))
        };
        ConfidenceReport {
            batches: count,
            iops,
            bandwidth_bytes_per_s,
            latency_ps,
            breakdown_share,
            write_amplification: figures.write_amplification.and_then(|value| ratio(value, &programmed, &written)),
            dies_gc_mean: ratio(figures.dies_gc_mean, &collecting, &time),
        }
    }
}

impl StreamConfidence {
    /// Returns the intervals of the figures of the stream at the index `stream` in `window`; `None` if `batches` does not count streams separately.
    pub fn new(
        batches: &Batches,
        window: Range<Time>,
        stream: usize,
        figures: &RequestMetrics<'_>,
    ) -> Option<StreamConfidence> {
        if !batches.has_streams() {
            return None;
        }
        let batches = batches.merged(Some(stream));
        let marks = batches.requests();
        let RequestIntervals { iops, bandwidth_bytes_per_s, latency_ps, .. } =
            RequestIntervals::new(marks, marks.batch_indices_between(window), Some(stream), figures);
        Some(StreamConfidence { iops, bandwidth_bytes_per_s, latency_ps })
    }
}

#[cfg(test)]
mod tests {
    use super::super::stream::StreamMeasures;
    use super::*;
    use crate::engine::random::SimRng;
    use crate::host::status::Status;
    use crate::schedule::latency_account::LatencyBreakdown;
    use crate::units::Bytes;
    use crate::workload::{IoRequest, RequestKind};

    /// Intervals of the request rate, and of the mean, p50, p95 and p99 of latency.
    type Intervals = [Option<ConfidenceInterval>; 5];

    /// Simulates an M/M/1 queue at half load, whose time in the system is exponential. Returns the intervals of all requests, and of a stream that
    /// consists of every second request.
    fn queue(seed: u64) -> [Intervals; 2] {
        const REQUESTS: u64 = 20_000;
        let mut random = SimRng::new(seed);
        let mut exponential =
            |mean_ns: f64| -mean_ns * libm::log((f64::from(random.below(1 << 30)) + 1.0) / f64::from(1 << 30));
        let (mut streams, mut batches) = (vec![StreamMeasures::default(); 2], Batches::default());
        let (mut arrival, mut end) = (0.0, 0.0_f64);
        let io = IoRequest {
            arrival: Time::ZERO,
            kind: RequestKind::Read,
            offset: Bytes::ZERO,
            size: Bytes::from_kib(4),
            stream: 0,
        };
        for number in 0..REQUESTS {
            arrival += exponential(2_000.0);
            end = end.max(arrival) + exponential(1_000.0);
            let (now, latency) = (Time::from_ps((end * 1e3) as u64), Time::from_ps(((end - arrival) * 1e3) as u64));
            if now >= batches.next_request_sample {
                batches.sample_requests(now, &streams);
            }
            let spent = LatencyBreakdown { array: latency, ..LatencyBreakdown::default() };
            streams[number as usize % 2].record(&io, Status::Success, now, latency, Time::ZERO, &spent);
        }
        let rate = REQUESTS as f64 / (end / 1e9);
        let ended = Time::from_ps((end * 1e3) as u64);
        let mut together = streams[0].clone();
        together.add_counted(&streams[1]);
        let (latencies, of_stream) = (together.latencies(), streams[1].latencies());
        let requests = RequestMetrics::from_latencies(rate, 0.0, &latencies);
        let figures = WindowMetrics { requests, write_amplification: None, dies_gc_mean: 0.0, dies: 1 };
        let all = ConfidenceReport::new(&batches.merged(None), Time::ZERO, &figures);
        let figures = RequestMetrics::from_latencies(rate / 2.0, 0.0, &of_stream);
        let stream = StreamConfidence::new(&batches, Time::ZERO..ended, 1, &figures).expect("there are two streams");
        [(all.iops, all.latency_ps), (stream.iops, stream.latency_ps)].map(|(iops, latency)| {
            let LatencyConfidence { mean, p50, p95, p99, .. } = latency.all;
            [iops, mean, p50, p95, p99]
        })
    }

    #[test]
    fn intervals_of_a_queue_hold_its_rate_mean_and_percentiles_in_93_to_97_of_100_seeds() {
        const SEEDS: u64 = 1_000;
        let mean_ps = 2e6;
        let at = |share: f64| -mean_ps * libm::log(1.0 - share);
        let truths = [mean_ps, at(0.5), at(0.95), at(0.99)];
        let (mut held, mut given) = ([0; 10], [0; 10]);
        for seed in 0..SEEDS {
            let found = queue(seed).into_iter().zip([5e5, 2.5e5]).flat_map(|(intervals, rate)| {
                let truths = std::iter::once(rate).chain(truths);
                intervals.into_iter().zip(truths)
            });
            for ((held, given), (interval, truth)) in held.iter_mut().zip(&mut given).zip(found) {
                // A percentile has no interval if its upper end would exceed all latencies.
                *given += u32::from(interval.is_some());
                *held += u32::from(interval.is_some_and(|ends| (ends.low..=ends.high).contains(&truth)));
            }
        }
        assert!(given.iter().all(|&given| given >= 990), "{given:?} of {SEEDS} have an upper end");
        let shares: Vec<f64> =
            held.iter().zip(&given).map(|(&held, &given)| f64::from(held) / f64::from(given)).collect();
        assert!(shares.iter().all(|share| (0.93..=0.97).contains(share)), "{shares:?}");
    }
}
