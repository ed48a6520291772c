//! How many requests arrive when, in equal segments, without knowing beforehand how long the trace is.

use super::classes::distance_class;
use crate::workload::{IoRequest, RequestKind};

/// Segments at most.
pub(super) const SEGMENTS_MAX: usize = 4096;
/// Requests that a segment has in the mean, at least.
const REQUESTS_MIN: u64 = 4;

/// Arrivals counted in segments that grow with the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segments {
    /// The length of a segment, in picoseconds.
    pub(super) width_ps: u64,
    /// What arrives in each segment.
    pub(super) parts: Vec<Part>,
}

/// What arrives in a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) requests: u64,
    reads: u64,
    sectors: u64,
}

impl Part {
    fn of(request: &IoRequest) -> Part {
        let reads = u64::from(request.kind == RequestKind::Read);
        Part { requests: 1, reads, sectors: request.size.as_u64() / 512 }
    }

    fn and(self, other: Part) -> Part {
        Part {
            requests: self.requests + other.requests,
            reads: self.reads + other.reads,
            sectors: self.sectors.saturating_add(other.sectors),
        }
    }

    /// A number for segments of like requests: three for each half octave of the mean size, by the share of reads.
    pub(super) fn mix(self) -> u32 {
        let requests = self.requests.max(1);
        let reads = u32::from(self.reads * 4 > requests) + u32::from(self.reads * 4 > 3 * requests);
        3 * distance_class(self.sectors / requests) + reads
    }
}

impl Default for Segments {
    fn default() -> Segments {
        Segments { width_ps: 1 << 20, parts: Vec::new() }
    }
}

impl Segments {
    #[inline]
    pub(super) fn add(&mut self, request: &IoRequest) {
        let arrival_ps = request.arrival.as_ps();
        while arrival_ps / self.width_ps >= SEGMENTS_MAX as u64 {
            self.halve();
        }
        let index = (arrival_ps / self.width_ps) as usize;
        if index >= self.parts.len() {
            self.parts.resize(index + 1, Part::default());
        }
        self.parts[index] = self.parts[index].and(Part::of(request));
    }

    /// Makes segments so long that they hold enough of `requests` in the mean.
    pub(super) fn coarsen(&mut self, requests: u64) {
        while self.parts.len() > 1 && requests / (self.parts.len() as u64) < REQUESTS_MIN {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let sum = |pair: &[Part]| pair.iter().copied().fold(Part::default(), Part::and);
        self.parts = self.parts.chunks(2).map(sum).collect();
        self.width_ps *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Bytes, Time};

    fn at(arrival_ps: u64) -> IoRequest {
        let (kind, size) = (RequestKind::Read, Bytes::new(4096));
        IoRequest { arrival: Time::from_ps(arrival_ps), kind, offset: Bytes::ZERO, size, stream: 0 }
    }

    #[test]
    fn segments_grow_with_the_trace_and_lose_no_request() {
        let mut segments = Segments::default();
        let arrivals: Vec<u64> = (0..50_000_u64).map(|index| index * index * 1000).collect();
        arrivals.iter().for_each(|&arrival| segments.add(&at(arrival)));
        segments.coarsen(arrivals.len() as u64);
        assert!(segments.parts.len() <= SEGMENTS_MAX && segments.parts.len() > SEGMENTS_MAX / 2);
        for (index, part) in (0..).zip(&segments.parts).step_by(97) {
            let naive = arrivals.iter().filter(|&&arrival| arrival / segments.width_ps == index).count();
            assert_eq!(part.requests, naive as u64, "segment {index}");
        }
        assert_eq!(segments.parts.iter().map(|part| part.requests).sum::<u64>(), 50_000);
    }

    #[test]
    fn a_short_trace_has_few_segments() {
        let mut segments = Segments::default();
        (0..100).for_each(|index| segments.add(&at(index << 30)));
        segments.coarsen(100);
        assert_eq!(segments.parts.iter().map(|part| part.requests).sum::<u64>(), 100);
        assert!(segments.parts.len() <= 25);
    }

    #[test]
    fn segments_of_like_requests_have_one_mix() {
        let part = |requests, reads, sectors| Part { requests, reads, sectors };
        assert_eq!(part(10, 10, 80).mix(), part(1000, 900, 8000).mix());
        assert_ne!(part(10, 10, 80).mix(), part(10, 0, 80).mix());
        assert_ne!(part(10, 10, 80).mix(), part(10, 10, 160).mix());
        assert_eq!(part(0, 0, 0).mix(), part(0, 0, 0).mix());
    }
}
