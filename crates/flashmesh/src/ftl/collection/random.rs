//! Victim policy random: any full block.

use super::{Candidates, VictimSelector};
use crate::engine::random::SimRng;

/// Selects a uniformly random full block, even one without invalid pages.
#[derive(Clone, Copy, Debug)]
pub struct Random;

impl VictimSelector for Random {
    fn select(&mut self, candidates: &Candidates<'_>, random: &mut SimRng) -> Option<u32> {
        candidates.draw(random, |_, _| true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_uniform_over;
    use super::*;

    #[test]
    fn every_candidate_is_chosen_equally_often() {
        assert_uniform_over(&mut Random, |plane| plane.positions().collect());
    }
}
