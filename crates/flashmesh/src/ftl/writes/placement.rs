//! Placement of written pages: choice of their planes, by the allocator or by a policy.

use crate::config::Allocation;
use crate::ftl::allocation::{self, Allocator, StaticOrder};
use crate::ftl::{DriveView, Ftl, IdleDies, PageRead, PageWrite, PlaneOccupancy};
use crate::ids::{Lpn, PlaneId};
use crate::schedule::load::LoadView;

impl Ftl {
    /// Chooses the plane of the next version of a page. `load` shows the queues of the dies; `None` if they are not known, as in preconditioning. The
    /// caller must allocate and commit the page on this plane, or [withdraw](Ftl::withdraw_write) it.
    #[inline]
    pub(crate) fn place(&mut self, write: &PageWrite, idle: &IdleDies, load: Option<LoadView<'_>>) -> PlaneId {
        let occupancy = PlaneOccupancy::new(&self.blocks, &self.mapping, self.replicas.as_deref());
        let drive = DriveView { geometry: &self.geometry, occupancy, idle, load };
        self.allocation.place(write, &drive)
    }

    /// Like [`Ftl::place`], but for a write without stream and request, and without the queues of the dies.
    #[inline]
    pub fn place_write(&mut self, lpn: Lpn, idle: &IdleDies) -> PlaneId {
        self.place(&PageWrite::new(lpn), idle, None)
    }

    /// Returns whether a write placed on `plane` is still to be programmed there. Called when the operation of the write could begin. If false, the
    /// caller withdraws and places the write again.
    pub(crate) fn keeps_plane(&self, write: &PageWrite, plane: PlaneId, idle: &IdleDies, load: LoadView<'_>) -> bool {
        let occupancy = PlaneOccupancy::new(&self.blocks, &self.mapping, self.replicas.as_deref());
        let drive = DriveView { geometry: &self.geometry, occupancy, idle, load: Some(load) };
        self.allocation.keeps_plane(write, plane, &drive)
    }

    /// Notifies the allocator that a host request reads a page.
    pub(crate) fn notify_read(&mut self, read: &PageRead) {
        self.allocation.on_read(read);
    }

    /// Replaces the configured allocator by one supplied by the caller, for all later writes.
    ///
    /// # Panics
    /// If a placed page is neither committed nor withdrawn yet.
    pub(crate) fn set_allocator(&mut self, allocator: Box<dyn Allocator + Send>) {
        assert!(self.allocation.is_unused(), "an allocator is set before anything is written");
        let custom = allocation::CustomAllocator::new(allocator, &self.geometry, &self.partition);
        self.allocation = allocation::AnyAllocator::Custom(custom);
        self.counts_parts = self.allocation.counts_parts();
        self.notify_filled(0..self.mapping.logical_pages());
    }

    /// Allows a policy to place written pages on any plane that [has room](Ftl::has_room). Pages that the policy does not place follow the static
    /// order.
    ///
    /// # Panics
    /// If a placed page is neither committed nor withdrawn yet.
    pub(crate) fn allow_any_plane(&mut self) {
        assert!(self.allocation.is_unused(), "a policy is set before anything is written");
        self.rules.allocation = Allocation::Static(self.partition.order());
        self.rules.allows_other_planes = true;
        self.allocation = allocation::AnyAllocator::new(&self.geometry, &self.partition, &self.rules);
        self.counts_parts = self.allocation.counts_parts();
        self.notify_filled(0..self.mapping.logical_pages());
    }

    /// Allows pages on other planes than those of the static order, if the allocation is static. No-op under other allocators, which already have
    /// page limits, and with superblocks, whose planes share their blocks.
    ///
    /// # Panics
    /// If a placed page is neither committed nor withdrawn yet.
    pub(crate) fn allow_other_planes(&mut self) {
        if !self.blocks.has_twins() && self.allocation.is_static() {
            self.allow_any_plane();
        }
    }

    /// Returns whether `plane` can take one more page of the namespace of `lpn` within the page limit of that namespace on `plane`. Always false
    /// under a static order, which has no limits and allows no other plane.
    #[inline]
    pub fn has_room(&self, lpn: Lpn, plane: PlaneId) -> bool {
        let occupancy = PlaneOccupancy::new(&self.blocks, &self.mapping, self.replicas.as_deref());
        self.allocation.admits(lpn, plane, &occupancy) > 0
    }

    /// Returns whether a page withdrawn from `plane` may go to `other` instead. With superblocks, both planes must belong to the same superblocks;
    /// otherwise `other` must have room.
    pub(crate) fn may_redirect(&self, lpn: Lpn, plane: PlaneId, other: PlaneId) -> bool {
        if self.blocks.has_twins() { self.blocks.share_superblocks(plane, other) } else { self.has_room(lpn, other) }
    }

    /// Records that the caller, instead of the allocator, has placed the next version of `lpn` on `plane`, which must [have room](Ftl::has_room).
    #[inline]
    pub fn record_placement(&mut self, lpn: Lpn, plane: PlaneId) {
        self.allocation.on_placed(lpn, plane);
    }

    /// Withdraws the version of `lpn` placed on `plane`, so that it no longer counts as in flight there. Called if its write is cancelled or placed
    /// again, and after [`Ftl::commit_move`], which does not notify the allocator.
    #[inline]
    pub(crate) fn withdraw_write(&mut self, lpn: Lpn, plane: PlaneId) {
        self.allocation.on_withdrawn(lpn, plane);
    }

    /// Returns the static order: the fixed assignment of logical pages to planes.
    #[inline(always)]
    pub(crate) fn static_order(&self) -> &StaticOrder {
        self.allocation.static_order()
    }
}
