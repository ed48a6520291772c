//! View of the drive for policies that choose which dies request paths.

use crate::flash::divisor::Divisor;
use crate::flash::geometry::Geometry;
use crate::ids::DieId;
use crate::units::Time;

use super::DieStates;
use super::load::LoadView;
use super::queues::{DieQueues, PlaneMasks, Transactions};

/// A set of dies, grouped by channel. The dies of a channel are in no particular order.
#[derive(Clone, Debug)]
pub struct DieSet {
    dies_per_channel: Divisor,
    members: Vec<Vec<DieId>>,
    count: u32,
    /// Position of each die in the list of its channel in `members`, plus one; 0 if the die is not in the set.
    places: Vec<u32>,
}

impl DieSet {
    /// Creates an empty set for the dies of a drive.
    pub fn new(geometry: &Geometry) -> DieSet {
        let dies_per_channel = geometry.chips_per_channel * geometry.dies_per_chip;
        let members = vec![Vec::new(); geometry.channels as usize];
        DieSet {
            dies_per_channel: Divisor::new(dies_per_channel),
            members,
            count: 0,
            places: vec![0; geometry.dies() as usize],
        }
    }

    #[inline]
    fn channel(&self, die: DieId) -> usize {
        self.dies_per_channel.divide(die.0) as usize
    }

    /// Adds a die. Returns `true` if the die is new, `false` if the set contained it already.
    #[inline]
    pub fn insert(&mut self, die: DieId) -> bool {
        let is_new = self.places[die.index()] == 0;
        if is_new {
            let channel = self.channel(die);
            self.members[channel].push(die);
            self.places[die.index()] = self.members[channel].len() as u32;
            self.count += 1;
        }
        is_new
    }

    /// Removes a die. Returns `true` if the set contained the die, otherwise `false`.
    #[inline]
    pub fn remove(&mut self, die: DieId) -> bool {
        let place = std::mem::take(&mut self.places[die.index()]) as usize;
        if place == 0 {
            return false;
        }
        let channel = self.channel(die);
        let members = &mut self.members[channel];
        members.swap_remove(place - 1);
        if let Some(&moved) = members.get(place - 1) {
            self.places[moved.index()] = place as u32;
        }
        self.count -= 1;
        true
    }

    /// Returns whether a die is in the set.
    #[inline]
    pub fn contains(&self, die: DieId) -> bool {
        self.places[die.index()] != 0
    }

    /// Returns whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the dies of a channel, in no particular order.
    #[inline]
    pub fn of_channel(&self, channel: u32) -> &[DieId] {
        &self.members[channel as usize]
    }

    /// Returns all dies of the set, channel by channel.
    pub fn iter(&self) -> impl Iterator<Item = DieId> {
        self.members.iter().flatten().copied()
    }
}

/// Input of the decision which die requests a path next: the candidates (dies that could start an operation), and the queues and states of all dies.
pub struct DispatchView<'a> {
    pub(crate) now: Time,
    pub(crate) geometry: &'a Geometry,
    pub(crate) dies: &'a dyn DieStates,
    pub(crate) queues: &'a DieQueues,
    pub(crate) transactions: &'a Transactions,
    pub(crate) candidates: &'a DieSet,
    pub(crate) dies_take_turns: bool,
}

impl<'a> DispatchView<'a> {
    /// Returns the time of the decision.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the numbers of channels, chips, dies, planes, blocks and pages of the drive.
    #[inline]
    pub fn geometry(&self) -> &'a Geometry {
        self.geometry
    }

    /// Returns the dies that could start an operation and have not requested a path. Of a chip that executes one operation at a time, only the first
    /// die can be in the set; it represents all of its dies.
    #[inline]
    pub fn candidates(&self) -> &'a DieSet {
        self.candidates
    }

    /// Returns the dies that `candidate` requests a path for: all dies of its chip if the chip executes one operation at a time, otherwise only
    /// `candidate`. One of them gets the path.
    #[inline]
    pub fn represented_dies(&self, candidate: DieId) -> impl Iterator<Item = DieId> + use<> {
        let count = if self.dies_take_turns { self.geometry.dies_per_chip } else { 1 };
        (candidate.0..candidate.0 + count).map(DieId)
    }

    /// Returns the states of all dies: their operations in progress, and whether they request or use a path.
    pub fn states(&self) -> &dyn DieStates {
        self.dies
    }

    /// Returns the planes of a die with queued transactions, by class.
    #[inline]
    pub fn waiting_planes(&self, die: DieId) -> PlaneMasks {
        self.queues.masks(die)
    }

    /// Returns the queues and states of all dies.
    #[inline]
    pub fn load(&self) -> LoadView<'a> {
        LoadView::new(self.dies, self.queues, self.transactions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_dies_agrees_with_a_plain_one() {
        let shape = crate::config::Geometry { channels: 3, chips_per_channel: 3, ..Default::default() };
        let mut set = DieSet::new(&Geometry::new(&shape).expect("the geometry is valid"));
        let mut plain = std::collections::BTreeSet::new();
        for step in 0..200u32 {
            let die = DieId(step * 7 % 9);
            if step % 5 < 3 {
                assert_eq!(set.insert(die), plain.insert(die));
            } else {
                assert_eq!(set.remove(die), plain.remove(&die));
            }
            let mut members: Vec<DieId> = set.iter().collect();
            members.sort();
            assert_eq!(members, plain.iter().copied().collect::<Vec<_>>());
            assert_eq!(set.is_empty(), plain.is_empty());
            assert!((0..3).all(|channel| set.of_channel(channel).iter().all(|die| die.0 / 3 == channel)));
            assert!((0..9).map(DieId).all(|die| set.contains(die) == plain.contains(&die)));
        }
    }
}
