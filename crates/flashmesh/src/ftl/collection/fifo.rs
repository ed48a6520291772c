//! Victim policy FIFO: the block filled first.

use super::{Candidates, VictimSelector};
use crate::engine::random::SimRng;

/// Selects the block that was filled first, regardless of its invalid pages, as in a log that is cleaned at its tail.
#[derive(Clone, Copy, Debug)]
pub struct Fifo;

impl VictimSelector for Fifo {
    fn select(&mut self, candidates: &Candidates<'_>, _: &mut SimRng) -> Option<u32> {
        candidates.first_filled()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Blocks;
    use super::*;

    #[test]
    fn the_candidate_filled_first_is_chosen() {
        let mut random = SimRng::new(12);
        for _ in 0..2000 {
            let plane = Blocks::random(1 + random.below(300), 4, &mut random);
            let naive = plane.positions().min_by_key(|&position| plane.filled[position as usize]);
            assert_eq!(Fifo.select(&plane.candidates(), &mut random), naive, "{plane:?}");
        }
    }
}
