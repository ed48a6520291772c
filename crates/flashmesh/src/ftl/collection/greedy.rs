//! Victim policy greedy: the block with the fewest valid pages.

use super::{Candidates, VictimSelector};
use crate::engine::random::SimRng;

/// Selects the block with the fewest valid pages; on a tie, the block with the lowest number. Optimal for uniform random writes.
#[derive(Clone, Copy, Debug)]
pub struct Greedy;

impl VictimSelector for Greedy {
    fn select(&mut self, candidates: &Candidates<'_>, _: &mut SimRng) -> Option<u32> {
        // Every candidate is full, so the block with the fewest valid pages has the most invalid pages.
        candidates.most_invalid()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Blocks;
    use super::*;

    #[test]
    fn the_first_block_with_the_fewest_valid_pages_is_chosen() {
        let mut random = SimRng::new(11);
        for round in 0..2000 {
            let plane = Blocks::random(1 + random.below(300), 1 + round % 40, &mut random);
            let most = plane.positions().map(|position| plane.invalid_pages[position as usize]).max().unwrap_or(0);
            let naive = plane.positions().find(|&position| most > 0 && plane.invalid_pages[position as usize] == most);
            assert_eq!(Greedy.select(&plane.candidates(), &mut random), naive, "{plane:?}");
        }
    }
}
