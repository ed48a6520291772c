//! Number of unread pages in victims, if a program writes several mapping units. Kept as counters, because every move needs the sum over a
//! superblock, which can have hundreds of planes.

use crate::flash::geometry::Geometry;
use crate::ftl::Ftl;
use crate::ids::PlaneId;

/// Counters of unread pages, by plane or by set of planes that share superblocks; empty with one mapping unit per program.
#[derive(Clone, Debug)]
pub(super) struct UnreadPages(Vec<UnreadCounts>);

#[derive(Clone, Copy, Debug, Default)]
struct UnreadCounts {
    /// Number of victims of which some valid pages have not begun to move.
    victims: u32,
    /// Number of pages that have begun to move, but are not read yet.
    pages: u32,
}

impl UnreadPages {
    pub(super) fn new(geometry: &Geometry) -> UnreadPages {
        UnreadPages(vec![
            UnreadCounts::default();
            if geometry.gathers_units() { geometry.planes() as usize } else { 0 }
        ])
    }

    /// Counts a new victim of `plane`. No page of the victim has begun to move.
    pub(super) fn victim_begins(&mut self, plane: PlaneId, ftl: &Ftl) {
        self.change(plane, ftl, |of| of.victims += 1);
    }

    /// Records that all valid pages of a victim have begun to move.
    pub(super) fn victim_is_read(&mut self, plane: PlaneId, ftl: &Ftl) {
        self.change(plane, ftl, |of| of.victims -= 1);
    }

    /// Counts a page of a victim of `plane` that begins to move, and must be read.
    pub(super) fn read_begins(&mut self, plane: PlaneId, ftl: &Ftl) {
        self.change(plane, ftl, |of| of.pages += 1);
    }

    /// Counts a page of a victim of `plane` whose read has ended or was cancelled.
    pub(super) fn read_ended(&mut self, plane: PlaneId, ftl: &Ftl) {
        self.change(plane, ftl, |of| of.pages -= 1);
    }

    /// Returns the number of victims of which some valid pages have not begun to move, in `plane` and in the planes that share its superblocks.
    pub(super) fn victims(&self, plane: PlaneId, ftl: &Ftl) -> u32 {
        self.of(plane, ftl).victims
    }

    /// Returns whether victims have unread valid pages, in `plane` or in the planes that share its superblocks.
    pub(super) fn has_any(&self, plane: PlaneId, ftl: &Ftl) -> bool {
        let UnreadCounts { victims, pages } = self.of(plane, ftl);
        victims > 0 || pages > 0
    }

    fn of(&self, plane: PlaneId, ftl: &Ftl) -> UnreadCounts {
        self.0.get(index_of(plane, ftl)).copied().unwrap_or_default()
    }

    fn change(&mut self, plane: PlaneId, ftl: &Ftl, change: impl FnOnce(&mut UnreadCounts)) {
        if let Some(of) = self.0.get_mut(index_of(plane, ftl)) {
            change(of);
        }
    }
}

fn index_of(plane: PlaneId, ftl: &Ftl) -> usize {
    if ftl.blocks().has_twins() { ftl.blocks().superblocks().index_of(plane) as usize } else { plane.index() }
}
