//! Counts of one interval of a run.
//!
//! Adjacent intervals can be added: the sum has the counts and the percentiles of both.

use crate::host::status::Status;
use crate::ids::StreamId;
use crate::measure::latencies::sparse_histogram::SparseHistogram;
use crate::measure::report::{FlashReport, GcReport, LatencyReport};
use crate::quantities;
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

/// Busy times since the start of the run or in an interval, in picoseconds. Each time is summed over all parts of one kind, such as all links or all
/// dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusyTimes {
    pub link_to_drive: u128,
    pub link_to_host: u128,
    pub links: u128,
    pub dies: u128,
    /// Busy time of dies for GC and wear levelling; part of `dies`.
    pub dies_gc: u128,
    /// Sum of the times that commands spent in host queues. This sum divided by the length of the interval is the mean number of commands
    /// in the queues.
    pub queues: u128,
}

impl BusyTimes {
    fn zip(&self, other: &BusyTimes, combine: fn(u128, u128) -> u128) -> BusyTimes {
        BusyTimes {
            link_to_drive: combine(self.link_to_drive, other.link_to_drive),
            link_to_host: combine(self.link_to_host, other.link_to_host),
            links: combine(self.links, other.links),
            dies: combine(self.dies, other.dies),
            dies_gc: combine(self.dies_gc, other.dies_gc),
            queues: combine(self.queues, other.queues),
        }
    }
}

/// Counts of the drive since the start of the run, or between two samples.
#[derive(Clone, Debug, Default)]
pub struct DriveCounts {
    /// Time of the sample since the start of the run, or time between two samples.
    pub span: Time,
    pub gc: GcReport,
    pub flash: FlashReport,
    pub map_lookups: u64,
    pub map_hits: u64,
    pub busy: BusyTimes,
}

impl DriveCounts {
    pub fn since(&self, earlier: &DriveCounts) -> DriveCounts {
        DriveCounts {
            span: self.span - earlier.span,
            gc: self.gc.zip(&earlier.gc, |later, earlier| later - earlier),
            flash: self.flash.zip(&earlier.flash, |later, earlier| later - earlier),
            map_lookups: self.map_lookups - earlier.map_lookups,
            map_hits: self.map_hits - earlier.map_hits,
            busy: self.busy.zip(&earlier.busy, u128::saturating_sub),
        }
    }

    fn add(&mut self, other: &DriveCounts) {
        *self = DriveCounts {
            span: self.span + other.span,
            gc: self.gc.zip(&other.gc, |one, other| one + other),
            flash: self.flash.zip(&other.flash, |one, other| one + other),
            map_lookups: self.map_lookups + other.map_lookups,
            map_hits: self.map_hits + other.map_hits,
            busy: self.busy.zip(&other.busy, |one, other| one + other),
        };
    }
}

/// Numbers of links and dies of a drive: divisors that turn summed busy time into a mean busy share.
#[derive(Clone, Copy, Debug)]
pub struct PartCounts {
    pub links: usize,
    pub dies: usize,
}

#[derive(Clone, Debug, Default)]
pub struct CompletedRequests {
    bytes: Bytes,
    last_completion: Time,
    reads: SparseHistogram,
    writes: SparseHistogram,
    flushes: SparseHistogram,
    /// Deallocations, write zeroes, and rejected requests.
    others: SparseHistogram,
}

impl CompletedRequests {
    fn kinds(&self) -> [&SparseHistogram; 4] {
        [&self.reads, &self.writes, &self.flushes, &self.others]
    }

    fn kinds_mut(&mut self) -> [&mut SparseHistogram; 4] {
        [&mut self.reads, &mut self.writes, &mut self.flushes, &mut self.others]
    }

    pub fn requests(&self) -> u64 {
        self.kinds().iter().map(|bins| bins.count()).sum()
    }

    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    pub fn last_completion(&self) -> Time {
        self.last_completion
    }

    fn record(&mut self, io: &IoRequest, status: Status, now: Time, latency: Time) {
        self.last_completion = now;
        let bins = match io.kind {
            _ if status != Status::Success => &mut self.others,
            RequestKind::Read => &mut self.reads,
            RequestKind::Write => &mut self.writes,
            RequestKind::Flush => &mut self.flushes,
            RequestKind::Deallocate | RequestKind::WriteZeroes => &mut self.others,
        };
        bins.record(latency);
        if io.kind.moves_data() && status == Status::Success {
            self.bytes += io.size;
        }
    }

    fn add(&mut self, other: &CompletedRequests) {
        self.bytes += other.bytes;
        self.last_completion = self.last_completion.later(other.last_completion);
        for (bins, further) in self.kinds_mut().into_iter().zip(other.kinds()) {
            bins.add(further);
        }
    }

    /// Returns the latencies of all requests, of reads, and of writes, in this order.
    pub fn bins(&self) -> [SparseHistogram; 3] {
        let mut all = SparseHistogram::default();
        self.kinds().iter().for_each(|bins| all.add(bins));
        [all, self.reads.clone(), self.writes.clone()]
    }

    pub fn latency(&self) -> LatencyReport {
        let [read, write, flush, others] = self.kinds().map(SparseHistogram::summary);
        // Often all requests are of one kind. The summary of this kind is then the summary of all requests, so merge the bins only if there are
        // several kinds.
        let is_mixed = self.kinds().iter().filter(|bins| !bins.is_empty()).count() > 1;
        let all = if is_mixed {
            let mut all = SparseHistogram::default();
            self.kinds().iter().for_each(|bins| all.add(bins));
            all.summary()
        } else {
            [&read, &write, &flush, &others].into_iter().find_map(Clone::clone)
        };
        LatencyReport { all, read, write, flush }
    }
}

#[derive(Clone, Debug)]
pub struct Interval {
    start: Time,
    end: Time,
    streams: Vec<CompletedRequests>,
    counts: DriveCounts,
}

impl Interval {
    pub fn new(start: Time, streams: usize) -> Interval {
        Interval {
            start,
            end: start,
            streams: vec![CompletedRequests::default(); streams],
            counts: DriveCounts::default(),
        }
    }

    pub fn record(&mut self, stream: StreamId, io: &IoRequest, status: Status, now: Time, latency: Time) {
        self.streams[stream.index()].record(io, status, now, latency);
    }

    pub fn close(&mut self, end: Time, counts: DriveCounts) {
        self.end = end;
        self.counts = counts;
        for bins in self.streams.iter_mut().flat_map(CompletedRequests::kinds_mut) {
            bins.close();
        }
    }

    pub fn add(&mut self, next: &Interval) {
        self.end = next.end;
        self.counts.add(&next.counts);
        for (stream, further) in self.streams.iter_mut().zip(&next.streams) {
            stream.add(further);
        }
    }

    pub fn end_at(&mut self, end: Time) {
        self.end = end;
    }

    pub fn start(&self) -> Time {
        self.start
    }

    #[cfg(test)]
    pub fn end(&self) -> Time {
        self.end
    }

    pub fn length_ps(&self) -> f64 {
        self.end.saturating_sub(self.start).as_ps() as f64
    }

    pub fn streams(&self) -> &[CompletedRequests] {
        &self.streams
    }

    pub fn counts(&self) -> &DriveCounts {
        &self.counts
    }

    pub fn requests(&self) -> u64 {
        self.streams.iter().map(CompletedRequests::requests).sum()
    }

    pub fn latency_sum_ps(&self) -> u128 {
        self.streams.iter().flat_map(CompletedRequests::kinds).map(SparseHistogram::sum_ps).sum()
    }

    #[cfg(test)]
    pub fn bins_in_use(&self) -> usize {
        self.streams.iter().flat_map(CompletedRequests::kinds).map(SparseHistogram::len).sum()
    }

    /// Returns the completed requests of all streams together.
    pub fn completed(&self) -> CompletedRequests {
        let mut all = CompletedRequests::default();
        self.streams.iter().for_each(|stream| all.add(stream));
        all
    }

    pub fn report(&self, parts: PartCounts) -> IntervalReport {
        let all = self.completed();
        let seconds = self.end.saturating_sub(self.start).as_secs_f64();
        let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        let DriveCounts { span, gc, flash, map_lookups: map_wanted, map_hits: map_found, busy } = &self.counts;
        let over_time = |busy: u128| if *span > Time::ZERO { busy as f64 / span.as_ps() as f64 } else { 0.0 };
        let share = |busy: u128, parts: usize| (over_time(busy) / parts.max(1) as f64).min(1.0);
        IntervalReport {
            start_ps: self.start.as_ps(),
            end_ps: self.end.as_ps(),
            requests: all.requests(),
            iops: per_second(all.requests()),
            bandwidth_bytes_per_s: per_second(all.bytes.as_u64()),
            latency_ps: all.latency(),
            write_amplification: flash.write_amplification(gc),
            gc: gc.clone(),
            flash: flash.clone(),
            mapping_hit_share: (*map_wanted > 0).then(|| *map_found as f64 / *map_wanted as f64),
            occupancy_mean: over_time(busy.queues),
            utilisation: IntervalUtilisation {
                link_to_drive: share(busy.link_to_drive, 1),
                link_to_host: share(busy.link_to_host, 1),
                links_mean: share(busy.links, parts.links),
                dies_mean: share(busy.dies, parts.dies),
                dies_gc_mean: share(busy.dies_gc, parts.dies),
            },
        }
    }
}

quantities! {
    /// Results of an interval of the run. A request belongs to the interval in which it completed, whenever it arrived.
    IntervalReport as "Interval" {
        /// Simulated time at which the interval begins.
        start_ps: u64, in "ps";
        /// Simulated time at which the interval ends.
        end_ps: u64, in "ps";
        /// Number of requests that completed in the interval.
        requests: u64, in "requests";
        /// Completed requests per simulated second of the interval.
        iops: f64, in "1/s";
        /// Bytes that successful requests read and wrote, per simulated second of the interval.
        bandwidth_bytes_per_s: f64, in "B/s";
        /// Completion latencies of the requests of the interval.
        latency_ps: LatencyReport;
        /// Pages programmed in the interval over pages that requests wrote in the interval.
        write_amplification: Option<f64>, in "ratio", null "when requests wrote no page";
        /// Work of GC and wear levelling in the interval.
        gc: GcReport;
        /// Operations of the flash array in the interval.
        flash: FlashReport;
        /// Map entries found in the mapping cache, over entries requested in the interval.
        mapping_hit_share: Option<f64>, in "share", null "when none was wanted, or the whole map is in DRAM";
        /// Mean number of commands in the queues of all streams, over the interval.
        occupancy_mean: f64, in "commands";
        /// Busy shares of the parts of the drive during the interval.
        utilisation: IntervalUtilisation;
    }
}

quantities! {
    /// Busy shares of the parts of the drive during an interval.
    IntervalUtilisation as "IntervalUtilisation" {
        /// Share of time for which the host link sends to the drive.
        link_to_drive: f64, in "share";
        /// Share of time for which the host link sends to the host.
        link_to_host: f64, in "share";
        /// Share of time for which a link of the interconnect is busy; mean over the links.
        links_mean: f64, in "share";
        /// Share of time for which a die is busy; mean over the dies.
        dies_mean: f64, in "share";
        /// Mean share of time that dies spend on GC and wear levelling.
        dies_gc_mean: f64, in "share";
    }
}
