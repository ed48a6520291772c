//! Victim policy d-choices: the best of d random blocks.

use super::{Candidates, VictimSelector};
use crate::engine::random::SimRng;

/// Randomized greedy algorithm (Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid state drives",
/// 2013): of d full blocks drawn at random, with replacement, selects the one with the fewest valid pages. d = 1 is [`super::Random`]; large d
/// approach [`super::Greedy`].
#[derive(Clone, Copy, Debug)]
pub struct DChoices {
    d: u32,
}

impl DChoices {
    /// Creates the policy that draws `d` blocks for each victim; 0 counts as 1.
    pub fn new(d: u32) -> DChoices {
        DChoices { d: d.max(1) }
    }
}

impl VictimSelector for DChoices {
    fn select(&mut self, candidates: &Candidates<'_>, random: &mut SimRng) -> Option<u32> {
        let mut best = candidates.draw(random, |_, _| true)?;
        for _ in 1..self.d {
            let other = candidates.draw(random, |_, _| true)?;
            if candidates.invalid_pages(other) > candidates.invalid_pages(best) {
                best = other;
            }
        }
        Some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Blocks, assert_uniform_over};
    use super::*;

    #[test]
    fn one_choice_is_random() {
        assert_uniform_over(&mut DChoices::new(1), |plane| plane.positions().collect());
    }

    #[test]
    fn choices_follow_the_order_statistics_of_d_draws() {
        // The 10 blocks have 0 to 9 invalid pages. One draw has at most g invalid pages with probability (g + 1) / 10. The best of d independent
        // draws has at most g with probability ((g + 1) / 10)^d.
        let plane = Blocks { invalid_pages: (0..10).collect(), filled: (1..=10).collect() };
        let mut random = SimRng::new(5);
        for d in [2, 3, 10] {
            let mut selector = DChoices::new(d);
            let draws = 20_000;
            let mut at_most = [0u32; 10];
            for _ in 0..draws {
                let invalid_pages = selector.select(&plane.candidates(), &mut random).unwrap();
                for count in &mut at_most[invalid_pages as usize..] {
                    *count += 1;
                }
            }
            for (invalid_pages, &count) in at_most.iter().enumerate() {
                let expected = ((invalid_pages + 1) as f64 / 10.0).powi(d as i32);
                let measured = f64::from(count) / f64::from(draws);
                // A share measured over 20,000 draws has a standard deviation of at most 0.5 / sqrt(20,000) = 0.0035, so the bound of 0.018 is five
                // of them.
                assert!(
                    (measured - expected).abs() < 0.018,
                    "d {d}, invalid pages {invalid_pages}: {measured} for {expected}"
                );
            }
        }
    }
}
