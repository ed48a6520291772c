//! Occurrences of page pairs in imbalanced collisions, counted in bounded memory.

use crate::collisions::PagePair;

/// Number of occurrences of each page pair in imbalanced collisions (another die had at least two fewer outstanding reads).
///
/// All pairs are kept up to a limit. Each time it is exceeded, half of the pairs are discarded: only hashes that end in one more zero bit are kept.
/// Each kept pair is counted from its first occurrence, so the kept pairs are a fair sample, independent of the order.
///
/// Nearly every pair of a random workload is new, and each access to a hash table would miss the CPU caches. So occurrences are buffered, and counted
/// in batches by sorting.
#[derive(Clone, Debug)]
pub struct PairCounts {
    /// Sorted keys of the kept pairs; `counts` has the occurrences of each.
    keys: Vec<u64>,
    counts: Vec<u32>,
    recent: Vec<u64>,
    /// Number of occurrences that are buffered before they are counted as a batch.
    recent_max: usize,
    pairs_max: usize,
    /// Number of times that half of the pairs were discarded; one of 2^`halvings` pairs is kept.
    halvings: u32,
    occurrences: u64,
}

/// Minimum number of occurrences in a batch. A batch of this size is sorted within the L2 cache of the CPU.
const RECENT_MIN: usize = 1 << 15;

impl PairCounts {
    pub fn new(pairs_max: u32) -> PairCounts {
        PairCounts {
            keys: Vec::new(),
            counts: Vec::new(),
            recent: Vec::new(),
            recent_max: RECENT_MIN,
            pairs_max: pairs_max as usize,
            halvings: 0,
            occurrences: 0,
        }
    }

    pub fn count(&mut self, pair: PagePair) {
        self.occurrences += 1;
        if self.halvings > 0 && !is_kept(pair, self.halvings) {
            return;
        }
        self.recent.push(pair.key());
        if self.recent.len() >= self.recent_max {
            self.flush();
        }
    }

    /// Counts the buffered occurrences. Call this before any result except [`occurrences`](Self::occurrences) is read, because the others exclude
    /// buffered occurrences.
    #[inline(never)]
    pub fn flush(&mut self) {
        self.recent.sort_unstable();
        self.merge();
        while self.keys.len() > self.pairs_max {
            self.halvings += 1;
            self.discard();
        }
        // A batch is at least half as large as the number of kept pairs, so these are scanned only a few times while their number doubles.
        self.recent_max = (self.keys.len() / 2).max(RECENT_MIN);
    }

    /// Merges the sorted buffered occurrences into `keys` and `counts` in place, from the last pair to the first.
    fn merge(&mut self) {
        let PairCounts { keys, counts, recent, .. } = self;
        let distinct = recent.chunk_by(|one, other| one == other).count();
        let (mut old, mut new) = (keys.len(), keys.len() + distinct);
        keys.resize(new, 0);
        counts.resize(new, 0);
        for same in recent.chunk_by(|one, other| one == other).rev() {
            let (key, mut times) = (same[0], u32::try_from(same.len()).unwrap_or(u32::MAX));
            while old > 0 && keys[old - 1] > key {
                (old, new) = (old - 1, new - 1);
                (keys[new], counts[new]) = (keys[old], counts[old]);
            }
            if old > 0 && keys[old - 1] == key {
                old -= 1;
                times = times.saturating_add(counts[old]);
            }
            new -= 1;
            (keys[new], counts[new]) = (key, times);
        }
        // Remove the entries left unused because some buffered pairs were already present.
        keys.drain(old..new);
        counts.drain(old..new);
        recent.clear();
    }

    fn discard(&mut self) {
        let mut kept = 0;
        for at in 0..self.keys.len() {
            if is_kept(PagePair::from_key(self.keys[at]), self.halvings) {
                (self.keys[kept], self.counts[kept]) = (self.keys[at], self.counts[at]);
                kept += 1;
            }
        }
        self.keys.truncate(kept);
        self.counts.truncate(kept);
    }

    pub fn occurrences(&self) -> u64 {
        self.occurrences
    }

    pub fn kept_share(&self) -> f64 {
        1.0 / (1_u64 << self.halvings) as f64
    }

    pub fn distinct(&self) -> u64 {
        (self.keys.len() as u64) << self.halvings
    }

    pub fn kept(&self) -> impl Iterator<Item = (PagePair, u32)> + '_ {
        self.keys.iter().zip(&self.counts).map(|(&key, &count)| (PagePair::from_key(key), count))
    }
}

fn is_kept(pair: PagePair, halvings: u32) -> bool {
    pair.hash().trailing_zeros() >= halvings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Lpn;

    #[test]
    fn all_pairs_are_kept_up_to_the_limit() {
        let mut counts = PairCounts::new(3);
        for second in [1, 2, 3, 2] {
            counts.count(PagePair::new(Lpn(0), Lpn(second)));
        }
        counts.flush();
        let mut kept: Vec<_> = counts.kept().map(|(pair, count)| (pair.second.0, count)).collect();
        kept.sort_unstable();
        assert_eq!(kept, [(1, 1), (2, 2), (3, 1)]);
        assert_eq!((counts.distinct(), counts.occurrences(), counts.kept_share()), (3, 4, 1.0));
    }

    #[test]
    fn a_fair_sample_of_the_pairs_is_kept_beyond_the_limit() {
        let (pairs_max, pairs) = (1000, 100_000);
        let mut counts = PairCounts::new(pairs_max);
        // Each pair occurs three times. Early and late pairs must be equally likely to be kept.
        for _ in 0..3 {
            (0..pairs).for_each(|second| counts.count(PagePair::new(Lpn(7), Lpn(100 + second))));
        }
        counts.flush();
        assert!(counts.kept().count() <= pairs_max as usize && counts.kept().all(|(_, count)| count == 3));
        let error = counts.distinct() as f64 / f64::from(pairs) - 1.0;
        assert!(error.abs() < 0.1, "{} of {pairs}", counts.distinct());
        let late = counts.kept().filter(|(pair, _)| pair.second.0 >= 100 + pairs / 2).count();
        assert!((0.4..0.6).contains(&(late as f64 / counts.kept().count() as f64)), "{late}");
    }
}
