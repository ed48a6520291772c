//! Lists of colliding page pairs, one for each die, with at most `l_R` entries and LRU replacement (Patterned Read Collisions, IEEE Access
//! 2023, section III.A).

use super::lru::{LruOrder, TouchOutcome};
use crate::collisions::PagePair;
use crate::collisions::outstanding_reads::{BITS, die_words};
use crate::ids::{DieId, Lpn};

/// Entry of a pair list: the counters of a pair of pages that collided on the die of the list.
#[derive(Clone, Copy, Debug)]
pub struct PairEntry<'a> {
    occurrences: u16,
    /// Bit set of the dies that had at least two fewer outstanding reads than the die of the list when the pair first collided. Never contains the
    /// die of the list, so hardware can store `occurrences` in place of the slack counter of this die \[choice\].
    first: &'a [u64],
    /// Slack counters, indexed by die: number of collisions of the pair in which that die had at least two fewer outstanding reads than the die of
    /// the list. Valid from the second collision on; `first` records the first one, which for most pairs is the only one.
    slack: &'a [u16],
}

impl PairEntry<'_> {
    /// Returns the number of imbalanced collisions (another die had at least two fewer outstanding reads) of the pair since it entered the
    /// list.
    #[cfg(test)]
    pub fn occurrences(self) -> u16 {
        self.occurrences
    }

    #[cfg(test)]
    pub fn slack(self, die: DieId) -> u16 {
        match self.occurrences {
            1 => is_in(self.first, die.index()),
            _ => self.slack[die.index()],
        }
    }

    /// Returns the die with the largest slack counter, and the counter: number of collisions of the pair in which the die had at least two fewer
    /// reads. On a tie, returns the lowest die.
    pub fn max_slack(self) -> (DieId, u16) {
        if self.occurrences == 1 {
            let word = self.first.iter().position(|&dies| dies != 0);
            let die = word.map_or(0, |word| word * BITS + self.first[word].trailing_zeros() as usize);
            return (DieId(die as u32), u16::from(word.is_some()));
        }
        let most = self.slack.iter().copied().fold(0, u16::max);
        // Scan backwards, so that the first die wins a tie. Use no branches, because the CPU would often mispredict them.
        let with_most = |first, (die, &slack): (usize, &u16)| if slack == most { die } else { first };
        let die = self.slack.iter().enumerate().rev().fold(0, with_most);
        (DieId(die as u32), most)
    }
}

fn is_in(dies: &[u64], die: usize) -> u16 {
    (dies[die / BITS] >> (die % BITS) & 1) as u16
}

#[derive(Clone, Debug)]
struct PairList {
    lru: LruOrder,
    occurrences: Vec<u16>,
    /// For each index of `lru`, the bit set of the dies that had at least two fewer reads than the die of the list when the pair first occurred.
    first: Vec<u64>,
    /// For each index of `lru`, the slack counters of all dies, valid from the second occurrence of the pair on.
    slack: Vec<u16>,
}

impl PairList {
    fn entry(&self, at: usize, dies: usize) -> PairEntry<'_> {
        let words = die_words(dies);
        PairEntry {
            occurrences: self.occurrences[at],
            first: &self.first[at * words..(at + 1) * words],
            slack: &self.slack[at * dies..(at + 1) * dies],
        }
    }

    fn occur_again(&mut self, at: usize, fewer: &[u64], dies: usize) {
        let words = die_words(dies);
        let (first, slack) = (&self.first[at * words..(at + 1) * words], &mut self.slack[at * dies..(at + 1) * dies]);
        let is_second = self.occurrences[at] == 1;
        for (die, slack) in slack.iter_mut().enumerate() {
            let before = if is_second { is_in(first, die) } else { *slack };
            *slack = before.saturating_add(is_in(fewer, die));
        }
        self.occurrences[at] = self.occurrences[at].saturating_add(1);
    }
}

#[derive(Clone, Debug)]
pub struct PairLists {
    dies: usize,
    lists: Vec<PairList>,
}

impl PairLists {
    /// Creates an empty list for each die, of at most `entries_max` (`l_R`) entries.
    pub fn new(dies: u32, entries_max: u32) -> PairLists {
        let (dies, entries_max) = (dies as usize, entries_max as usize);
        let lists = if entries_max == 0 { 0 } else { dies };
        let lru = LruOrder::new(entries_max);
        let list = PairList { lru, occurrences: Vec::new(), first: Vec::new(), slack: Vec::new() };
        PairLists { dies, lists: vec![list; lists] }
    }

    /// Records an imbalanced collision of `pair` on `die`. `fewer` is the bit set of the dies with at least two fewer outstanding reads than `die`.
    /// Returns the updated entry; `None` if lists have length 0 (`l_R`).
    pub fn collided(&mut self, die: DieId, pair: PagePair, fewer: &[u64]) -> Option<PairEntry<'_>> {
        let (dies, words) = (self.dies, die_words(self.dies));
        let list = self.lists.get_mut(die.index())?;
        let TouchOutcome { at, is_new } = list.lru.touch(pair);
        if at == list.occurrences.len() {
            list.occurrences.push(0);
            list.first.resize(list.first.len() + words, 0);
            list.slack.resize(list.slack.len() + dies, 0);
        }
        if is_new {
            list.occurrences[at] = 1;
            // The bit set is usually one word; assigning this word avoids a call of `memcpy`.
            let first = &mut list.first[at * words..(at + 1) * words];
            if let ([first, others @ ..], [fewer, more @ ..]) = (first, fewer) {
                *first = *fewer;
                others.iter_mut().zip(more).for_each(|(other, more)| *other = *more);
            }
        } else {
            list.occur_again(at, fewer, dies);
        }
        Some(list.entry(at, dies))
    }

    pub fn entries(&self, die: DieId) -> impl Iterator<Item = (PagePair, PairEntry<'_>)> {
        self.lists
            .get(die.index())
            .into_iter()
            .flat_map(|list| list.lru.newest_first().into_iter().map(|(at, pair)| (pair, list.entry(at, self.dies))))
    }

    pub fn appearances(&self, die: DieId, lpn: Lpn, pair: PagePair) -> usize {
        self.entries(die).filter(|&(other, _)| other != pair && other.has(lpn)).count()
    }

    /// Clears the list of `die` after one of its pages was chosen for replication, because its copy changes which collisions another copy would
    /// avoid.
    pub fn clear(&mut self, die: DieId) {
        if let Some(list) = self.lists.get_mut(die.index()) {
            list.lru.clear();
            list.occurrences.clear();
            list.first.clear();
            list.slack.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: DieId = DieId(0);
    const NONE: [u64; 1] = [0];

    fn pair(first: u32, second: u32) -> PagePair {
        PagePair::new(Lpn(first), Lpn(second))
    }

    fn occurrences(lists: &PairLists, die: DieId) -> Vec<u16> {
        lists.entries(die).map(|(_, entry)| entry.occurrences()).collect()
    }

    #[test]
    fn a_slack_counter_counts_dies_with_at_least_two_reads_fewer() {
        let mut lists = PairLists::new(4, 5);
        let entry = lists.collided(OWNER, pair(1, 2), &[0b1100]).expect("lists have entries");
        assert_eq!([0, 1, 2, 3].map(|die| entry.slack(DieId(die))), [0, 0, 1, 1]);
        assert_eq!((entry.occurrences(), entry.max_slack()), (1, (DieId(2), 1)));
        let entry = lists.collided(OWNER, pair(1, 2), &[0b1010]).expect("lists have entries");
        assert_eq!([0, 1, 2, 3].map(|die| entry.slack(DieId(die))), [0, 1, 1, 2]);
        assert_eq!((entry.occurrences(), entry.max_slack()), (2, (DieId(3), 2)));
    }

    #[test]
    fn a_full_list_evicts_the_least_recently_used_pair() {
        let mut lists = PairLists::new(2, 2);
        for (first, second) in [(1, 2), (3, 4), (2, 1), (5, 6)] {
            lists.collided(OWNER, pair(first, second), &[0b10]);
        }
        let pairs: Vec<PagePair> = lists.entries(OWNER).map(|(pair, _)| pair).collect();
        assert_eq!(pairs, [pair(5, 6), pair(1, 2)]);
        assert_eq!(occurrences(&lists, OWNER), [1, 2]);
        // Pair (3, 4) was evicted as the least recently used one, so its occurrences start at 1 again.
        let entry = lists.collided(OWNER, pair(3, 4), &[0b10]).expect("lists have entries");
        assert_eq!((entry.occurrences(), entry.slack(DieId(1))), (1, 1));
    }

    #[test]
    fn each_die_has_a_list_of_its_own() {
        let mut lists = PairLists::new(2, 5);
        lists.collided(OWNER, pair(1, 2), &NONE);
        lists.collided(DieId(1), pair(1, 2), &NONE);
        lists.collided(DieId(1), pair(1, 3), &NONE);
        assert_eq!(
            (lists.appearances(DieId(1), Lpn(1), pair(1, 2)), lists.appearances(OWNER, Lpn(1), pair(1, 2))),
            (1, 0)
        );
        lists.clear(DieId(1));
        assert_eq!((lists.entries(DieId(1)).count(), lists.entries(OWNER).count()), (0, 1));
        lists.collided(DieId(1), pair(1, 2), &NONE);
        assert_eq!(occurrences(&lists, DieId(1)), [1]);
    }

    #[test]
    fn a_list_without_entries_keeps_nothing() {
        let mut lists = PairLists::new(2, 0);
        assert!(lists.collided(OWNER, pair(1, 2), &NONE).is_none());
    }

    #[test]
    fn scanned_and_hashed_lists_agree_with_plain_vectors() {
        for length in [1, 2, 7, 100] {
            let mut lists = PairLists::new(2, length as u32);
            let mut plain: Vec<(PagePair, u16)> = Vec::new();
            let mut state = 1_u64;
            for round in 0..10_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let now = pair((state >> 33) as u32 % 4, 4 + (state >> 50) as u32 % 5);
                lists.collided(OWNER, now, &NONE);
                let before = plain.iter().position(|(pair, _)| *pair == now).map(|at| plain.remove(at));
                plain.insert(0, (now, before.map_or(0, |(_, count)| count) + 1));
                plain.truncate(length);
                if round % 500 == 499 {
                    lists.clear(OWNER);
                    plain.clear();
                }
                let found: Vec<_> = lists.entries(OWNER).map(|(pair, entry)| (pair, entry.occurrences())).collect();
                assert_eq!(found, plain);
            }
        }
    }
}
