//! Page limits of each plane, for allocators that skip full planes.

use super::StaticOrder;
use crate::flash::geometry::Geometry;
use crate::ftl::PlaneOccupancy;
use crate::ftl::division::partition::Partition;
use crate::ids::{Lpn, PlaneId};

/// Page counts and page limits of each plane, separately for each part (range of logical pages with the same set of planes).
///
/// With a single limit per plane, one namespace could fill a plane that another namespace needs for its own pages.
#[derive(Clone, Debug)]
pub(super) struct PlaneQuotas {
    planes: usize,
    /// Maximum number of pages, valid or in flight. The limit of a part on a plane is at index part x (number of planes of the drive) + plane.
    limits: Vec<u32>,
    /// Number of pages placed and not programmed yet, indexed like `limits`.
    in_flight: Vec<u32>,
    /// Number of valid pages, indexed like `limits`. Empty with a single part, whose valid pages [`PlaneOccupancy`] counts.
    valid: Vec<u32>,
}

impl PlaneQuotas {
    pub(super) fn new(geometry: &Geometry, partition: &Partition) -> PlaneQuotas {
        let most = partition.page_limits(geometry);
        let valid = if partition.parts.len() > 1 { vec![0; most.len()] } else { Vec::new() };
        PlaneQuotas { planes: geometry.planes() as usize, in_flight: vec![0; most.len()], valid, limits: most }
    }

    #[inline]
    fn at(&self, part: usize, plane: PlaneId) -> usize {
        part * self.planes + plane.index()
    }

    #[inline]
    pub(super) fn on_placed(&mut self, part: usize, plane: PlaneId) {
        let at = self.at(part, plane);
        self.in_flight[at] += 1;
    }

    #[inline]
    pub(super) fn on_committed(&mut self, part: usize, plane: PlaneId) {
        let at = self.at(part, plane);
        let pages = &mut self.in_flight[at];
        debug_assert!(*pages > 0, "a page was committed on {plane:?} that was not placed there");
        *pages = pages.saturating_sub(1);
    }

    pub(super) fn has_none_in_flight(&self) -> bool {
        self.in_flight.iter().all(|&pages| pages == 0)
    }

    /// Records that a valid page of `part` moved between planes. `from` is `None` if the page was unmapped before; `to` is `None` if the
    /// page is unmapped afterwards.
    pub(super) fn on_moved(&mut self, part: usize, from: Option<PlaneId>, to: Option<PlaneId>) {
        if self.valid.is_empty() || from == to {
            return;
        }
        if let Some(from) = from {
            let at = self.at(part, from);
            self.valid[at] -= 1;
        }
        if let Some(to) = to {
            let at = self.at(part, to);
            self.valid[at] += 1;
        }
    }

    pub(super) fn counts_parts(&self) -> bool {
        !self.valid.is_empty()
    }

    /// Returns the number of valid pages of `part` (index in `Partition::parts`) on `plane`; `None` with a single part, whose pages are not counted
    /// here.
    pub(super) fn counted(&self, part: usize, plane: PlaneId) -> Option<u32> {
        self.valid.get(self.at(part, plane)).copied()
    }

    /// Returns whether the limit of `part` (index in `Partition::parts`) on `plane` allows one more page. Pages in flight count as well.
    #[inline]
    pub(super) fn has_room(&self, part: usize, plane: PlaneId, occupancy: &PlaneOccupancy<'_>) -> bool {
        self.room(part, plane, occupancy) > 0
    }

    /// Returns how many more pages the limit of `part` (index in `Partition::parts`) on `plane` allows. Pages in flight count as well.
    #[inline]
    pub(super) fn room(&self, part: usize, plane: PlaneId, occupancy: &PlaneOccupancy<'_>) -> u32 {
        let at = self.at(part, plane);
        let valid = if self.valid.is_empty() { occupancy.valid_pages(plane) } else { self.valid[at] };
        self.limits[at].saturating_sub(valid + self.in_flight[at] + occupancy.incoming_pages(plane))
    }

    /// Returns the plane of `lpn` in the static order if it has room, otherwise the next plane with room on which this page may be stored, wrapping
    /// around. If no plane has room, returns [`fallback_plane`](Self::fallback_plane).
    pub(super) fn plane_with_room(&self, order: &StaticOrder, lpn: Lpn, occupancy: &PlaneOccupancy<'_>) -> PlaneId {
        let (part, nominal) = (order.part_of(lpn), order.plane_of(lpn));
        if self.has_room(part, nominal, occupancy) {
            return nominal;
        }
        let planes = order.members(part);
        let (before, after) = planes.split_at(planes.partition_point(|&plane| plane < nominal));
        let mut others = after.iter().chain(before).copied();
        others
            .find(|&plane| self.has_room(part, plane, occupancy))
            .unwrap_or_else(|| self.fallback_plane(order, lpn, occupancy))
    }

    /// Returns the plane for a page if no plane has room. For a mapped page, this is its current plane, where the new version replaces the old
    /// version. For an unmapped page, this is the plane with the fewest pages (valid or in flight) among those on which the page may be stored.
    /// Needed only if the drive has the minimum of spare blocks and more pages in flight than spare pages.
    pub(super) fn fallback_plane(&self, order: &StaticOrder, lpn: Lpn, occupancy: &PlaneOccupancy<'_>) -> PlaneId {
        occupancy.current_plane(lpn).unwrap_or_else(|| {
            let part = order.part_of(lpn);
            let pages = |plane| occupancy.valid_pages(plane) + self.in_flight[self.at(part, plane)];
            let emptiest = order.members(part).iter().copied().min_by_key(|&plane| pages(plane));
            emptiest.unwrap_or(PlaneId(0))
        })
    }
}
