//! The state of one file of a job: a range of the drive with a position for each direction, and the random map of the current
//! pass.

use super::random_map::RandomMap;

/// The number of directions: reads, writes and deallocations. Arrays over directions are in this order.
pub(super) const DIRECTIONS: usize = 3;

/// The state of a file between requests. Offsets are in bytes from the start of the file.
#[derive(Clone, Debug)]
pub(super) struct JobFile {
    /// The offset of the file on the drive, in bytes.
    pub(super) start: u64,
    /// The end of the last request of each direction since the last [`JobFile::rewind`]; 0 without a request.
    pub(super) next: [u64; DIRECTIONS],
    /// The offset of the last request of each direction since the last [`JobFile::rewind`]; 0 without a request.
    pub(super) last: [u64; DIRECTIONS],
    /// The blocks covered since the map was last reset, as at the start of a pass; `None` without a random map.
    pub(super) map: Option<RandomMap>,
    /// Whether no further request fits in the file until [`JobFile::rewind`].
    pub(super) is_done: bool,
}

/// The distance between sequential requests: the bytes that are skipped, and how often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stride {
    /// The bytes skipped after each request, or after every `after` bytes.
    pub(super) skip: u64,
    /// The number of bytes covered before each skip; 0 for a skip after every request.
    pub(super) after: u64,
    /// Whether the skip goes towards the start of the file.
    pub(super) is_backward: bool,
    /// Whether a position at the end of the file returns to its start.
    pub(super) wraps: bool,
}

impl JobFile {
    pub(super) fn new(start: u64, map: Option<RandomMap>) -> JobFile {
        JobFile { start, next: [0; DIRECTIONS], last: [0; DIRECTIONS], map, is_done: false }
    }

    /// Resets the positions to the start of the file, and marks all blocks of the random map as not covered.
    pub(super) fn rewind(&mut self) {
        self.next = [0; DIRECTIONS];
        self.last = [0; DIRECTIONS];
        self.is_done = false;
        if let Some(map) = &mut self.map {
            map.reset();
        }
    }

    /// Returns the offset of the next sequential request of `direction`. `None` at the end of a file of `length` bytes, unless the stride wraps,
    /// or has both `after` and `skip`.
    pub(super) fn next_offset(&mut self, direction: usize, stride: &Stride, length: u64) -> Option<u64> {
        // With `after`, zones of `after` bytes alternate with skips. A position at the end of the file is then the end of the last zone,
        // and the first zone follows, even if the stride does not wrap.
        if self.next[direction] >= length && (stride.after == 0 || stride.skip == 0) {
            if !stride.wraps {
                return None;
            }
            self.next[direction] = 0;
        }
        let next = self.next[direction];
        if next == 0 || stride.skip == 0 {
            return Some(next);
        }
        if stride.after > 0 {
            let period = stride.after + stride.skip;
            let zone = if next % period < stride.after { next } else { (next / period + 1) * period };
            return Some(if zone >= length { 0 } else { zone });
        }
        if stride.is_backward {
            // A skip below the start of the file continues at its end.
            return next.checked_sub(stride.skip).or_else(|| length.checked_sub(stride.skip));
        }
        let skipped = next.saturating_add(stride.skip);
        Some(if skipped >= length { 0 } else { skipped })
    }

    /// Records a request from `offset` to `end` as the last request of `direction`.
    pub(super) fn record(&mut self, direction: usize, offset: u64, end: u64) {
        self.last[direction] = offset;
        self.next[direction] = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1024;

    fn places(stride: Stride, length: u64, count: usize) -> Vec<Option<u64>> {
        let mut file = JobFile::new(0, None);
        let mut next = || {
            let place = file.next_offset(0, &stride, length)?;
            file.record(0, place, place + 4 * KIB);
            Some(place / KIB)
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn positions_follow_one_another_with_holes_and_backwards() {
        let ahead = Stride { skip: 0, after: 0, is_backward: false, wraps: false };
        assert_eq!(places(ahead, 8 * KIB, 3), [Some(0), Some(4), None]);
        assert_eq!(places(Stride { wraps: true, ..ahead }, 8 * KIB, 3), [Some(0), Some(4), Some(0)]);
        assert_eq!(places(Stride { skip: 8 * KIB, ..ahead }, 32 * KIB, 4), [Some(0), Some(12), Some(24), Some(0)]);
        let back = Stride { skip: 8 * KIB, is_backward: true, ..ahead };
        assert_eq!(places(back, 32 * KIB, 4), [Some(0), Some(24), Some(20), Some(16)]);
        let zones = Stride { skip: 8 * KIB, after: 8 * KIB, ..ahead };
        assert_eq!(places(zones, 32 * KIB, 5), [Some(0), Some(4), Some(16), Some(20), Some(0)]);
        assert_eq!(places(zones, 24 * KIB, 5), [Some(0), Some(4), Some(16), Some(20), Some(0)]);
    }
}
