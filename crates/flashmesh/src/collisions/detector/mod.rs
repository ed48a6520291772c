//! Choice of the page to replicate and its target die: lists of colliding pairs give candidates, whose benefit must exceed their cost (Patterned Read
//! Collisions, IEEE Access 2023, section III.A).

mod lru;
mod pair_lists;
mod rates;

use super::{OutstandingReads, PagePair};
use crate::ids::{DieId, Lpn};
use crate::units::Time;
use pair_lists::PairLists;
use rates::ReadRates;

#[derive(Clone, Copy, Debug)]
pub struct DetectorRules {
    /// Maximum length of the list of colliding pairs of a die (`l_R` in Patterned Read Collisions, IEEE Access 2023); 0 turns off
    /// replication.
    pub pairs_per_die: u32,
    /// Length of the windows in which the reads of a die are counted, to estimate its read rate.
    pub rate_window: Time,
    /// Read time of a page (`t_READ`): the wait of a read for each earlier read of its die.
    pub read_time: Time,
    /// Program time of a page (`t_PROG`): the maximum delay of a read of the target die by the program of a copy.
    pub program_time: Time,
}

/// Decision to copy page `lpn` from die `from`, on which its reads collide, to die `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicationDecision {
    pub lpn: Lpn,
    pub from: DieId,
    pub to: DieId,
    /// Slack counter of `to`: number of collisions of the page's pair that a copy on `to` would have avoided.
    pub slack: u16,
}

#[derive(Clone, Debug)]
pub struct Detector {
    rules: DetectorRules,
    lists: PairLists,
    rates: ReadRates,
    pairs: Vec<PagePair>,
}

impl Detector {
    pub fn new(dies: u32, rules: DetectorRules) -> Detector {
        let (lists, rates) = (PairLists::new(dies, rules.pairs_per_die), ReadRates::new(dies, rules.rate_window));
        Detector { rules, lists, rates, pairs: Vec::new() }
    }

    #[cfg(test)]
    pub fn lists(&self) -> &PairLists {
        &self.lists
    }

    pub fn issued(&mut self, die: DieId, now: Time) {
        self.rates.count(die, now);
    }

    /// Returns the page to replicate and its target die, and clears the list of `die`. Returns `None` if no pair of the collision has a
    /// copy that `may` allows and whose benefit exceeds its cost.
    ///
    /// Call this when a read arrives on `die` in an imbalanced collision (another die has at least two fewer outstanding reads), after
    /// [`Detector::pair`] for each pair of colliding reads. The arguments of `may` are the page and the target die.
    pub fn collided(
        &mut self,
        die: DieId,
        occupancy: &OutstandingReads,
        now: Time,
        may: impl Fn(Lpn, DieId) -> bool,
    ) -> Option<ReplicationDecision> {
        let mut pairs = std::mem::take(&mut self.pairs);
        let fewer = occupancy.dies_with_fewer(occupancy.outstanding(die));
        let found = pairs.iter().find_map(|&pair| self.update(die, pair, fewer, now, &may));
        pairs.clear();
        self.pairs = pairs;
        if found.is_some() {
            self.lists.clear(die);
        }
        found
    }

    /// Adds a pair of pages whose reads are outstanding together on the die of an imbalanced collision. The next [`Detector::collided`] evaluates it.
    pub fn pair(&mut self, pair: PagePair) {
        self.pairs.push(pair);
    }

    fn update(
        &mut self,
        die: DieId,
        pair: PagePair,
        fewer: &[u64],
        now: Time,
        may: &impl Fn(Lpn, DieId) -> bool,
    ) -> Option<ReplicationDecision> {
        let entry = self.lists.collided(die, pair, fewer)?;
        let (to, slack) = entry.max_slack();
        let (reads, time) = self.rates.reads_in_window(to, now);
        if !benefit_exceeds_cost(&self.rules, slack, reads, time) {
            return None;
        }
        // Prefer the page that also occurs in more of the other pairs listed for `die`; on a tie, the page with the higher number [choice].
        let appearances = |lpn| self.lists.appearances(die, lpn, pair);
        let by_appearances = if appearances(pair.first) > appearances(pair.second) {
            [pair.first, pair.second]
        } else {
            [pair.second, pair.first]
        };
        let lpn = by_appearances.into_iter().find(|&lpn| may(lpn, to))?;
        Some(ReplicationDecision { lpn, from: die, to, slack })
    }
}

/// Returns whether the benefit of a copy, `slack` x `t_READ`, exceeds its cost, 0.5 x r x `t_PROG`^2. Here r is the read rate of the target
/// die, `reads` divided by `time`. Computes in integers, so that the result is exact.
fn benefit_exceeds_cost(rules: &DetectorRules, slack: u16, reads: u64, time: Time) -> bool {
    let ps = |time: Time| u128::from(time.as_ps());
    let benefit = ps(rules.read_time) * u128::from(slack);
    let program = ps(rules.program_time);
    2 * benefit * ps(time) > u128::from(reads) * program * program
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TransactionId;

    const RULES: DetectorRules = DetectorRules {
        pairs_per_die: 5,
        rate_window: Time::from_ms(1000),
        read_time: Time::from_us(60),
        program_time: Time::from_us(700),
    };

    #[test]
    fn benefit_and_cost_are_those_of_equations_2_and_4() {
        // Cost of a copy: at 10,000 reads a second, 7 reads arrive during a program of 700 us and wait 350 us each, in total 2.45 ms. That is the
        // benefit of 40.8 avoided waits of 60 us.
        let second = Time::from_ms(1000);
        assert!(!benefit_exceeds_cost(&RULES, 40, 10_000, second) && benefit_exceeds_cost(&RULES, 41, 10_000, second));
        // Without reads on the target die a copy costs nothing, so any benefit exceeds the cost, but zero does not.
        assert!(benefit_exceeds_cost(&RULES, 1, 0, second) && !benefit_exceeds_cost(&RULES, 0, 0, second));
    }

    /// Detector for four dies; pages collide on die 0.
    struct Rounds {
        detector: Detector,
        occupancy: OutstandingReads,
        next: u32,
    }

    const B: Lpn = Lpn(2);
    const D: Lpn = Lpn(4);

    impl Rounds {
        fn new() -> Rounds {
            Rounds { detector: Detector::new(4, RULES), occupancy: OutstandingReads::new(4), next: 0 }
        }

        fn enter(&mut self, die: u32, lpn: Lpn) -> (DieId, TransactionId) {
            let id = TransactionId(self.next);
            self.next += 1;
            self.occupancy.enter(DieId(die), id, lpn);
            (DieId(die), id)
        }

        /// Reads `pages` together on die 0 with `others` reads outstanding on dies 1 to 3, then ends all reads. Returns the decision of the detector.
        fn round(&mut self, pages: &[Lpn], others: [u32; 3], now: Time) -> Option<ReplicationDecision> {
            let mut reads = Vec::new();
            for (die, &count) in others.iter().enumerate() {
                for number in 0..count {
                    reads.push(self.enter(die as u32 + 1, Lpn(100 + number)));
                }
            }
            pages.iter().for_each(|&lpn| reads.push(self.enter(0, lpn)));
            let detector = &mut self.detector;
            self.occupancy.record_pairs(DieId(0), |first, second| detector.pair(PagePair::new(first, second)));
            let found = detector.collided(DieId(0), &self.occupancy, now, |_, _| true);
            reads.into_iter().for_each(|(die, id)| assert!(self.occupancy.leave(die, id)));
            found
        }
    }

    #[test]
    fn figure_5_thirteen_collisions_of_which_die_1_could_have_avoided_ten() {
        let mut rounds = Rounds::new();
        // In 13 collisions of D and B, die 1 is idle 10 times, die 2 four times and die 3 once. With 2,000 reads per round on each of them, a copy
        // costs more than it gains.
        for round in 0..13 {
            let busy = |is_idle| if is_idle { 0 } else { 1 };
            rounds.detector.issued(DieId(1), Time::ZERO);
            (0..2000).for_each(|_| (1..4).for_each(|die| rounds.detector.issued(DieId(die), Time::ZERO)));
            let others = [busy(round < 10), busy(round >= 9), busy(round == 12)];
            assert_eq!(rounds.round(&[D, B], others, Time::from_ms(900)), None);
        }
        let (pair, entry) = rounds.detector.lists().entries(DieId(0)).next().expect("the pair is in the list");
        assert_eq!((pair, entry.occurrences()), (PagePair::new(D, B), 13));
        assert_eq!([1, 2, 3].map(|die| entry.slack(DieId(die))), [10, 4, 1]);
        let (die, slack) = entry.max_slack();
        // p = d / o of equation 1, the share of collisions that a copy on die 1 would have avoided: 10 / 13.
        assert_eq!((die, (f64::from(slack) / f64::from(entry.occurrences()) * 100.0).round()), (DieId(1), 77.0));
    }

    #[test]
    fn a_page_is_replicated_once_it_pays_and_the_list_is_cleared() {
        let mut rounds = Rounds::new();
        (0..5).for_each(|_| rounds.detector.issued(DieId(1), Time::ZERO));
        // Only die 1 has at least two reads fewer than die 0. A copy costs 1.225 ms there (5 reads in 1 ms), which 21 collisions outweigh (20.4
        // reads).
        let now = Time::from_ms(1);
        for round in 1..=21 {
            let found = rounds.round(&[D, B], [0, 1, 1], now);
            let expected = ReplicationDecision { lpn: D, from: DieId(0), to: DieId(1), slack: 21 };
            assert_eq!(found, (round == 21).then_some(expected));
        }
        assert_eq!(rounds.detector.lists().entries(DieId(0)).count(), 0);
    }

    #[test]
    fn the_page_in_more_pairs_is_replicated() {
        let mut rounds = Rounds::new();
        (0..5).for_each(|_| rounds.detector.issued(DieId(1), Time::ZERO));
        let now = Time::from_ms(1);
        // B also collides with page 9, so B occurs in more pairs than D and is the page to replicate.
        for _ in 0..20 {
            assert_eq!(rounds.round(&[B, Lpn(9)], [0, 1, 1], now), None);
            assert_eq!(rounds.round(&[D, B], [0, 1, 1], now), None);
        }
        let found = rounds.round(&[D, B], [0, 1, 1], now).expect("the benefit exceeds the cost");
        assert_eq!((found.lpn, found.to), (B, DieId(1)));
    }

    #[test]
    fn pages_that_may_not_be_replicated_are_skipped() {
        let mut detector = Detector::new(2, RULES);
        let mut occupancy = OutstandingReads::new(2);
        for (id, lpn) in [(0, B), (1, D)] {
            occupancy.enter(DieId(0), TransactionId(id), lpn);
        }
        for (may, expected) in [(vec![], None), (vec![B], Some(B)), (vec![D], Some(D))] {
            detector.pair(PagePair::new(B, D));
            let found = detector.collided(DieId(0), &occupancy, Time::from_us(1), |lpn, _| may.contains(&lpn));
            assert_eq!(found.map(|found| found.lpn), expected);
        }
    }
}
