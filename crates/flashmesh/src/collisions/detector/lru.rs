//! LRU order of the pairs in a pair list.

use crate::collisions::PagePair;
use crate::ids::Lpn;

/// Maximum length of a list that is searched linearly; longer lists use a hash table.
const SCANNED_MAX: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TouchOutcome {
    /// Index of the pair in the tables of the caller. A new pair gets the next free index; in a full list, the index of the evicted pair.
    pub at: usize,
    pub is_new: bool,
}

#[derive(Clone, Debug)]
pub(super) enum LruOrder {
    Scanned(Scanned),
    Hashed(Hashed),
}

impl LruOrder {
    pub fn new(pairs_max: usize) -> LruOrder {
        if pairs_max <= SCANNED_MAX {
            LruOrder::Scanned(Scanned { pairs_max, keys: Vec::new(), order: 0 })
        } else {
            LruOrder::Hashed(Hashed::new(pairs_max))
        }
    }

    /// Marks a pair as the most recently used. In a full list, a new pair evicts the least recently used pair and takes its index.
    pub fn touch(&mut self, pair: PagePair) -> TouchOutcome {
        match self {
            LruOrder::Scanned(scanned) => scanned.touch(pair),
            LruOrder::Hashed(hashed) => hashed.touch(pair),
        }
    }

    /// Returns the index and the pair of each entry, most recently used first.
    pub fn newest_first(&self) -> Vec<(usize, PagePair)> {
        match self {
            LruOrder::Scanned(scanned) => scanned.newest_first(),
            LruOrder::Hashed(hashed) => hashed.newest_first(),
        }
    }

    pub fn clear(&mut self) {
        match self {
            LruOrder::Scanned(scanned) => {
                scanned.keys.clear();
                scanned.order = 0;
            }
            LruOrder::Hashed(hashed) => hashed.clear(),
        }
    }
}

/// Order of a short list, which is searched linearly.
#[derive(Clone, Debug)]
pub(super) struct Scanned {
    pairs_max: usize,
    keys: Vec<u64>,
    /// Indices of the pairs in LRU order, four bits each; the most recently used index is in the lowest bits.
    order: u64,
}

impl Scanned {
    fn touch(&mut self, pair: PagePair) -> TouchOutcome {
        let key = pair.key();
        let found = self.keys.iter().position(|&other| other == key);
        let at = found.unwrap_or_else(|| {
            if self.keys.len() < self.pairs_max {
                self.keys.push(0);
                return self.keys.len() - 1;
            }
            self.position(self.keys.len() - 1)
        });
        // Shift the indices that were used more recently than `at` by one position; for a new pair, shift all.
        let place = if found.is_some() { self.place_of(at) } else { self.keys.len() - 1 };
        let later = (1 << (4 * place)) - 1;
        let through = later << 4 | 15;
        self.order = self.order & !through | (self.order & later) << 4 | at as u64;
        self.keys[at] = key;
        TouchOutcome { at, is_new: found.is_none() }
    }

    fn position(&self, place: usize) -> usize {
        (self.order >> (4 * place) & 15) as usize
    }

    fn place_of(&self, at: usize) -> usize {
        (0..self.keys.len()).find(|&place| self.position(place) == at).unwrap_or_default()
    }

    fn newest_first(&self) -> Vec<(usize, PagePair)> {
        let positions = (0..self.keys.len()).map(|place| self.position(place));
        positions.map(|at| (at, PagePair::from_key(self.keys[at]))).collect()
    }
}

/// Link to no pair. Every other link is the index of a pair plus one.
const NONE: u32 = 0;

#[derive(Clone, Copy, Debug)]
struct Node {
    pair: PagePair,
    /// Link to the pair used next after this one (`older`: the one used before). `next` is the next pair of the same hash chain.
    newer: u32,
    older: u32,
    next: u32,
}

/// Order of a long list, as a linked list with a hash table (Patterned Read Collisions, IEEE Access 2023).
#[derive(Clone, Debug)]
pub(super) struct Hashed {
    pairs_max: usize,
    nodes: Vec<Node>,
    newest: u32,
    oldest: u32,
    /// Links to the first pair of each hash chain, indexed by the low bits of the hash. Their number is a power of two.
    buckets: Vec<u32>,
}

impl Hashed {
    fn new(pairs_max: usize) -> Hashed {
        let buckets = vec![NONE; (2 * pairs_max).next_power_of_two()];
        Hashed { pairs_max, nodes: Vec::new(), newest: NONE, oldest: NONE, buckets }
    }

    fn node(&mut self, link: u32) -> &mut Node {
        &mut self.nodes[link as usize - 1]
    }

    fn bucket(&self, pair: PagePair) -> usize {
        pair.hash() as usize & (self.buckets.len() - 1)
    }

    fn touch(&mut self, pair: PagePair) -> TouchOutcome {
        let bucket = self.bucket(pair);
        let mut link = self.buckets[bucket];
        while link != NONE && self.nodes[link as usize - 1].pair != pair {
            link = self.nodes[link as usize - 1].next;
        }
        let is_new = link == NONE;
        if is_new {
            // Test for a new pair first, because most pairs are new.
            link = self.place();
            *self.node(link) = Node { pair, newer: NONE, older: NONE, next: self.buckets[bucket] };
            self.buckets[bucket] = link;
        } else if link == self.newest {
            return TouchOutcome { at: link as usize - 1, is_new };
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
        TouchOutcome { at: link as usize - 1, is_new }
    }

    /// Returns the link of the node for a new pair: a new node or, in a full list, the node of the least recently used pair, which is evicted.
    fn place(&mut self) -> u32 {
        if self.nodes.len() < self.pairs_max {
            let pair = PagePair::new(Lpn(0), Lpn(0));
            self.nodes.push(Node { pair, newer: NONE, older: NONE, next: NONE });
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

    fn newest_first(&self) -> Vec<(usize, PagePair)> {
        let mut link = self.newest;
        let next = || {
            let at = (link as usize).checked_sub(1)?;
            let Node { pair, older, .. } = self.nodes[at];
            link = older;
            Some((at, pair))
        };
        std::iter::from_fn(next).collect()
    }

    fn clear(&mut self) {
        for at in 0..self.nodes.len() {
            let bucket = self.bucket(self.nodes[at].pair);
            self.buckets[bucket] = NONE;
        }
        self.nodes.clear();
        (self.newest, self.oldest) = (NONE, NONE);
    }
}
