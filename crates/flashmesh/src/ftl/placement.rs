//! Which plane a written page goes to.

use super::allocation::{self, Allocator};
use super::{DriveView, Ftl, IdleDies, Occupancy, PageRead, PageWrite};
use crate::config::Allocation;
use crate::ids::{Lpn, PlaneId};
use crate::schedule::load::Load;

impl Ftl {
    /// The plane that the next version of a page goes to. Every page placed is to be allocated and committed there, or
    /// [taken back](Ftl::unplace_write).
    #[inline]
    pub(crate) fn place(&mut self, write: &PageWrite, idle: &IdleDies, load: Option<Load<'_>>) -> PlaneId {
        let occupancy = Occupancy::new(&self.blocks, &self.mapping, self.replicas.as_deref());
        let drive = DriveView { geometry: &self.geometry, occupancy, idle, load };
        self.allocation.place(write, &drive)
    }

    /// [`Ftl::place`] of a page of no stream and no request, while nothing waits for a die.
    #[inline]
    pub fn place_write(&mut self, lpn: Lpn, idle: &IdleDies) -> PlaneId {
        self.place(&PageWrite::of(lpn), idle, None)
    }

    /// Whether a write placed on `plane` is programmed there, now that it could be.
    pub(crate) fn stays(&self, write: &PageWrite, plane: PlaneId, idle: &IdleDies, load: Load<'_>) -> bool {
        let occupancy = Occupancy::new(&self.blocks, &self.mapping, self.replicas.as_deref());
        let drive = DriveView { geometry: &self.geometry, occupancy, idle, load: Some(load) };
        self.allocation.stays(write, plane, &drive)
    }

    /// Tells the allocator that a request reads a page.
    pub(crate) fn tell_read(&mut self, read: &PageRead) {
        self.allocation.read(read);
    }

    /// Places pages by an allocator of the caller's own in place of the configured one.
    ///
    /// # Panics
    /// When a page was placed before.
    pub(crate) fn set_allocator(&mut self, allocator: Box<dyn Allocator + Send>) {
        assert!(self.allocation.is_unused(), "an allocator is set before anything is written");
        let custom = allocation::Custom::new(allocator, &self.geometry, &self.partition);
        self.allocation = allocation::Policy::Custom(custom);
        self.counts_parts = self.allocation.counts_parts();
        self.count_parts(0..self.mapping.logical_pages());
    }

    /// Lets a policy place written pages on any plane that [has room](Ftl::has_room). Others go by the static order.
    ///
    /// # Panics
    /// When a page was placed before.
    pub(crate) fn set_placed_late(&mut self) {
        assert!(self.allocation.is_unused(), "a policy is set before anything is written");
        self.rules.allocation = Allocation::Static(self.partition.order());
        self.rules.pages_leave_their_plane = true;
        self.allocation = allocation::Policy::new(&self.geometry, &self.partition, &self.rules);
        self.counts_parts = self.allocation.counts_parts();
        self.count_parts(0..self.mapping.logical_pages());
    }

    /// Lets pages go to other planes than those of the static order, where they are placed by that. Others are placed with regard to how full
    /// planes are as it is, or the planes of a die share their blocks.
    ///
    /// # Panics
    /// When a page was placed before.
    pub(crate) fn set_placed_beside(&mut self) {
        if !self.has_twins() && self.allocation.is_static() {
            self.set_placed_late();
        }
    }

    /// Whether `plane` has room for a page that holds `lpn`, where pages are placed with regard to how full planes are.
    #[inline]
    pub fn has_room(&self, lpn: Lpn, plane: PlaneId) -> bool {
        let occupancy = Occupancy::new(&self.blocks, &self.mapping, self.replicas.as_deref());
        self.allocation.admits(lpn, plane, &occupancy) > 0
    }

    /// Whether a page that was placed on `plane`, and counts there no more, may go to `other` instead: to a plane that shares superblocks with
    /// it, and where there are none to one with room.
    pub(crate) fn may_go_beside(&self, lpn: Lpn, plane: PlaneId, other: PlaneId) -> bool {
        if self.has_twins() { self.share_superblocks(plane, other) } else { self.has_room(lpn, other) }
    }

    /// The next version of `lpn` goes to `plane`, which [has room](Ftl::has_room) for it.
    #[inline]
    pub fn place_write_on(&mut self, lpn: Lpn, plane: PlaneId) {
        self.allocation.placed(lpn, plane);
    }

    /// A page placed on `plane` does not come, or came by other ways than a write.
    #[inline]
    pub(crate) fn unplace_write(&mut self, lpn: Lpn, plane: PlaneId) {
        self.allocation.withdrawn(lpn, plane);
    }

    #[inline]
    pub(crate) fn static_plane(&self, lpn: Lpn) -> PlaneId {
        self.allocation.static_order().plane_of(lpn)
    }
}
