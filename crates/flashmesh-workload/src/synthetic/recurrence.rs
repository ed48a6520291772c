//! Recurring groups of requests: pages that were read together are read together again later.

use rand_core::{Rng, SeedableRng};

use super::random::{Chance, Generator, below};
use super::unusable;
use crate::error::WorkloadError;

/// The rule by which groups of requests recur.
///
/// A *turn* is one burst of the stream, and an occurrence of one group: a new group with probability 1/n, otherwise an earlier group. So a group has
/// n turns on average, in a run of any length. The earlier group is selected by one of two rules. The first draws an earlier turn and takes its
/// group, so that frequent groups recur more often (Simon, "On a class of skew distribution functions", 1955). The second draws an earlier group
/// uniformly. The draws are hashes of the turn number, so no turn needs to be stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recurrence {
    is_new: Chance,
    follows_turns: Chance,
}

impl Recurrence {
    /// Creates a rule with `mean` turns per group on average. `skew` is the share of recurrences that draw an earlier turn; the others draw an
    /// earlier group uniformly.
    ///
    /// # Errors
    /// If `mean` is below 1 or above a million.
    pub(crate) fn new(mean: f64, skew: f64) -> Result<Recurrence, WorkloadError> {
        if !(1.0..=1e6).contains(&mean) {
            return Err(unusable("profile", format!("bursts cannot come {mean} times on average")));
        }
        Ok(Recurrence { is_new: Chance::new(1.0 / mean), follows_turns: Chance::new(skew) })
    }

    /// Returns the first turn (burst number in the stream) of the group to which the burst of `turn` belongs. This number identifies the group.
    fn first_turn(&self, seed: u64, turn: u64) -> u64 {
        let mut turn = turn;
        loop {
            let mut draws = draws_of(seed, turn);
            if turn == 0 || self.is_new.holds(Chance::draw(&mut draws)) {
                return turn;
            }
            if !self.follows_turns.holds(Chance::draw(&mut draws)) {
                return self.any_group(seed, turn, draws);
            }
            turn = below(&mut draws, turn);
        }
    }

    /// Returns the first turn (burst number) of a group that is drawn uniformly among the groups that began before `turn`.
    fn any_group(&self, seed: u64, turn: u64, mut draws: Generator) -> u64 {
        loop {
            let earlier = below(&mut draws, turn);
            if earlier == 0 || self.is_new.holds(Chance::draw(&mut draws_of(seed, earlier))) {
                return earlier;
            }
        }
    }
}

fn draws_of(seed: u64, turn: u64) -> Generator {
    Generator::seed_from_u64(seed.wrapping_add(turn.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// The groups of bursts of one stream. The bursts of a group have the same addresses.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    recurrence: Recurrence,
    seed: u64,
    turn: u64,
    /// The generator for the addresses of the current group.
    draws: Generator,
}

impl Groups {
    /// Creates the groups of a stream, seeded by the next draws of its generator.
    pub(crate) fn new(recurrence: Recurrence, generator: &mut Generator) -> Groups {
        Groups { recurrence, seed: generator.next_u64(), turn: 0, draws: generator.clone() }
    }

    /// Starts the next burst: selects its group, and restarts the generator of addresses at the start of the group's sequence.
    pub(crate) fn begin(&mut self) {
        let first = self.recurrence.first_turn(self.seed, self.turn);
        // Uses the inverted seed, so that these draws differ from the draws that select the group.
        self.draws = draws_of(!self.seed, first);
        self.turn += 1;
    }

    /// Returns the generator for the addresses of the current group.
    pub(crate) fn draws(&mut self) -> &mut Generator {
        &mut self.draws
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::stream_of;
    use super::*;

    /// Returns how often each group occurs in `turns` turns, the most frequent first.
    fn counts(mean: f64, skew: f64, turns: u64) -> Vec<u64> {
        let recurrence = Recurrence::new(mean, skew).unwrap();
        let mut counts = std::collections::BTreeMap::new();
        (0..turns).for_each(|turn| *counts.entry(recurrence.first_turn(7, turn)).or_insert(0) += 1);
        let mut counts: Vec<u64> = counts.into_values().collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        counts
    }

    fn share_of_first(counts: &[u64], part: f64) -> f64 {
        let first = (counts.len() as f64 * part).ceil() as usize;
        counts[..first].iter().sum::<u64>() as f64 / counts.iter().sum::<u64>() as f64
    }

    #[test]
    fn a_group_comes_as_often_as_asked_in_a_run_of_any_length() {
        for mean in [1.0, 1.5, 9.2, 37.9] {
            for (skew, turns) in [(0.0, 20_000), (1.0, 20_000), (1.0, 200_000)] {
                let groups = counts(mean, skew, turns).len() as f64;
                let found = turns as f64 / groups;
                assert!((found / mean - 1.0).abs() < 0.1, "{found}, expected {mean}");
            }
        }
    }

    #[test]
    fn groups_are_as_unlike_as_the_rules_make_them() {
        // With groups drawn uniformly, the share of a group depends on its age: the oldest share p of the groups has p (1 - ln p) of the
        // turns.
        let part = 50.0 / 170.0_f64;
        let even = share_of_first(&counts(24.69, 0.0, 400_000), part);
        assert!((even - part * (1.0 - part.ln())).abs() < 0.03, "{even}");
        // With earlier turns drawn, the groups follow a power law, in which the first 5 % of the groups have most turns.
        let skewed = share_of_first(&counts(37.89, 1.0, 400_000), 0.05);
        assert!((0.7..0.95).contains(&skewed), "{skewed}");
    }

    #[test]
    fn a_group_that_comes_again_draws_the_same() {
        let recurrence = Recurrence::new(4.0, 1.0).unwrap();
        let mut groups = Groups::new(recurrence, &mut stream_of(1));
        let mut seen = std::collections::BTreeMap::new();
        for turn in 0..100 {
            groups.begin();
            let drawn: Vec<u64> = (0..3).map(|_| groups.draws().next_u64()).collect();
            let first = recurrence.first_turn(groups.seed, turn);
            assert_eq!(*seen.entry(first).or_insert_with(|| drawn.clone()), drawn);
        }
        assert!(seen.len() < 50);
    }
}
