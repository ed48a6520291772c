//! How often each pair of pages collided, in bounded memory.

use std::hash::{BuildHasher, BuildHasherDefault};

use rustc_hash::{FxHashMap, FxHasher};

use crate::ids::Lpn;

/// Two pages, the lower one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// The lower page.
    pub first: Lpn,
    /// The higher page.
    pub second: Lpn,
}

impl Pair {
    /// The pair of two pages, in whatever order.
    #[inline]
    pub fn new(one: Lpn, other: Lpn) -> Pair {
        Pair { first: one.min(other), second: one.max(other) }
    }

    /// Whether a page is one of them.
    #[inline]
    pub fn has(self, lpn: Lpn) -> bool {
        self.first == lpn || self.second == lpn
    }

    /// A number in which pairs that are alike differ in every bit.
    fn scattered(self) -> u64 {
        let hash = BuildHasherDefault::<FxHasher>::default().hash_one(self);
        // The finalizer of splitmix64: each bit of the result depends on all bits of the hash.
        let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^ (hash >> 31)
    }
}

/// The occurrences of pairs.
///
/// All pairs are kept until there are too many. Then every other one is forgotten, by the hash of the pair, and so on each time: what
/// is kept are all pairs whose hash ends with so many zeroes, each counted from its first occurrence. So it is a fair sample of
/// the distinct pairs, whatever order they come in.
#[derive(Debug)]
pub struct PairCounts {
    counts: FxHashMap<Pair, u32>,
    pairs_max: usize,
    /// Of 2 to this power pairs one is kept.
    halvings: u32,
    occurrences: u64,
}

impl PairCounts {
    /// No pair, with room for `pairs_max`.
    pub fn new(pairs_max: u32) -> PairCounts {
        PairCounts { counts: FxHashMap::default(), pairs_max: pairs_max as usize, halvings: 0, occurrences: 0 }
    }

    /// A pair collided.
    #[inline]
    pub fn count(&mut self, pair: Pair) {
        self.occurrences += 1;
        if self.halvings > 0 && !is_kept(pair, self.halvings) {
            return;
        }
        *self.counts.entry(pair).or_default() += 1;
        while self.counts.len() > self.pairs_max {
            self.halvings += 1;
            self.counts.retain(|&pair, _| is_kept(pair, self.halvings));
        }
    }

    /// Occurrences of all pairs, kept or not.
    pub fn occurrences(&self) -> u64 {
        self.occurrences
    }

    /// The share of the distinct pairs that is kept.
    pub fn kept_share(&self) -> f64 {
        1.0 / (1_u64 << self.halvings) as f64
    }

    /// Distinct pairs: exact while all are kept.
    pub fn distinct(&self) -> u64 {
        (self.counts.len() as u64) << self.halvings
    }

    /// The occurrences of each pair that is kept, in no order.
    pub fn kept(&self) -> impl Iterator<Item = (Pair, u32)> + '_ {
        self.counts.iter().map(|(&pair, &count)| (pair, count))
    }
}

fn is_kept(pair: Pair, halvings: u32) -> bool {
    pair.scattered().trailing_zeros() >= halvings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_no_order() {
        assert_eq!(Pair::new(Lpn(4), Lpn(2)), Pair::new(Lpn(2), Lpn(4)));
        assert!(Pair::new(Lpn(4), Lpn(2)).has(Lpn(4)) && !Pair::new(Lpn(4), Lpn(2)).has(Lpn(3)));
    }

    #[test]
    fn all_pairs_are_kept_while_there_is_room() {
        let mut counts = PairCounts::new(3);
        for second in [1, 2, 3, 2] {
            counts.count(Pair::new(Lpn(0), Lpn(second)));
        }
        let mut kept: Vec<_> = counts.kept().map(|(pair, count)| (pair.second.0, count)).collect();
        kept.sort_unstable();
        assert_eq!(kept, [(1, 1), (2, 2), (3, 1)]);
        assert_eq!((counts.distinct(), counts.occurrences(), counts.kept_share()), (3, 4, 1.0));
    }

    #[test]
    fn beyond_that_a_fair_sample_is() {
        let (pairs_max, pairs) = (1000, 100_000);
        let mut counts = PairCounts::new(pairs_max);
        // Every pair three times, and those that come first are no likelier to stay.
        for _ in 0..3 {
            (0..pairs).for_each(|second| counts.count(Pair::new(Lpn(7), Lpn(100 + second))));
        }
        assert!(counts.kept().count() <= pairs_max as usize && counts.kept().all(|(_, count)| count == 3));
        let error = counts.distinct() as f64 / f64::from(pairs) - 1.0;
        assert!(error.abs() < 0.1, "{} of {pairs}", counts.distinct());
        let late = counts.kept().filter(|(pair, _)| pair.second.0 >= 100 + pairs / 2).count();
        assert!((0.4..0.6).contains(&(late as f64 / counts.kept().count() as f64)), "{late}");
    }
}
