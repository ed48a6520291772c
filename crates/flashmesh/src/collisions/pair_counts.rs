//! How often each pair of pages collided, in bounded memory.

use super::Pair;
/// The occurrences of pairs.
///
/// All pairs are kept until there are too many. Then every other one is forgotten, by the hash of the pair, and so on each time: what
/// is kept are all pairs whose hash ends with so many zeroes, each counted from its first occurrence. So it is a fair sample of
/// the distinct pairs, whatever order they come in.
///
/// Nearly every pair of a random workload is new, so a table of open addressing is what counts them: probed linearly from where the
/// high bits of the hash say, and never more than three quarters full.
#[derive(Debug)]
pub struct PairCounts {
    /// Pairs as numbers; [`EMPTY`] is none. A power of two of them.
    keys: Vec<u64>,
    counts: Vec<u32>,
    len: usize,
    pairs_max: usize,
    /// Of 2 to this power pairs one is kept.
    halvings: u32,
    occurrences: u64,
}

/// No pair: a page is none with itself.
const EMPTY: u64 = 0;

/// The least size of the table; the system gives memory only for what is used of it.
const SLOTS_MIN: usize = 1 << 16;

impl PairCounts {
    /// No pair, with room for `pairs_max`.
    pub fn new(pairs_max: u32) -> PairCounts {
        let (keys, counts) = (vec![EMPTY; SLOTS_MIN], vec![0; SLOTS_MIN]);
        PairCounts { keys, counts, len: 0, pairs_max: pairs_max as usize, halvings: 0, occurrences: 0 }
    }

    /// A pair of different pages collided.
    #[inline]
    pub fn count(&mut self, pair: Pair) {
        self.occurrences += 1;
        let hash = pair.scattered();
        if hash.trailing_zeros() < self.halvings {
            return;
        }
        let at = self.slot(pair.key(), hash);
        if self.counts[at] == 0 {
            self.keys[at] = pair.key();
            self.len += 1;
        }
        self.counts[at] = self.counts[at].saturating_add(1);
        if self.len * 4 > self.keys.len() * 3 || self.len > self.pairs_max {
            self.make_room();
        }
    }

    /// Where a pair is, or could be.
    #[inline]
    fn slot(&self, key: u64, hash: u64) -> usize {
        let last = self.keys.len() - 1;
        let mut at = (hash >> 32) as usize & last;
        while self.keys[at] != key && self.keys[at] != EMPTY {
            at = (at + 1) & last;
        }
        at
    }

    /// Forgets pairs beyond those that may be kept, and makes the table large enough for the others.
    #[cold]
    fn make_room(&mut self) {
        while self.len > self.pairs_max {
            self.halvings += 1;
            self.len = self.kept().filter(|&(pair, _)| is_kept(pair, self.halvings)).count();
        }
        let slots = (2 * self.len).next_power_of_two().max(SLOTS_MIN);
        let keys = std::mem::replace(&mut self.keys, vec![EMPTY; slots]);
        let counts = std::mem::replace(&mut self.counts, vec![0; slots]);
        for (key, count) in keys.into_iter().zip(counts).filter(|&(key, _)| key != EMPTY) {
            let pair = Pair::of_key(key);
            if is_kept(pair, self.halvings) {
                let at = self.slot(key, pair.scattered());
                (self.keys[at], self.counts[at]) = (key, count);
            }
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
        (self.len as u64) << self.halvings
    }

    /// The occurrences of each pair that is kept, in no order.
    pub fn kept(&self) -> impl Iterator<Item = (Pair, u32)> + '_ {
        let slots = self.keys.iter().zip(&self.counts);
        slots.filter(|&(&key, _)| key != EMPTY).map(|(&key, &count)| (Pair::of_key(key), count))
    }
}

fn is_kept(pair: Pair, halvings: u32) -> bool {
    pair.scattered().trailing_zeros() >= halvings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Lpn;

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
