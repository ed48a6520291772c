//! A table of the dies: what oracles look up at every step, without hashing.

use crate::ids::DieId;

/// A value for each die, the default one until it is changed.
#[derive(Clone, Debug, Default)]
pub(super) struct ByDie<T> {
    values: Vec<T>,
}

impl<T: Default> ByDie<T> {
    /// That of a die, to be changed.
    pub(super) fn at(&mut self, die: DieId) -> &mut T {
        if die.index() >= self.values.len() {
            self.values.resize_with(die.index() + 1, T::default);
        }
        &mut self.values[die.index()]
    }

    /// That of a die; nothing where it was never changed.
    pub(super) fn get(&self, die: DieId) -> Option<&T> {
        self.values.get(die.index())
    }
}
