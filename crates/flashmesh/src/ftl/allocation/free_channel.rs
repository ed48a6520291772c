//! Dynamic allocation that chooses a free channel first, then a free chip of this channel.

use super::quota::PlaneQuotas;
use super::round_robin::RoundRobinPointers;
use super::{Allocator, DriveView, PageWrite, StaticOrder};
use crate::flash::geometry::Geometry;
use crate::ftl::division::partition::Partition;
use crate::ids::{ChipId, DieId, Lpn, PlaneId};

/// Dynamic allocation of the Network-on-SSD baseline (Design for Scalability, PACT 2014, section 5.4). Places each page on the next free channel,
/// there on the next free chip, and there on the next die and the next plane. Each level is a round robin: one pointer selects the channel, one in
/// each channel the chip, one in each chip the die, and one in each die the plane.
///
/// A channel is free if none of its dies transfers data or requests a path. A chip is free if its dies are idle and have no pending
/// transactions. If no plane of a free channel has room, all channels are eligible; if no plane of a free chip has room, all chips of the
/// channel are eligible \[choice\]. Each namespace bound to a set of planes has its own pointers. Planes without room for another page are
/// skipped; pages in flight count as well.
#[derive(Clone, Debug)]
pub struct FreeChannel {
    rounds: RoundRobinPointers,
    quotas: PlaneQuotas,
    order: StaticOrder,
}

impl FreeChannel {
    /// Creates an allocator that has placed no page yet. `partition` determines the planes of each namespace and their page limits.
    pub fn new(geometry: &Geometry, partition: &Partition) -> FreeChannel {
        FreeChannel {
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

    /// Returns the next plane with room for a page of `part` (index in `Partition::parts`) and moves the round-robin pointers. Considers only free
    /// channels, or all channels if `any_channel` is true. Returns `None` if no plane of these channels has room.
    fn next(&mut self, part: usize, drive: &DriveView<'_>, any_channel: bool) -> Option<PlaneId> {
        let dies_per_chip = drive.geometry().dies_per_chip;
        let is_free = |ChipId(chip): ChipId| {
            (chip * dies_per_chip..(chip + 1) * dies_per_chip).all(|die| drive.is_idle(DieId(die)))
        };
        let quotas = &self.quotas;
        let has_room = |plane| quotas.has_room(part, plane, drive.occupancy());
        self.rounds
            .channels(part)
            .into_iter()
            .filter(|&channel| any_channel || drive.is_channel_free(channel))
            .find_map(|channel| {
                let of_free_chip = self.rounds.next(part, |other| other == channel, is_free, |_| true, has_room);
                of_free_chip.or_else(|| self.rounds.next(part, |other| other == channel, |_| true, |_| true, has_room))
            })
    }
}

impl Allocator for FreeChannel {
    fn place(&mut self, write: &PageWrite, drive: &DriveView<'_>) -> PlaneId {
        let part = self.order.part_of(write.lpn);
        let plane = self
            .next(part, drive, false)
            .or_else(|| self.next(part, drive, true))
            .unwrap_or_else(|| self.quotas.fallback_plane(&self.order, write.lpn, drive.occupancy()));
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
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::{self, Allocation, Config};
    use crate::ftl::{Ftl, FtlRules, IdleDies, OpenBlockKind};
    use crate::schedule::DieStates;
    use crate::schedule::load::LoadView;
    use crate::schedule::queues::{DieQueues, Transactions};
    use crate::units::Bytes;

    const PLANES: u32 = 2 * 3 * 2 * 2;

    /// Fake die states: busy dies, and dies that transfer data or request a path.
    #[derive(Default)]
    struct Doing {
        busy: BTreeSet<u32>,
        moving: BTreeSet<u32>,
    }

    impl DieStates for Doing {
        fn accepts(&self, die: DieId) -> bool {
            self.is_idle(die)
        }

        fn is_idle(&self, die: DieId) -> bool {
            !self.busy.contains(&die.0)
        }

        fn requests_path(&self, die: DieId) -> bool {
            self.moving.contains(&die.0)
        }

        fn in_progress(&self, die: DieId) -> usize {
            usize::from(self.busy.contains(&die.0))
        }

        fn uses_path(&self, die: DieId) -> bool {
            self.moving.contains(&die.0)
        }
    }

    /// Creates a drive of two channels with three chips each, and of two dies per chip with two planes each.
    fn drive() -> (Ftl, Geometry) {
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
        config.ftl.allocation = Allocation::FreeChannel;
        let geometry = Geometry::new(&config.geometry).expect("the geometry is valid");
        (Ftl::new(&geometry, &config, FtlRules::new(&config)), geometry)
    }

    /// Returns [channel, way, die in chip, plane in die] of the next `count` placements.
    fn placements(ftl: &mut Ftl, doing: &Doing, geometry: &Geometry, count: u32) -> Vec<[u32; 4]> {
        let (queues, transactions) = (DieQueues::new(geometry.dies(), 2, false), Transactions::default());
        let idle = IdleDies::new(geometry.dies());
        let place = |lpn| {
            let load = LoadView::new(doing, &queues, &transactions);
            let plane = ftl.place(&PageWrite::new(Lpn(lpn)), &idle, Some(load));
            let die = geometry.die_of_plane(plane);
            let chip = geometry.chip_of(die);
            [geometry.channel_of(chip).0, chip.0 % 3, die.0 % 2, geometry.plane_in_die(plane)]
        };
        (0..count).map(place).collect()
    }

    #[test]
    fn an_idle_drive_varies_channels_fastest_then_ways_then_dies_then_planes() {
        let (mut ftl, geometry) = drive();
        let planes = (0..2).flat_map(|plane| (0..2).map(move |die| (die, plane)));
        let chips = planes.flat_map(|(die, plane)| (0..3).map(move |way| (way, die, plane)));
        let all = chips.flat_map(|(way, die, plane)| (0..2).map(move |channel| [channel, way, die, plane]));
        assert_eq!(placements(&mut ftl, &Doing::default(), &geometry, PLANES), all.collect::<Vec<_>>());
    }

    #[test]
    fn a_channel_with_a_transfer_is_skipped_although_its_chips_are_free() {
        let (mut ftl, geometry) = drive();
        let doing = Doing { moving: BTreeSet::from([5]), ..Doing::default() };
        let expected = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 2, 0, 0], [1, 0, 1, 0]];
        assert_eq!(placements(&mut ftl, &doing, &geometry, 4), expected);
        // Dies 5 (channel 0) and 6 (channel 1) use their channels. If no channel is free, all are eligible.
        let doing = Doing { moving: BTreeSet::from([5, 6]), ..Doing::default() };
        let channels: Vec<u32> = placements(&mut ftl, &doing, &geometry, 4).iter().map(|place| place[0]).collect();
        assert_eq!(channels, [0, 1, 0, 1]);
    }

    #[test]
    fn the_channel_is_chosen_before_a_free_chip_on_it() {
        let (mut ftl, geometry) = drive();
        // On channel 0, both dies of chip 0 and one die of chip 1 are busy, so only chip 2 is free. All dies of channel 1 are busy.
        let doing = Doing { busy: BTreeSet::from([0, 1, 2, 6, 7, 8, 9, 10, 11]), ..Doing::default() };
        let expected = [[0, 2, 0, 0], [1, 0, 0, 0], [0, 2, 1, 0], [1, 1, 0, 0], [0, 2, 0, 1]];
        assert_eq!(
            placements(&mut ftl, &doing, &geometry, 5),
            expected,
            "a channel without a free chip still has its turn"
        );
    }

    #[test]
    fn planes_without_room_are_skipped_and_so_is_a_channel_without_other_planes() {
        let (mut ftl, geometry) = drive();
        let doing = Doing { moving: BTreeSet::from([6]), ..Doing::default() };
        let (queues, transactions) = (DieQueues::new(geometry.dies(), 2, false), Transactions::default());
        let idle = IdleDies::new(geometry.dies());
        let mut on_free_channel = 0;
        for lpn in (0..geometry.logical_pages).map(Lpn) {
            let plane = ftl.place(&PageWrite::new(lpn), &idle, Some(LoadView::new(&doing, &queues, &transactions)));
            on_free_channel += u32::from(geometry.die_of_plane(plane).0 < 6);
            let ppn = ftl.allocate(plane, OpenBlockKind::SHARED).expect("a plane with room has a page");
            ftl.commit_write(lpn, ppn);
        }
        // A plane has 48 pages: an even share of 16, 4 spare blocks with 16, and 16 others, half of which allocation may use. So each of the 12
        // planes of the free channel takes 24 pages. Further pages go to the busy channel.
        assert_eq!(on_free_channel, 12 * 24);
        ftl.audit().expect("the tables agree");
    }
}
