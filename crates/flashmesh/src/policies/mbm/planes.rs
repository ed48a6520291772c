//! Choice of the planes of a die that are written at once: the planes whose write pointers are furthest behind.

use crate::flash::geometry::PLANES_PER_DIE_MAX;
use crate::ids::{DieId, PlaneId};

use super::dispatch::DispatchRound;

/// Returns the write pointer that is furthest behind: the start of the shortest cyclic interval of page offsets that contains all pointers. `None`
/// without pointers.
///
/// Pointers are page offsets in a block of `pages` pages. After the last page comes page 0 of the next block.
pub(super) fn furthest_behind(pointers: &[u32], pages: u32) -> Option<u32> {
    let (first, others) = pointers.split_first()?;
    if others.iter().all(|other| other == first) {
        return Some(*first);
    }
    let way = |from: u32| pointers.iter().map(|&to| (to + pages - from) % pages).max().unwrap_or(0);
    pointers.iter().copied().min_by_key(|&from| (way(from), from))
}

/// Iterator over the planes of a die that are written at once, the planes whose write pointers are furthest behind first.
#[derive(Clone, Copy)]
pub(super) struct PlanesBehind {
    /// Number of the first plane of the die.
    first: u32,
    /// Planes whose write pointers are furthest behind, as a bit mask by index in the die. If all pointers are equal, these are all planes with a
    /// free page.
    pub(super) behind: u32,
    /// Other planes with a free page, as a bit mask by index in the die. The iterator returns these planes last. Empty with WS (the write strategy of
    /// MBM).
    others: u32,
}

impl Iterator for PlanesBehind {
    type Item = PlaneId;

    fn next(&mut self) -> Option<PlaneId> {
        let left = if self.behind != 0 { &mut self.behind } else { &mut self.others };
        if *left == 0 {
            return None;
        }
        let plane = PlaneId(self.first + left.trailing_zeros());
        *left &= *left - 1;
        Some(plane)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.behind.count_ones() + self.others.count_ones()) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for PlanesBehind {}

impl DispatchRound<'_, '_> {
    /// Returns the planes of `die` that are written at once: all planes with a free page, or with WS (the write strategy of MBM) only those of them
    /// whose write pointers are furthest behind. Adds planes without a free page to [`full_planes`](crate::policies::DispatchedWrites::full_planes).
    pub(super) fn planes(&mut self, die: DieId) -> PlanesBehind {
        let geometry = &self.mbm.geometry;
        let first = geometry.first_plane(die).0;
        let (mut offsets, mut pointers) = ([0; PLANES_PER_DIE_MAX], [0; PLANES_PER_DIE_MAX]);
        let mut open = 0;
        for offset in 0..geometry.planes_per_die {
            let plane = PlaneId(first + offset);
            match self.drive.ftl.blocks().next_page_offset(plane, self.drive.ftl.write_block_kind(plane, None)) {
                Some((_, page)) => {
                    (offsets[open], pointers[open]) = (offset, page);
                    open += 1;
                }
                None => self.due.full_planes.push(plane),
            }
        }
        let pointers = &pointers[..open];
        let start = furthest_behind(pointers, geometry.pages_per_block);
        let mut planes = PlanesBehind { first, behind: 0, others: 0 };
        for (offset, page) in offsets.iter().zip(pointers) {
            let set = if start == Some(*page) { &mut planes.behind } else { &mut planes.others };
            *set |= 1 << offset;
        }
        if self.mbm.rules.ws {
            planes.others = 0;
        }
        planes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_that_are_behind_are_written_first() {
        assert_eq!(furthest_behind(&[5, 5], 16), Some(5));
        assert_eq!(furthest_behind(&[5, 6], 16), Some(5));
        assert_eq!(
            furthest_behind(&[0, 15], 16),
            Some(15),
            "the last page of a block comes before the first one of the next"
        );
        assert_eq!(furthest_behind(&[6, 5, 6, 5], 16), Some(5));
        assert_eq!(furthest_behind(&[3, 12], 16), Some(12));
        assert_eq!(furthest_behind(&[], 16), None);
    }
}
