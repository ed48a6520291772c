//! Which plane a written page goes to.

mod dynamic;
mod idle_dies;
mod quota;
mod static_order;
mod static_with_overflow;

pub use dynamic::Dynamic;
pub use idle_dies::IdleDies;
pub(super) use static_order::Share;
pub use static_order::{ORDERS, StaticOrder};
pub use static_with_overflow::StaticWithOverflow;

use super::Occupancy;
use super::partition::Partition;
use crate::config;
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, PlaneId};

use quota::PlaneQuotas;

/// Chooses the plane of each page the host writes.
///
/// # Contract
///
/// - The plane can hold the page for good: under any sequence of writes, the valid pages of a plane never exceed what
///   garbage collection can handle: they are a fixed share of the logical pages, or each part of the logical pages has a limit
///   of its own on each plane.
/// - The pages of a namespace stay on the planes it is bound to.
/// - The choice depends on nothing but the arguments and the earlier calls, so that a run can be repeated.
/// - Every page placed is committed once, on the plane chosen.
pub trait Allocator {
    /// The plane for the next version of `lpn`.
    fn place(&mut self, lpn: Lpn, occupancy: &Occupancy<'_>, idle: &IdleDies) -> PlaneId;

    /// A version of `lpn`, placed on `plane`, has been programmed.
    fn committed(&mut self, lpn: Lpn, plane: PlaneId);

    /// The plane on which a page that was never written is found when it is read.
    fn place_unwritten(&self, lpn: Lpn, occupancy: &Occupancy<'_>) -> PlaneId;
}

/// The registry: one line for each allocator.
#[derive(Debug)]
pub(super) enum Policy {
    Static(StaticOrder),
    StaticWithOverflow(StaticWithOverflow),
    Dynamic(Dynamic),
}

macro_rules! dispatch {
    ($policy:expr, $allocator:ident => $call:expr) => {
        match $policy {
            Policy::Static($allocator) => $call,
            Policy::StaticWithOverflow($allocator) => $call,
            Policy::Dynamic($allocator) => $call,
        }
    };
}

impl Policy {
    /// The allocator that `config` names; `pages_leave` says whether collection moves pages to other planes.
    pub(super) fn new(
        geometry: &Geometry,
        partition: &Partition,
        config: config::Allocation,
        pages_leave: bool,
    ) -> Policy {
        match config {
            config::Allocation::Static(_) if pages_leave => {
                Policy::StaticWithOverflow(StaticWithOverflow::new(geometry, partition))
            }
            config::Allocation::Static(_) => Policy::Static(StaticOrder::divided(geometry, partition)),
            config::Allocation::Dynamic => Policy::Dynamic(Dynamic::new(geometry, partition)),
        }
    }

    /// The order by which pages that were never written, or written before the run began, lie on the planes.
    pub(super) fn static_order(&self) -> &StaticOrder {
        match self {
            Policy::Static(order) => order,
            Policy::StaticWithOverflow(overflow) => overflow.static_order(),
            Policy::Dynamic(dynamic) => dynamic.static_order(),
        }
    }

    fn quotas(&self) -> Option<&PlaneQuotas> {
        match self {
            Policy::Static(_) => None,
            Policy::StaticWithOverflow(overflow) => Some(overflow.quotas()),
            Policy::Dynamic(dynamic) => Some(dynamic.quotas()),
        }
    }

    /// Whether a version of `lpn` that lies elsewhere may come to `plane`: it is of the same set, and has room. By a static order
    /// none may.
    pub(super) fn admits(&self, lpn: Lpn, plane: PlaneId, occupancy: &Occupancy<'_>) -> bool {
        let (order, Some(quotas)) = (self.static_order(), self.quotas()) else { return false };
        let part = order.part_of(lpn);
        order.members(part).binary_search(&plane).is_ok() && quotas.has_room(part, plane, occupancy)
    }

    /// The valid pages of `part` on `plane`, where they are counted.
    pub(super) fn counted(&self, part: usize, plane: PlaneId) -> Option<u32> {
        self.quotas().and_then(|quotas| quotas.counted(part, plane))
    }

    /// `lpn`, which was valid on one plane, is valid on another, or on none.
    pub(super) fn moved(&mut self, lpn: Lpn, from: Option<PlaneId>, to: Option<PlaneId>) {
        let part = self.static_order().part_of(lpn);
        match self {
            Policy::Static(_) => {}
            Policy::StaticWithOverflow(overflow) => overflow.quotas_mut().moved(part, from, to),
            Policy::Dynamic(dynamic) => dynamic.quotas_mut().moved(part, from, to),
        }
    }
}

impl Allocator for Policy {
    #[inline]
    fn place(&mut self, lpn: Lpn, occupancy: &Occupancy<'_>, idle: &IdleDies) -> PlaneId {
        dispatch!(self, allocator => allocator.place(lpn, occupancy, idle))
    }

    #[inline]
    fn committed(&mut self, lpn: Lpn, plane: PlaneId) {
        dispatch!(self, allocator => allocator.committed(lpn, plane));
    }

    #[inline]
    fn place_unwritten(&self, lpn: Lpn, occupancy: &Occupancy<'_>) -> PlaneId {
        dispatch!(self, allocator => allocator.place_unwritten(lpn, occupancy))
    }
}
