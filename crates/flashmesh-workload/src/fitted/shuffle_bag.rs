//! Random draws that reproduce counted frequencies.

use crate::synthetic::{Generator, below};

/// A shuffle bag: outcomes with counts, drawn without replacement and refilled when empty.
#[derive(Clone, Debug)]
pub(super) struct ShuffleBag {
    counts: Vec<u64>,
    left: Vec<u64>,
    left_total: u64,
}

impl ShuffleBag {
    /// Creates a bag with `counts[i]` copies of outcome `i`.
    pub(super) fn new(counts: Vec<u64>) -> ShuffleBag {
        ShuffleBag { left: vec![0; counts.len()], counts, left_total: 0 }
    }

    /// Draws an outcome and returns its index; 0 if all counts are zero.
    pub(super) fn draw(&mut self, generator: &mut Generator) -> usize {
        if self.left_total == 0 {
            self.left.clone_from(&self.counts);
            self.left_total = self.left.iter().sum();
            if self.left_total == 0 {
                return 0;
            }
        }
        let mut at = below(generator, self.left_total);
        let outcome = self.left.iter().position(|&left| match at.checked_sub(left) {
            Some(rest) => {
                at = rest;
                false
            }
            None => true,
        });
        let outcome = outcome.unwrap_or(0);
        self.left[outcome] -= 1;
        self.left_total -= 1;
        outcome
    }
}

/// The affinity factor 1 in fixed point.
const ONE: u64 = 1 << FRACTION_BITS;
const FRACTION_BITS: u32 = 6;
/// The largest affinity factor: 256, in fixed point. The smallest is 1/64.
const FACTOR_MAX: u64 = ONE << 8;

/// The affinity of each pair of context and outcome: observed frequency divided by the frequency expected if they were
/// independent.
#[derive(Clone, Debug, Default)]
pub(super) struct Affinity {
    rows: Vec<Vec<u64>>,
}

impl Affinity {
    /// Computes the affinity factor of each pair: its observed frequency divided by the frequency expected if context and outcome were independent.
    /// `counts` lists (context, outcome, number of occurrences). Factors are clamped to 1/64 to 256, and are 1 in an unobserved context.
    pub(super) fn new(counts: &[(u32, u32, u64)], contexts: usize, outcomes: usize) -> Affinity {
        let (mut of_context, mut of_outcome, mut total) = (vec![0_u128; contexts], vec![0_u128; outcomes], 0_u128);
        for &(context, outcome, count) in counts {
            of_context[context as usize] += u128::from(count);
            of_outcome[outcome as usize] += u128::from(count);
            total += u128::from(count);
        }
        // An unobserved pair gets the smallest factor. If its context is unobserved too, the pair gets the factor 1.
        let mut rows = vec![vec![1; outcomes]; contexts];
        for (row, _) in rows.iter_mut().zip(&of_context).filter(|(_, count)| **count == 0) {
            row.fill(ONE);
        }
        for &(context, outcome, count) in counts {
            let chance = (of_context[context as usize] * of_outcome[outcome as usize]).max(1);
            let factor = u128::from(count) * total * u128::from(ONE) / chance;
            rows[context as usize][outcome as usize] = factor.clamp(1, u128::from(FACTOR_MAX)) as u64;
        }
        Affinity { rows }
    }

    /// Returns the affinity factors of all outcomes in a context, in fixed point, indexed by outcome.
    pub(super) fn factors(&self, context: usize) -> &[u64] {
        &self.rows[context]
    }
}

/// Draws one of the remaining entries (outcome, count), weighted by its count and by its affinity factors in two contexts, and decrements its
/// count. Returns the outcome; `None` if no count remains.
pub(super) fn draw_joint(left: &mut [(u32, u64)], factors: [&[u64]; 2], generator: &mut Generator) -> Option<usize> {
    let weight = |&(outcome, count): &(u32, u64)| {
        let [first, second] = factors.map(|factors| factors[outcome as usize]);
        if count == 0 { 0 } else { count * ((first * second) >> FRACTION_BITS).max(1) }
    };
    let total: u64 = left.iter().map(weight).sum();
    if total == 0 {
        return None;
    }
    let mut at = below(generator, total);
    for entry in left {
        let weight = weight(entry);
        if at < weight {
            entry.1 -= 1;
            return Some(entry.0 as usize);
        }
        at -= weight;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Seed, generator_of};

    #[test]
    fn a_bag_gives_each_outcome_as_often_as_it_was_counted() {
        let mut generator = generator_of(Seed::from(1));
        let mut bag = ShuffleBag::new(vec![3, 0, 5]);
        for _ in 0..4 {
            let mut drawn = [0; 3];
            (0..8).for_each(|_| drawn[bag.draw(&mut generator)] += 1);
            assert_eq!(drawn, [3, 0, 5]);
        }
        assert_eq!(ShuffleBag::new(vec![0, 0]).draw(&mut generator), 0);
    }

    #[test]
    fn what_came_together_is_drawn_together_and_all_is_drawn_in_the_end() {
        // Outcome 0 was observed only with context 0, outcome 1 only with context 1. Context 2 was not observed, so its factors are 1: context 0
        // alone makes outcome 0 128 times as likely as outcome 1.
        let affinity = Affinity::new(&[(0, 0, 100), (1, 1, 100)], 3, 2);
        let mut generator = generator_of(Seed::from(1));
        let mut left = [(0, 500), (1, 500)];
        let mut drawn = [0; 2];
        for _ in 0..400 {
            drawn[draw_joint(&mut left, [affinity.factors(0), affinity.factors(2)], &mut generator)
                .expect("outcomes are left")] += 1;
        }
        assert!(drawn[0] > 380, "{drawn:?}");
        while let Some(outcome) = draw_joint(&mut left, [affinity.factors(0), affinity.factors(0)], &mut generator) {
            drawn[outcome] += 1;
        }
        assert_eq!(drawn, [500, 500]);
    }
}
