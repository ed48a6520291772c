//! Interleaving of copies: how the pages of several blocks of a sample (simulated planes) make up one larger block of the drive.
//!
//! The copies alternate in groups of consecutive pages: the first group of pages in a block of the drive belongs to copy 0, the next group to copy 1,
//! and so on; after the last copy, copy 0 continues. A group has the pages of one program operation, so the open blocks of the sample continue at the
//! start of a program, and a block of the drive is filled in order like the blocks of the sample.

use crate::flash::divisor::Divisor;

/// Interleaving of `copies` blocks in groups of `group` pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interleaving {
    copies: u32,
    group: u32,
    by_copies: Divisor,
    by_group: Divisor,
}

impl Interleaving {
    pub fn new(copies: u32, group: u32) -> Interleaving {
        Interleaving { copies, group, by_copies: Divisor::new(copies), by_group: Divisor::new(group) }
    }

    pub fn copies(&self) -> u32 {
        self.copies
    }

    /// Returns the number of consecutive pages that belong to the same copy.
    pub fn group(&self) -> u32 {
        self.group
    }

    /// Returns the page offset in a block of the drive at which page `page` of a block of the sample lies in copy 0.
    pub fn in_first_copy(&self, page: u32) -> u32 {
        page + self.by_group.divide(page) * self.group * (self.copies - 1)
    }

    /// Returns the distance in pages between copy 0 and copy `copy` of the same page.
    pub fn distance(&self, copy: u32) -> u32 {
        copy * self.group
    }

    /// Returns the copy that page `page` of a block of the drive belongs to, and its page in a block of the sample.
    pub fn source_of(&self, page: u32) -> (u32, u32) {
        let group = self.by_group.divide(page);
        let group_of_sample = self.by_copies.divide(group);
        (group - group_of_sample * self.copies, page - (group - group_of_sample) * self.group)
    }

    /// Copies a bitmap of the pages of a block of the sample to the bitmap of a block of the drive, each bit to all copies of its page. `from` and
    /// `to` hold 64 pages in each word; `pages` is the number of pages in the block of the sample.
    pub fn copy_bits(&self, from: &[u64], pages: u32, to: &mut [u64]) {
        if self.copies == 1 {
            to.copy_from_slice(from);
            return;
        }
        to.fill(0);
        let mut end = 0;
        for first in (0..pages).step_by(self.group as usize) {
            for _ in 0..self.copies {
                for (at, count) in pieces(first, self.group.min(pages - first)) {
                    let bits = from[(at / u64::BITS) as usize] >> (at % u64::BITS) & (u64::MAX >> (u64::BITS - count));
                    let (word, shift) = ((end / u64::BITS) as usize, end % u64::BITS);
                    to[word] |= bits << shift;
                    if shift + count > u64::BITS {
                        to[word + 1] |= bits >> (u64::BITS - shift);
                    }
                    end += count;
                }
            }
        }
    }
}

/// Splits `count` bits from bit `first` on at the boundaries of words of 64 bits. Returns the first bit and the number of bits of each piece.
fn pieces(first: u32, count: u32) -> impl Iterator<Item = (u32, u32)> {
    let end = first + count;
    let mut at = first;
    std::iter::from_fn(move || {
        let piece = (at, (u64::BITS - at % u64::BITS).min(end - at));
        at += piece.1;
        (piece.1 > 0).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_page_of_the_drive_is_the_copy_of_one_page(copies in 1..20u32, group in 1..100u32, groups in 1..20u32) {
            let interleaving = Interleaving::new(copies, group);
            let pages = group * groups;
            for page in 0..copies * pages {
                // Group by group, as the module describes the interleaving.
                let (copy, own) = (page / group % copies, page / group / copies * group + page % group);
                prop_assert_eq!(interleaving.source_of(page), (copy, own));
                prop_assert_eq!(interleaving.in_first_copy(own) + interleaving.distance(copy), page);
            }
        }

        #[test]
        fn bits_are_copied_to_all_copies_of_their_page(
            words in prop::collection::vec(any::<u64>(), 12),
            copies in 1..20u32,
            group in 1..100u32,
        ) {
            let interleaving = Interleaving::new(copies, group);
            let pages = 768 / group * group;
            let mut copied = vec![u64::MAX; if copies == 1 { 12 } else { (copies * pages).div_ceil(64) as usize }];
            interleaving.copy_bits(&words, pages, &mut copied);
            let bit = |words: &[u64], page: u32| words[(page / 64) as usize] >> (page % 64) & 1;
            for page in 0..copies * pages {
                prop_assert_eq!(bit(&copied, page), bit(&words, interleaving.source_of(page).1), "page {}", page);
            }
        }
    }
}
