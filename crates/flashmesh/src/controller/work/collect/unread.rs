//! What planes that are collected together have still to read of their victims, where programs gather: counted, since a superblock may be over
//! hundreds of planes, and each move asks.

use crate::flash::geometry::Geometry;
use crate::ftl::Ftl;
use crate::ids::PlaneId;

/// By plane, or by set of planes that share superblocks; empty where programs do not gather.
#[derive(Clone, Debug)]
pub(super) struct Unread(Vec<OfPlanes>);

#[derive(Clone, Copy, Debug, Default)]
struct OfPlanes {
    /// Victims with valid pages that are not on their way.
    victims: u32,
    /// Pages on their way that have not been read.
    pages: u32,
}

impl Unread {
    pub(super) fn new(geometry: &Geometry) -> Unread {
        Unread(vec![OfPlanes::default(); if geometry.gathers() { geometry.planes() as usize } else { 0 }])
    }

    /// A victim is taken in a plane.
    pub(super) fn victim_begins(&mut self, plane: PlaneId, ftl: &Ftl) {
        self.change(plane, ftl, |of| of.victims += 1);
    }

    /// All valid pages of a victim are on their way.
    pub(super) fn victim_is_read(&mut self, plane: PlaneId, ftl: &Ftl) {
        self.change(plane, ftl, |of| of.victims -= 1);
    }

    /// A page of a victim is on its way.
    pub(super) fn read_begins(&mut self, plane: PlaneId, ftl: &Ftl) {
        self.change(plane, ftl, |of| of.pages += 1);
    }

    /// It has been read, or has not to be any more.
    pub(super) fn read_ended(&mut self, plane: PlaneId, ftl: &Ftl) {
        self.change(plane, ftl, |of| of.pages -= 1);
    }

    /// Victims with valid pages that are not on their way, in planes that are collected together.
    pub(super) fn victims(&self, plane: PlaneId, ftl: &Ftl) -> u32 {
        self.of(plane, ftl).victims
    }

    /// Whether there is anything to read in them.
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
