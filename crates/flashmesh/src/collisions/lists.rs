//! The list of collision pairs of each die (section III.A of the paper): at most `l_R` entries, the least recently used one makes way.

use std::num::NonZeroUsize;

use lru::LruCache;
use rustc_hash::FxBuildHasher;

use super::Pair;
use crate::ids::{DieId, Lpn};

/// What is known of a pair of pages that collided on a die.
#[derive(Clone, Debug)]
pub struct Entry {
    occurrences: u16,
    /// By die: how often it had at least two reads fewer outstanding than the owner of the list as the pair collided. That of
    /// the owner itself is never counted; the hardware keeps the occurrences in its place \[choice\].
    slack: Vec<u16>,
}

impl Entry {
    /// How often the pair collided out of balance.
    pub fn occurrences(&self) -> u16 {
        self.occurrences
    }

    /// The slack counter of `die`.
    pub fn slack(&self, die: DieId) -> u16 {
        self.slack[die.index()]
    }

    /// The die with the largest slack counter, and that; the first one of equals.
    pub fn best(&self) -> (DieId, u16) {
        let mut best = (DieId(0), 0);
        for (die, &slack) in self.slack.iter().enumerate() {
            if slack > best.1 {
                best = (DieId(die as u32), slack);
            }
        }
        best
    }
}

/// The collision pair lists of all dies.
#[derive(Debug)]
pub struct PairLists {
    /// By die; none with lists of no entries.
    lists: Vec<LruCache<Pair, Entry, FxBuildHasher>>,
}

impl PairLists {
    /// Empty lists of `dies` dies, each with at most `entries_max` entries, `l_R`.
    pub fn new(dies: u32, entries_max: u32) -> PairLists {
        let list = |most| LruCache::with_hasher(most, FxBuildHasher);
        let most = NonZeroUsize::new(entries_max as usize);
        PairLists { lists: most.map_or(Vec::new(), |most| (0..dies).map(|_| list(most)).collect()) }
    }

    /// `pair` collided on `die`; `outstanding` has the reads outstanding on each die. Gives its entry, brought up to now; nothing
    /// with lists of no entries.
    pub fn collided(&mut self, die: DieId, pair: Pair, outstanding: impl Fn(DieId) -> u32) -> Option<&Entry> {
        let dies = self.lists.len();
        let list = self.lists.get_mut(die.index())?;
        // Most pairs are new.
        if list.get_mut(&pair).is_none() {
            // Of a full list the one that makes way lends its table.
            let evicted = if list.len() == list.cap().get() { list.pop_lru() } else { None };
            let mut slack = evicted.map_or_else(|| vec![0; dies], |(_, entry)| entry.slack);
            slack.fill(0);
            list.put(pair, Entry { occurrences: 0, slack });
        }
        // It is the one used last, of a list that has one.
        let (_, entry) = list.iter_mut().next()?;
        let own = outstanding(die);
        entry.occurrences = entry.occurrences.saturating_add(1);
        if own < 2 {
            return Some(entry);
        }
        for (other, slack) in entry.slack.iter_mut().enumerate() {
            *slack = slack.saturating_add(u16::from(outstanding(DieId(other as u32)) <= own - 2));
        }
        Some(entry)
    }

    /// The entries of `die`, the one used last first.
    pub fn entries(&self, die: DieId) -> impl Iterator<Item = (Pair, &Entry)> {
        self.lists.get(die.index()).into_iter().flat_map(|list| list.iter().map(|(&pair, entry)| (pair, entry)))
    }

    /// In how many pairs of `die` other than `pair` a page is.
    pub fn appearances(&self, die: DieId, lpn: Lpn, pair: Pair) -> usize {
        self.entries(die).filter(|&(other, _)| other != pair && other.has(lpn)).count()
    }

    /// Forgets all pairs of `die`: a page was replicated, and what was derived from its collisions cannot be told apart.
    pub fn clear(&mut self, die: DieId) {
        if let Some(list) = self.lists.get_mut(die.index()) {
            list.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: DieId = DieId(0);

    fn pair(first: u32, second: u32) -> Pair {
        Pair::new(Lpn(first), Lpn(second))
    }

    fn occurrences(lists: &PairLists, die: DieId) -> Vec<u16> {
        lists.entries(die).map(|(_, entry)| entry.occurrences()).collect()
    }

    #[test]
    fn a_slack_counter_counts_dies_with_at_least_two_reads_fewer() {
        let mut lists = PairLists::new(4, 5);
        let outstanding = [3, 2, 1, 0];
        let entry = lists.collided(OWNER, pair(1, 2), |die| outstanding[die.index()]).expect("lists have entries");
        assert_eq!([0, 1, 2, 3].map(|die| entry.slack(DieId(die))), [0, 0, 1, 1]);
        assert_eq!((entry.occurrences(), entry.best()), (1, (DieId(2), 1)));
    }

    #[test]
    fn the_least_recently_used_pair_makes_way() {
        let mut lists = PairLists::new(2, 2);
        for (first, second) in [(1, 2), (3, 4), (2, 1), (5, 6)] {
            lists.collided(OWNER, pair(first, second), |_| 0);
        }
        let pairs: Vec<Pair> = lists.entries(OWNER).map(|(pair, _)| pair).collect();
        assert_eq!(pairs, [pair(5, 6), pair(1, 2)]);
        assert_eq!(occurrences(&lists, OWNER), [1, 2]);
        // What comes back begins anew.
        let entry = lists.collided(OWNER, pair(3, 4), |_| 0).expect("lists have entries");
        assert_eq!(entry.occurrences(), 1);
    }

    #[test]
    fn lists_are_those_of_their_dies() {
        let mut lists = PairLists::new(2, 5);
        lists.collided(OWNER, pair(1, 2), |_| 0);
        lists.collided(DieId(1), pair(1, 2), |_| 0);
        lists.collided(DieId(1), pair(1, 3), |_| 0);
        assert_eq!(
            (lists.appearances(DieId(1), Lpn(1), pair(1, 2)), lists.appearances(OWNER, Lpn(1), pair(1, 2))),
            (1, 0)
        );
        lists.clear(DieId(1));
        assert_eq!((lists.entries(DieId(1)).count(), lists.entries(OWNER).count()), (0, 1));
        lists.collided(DieId(1), pair(1, 2), |_| 0);
        assert_eq!(occurrences(&lists, DieId(1)), [1]);
    }

    #[test]
    fn a_list_without_entries_keeps_nothing() {
        let mut lists = PairLists::new(2, 0);
        assert!(lists.collided(OWNER, pair(1, 2), |_| 0).is_none());
    }

    #[test]
    fn a_long_list_agrees_with_a_plain_one() {
        let mut lists = PairLists::new(2, 7);
        let mut plain: Vec<(Pair, u16)> = Vec::new();
        let mut state = 1_u64;
        for _ in 0..10_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let now = pair((state >> 33) as u32 % 4, 4 + (state >> 50) as u32 % 5);
            lists.collided(OWNER, now, |_| 0);
            let before = plain.iter().position(|(pair, _)| *pair == now).map(|at| plain.remove(at));
            plain.insert(0, (now, before.map_or(0, |(_, count)| count) + 1));
            plain.truncate(7);
            let found: Vec<_> = lists.entries(OWNER).map(|(pair, entry)| (pair, entry.occurrences())).collect();
            assert_eq!(found, plain);
        }
    }
}
