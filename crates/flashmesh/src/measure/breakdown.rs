//! Where the time of a mean and of a tail request went.
//!
//! A request is broken down along its critical path: the transaction that finished last. The time of cores of the
//! controller is that of the request. What neither accounts for (waiting in the host's queue, the link in both directions) is the host's, so the parts of a request add up
//! to its latency exactly. The tail is the requests at and above the 99th percentile, found afterwards from sums kept per
//! latency bucket (within 1/16 of a power of two), in constant memory.

use crate::quantities;
use crate::schedule::account::LatencyBreakdown;
use crate::units::Time;

/// Buckets per power of two.
const STEPS: u32 = 16;
const BUCKETS: usize = 64 * STEPS as usize;
const PARTS: usize = 9;

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    count: u64,
    parts_ps: [u128; PARTS],
}

#[derive(Clone, Debug)]
pub struct Breakdown {
    buckets: Vec<Bucket>,
}

impl Default for Breakdown {
    fn default() -> Self {
        Breakdown { buckets: vec![Bucket::default(); BUCKETS] }
    }
}

/// The bucket of a latency: its power of two and the next four bits.
#[inline]
fn bucket_of(latency: Time) -> usize {
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
        let parts = [host, firmware, cache, map_wait, die_wait, behind_gc, path_wait, array, transfer];
        let bucket = &mut self.buckets[bucket_of(latency)];
        bucket.count += 1;
        for (sum, part) in bucket.parts_ps.iter_mut().zip(parts) {
            *sum += u128::from(part.as_ps());
        }
    }

    pub fn add(&mut self, other: &Breakdown) {
        for (bucket, further) in self.buckets.iter_mut().zip(&other.buckets).filter(|(_, further)| further.count > 0) {
            bucket.count += further.count;
            for (sum, part) in bucket.parts_ps.iter_mut().zip(further.parts_ps) {
                *sum += part;
            }
        }
    }

    /// Mean breakdown of all requests from the bucket of `from` on.
    pub fn mean(&self, from: Time) -> Option<BreakdownSummary> {
        let mut total = Bucket::default();
        for bucket in self.buckets[bucket_of(from)..].iter().filter(|bucket| bucket.count > 0) {
            total.count += bucket.count;
            for (sum, part) in total.parts_ps.iter_mut().zip(bucket.parts_ps) {
                *sum += part;
            }
        }
        if total.count == 0 {
            return None;
        }
        let [host, firmware, cache, map_wait, die_wait, behind_gc, path_wait, array, transfer] =
            total.parts_ps.map(|sum| sum as f64 / total.count as f64);
        Some(BreakdownSummary {
            count: total.count,
            host,
            firmware,
            cache,
            map_wait,
            die_wait,
            behind_gc,
            path_wait,
            array,
            transfer,
        })
    }
}

quantities! {
    /// Mean parts of the latency of some requests; they add up to their mean latency.
    BreakdownSummary as "Breakdown" {
        /// Requests over which the means are taken.
        count: u64, in "requests";
        /// Time in the queue of the host and on its link.
        host: f64, in "ps";
        /// Time of the cores of the controller (`[firmware]`): waiting for one, and one at work.
        firmware: f64, in "ps";
        /// Time in the device cache: the DRAM at work or busy, and waiting for room.
        cache: f64, in "ps";
        /// Time waiting for an entry of the map: for its translation page to be read, or for room in the cache of the map.
        map_wait: f64, in "ps";
        /// Time waiting for the die while it worked for other requests.
        die_wait: f64, in "ps";
        /// Time waiting for the die while it worked for garbage collection or wear levelling.
        behind_gc: f64, in "ps";
        /// Time waiting for a path to the chip, with die and data ready.
        path_wait: f64, in "ps";
        /// Time of the array at work: read, program, suspension.
        array: f64, in "ps";
        /// Time of command, address and data on the path.
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
        let mean = breakdown.mean(Time::ZERO).expect("two requests");
        assert_eq!((mean.count, mean.host, mean.array, mean.path_wait), (2, 35_000.0, 60_000.0, 105_000.0));
    }

    #[test]
    fn the_tail_leaves_out_faster_requests() {
        let mut breakdown = Breakdown::default();
        for _ in 0..99 {
            breakdown.record(Time::from_ns(100), Time::ZERO, &spent(100, 0));
        }
        breakdown.record(Time::from_us(50), Time::ZERO, &spent(100, 49_900));
        let tail = breakdown.mean(Time::from_us(50)).expect("one request");
        assert_eq!((tail.count, tail.path_wait), (1, 49_900_000.0));
    }
}
