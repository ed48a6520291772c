//! Set of idle dies, as seen by dynamic allocation.

use crate::ids::DieId;

/// Set of the dies of a drive that execute nothing and have no pending transactions.
#[derive(Clone, Debug)]
pub struct IdleDies {
    words: Vec<u64>,
    dies: u32,
    idle: u32,
}

impl IdleDies {
    /// Creates the set for a drive of `dies` dies, all idle.
    pub fn new(dies: u32) -> IdleDies {
        let mut words = vec![u64::MAX; dies.div_ceil(u64::BITS) as usize];
        if let Some(last) = words.last_mut() {
            *last >>= (u64::BITS - dies % u64::BITS) % u64::BITS;
        }
        IdleDies { words, dies, idle: dies }
    }

    /// Adds `die` to the set if `idle` is true; otherwise removes `die`.
    #[inline]
    pub fn set(&mut self, die: DieId, idle: bool) {
        let word = &mut self.words[die.index() / 64];
        let before = *word >> (die.0 % 64) & 1;
        *word = *word & !(1 << (die.0 % 64)) | u64::from(idle) << (die.0 % 64);
        self.idle = self.idle + u32::from(idle) - before as u32;
    }

    /// Returns whether `die` is idle.
    #[inline]
    pub fn contains(&self, die: DieId) -> bool {
        self.words[die.index() / 64] >> (die.0 % 64) & 1 != 0
    }

    /// Returns the number of idle dies of the drive.
    #[inline]
    pub fn len(&self) -> u32 {
        self.idle
    }

    /// Returns whether no die is idle.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.idle == 0
    }

    /// Returns the first idle die at or after `start`, wrapping around; `None` if no die is idle.
    pub fn first_idle_from(&self, start: DieId) -> Option<DieId> {
        self.first_in(start.0, self.dies).or_else(|| self.first_in(0, start.0.min(self.dies)))
    }

    /// Returns the first idle die with a number in `begin..end`; `None` if none of them is idle.
    #[inline]
    pub(super) fn first_in(&self, begin: u32, end: u32) -> Option<DieId> {
        let mut at = begin;
        while at < end {
            let word = self.words[(at / 64) as usize] >> (at % 64);
            if word != 0 {
                let die = at + word.trailing_zeros();
                return (die < end).then_some(DieId(die));
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_idle_die_agrees_with_a_linear_search() {
        for dies in [1, 5, 63, 64, 65, 130] {
            let mut idle = IdleDies::new(dies);
            assert_eq!(idle.len(), dies);
            for step in 0..dies * 3 {
                let die = DieId(step * 7 % dies);
                idle.set(die, step % 3 == 0);
                assert_eq!(idle.contains(die), step % 3 == 0);
                let start = step * 11 % dies;
                let expected = (0..dies).map(|i| DieId((start + i) % dies)).find(|&die| idle.contains(die));
                assert_eq!(idle.first_idle_from(DieId(start)), expected);
                assert_eq!(idle.len() as usize, (0..dies).filter(|&die| idle.contains(DieId(die))).count());
                assert_eq!(idle.is_empty(), expected.is_none());
            }
        }
    }
}
