//! Which areas of the drive are read-intensive (RS).

use std::ops::Range;

use crate::ids::Lpn;

/// A bit for each area of the logical pages: whether long requests read it.
#[derive(Clone, Debug)]
pub(super) struct Areas {
    pages: u32,
    read_intensive: Vec<u64>,
}

impl Areas {
    /// None of the areas of so many `pages` each among `logical_pages` is read-intensive.
    pub(super) fn new(pages: u32, logical_pages: u32) -> Areas {
        let areas = logical_pages.div_ceil(pages);
        Areas { pages, read_intensive: vec![0; areas.div_ceil(u64::BITS) as usize] }
    }

    /// Whether the area of `lpn` is read-intensive.
    pub(super) fn is_read_intensive(&self, lpn: Lpn) -> bool {
        let area = lpn.0 / self.pages;
        self.read_intensive.get((area / u64::BITS) as usize).is_some_and(|word| word >> (area % u64::BITS) & 1 != 0)
    }

    /// A long request reads `pages`: their areas are read-intensive.
    pub(super) fn mark_read_intensive(&mut self, pages: &Range<u32>) {
        for area in pages.start / self.pages..=(pages.end - 1) / self.pages {
            if let Some(word) = self.read_intensive.get_mut((area / u64::BITS) as usize) {
                *word |= 1 << (area % u64::BITS);
            }
        }
    }
}
