//! Segments: counts of consecutive requests. If there are too many segments, neighbours are merged in pairs.

use std::collections::BTreeMap;

use super::fitted_profile::{Counts, Segment};

pub(super) const SEGMENT_REQUESTS_MIN: u64 = 32;
/// The maximum number of requests of a segment. Generation draws a whole segment at once.
pub(super) const SEGMENT_REQUESTS_MAX: u64 = 1 << 22;
pub(super) const SEGMENTS_MAX: usize = 512;

/// The counts of one segment of the trace.
#[derive(Clone, Debug, Default)]
pub(super) struct SegmentCounts {
    duration_ps: u64,
    requests: u64,
    fresh_pages: u64,
    /// The number of requests by key of the operation (kind and size octave), of the gap (class of interarrival times), and of the target
    /// (locality class).
    counts: [BTreeMap<u32, u64>; 3],
}

impl SegmentCounts {
    fn absorb(&mut self, other: SegmentCounts) {
        self.duration_ps += other.duration_ps;
        self.requests += other.requests;
        self.fresh_pages += other.fresh_pages;
        for (counts, others) in self.counts.iter_mut().zip(other.counts) {
            others.into_iter().for_each(|(key, count)| *counts.entry(key).or_default() += count);
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Segments {
    segment_requests: u64,
    segments: Vec<SegmentCounts>,
}

impl Default for Segments {
    fn default() -> Segments {
        Segments { segment_requests: SEGMENT_REQUESTS_MIN, segments: Vec::new() }
    }
}

impl Segments {
    /// Counts a request: its interarrival time `gap_ps`, the number of its fresh (untouched) pages, and the keys of its operation (kind and size
    /// octave), gap (class of interarrival times) and target (locality class).
    pub(super) fn add(&mut self, gap_ps: u64, fresh_pages: u64, keys: [u32; 3]) {
        if self.segments.last().is_none_or(|segment| segment.requests == self.segment_requests) {
            if self.segments.len() == SEGMENTS_MAX {
                self.merge();
            }
            self.segments.push(SegmentCounts::default());
        }
        let Some(segment) = self.segments.last_mut() else { return };
        segment.duration_ps += gap_ps;
        segment.requests += 1;
        segment.fresh_pages += fresh_pages;
        for (counts, key) in segment.counts.iter_mut().zip(keys) {
            *counts.entry(key).or_default() += 1;
        }
    }

    pub(super) fn is_merged(&self) -> bool {
        self.segments.len() <= 1
    }

    /// Returns whether no segment exceeds [`SEGMENT_REQUESTS_MAX`], so that generation can draw each at once.
    pub(super) fn can_be_drawn(&self) -> bool {
        self.segment_requests <= SEGMENT_REQUESTS_MAX
    }

    pub(super) fn merge(&mut self) {
        self.segment_requests *= 2;
        let mut merged: Vec<SegmentCounts> = Vec::new();
        for (index, segment) in std::mem::take(&mut self.segments).into_iter().enumerate() {
            match merged.last_mut() {
                Some(last) if index % 2 == 1 => last.absorb(segment),
                _ => merged.push(segment),
            }
        }
        self.segments = merged;
    }

    /// Returns the segments, with the keys of operations, gaps (classes of interarrival times) and targets (locality classes) replaced by their
    /// indices in the sorted lists `keys`.
    pub(super) fn finish(&self, keys: [&[u32]; 3]) -> Vec<Segment> {
        let (mut end_ps, mut end_ns) = (0, 0);
        let finish = |segment: &SegmentCounts| {
            // Durations are rounded down to four significant digits. The remainder is added to the next segment.
            end_ps += segment.duration_ps;
            let duration_ns = rounded((end_ps / 1000).saturating_sub(end_ns));
            end_ns += duration_ns;
            let counts = |part: usize| -> Counts {
                let counts = &segment.counts[part];
                counts.iter().map(|(key, &count)| (position(keys[part], *key), count)).collect()
            };
            Segment { duration_ns, fresh_pages: segment.fresh_pages, counts: [0, 1, 2].map(counts) }
        };
        self.segments.iter().map(finish).collect()
    }
}

/// Returns the index of `key` in the sorted list `keys`; 0 if it is absent.
pub(super) fn position(keys: &[u32], key: u32) -> u32 {
    keys.binary_search(&key).unwrap_or_default() as u32
}

fn rounded(number: u64) -> u64 {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(3));
    number / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_grow_with_the_trace_and_lose_no_request() {
        for requests in [1, 32, 33, 16_384, 16_385, 100_000_u64] {
            let mut segments = Segments::default();
            (0..requests).for_each(|index| segments.add(1_000_000 + index, 2, [index as u32 % 3, 0, 7]));
            let finished = segments.finish([&[0, 1, 2], &[0], &[5, 7]]);
            assert!(finished.len() <= SEGMENTS_MAX, "{} segments", finished.len());
            let total = |part: usize| {
                finished.iter().flat_map(|segment| &segment.counts[part]).map(|(_, count)| count).sum::<u64>()
            };
            assert_eq!([total(0), total(1), total(2)], [requests; 3]);
            assert_eq!(finished.iter().map(|segment| segment.fresh_pages).sum::<u64>(), 2 * requests);
            assert!(finished.iter().all(|segment| segment.counts[2][0].0 == 1), "positions stand for keys");
            let duration_ps: u64 = finished.iter().map(|segment| segment.duration_ns * 1000).sum();
            let expected_ps = (0..requests).map(|index| 1_000_000 + index).sum::<u64>();
            assert!(expected_ps.abs_diff(duration_ps) <= expected_ps / 1000, "{duration_ps} of {expected_ps} ps");
        }
    }
}
