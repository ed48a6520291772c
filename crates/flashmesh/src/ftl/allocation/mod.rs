//! Which plane a written page goes to.

mod dynamic;
mod idle_dies;
mod in_flight;
mod static_order;
mod yielding;

pub use dynamic::Dynamic;
pub use idle_dies::IdleDies;
pub use static_order::{ORDERS, StaticOrder};
pub use yielding::Yielding;

use super::Occupancy;
use crate::config;
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, PlaneId};

/// Chooses the plane of each page the host writes.
///
/// # Contract
///
/// - The plane can hold the page for good: under any sequence of writes, the valid pages of a plane never exceed what
///   garbage collection can handle ([`Occupancy::has_room`], or a fixed share of the logical pages).
/// - The choice depends on nothing but the arguments and the earlier calls, so that a run can be repeated.
/// - Every page placed is committed once, on the plane chosen.
pub trait Allocator {
    /// The plane for the next version of `lpn`.
    fn place(&mut self, lpn: Lpn, occupancy: &Occupancy<'_>, idle: &IdleDies) -> PlaneId;

    /// A page placed on `plane` has been programmed.
    fn committed(&mut self, plane: PlaneId);

    /// The plane on which a page that was never written is found when it is read.
    fn place_unwritten(&self, lpn: Lpn, occupancy: &Occupancy<'_>) -> PlaneId;
}

/// The registry: one line for each allocator.
#[derive(Debug)]
pub(super) enum Policy {
    Static(StaticOrder),
    Yielding(Yielding),
    Dynamic(Dynamic),
}

macro_rules! dispatch {
    ($policy:expr, $allocator:ident => $call:expr) => {
        match $policy {
            Policy::Static($allocator) => $call,
            Policy::Yielding($allocator) => $call,
            Policy::Dynamic($allocator) => $call,
        }
    };
}

impl Policy {
    /// The allocator that `config` names; `pages_leave` says whether collection moves pages to other planes.
    pub(super) fn new(geometry: &Geometry, config: config::Allocation, pages_leave: bool) -> Policy {
        match config {
            config::Allocation::Static(order) if pages_leave => Policy::Yielding(Yielding::new(geometry, order)),
            config::Allocation::Static(order) => Policy::Static(StaticOrder::new(geometry, order)),
            config::Allocation::Dynamic => Policy::Dynamic(Dynamic::new(geometry)),
        }
    }

    /// The order by which pages that were never written, or written before the run began, lie on the planes.
    pub(super) fn static_order(&self) -> &StaticOrder {
        match self {
            Policy::Static(order) => order,
            Policy::Yielding(yielding) => yielding.static_order(),
            Policy::Dynamic(dynamic) => dynamic.static_order(),
        }
    }
}

impl Policy {
    /// Pages placed on `plane` and not yet programmed, where that is counted.
    pub(super) fn in_flight(&self, plane: PlaneId) -> u32 {
        match self {
            Policy::Static(_) => 0,
            Policy::Yielding(yielding) => yielding.in_flight(plane),
            Policy::Dynamic(dynamic) => dynamic.in_flight(plane),
        }
    }
}

impl Allocator for Policy {
    #[inline]
    fn place(&mut self, lpn: Lpn, occupancy: &Occupancy<'_>, idle: &IdleDies) -> PlaneId {
        dispatch!(self, allocator => allocator.place(lpn, occupancy, idle))
    }

    #[inline]
    fn committed(&mut self, plane: PlaneId) {
        dispatch!(self, allocator => allocator.committed(plane));
    }

    #[inline]
    fn place_unwritten(&self, lpn: Lpn, occupancy: &Occupancy<'_>) -> PlaneId {
        dispatch!(self, allocator => allocator.place_unwritten(lpn, occupancy))
    }
}
