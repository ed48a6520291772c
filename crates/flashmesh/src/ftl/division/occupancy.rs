//! Occupancy of the planes, as seen by allocators.

use crate::ftl::blocks::{BlockManager, Plane};
use crate::ftl::map::mapping::Mapping;
use crate::ftl::replicas::Replicas;
use crate::ids::{Lpn, PlaneId};

/// Valid pages and pages in flight of each plane, read from the tables of the translation layer.
#[derive(Clone, Copy, Debug)]
pub struct PlaneOccupancy<'a> {
    planes: &'a [Plane],
    mapping: &'a Mapping,
    replicas: Option<&'a Replicas>,
    pages_per_plane: u32,
}

impl<'a> PlaneOccupancy<'a> {
    #[inline]
    pub(in super::super) fn new(
        blocks: &'a BlockManager,
        mapping: &'a Mapping,
        replicas: Option<&'a Replicas>,
    ) -> PlaneOccupancy<'a> {
        PlaneOccupancy {
            planes: blocks.accounts.planes(),
            mapping,
            replicas,
            pages_per_plane: blocks.accounts.pages_per_plane(),
        }
    }

    /// Returns the number of pages in flight to `plane` from other chips: admitted by a collection, but not yet committed or dropped.
    #[inline]
    pub fn incoming_pages(&self, plane: PlaneId) -> u32 {
        self.planes[plane.index()].incoming_pages
    }

    /// Returns the number of valid pages of `plane`. Guests, the pages that replication has put there, are not counted.
    #[inline]
    pub fn valid_pages(&self, plane: PlaneId) -> u32 {
        let guests = self.replicas.map_or(0, |replicas| replicas.guests(plane));
        self.planes[plane.index()].valid_pages - guests
    }

    /// Returns the plane to which `lpn` is mapped; `None` if `lpn` is unmapped.
    pub fn current_plane(&self, lpn: Lpn) -> Option<PlaneId> {
        self.mapping.get(lpn).map(|ppn| PlaneId(ppn.0 / self.pages_per_plane))
    }
}
