//! What is counted of the requests of one stream.

use super::breakdown::Breakdown;
use super::latency::Latencies;
use super::report::{BreakdownReport, DistributionReport, LatencyReport};
use crate::host::status::Status;
use crate::schedule::account::LatencyBreakdown;
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

#[derive(Clone, Debug, Default)]
pub struct StreamMeasures {
    completed: u64,
    last_completion: Time,
    read_bytes: Bytes,
    written_bytes: Bytes,
    reads: Latencies,
    writes: Latencies,
    flushes: Latencies,
    /// Requests without data, and refused ones.
    others: Latencies,
    breakdown: Breakdown,
}

pub struct StreamFigures {
    pub iops: f64,
    pub bandwidth_bytes_per_s: f64,
    pub latency_ps: LatencyReport,
    pub breakdown_ps: BreakdownReport,
}

impl StreamMeasures {
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
        self.completed += 1;
        self.last_completion = now;
        self.breakdown.record(latency, firmware, spent);
        match io.kind {
            _ if status != Status::Success => self.others.record(latency),
            RequestKind::Read => {
                self.reads.record(latency);
                self.read_bytes += io.size;
            }
            RequestKind::Write => {
                self.writes.record(latency);
                self.written_bytes += io.size;
            }
            RequestKind::Flush => self.flushes.record(latency),
            RequestKind::Deallocate | RequestKind::WriteZeroes => self.others.record(latency),
        }
    }

    pub fn add(&mut self, other: &StreamMeasures) {
        self.completed += other.completed;
        self.last_completion = self.last_completion.later(other.last_completion);
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.reads.add(&other.reads);
        self.writes.add(&other.writes);
        self.flushes.add(&other.flushes);
        self.others.add(&other.others);
        self.breakdown.add(&other.breakdown);
    }

    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Bytes that successful requests read.
    pub fn read_bytes(&self) -> Bytes {
        self.read_bytes
    }

    /// Bytes that successful requests wrote.
    pub fn written_bytes(&self) -> Bytes {
        self.written_bytes
    }

    pub fn last_completion(&self) -> Time {
        self.last_completion
    }

    pub fn distribution(&self) -> DistributionReport {
        DistributionReport {
            all: self.together().distribution(),
            read: self.reads.distribution(),
            write: self.writes.distribution(),
        }
    }

    fn together(&self) -> Latencies {
        let mut all = Latencies::default();
        for kind in [&self.reads, &self.writes, &self.flushes, &self.others] {
            all.add(kind);
        }
        all
    }

    /// The figures of a stream that ran for `end`.
    pub fn figures(&self, end: Time) -> StreamFigures {
        let per_second = |count: f64| if end == Time::ZERO { 0.0 } else { count / end.as_secs_f64() };
        let all = self.together();
        StreamFigures {
            iops: per_second(self.completed as f64),
            bandwidth_bytes_per_s: per_second((self.read_bytes + self.written_bytes).as_u64() as f64),
            latency_ps: LatencyReport {
                all: all.summary(),
                read: self.reads.summary(),
                write: self.writes.summary(),
                flush: self.flushes.summary(),
            },
            breakdown_ps: BreakdownReport {
                mean: self.breakdown.mean(Time::ZERO),
                tail: self.breakdown.mean(all.quantile(0.99)),
            },
        }
    }
}
