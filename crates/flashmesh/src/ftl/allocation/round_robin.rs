//! Round robin over channels, chips, dies and planes. Each set of planes has its own pointers, one for each level.

use crate::config::ArrayLevel;
use crate::engine::round_robin::cyclic;
use crate::flash::geometry::Geometry;
use crate::ftl::division::partition::{Partition, PlaneSet};
use crate::ids::{ChannelId, ChipId, DieId, PlaneId};

/// Round-robin pointers of a drive. Each set of planes to which namespaces are bound has its own pointers.
#[derive(Clone, Debug)]
pub(super) struct RoundRobinPointers {
    chips_per_channel: u32,
    dies_per_chip: u32,
    planes_per_die: u32,
    rounds: Vec<SetPointers>,
    /// Index in `rounds` for each part (range of logical pages with the same set of planes).
    round_of_part: Vec<usize>,
}

/// Round-robin pointers of one set of planes. Pointers are indices in the lists of channels, ways, dies and planes of the set.
#[derive(Clone, Debug)]
struct SetPointers {
    set: PlaneSet,
    next_channel: u32,
    /// Index of the next way in each channel of the set.
    next_way: Vec<u32>,
    /// Index of the next die in each chip of the set.
    next_die: Vec<u32>,
    /// Index of the next plane in each die of the set.
    next_plane: Vec<u32>,
}

impl SetPointers {
    fn new(set: &PlaneSet) -> SetPointers {
        let count = |level| set.level(level).len();
        let channels = count(ArrayLevel::Channel);
        let chips = channels * count(ArrayLevel::Way);
        SetPointers {
            set: set.clone(),
            next_channel: 0,
            next_way: vec![0; channels],
            next_die: vec![0; chips],
            next_plane: vec![0; chips * count(ArrayLevel::Die)],
        }
    }
}

impl RoundRobinPointers {
    /// Creates pointers that begin with the first channel, chip, die and plane of each set.
    pub(super) fn new(geometry: &Geometry, partition: &Partition) -> RoundRobinPointers {
        RoundRobinPointers {
            chips_per_channel: geometry.chips_per_channel,
            dies_per_chip: geometry.dies_per_chip,
            planes_per_die: geometry.planes_per_die,
            rounds: partition.sets.iter().map(SetPointers::new).collect(),
            round_of_part: partition.parts.iter().map(|part| part.set).collect(),
        }
    }

    /// Returns the channels on which pages of `part` (index in `Partition::parts`) may be stored, in round-robin order, the next one first. Does not
    /// move the pointers.
    pub(super) fn channels(&self, part: usize) -> Vec<ChannelId> {
        let round = &self.rounds[self.round_of_part[part]];
        let channels = round.set.level(ArrayLevel::Channel);
        cyclic(round.next_channel, channels.len() as u32).map(|at| ChannelId(channels[at as usize])).collect()
    }

    /// Returns the next plane, in round-robin order, for a page of `part` (index in `Partition::parts`), and moves the pointers past it. The four
    /// conditions determine which channels, chips, dies and planes are eligible. Returns `None`, and moves no pointer, if no plane is eligible.
    pub(super) fn next(
        &mut self,
        part: usize,
        channel_may: impl Fn(ChannelId) -> bool,
        chip_may: impl Fn(ChipId) -> bool,
        die_may: impl Fn(DieId) -> bool,
        plane_may: impl Fn(PlaneId) -> bool,
    ) -> Option<PlaneId> {
        let SetPointers { set, next_channel, next_way, next_die, next_plane } =
            &mut self.rounds[self.round_of_part[part]];
        let [channels, ways, dies, planes] = ArrayLevel::ALL.map(|level| set.level(level));
        let [channel_count, way_count, die_count, plane_count] =
            [channels, ways, dies, planes].map(|level| level.len() as u32);
        for channel_at in cyclic(*next_channel, channel_count) {
            let channel = channels[channel_at as usize];
            if !channel_may(ChannelId(channel)) {
                continue;
            }
            for way_at in cyclic(next_way[channel_at as usize], way_count) {
                let chip = channel * self.chips_per_channel + ways[way_at as usize];
                if !chip_may(ChipId(chip)) {
                    continue;
                }
                let chip_at = channel_at * way_count + way_at;
                for die_in_chip_at in cyclic(next_die[chip_at as usize], die_count) {
                    let die = DieId(chip * self.dies_per_chip + dies[die_in_chip_at as usize]);
                    if !die_may(die) {
                        continue;
                    }
                    let die_at = chip_at * die_count + die_in_chip_at;
                    for plane_at in cyclic(next_plane[die_at as usize], plane_count) {
                        let plane = PlaneId(die.0 * self.planes_per_die + planes[plane_at as usize]);
                        if plane_may(plane) {
                            *next_channel = (channel_at + 1) % channel_count;
                            next_way[channel_at as usize] = (way_at + 1) % way_count;
                            next_die[chip_at as usize] = (die_in_chip_at + 1) % die_count;
                            next_plane[die_at as usize] = (plane_at + 1) % plane_count;
                            return Some(plane);
                        }
                    }
                }
            }
        }
        None
    }
}
