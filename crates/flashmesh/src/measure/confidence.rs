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

use std::ops::Range;

use super::batches::{Batches, Marks, RequestMark};
use super::breakdown::{PARTS, Tally};
use super::interval::Counts;
use super::stream::Kind;
use crate::config::PrecisionOf;
use crate::quantities;
use crate::units::Time;

/// Minimum number of batches for an interval. \[choice\]
const BATCHES_MIN: usize = 10;

/// The 97.5 % quantile of the normal distribution.
const NORMAL_QUANTILE: f64 = 1.959_964;

/// Maximum correlation of consecutive batches that can be corrected for. With a higher one, the run is too short for its batches. \[choice\]
const CORRELATION_MAX: f64 = 0.8;

/// Minimum correlation that is corrected for. If only positive estimates were corrected for, intervals of independent batches would be too wide.
/// \[choice\]
const CORRELATION_MIN: f64 = -0.25;

quantities! {
    /// A 95 % confidence interval.
    #[derive(Copy)]
    ConfidenceInterval as "ConfidenceInterval" {
        /// Lower end, in the unit of the figure.
        low: f64;
        /// Upper end, in the unit of the figure.
        high: f64;
    }
}

impl ConfidenceInterval {
    /// Returns the interval around `value` with this half-width, cut off at zero.
    fn around(value: f64, half_width: f64) -> ConfidenceInterval {
        ConfidenceInterval { low: (value - half_width).max(0.0), high: value + half_width }
    }

    /// Returns the half-width as a share of the middle; `None` for a middle of zero.
    pub fn relative_half_width(&self) -> Option<f64> {
        let sum = self.high + self.low;
        (sum > 0.0).then(|| (self.high - self.low) / sum)
    }
}

quantities! {
    /// Confidence intervals of latencies, in picoseconds.
    #[derive(Copy)]
    LatencyConfidence as "LatencyConfidence" {
        /// Interval of the mean.
        mean: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Interval of the median.
        p50: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Interval of the 95th percentile.
        p95: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Interval of the 99th percentile.
        p99: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Interval of the 99.9th percentile.
        p99_9: Option<ConfidenceInterval>, null "when there are too few requests to tell";
    }
}

quantities! {
    /// Confidence intervals of latencies, by kind of request.
    #[derive(Copy)]
    LatencyConfidenceReport as "LatencyConfidenceByKind" {
        /// Intervals of all requests.
        all: LatencyConfidence;
        /// Intervals of reads.
        read: LatencyConfidence;
        /// Intervals of writes.
        write: LatencyConfidence;
    }
}

quantities! {
    /// Confidence intervals of the parts of the mean latency, as shares of the mean latency.
    #[derive(Copy)]
    BreakdownConfidence as "BreakdownConfidence" {
        /// Interval of `breakdown_ps.mean.host`.
        host: ConfidenceInterval;
        /// Interval of `breakdown_ps.mean.firmware`.
        firmware: ConfidenceInterval;
        /// Interval of `breakdown_ps.mean.cache`.
        cache: ConfidenceInterval;
        /// Interval of `breakdown_ps.mean.map_wait`.
        map_wait: ConfidenceInterval;
        /// Interval of `breakdown_ps.mean.die_wait`.
        die_wait: ConfidenceInterval;
        /// Interval of `breakdown_ps.mean.behind_gc`.
        behind_gc: ConfidenceInterval;
        /// Interval of `breakdown_ps.mean.path_wait`.
        path_wait: ConfidenceInterval;
        /// Interval of `breakdown_ps.mean.array`.
        array: ConfidenceInterval;
        /// Interval of `breakdown_ps.mean.transfer`.
        transfer: ConfidenceInterval;
    }
}

quantities! {
    /// 95 % confidence intervals of the figures of the measured window, or of the whole run without such a window.
    #[derive(Copy)]
    ConfidenceReport as "Confidence" {
        /// Number of batches of the window.
        batches: u64, in "batches";
        /// Interval of requests completed per second.
        iops: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Interval of bytes per second.
        bandwidth_bytes_per_s: Option<ConfidenceInterval>, null "when there are too few requests to tell";
        /// Intervals of latencies, in picoseconds.
        latency_ps: LatencyConfidenceReport;
        /// Intervals of the parts of the mean latency, as shares.
        breakdown_share: Option<BreakdownConfidence>, null "when there are too few requests to tell";
        /// Interval of write amplification.
        write_amplification: Option<ConfidenceInterval>, null "when requests wrote no page, or there are too few to tell";
        /// Interval of the mean share of time that dies spend on GC and wear levelling.
        dies_gc_mean: Option<ConfidenceInterval>, null "when there are too few batches to tell";
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
    /// Returns the precision of the figure `of`, from its interval in `confidence`.
    pub fn new(of: PrecisionOf, wanted: f64, confidence: &ConfidenceReport) -> PrecisionReport {
        let latency = &confidence.latency_ps.all;
        let interval = match of {
            PrecisionOf::Iops => confidence.iops,
            PrecisionOf::Bandwidth => confidence.bandwidth_bytes_per_s,
            PrecisionOf::Mean => latency.mean,
            PrecisionOf::P50 => latency.p50,
            PrecisionOf::P95 => latency.p95,
            PrecisionOf::P99 => latency.p99,
            PrecisionOf::P99_9 => latency.p99_9,
            PrecisionOf::WriteAmplification => confidence.write_amplification,
        };
        let reached = interval.and_then(|interval| interval.relative_half_width());
        PrecisionReport { of: of.name(), wanted, reached, met: reached.is_some_and(|reached| reached <= wanted) }
    }
}

/// Figures of a window for which intervals are computed.
pub struct Figures<'a> {
    pub iops: f64,
    pub bandwidth_bytes_per_s: f64,
    pub write_amplification: Option<f64>,
    pub dies_gc_mean: f64,
    pub dies: usize,
    /// Latencies of all requests, of reads, and of writes.
    pub latencies: [&'a dyn Distribution; 3],
}

/// Latencies of the requests of a window.
pub trait Distribution {
    /// Returns the number of latencies.
    fn count(&self) -> u64;
    /// Returns the mean latency in picoseconds; 0 without any.
    fn mean_ps(&self) -> f64;
    /// Returns the latency in picoseconds that `share` of the requests do not exceed; 0 without any.
    fn quantile_ps(&self, share: f64) -> f64;
}

impl ConfidenceReport {
    /// Returns the intervals of the figures of the window that begins at `start`.
    pub fn new(batches: &Batches, start: Time, figures: &Figures<'_>) -> ConfidenceReport {
        let marks = batches.requests();
        let [of_all, of_reads, of_writes] = figures.latencies;
        let requests = marks.steps(start);
        let spacing = vec![seconds(marks.spacing()); requests.len()];
        let counted = |kinds: &[Kind]| Counted::new(marks, requests.clone(), kinds);
        let (all, read, write) = (counted(&Kind::ALL), counted(&[Kind::Read]), counted(&[Kind::Write]));
        let bytes: Vec<f64> = requests.clone().map(|step| increment(marks, step, |mark| mark.bytes as f64)).collect();
        let rate = |value: f64, counts: &[f64]| {
            half_width(counts, &spacing).map(|width| ConfidenceInterval::around(value, width))
        };
        let drive = batches.drive();
        let of_drive = drive.steps(start);
        let each = |count: &dyn Fn(&Counts) -> f64| -> Vec<f64> {
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
            batches: requests.len() as u64,
            iops: rate(figures.iops, &all.requests),
            bandwidth_bytes_per_s: rate(figures.bandwidth_bytes_per_s, &bytes),
            latency_ps: LatencyConfidenceReport {
                all: all.latency(of_all),
                read: read.latency(of_reads),
                write: write.latency(of_writes),
            },
            breakdown_share: all.shares(),
            write_amplification: figures.write_amplification.and_then(|value| ratio(value, &programmed, &written)),
            dies_gc_mean: ratio(figures.dies_gc_mean, &collecting, &time),
        }
    }
}

/// Returns the tally of the requests of `kinds` in the batches after `start`.
pub fn tally(batches: &Batches, start: Time, kinds: &[Kind]) -> Tally {
    let marks = batches.requests();
    let counted = Counted::new(marks, marks.steps(start), kinds);
    let mut all = Tally::default();
    counted.tallies.iter().for_each(|tally| all.add(tally));
    all
}

/// Requests of some kinds, counted for each batch.
struct Counted {
    tallies: Vec<Tally>,
    requests: Vec<f64>,
    latency_ps: Vec<f64>,
}

impl Counted {
    fn new(marks: &Marks<RequestMark>, steps: Range<usize>, kinds: &[Kind]) -> Counted {
        let joined = |mark: &RequestMark| {
            let mut joined = Tally::default();
            kinds.iter().for_each(|&kind| joined.add(&mark.kinds[kind as usize]));
            joined
        };
        let mut before = joined(marks.before(steps.start));
        let mut tallies = Vec::with_capacity(steps.len());
        for index in steps {
            let now = joined(&marks.values()[index]);
            tallies.push(now.since(&before));
            before = now;
        }
        let requests = tallies.iter().map(|tally| tally.count as f64).collect();
        let latency_ps = tallies.iter().map(|tally| tally.parts_ps.iter().sum::<u128>() as f64).collect();
        Counted { tallies, requests, latency_ps }
    }

    fn latency(&self, latencies: &dyn Distribution) -> LatencyConfidence {
        let mean = half_width(&self.latency_ps, &self.requests)
            .map(|width| ConfidenceInterval::around(latencies.mean_ps(), width));
        let quantile = |share| self.quantile(latencies, share);
        LatencyConfidence { mean, p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99), p99_9: quantile(0.999) }
    }

    /// Returns the interval of a percentile; `None` if its upper end would be above all requests.
    fn quantile(&self, latencies: &dyn Distribution, share: f64) -> Option<ConfidenceInterval> {
        let count = latencies.count() as f64;
        let below = self.below(share)?;
        let independent = NORMAL_QUANTILE * (share * (1.0 - share) / count).sqrt();
        let width = half_width(&below, &self.requests)?.max(independent);
        let (low, high) = ((share - width).max(0.0), share + width);
        (high <= 1.0 - 1.0 / count)
            .then(|| ConfidenceInterval { low: latencies.quantile_ps(low), high: latencies.quantile_ps(high) })
    }

    /// Returns the number of requests of each batch below the percentile of all requests. Interpolates within the percentile's latency bucket.
    fn below(&self, share: f64) -> Option<Vec<f64>> {
        let mut all = Tally::default();
        self.tallies.iter().for_each(|tally| all.add(tally));
        let wanted = share * all.count as f64;
        let mut reached = 0.0;
        for (bucket, &count) in all.buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
            if reached + count as f64 >= wanted {
                let inside = (wanted - reached) / count as f64;
                let below = |tally: &Tally| {
                    let whole: u64 = tally.buckets.iter().take(bucket).sum();
                    whole as f64 + inside * tally.buckets.get(bucket).copied().unwrap_or(0) as f64
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

/// Returns the growth of a value in the batch that ends at the mark `index`.
fn increment<T>(marks: &Marks<T>, index: usize, value: impl Fn(&T) -> f64) -> f64 {
    value(&marks.values()[index]) - value(marks.before(index))
}

fn seconds(time: Time) -> f64 {
    time.as_ps() as f64 / Time::PS_PER_SECOND as f64
}

/// Returns the half-width of the 95 % confidence interval of the ratio of two sums. `over` and `under` have a value for each batch. `None` for too
/// few batches, or a denominator of zero.
pub fn half_width(over: &[f64], under: &[f64]) -> Option<f64> {
    let residuals = residuals(over, under)?;
    Some(half_width_of_sum(&residuals) / under.iter().sum::<f64>())
}

/// Like [`half_width`], but subtracts the linear trend of the residuals first, so that drift does not widen the interval.
pub fn half_width_without_drift(over: &[f64], under: &[f64]) -> Option<f64> {
    let mut residuals = residuals(over, under)?;
    let middle = (residuals.len() - 1) as f64 / 2.0;
    let places = || (0..over.len()).map(|index| index as f64 - middle);
    let products: f64 = residuals.iter().zip(places()).map(|(residual, place)| residual * place).sum();
    let slope = products / places().map(|place| place * place).sum::<f64>();
    residuals.iter_mut().zip(places()).for_each(|(residual, place)| *residual -= slope * place);
    Some(half_width_of_sum(&residuals) / under.iter().sum::<f64>())
}

/// Returns the residual `over - ratio * under` of each batch, where `ratio` is the ratio of the sums. The residuals add up to zero. `None` for too
/// few batches, or a denominator of zero.
fn residuals(over: &[f64], under: &[f64]) -> Option<Vec<f64>> {
    let below: f64 = under.iter().sum();
    if over.len() < BATCHES_MIN || below <= 0.0 {
        return None;
    }
    let ratio = over.iter().sum::<f64>() / below;
    Some(over.iter().zip(under).map(|(over, under)| over - ratio * under).collect())
}

/// Returns the half-width of the 95 % confidence interval of a sum over batches, corrected for the autocorrelation of `residuals`.
fn half_width_of_sum(residuals: &[f64]) -> f64 {
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    if squares <= 0.0 {
        return 0.0;
    }
    let batches = residuals.len() as f64;
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let found = products / squares;
    // The estimate is too low by (1 + 3 r) / n (Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 41, 1954).
    let correlation = (found + (1.0 + 3.0 * found) / batches).clamp(CORRELATION_MIN, CORRELATION_MAX);
    let inflation = (1.0 + correlation) / (1.0 - correlation);
    let deviation = (squares / (batches - 1.0) * batches * inflation).sqrt();
    student_quantile(((batches - 1.0) / inflation.max(1.0)).max(4.0)) * deviation
}

/// Returns the 97.5 % quantile of Student's distribution, by the Cornish-Fisher expansion (Abramowitz and Stegun, 26.7.5), within 0.1 % from 4
/// degrees of freedom on. Uses only sums and products, so that results are equal on all machines.
fn student_quantile(freedom: f64) -> f64 {
    let x = NORMAL_QUANTILE;
    let (x3, x5, x7, x9) = (x.powi(3), x.powi(5), x.powi(7), x.powi(9));
    let terms = [
        (x3 + x) / 4.0,
        (5.0 * x5 + 16.0 * x3 + 3.0 * x) / 96.0,
        (3.0 * x7 + 19.0 * x5 + 17.0 * x3 - 15.0 * x) / 384.0,
        (79.0 * x9 + 776.0 * x7 + 1482.0 * x5 - 1920.0 * x3 - 945.0 * x) / 92_160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / freedom) + x
}

#[cfg(test)]
mod tests {
    use super::super::latency::Latencies;
    use super::super::stream::StreamMeasures;
    use super::*;
    use crate::engine::random::SimRng;
    use crate::host::status::Status;
    use crate::schedule::account::LatencyBreakdown;
    use crate::units::Bytes;
    use crate::workload::{IoRequest, RequestKind};

    #[test]
    fn quantiles_of_students_distribution_are_those_of_the_tables() {
        for (freedom, expected) in [(4.0, 2.776_4), (5.0, 2.570_6), (10.0, 2.228_1), (31.0, 2.039_5), (1e9, 1.959_964)]
        {
            assert!((student_quantile(freedom) / expected - 1.0).abs() < 1e-3, "{freedom}");
        }
    }

    #[test]
    fn too_few_batches_tell_nothing_and_equal_ones_have_no_width() {
        assert_eq!(half_width(&[1.0; BATCHES_MIN - 1], &[1.0; BATCHES_MIN - 1]), None);
        assert_eq!(half_width(&[1.0; 20], &[0.0; 20]), None);
        assert_eq!(half_width(&[3.0; 20], &[1.5; 20]), Some(0.0));
    }

    /// Returns intervals and latencies of an M/M/1 queue at half load, whose times in the system are exponential.
    fn queue(seed: u64) -> (ConfidenceReport, Latencies) {
        const REQUESTS: u64 = 20_000;
        let mut random = SimRng::new(seed);
        let mut exponential =
            |mean_ns: f64| -mean_ns * libm::log((f64::from(random.below(1 << 30)) + 1.0) / f64::from(1 << 30));
        let (mut streams, mut batches) = (vec![StreamMeasures::default()], Batches::default());
        let (mut arrival, mut end) = (0.0, 0.0_f64);
        let io = IoRequest {
            arrival: Time::ZERO,
            kind: RequestKind::Read,
            offset: Bytes::ZERO,
            size: Bytes::from_kib(4),
            stream: 0,
        };
        for _ in 0..REQUESTS {
            arrival += exponential(2_000.0);
            end = end.max(arrival) + exponential(1_000.0);
            let (now, latency) = (Time::from_ps((end * 1e3) as u64), Time::from_ps(((end - arrival) * 1e3) as u64));
            if now >= batches.next_of_requests {
                batches.mark_requests(now, &streams);
            }
            let spent = LatencyBreakdown { array: latency, ..LatencyBreakdown::default() };
            streams[0].record(&io, Status::Success, now, latency, Time::ZERO, &spent);
        }
        let [all, read, write] = streams[0].latencies();
        let figures = Figures {
            iops: REQUESTS as f64 / (end / 1e9),
            bandwidth_bytes_per_s: 0.0,
            write_amplification: None,
            dies_gc_mean: 0.0,
            dies: 1,
            latencies: [&all, &read, &write],
        };
        (ConfidenceReport::new(&batches.merged(), Time::ZERO, &figures), all)
    }

    #[test]
    fn intervals_of_a_queue_hold_its_rate_mean_and_percentiles_in_93_to_97_of_100_seeds() {
        const SEEDS: u64 = 1_000;
        let mean_ps = 2e6;
        let at = |share: f64| -mean_ps * libm::log(1.0 - share);
        let (mut held, mut given) = ([0; 5], [0; 5]);
        for seed in 0..SEEDS {
            let (found, _) = queue(seed);
            let LatencyConfidence { mean, p50, p95, p99, .. } = found.latency_ps.all;
            let truths = [(found.iops, 5e5), (mean, mean_ps), (p50, at(0.5)), (p95, at(0.95)), (p99, at(0.99))];
            for ((held, given), (interval, truth)) in held.iter_mut().zip(&mut given).zip(truths) {
                // There is no interval if its upper end would be above all requests.
                *given += u32::from(interval.is_some());
                *held += u32::from(interval.is_some_and(|ends| (ends.low..=ends.high).contains(&truth)));
            }
        }
        assert!(given.iter().all(|&given| given >= 990), "{given:?} of {SEEDS} have an upper end");
        let shares: Vec<f64> =
            held.iter().zip(&given).map(|(&held, &given)| f64::from(held) / f64::from(given)).collect();
        assert!(shares.iter().all(|share| (0.93..=0.97).contains(share)), "{shares:?}");
    }

    /// Checks values that follow x' = r x + e. The variance of their mean is that of independent values, times (1 + r) / (1 - r).
    #[test]
    fn intervals_hold_the_mean_of_correlated_batches_in_95_of_100_cases() {
        let mut random = SimRng::new(3);
        let mut uniform = || f64::from(random.below(1 << 20)) / f64::from(1 << 20) - 0.5;
        for correlation in [0.0, 0.3, 0.6] {
            let mut held = 0;
            for _ in 0..2_000 {
                let mut value = 0.0;
                let values: Vec<f64> = (0..48)
                    .map(|_| {
                        value = correlation * value + uniform();
                        10.0 + value
                    })
                    .collect();
                let mean = values.iter().sum::<f64>() / 48.0;
                let width = half_width(&values, &[1.0; 48]).expect("48 batches");
                held += u32::from((mean - 10.0).abs() <= width);
            }
            assert!((1_840..=1_950).contains(&held), "{correlation}: {held} of 2,000");
        }
    }
}
