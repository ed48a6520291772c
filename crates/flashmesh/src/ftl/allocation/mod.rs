//! Allocation: the choice of the plane of each written page.

mod custom;
mod dynamic;
mod free_channel;
mod idle_dies;
mod quota;
mod round_robin;
mod static_order;
mod static_with_overflow;
mod view;

pub use custom::CustomAllocator;
pub use dynamic::Dynamic;
pub use free_channel::FreeChannel;
pub use idle_dies::IdleDies;
#[cfg(feature = "internals")]
pub use static_order::ORDERS;
pub(super) use static_order::PlaneShare;
pub use static_order::StaticOrder;
pub use static_with_overflow::StaticWithOverflow;
pub use view::{DriveView, PageRead, PageWrite, RequestPart};

use super::division::partition::Partition;
use super::{FtlRules, PlaneOccupancy};
use crate::config;
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, PlaneId};

use quota::PlaneQuotas;

/// Policy that chooses the plane of each page written by the host.
///
/// # Contract
///
/// - Garbage collection must never run out of space: whatever the host writes, the valid pages of a plane must not exceed its capacity without the
///   spare blocks. To ensure this, a plane stores either a fixed subset of the logical pages, or at most a limit for each part (range of logical
///   pages with the same set of planes).
/// - The pages of a namespace stay on the planes it is bound to.
/// - The choice depends only on the arguments and earlier calls, so that runs are reproducible.
/// - After each placement, the page is either committed on the chosen plane or withdrawn, exactly once.
pub trait Allocator {
    /// Returns the plane for a page whose write reaches the FTL. The FTL itself chooses the physical page in this plane.
    fn place(&mut self, write: &PageWrite, drive: &DriveView<'_>) -> PlaneId;

    /// Records that a version of `lpn`, placed on `plane`, has been programmed.
    fn on_committed(&mut self, lpn: Lpn, plane: PlaneId);

    /// Returns whether the write stays on `plane`, on which it was placed. Called when the write is about to be issued and its die has been granted
    /// the path, unless the write already has a physical page. If false, the write is [withdrawn](Allocator::on_withdrawn) and placed again under the
    /// current load, at most once per write. Must not have side effects.
    fn keeps_plane(&self, _write: &PageWrite, _plane: PlaneId, _drive: &DriveView<'_>) -> bool {
        true
    }

    /// Records that a version of `lpn`, placed on `plane`, will not be programmed there. Calls [`on_committed`](Allocator::on_committed) by default,
    /// because a withdrawn page, like a committed one, is no longer in flight to `plane`.
    fn on_withdrawn(&mut self, lpn: Lpn, plane: PlaneId) {
        self.on_committed(lpn, plane);
    }

    /// Records that a host request reads a page. Does nothing by default.
    fn on_read(&mut self, _read: &PageRead) {}
}

/// Allocator of a drive: a configured policy, or the allocator supplied by the caller.
#[derive(Clone, Debug)]
pub(super) enum AnyAllocator {
    Static(StaticOrder),
    StaticWithOverflow(StaticWithOverflow),
    Dynamic(Dynamic),
    FreeChannel(FreeChannel),
    Custom(CustomAllocator),
}

macro_rules! dispatch {
    ($policy:expr, $allocator:ident => $call:expr) => {
        match $policy {
            AnyAllocator::Static($allocator) => $call,
            AnyAllocator::StaticWithOverflow($allocator) => $call,
            AnyAllocator::Dynamic($allocator) => $call,
            AnyAllocator::FreeChannel($allocator) => $call,
            AnyAllocator::Custom($allocator) => $call,
        }
    };
}

impl AnyAllocator {
    pub(super) fn new(geometry: &Geometry, partition: &Partition, rules: &FtlRules) -> AnyAllocator {
        match rules.allocation {
            config::Allocation::Static(_) if rules.allows_other_planes => {
                AnyAllocator::StaticWithOverflow(StaticWithOverflow::new(geometry, partition))
            }
            config::Allocation::Static(_) => AnyAllocator::Static(StaticOrder::with_partition(geometry, partition)),
            config::Allocation::Dynamic => AnyAllocator::Dynamic(Dynamic::new(geometry, partition, rules)),
            config::Allocation::FreeChannel => AnyAllocator::FreeChannel(FreeChannel::new(geometry, partition)),
        }
    }

    /// Returns the static order (fixed assignment of logical pages to planes). Under every allocator, the static order determines the planes of pages
    /// that were never written, or were written before the run.
    pub(super) fn static_order(&self) -> &StaticOrder {
        match self {
            AnyAllocator::Static(order) => order,
            AnyAllocator::StaticWithOverflow(overflow) => overflow.static_order(),
            AnyAllocator::Dynamic(dynamic) => dynamic.static_order(),
            AnyAllocator::FreeChannel(free) => free.static_order(),
            AnyAllocator::Custom(custom) => custom.static_order(),
        }
    }

    /// Returns whether every page goes to its plane of the static order, so that pages need not be counted against limits.
    pub(super) fn is_static(&self) -> bool {
        matches!(self, AnyAllocator::Static(_))
    }

    fn quotas(&self) -> Option<&PlaneQuotas> {
        match self {
            AnyAllocator::Static(_) => None,
            AnyAllocator::StaticWithOverflow(overflow) => Some(overflow.quotas()),
            AnyAllocator::Dynamic(dynamic) => Some(dynamic.quotas()),
            AnyAllocator::FreeChannel(free) => Some(free.quotas()),
            AnyAllocator::Custom(custom) => Some(custom.quotas()),
        }
    }

    /// Returns how many more pages of the part of `lpn` (range of logical pages with the same set of planes) `plane` may hold. Returns 0 if the part
    /// does not use `plane`, and always under a static order, which has no limits.
    pub(super) fn admits(&self, lpn: Lpn, plane: PlaneId, occupancy: &PlaneOccupancy<'_>) -> u32 {
        let (order, Some(quotas)) = (self.static_order(), self.quotas()) else { return 0 };
        let part = order.part_of(lpn);
        if order.members(part).binary_search(&plane).is_err() { 0 } else { quotas.room(part, plane, occupancy) }
    }

    /// Returns whether `plane`, which the static order assigns to `lpn`, has room for the page. Always true under a static order, which places no
    /// other pages on `plane`.
    pub(super) fn has_room(&self, lpn: Lpn, plane: PlaneId, occupancy: &PlaneOccupancy<'_>) -> bool {
        self.quotas().is_none_or(|quotas| quotas.has_room(self.static_order().part_of(lpn), plane, occupancy))
    }

    /// Returns whether no page is in flight (placed, but neither committed nor withdrawn). Always true under a static order, which does not track
    /// pages in flight.
    pub(super) fn is_unused(&self) -> bool {
        self.quotas().is_none_or(PlaneQuotas::has_none_in_flight)
    }

    /// Counts the next version of `lpn`, placed by the caller instead of the allocator, as in flight to `plane`. Does nothing under a static order.
    #[inline]
    pub(super) fn on_placed(&mut self, lpn: Lpn, plane: PlaneId) {
        let part = self.static_order().part_of(lpn);
        match self {
            AnyAllocator::Static(_) => {}
            AnyAllocator::StaticWithOverflow(overflow) => overflow.quotas_mut().on_placed(part, plane),
            AnyAllocator::Dynamic(dynamic) => dynamic.quotas_mut().on_placed(part, plane),
            AnyAllocator::FreeChannel(free) => free.quotas_mut().on_placed(part, plane),
            AnyAllocator::Custom(custom) => custom.quotas_mut().on_placed(part, plane),
        }
    }

    /// Returns whether the allocator counts the valid pages of each part (range of logical pages with the same set of planes) on each
    /// plane. If so, [`on_moved`](Self::on_moved) must be called for every page that moves.
    pub(super) fn counts_parts(&self) -> bool {
        self.quotas().is_some_and(PlaneQuotas::counts_parts)
    }

    /// Returns the number of valid pages of `part` (index in `Partition::parts`) on `plane`; `None` if the allocator does not count them.
    pub(super) fn counted(&self, part: usize, plane: PlaneId) -> Option<u32> {
        self.quotas().and_then(|quotas| quotas.counted(part, plane))
    }

    /// Records that the valid version of `lpn` moved between planes, for allocators that count the pages of each part (see
    /// [`counts_parts`](Self::counts_parts)). `from` is `None` if `lpn` was unmapped before; `to` is `None` if `lpn` is unmapped afterwards.
    pub(super) fn on_moved(&mut self, lpn: Lpn, from: Option<PlaneId>, to: Option<PlaneId>) {
        let part = self.static_order().part_of(lpn);
        match self {
            AnyAllocator::Static(_) => {}
            AnyAllocator::StaticWithOverflow(overflow) => overflow.quotas_mut().on_moved(part, from, to),
            AnyAllocator::Dynamic(dynamic) => dynamic.quotas_mut().on_moved(part, from, to),
            AnyAllocator::FreeChannel(free) => free.quotas_mut().on_moved(part, from, to),
            AnyAllocator::Custom(custom) => custom.quotas_mut().on_moved(part, from, to),
        }
    }
}

impl Allocator for AnyAllocator {
    #[inline]
    fn place(&mut self, write: &PageWrite, drive: &DriveView<'_>) -> PlaneId {
        dispatch!(self, allocator => allocator.place(write, drive))
    }

    #[inline]
    fn on_committed(&mut self, lpn: Lpn, plane: PlaneId) {
        dispatch!(self, allocator => allocator.on_committed(lpn, plane));
    }

    fn keeps_plane(&self, write: &PageWrite, plane: PlaneId, drive: &DriveView<'_>) -> bool {
        dispatch!(self, allocator => allocator.keeps_plane(write, plane, drive))
    }

    fn on_withdrawn(&mut self, lpn: Lpn, plane: PlaneId) {
        dispatch!(self, allocator => allocator.on_withdrawn(lpn, plane));
    }

    fn on_read(&mut self, read: &PageRead) {
        dispatch!(self, allocator => allocator.on_read(read));
    }
}
