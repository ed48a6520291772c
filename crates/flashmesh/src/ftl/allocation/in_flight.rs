//! Pages placed and not yet programmed, for allocators that look at how full the planes are.

use crate::flash::geometry::Geometry;
use crate::ftl::Occupancy;
use crate::ids::{Lpn, PlaneId};

/// Pages placed and not yet programmed, by plane.
#[derive(Debug)]
pub(super) struct InFlight {
    pages: Vec<u32>,
}

impl InFlight {
    pub(super) fn new(geometry: &Geometry) -> InFlight {
        InFlight { pages: vec![0; geometry.planes() as usize] }
    }

    #[inline]
    pub(super) fn on(&self, plane: PlaneId) -> u32 {
        self.pages[plane.index()]
    }

    #[inline]
    pub(super) fn placed(&mut self, plane: PlaneId) {
        self.pages[plane.index()] += 1;
    }

    #[inline]
    pub(super) fn committed(&mut self, plane: PlaneId) {
        let pages = &mut self.pages[plane.index()];
        debug_assert!(*pages > 0, "a page was committed on {plane:?} that was not placed there");
        *pages = pages.saturating_sub(1);
    }

    /// Whether `plane` has room, counting pages on their way.
    #[inline]
    pub(super) fn has_room(&self, plane: PlaneId, occupancy: &Occupancy<'_>) -> bool {
        occupancy.has_room(plane, self.on(plane))
    }

    /// The first plane with room at or after `nominal`, going round; [`InFlight::without_room`] when there is none.
    pub(super) fn from(&self, nominal: PlaneId, lpn: Lpn, occupancy: &Occupancy<'_>) -> PlaneId {
        cyclic(nominal.0, self.pages.len() as u32)
            .map(PlaneId)
            .find(|&plane| self.has_room(plane, occupancy))
            .unwrap_or_else(|| self.without_room(lpn, occupancy))
    }

    /// Where a page goes when no plane has room, which takes a drive at its smallest spare area and more pages in flight
    /// than it has spare: where it is already, so that it takes no more than it had, or else the emptiest plane.
    pub(super) fn without_room(&self, lpn: Lpn, occupancy: &Occupancy<'_>) -> PlaneId {
        occupancy.current_plane(lpn).unwrap_or_else(|| {
            let emptiest = (0..self.pages.len())
                .min_by_key(|&plane| occupancy.valid_pages(PlaneId(plane as u32)) + self.pages[plane]);
            PlaneId(emptiest.unwrap_or(0) as u32)
        })
    }
}

/// 0 to `size` - 1, starting at `start` and going round.
#[inline]
pub(super) fn cyclic(start: u32, size: u32) -> impl Iterator<Item = u32> {
    (start..size).chain(0..start)
}
