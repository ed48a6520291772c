//! A run as a series of intervals of equal length, in simulated time or in requests. When the number of intervals reaches its maximum, each pair of
//! neighbours is merged.

use super::interval::{DriveCounts, Interval};
use crate::host::status::Status;
use crate::ids::StreamId;
use crate::units::Time;
use crate::workload::IoRequest;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalLength {
    Requests(u64),
    Time(Time),
}

#[derive(Clone, Debug)]
pub struct IntervalSeries {
    pace: IntervalLength,
    /// Number of closed intervals at which each pair of neighbouring intervals is merged. An even number.
    limit: usize,
    closed: Vec<Interval>,
    open: Interval,
    open_requests: u64,
    /// Counts of the drive at the start of the open interval.
    before: DriveCounts,
}

impl IntervalSeries {
    /// Creates a series of at most `limit` intervals (at least two), each with the counts of `streams` streams. `before` has the time and the counts
    /// at the start of the series.
    pub fn new(pace: IntervalLength, limit: usize, streams: usize, before: DriveCounts) -> IntervalSeries {
        let open = Interval::new(before.span, streams);
        IntervalSeries { pace, limit: limit.max(2) & !1, closed: Vec::new(), open, open_requests: 0, before }
    }

    pub fn interval_length(&self) -> IntervalLength {
        self.pace
    }

    pub fn due(&self) -> Time {
        match self.pace {
            IntervalLength::Time(length) => self.open.start() + length,
            IntervalLength::Requests(_) => Time::MAX,
        }
    }

    /// Records a completed request. Returns whether this request fills the open interval; the caller must then call
    /// [`close_interval`](Self::close_interval).
    pub fn record(&mut self, stream: StreamId, io: &IoRequest, status: Status, now: Time, latency: Time) -> bool {
        self.open.record(stream, io, status, now, latency);
        self.open_requests += 1;
        self.is_full()
    }

    pub fn is_full(&self) -> bool {
        matches!(self.pace, IntervalLength::Requests(requests) if self.open_requests >= requests)
    }

    pub fn close_interval(&mut self, counts: &DriveCounts) {
        let next = Interval::new(counts.span, self.open.streams().len());
        let mut ended = std::mem::replace(&mut self.open, next);
        self.open_requests = 0;
        ended.close(counts.span, counts.since(&self.before));
        self.before = counts.clone();
        self.closed.push(ended);
        if self.closed.len() == self.limit {
            self.merge_neighbours();
        }
    }

    /// Merges each pair of neighbouring intervals, and doubles the length of later intervals.
    fn merge_neighbours(&mut self) {
        let mut pairs = std::mem::take(&mut self.closed).into_iter();
        while let (Some(mut first), Some(second)) = (pairs.next(), pairs.next()) {
            first.add(&second);
            self.closed.push(first);
        }
        self.pace = match self.pace {
            IntervalLength::Requests(requests) => IntervalLength::Requests(requests * 2),
            IntervalLength::Time(length) => IntervalLength::Time(length * 2),
        };
    }

    pub fn closed(&self) -> &[Interval] {
        &self.closed
    }

    /// Returns all intervals of a run that ends at `end`, including the open one. `counts` are the counts of the drive at the last event.
    pub fn until(&self, end: Time, counts: &DriveCounts) -> Vec<Interval> {
        let mut intervals = self.closed.clone();
        let mut last = self.open.clone();
        last.close(counts.span, counts.since(&self.before));
        intervals.push(last);
        // The drive may work after the last completion at `end`. Merge an interval that starts at `end` or later into the interval before
        // it.
        while let [.., before, last] = &mut intervals[..]
            && last.start() >= end
        {
            before.add(last);
            intervals.pop();
        }
        if let Some(last) = intervals.last_mut() {
            last.end_at(end.later(last.start()));
        }
        intervals
    }

    #[cfg(test)]
    pub fn bins(&self) -> usize {
        self.closed.iter().chain([&self.open]).map(Interval::bins_in_use).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;
    use crate::workload::RequestKind;

    fn read() -> IoRequest {
        let (offset, size) = (Bytes::ZERO, Bytes::from_kib(4));
        IoRequest { arrival: Time::ZERO, kind: RequestKind::Read, offset, size, stream: 0 }
    }

    /// Returns a series in which a request completes every nanosecond, and its final counts. The latencies have a thousand distinct values.
    fn series(pace: IntervalLength, limit: usize, requests: u64) -> (IntervalSeries, DriveCounts) {
        let mut series = IntervalSeries::new(pace, limit, 1, DriveCounts::default());
        let at = |ns| DriveCounts { span: Time::from_ns(ns), map_lookups: ns, ..DriveCounts::default() };
        for ns in 1..=requests {
            while series.due() <= Time::from_ns(ns) {
                let due = series.due();
                series.close_interval(&DriveCounts { span: due, map_lookups: ns, ..DriveCounts::default() });
            }
            let latency = Time::from_ns(1_000 + ns % 1_000);
            if series.record(StreamId(0), &read(), Status::Success, Time::from_ns(ns), latency) {
                series.close_interval(&at(ns));
            }
        }
        (series, at(requests))
    }

    #[test]
    fn joining_keeps_every_sum_and_the_number_of_intervals_within_its_limit() {
        for limit in [2, 3, 8, 64] {
            for requests in [0, 1, 4, 5, 6, 317, 5_000] {
                for pace in [IntervalLength::Requests(5), IntervalLength::Time(Time::from_ps(1_700))] {
                    let (series, counts) = series(pace, limit, requests);
                    let end = Time::from_ns(requests);
                    let intervals = series.until(end, &counts);
                    assert!(intervals.len() <= limit, "{} of {limit}", intervals.len());
                    assert_eq!(intervals.iter().map(Interval::requests).sum::<u64>(), requests);
                    let latencies: u64 = (1..=requests).map(|ns| (1_000 + ns % 1_000) * 1_000).sum();
                    assert_eq!(intervals.iter().map(Interval::latency_sum_ps).sum::<u128>(), u128::from(latencies));
                    assert_eq!(intervals.iter().map(|interval| interval.counts().map_lookups).sum::<u64>(), requests);
                    assert!(intervals.windows(2).all(|pair| pair[0].end() == pair[1].start()));
                    assert_eq!(intervals.last().map(Interval::end), Some(end));
                }
            }
        }
    }

    #[test]
    fn memory_does_not_grow_with_the_run() {
        let bins = |requests| series(IntervalLength::Requests(5), 64, requests).0.bins();
        // Each of at most 64 intervals has up to a thousand bins, one for each distinct latency. The buffer has up to 4,096 latencies more.
        assert!(bins(20_000) <= 64 * 1_000 + 4_096);
        assert!(bins(500_000) <= 64 * 1_000 + 4_096, "{} bins", bins(500_000));
    }
}
