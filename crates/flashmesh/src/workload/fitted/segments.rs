//! How many requests arrive when, in equal segments, without knowing beforehand how long the trace is.

use std::collections::BTreeMap;

use super::classes::rate_class;

/// Segments at most.
pub(super) const SEGMENTS_MAX: usize = 1024;
/// Requests that a segment has in the mean, at least.
const REQUESTS_MIN: u64 = 8;

/// Arrivals counted in segments that grow with the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segments {
    /// The length of a segment, in picoseconds.
    pub(super) width_ps: u64,
    /// Requests of each segment.
    pub(super) counts: Vec<u64>,
}

impl Default for Segments {
    fn default() -> Segments {
        Segments { width_ps: 1 << 20, counts: Vec::new() }
    }
}

impl Segments {
    #[inline]
    pub(super) fn add(&mut self, arrival_ps: u64) {
        while arrival_ps / self.width_ps >= SEGMENTS_MAX as u64 {
            self.halve();
        }
        let index = (arrival_ps / self.width_ps) as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
    }

    /// Makes segments so long that they hold enough of `requests` in the mean.
    pub(super) fn coarsen(&mut self, requests: u64) {
        while self.counts.len() > 1 && requests / (self.counts.len() as u64) < REQUESTS_MIN {
            self.halve();
        }
    }

    /// How many requests arrive in segments of each class of requests.
    pub(super) fn requests_by_class(&self) -> BTreeMap<u32, u64> {
        let mut classes = BTreeMap::new();
        for &count in self.counts.iter().filter(|&&count| count > 0) {
            *classes.entry(rate_class(count)).or_default() += count;
        }
        classes
    }

    fn halve(&mut self) {
        self.counts = self.counts.chunks(2).map(|pair| pair.iter().sum()).collect();
        self.width_ps *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_grow_with_the_trace_and_lose_no_request() {
        let mut segments = Segments::default();
        let arrivals: Vec<u64> = (0..50_000_u64).map(|index| index * index * 1000).collect();
        arrivals.iter().for_each(|&arrival| segments.add(arrival));
        segments.coarsen(arrivals.len() as u64);
        assert!(segments.counts.len() <= SEGMENTS_MAX && segments.counts.len() > SEGMENTS_MAX / 2);
        for (index, &count) in (0..).zip(&segments.counts) {
            let naive = arrivals.iter().filter(|&&arrival| arrival / segments.width_ps == index).count();
            assert_eq!(count, naive as u64, "segment {index}");
        }
    }

    #[test]
    fn a_short_trace_has_few_segments() {
        let mut segments = Segments::default();
        (0..100).for_each(|index| segments.add(index << 30));
        segments.coarsen(100);
        assert_eq!(segments.counts.iter().sum::<u64>(), 100);
        assert!(segments.counts.len() <= 12);
    }
}
