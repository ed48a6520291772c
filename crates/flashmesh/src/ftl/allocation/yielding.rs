//! Static allocation where garbage collection moves pages to other planes.

use super::in_flight::InFlight;
use super::{Allocator, IdleDies, StaticOrder};
use crate::config::Level;
use crate::flash::geometry::Geometry;
use crate::ftl::Occupancy;
use crate::ids::{Lpn, PlaneId};

/// Static allocation that passes over planes without room \[choice\].
///
/// Where pages move from chip to chip, the share of the logical pages that a static order gives a plane does not bound its
/// valid pages any more: pages of other planes lie there as well. So a page goes to the plane of the static order while that has
/// room ([`Occupancy::has_room`], counting pages on their way), which is nearly always, and else to the next plane that has.
#[derive(Debug)]
pub struct Yielding {
    order: StaticOrder,
    in_flight: InFlight,
}

impl Yielding {
    /// The allocator of an array in which nothing was placed yet.
    ///
    /// # Panics
    /// When a level is missing from `order`.
    pub fn new(geometry: &Geometry, order: [Level; 4]) -> Yielding {
        Yielding { order: StaticOrder::new(geometry, order), in_flight: InFlight::new(geometry) }
    }

    pub(in crate::ftl) fn static_order(&self) -> &StaticOrder {
        &self.order
    }

    pub(in crate::ftl) fn in_flight(&self, plane: PlaneId) -> u32 {
        self.in_flight.on(plane)
    }
}

impl Allocator for Yielding {
    fn place(&mut self, lpn: Lpn, occupancy: &Occupancy<'_>, _: &IdleDies) -> PlaneId {
        let plane = self.in_flight.from(self.order.plane_of(lpn), lpn, occupancy);
        self.in_flight.placed(plane);
        plane
    }

    fn committed(&mut self, plane: PlaneId) {
        self.in_flight.committed(plane);
    }

    fn place_unwritten(&self, lpn: Lpn, occupancy: &Occupancy<'_>) -> PlaneId {
        self.in_flight.from(self.order.plane_of(lpn), lpn, occupancy)
    }
}
