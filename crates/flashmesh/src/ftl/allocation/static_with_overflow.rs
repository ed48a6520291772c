//! Static allocation with a fallback to other planes, for drives on which planes can fill up: garbage collection moves pages between chips, or a
//! policy places pages.

use super::quota::PlaneQuotas;
use super::{Allocator, DriveView, PageWrite, StaticOrder};
use crate::flash::geometry::Geometry;
use crate::ftl::division::partition::Partition;
use crate::ids::{Lpn, PlaneId};

/// Static allocation that skips planes without room \[choice\].
///
/// If garbage collection moves pages to other chips, or a policy places pages, a plane also stores pages that the static order assigns to other
/// planes, and can fill up. A page therefore goes to its plane of the static order only if that plane has room, counting pages in flight; otherwise
/// it goes to the next plane of its namespace with room. The plane of the static order nearly always has room.
#[derive(Clone, Debug)]
pub struct StaticWithOverflow {
    order: StaticOrder,
    quotas: PlaneQuotas,
}

impl StaticWithOverflow {
    /// Creates an allocator that has placed no page yet. `partition` determines the planes of each namespace and their page limits.
    ///
    /// # Panics
    /// If a level is missing from the order of `partition`.
    pub fn new(geometry: &Geometry, partition: &Partition) -> StaticWithOverflow {
        StaticWithOverflow {
            order: StaticOrder::with_partition(geometry, partition),
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
        let plane = self.quotas.plane_with_room(&self.order, write.lpn, drive.occupancy());
        self.quotas.on_placed(self.order.part_of(write.lpn), plane);
        plane
    }

    fn on_committed(&mut self, lpn: Lpn, plane: PlaneId) {
        self.quotas.on_committed(self.order.part_of(lpn), plane);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Allocation, ArrayLevel, Config, PageMove};
    use crate::ftl::{Ftl, FtlRules, IdleDies, OpenBlockKind};
    use crate::units::Bytes;

    #[test]
    fn a_page_goes_to_its_static_plane_or_to_the_next_one_with_room() {
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
        config.ftl.allocation =
            Allocation::Static([ArrayLevel::Way, ArrayLevel::Channel, ArrayLevel::Die, ArrayLevel::Plane]);
        config.gc.r#move = PageMove::ChipToChip;
        let mut ftl =
            Ftl::new(&Geometry::new(&config.geometry).expect("the geometry is valid"), &config, FtlRules::new(&config));
        let idle = IdleDies::new(9);

        // The quota of a plane is 52 pages: the even share of 48 pages and half a block of 8. Fill plane 8 with pages that the static order assigns
        // to other planes.
        let (plane, next) = (PlaneId(8), PlaneId(0));
        for page in 0..52 {
            let ppn = ftl.allocate(plane, OpenBlockKind::Incoming).expect("the plane has space");
            ftl.commit(Lpn(page * 8), ppn);
        }
        assert_eq!(ftl.place_write(Lpn(7), &idle), PlaneId(7));
        assert_eq!(ftl.place_write(Lpn(8), &idle), next);
        // A deallocated page makes room for one page on plane 8, which the next placement takes at once.
        ftl.deallocate(Lpn(0));
        assert_eq!(ftl.place_write(Lpn(8), &idle), plane);
        assert_eq!(ftl.place_write(Lpn(26), &idle), next);
        // Plane 4 is filled too. A page that the static order puts there goes to the next plane with room.
        for page in 0..52 {
            let ppn = ftl.allocate(PlaneId(4), OpenBlockKind::Incoming).expect("the plane has space");
            ftl.commit(Lpn(page * 8 + 1), ppn);
        }
        assert_eq!(ftl.place_write(Lpn(4), &idle), PlaneId(5));
    }
}
