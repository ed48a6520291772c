//! Draws without putting back: what was counted is what is drawn.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::table::Table;
use crate::workload::synthetic::{Generator, below};

/// Outcomes with counts. Each is drawn as often as it was counted before any is drawn once more, so the shares of a long trace are
/// those of the counts, not only in the mean.
#[derive(Clone, Debug)]
pub(super) struct Urn {
    outcomes: Vec<u32>,
    counts: Vec<u64>,
    /// How much each count weighs in a draw.
    weights: Vec<u64>,
    left: Vec<u64>,
    /// Sum of what is left times its weight.
    left_weight: u64,
}

/// Counts are cut to this, so that sums with their weights fit.
const COUNT_MAX: u64 = 1 << 31;

impl Urn {
    /// An urn of outcomes, in ascending order, and how often each is in it.
    pub(super) fn new(counts: impl IntoIterator<Item = (u32, u64)>) -> Urn {
        Urn::weighted(counts, |_| 1)
    }

    /// The same, from which an outcome is drawn the earlier the more it weighs.
    pub(super) fn weighted(counts: impl IntoIterator<Item = (u32, u64)>, weight: fn(u32) -> u64) -> Urn {
        let (outcomes, counts): (Vec<u32>, Vec<u64>) =
            counts.into_iter().map(|(outcome, count)| (outcome, count.min(COUNT_MAX))).unzip();
        let weights = outcomes.iter().map(|&outcome| weight(outcome).clamp(1, COUNT_MAX >> 12)).collect();
        let mut urn = Urn { left: Vec::new(), outcomes, counts, weights, left_weight: 0 };
        urn.refill();
        urn
    }

    fn refill(&mut self) {
        self.left.clone_from(&self.counts);
        self.left_weight = self.left.iter().zip(&self.weights).map(|(left, weight)| left * weight).sum();
    }

    /// Whether some of `outcome` is left.
    fn has(&self, outcome: u32) -> bool {
        self.outcomes.binary_search(&outcome).is_ok_and(|index| self.left[index] > 0)
    }

    /// Takes one of `outcome` out, of which some is left.
    fn take(&mut self, outcome: u32) {
        if let Ok(index) = self.outcomes.binary_search(&outcome) {
            self.left[index] -= 1;
            self.left_weight -= self.weights[index];
        }
    }

    /// The next outcome that `is_left` lets pass; what it does not is thrown away. Nothing once the urn is empty.
    #[inline]
    fn draw_while(&mut self, generator: &mut Generator, is_left: impl Fn(u32) -> bool) -> Option<u32> {
        while self.left_weight > 0 {
            let outcome = self.draw(generator)?;
            if is_left(outcome) {
                return Some(outcome);
            }
            if let Ok(index) = self.outcomes.binary_search(&outcome) {
                self.left_weight -= self.left[index] * self.weights[index];
                self.left[index] = 0;
            }
        }
        None
    }

    /// One of what is left, among those that cost least.
    fn cheapest(
        &self,
        generator: &mut Generator,
        cost: impl Fn(u32) -> u32,
        is_left: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let mut best = (u32::MAX, 0, None);
        for (&outcome, &left) in self.outcomes.iter().zip(&self.left) {
            if left == 0 {
                continue;
            }
            let cost = cost(outcome);
            if cost > best.0 || !is_left(outcome) {
                continue;
            }
            if cost < best.0 {
                best = (cost, left, Some(outcome));
            } else if cost == best.0 {
                best.1 += left;
                if below(generator, best.1) < left {
                    best.2 = Some(outcome);
                }
            }
        }
        best.2
    }

    /// The next outcome; nothing from an urn that never held any.
    #[inline]
    pub(super) fn draw(&mut self, generator: &mut Generator) -> Option<u32> {
        if self.left_weight == 0 {
            self.refill();
            if self.left_weight == 0 {
                return None;
            }
        }
        let mut at = below(generator, self.left_weight);
        for (index, (left, weight)) in self.left.iter_mut().zip(&self.weights).enumerate() {
            let share = *left * weight;
            if at < share {
                *left -= 1;
                self.left_weight -= weight;
                return Some(self.outcomes[index]);
            }
            at -= share;
        }
        None
    }
}

/// An urn for each context of a table. Contexts that agree in their first number share a pool: what is drawn in any of them is drawn
/// as often as it was counted in all of them, and contexts that run out or were never seen draw from what the pool has left.
#[derive(Clone, Debug)]
pub(super) struct Urns<const WIDTH: usize> {
    urns: Vec<Urn>,
    of_context: FxHashMap<[u32; WIDTH], usize>,
    pools: Vec<Urn>,
    /// For each pool the urns that share it.
    members: Vec<Vec<usize>>,
    of_first: FxHashMap<u32, usize>,
    /// For contexts of pools that were never seen.
    of_all: Urn,
}

impl<const WIDTH: usize> Urns<WIDTH> {
    /// Urns of what `table` counts.
    pub(super) fn new(table: &Table<WIDTH>) -> Urns<WIDTH> {
        let urn = |outcomes: &BTreeMap<u32, u64>| Urn::new(outcomes.iter().map(|(&outcome, &count)| (outcome, count)));
        let (mut pools, mut members): (BTreeMap<u32, Table<0>>, BTreeMap<u32, Vec<usize>>) = Default::default();
        for (index, (context, outcomes)) in table.rows.iter().enumerate() {
            let first = context.first().copied().unwrap_or(0);
            members.entry(first).or_default().push(index);
            let pool = pools.entry(first).or_default();
            outcomes.iter().for_each(|(&outcome, &count)| pool.add([], outcome, count));
        }
        Urns {
            urns: table.rows.values().map(urn).collect(),
            of_context: table.rows.keys().enumerate().map(|(index, context)| (*context, index)).collect(),
            of_first: pools.keys().enumerate().map(|(index, first)| (*first, index)).collect(),
            pools: pools.values().map(|pool| urn(&pool.outcomes())).collect(),
            members: members.into_values().collect(),
            of_all: urn(&table.outcomes()),
        }
    }

    /// Takes one of `outcome` out of the urn of `context`, if some is left there.
    #[inline]
    pub(super) fn take(&mut self, context: [u32; WIDTH], outcome: u32) {
        let first = context.first().copied().unwrap_or(0);
        if let (Some(&index), Some(&pool)) = (self.of_context.get(&context), self.of_first.get(&first))
            && self.urns[index].has(outcome)
            && self.pools[pool].has(outcome)
        {
            self.urns[index].take(outcome);
            self.pools[pool].take(outcome);
        }
    }

    /// The next outcome in `context` among those that cost least; nothing from an empty table.
    #[inline]
    pub(super) fn draw_cheapest(
        &mut self,
        context: [u32; WIDTH],
        generator: &mut Generator,
        cost: impl Fn(u32) -> u32 + Copy,
    ) -> Option<u32> {
        let first = self.of_first.get(&context.first().copied().unwrap_or(0)).copied();
        if let (Some(pool_index), Some(&index)) = (first, self.of_context.get(&context)) {
            let (urn, pool) = (&mut self.urns[index], &mut self.pools[pool_index]);
            if pool.left_weight > 0
                && let Some(outcome) = urn.cheapest(generator, cost, |outcome| pool.has(outcome))
            {
                urn.take(outcome);
                pool.take(outcome);
                return Some(outcome);
            }
        }
        self.draw(context, generator)
    }

    /// The next outcome in `context`; nothing from an empty table.
    #[inline]
    pub(super) fn draw(&mut self, context: [u32; WIDTH], generator: &mut Generator) -> Option<u32> {
        let Some(&pool_index) = self.of_first.get(&context.first().copied().unwrap_or(0)) else {
            return self.of_all.draw(generator);
        };
        let pool = &mut self.pools[pool_index];
        if pool.left_weight == 0 {
            pool.refill();
            for &member in &self.members[pool_index] {
                self.urns[member].refill();
            }
        }
        let urn = self.of_context.get(&context).map(|&index| &mut self.urns[index]);
        let index = urn.and_then(|urn| urn.draw_while(generator, |outcome| pool.has(outcome)));
        match index {
            Some(outcome) => {
                pool.take(outcome);
                Some(outcome)
            }
            None => pool.draw(generator),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::synthetic::generator_of;

    #[test]
    fn a_round_of_draws_is_the_counts_exactly_and_the_next_round_again() {
        let counts = [(2, 5), (7, 3), (9, 0), (11, 1)];
        let (mut urn, mut generator) = (Urn::new(counts), generator_of(1));
        for round in 0..20 {
            let mut drawn: Vec<u32> = (0..9).filter_map(|_| urn.draw(&mut generator)).collect();
            drawn.sort_unstable();
            assert_eq!(drawn, [2, 2, 2, 2, 2, 7, 7, 7, 11], "round {round}");
        }
    }

    #[test]
    fn heavy_outcomes_come_first() {
        let mut generator = generator_of(2);
        let firsts = (0..1000)
            .filter(|_| Urn::weighted([(1, 90), (900, 1)], u64::from).draw(&mut generator) == Some(900))
            .count();
        // 900 of 990: 909 of 1000 in the mean, with a standard deviation of 9.
        assert!((870..=945).contains(&firsts), "{firsts} of 1000");
    }

    #[test]
    fn an_empty_urn_gives_nothing_and_an_unknown_context_what_all_others_hold() {
        let mut generator = generator_of(3);
        assert_eq!(Urn::new([]).draw(&mut generator), None);
        assert_eq!(Urn::new([(1, 0)]).draw(&mut generator), None);
        let mut table = Table::<1>::default();
        table.count([0], 4);
        assert_eq!(Urns::new(&table).draw([5], &mut generator), Some(4));
        assert_eq!(Urns::<1>::new(&Table::default()).draw([5], &mut generator), None);
    }
}
