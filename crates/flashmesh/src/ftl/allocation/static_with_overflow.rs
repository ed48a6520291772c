//! Static allocation where garbage collection moves pages to other planes.

use super::quota::PlaneQuotas;
use super::{Allocator, DriveView, PageWrite, StaticOrder};
use crate::flash::geometry::Geometry;
use crate::ftl::partition::Partition;
use crate::ids::{Lpn, PlaneId};

/// Static allocation that passes over planes without room \[choice\].
///
/// Where pages move from chip to chip, the share of the logical pages that a static order gives a plane does not bound its
/// valid pages any more: pages of other planes lie there as well. So a page goes to the plane of the static order while that has
/// room, counting pages on their way, which is nearly always, and else to the next plane of its set that has.
#[derive(Clone, Debug)]
pub struct StaticWithOverflow {
    order: StaticOrder,
    quotas: PlaneQuotas,
}

impl StaticWithOverflow {
    /// The allocator of an array in which nothing was placed yet.
    ///
    /// # Panics
    /// When a level is missing from the order of `partition`.
    pub fn new(geometry: &Geometry, partition: &Partition) -> StaticWithOverflow {
        StaticWithOverflow {
            order: StaticOrder::divided(geometry, partition),
            quotas: PlaneQuotas::new(geometry, partition),
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
}

impl Allocator for StaticWithOverflow {
    fn place(&mut self, write: &PageWrite, drive: &DriveView<'_>) -> PlaneId {
        let plane = self.quotas.from(&self.order, write.lpn, drive.occupancy());
        self.quotas.placed(self.order.part_of(write.lpn), plane);
        plane
    }

    fn committed(&mut self, lpn: Lpn, plane: PlaneId) {
        self.quotas.committed(self.order.part_of(lpn), plane);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Allocation, Config, Level, Move};
    use crate::ftl::{Ftl, FtlRules, IdleDies, Stream};
    use crate::units::Bytes;

    #[test]
    fn a_page_goes_to_its_plane_while_that_has_room_and_else_to_the_next_one() {
        let mut config = Config::default();
        config.geometry = config::Geometry {
            channels: 3,
            chips_per_channel: 3,
            planes_per_die: 1,
            blocks_per_plane: 12,
            pages_per_block: 8,
            capacity: Some(Bytes::from_kib(4) * (9 * 6 * 8)),
            ..config::Geometry::default()
        };
        config.ftl.allocation = Allocation::Static([Level::Way, Level::Channel, Level::Die, Level::Plane]);
        config.gc.r#move = Move::ChipToChip;
        let mut ftl = Ftl::new(
            &Geometry::new(&config.geometry).expect("the geometry is possible"),
            &config,
            FtlRules::new(&config),
        );
        let idle = IdleDies::new(9);

        // The even share of 48 pages and half a block are room; all of it is taken by pages of other planes.
        let (plane, next) = (PlaneId(8), PlaneId(0));
        for page in 0..52 {
            let ppn = ftl.allocate(plane, Stream::Arrival).expect("the plane has space");
            ftl.commit(Lpn(page * 8), ppn);
        }
        assert_eq!(ftl.place_write(Lpn(7), &idle), PlaneId(7));
        assert_eq!(ftl.place_write(Lpn(8), &idle), next);
        // One page less leaves room for one, and it is taken when that page is placed, not when it is programmed.
        ftl.deallocate(Lpn(0));
        assert_eq!(ftl.place_write(Lpn(8), &idle), plane);
        assert_eq!(ftl.place_write(Lpn(26), &idle), next);
        // Behind a plane in the middle the next one is that with the next number.
        for page in 0..52 {
            let ppn = ftl.allocate(PlaneId(4), Stream::Arrival).expect("the plane has space");
            ftl.commit(Lpn(page * 8 + 1), ppn);
        }
        assert_eq!(ftl.place_write(Lpn(4), &idle), PlaneId(5));
    }
}
