//! Counts of the requests of one stream.

use super::latencies::breakdown::{Breakdown, BreakdownSums};
use super::latencies::latency::LatencyHistogram;
use super::report::{BreakdownParts, BreakdownReport, DistributionReport, LatencyReport};
use crate::host::status::Status;
use crate::schedule::latency_account::LatencyBreakdown;
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

/// Latencies of one kind of request, with their breakdown.
#[derive(Clone, Debug, Default)]
pub(super) struct KindMeasures {
    pub latencies: LatencyHistogram,
    pub breakdown: Breakdown,
}

impl KindMeasures {
    fn add(&mut self, other: &KindMeasures) {
        self.latencies.add(&other.latencies);
        self.breakdown.add(&other.breakdown);
    }

    /// Adds the number of requests and the sums of their latency parts to `tally`.
    pub fn add_to(&self, tally: &mut BreakdownSums) {
        self.breakdown.add_to(tally);
    }

    fn parts(&self) -> BreakdownParts {
        BreakdownParts {
            mean: self.breakdown.mean(Time::ZERO),
            tail: self.breakdown.mean(self.latencies.quantile(0.99)),
        }
    }
}

/// Kinds of requests that are measured separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuredKind {
    Read,
    Write,
    Flush,
    /// Deallocations, write zeroes, and rejected requests.
    Other,
}

impl MeasuredKind {
    pub const ALL: [MeasuredKind; 4] =
        [MeasuredKind::Read, MeasuredKind::Write, MeasuredKind::Flush, MeasuredKind::Other];

    #[inline(always)]
    fn of(io: &IoRequest, status: Status) -> MeasuredKind {
        match io.kind {
            _ if status != Status::Success => MeasuredKind::Other,
            RequestKind::Read => MeasuredKind::Read,
            RequestKind::Write => MeasuredKind::Write,
            RequestKind::Flush => MeasuredKind::Flush,
            RequestKind::Deallocate | RequestKind::WriteZeroes => MeasuredKind::Other,
        }
    }
}

/// Counts, latencies and breakdowns of one stream.
#[derive(Clone, Debug, Default)]
pub struct StreamMeasures {
    completed: u64,
    last_completion: Time,
    read_bytes: Bytes,
    written_bytes: Bytes,
    kinds: [KindMeasures; MeasuredKind::ALL.len()],
    ramp: Option<Box<Ramp>>,
}

/// Initial period of a stream (`replay.ramp-time`), measured apart from the rest.
#[derive(Clone, Debug)]
struct Ramp {
    /// Time from which completions count in the results of the stream.
    until: Time,
    measures: StreamMeasures,
}

pub struct StreamMetrics {
    pub iops: f64,
    pub bandwidth_bytes_per_s: f64,
    pub latency_ps: LatencyReport,
    pub breakdown_ps: BreakdownReport,
}

impl StreamMeasures {
    /// Measures the requests that complete before `until` separately.
    pub fn set_ramp(&mut self, until: Time) {
        self.ramp = Some(Box::new(Ramp { until, measures: StreamMeasures::default() }));
    }

    #[inline(always)]
    pub fn record(
        &mut self,
        io: &IoRequest,
        status: Status,
        now: Time,
        latency: Time,
        firmware: Time,
        spent: &LatencyBreakdown,
    ) {
        let counted = match &mut self.ramp {
            Some(ramp) if now < ramp.until => &mut ramp.measures,
            _ => self,
        };
        counted.completed += 1;
        counted.last_completion = now;
        let kind = MeasuredKind::of(io, status);
        let measures = &mut counted.kinds[kind as usize];
        measures.latencies.record(latency);
        measures.breakdown.record(latency, firmware, spent);
        match kind {
            MeasuredKind::Read => counted.read_bytes += io.size,
            MeasuredKind::Write => counted.written_bytes += io.size,
            MeasuredKind::Flush | MeasuredKind::Other => {}
        }
    }

    /// Adds all requests of another stream, including its ramp (`replay.ramp-time`).
    pub fn add_with_ramp(&mut self, other: &StreamMeasures) {
        self.add_counted(other);
        if let Some(ramp) = other.ramp() {
            self.add_counted(ramp);
        }
    }

    /// Returns the requests of the ramp; `None` without a ramp.
    pub fn ramp(&self) -> Option<&StreamMeasures> {
        self.ramp.as_ref().map(|ramp| &ramp.measures)
    }

    /// Returns the time from which completions count in the results of a stream that began at `begun`.
    pub fn counts_from(&self, begun: Time) -> Time {
        self.ramp.as_ref().map_or(begun, |ramp| ramp.until)
    }

    /// Adds the requests of another stream, without its ramp.
    pub fn add_counted(&mut self, other: &StreamMeasures) {
        self.completed += other.completed;
        self.last_completion = self.last_completion.later(other.last_completion);
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.kinds.iter_mut().zip(&other.kinds).for_each(|(kind, further)| kind.add(further));
    }

    pub fn completed(&self) -> u64 {
        self.completed
    }

    pub fn bytes(&self) -> Bytes {
        self.read_bytes + self.written_bytes
    }

    /// Returns the bytes that successful reads of the stream moved.
    pub fn read_bytes(&self) -> Bytes {
        self.read_bytes
    }

    /// Returns the bytes that successful writes of the stream moved.
    pub fn written_bytes(&self) -> Bytes {
        self.written_bytes
    }

    pub fn last_completion(&self) -> Time {
        self.last_completion
    }

    /// Returns the measures of the requests of `kind`.
    pub(super) fn kind(&self, kind: MeasuredKind) -> &KindMeasures {
        &self.kinds[kind as usize]
    }

    /// Returns the latencies of all requests, of reads, and of writes, in this order.
    pub fn latencies(&self) -> [LatencyHistogram; 3] {
        let of = |kind| self.kind(kind).latencies.clone();
        [self.together().latencies, of(MeasuredKind::Read), of(MeasuredKind::Write)]
    }

    pub fn distribution(&self) -> DistributionReport {
        DistributionReport {
            all: self.together().latencies.distribution(),
            read: self.kind(MeasuredKind::Read).latencies.distribution(),
            write: self.kind(MeasuredKind::Write).latencies.distribution(),
        }
    }

    /// Returns the measures of all requests, whatever their kind.
    fn together(&self) -> KindMeasures {
        let mut all = KindMeasures::default();
        self.kinds.iter().for_each(|kind| all.add(kind));
        all
    }

    /// Returns the rates, latencies and breakdowns of a stream that ran for the time `end`.
    pub fn metrics(&self, end: Time) -> StreamMetrics {
        let per_second = |count: f64| if end == Time::ZERO { 0.0 } else { count / end.as_secs_f64() };
        let all = self.together();
        let summary = |kind| self.kind(kind).latencies.summary();
        let BreakdownParts { mean, tail } = all.parts();
        StreamMetrics {
            iops: per_second(self.completed as f64),
            bandwidth_bytes_per_s: per_second((self.read_bytes + self.written_bytes).as_u64() as f64),
            latency_ps: LatencyReport {
                all: all.latencies.summary(),
                read: summary(MeasuredKind::Read),
                write: summary(MeasuredKind::Write),
                flush: summary(MeasuredKind::Flush),
            },
            breakdown_ps: BreakdownReport {
                mean,
                tail,
                read: self.kind(MeasuredKind::Read).parts(),
                write: self.kind(MeasuredKind::Write).parts(),
            },
        }
    }
}
