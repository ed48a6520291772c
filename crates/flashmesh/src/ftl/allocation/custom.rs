//! Allocator supplied by the caller instead of the configuration.

use std::fmt;

use super::quota::PlaneQuotas;
use super::{Allocator, DriveView, PageRead, PageWrite, StaticOrder};
use crate::flash::geometry::Geometry;
use crate::ftl::division::partition::Partition;
use crate::ids::{Lpn, PlaneId};

/// Allocator supplied by the caller, to try a policy that the configuration does not offer.
///
/// The allocator need not check the limits of planes. If the allocator chooses a plane at its page limit, or a plane of another namespace, the page
/// goes to the plane that the static order assigns to the page, or to the next plane with room.
pub struct CustomAllocator {
    allocator: Box<dyn Allocator + Send>,
    order: StaticOrder,
    quotas: PlaneQuotas,
}

impl fmt::Debug for CustomAllocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Custom").finish_non_exhaustive()
    }
}

impl Clone for CustomAllocator {
    /// Panics, because drives are cloned only before a caller sets an allocator.
    fn clone(&self) -> CustomAllocator {
        unreachable!("a drive with an allocator of the caller's own is not cloned")
    }
}

impl CustomAllocator {
    /// Wraps `allocator`, with no page in flight. `partition` determines the planes of each namespace and their page limits.
    pub(in super::super) fn new(
        allocator: Box<dyn Allocator + Send>,
        geometry: &Geometry,
        partition: &Partition,
    ) -> CustomAllocator {
        CustomAllocator {
            allocator,
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

impl Allocator for CustomAllocator {
    fn place(&mut self, write: &PageWrite, drive: &DriveView<'_>) -> PlaneId {
        let part = self.order.part_of(write.lpn);
        let chosen = self.allocator.place(write, drive);
        let is_of_set = self.order.members(part).binary_search(&chosen).is_ok();
        let plane = if is_of_set && self.quotas.has_room(part, chosen, drive.occupancy()) {
            chosen
        } else {
            self.quotas.plane_with_room(&self.order, write.lpn, drive.occupancy())
        };
        self.quotas.on_placed(part, plane);
        plane
    }

    fn on_committed(&mut self, lpn: Lpn, plane: PlaneId) {
        self.quotas.on_committed(self.order.part_of(lpn), plane);
        self.allocator.on_committed(lpn, plane);
    }

    fn keeps_plane(&self, write: &PageWrite, plane: PlaneId, drive: &DriveView<'_>) -> bool {
        self.allocator.keeps_plane(write, plane, drive)
    }

    fn on_withdrawn(&mut self, lpn: Lpn, plane: PlaneId) {
        self.quotas.on_committed(self.order.part_of(lpn), plane);
        self.allocator.on_withdrawn(lpn, plane);
    }

    fn on_read(&mut self, read: &PageRead) {
        self.allocator.on_read(read);
    }
}
