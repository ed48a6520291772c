//! Which plane a written page goes to.

mod custom;
mod dynamic;
mod free_channel;
mod idle_dies;
mod quota;
mod rounds;
mod static_order;
mod static_with_overflow;
mod view;

pub use custom::Custom;
pub use dynamic::Dynamic;
pub use free_channel::FreeChannel;
pub use idle_dies::IdleDies;
#[cfg(feature = "internals")]
pub use static_order::ORDERS;
pub(super) use static_order::Share;
pub use static_order::StaticOrder;
pub use static_with_overflow::StaticWithOverflow;
pub use view::{DriveView, PageRead, PageWrite, RequestPart};

use super::partition::Partition;
use super::{FtlRules, Occupancy};
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
    /// The plane that a page goes to, when its write arrives there; where in the plane is decided when it is programmed.
    fn place(&mut self, write: &PageWrite, drive: &DriveView<'_>) -> PlaneId;

    /// A version of `lpn`, placed on `plane`, has been programmed.
    fn committed(&mut self, lpn: Lpn, plane: PlaneId);

    /// Whether a write placed on `plane` is programmed there, now that it leads an operation whose path has been granted. If not, it is
    /// [withdrawn](Allocator::withdrawn) and placed again, by the load of this moment; then it stays. A question without effects, asked
    /// of writes of pages of the host that have no page yet.
    fn stays(&self, _write: &PageWrite, _plane: PlaneId, _drive: &DriveView<'_>) -> bool {
        true
    }

    /// A version of `lpn`, placed on `plane`, will not be programmed there. By default as if it had been, to who counts what is on its way.
    fn withdrawn(&mut self, lpn: Lpn, plane: PlaneId) {
        self.committed(lpn, plane);
    }

    /// A request reads a page.
    fn read(&mut self, _read: &PageRead) {}
}

/// The registry: one line for each allocator.
#[derive(Clone, Debug)]
pub(super) enum Policy {
    Static(StaticOrder),
    StaticWithOverflow(StaticWithOverflow),
    Dynamic(Dynamic),
    FreeChannel(FreeChannel),
    Custom(Custom),
}

macro_rules! dispatch {
    ($policy:expr, $allocator:ident => $call:expr) => {
        match $policy {
            Policy::Static($allocator) => $call,
            Policy::StaticWithOverflow($allocator) => $call,
            Policy::Dynamic($allocator) => $call,
            Policy::FreeChannel($allocator) => $call,
            Policy::Custom($allocator) => $call,
        }
    };
}

impl Policy {
    pub(super) fn new(geometry: &Geometry, partition: &Partition, rules: &FtlRules) -> Policy {
        match rules.allocation {
            config::Allocation::Static(_) if rules.pages_leave_their_plane => {
                Policy::StaticWithOverflow(StaticWithOverflow::new(geometry, partition))
            }
            config::Allocation::Static(_) => Policy::Static(StaticOrder::divided(geometry, partition)),
            config::Allocation::Dynamic => Policy::Dynamic(Dynamic::new(geometry, partition, rules)),
            config::Allocation::FreeChannel => Policy::FreeChannel(FreeChannel::new(geometry, partition)),
        }
    }

    /// The order by which pages that were never written, or written before the run began, lie on the planes.
    pub(super) fn static_order(&self) -> &StaticOrder {
        match self {
            Policy::Static(order) => order,
            Policy::StaticWithOverflow(overflow) => overflow.static_order(),
            Policy::Dynamic(dynamic) => dynamic.static_order(),
            Policy::FreeChannel(free) => free.static_order(),
            Policy::Custom(custom) => custom.static_order(),
        }
    }

    /// Whether a page goes where the static order says, and nothing is counted.
    pub(super) fn is_static(&self) -> bool {
        matches!(self, Policy::Static(_))
    }

    fn quotas(&self) -> Option<&PlaneQuotas> {
        match self {
            Policy::Static(_) => None,
            Policy::StaticWithOverflow(overflow) => Some(overflow.quotas()),
            Policy::Dynamic(dynamic) => Some(dynamic.quotas()),
            Policy::FreeChannel(free) => Some(free.quotas()),
            Policy::Custom(custom) => Some(custom.quotas()),
        }
    }

    /// How many pages like `lpn` whose versions lie elsewhere may come to `plane`: as many as have room, where it is of the same set. By a
    /// static order none may.
    pub(super) fn admits(&self, lpn: Lpn, plane: PlaneId, occupancy: &Occupancy<'_>) -> u32 {
        let (order, Some(quotas)) = (self.static_order(), self.quotas()) else { return 0 };
        let part = order.part_of(lpn);
        if order.members(part).binary_search(&plane).is_err() { 0 } else { quotas.room(part, plane, occupancy) }
    }

    /// Whether `plane`, that of the static order for `lpn`, has room for it: always where nothing else comes to lie there.
    pub(super) fn has_room(&self, lpn: Lpn, plane: PlaneId, occupancy: &Occupancy<'_>) -> bool {
        self.quotas().is_none_or(|quotas| quotas.has_room(self.static_order().part_of(lpn), plane, occupancy))
    }

    /// Whether no page that it placed is on its way.
    pub(super) fn is_unused(&self) -> bool {
        self.quotas().is_none_or(PlaneQuotas::nothing_is_in_flight)
    }

    /// The next version of `lpn` goes to `plane`, which somebody else has chosen.
    #[inline]
    pub(super) fn placed(&mut self, lpn: Lpn, plane: PlaneId) {
        let part = self.static_order().part_of(lpn);
        match self {
            Policy::Static(_) => {}
            Policy::StaticWithOverflow(overflow) => overflow.quotas_mut().placed(part, plane),
            Policy::Dynamic(dynamic) => dynamic.quotas_mut().placed(part, plane),
            Policy::FreeChannel(free) => free.quotas_mut().placed(part, plane),
            Policy::Custom(custom) => custom.quotas_mut().placed(part, plane),
        }
    }

    /// Whether it counts the pages of each part on each plane, and so has to be told of every page that moves.
    pub(super) fn counts_parts(&self) -> bool {
        self.quotas().is_some_and(PlaneQuotas::counts_parts)
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
            Policy::FreeChannel(free) => free.quotas_mut().moved(part, from, to),
            Policy::Custom(custom) => custom.quotas_mut().moved(part, from, to),
        }
    }
}

impl Allocator for Policy {
    #[inline]
    fn place(&mut self, write: &PageWrite, drive: &DriveView<'_>) -> PlaneId {
        dispatch!(self, allocator => allocator.place(write, drive))
    }

    #[inline]
    fn committed(&mut self, lpn: Lpn, plane: PlaneId) {
        dispatch!(self, allocator => allocator.committed(lpn, plane));
    }

    fn stays(&self, write: &PageWrite, plane: PlaneId, drive: &DriveView<'_>) -> bool {
        dispatch!(self, allocator => allocator.stays(write, plane, drive))
    }

    fn withdrawn(&mut self, lpn: Lpn, plane: PlaneId) {
        dispatch!(self, allocator => allocator.withdrawn(lpn, plane));
    }

    fn read(&mut self, read: &PageRead) {
        dispatch!(self, allocator => allocator.read(read));
    }
}
