//! Random placement of the reads of a run on dies, to count the collisions that occur by chance.

use crate::engine::random::SimRng;
use crate::ids::{DieId, TransactionId};

/// Combined with the seed of the run, so that the random dies are independent of other random numbers of the same seed.
const SEED: u64 = 0x636f_6c6c_6964_6573;

/// Outstanding reads of the run, each assigned to a die that was drawn at its arrival.
#[derive(Clone, Debug)]
pub(super) struct RandomDies {
    random: SimRng,
    outstanding: Vec<u32>,
    die_of: Vec<DieId>,
    total: u32,
    busy: u32,
}

impl RandomDies {
    pub(super) fn new(dies: u32, seed: u64) -> RandomDies {
        let (random, outstanding) = (SimRng::new(seed ^ SEED), vec![0; dies as usize]);
        RandomDies { random, outstanding, die_of: Vec::new(), total: 0, busy: 0 }
    }

    pub(super) fn enter(&mut self, id: TransactionId) -> bool {
        let die = DieId(self.random.below(self.outstanding.len() as u32));
        if self.die_of.len() <= id.index() {
            self.die_of.resize(id.index() + 1, DieId(0));
        }
        self.die_of[id.index()] = die;
        let outstanding = &mut self.outstanding[die.index()];
        let collides = *outstanding > 0;
        *outstanding += 1;
        self.total += 1;
        self.busy += u32::from(!collides);
        collides
    }

    pub(super) fn leave(&mut self, id: TransactionId) {
        let outstanding = &mut self.outstanding[self.die_of[id.index()].index()];
        *outstanding -= 1;
        self.total -= 1;
        self.busy -= u32::from(*outstanding == 0);
    }

    pub(super) fn collides(&self) -> bool {
        self.total > self.busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_collides_on_a_die_that_is_busy() {
        let mut one = RandomDies::new(1, 7);
        assert!(!one.enter(TransactionId(3)) && !one.collides());
        assert!(one.enter(TransactionId(0)) && one.collides());
        one.leave(TransactionId(3));
        assert!(!one.collides() && one.enter(TransactionId(3)));
    }

    #[test]
    fn dies_are_drawn_uniformly() {
        let mut dies = RandomDies::new(4, 7);
        let reads = 40_000;
        let collided = (0..reads).filter(|&id| dies.enter(TransactionId(id))).count();
        assert_eq!(collided as u32, reads - 4);
        assert!(dies.outstanding.iter().all(|&on_die| on_die.abs_diff(reads / 4) < 400), "{:?}", dies.outstanding);
    }
}
