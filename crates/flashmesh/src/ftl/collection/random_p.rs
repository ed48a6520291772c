//! Victim policy random-p: any full block with an invalid page.

use super::{Candidates, VictimSelector};
use crate::engine::random::SimRng;

/// Selects a uniformly random block among the full blocks with at least one invalid page.
#[derive(Clone, Copy, Debug)]
pub struct RandomP;

impl VictimSelector for RandomP {
    fn select(&mut self, candidates: &Candidates<'_>, random: &mut SimRng) -> Option<u32> {
        candidates.draw(random, |candidates, position| candidates.invalid_pages(position) > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_uniform_over;
    use super::*;

    #[test]
    fn every_candidate_with_an_invalid_page_is_chosen_equally_often() {
        assert_uniform_over(&mut RandomP, |plane| {
            plane.positions().filter(|&position| plane.invalid_pages[position as usize] > 0).collect()
        });
    }
}
