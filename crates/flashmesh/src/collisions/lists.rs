//! The list of collision pairs of each die (section III.A of the paper): at most `l_R` entries, the least recently used one makes way.

use super::Pair;
use crate::ids::{DieId, Lpn};

/// No entry: positions are stored plus one, so that the system zeroes long tables lazily.
const NONE: u32 = 0;

/// What is known of a pair of pages that collided on a die.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    occurrences: u16,
    /// By die: how often it had at least two reads fewer outstanding than the owner of the list as the pair collided. That of
    /// the owner itself is never counted; the hardware keeps the occurrences in its place \[choice\].
    slack: &'a [u16],
}

impl Entry<'_> {
    /// How often the pair collided out of balance.
    pub fn occurrences(self) -> u16 {
        self.occurrences
    }

    /// The slack counter of `die`.
    pub fn slack(self, die: DieId) -> u16 {
        self.slack[die.index()]
    }

    /// The die with the largest slack counter, and that; the first one of equals.
    #[inline]
    pub fn best(self) -> (DieId, u16) {
        let most = self.slack.iter().copied().fold(0, u16::max);
        let die = self.slack.iter().position(|&slack| slack == most).unwrap_or_default();
        (DieId(die as u32), most)
    }
}

/// A pair in the list of its die.
#[derive(Clone, Copy, Debug)]
struct Node {
    pair: Pair,
    occurrences: u16,
    /// The entry used just after this one, and just before it.
    newer: u32,
    older: u32,
    /// The next entry of the same bucket.
    next: u32,
}

/// The list of one die: entries in flat arrays, linked by use and found by hash, as the paper has it.
#[derive(Clone, Debug)]
struct PairList {
    nodes: Vec<Node>,
    /// The slack counters of each entry, one after the other.
    slack: Vec<u16>,
    newest: u32,
    oldest: u32,
    /// By hash of a pair: the first entry. A power of two of them.
    buckets: Vec<u32>,
}

impl PairList {
    fn new(entries_max: usize) -> PairList {
        let buckets = vec![NONE; (2 * entries_max).next_power_of_two()];
        PairList { nodes: Vec::new(), slack: Vec::new(), newest: NONE, oldest: NONE, buckets }
    }

    #[inline]
    fn node(&mut self, link: u32) -> &mut Node {
        &mut self.nodes[link as usize - 1]
    }

    #[inline]
    fn bucket(&self, pair: Pair) -> usize {
        pair.scattered() as usize & (self.buckets.len() - 1)
    }

    /// The position of a pair, the one used last from now on: a new entry when there was none, whose counters are to be set.
    #[inline]
    fn touch(&mut self, pair: Pair, entries_max: usize, dies: usize) -> usize {
        let bucket = self.bucket(pair);
        let mut link = self.buckets[bucket];
        while link != NONE && self.nodes[link as usize - 1].pair != pair {
            link = self.nodes[link as usize - 1].next;
        }
        if link == NONE {
            // Most pairs are new.
            link = self.place(entries_max, dies);
            *self.node(link) = Node { pair, occurrences: 0, newer: NONE, older: NONE, next: self.buckets[bucket] };
            self.buckets[bucket] = link;
        } else if link == self.newest {
            return link as usize - 1;
        } else {
            self.unlink(link);
        }
        let older = std::mem::replace(&mut self.newest, link);
        *self.node(link) = Node { newer: NONE, older, ..*self.node(link) };
        if older == NONE {
            self.oldest = link;
        } else {
            self.node(older).newer = link;
        }
        link as usize - 1
    }

    /// A place for a new entry: that of the least recently used one when the list is full.
    #[inline]
    fn place(&mut self, entries_max: usize, dies: usize) -> u32 {
        if self.nodes.len() < entries_max {
            let pair = Pair::new(Lpn(0), Lpn(0));
            self.nodes.push(Node { pair, occurrences: 0, newer: NONE, older: NONE, next: NONE });
            self.slack.resize(self.slack.len() + dies, 0);
            return self.nodes.len() as u32;
        }
        let link = self.oldest;
        let Node { pair, next, .. } = *self.node(link);
        let bucket = self.bucket(pair);
        if self.buckets[bucket] == link {
            self.buckets[bucket] = next;
        } else {
            let mut before = self.buckets[bucket];
            while self.node(before).next != link {
                before = self.node(before).next;
            }
            self.node(before).next = next;
        }
        self.unlink(link);
        link
    }

    /// Takes an entry out of the order of use.
    #[inline]
    fn unlink(&mut self, link: u32) {
        let Node { newer, older, .. } = *self.node(link);
        match newer {
            NONE => self.newest = older,
            _ => self.node(newer).older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.node(older).newer = newer,
        }
    }

    fn clear(&mut self) {
        for at in 0..self.nodes.len() {
            let bucket = self.bucket(self.nodes[at].pair);
            self.buckets[bucket] = NONE;
        }
        self.nodes.clear();
        self.slack.clear();
        (self.newest, self.oldest) = (NONE, NONE);
    }
}

/// The collision pair lists of all dies.
#[derive(Debug)]
pub struct PairLists {
    entries_max: usize,
    dies: usize,
    /// By die; none with lists of no entries.
    lists: Vec<PairList>,
}

impl PairLists {
    /// Empty lists of `dies` dies, each with at most `entries_max` entries, `l_R`.
    pub fn new(dies: u32, entries_max: u32) -> PairLists {
        let (dies, entries_max) = (dies as usize, entries_max as usize);
        let lists = if entries_max == 0 { 0 } else { dies };
        PairLists { entries_max, dies, lists: vec![PairList::new(entries_max); lists] }
    }

    /// `pair` collided on `die`; `outstanding` has the reads outstanding on each die. Gives its entry, brought up to now; nothing
    /// with lists of no entries.
    #[inline]
    pub fn collided(&mut self, die: DieId, pair: Pair, outstanding: &[u32]) -> Option<Entry<'_>> {
        let list = self.lists.get_mut(die.index())?;
        let at = list.touch(pair, self.entries_max, self.dies);
        let node = &mut list.nodes[at];
        // What an entry had that made way does not count.
        let kept = if node.occurrences == 0 { 0 } else { u16::MAX };
        node.occurrences = node.occurrences.saturating_add(1);
        let slack = &mut list.slack[at * self.dies..(at + 1) * self.dies];
        let own = outstanding[die.index()];
        let outstanding = &outstanding[..slack.len()];
        for (other, slack) in slack.iter_mut().enumerate() {
            *slack = (*slack & kept).saturating_add(u16::from(outstanding[other] + 2 <= own));
        }
        Some(Entry { occurrences: node.occurrences, slack })
    }

    /// The entries of `die`, the one used last first.
    pub fn entries(&self, die: DieId) -> impl Iterator<Item = (Pair, Entry<'_>)> {
        let list = self.lists.get(die.index());
        let mut link = list.map_or(NONE, |list| list.newest);
        std::iter::from_fn(move || {
            let list = list.filter(|_| link != NONE)?;
            let at = link as usize - 1;
            let Node { pair, occurrences, older, .. } = list.nodes[at];
            link = older;
            Some((pair, Entry { occurrences, slack: &list.slack[at * self.dies..(at + 1) * self.dies] }))
        })
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
    const IDLE: [u32; 2] = [0, 0];

    fn pair(first: u32, second: u32) -> Pair {
        Pair::new(Lpn(first), Lpn(second))
    }

    fn occurrences(lists: &PairLists, die: DieId) -> Vec<u16> {
        lists.entries(die).map(|(_, entry)| entry.occurrences()).collect()
    }

    #[test]
    fn a_slack_counter_counts_dies_with_at_least_two_reads_fewer() {
        let mut lists = PairLists::new(4, 5);
        let entry = lists.collided(OWNER, pair(1, 2), &[3, 2, 1, 0]).expect("lists have entries");
        assert_eq!([0, 1, 2, 3].map(|die| entry.slack(DieId(die))), [0, 0, 1, 1]);
        assert_eq!((entry.occurrences(), entry.best()), (1, (DieId(2), 1)));
    }

    #[test]
    fn the_least_recently_used_pair_makes_way() {
        let mut lists = PairLists::new(2, 2);
        for (first, second) in [(1, 2), (3, 4), (2, 1), (5, 6)] {
            lists.collided(OWNER, pair(first, second), &[2, 0]);
        }
        let pairs: Vec<Pair> = lists.entries(OWNER).map(|(pair, _)| pair).collect();
        assert_eq!(pairs, [pair(5, 6), pair(1, 2)]);
        assert_eq!(occurrences(&lists, OWNER), [1, 2]);
        // What comes back begins anew.
        let entry = lists.collided(OWNER, pair(3, 4), &[2, 0]).expect("lists have entries");
        assert_eq!((entry.occurrences(), entry.slack(DieId(1))), (1, 1));
    }

    #[test]
    fn lists_are_those_of_their_dies() {
        let mut lists = PairLists::new(2, 5);
        lists.collided(OWNER, pair(1, 2), &IDLE);
        lists.collided(DieId(1), pair(1, 2), &IDLE);
        lists.collided(DieId(1), pair(1, 3), &IDLE);
        assert_eq!(
            (lists.appearances(DieId(1), Lpn(1), pair(1, 2)), lists.appearances(OWNER, Lpn(1), pair(1, 2))),
            (1, 0)
        );
        lists.clear(DieId(1));
        assert_eq!((lists.entries(DieId(1)).count(), lists.entries(OWNER).count()), (0, 1));
        lists.collided(DieId(1), pair(1, 2), &IDLE);
        assert_eq!(occurrences(&lists, DieId(1)), [1]);
    }

    #[test]
    fn a_list_without_entries_keeps_nothing() {
        let mut lists = PairLists::new(2, 0);
        assert!(lists.collided(OWNER, pair(1, 2), &IDLE).is_none());
    }

    #[test]
    fn long_and_short_lists_agree_with_plain_ones() {
        for length in [1, 2, 7, 100] {
            let mut lists = PairLists::new(2, length as u32);
            let mut plain: Vec<(Pair, u16)> = Vec::new();
            let mut state = 1_u64;
            for round in 0..10_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let now = pair((state >> 33) as u32 % 4, 4 + (state >> 50) as u32 % 5);
                lists.collided(OWNER, now, &IDLE);
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
