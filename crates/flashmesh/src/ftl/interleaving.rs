//! Interleaving: how copies of a block of a sample (the simulated planes) make up one larger block of the drive.
//!
//! The copies alternate in groups of pages, and a group has as many pages as a program: the first group of a block of the drive belongs to copy 0, the
//! next group to copy 1, and so on; after the last copy, copy 0 continues. Before a sample is copied, its open blocks advance to the start of a group.
//! Otherwise, a partly written group of one copy would leave a gap before the group of the next copy.

use crate::flash::divisor::Divisor;

/// Interleaving of `copies` copies of a block in groups of `group` pages.
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

    /// Returns the position, in a block of the drive, of copy 0 of page `page` of the sample block.
    pub fn in_first_copy(&self, page: u32) -> u32 {
        page + self.by_group.divide(page) * self.group * (self.copies - 1)
    }

    /// Returns the distance in pages between copy 0 and copy `copy` of the same page.
    pub fn distance(&self, copy: u32) -> u32 {
        copy * self.group
    }

    /// Returns the copy to which page `page` of a block of the drive belongs, and the page of the sample block that was copied there.
    pub fn source_of(&self, page: u32) -> (u32, u32) {
        let group = self.by_group.divide(page);
        let group_of_sample = self.by_copies.divide(group);
        (group - group_of_sample * self.copies, page - (group - group_of_sample) * self.group)
    }

    /// Copies the bitmap `from` of the pages of a sample block to the bitmap `to` of a block of the drive: the bit of a page is set for all copies of
    /// this page. A word has the bits of 64 pages. `pages` is the number of pages in the sample block.
    pub fn copy_bits(&self, from: &[u64], pages: u32, to: &mut [u64]) {
        if self.copies == 1 {
            to.copy_from_slice(from);
            return;
        }
        to.fill(0);
        let mut end = 0;
        // `at_once` copies of a group fit into one word and are written together: a multiplication by `repeats`, which has a bit at the start of each
        // of these copies, repeats the group.
        let at_once = (u64::BITS / self.group).clamp(1, self.copies);
        let repeats = (0..at_once).fold(0, |repeats, copy| repeats | 1 << (copy * self.group.min(u64::BITS - 1)));
        for first in (0..pages).step_by(self.group as usize) {
            if self.group > u64::BITS {
                for _ in 0..self.copies {
                    for at in (first..first + self.group).step_by(u64::BITS as usize) {
                        append(to, &mut end, bits_at(from, at, u64::BITS), u64::BITS.min(first + self.group - at));
                    }
                }
                continue;
            }
            let repeated = bits_at(from, first, self.group).wrapping_mul(repeats);
            let mut left = self.copies;
            while left > 0 {
                let now = left.min(at_once);
                append(to, &mut end, repeated, now * self.group);
                left -= now;
            }
        }
    }
}

/// Returns `count` bits, at most 64, of the bitmap `words` from bit `first` on. Bits after the end of the bitmap are 0.
fn bits_at(words: &[u64], first: u32, count: u32) -> u64 {
    let (word, shift) = ((first / u64::BITS) as usize, first % u64::BITS);
    let mut bits = words[word] >> shift;
    if shift > 0 && word + 1 < words.len() {
        bits |= words[word + 1] << (u64::BITS - shift);
    }
    bits & (u64::MAX >> (u64::BITS - count))
}

/// Writes the lowest `count` bits of `bits`, at most 64, to the bitmap `words`, whose bits from `end` on must be 0, and advances `end` by `count`.
fn append(words: &mut [u64], end: &mut u32, bits: u64, count: u32) {
    let bits = bits & (u64::MAX >> (u64::BITS - count));
    let (word, shift) = ((*end / u64::BITS) as usize, *end % u64::BITS);
    words[word] |= bits << shift;
    if shift + count > u64::BITS {
        words[word + 1] |= bits >> (u64::BITS - shift);
    }
    *end += count;
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
