//! Batches of a run, and marks: cumulative counts at the equally spaced times that end the batches. Confidence intervals and the steady-state verdict
//! are computed from the batches.
//!
//! At [`MARKS_MAX`] marks every other mark is dropped and the spacing doubles: memory is bounded, and a long run keeps at least half of [`MARKS_MAX`]
//! marks. All marks are dropped at the start of a measured window.

use std::ops::Range;

use crate::measure::epochs::interval::DriveCounts;
use crate::measure::latencies::breakdown::{BreakdownSums, PARTS};
use crate::measure::stream::{MeasuredKind, StreamMeasures};
use crate::units::Time;

/// Number of marks (samples of cumulative counts) at which every second mark is dropped, and the spacing of the others doubles. \[choice\]
pub const MARKS_MAX: usize = 64;

/// Initial time between two marks (samples of cumulative counts), in which even a fast drive completes only a few requests. \[choice\]
const FIRST_SPACING: Time = Time::from_ns(10_000);

/// Minimum mean number of requests per batch. [`Batches::merged`] merges batches until their mean reaches this number. \[choice\]
pub const BATCH_REQUESTS_MIN: u64 = 32;

/// Maximum number of streams that the marks (samples of cumulative counts) count separately; with more streams, the marks count only the
/// total. Limits memory, because the marks of each stream take a few hundred kilobytes. \[choice\]
pub const STREAMS_MAX: usize = 16;

/// Series of marks, which are the values of a cumulative count at the multiples of `spacing` after `origin`. The spacing doubles as the run
/// gets longer.
#[derive(Clone, Debug)]
pub struct CumulativeSamples<T> {
    origin: Time,
    at_origin: T,
    spacing: Time,
    values: Vec<T>,
}

impl<T> CumulativeSamples<T> {
    pub(in super::super) fn new(origin: Time, at_origin: T, spacing: Time) -> CumulativeSamples<T> {
        CumulativeSamples { origin, at_origin, spacing, values: Vec::new() }
    }

    /// Returns the time at which the next value must be recorded as a mark.
    fn next(&self) -> Time {
        self.time(self.values.len())
    }

    /// Returns the time of the mark at `index`. Index 0 is the first mark after `origin`.
    fn time(&self, index: usize) -> Time {
        let after = self.spacing.as_ps().saturating_mul(index as u64 + 1);
        Time::from_ps(self.origin.as_ps().saturating_add(after))
    }

    pub(in super::super) fn push(&mut self, value: T) {
        self.values.push(value);
        if self.values.len() == MARKS_MAX {
            self.double_spacing();
        }
    }

    /// Doubles the time between two marks. Keeps every second mark: exactly those at multiples of the new spacing.
    fn double_spacing(&mut self) {
        let mut number = 0;
        self.values.retain(|_| {
            number += 1;
            number % 2 == 0
        });
        self.spacing = self.spacing * 2;
    }

    /// Returns the time from one mark to the next, which is the length of a batch.
    pub fn spacing(&self) -> Time {
        self.spacing
    }

    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns the indices of the marks (samples of cumulative counts) at the ends of all batches that begin at `start` or later. Empty if there is
    /// no such batch.
    pub fn batch_indices(&self, start: Time) -> Range<usize> {
        self.batch_indices_between(start..Time::MAX)
    }

    /// Returns the indices of the marks (samples of cumulative counts) at the ends of all batches within `window`. Empty if there is no such batch.
    pub fn batch_indices_between(&self, window: Range<Time>) -> Range<usize> {
        let count = self.values.len();
        let end = (0..count).find(|&index| self.time(index) > window.end).unwrap_or(count);
        let first = if window.start <= self.origin {
            0
        } else {
            (0..count).find(|&index| self.time(index) >= window.start).map_or(count, |index| index + 1)
        };
        first.min(end)..end
    }

    /// Returns the cumulative value at the start of the batch that ends at the mark `index`: the previous mark, or the value at `origin`.
    pub fn batch_start(&self, index: usize) -> &T {
        index.checked_sub(1).map_or(&self.at_origin, |before| &self.values[before])
    }
}

/// Cumulative counts, since the start of the run, of the completed requests of one stream or of all streams.
#[derive(Clone, Debug, Default)]
pub struct RequestCounts {
    pub bytes: u64,
    /// For each kind of request, indexed by [`MeasuredKind`], the number of requests and the sums of their latency parts.
    pub kinds: [BreakdownSums; MeasuredKind::ALL.len()],
}

impl RequestCounts {
    /// Adds all requests of a stream, including its ramp (`replay.ramp-time`).
    fn add_with_ramp(&mut self, stream: &StreamMeasures) {
        self.add(stream);
        if let Some(ramp) = stream.ramp() {
            self.add(ramp);
        }
    }

    fn add(&mut self, stream: &StreamMeasures) {
        self.bytes += stream.bytes().as_u64();
        for (tally, kind) in self.kinds.iter_mut().zip(MeasuredKind::ALL) {
            stream.kind(kind).add_to(tally);
        }
    }

    /// Returns three sums over the requests of `kinds`: their number, their latencies, and each part of their latencies in the order of
    /// [`BreakdownSums::parts_ps`]. Times are in picoseconds.
    pub fn sums(&self, kinds: &[MeasuredKind]) -> (u64, u128, [u128; PARTS]) {
        kinds.iter().map(|&kind| &self.kinds[kind as usize]).fold(
            (0, 0, [0; PARTS]),
            |(count, latency, parts), tally| {
                let parts = std::array::from_fn(|part| parts[part] + tally.parts_ps[part]);
                (count + tally.count, latency + tally.parts_ps.iter().sum::<u128>(), parts)
            },
        )
    }
}

/// Zero counts, for a stream that a mark (sample of cumulative counts) does not count separately, and for all streams at the start of the run.
static NO_REQUESTS: RequestCounts =
    RequestCounts { bytes: 0, kinds: [const { BreakdownSums::NONE }; MeasuredKind::ALL.len()] };

/// Sample of the request counts at one mark: counts of the requests that completed since the start of the run.
#[derive(Clone, Debug, Default)]
pub struct RequestSample {
    pub all: RequestCounts,
    /// Counts of each stream. Empty with a single stream, or with more than [`STREAMS_MAX`].
    streams: Vec<RequestCounts>,
}

impl RequestSample {
    fn new(streams: &[StreamMeasures]) -> RequestSample {
        let mut mark = RequestSample::default();
        streams.iter().for_each(|stream| mark.all.add_with_ramp(stream));
        if (2..=STREAMS_MAX).contains(&streams.len()) {
            mark.streams.resize_with(streams.len(), RequestCounts::default);
            mark.streams.iter_mut().zip(streams).for_each(|(counts, stream)| counts.add(stream));
        }
        mark
    }

    /// Returns the counts of the stream at the index `stream`, or of all streams together if `None`. Zero for a stream that this mark
    /// (sample of cumulative counts) does not count.
    pub fn stream_counts(&self, stream: Option<usize>) -> &RequestCounts {
        stream.map_or(&self.all, |stream| self.streams.get(stream).unwrap_or(&NO_REQUESTS))
    }
}

/// Fill levels of the flash and caches of a drive, and its backlog of requests, at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FillLevels {
    /// Free pages of the flash array.
    pub free_pages: u64,
    /// Free pages, plus the pages that GC has reclaimed so far in victim blocks that are not erased yet. Constant while collections keep pace with
    /// writes.
    pub reserve_pages: u64,
    /// Number of blocks that are being collected, over all planes. Folds of the SLC cache do not count.
    pub victims: u64,
    /// Free pages that writes can still take before a collection begins.
    pub pages_before_gc: u64,
    /// Dirty pages of the device cache.
    pub dirty_pages: u64,
    /// Maximum number of dirty pages that the device cache may hold.
    pub dirty_limit: u64,
    /// Pages of the SLC cache that hold data.
    pub slc_pages: u64,
    /// Requests that were issued and have not completed yet.
    pub outstanding: u64,
    /// Time in picoseconds by which an open replay lags behind the arrivals of its requests: the maximum over the streams. 0 without an
    /// open replay.
    pub replay_lag_ps: u64,
}

/// Sample of the drive at one mark: its counts since the start of the run, and its fill levels.
#[derive(Clone, Debug, Default)]
pub struct DriveSample {
    pub counts: DriveCounts,
    pub levels: FillLevels,
}

/// Request marks (samples of the request counts) and drive marks (samples of the drive's counts and fill levels) of a run. A request mark is recorded
/// at the first completion at or after the time of the mark. A drive mark is recorded between events, exactly at its time.
#[derive(Clone, Debug)]
pub struct Batches {
    requests: CumulativeSamples<RequestSample>,
    drive: CumulativeSamples<DriveSample>,
    /// Time of the next request mark (sample of the request counts). A completion at or after this time belongs to a later batch.
    pub next_request_sample: Time,
}

impl Default for Batches {
    fn default() -> Self {
        Batches::from_origin(Time::ZERO, RequestSample::default(), DriveSample::default())
    }
}

impl Batches {
    fn from_origin(origin: Time, requests: RequestSample, drive: DriveSample) -> Batches {
        Batches {
            requests: CumulativeSamples::new(origin, requests, FIRST_SPACING),
            drive: CumulativeSamples::new(origin, drive, FIRST_SPACING),
            next_request_sample: origin + FIRST_SPACING,
        }
    }

    /// Drops all marks (samples of cumulative counts), and begins new series at the start of the measured window. The new series start from
    /// the given counts and levels, at the time of `counts`.
    pub fn restart(&mut self, streams: &[StreamMeasures], counts: &DriveCounts, levels: FillLevels) {
        let drive = DriveSample { counts: counts.clone(), levels };
        *self = Batches::from_origin(counts.span, RequestSample::new(streams), drive);
    }

    /// Records the request marks (samples of the request counts) that are due by `now`, with the counts of the requests that completed before `now`.
    #[cold]
    #[inline(never)]
    pub fn sample_requests(&mut self, now: Time, streams: &[StreamMeasures]) {
        while self.requests.next() <= now {
            self.requests.push(RequestSample::new(streams));
        }
        self.next_request_sample = self.requests.next();
    }

    /// Returns the time of the next drive mark (sample of the drive's counts and fill levels). [`Batches::sample_drive`] must be called before any
    /// event at that time.
    pub fn due(&self) -> Time {
        self.drive.next()
    }

    /// Records the drive mark due at [`Batches::due`]: the counts and levels of the drive at that time.
    pub fn sample_drive(&mut self, counts: &DriveCounts, levels: FillLevels) {
        self.drive.push(DriveSample { counts: counts.clone(), levels });
    }

    /// Merges batches until a batch has at least [`BATCH_REQUESTS_MIN`] requests on average: of the stream at the index `stream`, or of all
    /// streams if `None`. Returns the marks (samples of cumulative counts) that end the merged batches.
    pub fn merged(&self, stream: Option<usize>) -> Batches {
        let mut merged = self.clone();
        let requests = self.count(stream);
        while requests < BATCH_REQUESTS_MIN * merged.requests.values.len() as u64 {
            merged.requests.double_spacing();
            merged.drive.double_spacing();
        }
        merged
    }

    /// Returns the number of requests that completed between the origin and the last mark, of one stream or of all streams (`None`).
    pub fn count(&self, stream: Option<usize>) -> u64 {
        let count = |mark: &RequestSample| mark.stream_counts(stream).sums(&MeasuredKind::ALL).0;
        count(self.requests.batch_start(self.requests.values.len())) - count(&self.requests.at_origin)
    }

    /// Returns whether the marks (samples of cumulative counts) count each stream separately; false with one stream, and with more than
    /// [`STREAMS_MAX`].
    pub fn has_streams(&self) -> bool {
        self.requests.values.iter().any(|mark| !mark.streams.is_empty())
    }

    pub fn requests(&self) -> &CumulativeSamples<RequestSample> {
        &self.requests
    }

    pub fn drive(&self) -> &CumulativeSamples<DriveSample> {
        &self.drive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_lie_at_multiples_of_a_spacing_that_doubles() {
        let mut marks = CumulativeSamples::new(Time::from_ns(7), Time::ZERO, Time::from_ns(3));
        for _ in 0..1_000 {
            let at = marks.next();
            marks.push(at);
            assert!(marks.values.len() < MARKS_MAX);
            assert!(marks.values.iter().enumerate().all(|(index, &at)| at == marks.time(index)));
        }
        assert!(marks.values.len() >= MARKS_MAX / 2);
    }
}
