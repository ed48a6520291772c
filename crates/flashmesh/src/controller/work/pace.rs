//! Collection keeps pace with the writes of its plane (`gc.paced`).
//!
//! A victim of P pages with v valid ones gives P - v pages for v moves. While it is collected, each page that requests write to the plane so makes
//! the collection owe v / (P - v) moves. Both end together, and free space stays as it is. Without it, collection either waits until space has
//! run out or keeps all writes of its plane from running until its victim is erased.

use crate::flash::geometry::Geometry;
use crate::ids::PlaneId;

/// Parts that a page is counted in.
const PARTS: i64 = 1 << 10;

/// What the collections of each plane owe.
#[derive(Clone, Debug)]
pub struct Pace {
    /// By plane; empty where collection does not keep pace.
    owed: Vec<Debt>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Debt {
    /// Moves, in parts of a page.
    moves: i64,
    /// Moves for each page that is written, likewise.
    rate: i64,
}

impl Pace {
    pub fn new(geometry: &Geometry, is_paced: bool) -> Pace {
        Pace { owed: vec![Debt::default(); if is_paced { geometry.planes() as usize } else { 0 }] }
    }

    /// Whether collections keep pace.
    #[inline]
    pub fn is_kept(&self) -> bool {
        !self.owed.is_empty()
    }

    /// A victim of `pages` pages, of which `valid` are valid, is collected in a plane.
    pub fn begin(&mut self, plane: PlaneId, valid: u32, pages: u32) {
        if let Some(debt) = self.owed.get_mut(plane.index()) {
            debt.rate = i64::from(valid) * PARTS / i64::from(pages.saturating_sub(valid).max(1));
        }
    }

    /// Nothing is collected in a plane any more.
    pub fn end(&mut self, plane: PlaneId) {
        if let Some(debt) = self.owed.get_mut(plane.index()) {
            *debt = Debt::default();
        }
    }

    /// Requests, or the device cache, have a page of a plane programmed.
    pub fn written(&mut self, plane: PlaneId) {
        if let Some(debt) = self.owed.get_mut(plane.index()) {
            debt.moves += debt.rate;
        }
    }

    /// A collection has a page of a plane programmed.
    pub fn moved(&mut self, plane: PlaneId) {
        if let Some(debt) = self.owed.get_mut(plane.index()) {
            debt.moves -= PARTS;
        }
    }

    /// Whether the writes of a plane wait for its collection.
    #[inline]
    pub fn is_behind(&self, plane: PlaneId) -> bool {
        self.owed.get(plane.index()).is_some_and(|debt| debt.moves > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLANE: PlaneId = PlaneId(1);

    fn paced() -> Pace {
        let geometry = Geometry::new(&crate::config::Geometry::default()).expect("the geometry is possible");
        Pace::new(&geometry, true)
    }

    #[test]
    fn three_valid_pages_for_each_invalid_one_are_three_moves_for_each_write() {
        let mut pace = paced();
        pace.begin(PLANE, 75, 100);
        pace.written(PLANE);
        for _ in 0..3 {
            assert!(pace.is_behind(PLANE));
            pace.moved(PLANE);
        }
        assert!(!pace.is_behind(PLANE));
    }

    #[test]
    fn a_victim_without_valid_pages_holds_no_write_back_and_other_planes_do_not_wait() {
        let mut pace = paced();
        pace.begin(PLANE, 0, 100);
        pace.written(PLANE);
        assert!(!pace.is_behind(PLANE));
        pace.begin(PLANE, 99, 100);
        pace.written(PLANE);
        assert!(pace.is_behind(PLANE) && !pace.is_behind(PlaneId(0)));
        pace.end(PLANE);
        assert!(!pace.is_behind(PLANE));
    }
}
