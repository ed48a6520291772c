//! Random spread of logical pages over the planes. If a drive writes to idle planes, random writes leave neighbouring logical pages on unrelated
//! planes; preconditioning imitates this.

use std::ops::Range;

use crate::engine::random::SimRng;
use crate::ids::Lpn;

/// Number of rounds of a [`Shuffle`].
const ROUNDS: usize = 3;

/// Random permutation of the logical pages of each range that preconditioning fills. Each page is stored where static allocation would store its
/// image, called slot. Runs of consecutive pages that are written together stay together.
#[derive(Clone, Debug)]
pub(in super::super) struct Scatter {
    ranges: Vec<ScatteredRange>,
    /// Length of a run, in pages.
    length: u32,
}

#[derive(Clone, Debug)]
struct ScatteredRange {
    pages: Range<u32>,
    shuffle: Shuffle,
}

impl Scatter {
    /// Draws a permutation of the pages of each of `ranges`, in runs of `length` pages.
    pub(super) fn new(ranges: &[Range<u32>], length: u32, random: &mut SimRng) -> Scatter {
        let scattered = ranges.iter().map(|pages| {
            let shuffle = Shuffle::new(pages.len() as u32 / length, random);
            ScatteredRange { pages: pages.clone(), shuffle }
        });
        Scatter { ranges: scattered.collect(), length }
    }

    /// Returns the slot of `lpn`: the page in whose place of static allocation `lpn` is stored.
    pub(in super::super) fn slot_of(&self, lpn: Lpn) -> Lpn {
        self.mapped(lpn, Shuffle::image)
    }

    /// Returns the page whose slot is `slot`: the inverse of [`slot_of`](Self::slot_of).
    pub(in super::super) fn page_at(&self, slot: Lpn) -> Lpn {
        self.mapped(slot, Shuffle::preimage)
    }

    /// Applies `map` to the run of a page. Returns pages outside of all ranges, or in an incomplete last run, unchanged.
    fn mapped(&self, Lpn(lpn): Lpn, map: impl Fn(&Shuffle, u32) -> u32) -> Lpn {
        let Some(range) = self.ranges.iter().find(|range| range.pages.contains(&lpn)) else { return Lpn(lpn) };
        let page = lpn - range.pages.start;
        let run = page / self.length;
        if run >= range.shuffle.count {
            return Lpn(lpn);
        }
        Lpn(range.pages.start + map(&range.shuffle, run) * self.length + page % self.length)
    }
}

/// Random permutation of the numbers below `count`. It permutes the numbers below the next power of two, by rounds of a multiplication, an addition
/// and a shift, and is applied again until the result is below `count` (cycle walking).
#[derive(Clone, Debug)]
struct Shuffle {
    count: u32,
    /// Bit mask of the next power of two: all permuted numbers are at most `mask`.
    mask: u32,
    shift: u32,
    /// Factor and summand of each round. A factor is odd.
    rounds: [(u32, u32); ROUNDS],
    /// Inverses of the factors modulo 2^32.
    inverses: [u32; ROUNDS],
}

impl Shuffle {
    fn new(count: u32, random: &mut SimRng) -> Shuffle {
        let bits = u32::BITS - count.saturating_sub(1).leading_zeros();
        let rounds = std::array::from_fn(|_| (random.next_u64() as u32 | 1, random.next_u64() as u32));
        let inverses = rounds.map(|(factor, _)| inverse(factor));
        let mask = u32::try_from((1u64 << bits) - 1).expect("a number has at most 32 bits");
        // A shift by at least half of the bits is its own inverse.
        Shuffle { count, mask, shift: bits.div_ceil(2).max(1), rounds, inverses }
    }

    /// Returns the number to which `i`, a number below `count`, is mapped.
    fn image(&self, i: u32) -> u32 {
        let mut image = i;
        loop {
            for &(factor, summand) in &self.rounds {
                image = image.wrapping_mul(factor).wrapping_add(summand) & self.mask;
                image ^= image >> self.shift;
            }
            if image < self.count {
                return image;
            }
        }
    }

    /// Returns the number that is mapped to `image`, a number below `count`.
    fn preimage(&self, image: u32) -> u32 {
        let mut i = image;
        loop {
            for (&(_, summand), inverse) in self.rounds.iter().zip(&self.inverses).rev() {
                i ^= i >> self.shift;
                i = i.wrapping_sub(summand).wrapping_mul(*inverse) & self.mask;
            }
            if i < self.count {
                return i;
            }
        }
    }
}

/// Returns the inverse of an odd number modulo 2^32, by Newton's method: each step doubles the number of correct bits.
fn inverse(odd: u32) -> u32 {
    (0..5).fold(odd, |found, _| found.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(found))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_has_a_slot_of_its_own_and_is_found_by_it() {
        let mut random = SimRng::new(7);
        for (ranges, length) in [
            (vec![0..1, 1..1], 1),
            (vec![0..2, 2..5], 1),
            (vec![0..1_000, 2_000..2_001], 1),
            (vec![3..1_027, 1_027..2_000], 4),
            (vec![0..4_096, 5_000..5_002], 4),
        ] {
            let scatter = Scatter::new(&ranges, length, &mut random);
            for range in &ranges {
                let mut slots: Vec<u32> = range.clone().map(|lpn| scatter.slot_of(Lpn(lpn)).0).collect();
                for (lpn, &slot) in range.clone().zip(&slots) {
                    assert_eq!(scatter.page_at(Lpn(slot)), Lpn(lpn), "{ranges:?}");
                    let in_run = (lpn - range.start) % length;
                    assert_eq!((slot - range.start) % length, in_run, "{ranges:?}");
                }
                slots.sort_unstable();
                assert!(slots.into_iter().eq(range.clone()), "{ranges:?}");
            }
        }
    }

    /// Checks that the plane difference of two neighbouring pages is uniform over 64 planes.
    #[test]
    fn neighbouring_pages_lie_on_unrelated_planes() {
        for seed in 0..4 {
            const PAGES: u32 = 1_000_000;
            let scatter = Scatter::new(std::slice::from_ref(&(0..PAGES)), 1, &mut SimRng::new(seed));
            for distance in [1, 2, 4, 16] {
                let mut found = [0u32; 64];
                for lpn in 0..PAGES - distance {
                    let plane = |lpn| scatter.slot_of(Lpn(lpn)).0 / 4 % 64;
                    found[((plane(lpn + distance) + 64 - plane(lpn)) % 64) as usize] += 1;
                }
                let expected = f64::from(PAGES - distance) / 64.0;
                let largest = found.iter().map(|&count| (f64::from(count) / expected - 1.0).abs()).fold(0.0, f64::max);
                assert!(largest < 0.1, "seed {seed}, distance {distance}: {largest}");
            }
        }
    }
}
