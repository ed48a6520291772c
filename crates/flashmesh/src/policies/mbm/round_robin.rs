//! Round-robin order of channels, chips and dies, which decides between equally suitable ones.
//!
//! The paper (section IV.A) allocates pages round robin, to distribute writes evenly. A fixed order would send all writes of a lightly loaded drive
//! to its first die. That die would have to be collected while the other dies are empty.

use crate::engine::round_robin::cyclic;
use crate::flash::geometry::Geometry;
use crate::ids::{ChannelId, ChipId, DieId};

/// Round-robin pointers: next channel, next chip of each channel, and next die of each chip.
#[derive(Clone, Debug)]
pub(super) struct RoundRobin {
    channel: u32,
    /// Index of the next chip in each channel.
    ways: Vec<u32>,
    /// Index of the next die in each chip.
    dies: Vec<u32>,
    dies_per_chip: u32,
}

impl RoundRobin {
    pub fn new(geometry: &Geometry) -> RoundRobin {
        RoundRobin {
            channel: 0,
            ways: vec![0; geometry.channels as usize],
            dies: vec![0; (geometry.dies() / geometry.dies_per_chip) as usize],
            dies_per_chip: geometry.dies_per_chip,
        }
    }

    /// Returns all channels in cyclic order, the next one first.
    pub fn channels(&self) -> impl Iterator<Item = ChannelId> + use<> {
        cyclic(self.channel, self.ways.len() as u32).map(ChannelId)
    }

    /// Returns the chips of `channel` in cyclic order, the next one first.
    pub fn chips(&self, channel: ChannelId) -> impl Iterator<Item = ChipId> + use<> {
        let ways = (self.dies.len() / self.ways.len()) as u32;
        cyclic(self.ways[channel.index()], ways).map(move |way| ChipId(channel.0 * ways + way))
    }

    /// Returns the dies of `chip` in cyclic order, the next one first.
    pub fn dies(&self, chip: ChipId) -> impl Iterator<Item = DieId> + use<> {
        let first = chip.0 * self.dies_per_chip;
        cyclic(self.dies[chip.index()], self.dies_per_chip).map(move |die| DieId(first + die))
    }

    /// Makes the channel after `channel` the next one.
    pub fn advance_channel(&mut self, channel: ChannelId) {
        self.channel = (channel.0 + 1) % self.ways.len() as u32;
    }

    /// Makes the chip after `chip` the next one of `channel`.
    pub fn advance_chip(&mut self, channel: ChannelId, chip: ChipId) {
        let ways = (self.dies.len() / self.ways.len()) as u32;
        self.ways[channel.index()] = (chip.0 % ways + 1) % ways;
    }

    /// Makes the die after `die` the next one of `chip`, if the write pointers of the planes of `die` are equal (`are_equal`). Otherwise `die` stays
    /// the next one.
    pub fn advance_die(&mut self, chip: ChipId, die: DieId, are_equal: bool) {
        let at = die.0 % self.dies_per_chip;
        self.dies[chip.index()] = if are_equal { (at + 1) % self.dies_per_chip } else { at };
    }
}
