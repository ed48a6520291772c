//! Stack distances (reuse distances): the number of distinct other pages accessed since the last access of a page.

use rustc_hash::FxHashMap;

/// An LRU stack of pages. Distances are computed by a Fenwick tree over the times of last accesses (Bennett and Kruskal, "LRU
/// stack processing", 1975). Memory grows with the number of distinct pages.
#[derive(Clone, Debug)]
pub(super) struct StackDistances {
    last: FxHashMap<u64, u32>,
    /// A Fenwick tree with a mark at the time of each last access; index 0 is unused.
    tree: Vec<u32>,
    now: u32,
}

const SLOTS_MIN: usize = 1 << 12;

impl Default for StackDistances {
    fn default() -> StackDistances {
        StackDistances { last: FxHashMap::default(), tree: vec![0; SLOTS_MIN + 1], now: 0 }
    }
}

impl StackDistances {
    /// Accesses a page. Returns the number of distinct other pages accessed since its last access; `None` for its first.
    pub(super) fn access(&mut self, page: u64) -> Option<u64> {
        if self.now as usize == self.tree.len() - 1 {
            self.compact();
        }
        self.now += 1;
        let before = self.last.insert(page, self.now);
        let distance = before.map(|before| {
            let distance = self.last.len() as u64 - u64::from(self.sum(before));
            self.change(before, false);
            distance
        });
        self.change(self.now, true);
        distance
    }

    /// Returns the number of pages last accessed at `time` or before.
    fn sum(&self, time: u32) -> u32 {
        let (mut at, mut sum) = (time as usize, 0);
        while at > 0 {
            sum += self.tree[at];
            at &= at - 1;
        }
        sum
    }

    fn change(&mut self, time: u32, marked: bool) {
        let mut at = time as usize;
        while at < self.tree.len() {
            self.tree[at] = if marked { self.tree[at] + 1 } else { self.tree[at] - 1 };
            at += at & at.wrapping_neg();
        }
    }

    /// Renumbers the times of the last accesses without gaps, and leaves space for as many further accesses as there are pages.
    #[cold]
    fn compact(&mut self) {
        let mut by_time: Vec<(u32, u64)> = self.last.iter().map(|(&page, &time)| (time, page)).collect();
        by_time.sort_unstable();
        self.tree = vec![0; (2 * by_time.len()).max(SLOTS_MIN) + 1];
        self.now = 0;
        for (_, page) in by_time {
            self.now += 1;
            self.last.insert(page, self.now);
            self.tree[self.now as usize] += 1;
        }
        for at in 1..self.tree.len() {
            let parent = at + (at & at.wrapping_neg());
            if parent < self.tree.len() {
                self.tree[parent] += self.tree[at];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn distances_are_those_of_a_list_kept_by_hand() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(9);
        let (mut stack, mut list) = (StackDistances::default(), Vec::new());
        for round in 0..20_000_u64 {
            // Skewed: small page numbers occur often, large ones once.
            let page = random.next_u64() % (1 + random.next_u64() % 800);
            let place = list.iter().rev().position(|&listed| listed == page);
            assert_eq!(stack.access(page), place.map(|place| place as u64), "round {round}");
            list.retain(|&listed| listed != page);
            list.push(page);
        }
    }
}
