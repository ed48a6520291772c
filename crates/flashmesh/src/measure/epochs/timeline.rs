//! Change of a run over time: its measured window after the warm-up, and its epochs.
//!
//! After the warm-up, requests are counted in batches of five. With the warm-up `auto`, requests are counted from the start of the run. Batches are
//! merged in pairs as the run gets longer, so there are at most [`BATCHES_MAX`] batches. After the run, MSER finds the end of the warm-up from the
//! means of batches, and the later batches add up to the measured window. So memory is bounded, no request is stored, and the window begins at most
//! one batch away from the end that MSER finds.

use super::interval::{DriveCounts, Interval, IntervalReport, PartCounts};
use super::series::{IntervalLength, IntervalSeries};
use crate::config::{Measure, WarmUp};
use crate::host::status::Status;
use crate::ids::StreamId;
use crate::measure::latencies::breakdown::BreakdownSummary;
use crate::measure::latencies::sparse_histogram::SparseHistogram;
use crate::measure::report::{DistributionReport, LatencyReport};
use crate::measure::steady_state::batches::Batches;
use crate::measure::steady_state::request_budget::RequestBudget;
use crate::measure::steady_state::stationarity::{self, Drift, OBSERVATIONS_MIN, ROUNDS};
use crate::measure::steady_state::steadiness::are_stores_balanced;
use crate::quantities;
use crate::units::Time;
use crate::workload::IoRequest;

/// Initial number of requests of a batch (MSER-5).
const BATCH_REQUESTS: u64 = 5;

/// Maximum number of batches. After a merge there are half as many. \[choice\]
pub const BATCHES_MAX: usize = 64;

#[derive(Clone, Debug, Default)]
struct OccupancyIntegral {
    commands: u64,
    since: Time,
    /// Sum of the times that commands spent in the host queues up to `since`, in picoseconds.
    held_ps: u128,
}

impl OccupancyIntegral {
    fn held_by(&self, now: Time) -> u128 {
        self.held_ps + u128::from(self.commands) * u128::from((now - self.since).as_ps())
    }

    fn change(&mut self, now: Time, commands: u64) {
        self.held_ps = self.held_by(now);
        self.since = now;
        self.commands = commands;
    }
}

/// Results of the measured window, with the latencies for its confidence intervals.
pub struct MeasuredWindow {
    pub report: MeasuredReport,
    /// Latencies of all requests, of reads, and of writes, in this order.
    pub latencies: [SparseHistogram; 3],
    /// For each stream, its latencies (all requests, reads, writes) and the time of its last completion.
    pub streams: Vec<([SparseHistogram; 3], Time)>,
}

#[derive(Clone, Debug)]
pub struct Timeline {
    settings: Measure,
    warm_up: WarmUp,
    goal: Option<RequestBudget>,
    /// Number of requests of all streams that completed before the measured window; `None` until the window begins.
    before_window: Option<u64>,
    /// Whether the warm-up `steady` ended because the device cache and the SLC cache were in balance, not because of its maximum length.
    is_balanced: bool,
    /// Time since which the device cache and the SLC cache have been in balance; `None` while out of balance.
    balanced_since: Option<Time>,
    streams: usize,
    queued: OccupancyIntegral,
    completed: u64,
    /// Batches of the measured window; with the warm-up `auto`, batches from the start of the run. `None` until the window begins, except
    /// with `auto`.
    batches: Option<IntervalSeries>,
    epochs: Option<IntervalSeries>,
}

impl Timeline {
    /// Creates the timeline; `None` if only the whole run is measured. If no warm-up is configured and the run has a request budget (`goal`), the
    /// warm-up is `steady`.
    pub fn new(settings: &Measure, goal: Option<RequestBudget>, streams: usize) -> Option<Timeline> {
        let default = if goal.is_some() { WarmUp::Steady } else { WarmUp::None };
        let warm_up = settings.warm_up.unwrap_or(default);
        if warm_up == WarmUp::None && settings.epoch.is_none() {
            return None;
        }
        let series = |pace, limit| IntervalSeries::new(pace, limit, streams, DriveCounts::default());
        Some(Timeline {
            settings: settings.clone(),
            warm_up,
            goal,
            before_window: None,
            is_balanced: false,
            balanced_since: None,
            streams,
            queued: OccupancyIntegral::default(),
            completed: 0,
            batches: (warm_up == WarmUp::Auto).then(|| series(IntervalLength::Requests(BATCH_REQUESTS), BATCHES_MAX)),
            epochs: settings.epoch.map(|length| series(IntervalLength::Time(length), settings.epochs_max as usize)),
        })
    }

    /// Returns the time at which [`Timeline::cut`] must be called, before all events of that time; [`Time::MAX`] if it must be called only
    /// after completions.
    pub fn due(&self) -> Time {
        let waits = self.batches.is_none() && self.warm_up == WarmUp::Time;
        let warm = if waits { self.settings.warm_up_time } else { Time::MAX };
        warm.min(self.epochs.as_ref().map_or(Time::MAX, IntervalSeries::due))
    }

    pub fn record_issue(&mut self, now: Time) {
        self.queued.change(now, self.queued.commands + 1);
    }

    /// Records a completed request. Returns whether [`Timeline::cut`] must be called, because a batch is full, the warm-up ends, or the run
    /// ends.
    pub fn record_completion(
        &mut self,
        stream: StreamId,
        io: &IoRequest,
        status: Status,
        now: Time,
        latency: Time,
    ) -> bool {
        self.queued.change(now, self.queued.commands - 1);
        self.completed += 1;
        if let Some(epochs) = &mut self.epochs {
            epochs.record(stream, io, status, now, latency);
        }
        let is_full = match &mut self.batches {
            Some(batches) => batches.record(stream, io, status, now, latency),
            None => self.is_warm(),
        };
        is_full || self.is_done()
    }

    /// Returns whether all requests to measure have completed, which ends the run. False without a request budget.
    pub fn is_done(&self) -> bool {
        let wanted = self.goal.zip(self.before_window).map(|(goal, before)| before + goal.measured);
        wanted.is_some_and(|wanted| self.completed >= wanted)
    }

    fn is_warm(&self) -> bool {
        self.warm_up == WarmUp::Requests && self.completed >= self.settings.warm_up_requests
    }

    /// Returns whether the warm-up `steady` ends at `now`: the limit of requests is reached, or the caches have been in balance over the last quarter
    /// of the run. A shorter balance may be due to chance.
    fn has_settled(&mut self, marks: &Batches, now: Time) -> bool {
        if self.warm_up != WarmUp::Steady {
            return false;
        }
        self.balanced_since = are_stores_balanced(marks).then(|| self.balanced_since.unwrap_or(now));
        self.is_balanced =
            self.balanced_since.is_some_and(|since| now.saturating_sub(since).as_ps() >= now.as_ps() / 4);
        self.is_balanced || self.goal.is_some_and(|goal| self.completed >= goal.warm_up_max)
    }

    /// Returns the sum of the times that commands spent in the host queues up to `now`, in picoseconds.
    pub fn occupancy_until(&self, now: Time) -> u128 {
        self.queued.held_by(now)
    }

    /// Closes the epoch and the batch, and ends the warm-up, if due at the time of `counts`. `marks` has the batches of the run if a drive mark
    /// (sample of the drive) was recorded at that time; otherwise `None`. Returns whether the measured window begins at that time.
    pub fn cut(&mut self, counts: &DriveCounts, marks: Option<&Batches>) -> bool {
        let now = counts.span;
        if let Some(epochs) = &mut self.epochs
            && epochs.due() == now
        {
            epochs.close_interval(counts);
        }
        match &mut self.batches {
            Some(batches) if batches.is_full() => batches.close_interval(counts),
            Some(_) => {}
            None if self.warm_up == WarmUp::None => {}
            None => {
                let is_late = self.warm_up == WarmUp::Time && now >= self.settings.warm_up_time;
                if is_late || self.is_warm() || marks.is_some_and(|marks| self.has_settled(marks, now)) {
                    self.before_window = Some(self.completed);
                    let pace = IntervalLength::Requests(BATCH_REQUESTS);
                    self.batches = Some(IntervalSeries::new(pace, BATCHES_MAX, self.streams, counts.clone()));
                    return true;
                }
            }
        }
        false
    }

    pub fn epochs(&self, end: Time, counts: &DriveCounts, parts: PartCounts) -> Vec<IntervalReport> {
        let intervals = self.epochs.as_ref().map_or(Vec::new(), |epochs| epochs.until(end, counts));
        intervals.iter().map(|epoch| epoch.report(parts)).collect()
    }

    pub fn measured(
        &self,
        end: Time,
        counts: &DriveCounts,
        parts: PartCounts,
        begun: &[(&str, Time)],
    ) -> (Option<WarmUpReport>, Option<MeasuredWindow>) {
        if self.warm_up == WarmUp::None {
            return (None, None);
        }
        let mut report = WarmUpReport {
            how: self.warm_up.name(),
            converged: false,
            ended_ps: None,
            requests: self.completed,
            batch_requests: None,
        };
        let Some(batches) = &self.batches else { return (Some(report), None) };
        let mut intervals = batches.until(end, counts);
        let mut full = batches.closed().len().min(intervals.len());
        if self.warm_up == WarmUp::Auto {
            let found = warm_up(&intervals[..full]);
            report.converged = found.is_some();
            if let IntervalLength::Requests(requests) = batches.interval_length() {
                report.batch_requests = Some(requests);
            }
            // Without an end of the warm-up, the second half of the run is the window, because it is most likely to be steady.
            let begin = found.unwrap_or(full / 2);
            intervals.drain(..begin);
            full -= begin;
        } else {
            report.converged = self.warm_up != WarmUp::Steady || self.is_balanced;
        }
        let rounds = rounds(&intervals[..full]);
        let Some(window) = intervals.into_iter().reduce(|mut window, next| {
            window.add(&next);
            window
        }) else {
            return (Some(report), None);
        };
        report.requests = self.completed - window.requests();
        report.ended_ps = Some(window.start().as_ps());
        let latencies = window.completed().bins();
        let [all, read, write] = latencies.each_ref().map(SparseHistogram::distribution);
        let measured = (window.requests() > 0).then(|| MeasuredWindow {
            report: MeasuredReport {
                steady: rounds.as_ref().map(|rounds| rounds.iops.is_steady() && rounds.latency.is_steady()),
                rounds,
                distribution: DistributionReport { all, read, write },
                breakdown_ps: MeasuredBreakdownReport::default(),
                streams: streams(&window, begun),
                window: window.report(parts),
            },
            latencies,
            streams: window.streams().iter().map(|stream| (stream.bins(), stream.last_completion())).collect(),
        });
        report.converged &= measured.is_some();
        (Some(report), measured)
    }
}

/// Returns the number of `batches` that belong to the warm-up: the largest number that MSER removes for any of three measures. These are mean
/// latency, time per request (1 / IOPS, which can be averaged over equal numbers of requests), and write amplification if pages were moved. `None` if
/// the run is too short.
fn warm_up(batches: &[Interval]) -> Option<usize> {
    let per_request = |value: f64, batch: &Interval| value / batch.requests() as f64;
    let latency: Vec<f64> = batches.iter().map(|batch| per_request(batch.latency_sum_ps() as f64, batch)).collect();
    let time: Vec<f64> = batches.iter().map(|batch| per_request(batch.length_ps(), batch)).collect();
    let amplification = batches.iter().enumerate().filter_map(|(at, batch)| {
        let DriveCounts { gc, flash, .. } = batch.counts();
        Some((at, flash.write_amplification(gc)?))
    });
    let (places, amplification): (Vec<usize>, Vec<f64>) = amplification.unzip();
    let mut end = stationarity::mser(&latency)?.max(stationarity::mser(&time)?);
    // Use write amplification only if enough batches have writes, and pages were moved.
    if amplification.len() >= OBSERVATIONS_MIN && batches.iter().any(|batch| batch.counts().gc.pages_moved > 0) {
        // `places` maps indices of `amplification` to indices of `batches`. The warm-up ends after the last removed batch with writes, so
        // batches without writes that follow it are kept.
        let kept = stationarity::mser(&amplification)?;
        end = end.max(if kept == 0 { 0 } else { places[kept - 1] + 1 });
    }
    (end < batches.len() / 2).then_some(end)
}

/// Returns the drift of throughput and mean latency over five rounds (groups of consecutive `batches`). `None` for fewer than five batches, or a mean
/// of zero.
fn rounds(batches: &[Interval]) -> Option<RoundsReport> {
    let count = batches.len();
    if count < ROUNDS {
        return None;
    }
    let (mut iops, mut latency) = ([0.0; ROUNDS], [0.0; ROUNDS]);
    for round in 0..ROUNDS {
        let batches = &batches[round * count / ROUNDS..(round + 1) * count / ROUNDS];
        let requests = batches.iter().map(Interval::requests).sum::<u64>() as f64;
        let time = batches.iter().map(Interval::length_ps).sum::<f64>();
        iops[round] = if time > 0.0 { requests * Time::PS_PER_SECOND as f64 / time } else { 0.0 };
        latency[round] = batches.iter().map(Interval::latency_sum_ps).sum::<u128>() as f64 / requests;
    }
    Some(RoundsReport { iops: Drift::of(&iops)?, latency: Drift::of(&latency)? })
}

/// Returns the figures of each stream in `window`. The rates of a stream cover the time from the start of the window (or of the stream, if later) to
/// the last completion of the stream. `begun` has the name and the start of each stream.
fn streams(window: &Interval, begun: &[(&str, Time)]) -> Vec<MeasuredStreamReport> {
    let report = |(stream, &(name, begun)): (&super::interval::CompletedRequests, &(&str, Time))| {
        let seconds = stream.last_completion().saturating_sub(window.start().later(begun)).as_secs_f64();
        let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        MeasuredStreamReport {
            name: name.to_owned(),
            requests: stream.requests(),
            iops: per_second(stream.requests()),
            bandwidth_bytes_per_s: per_second(stream.bytes().as_u64()),
            latency_ps: stream.latency(),
        }
    };
    window.streams().iter().zip(begun).map(report).collect()
}

quantities! {
    /// End of the warm-up.
    #[derive(Eq)]
    WarmUpReport as "WarmUp" {
        /// Condition on which the warm-up ends (`measure.warm-up`).
        how: &'static str as WarmUp;
        /// Whether the warm-up ended, and requests completed after it. `false` with `auto`: the run is too short, and the measured window is its
        /// second half.
        converged: bool;
        /// Simulated time at which the warm-up ended.
        ended_ps: Option<u64>, in "ps", null "when it did not end";
        /// Number of requests that completed during the warm-up.
        requests: u64, in "requests";
        /// Number of requests of a batch, of which `warm_up.requests` is a multiple.
        batch_requests: Option<u64>, in "requests", null "but with `auto`";
    }
}

quantities! {
    /// The measured window: the run after its warm-up.
    MeasuredReport as "Measured" {
        /// Results of the window.
        window: IntervalReport => flatten;
        /// Whether IOPS and mean latency of five rounds are steady by the criterion of the SNIA: a range of at most 20 % and a slope of at most 10 %
        /// of their mean. `steadiness` uses further criteria.
        steady: Option<bool>, null "when there are too few requests to tell";
        /// Drift of IOPS and mean latency over five rounds, each a fifth of the requests of the window.
        rounds: Option<RoundsReport>, null "when there are too few requests to tell";
        /// Latency distribution of the requests of the window.
        distribution: DistributionReport;
        /// Breakdown of the latencies of the requests of the window.
        breakdown_ps: MeasuredBreakdownReport;
        /// Results of the window for each stream.
        streams: Vec<MeasuredStreamReport>;
    }
}

quantities! {
    /// Breakdown of the mean latencies of the requests of the measured window, from the batches of `confidence`.
    #[derive(Default)]
    MeasuredBreakdownReport as "MeasuredBreakdown" {
        /// Mean latency of all requests, by part.
        mean: Option<BreakdownSummary>, null "when the window is shorter than a batch";
        /// Mean latency of reads, by part.
        read: Option<BreakdownSummary>, null "when none completed in a batch of the window";
        /// Mean latency of writes, by part.
        write: Option<BreakdownSummary>, null "when none completed in a batch of the window";
    }
}

quantities! {
    /// Drift of the measured window over five rounds, each a fifth of its requests.
    RoundsReport as "Rounds" {
        /// Drift of requests completed per simulated second.
        iops: Drift;
        /// Drift of the mean latency.
        latency: Drift;
    }
}

quantities! {
    /// Results of the measured window for one stream.
    MeasuredStreamReport as "MeasuredStream" {
        /// Name of the stream.
        name: String;
        /// Number of requests of the stream that completed in the window.
        requests: u64, in "requests";
        /// Completed requests per simulated second, from the start of the window to the last completion of the stream.
        iops: f64, in "1/s";
        /// Bytes that successful requests read or wrote, per simulated second from the start of the window to the last completion of the stream.
        bandwidth_bytes_per_s: f64, in "B/s";
        /// Completion latencies of the requests of the stream in the window.
        latency_ps: LatencyReport;
    }
}
