//! Outstanding reads of each die, and the collisions of arriving reads.

use crate::ids::{DieId, Lpn, TransactionId};

pub(super) const BITS: usize = u64::BITS as usize;

pub(super) fn die_words(dies: usize) -> usize {
    dies.div_ceil(BITS)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collision {
    /// With this read, the die has at most one more outstanding read than the least loaded die, so no other die would have had fewer.
    Balanced,
    /// With this read, the die has at least two more outstanding reads than the least loaded die, which could have served the read earlier.
    Imbalanced,
}

/// Counts of outstanding reads at the arrival of a read at its die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Reads outstanding on the die, including the arriving one.
    pub outstanding: u32,
    /// Reads outstanding on all dies, including the arriving one.
    pub outstanding_total: u32,
    /// Collision of the read with other reads of its die; `None` if the die has no others.
    pub collision: Option<Collision>,
}

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    id: TransactionId,
    lpn: Lpn,
    /// Whether the pairs of this read with earlier reads of its die were recorded, which happens when a read arrives in an imbalanced collision
    /// (another die has at least two fewer outstanding reads).
    is_recorded: bool,
}

/// Outstanding reads of each die: the outstanding command counts (OCC) of Patterned Read Collisions, IEEE Access 2023.
#[derive(Clone, Debug)]
pub struct OutstandingReads {
    dies: Vec<Vec<Outstanding>>,
    /// For each number k, the bit set of the dies with at most k outstanding reads, one after the other, from k = 0.
    at_most: Vec<u64>,
    words: usize,
    idle: u32,
    total: u32,
}

impl OutstandingReads {
    pub fn new(dies: u32) -> OutstandingReads {
        let reads = vec![Vec::new(); dies as usize];
        OutstandingReads { dies: reads, at_most: Vec::new(), words: die_words(dies as usize), idle: dies, total: 0 }
    }

    pub fn enter(&mut self, die: DieId, id: TransactionId, lpn: Lpn) -> Arrival {
        let reads = &mut self.dies[die.index()];
        let before = reads.len();
        reads.push(Outstanding { id, lpn, is_recorded: false });
        self.total += 1;
        self.idle -= u32::from(before == 0);
        if self.at_most.len() <= before * self.words {
            self.add_row();
        }
        self.at_most[before * self.words + die.index() / BITS] &= !(1 << (die.index() % BITS));
        // Avoid a branch on whether the die was idle, because the CPU would often mispredict it.
        let row = before.saturating_sub(1) * self.words;
        let some_have_fewer = self.at_most[row..row + self.words].iter().any(|&dies| dies != 0);
        let collision = match (before > 0, (before > 0) & some_have_fewer) {
            (_, true) => Some(Collision::Imbalanced),
            (true, false) => Some(Collision::Balanced),
            (false, false) => None,
        };
        Arrival { outstanding: before as u32 + 1, outstanding_total: self.total, collision }
    }

    #[cold]
    fn add_row(&mut self) {
        let mut left = self.dies.len();
        for _ in 0..self.words {
            let bits = left.min(BITS);
            self.at_most.push(u64::MAX >> (BITS - bits));
            left -= bits;
        }
    }

    /// Removes a read from the outstanding reads of `die`. Returns false, and removes nothing, if the read is not outstanding on `die`.
    pub fn leave(&mut self, die: DieId, id: TransactionId) -> bool {
        let reads = &mut self.dies[die.index()];
        let Some(at) = reads.iter().position(|read| read.id == id) else { return false };
        let before = reads.len();
        // Shift the later reads one by one, because they are few.
        (at + 1..before).for_each(|later| reads[later - 1] = reads[later]);
        reads.pop();
        let after = before - 1;
        self.total -= 1;
        self.idle += u32::from(after == 0);
        self.at_most[after * self.words + die.index() / BITS] |= 1 << (die.index() % BITS);
        true
    }

    /// Calls `record` with the two pages of each pair of outstanding reads of `die` that was not recorded yet. Call this at an imbalanced collision
    /// on `die`. A pair counts each time its reads are outstanding together \[choice\]. Two reads of one page are not a pair.
    pub fn record_pairs(&mut self, die: DieId, mut record: impl FnMut(Lpn, Lpn)) {
        let reads = &mut self.dies[die.index()];
        let Some((newest, before)) = reads.split_last_mut() else { return };
        // The previous call recorded all pairs of the reads then outstanding. Only reads that arrived later have missing pairs: with all reads before
        // them.
        for at in 0..before.len() {
            let second = before[at];
            if !second.is_recorded {
                before[..at]
                    .iter()
                    .filter(|first| first.lpn != second.lpn)
                    .for_each(|first| record(first.lpn, second.lpn));
                before[at].is_recorded = true;
            }
        }
        newest.is_recorded = true;
        before.iter().filter(|first| first.lpn != newest.lpn).for_each(|first| record(first.lpn, newest.lpn));
    }

    pub fn outstanding(&self, die: DieId) -> u32 {
        self.dies[die.index()].len() as u32
    }

    /// Returns the bit set of the dies with at least two fewer reads than `outstanding`; empty if `outstanding` is below 2. `outstanding` is at most
    /// one above the largest count of a die.
    pub fn dies_with_fewer(&self, outstanding: u32) -> &[u64] {
        let first = (outstanding as usize).wrapping_sub(2).wrapping_mul(self.words);
        self.at_most.get(first..first.wrapping_add(self.words)).unwrap_or_default()
    }

    /// Returns whether a die with `outstanding` reads has at least two more than the least loaded die.
    pub fn is_imbalanced(&self, outstanding: u32) -> bool {
        self.dies_with_fewer(outstanding).iter().any(|&dies| dies != 0)
    }

    /// Returns the number of pairs of reads that are outstanding together on a die with an imbalanced collision (another die has at least two fewer
    /// outstanding reads), over all such dies. Two reads of one page are not a pair.
    pub fn imbalanced_pairs(&self) -> u64 {
        let pairs_of = |reads: &[Outstanding]| {
            let before = |at: usize| reads[..at].iter().filter(move |first| first.lpn != reads[at].lpn).count() as u64;
            (1..reads.len()).map(before).sum::<u64>()
        };
        let collides = |reads: &&Vec<Outstanding>| reads.len() > 1 && self.is_imbalanced(reads.len() as u32);
        self.dies.iter().filter(collides).map(|reads| pairs_of(reads)).sum()
    }

    pub fn total(&self) -> u32 {
        self.total
    }

    pub fn dies(&self) -> u32 {
        self.dies.len() as u32
    }

    pub fn idle_dies(&self) -> u32 {
        self.idle
    }

    /// Returns whether some die has more than one outstanding read.
    pub fn collides(&self) -> bool {
        self.total > self.dies() - self.idle_dies()
    }

    /// Returns the outstanding read of `lpn` on `die` that arrived last; `None` if no read of `lpn` is outstanding on `die`.
    pub fn read_of(&self, die: DieId, lpn: Lpn) -> Option<TransactionId> {
        self.dies[die.index()].iter().rev().find(|read| read.lpn == lpn).map(|read| read.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds reads, given as (die, page), to an idle drive. Returns the arrival of the last one, and the outstanding reads.
    fn arrive(dies: u32, reads: &[(u32, u32)]) -> (Arrival, OutstandingReads) {
        let mut occupancy = OutstandingReads::new(dies);
        let mut last = None;
        for (number, &(die, lpn)) in reads.iter().enumerate() {
            last = Some(occupancy.enter(DieId(die), TransactionId(number as u32), Lpn(lpn)));
        }
        (last.expect("there are reads"), occupancy)
    }

    fn pairs(occupancy: &mut OutstandingReads, die: u32) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        occupancy.record_pairs(DieId(die), |first, second| pairs.push((first.0, second.0)));
        pairs
    }

    #[test]
    fn figure_2a_a_read_that_arrives_while_all_dies_are_busy_is_a_balanced_collision() {
        let busy = [(0, 1), (1, 2), (2, 3), (3, 4)];
        for die in 0..4 {
            let (arrival, occupancy) = arrive(4, &[&busy[..], &[(die, 5)]].concat());
            assert_eq!(arrival, Arrival { outstanding: 2, outstanding_total: 5, collision: Some(Collision::Balanced) });
            assert_eq!(occupancy.imbalanced_pairs(), 0);
        }
    }

    #[test]
    fn figure_2b_a_read_that_an_idle_die_could_have_served_is_an_imbalanced_collision() {
        // When C arrives, A and B are outstanding on die 0 and D on die 1. Die 0 then has three reads more than the idle dies 2 and 3.
        let (a, b, c, d) = (1, 2, 3, 4);
        let (arrival, mut occupancy) = arrive(4, &[(0, a), (0, b), (1, d), (0, c)]);
        assert_eq!((arrival.outstanding, arrival.collision), (3, Some(Collision::Imbalanced)));
        assert_eq!(pairs(&mut occupancy, 0), [(a, b), (a, c), (b, c)]);
        assert_eq!((occupancy.idle_dies(), occupancy.collides()), (2, true));
        assert_eq!(occupancy.imbalanced_pairs(), 3);
    }

    #[test]
    fn a_pair_counts_once_for_each_time_that_both_are_outstanding() {
        let (_, mut occupancy) = arrive(2, &[(0, 1), (0, 2)]);
        assert_eq!(pairs(&mut occupancy, 0), [(1, 2)]);
        occupancy.enter(DieId(0), TransactionId(2), Lpn(3));
        assert_eq!(pairs(&mut occupancy, 0), [(1, 3), (2, 3)]);
        assert!(occupancy.leave(DieId(0), TransactionId(0)) && !occupancy.leave(DieId(0), TransactionId(0)));
        occupancy.enter(DieId(0), TransactionId(0), Lpn(1));
        assert_eq!(pairs(&mut occupancy, 0), [(2, 1), (3, 1)]);
    }

    #[test]
    fn two_reads_of_one_page_collide_but_are_no_pair() {
        let (arrival, mut occupancy) = arrive(2, &[(0, 1), (0, 1)]);
        assert_eq!(arrival.collision, Some(Collision::Imbalanced));
        assert_eq!(pairs(&mut occupancy, 0), []);
        assert_eq!(occupancy.imbalanced_pairs(), 0);
    }

    #[test]
    fn dies_with_fewer_reads_match_a_recount_after_random_arrivals_and_departures() {
        for dies in [1, 5, 64, 65, 130] {
            let mut occupancy = OutstandingReads::new(dies);
            let mut plain: Vec<Vec<u32>> = vec![Vec::new(); dies as usize];
            let mut random = crate::engine::random::SimRng::new(u64::from(dies));
            for id in 0..5_000 {
                let die = random.below(dies);
                let reads = &mut plain[die as usize];
                if random.below(100) < 52 {
                    reads.push(id);
                    let own = reads.len();
                    let least = plain.iter().map(Vec::len).min().expect("the drive has dies");
                    let is_imbalanced = own - least >= 2;
                    let arrival = occupancy.enter(DieId(die), TransactionId(id), Lpn(id));
                    assert_eq!(arrival.collision == Some(Collision::Imbalanced), is_imbalanced);
                    let has_fewer = |die: usize| plain[die].len() + 2 <= own;
                    let set = occupancy.dies_with_fewer(own as u32);
                    let told = |die: usize| set.get(die / BITS).is_some_and(|word| word >> (die % BITS) & 1 != 0);
                    assert!((0..dies as usize).all(|die| told(die) == has_fewer(die)));
                    let beyond = set.last().is_some_and(|word| dies % 64 != 0 && word >> (dies % 64) != 0);
                    assert!(!beyond, "a bit beyond the last die is set");
                } else if !reads.is_empty() {
                    let id = reads.remove(random.below(reads.len() as u32) as usize);
                    assert!(occupancy.leave(DieId(die), TransactionId(id)));
                }
                assert_eq!(occupancy.idle_dies() as usize, plain.iter().filter(|reads| reads.is_empty()).count());
            }
        }
    }

    #[test]
    fn collisions_are_classified_by_the_currently_least_loaded_die() {
        let (_, mut occupancy) = arrive(2, &[(0, 1), (1, 2), (0, 3), (1, 4)]);
        assert_eq!(occupancy.enter(DieId(0), TransactionId(9), Lpn(5)).collision, Some(Collision::Balanced));
        occupancy.leave(DieId(1), TransactionId(1));
        occupancy.leave(DieId(1), TransactionId(3));
        let arrival = occupancy.enter(DieId(0), TransactionId(10), Lpn(6));
        assert_eq!((arrival.outstanding, arrival.collision), (4, Some(Collision::Imbalanced)));
        assert_eq!((occupancy.outstanding(DieId(0)), occupancy.outstanding(DieId(1)), occupancy.total()), (4, 0, 4));
        assert_eq!(occupancy.read_of(DieId(0), Lpn(6)), Some(TransactionId(10)));
    }
}
