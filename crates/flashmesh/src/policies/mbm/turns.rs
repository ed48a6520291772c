//! Whose turn it is among channels, chips and dies that are alike.
//!
//! The paper (section IV.A) has pages allocated round robin and writes distributed evenly. Without turns a drive with little to do writes
//! to its first die alone, which then has to be collected while the others are empty.

use crate::engine::circular::cyclic;
use crate::flash::geometry::Geometry;
use crate::ids::{ChannelId, ChipId, DieId};

/// Who comes first next time.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    channel: u32,
    /// By channel.
    ways: Vec<u32>,
    /// By chip.
    dies: Vec<u32>,
    dies_per_chip: u32,
}

impl Turns {
    pub fn new(geometry: &Geometry) -> Turns {
        Turns {
            channel: 0,
            ways: vec![0; geometry.channels as usize],
            dies: vec![0; (geometry.dies() / geometry.dies_per_chip) as usize],
            dies_per_chip: geometry.dies_per_chip,
        }
    }

    /// All channels, from the one whose turn it is.
    pub fn channels(&self) -> impl Iterator<Item = ChannelId> + use<> {
        cyclic(self.channel, self.ways.len() as u32).map(ChannelId)
    }

    /// The chips of a channel, from the one whose turn it is.
    pub fn chips(&self, channel: ChannelId) -> impl Iterator<Item = ChipId> + use<> {
        let ways = (self.dies.len() / self.ways.len()) as u32;
        cyclic(self.ways[channel.index()], ways).map(move |way| ChipId(channel.0 * ways + way))
    }

    /// The dies of a chip, from the one whose turn it is.
    pub fn dies(&self, chip: ChipId) -> impl Iterator<Item = DieId> + use<> {
        let first = chip.0 * self.dies_per_chip;
        cyclic(self.dies[chip.index()], self.dies_per_chip).map(move |die| DieId(first + die))
    }

    /// A channel had its turn.
    pub fn channel_had(&mut self, channel: ChannelId) {
        self.channel = (channel.0 + 1) % self.ways.len() as u32;
    }

    /// A chip of `channel` had its turn.
    pub fn chip_had(&mut self, channel: ChannelId, chip: ChipId) {
        let ways = (self.dies.len() / self.ways.len()) as u32;
        self.ways[channel.index()] = (chip.0 % ways + 1) % ways;
    }

    /// A die took writes: it has its turn until the write pointers of its planes `are_equal`.
    pub fn die_had(&mut self, chip: ChipId, die: DieId, are_equal: bool) {
        let at = die.0 % self.dies_per_chip;
        self.dies[chip.index()] = if are_equal { (at + 1) % self.dies_per_chip } else { at };
    }
}
