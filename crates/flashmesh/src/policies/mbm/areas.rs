//! Read-intensive areas of the drive (ranges of logical pages that long requests read), for RS, the read strategy of MBM (see [`super`]).

use std::ops::Range;

use crate::ids::Lpn;

/// Bitmap of areas (ranges of `pages` logical pages each): whether the area is read-intensive (read by long requests).
#[derive(Clone, Debug)]
pub(super) struct Areas {
    pages: u32,
    logical_pages: u32,
    read_intensive: Vec<u64>,
}

impl Areas {
    /// Creates the bitmap for areas of `pages` pages each on a drive of `logical_pages`, none of them read-intensive.
    pub(super) fn new(pages: u32, logical_pages: u32) -> Areas {
        let areas = logical_pages.div_ceil(pages);
        Areas { pages, logical_pages, read_intensive: vec![0; areas.div_ceil(u64::BITS) as usize] }
    }

    /// Returns whether the area that contains `lpn` is read-intensive.
    pub(super) fn is_read_intensive(&self, lpn: Lpn) -> bool {
        let area = lpn.0 / self.pages;
        self.read_intensive.get((area / u64::BITS) as usize).is_some_and(|word| word >> (area % u64::BITS) & 1 != 0)
    }

    /// Returns the logical pages of the area that contains `lpn`.
    pub(super) fn pages_around(&self, lpn: Lpn) -> Range<u32> {
        let start = lpn.0 / self.pages * self.pages;
        start..start.saturating_add(self.pages).min(self.logical_pages)
    }

    /// Marks the areas that overlap `pages`, the logical pages of a read request, as read-intensive or not.
    pub(super) fn mark(&mut self, pages: &Range<u32>, is_read_intensive: bool) {
        for area in pages.start / self.pages..=(pages.end - 1) / self.pages {
            if let Some(word) = self.read_intensive.get_mut((area / u64::BITS) as usize) {
                let bit = 1 << (area % u64::BITS);
                *word = if is_read_intensive { *word | bit } else { *word & !bit };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_area_ends_with_the_drive() {
        let areas = Areas::new(8, 20);
        assert_eq!(areas.pages_around(Lpn(9)), 8..16);
        assert_eq!(areas.pages_around(Lpn(17)), 16..20);
    }

    #[test]
    fn the_latest_read_says_whether_an_area_is_read_intensive() {
        let mut areas = Areas::new(8, 1000);
        let marked = |areas: &Areas| (0..1000).filter(|&page| areas.is_read_intensive(Lpn(page))).collect::<Vec<u32>>();
        areas.mark(&(5..17), true);
        assert_eq!(marked(&areas), (0..24).collect::<Vec<u32>>());
        areas.mark(&(8..9), false);
        assert_eq!(marked(&areas), (0..8).chain(16..24).collect::<Vec<u32>>());
        areas.mark(&(900..901), false);
        areas.mark(&(999..1000), true);
        assert_eq!(marked(&areas).len(), 16 + 8);
    }
}
