//! What an allocator sees of the planes.

use super::mapping::Mapping;
use super::plane::Plane;
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, PlaneId};

/// How full the planes are, as an allocator sees it.
#[derive(Clone, Copy, Debug)]
pub struct Occupancy<'a> {
    planes: &'a [Plane],
    mapping: &'a Mapping,
    pages_per_plane: u32,
}

impl<'a> Occupancy<'a> {
    #[inline]
    pub(super) fn new(planes: &'a [Plane], mapping: &'a Mapping, geometry: &Geometry) -> Occupancy<'a> {
        Occupancy { planes, mapping, pages_per_plane: geometry.pages_per_plane() }
    }

    /// Pages that `plane` awaits from another chip.
    #[inline]
    pub fn awaited(&self, plane: PlaneId) -> u32 {
        self.planes[plane.index()].awaited
    }

    /// The valid pages of `plane`, without guests: those that replication put there.
    #[inline]
    pub fn valid_pages(&self, plane: PlaneId) -> u32 {
        self.planes[plane.index()].valid_pages - self.planes[plane.index()].guests
    }

    /// The plane that holds `lpn` now.
    pub fn current_plane(&self, lpn: Lpn) -> Option<PlaneId> {
        self.mapping.get(lpn).map(|ppn| PlaneId(ppn.0 / self.pages_per_plane))
    }
}
