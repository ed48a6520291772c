//! Dynamic allocation: round robin over idle dies.

use super::quota::{PlaneQuotas, cyclic};
use super::{Allocator, IdleDies, StaticOrder};
use crate::config::Level;
use crate::flash::geometry::Geometry;
use crate::ftl::Occupancy;
use crate::ftl::partition::{Partition, PlaneSet};
use crate::ids::{DieId, Lpn, PlaneId};

/// Dynamic allocation (Design for Scalability, PACT 2014, section 5.4): the next channel that has an idle die, in it the next chip that has
/// one, in it the next idle die, in it the next plane; each level goes round by a pointer of its own. When no die is
/// idle, all of them take part. Namespaces that are bound to sets of planes go round each in its own set.
///
/// Planes without room for another page, counting those on their way, are passed over.
#[derive(Debug)]
pub struct Dynamic {
    chips_per_channel: u32,
    dies_per_chip: u32,
    planes_per_die: u32,
    rounds: Vec<Round>,
    /// By part of the logical pages: its round.
    round_of_part: Vec<usize>,
    quotas: PlaneQuotas,
    unwritten: StaticOrder,
}

/// The pointers that go round a set of planes; each counts positions in the set.
#[derive(Debug)]
struct Round {
    set: PlaneSet,
    next_channel: u32,
    /// By channel.
    next_way: Vec<u32>,
    /// By chip.
    next_die: Vec<u32>,
    /// By die.
    next_plane: Vec<u32>,
}

impl Round {
    fn new(set: &PlaneSet) -> Round {
        let count = |level| set.level(level).len();
        let channels = count(Level::Channel);
        let chips = channels * count(Level::Way);
        Round {
            set: set.clone(),
            next_channel: 0,
            next_way: vec![0; channels],
            next_die: vec![0; chips],
            next_plane: vec![0; chips * count(Level::Die)],
        }
    }
}

impl Dynamic {
    /// The allocator of an array in which nothing was placed yet.
    pub fn new(geometry: &Geometry, partition: &Partition) -> Dynamic {
        Dynamic {
            chips_per_channel: geometry.chips_per_channel,
            dies_per_chip: geometry.dies_per_chip,
            planes_per_die: geometry.planes_per_die,
            rounds: partition.sets.iter().map(Round::new).collect(),
            round_of_part: partition.parts.iter().map(|part| part.set).collect(),
            quotas: PlaneQuotas::new(geometry, partition),
            unwritten: StaticOrder::divided(geometry, partition),
        }
    }

    pub(super) fn static_order(&self) -> &StaticOrder {
        &self.unwritten
    }

    pub(super) fn quotas(&self) -> &PlaneQuotas {
        &self.quotas
    }

    pub(super) fn quotas_mut(&mut self) -> &mut PlaneQuotas {
        &mut self.quotas
    }

    /// The next plane for a page of `part` in the order of the pointers, among dies in `idle` (all when `None`) and planes with
    /// room.
    fn next(&mut self, part: usize, occupancy: &Occupancy<'_>, idle: Option<&IdleDies>) -> Option<PlaneId> {
        let any_idle = |first_die: u32, dies: u32| match idle {
            Some(idle) => idle.first_in(first_die, first_die + dies).is_some(),
            None => true,
        };
        let dies_per_channel = self.chips_per_channel * self.dies_per_chip;
        let Round { set, next_channel, next_way, next_die, next_plane } = &mut self.rounds[self.round_of_part[part]];
        let [channels, ways, dies, planes] = Level::ALL.map(|level| set.level(level));
        let [channel_count, way_count, die_count, plane_count] =
            [channels, ways, dies, planes].map(|level| level.len() as u32);
        for channel_at in cyclic(*next_channel, channel_count) {
            let channel = channels[channel_at as usize];
            if !any_idle(channel * dies_per_channel, dies_per_channel) {
                continue;
            }
            for way_at in cyclic(next_way[channel_at as usize], way_count) {
                let chip = channel * self.chips_per_channel + ways[way_at as usize];
                if !any_idle(chip * self.dies_per_chip, self.dies_per_chip) {
                    continue;
                }
                let chip_at = channel_at * way_count + way_at;
                for die_in_chip_at in cyclic(next_die[chip_at as usize], die_count) {
                    let die = DieId(chip * self.dies_per_chip + dies[die_in_chip_at as usize]);
                    if !any_idle(die.0, 1) {
                        continue;
                    }
                    let die_at = chip_at * die_count + die_in_chip_at;
                    for plane_at in cyclic(next_plane[die_at as usize], plane_count) {
                        let plane = PlaneId(die.0 * self.planes_per_die + planes[plane_at as usize]);
                        if self.quotas.has_room(part, plane, occupancy) {
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

impl Allocator for Dynamic {
    fn place(&mut self, lpn: Lpn, occupancy: &Occupancy<'_>, idle: &IdleDies) -> PlaneId {
        let part = self.unwritten.part_of(lpn);
        let among_idle = if idle.is_empty() { None } else { self.next(part, occupancy, Some(idle)) };
        let plane = among_idle
            .or_else(|| self.next(part, occupancy, None))
            .unwrap_or_else(|| self.quotas.without_room(&self.unwritten, lpn, occupancy));
        self.quotas.placed(part, plane);
        plane
    }

    #[inline]
    fn committed(&mut self, lpn: Lpn, plane: PlaneId) {
        self.quotas.committed(self.unwritten.part_of(lpn), plane);
    }

    fn place_unwritten(&self, lpn: Lpn, occupancy: &Occupancy<'_>) -> PlaneId {
        self.quotas.from(&self.unwritten, lpn, occupancy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Allocation, Config};
    use crate::ftl::{Ftl, Stream};
    use crate::ids::StreamId;
    use crate::units::Bytes;

    const PLANES: u32 = 2 * 3 * 2 * 2;

    fn drive() -> (Ftl, IdleDies, Geometry) {
        let mut config = Config::default();
        config.geometry = config::Geometry {
            channels: 2,
            chips_per_channel: 3,
            dies_per_chip: 2,
            planes_per_die: 2,
            blocks_per_plane: 12,
            pages_per_block: 4,
            capacity: Some(Bytes::from_kib(4) * u64::from(PLANES) * 16),
            ..config::Geometry::default()
        };
        config.ftl.allocation = Allocation::Dynamic;
        let geometry = Geometry::new(&config.geometry).unwrap();
        (Ftl::new(&geometry, &config), IdleDies::new(geometry.dies()), geometry)
    }

    /// (channel, way, die in chip, plane in die) of the next placements.
    fn placements(ftl: &mut Ftl, idle: &IdleDies, geometry: &Geometry, count: u32) -> Vec<[u32; 4]> {
        let place = |lpn| {
            let plane = ftl.place_write(Lpn(lpn), idle);
            let die = geometry.die_of_plane(plane);
            let chip = geometry.chip_of(die);
            [geometry.channel_of(chip).0, chip.0 % 3, die.0 % 2, geometry.plane_in_die(plane)]
        };
        (0..count).map(place).collect()
    }

    #[test]
    fn pages_go_round_the_channels_then_ways_then_dies_then_planes() {
        let (mut ftl, idle, geometry) = drive();
        let mut expected = Vec::new();
        for plane in 0..2 {
            for die in 0..2 {
                for way in 0..3 {
                    for channel in 0..2 {
                        expected.push([channel, way, die, plane]);
                    }
                }
            }
        }
        assert_eq!(placements(&mut ftl, &idle, &geometry, PLANES), expected);
        assert_eq!(placements(&mut ftl, &idle, &geometry, PLANES), expected, "the second round is like the first");
    }

    #[test]
    fn only_idle_dies_take_part() {
        let (mut ftl, mut idle, geometry) = drive();
        for die in 0..geometry.dies() {
            idle.set(DieId(die), die == 3 || die == 10);
        }
        // Die 3: channel 0, way 1, die 1. Die 10: channel 1, way 2, die 0.
        let expected = [[0, 1, 1, 0], [1, 2, 0, 0], [0, 1, 1, 1], [1, 2, 0, 1], [0, 1, 1, 0]];
        assert_eq!(placements(&mut ftl, &idle, &geometry, 5), expected);
    }

    #[test]
    fn all_dies_take_part_when_none_is_idle() {
        let (mut ftl, mut idle, geometry) = drive();
        for die in 0..geometry.dies() {
            idle.set(DieId(die), false);
        }
        let placed: std::collections::BTreeSet<_> =
            placements(&mut ftl, &idle, &geometry, PLANES).into_iter().collect();
        assert_eq!(placed.len(), PLANES as usize);
    }

    #[test]
    fn a_plane_without_room_is_passed_over_even_when_only_its_die_is_idle() {
        let (mut ftl, mut idle, geometry) = drive();
        for die in 0..geometry.dies() {
            idle.set(DieId(die), die == 0);
        }
        let mut on_idle_die = 0;
        for lpn in 0..geometry.logical_pages {
            let plane = ftl.place_write(Lpn(lpn), &idle);
            on_idle_die += u32::from(geometry.die_of_plane(plane) == DieId(0));
            let ppn = ftl.allocate(plane, Stream::Host(StreamId(0))).expect("a plane with room has a page");
            ftl.commit_write(Lpn(lpn), ppn);
        }
        // 16 pages are its even share of each plane, 32 would leave the 4 blocks that must stay spare: half of the way.
        assert_eq!(on_idle_die, 2 * 24);
        ftl.audit().unwrap();
    }
}
