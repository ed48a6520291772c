//! Drift of the requests of a window, compared with its noise.

use super::batches::{CumulativeSamples, RequestSample};
use super::stationarity::{Drift, RANGE_MAX, ROUNDS, SLOPE_MAX};
use crate::measure::confidence::half_width_without_drift;
use crate::measure::stream::MeasuredKind;
use crate::units::Time;

/// Range of a measure over five rounds (fifths of a window) above which the range counts as drift, not as noise, in half-widths of a round's 95 %
/// interval. Without drift, the range exceeds this threshold with 1 % probability (4.60, the 99 % quantile of the studentized range, over 1.96).
const RANGE_OF_NOISE: f64 = 2.35;

/// Rise of the line fitted to a measure over five rounds (fifths of a window), from the first to the last, above which the rise counts as drift, not
/// as noise, in half-widths of a round's 95 % interval. Without drift, the rise exceeds this threshold with 1 % probability (4 / sqrt(10) standard
/// deviations of a round, times 2.576, over 1.96).
const SLOPE_OF_NOISE: f64 = 1.66;

/// Minimum share of the requests from which on the mean latency of reads, or of writes, is judged by itself. \[choice\]
const SHARE_MIN: f64 = 0.1;

/// Drift of a measure, and its noise: half the width of the 95 % confidence interval of its mean without drift, as a share of the mean.
struct NoisyDrift {
    drift: Drift,
    noise: f64,
}

impl NoisyDrift {
    /// Returns the drift and the noise of the ratio of `over` to `under`, with the batches grouped into five rounds. Both slices have one value for
    /// each batch. `None` for too few batches, or a ratio of zero.
    fn of(over: &[f64], under: &[f64]) -> Option<NoisyDrift> {
        let width = half_width_without_drift(over, under)?;
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        let round = |round: usize| {
            let batches = round * over.len() / ROUNDS..(round + 1) * over.len() / ROUNDS;
            sum(&over[batches.clone()]) / sum(&under[batches]).max(f64::MIN_POSITIVE)
        };
        let drift = Drift::of(&std::array::from_fn(round))?;
        Some(NoisyDrift { drift, noise: width * sum(under) / sum(over) })
    }

    /// Returns whether the drift is larger than the SNIA criterion allows, and larger than the noise of a measure without drift explains.
    fn is_significant(&self) -> bool {
        let of_round = self.noise * (ROUNDS as f64).sqrt();
        self.drift.range > RANGE_MAX.max(RANGE_OF_NOISE * of_round)
            || self.drift.slope > SLOPE_MAX.max(SLOPE_OF_NOISE * of_round)
    }
}

/// Drift and noise of the request rate and of the mean latencies of a window.
pub struct WindowDrift {
    /// Whether IOPS, or the mean latency of all requests, of reads or of writes, drift significantly.
    pub is_significant: bool,
    /// The largest noise of these measures; zero with too few batches for any.
    pub noise: f64,
}

impl WindowDrift {
    /// Measures the drift over the batches that begin at `start` or later.
    ///
    /// With a fixed number of requests in flight, IOPS and mean latency determine each other, and reads that become slower while writes become faster
    /// change neither. So reads and writes are also measured separately.
    pub fn new(marks: &CumulativeSamples<RequestSample>, start: Time) -> WindowDrift {
        let [requests, latencies] = batch_sums(marks, start, &MeasuredKind::ALL);
        let count = |requests: &[f64]| requests.iter().sum::<f64>();
        let of_kind = |kind| {
            let [of_kind, latencies] = batch_sums(marks, start, &[kind]);
            let is_rare = count(&of_kind) < SHARE_MIN * count(&requests);
            if is_rare { None } else { NoisyDrift::of(&latencies, &of_kind) }
        };
        let measures = [
            NoisyDrift::of(&requests, &vec![1.0; requests.len()]),
            NoisyDrift::of(&latencies, &requests),
            of_kind(MeasuredKind::Read),
            of_kind(MeasuredKind::Write),
        ];
        let measured = || measures.iter().flatten();
        WindowDrift {
            is_significant: measured().any(NoisyDrift::is_significant),
            noise: measured().map(|drift| drift.noise).fold(0.0, f64::max),
        }
    }
}

/// Returns the number of requests of `kinds` and the sum of their latencies in picoseconds, for each batch that begins at `start` or later.
fn batch_sums(marks: &CumulativeSamples<RequestSample>, start: Time, kinds: &[MeasuredKind]) -> [Vec<f64>; 2] {
    let steps = marks.batch_indices(start);
    let sums = |mark: &RequestSample| {
        let (count, latency_ps, _) = mark.all.sums(kinds);
        [count as f64, latency_ps as f64]
    };
    let mut before = sums(marks.batch_start(steps.start));
    let mut found = [Vec::with_capacity(steps.len()), Vec::with_capacity(steps.len())];
    for index in steps {
        let now = sums(&marks.values()[index]);
        for (values, (now, before)) in found.iter_mut().zip(now.into_iter().zip(before)) {
            values.push(now - before);
        }
        before = now;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const BATCHES: usize = 60;

    /// Measures the drift of batches of 32 requests each. `batch` returns, for a batch, its number of reads, and the mean latencies of its reads and
    /// of its writes.
    fn drift(batch: impl Fn(usize) -> (u64, f64, f64)) -> WindowDrift {
        let mut marks = CumulativeSamples::new(Time::ZERO, RequestSample::default(), Time::from_us(1));
        let mut sample = RequestSample::default();
        for index in 0..BATCHES {
            let (reads, read_ps, write_ps) = batch(index);
            let kinds = [(MeasuredKind::Read, reads, read_ps), (MeasuredKind::Write, 32 - reads, write_ps)];
            for (kind, count, latency) in kinds {
                let sums = &mut sample.all.kinds[kind as usize];
                sums.count += count;
                sums.parts_ps[0] += (count as f64 * latency) as u128;
            }
            marks.push(sample.clone());
        }
        WindowDrift::new(&marks, Time::ZERO)
    }

    /// Returns 1.05 and 0.95 in turns.
    fn noise(index: usize) -> f64 {
        if index.is_multiple_of(2) { 1.05 } else { 0.95 }
    }

    #[test]
    fn reads_that_slow_down_while_writes_speed_up_drift_although_the_mean_latency_stays() {
        assert!(!drift(|index| (16, 1e9 * noise(index), 1e9)).is_significant);
        let trade = |index| 3e8 * (index as f64 / BATCHES as f64 - 0.5);
        assert!(drift(|index| (16, 1e9 + trade(index), 1e9 - trade(index))).is_significant);
    }

    #[test]
    fn a_kind_with_less_than_a_tenth_of_the_requests_is_not_judged() {
        let rise = |index| 1e9 * (1.0 + index as f64 / BATCHES as f64);
        assert!(!drift(|index| (2, rise(index), 1e10)).is_significant);
        assert!(drift(|index| (16, rise(index), 1e10)).is_significant);
    }

    #[test]
    fn noise_is_that_of_the_noisiest_measure() {
        let alike = drift(|index| (16, 1e9 * noise(index), 1e9 * noise(index)));
        let opposite = drift(|index| (16, 1e9 * noise(index), 1e9 * noise(index + 1)));
        let half_widths = [alike.noise, opposite.noise];
        assert!(half_widths.iter().all(|&noise| noise > 0.001), "{half_widths:?}");
        assert!((half_widths[0] - half_widths[1]).abs() < 1e-6, "{half_widths:?}");
    }
}
