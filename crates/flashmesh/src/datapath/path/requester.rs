//! Requesters: the dies that request paths. Each die requests its own paths; if a chip executes one operation at a time, the first die of the chip
//! requests the paths for all of its dies.

use crate::datapath::Datapath;
use crate::fabric::Grant;
use crate::ids::DieId;
use crate::kernel::model::Model;

impl<M: Model> Datapath<M> {
    /// Returns the die that requests paths for `die`: the first die of the chip if the chip executes one operation at a time, otherwise
    /// `die` itself.
    #[inline(always)]
    pub(in super::super) fn requester(&self, die: DieId) -> DieId {
        if M::ALL_FEATURES && self.rules.dies_take_turns { self.first_die_of_chip(die) } else { die }
    }

    /// Returns the die that uses a granted path. If a chip executes one operation at a time, this die is known only after an operation was
    /// chosen.
    #[inline(always)]
    pub(in super::super) fn die_of_grant(&self, grant: Grant) -> DieId {
        self.path_user(grant.die).expect("a chip whose dies take turns uses a path for its busy die")
    }

    /// Returns the die that uses the paths of `requester`. If a chip executes one operation at a time, this is the busy die of the chip;
    /// `None` if all of its dies are idle.
    #[inline(always)]
    pub(in super::super) fn path_user(&self, requester: DieId) -> Option<DieId> {
        if !M::ALL_FEATURES || !self.rules.dies_take_turns {
            return Some(requester);
        }
        self.dies_of_chip(requester).find(|&die| !self.dies[die].is_idle())
    }

    /// Returns the consecutive dies that may use the next path of `requester`: the first die, and the number of dies.
    #[inline(always)]
    pub(in super::super) fn possible_path_users(&self, requester: DieId) -> (DieId, u32) {
        match self.path_user(requester) {
            Some(die) => (die, 1),
            None => (self.first_die_of_chip(requester), self.geometry.dies_per_chip),
        }
    }

    pub(in super::super) fn first_die_of_chip(&self, die: DieId) -> DieId {
        DieId(self.geometry.chip_of(die).0 * self.geometry.dies_per_chip)
    }

    pub(in super::super) fn dies_of_chip(&self, die: DieId) -> impl Iterator<Item = DieId> + use<M> {
        let first = self.first_die_of_chip(die).0;
        (first..first + self.geometry.dies_per_chip).map(DieId)
    }
}
