//! Unread pages of victims that are collected together, if programs gather. Kept as counters, because a superblock can have hundreds of planes and
//! each move needs the result.

use crate::flash::geometry::Geometry;
use crate::ftl::Ftl;
use crate::ids::PlaneId;

/// Counters by plane, or by set of planes that share superblocks; empty if programs do not gather.
#[derive(Clone, Debug)]
pub(super) struct Unread(Vec<OfPlanes>);

#[derive(Clone, Copy, Debug, Default)]
struct OfPlanes {
    /// Victims with valid pages whose moves have not begun.
    victims: u32,
    /// Pages whose moves have begun but whose reads have not ended.
    pages: u32,
}

impl Unread {
    pub(super) fn new(geometry: &Geometry) -> Unread {
        Unread(vec![OfPlanes::default(); if geometry.gathers() { geometry.planes() as usize } else { 0 }])
    }

    /// Counts a new victim of `plane`.
    pub(super) fn victim_begins(&mut self, plane: PlaneId, ftl: &Ftl) {
        self.change(plane, ftl, |of| of.victims += 1);
    }

    /// Counts a victim as read: the moves of all its valid pages have begun.
    pub(super) fn victim_is_read(&mut self, plane: PlaneId, ftl: &Ftl) {
        self.change(plane, ftl, |of| of.victims -= 1);
    }

    /// Counts the start of a page move.
    pub(super) fn read_begins(&mut self, plane: PlaneId, ftl: &Ftl) {
        self.change(plane, ftl, |of| of.pages += 1);
    }

    /// Counts the end, or the cancellation, of the read of a page.
    pub(super) fn read_ended(&mut self, plane: PlaneId, ftl: &Ftl) {
        self.change(plane, ftl, |of| of.pages -= 1);
    }

    /// Returns the number of victims with valid pages whose moves have not begun, in the planes that are collected together with `plane`.
    pub(super) fn victims(&self, plane: PlaneId, ftl: &Ftl) -> u32 {
        self.of(plane, ftl).victims
    }

    /// Returns whether any page of those victims is still unread.
    pub(super) fn has_any(&self, plane: PlaneId, ftl: &Ftl) -> bool {
        let OfPlanes { victims, pages } = self.of(plane, ftl);
        victims > 0 || pages > 0
    }

    fn of(&self, plane: PlaneId, ftl: &Ftl) -> OfPlanes {
        self.0.get(index_of(plane, ftl)).copied().unwrap_or_default()
    }

    fn change(&mut self, plane: PlaneId, ftl: &Ftl, change: impl FnOnce(&mut OfPlanes)) {
        if let Some(of) = self.0.get_mut(index_of(plane, ftl)) {
            change(of);
        }
    }
}

fn index_of(plane: PlaneId, ftl: &Ftl) -> usize {
    if ftl.has_twins() { ftl.superblocks().index_of(plane) as usize } else { plane.index() }
}
