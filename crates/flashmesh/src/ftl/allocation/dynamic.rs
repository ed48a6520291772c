//! Dynamic allocation: round robin over idle dies.

use super::quota::PlaneQuotas;
use super::round_robin::RoundRobinPointers;
use super::{Allocator, DriveView, IdleDies, PageWrite, StaticOrder};
use crate::flash::geometry::Geometry;
use crate::ftl::division::partition::Partition;
use crate::ftl::{FtlRules, PlaneOccupancy};
use crate::ids::{ChannelId, ChipId, Lpn, PlaneId};

/// Dynamic allocation (Design for Scalability, PACT 2014, section 5.4). Places each page on the next channel with an idle die, there on the next chip
/// with an idle die, there on the next idle die, and there on the next plane. Each level is a round robin: one pointer selects the channel, one in
/// each channel the chip, one in each chip the die, and one in each die the plane. If no plane of an idle die has room, all dies are eligible. Each
/// namespace bound to a set of planes has its own pointers.
///
/// Planes without room for another page are skipped; pages in flight count as well. If one program writes several mapping units, all units
/// of a program are placed on one plane before the pointers move.
#[derive(Clone, Debug)]
pub struct Dynamic {
    dies_per_channel: u32,
    dies_per_chip: u32,
    rounds: RoundRobinPointers,
    quotas: PlaneQuotas,
    order: StaticOrder,
    /// Number of consecutive mapping units placed on one plane before the round-robin pointers move: the units of one program in that plane. With
    /// superblocks and multi-plane programs, the units of one program in all planes of a die.
    program: u32,
    /// Plane of the last mapping unit placed, and the number of further units placed there before the round-robin pointers move. Indexed like
    /// `Partition::parts`.
    filling: Vec<(PlaneId, u32)>,
}

impl Dynamic {
    /// Creates an allocator that has placed no page yet. `partition` determines the planes of each namespace and their page limits.
    pub fn new(geometry: &Geometry, partition: &Partition, rules: &FtlRules) -> Dynamic {
        let planes = if rules.superblock_dies.is_some() && rules.joins_planes { geometry.planes_per_die } else { 1 };
        Dynamic {
            program: if geometry.gathers_units() { geometry.units_per_program * planes } else { 1 },
            filling: vec![(PlaneId(0), 0); partition.parts.len()],
            dies_per_channel: geometry.chips_per_channel * geometry.dies_per_chip,
            dies_per_chip: geometry.dies_per_chip,
            rounds: RoundRobinPointers::new(geometry, partition),
            quotas: PlaneQuotas::new(geometry, partition),
            order: StaticOrder::with_partition(geometry, partition),
        }
    }

    pub(super) fn static_order(&self) -> &StaticOrder {
        &self.order
    }

    pub(super) fn quotas(&self) -> &PlaneQuotas {
        &self.quotas
    }

    pub(super) fn quotas_mut(&mut self) -> &mut PlaneQuotas {
        &mut self.quotas
    }

    /// Returns the next plane for a page of `part` (index in `Partition::parts`) and moves the round-robin pointers. Only planes with room are
    /// eligible, and only on dies in `idle` unless `idle` is `None`. Returns `None`, and moves no pointer, if no plane is eligible.
    fn next(&mut self, part: usize, occupancy: &PlaneOccupancy<'_>, idle: Option<&IdleDies>) -> Option<PlaneId> {
        let any_idle = |number: u32, dies: u32| match idle {
            Some(idle) => idle.first_in(number * dies, (number + 1) * dies).is_some(),
            None => true,
        };
        let (dies_per_channel, dies_per_chip, quotas) = (self.dies_per_channel, self.dies_per_chip, &self.quotas);
        self.rounds.next(
            part,
            |ChannelId(channel)| any_idle(channel, dies_per_channel),
            |ChipId(chip)| any_idle(chip, dies_per_chip),
            |die| any_idle(die.0, 1),
            |plane| quotas.has_room(part, plane, occupancy),
        )
    }
}

impl Allocator for Dynamic {
    fn place(&mut self, write: &PageWrite, drive: &DriveView<'_>) -> PlaneId {
        let (part, occupancy, idle) = (self.order.part_of(write.lpn), drive.occupancy(), drive.idle_dies());
        let (filled, left) = self.filling[part];
        if left > 0 && self.quotas.has_room(part, filled, occupancy) {
            self.filling[part].1 -= 1;
            self.quotas.on_placed(part, filled);
            return filled;
        }
        let among_idle = if idle.is_empty() { None } else { self.next(part, occupancy, Some(idle)) };
        let plane = among_idle
            .or_else(|| self.next(part, occupancy, None))
            .unwrap_or_else(|| self.quotas.fallback_plane(&self.order, write.lpn, occupancy));
        self.filling[part] = (plane, self.program - 1);
        self.quotas.on_placed(part, plane);
        plane
    }

    #[inline]
    fn on_committed(&mut self, lpn: Lpn, plane: PlaneId) {
        self.quotas.on_committed(self.order.part_of(lpn), plane);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Allocation, Config};
    use crate::ftl::{Ftl, FtlRules, OpenBlockKind};
    use crate::ids::DieId;
    use crate::units::Bytes;

    const PLANES: u32 = 2 * 3 * 2 * 2;

    fn drive() -> (Ftl, IdleDies, Geometry) {
        divided(Vec::new())
    }

    /// Creates a drive of two channels with three chips each, and of two dies per chip with two planes each, divided into `namespaces`.
    fn divided(namespaces: Vec<config::Namespace>) -> (Ftl, IdleDies, Geometry) {
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
        config.namespace = ["a", "b"].map(str::to_owned).into_iter().zip(namespaces).collect();
        let geometry = Geometry::new(&config.geometry).unwrap();
        (Ftl::new(&geometry, &config, FtlRules::new(&config)), IdleDies::new(geometry.dies()), geometry)
    }

    /// Returns [channel, way, die in chip, plane in die] of the next `count` placements.
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
    fn round_robin_varies_channels_fastest_then_ways_then_dies_then_planes() {
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
    fn only_idle_dies_are_eligible() {
        let (mut ftl, mut idle, geometry) = drive();
        for die in 0..geometry.dies() {
            idle.set(DieId(die), die == 3 || die == 10);
        }
        // Die 3 is channel 0, way 1, die 1 of its chip. Die 10 is channel 1, way 2, die 0 of its chip.
        let expected = [[0, 1, 1, 0], [1, 2, 0, 0], [0, 1, 1, 1], [1, 2, 0, 1], [0, 1, 1, 0]];
        assert_eq!(placements(&mut ftl, &idle, &geometry, 5), expected);
    }

    #[test]
    fn all_dies_are_eligible_if_none_is_idle() {
        let (mut ftl, mut idle, geometry) = drive();
        for die in 0..geometry.dies() {
            idle.set(DieId(die), false);
        }
        let placed: std::collections::BTreeSet<_> =
            placements(&mut ftl, &idle, &geometry, PLANES).into_iter().collect();
        assert_eq!(placed.len(), PLANES as usize);
    }

    #[test]
    fn a_plane_without_room_is_skipped_even_if_only_its_die_is_idle() {
        let (mut ftl, mut idle, geometry) = drive();
        for die in 0..geometry.dies() {
            idle.set(DieId(die), die == 0);
        }
        let mut on_idle_die = 0;
        for lpn in 0..geometry.logical_pages {
            let plane = ftl.place_write(Lpn(lpn), &idle);
            on_idle_die += u32::from(geometry.die_of_plane(plane) == DieId(0));
            let ppn = ftl.allocate(plane, OpenBlockKind::SHARED).expect("a plane with room has a page");
            ftl.commit_write(Lpn(lpn), ppn);
        }
        // A plane has 12 blocks of 4 pages. 4 blocks are spare, so 32 pages remain, and the even share is 16 pages. Allocation may use half of the
        // other 16 pages, so the limit is 24.
        assert_eq!(on_idle_die, 2 * 24);
        ftl.audit().unwrap();
    }

    #[test]
    fn a_plane_filled_by_two_namespaces_together_is_skipped() {
        let namespace = |pages, channels| config::Namespace {
            capacity: Some(Bytes::from_kib(4) * pages),
            channels,
            ..config::Namespace::default()
        };
        let (mut ftl, mut idle, geometry) =
            divided(vec![namespace(128, Some(config::Indices::new([0]))), namespace(192, None)]);
        for die in 0..geometry.dies() {
            idle.set(DieId(die), die == 0);
        }
        let mut on_idle_die = 0;
        for lpn in (0..320).map(Lpn) {
            let plane = ftl.place_write(lpn, &idle);
            on_idle_die += u32::from(geometry.die_of_plane(plane) == DieId(0));
            let ppn = ftl.allocate(plane, OpenBlockKind::SHARED).expect("a plane with room has a page");
            ftl.commit_write(lpn, ppn);
        }
        assert!((1..=2 * 32).contains(&on_idle_die), "{on_idle_die} pages beside the blocks that must stay spare");
        ftl.audit().unwrap();
    }
}
