//! Which die stands for which towards the interconnect: where dies take turns, the first die of a chip speaks for all of them.

use crate::fabric::Grant;
use crate::ids::DieId;
use crate::kernel::model::Model;

use super::Datapath;

impl<M: Model> Datapath<M> {
    /// The die that asks the interconnect for paths on behalf of `die`: the die itself, unless dies take turns.
    #[inline(always)]
    pub(super) fn asker(&self, die: DieId) -> DieId {
        if M::ALL_FEATURES && self.rules.dies_take_turns { self.first_of_chip(die) } else { die }
    }

    /// The die that a granted path is for, once that is known: where dies take turns, after the choice of an operation.
    #[inline(always)]
    pub(super) fn die_of(&self, grant: Grant) -> DieId {
        self.taker(grant.die).expect("a chip whose dies take turns holds a path for the die that works")
    }

    /// The die that takes what `asker` asked a path for: where dies take turns, the one that has begun something, if one has.
    #[inline(always)]
    pub(super) fn taker(&self, asker: DieId) -> Option<DieId> {
        if !M::ALL_FEATURES || !self.rules.dies_take_turns {
            return Some(asker);
        }
        self.dies_of_chip(asker).find(|&die| !self.units[die].state.is_idle())
    }

    /// The dies that may take what `asker` asked a path for, as the first and their number.
    #[inline(always)]
    pub(super) fn takers(&self, asker: DieId) -> (DieId, u32) {
        match self.taker(asker) {
            Some(die) => (die, 1),
            None => (self.first_of_chip(asker), self.geometry.dies_per_chip),
        }
    }

    pub(super) fn first_of_chip(&self, die: DieId) -> DieId {
        DieId(self.geometry.chip_of(die).0 * self.geometry.dies_per_chip)
    }

    /// The dies of the chip of `die`.
    pub(super) fn dies_of_chip(&self, die: DieId) -> impl Iterator<Item = DieId> + use<M> {
        let first = self.first_of_chip(die).0;
        (first..first + self.geometry.dies_per_chip).map(DieId)
    }
}
