//! Dies with foreground collections: garbage collection that was begun or promoted because space is short.

use crate::flash::geometry::Geometry;
use crate::ids::DieId;

/// Number of foreground collections, by die.
#[derive(Clone, Debug)]
pub struct Foreground {
    collections: Vec<u32>,
    /// Number of dies with at least one foreground collection.
    dies: u32,
}

impl Foreground {
    /// Creates the counts without any foreground collection.
    pub fn new(geometry: &Geometry) -> Foreground {
        Foreground { collections: vec![0; geometry.dies() as usize], dies: 0 }
    }

    /// Returns whether `die` has a foreground collection.
    #[inline(always)]
    pub fn is_on(&self, die: DieId) -> bool {
        self.collections[die.index()] > 0
    }

    /// Returns the number of dies with a foreground collection, and the number of all dies.
    pub fn dies(&self) -> (u32, u32) {
        (self.dies, self.collections.len() as u32)
    }

    /// Counts a foreground collection of `die` as begun: a new collection, or one promoted from the background.
    pub fn enter(&mut self, die: DieId) {
        let of_die = &mut self.collections[die.index()];
        self.dies += u32::from(*of_die == 0);
        *of_die += 1;
    }

    /// Counts a foreground collection of `die` as ended.
    pub fn leave(&mut self, die: DieId) {
        let of_die = &mut self.collections[die.index()];
        *of_die -= 1;
        self.dies -= u32::from(*of_die == 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn dies_are_counted_once_however_many_of_their_planes_are_collected() {
        let config = Config::default();
        let geometry = Geometry::from_config(&config).expect("the geometry is valid");
        let mut foreground = Foreground::new(&geometry);
        [3, 3, 5].map(DieId).into_iter().for_each(|die| foreground.enter(die));
        assert_eq!(foreground.dies(), (2, geometry.dies()));
        foreground.leave(DieId(3));
        assert_eq!((foreground.dies().0, foreground.is_on(DieId(3)), foreground.is_on(DieId(4))), (2, true, false));
        foreground.leave(DieId(3));
        assert_eq!((foreground.dies().0, foreground.is_on(DieId(3))), (1, false));
    }
}
