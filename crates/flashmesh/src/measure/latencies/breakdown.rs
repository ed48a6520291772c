//! Breakdown of the latency of requests into parts: means over all requests, and over the tail.
//!
//! The latency of a request is the sum of the parts of its critical path (the transaction that finished last), the time of the controller's cores,
//! and host time. Host time is the remainder: waiting in the host's queue, and transfer over the link in both directions.
//!
//! The tail comprises the requests at and above the 99th percentile. The parts are summed for each latency bucket (1/16 of a power of two), so that
//! the tail is computed after the run in constant memory.

use std::ops::Range;

use crate::quantities;
use crate::schedule::latency_account::LatencyBreakdown;
use crate::units::Time;

/// Number of latency buckets in each power of two of the latency.
const STEPS: u32 = 16;
const BUCKETS: usize = 64 * STEPS as usize;
/// Number of latency parts that nearly every request has: host, die wait, behind collection, path wait, array, transfer.
const COMMON_PARTS: usize = 6;
/// Number of latency parts that are zero in most drives: firmware, cache, map wait.
const RARE_PARTS: usize = 3;
/// Number of parts of a latency.
pub const PARTS: usize = COMMON_PARTS + RARE_PARTS;

/// Request count and sums of the common parts of one latency bucket. Fits one cache line, because every request updates a bucket.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Bucket {
    count: u64,
    /// Sum of each common latency part (host, die wait, ...) in picoseconds, modulo 2^64. `Breakdown::carried` counts the overflows.
    often_ps: [u64; COMMON_PARTS],
}

#[derive(Clone, Debug, Default)]
pub struct Breakdown {
    /// Count and sums of each bucket, indexed by [`bucket_of`]. Empty until a request is recorded.
    buckets: Vec<Bucket>,
    /// Indices of the buckets that may hold requests.
    used: Range<usize>,
    /// For each bucket, the number of times that the sum of each common latency part (host, die wait, ...) passed 2^64. Empty until the first
    /// overflow.
    carried: Vec<[u64; COMMON_PARTS]>,
    /// For each bucket, the sum of each rare latency part (firmware, cache, map wait) in picoseconds. Empty until a request has a rare part.
    seldom_ps: Vec<[u128; RARE_PARTS]>,
}

/// Sums over the requests of a [`Breakdown`], and their number in each latency bucket.
#[derive(Clone, Debug, Default)]
pub struct BreakdownSums {
    pub count: u64,
    /// Sums of each part of the latency in picoseconds, in the order of the fields of [`BreakdownSummary`].
    pub parts_ps: [u128; PARTS],
    /// Number of requests in each latency bucket, indexed from the shortest latency up to the last bucket in use.
    pub buckets: Vec<u64>,
}

impl BreakdownSums {
    /// Sums of a breakdown without requests, all zero.
    pub const NONE: BreakdownSums = BreakdownSums { count: 0, parts_ps: [0; PARTS], buckets: Vec::new() };

    /// Adds the counts and sums of `other`.
    pub fn add(&mut self, other: &BreakdownSums) {
        self.count += other.count;
        self.parts_ps.iter_mut().zip(other.parts_ps).for_each(|(sum, part)| *sum += part);
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(count, further)| *count += further);
    }

    /// Returns the mean of each part of the latency; `None` without requests.
    pub fn mean(&self) -> Option<BreakdownSummary> {
        let mean = |sum: u128| sum as f64 / self.count as f64;
        (self.count > 0).then(|| BreakdownSummary::new(self.count, self.parts_ps.map(mean)))
    }

    /// Returns the sums over the requests that were recorded after the sums `earlier` of the same breakdown.
    pub fn since(&self, earlier: &BreakdownSums) -> BreakdownSums {
        let before = earlier.buckets.iter().copied().chain(std::iter::repeat(0));
        BreakdownSums {
            count: self.count - earlier.count,
            parts_ps: std::array::from_fn(|part| self.parts_ps[part] - earlier.parts_ps[part]),
            buckets: self.buckets.iter().zip(before).map(|(count, before)| count - before).collect(),
        }
    }
}

/// Request count, and sums of all latency parts in picoseconds, over one or more buckets.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u64,
    often_ps: [u128; COMMON_PARTS],
    seldom_ps: [u128; RARE_PARTS],
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.count += other.count;
        let (sums, further) =
            (self.often_ps.iter_mut().chain(&mut self.seldom_ps), other.often_ps.iter().chain(&other.seldom_ps));
        sums.zip(further).for_each(|(sum, part)| *sum += part);
    }

    /// Returns the sum of each latency part in picoseconds, in the order of the fields of [`BreakdownSummary`].
    fn parts(&self) -> [u128; PARTS] {
        let [host, die_wait, behind_gc, path_wait, array, transfer] = self.often_ps;
        let [firmware, cache, map_wait] = self.seldom_ps;
        [host, firmware, cache, map_wait, die_wait, behind_gc, path_wait, array, transfer]
    }
}

/// Returns the index of the bucket of a latency: each power of two of the latency is divided into 16 buckets.
pub(super) fn bucket_of(latency: Time) -> usize {
    let ps = latency.as_ps().max(u64::from(STEPS));
    let power = ps.ilog2();
    let step = (ps >> (power - STEPS.ilog2())) as u32 & (STEPS - 1);
    (power * STEPS + step) as usize
}

impl Breakdown {
    #[inline(always)]
    pub fn record(&mut self, latency: Time, firmware: Time, spent: &LatencyBreakdown) {
        let host = latency - firmware - spent.total();
        let LatencyBreakdown { cache, map_wait, die_wait, behind_gc, path_wait, array, transfer } = *spent;
        let number = bucket_of(latency);
        if self.buckets.get(number).is_none_or(|bucket| bucket.count == 0) {
            self.begin_bucket(number);
        }
        let bucket = &mut self.buckets[number];
        bucket.count += 1;
        let mut carries = false;
        let often = [host, die_wait, behind_gc, path_wait, array, transfer];
        for (sum, part) in bucket.often_ps.iter_mut().zip(often) {
            let carried;
            (*sum, carried) = sum.overflowing_add(part.as_ps());
            carries |= carried;
        }
        if carries {
            self.carry(number, often);
        }
        if firmware + cache + map_wait > Time::ZERO {
            self.record_seldom(number, [firmware, cache, map_wait]);
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_bucket(&mut self, number: usize) {
        if self.buckets.is_empty() {
            self.buckets = vec![Bucket::default(); BUCKETS];
            self.used = number..number;
        }
        self.used = self.used.start.min(number)..self.used.end.max(number + 1);
    }

    /// Adds the counts and sums of all buckets to `tally`.
    pub fn add_to(&self, tally: &mut BreakdownSums) {
        if self.used.is_empty() {
            return;
        }
        if tally.buckets.len() < self.used.end {
            tally.buckets.resize(self.used.end, 0);
        }
        let mut total = Sums::default();
        for number in self.used.clone().filter(|&number| self.buckets[number].count > 0) {
            let sums = self.sums(number);
            tally.buckets[number] += sums.count;
            total.add(&sums);
        }
        tally.count += total.count;
        tally.parts_ps.iter_mut().zip(total.parts()).for_each(|(sum, part)| *sum += part);
    }

    /// Counts an overflow for each sum of bucket `number` that passed 2^64 when `parts` were added.
    #[cold]
    #[inline(never)]
    fn carry(&mut self, number: usize, parts: [Time; COMMON_PARTS]) {
        self.carried.resize(BUCKETS, [0; COMMON_PARTS]);
        let sums = self.buckets[number].often_ps;
        for ((carried, sum), part) in self.carried[number].iter_mut().zip(sums).zip(parts) {
            *carried += u64::from(sum < part.as_ps());
        }
    }

    #[inline(never)]
    fn record_seldom(&mut self, number: usize, parts: [Time; RARE_PARTS]) {
        self.seldom_ps.resize(BUCKETS, [0; RARE_PARTS]);
        for (sum, part) in self.seldom_ps[number].iter_mut().zip(parts) {
            *sum += u128::from(part.as_ps());
        }
    }

    fn sums(&self, number: usize) -> Sums {
        let Bucket { count, often_ps } = self.buckets[number];
        let carried = self.carried.get(number).copied().unwrap_or_default();
        Sums {
            count,
            often_ps: std::array::from_fn(|part| u128::from(carried[part]) << u64::BITS | u128::from(often_ps[part])),
            seldom_ps: self.seldom_ps.get(number).copied().unwrap_or_default(),
        }
    }

    pub fn add(&mut self, other: &Breakdown) {
        if other.buckets.is_empty() {
            return;
        }
        if self.buckets.is_empty() {
            *self = other.clone();
            return;
        }
        self.used = self.used.start.min(other.used.start)..self.used.end.max(other.used.end);
        for number in other.used.clone().filter(|&number| other.buckets[number].count > 0) {
            let mut sums = self.sums(number);
            sums.add(&other.sums(number));
            self.buckets[number] = Bucket { count: sums.count, often_ps: sums.often_ps.map(|sum| sum as u64) };
            let carried = sums.often_ps.map(|sum| (sum >> u64::BITS) as u64);
            if carried != [0; COMMON_PARTS] {
                self.carried.resize(BUCKETS, [0; COMMON_PARTS]);
                self.carried[number] = carried;
            }
            if sums.seldom_ps != [0; RARE_PARTS] {
                self.seldom_ps.resize(BUCKETS, [0; RARE_PARTS]);
                self.seldom_ps[number] = sums.seldom_ps;
            }
        }
    }

    /// Returns the mean breakdown of the requests in the bucket of the latency `from` and in the buckets above it; `None` without such requests.
    pub fn mean(&self, from: Time) -> Option<BreakdownSummary> {
        let mut total = Sums::default();
        for number in bucket_of(from).max(self.used.start)..self.used.end {
            total.add(&self.sums(number));
        }
        if total.count == 0 {
            return None;
        }
        let mean = |sum: u128| sum as f64 / total.count as f64;
        Some(BreakdownSummary::new(total.count, total.parts().map(mean)))
    }
}

impl BreakdownSummary {
    /// Returns the summary of `count` requests. `parts` are the mean parts of their latencies in picoseconds, in the order of the fields.
    fn new(count: u64, parts: [f64; PARTS]) -> BreakdownSummary {
        let [host, firmware, cache, map_wait, die_wait, behind_gc, path_wait, array, transfer] = parts;
        BreakdownSummary { count, host, firmware, cache, map_wait, die_wait, behind_gc, path_wait, array, transfer }
    }
}

quantities! {
    /// Mean parts of the latency of a set of requests. They add up to the mean latency.
    BreakdownSummary as "Breakdown" {
        /// Number of requests over which the means are taken.
        count: u64, in "requests";
        /// Time in the queue of the host and on its link.
        host: f64, in "ps";
        /// Time of the controller's cores (`[firmware]`): waiting for a core, and its work.
        firmware: f64, in "ps";
        /// Time in the device cache: DRAM access, queueing for the DRAM, and waiting for space. The whole time of a flush.
        cache: f64, in "ps";
        /// Time waiting for a map entry: for the read of its translation page, or for space in the mapping cache.
        map_wait: f64, in "ps";
        /// Time waiting for the die while it worked for other requests. On a drive without a device cache, the whole time of a flush.
        die_wait: f64, in "ps";
        /// Time waiting for the die while it worked for GC or wear levelling.
        behind_gc: f64, in "ps";
        /// Time waiting for a path to the chip while die and data were ready.
        path_wait: f64, in "ps";
        /// Time of array work: reads, programs, suspensions.
        array: f64, in "ps";
        /// Time of command, address and data transfer over the path.
        transfer: f64, in "ps";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(array_ns: u64, path_ns: u64) -> LatencyBreakdown {
        LatencyBreakdown {
            array: Time::from_ns(array_ns),
            path_wait: Time::from_ns(path_ns),
            ..LatencyBreakdown::default()
        }
    }

    #[test]
    fn the_parts_add_up_to_the_mean_latency_and_the_rest_is_the_hosts() {
        let mut breakdown = Breakdown::default();
        breakdown.record(Time::from_ns(100), Time::ZERO, &spent(60, 10));
        breakdown.record(Time::from_ns(300), Time::ZERO, &spent(60, 200));
        let mean = breakdown.mean(Time::ZERO).expect("two requests were recorded");
        assert_eq!((mean.count, mean.host, mean.array, mean.path_wait), (2, 35_000.0, 60_000.0, 105_000.0));
    }

    #[test]
    fn the_tail_leaves_out_faster_requests() {
        let mut breakdown = Breakdown::default();
        for _ in 0..99 {
            breakdown.record(Time::from_ns(100), Time::ZERO, &spent(100, 0));
        }
        breakdown.record(Time::from_us(50), Time::ZERO, &spent(100, 49_900));
        let tail = breakdown.mean(Time::from_us(50)).expect("one request was recorded");
        assert_eq!((tail.count, tail.path_wait), (1, 49_900_000.0));
    }
    #[test]
    fn sums_beyond_a_word_and_parts_of_few_requests_are_added_up() {
        let long = Time::from_ps(u64::MAX / 3);
        let spent = LatencyBreakdown { array: long, cache: Time::from_ns(6), ..LatencyBreakdown::default() };
        let mut all = Breakdown::default();
        for _ in 0..3 {
            let mut some = Breakdown::default();
            for _ in 0..4 {
                some.record(long + Time::from_ns(9), Time::from_ns(3), &spent);
            }
            some.record(long + Time::from_ns(9), Time::ZERO, &LatencyBreakdown { cache: Time::ZERO, ..spent });
            all.add(&some);
        }
        let mean = all.mean(Time::ZERO).expect("fifteen requests were recorded");
        assert_eq!((mean.count, mean.array), (15, (u64::MAX / 3) as f64));
        assert_eq!((mean.firmware, mean.cache, mean.host), (2_400.0, 4_800.0, 1_800.0));
    }
}
