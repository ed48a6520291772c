//! Rate control of garbage collection (`gc.paced`): collection keeps pace with the writes of its plane.
//!
//! A victim of P pages with v valid pages yields P - v free pages for v moves. So each page written to the plane during the collection adds
//! v / (P - v) moves to the debt of the collection. The victim is then empty when its free pages are used up, and free space stays constant. Without
//! rate control, collection starts only when space has run out, or blocks all writes of its plane until its victim is erased.
//!
//! If the device cache destages whole stripes (`cache.destage-stripe`), collection and writes take turns: collections pay their debt before each
//! stripe, and pause otherwise. They pay in whole programs over all planes that share superblocks, because a partial program takes as long as a whole
//! one.
//!
//! Otherwise collection and writes run side by side, and the writes of a die wait while its collection is behind.

use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ftl::Superblocks;
use crate::ids::PlaneId;
use crate::units::Time;

/// Fixed-point scale of numbers of page moves: the value that stands for one move.
const PARTS: i64 = 1 << 10;

/// Debts of collections: the page moves that each collection owes for pages written since it began.
#[derive(Clone, Debug)]
pub struct GcRateControl {
    /// Debts (owed page moves) by plane, or by set of planes that share superblocks if collection and writes take turns. Empty without rate
    /// control.
    pending: Vec<PendingMoves>,
    superblocks: Option<Superblocks>,
    /// Smallest debt with which a collection counts as behind, in page moves multiplied by [`PARTS`].
    min_behind: i64,
    /// Number of planes, or of sets of planes, whose collection owes at least `min_behind` page moves.
    behind: u32,
    turn: GcTurn,
}

/// Current turn in the alternation of collections with the destage of stripes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GcTurn {
    /// No turns: collections may move pages at any time.
    Always,
    /// Turn of writes: collections move no pages.
    OfWrites,
    /// Turn of collections, since this time: no stripe is destaged until the owed page moves are made.
    OfCollection(Time),
}

#[derive(Clone, Copy, Debug, Default)]
struct PendingMoves {
    /// Owed page moves, multiplied by [`PARTS`].
    moves: i64,
    /// Page moves added for each written page, multiplied by [`PARTS`].
    rate: i64,
}

impl GcRateControl {
    /// Creates the rate control, without any debt. `superblocks` is `None` if the drive has no superblocks.
    pub fn new(config: &Config, geometry: &Geometry, superblocks: Option<Superblocks>) -> GcRateControl {
        let takes_turns = config.gc_alternates_with_destage();
        let superblocks = superblocks.filter(|_| takes_turns);
        let planes = superblocks.map_or(1, Superblocks::planes);
        let least = if takes_turns { i64::from(planes * geometry.units_per_program) * PARTS } else { 1 };
        let debts = if config.gc.paced { geometry.planes() / planes } else { 0 };
        let turn = if takes_turns { GcTurn::OfWrites } else { GcTurn::Always };
        GcRateControl {
            pending: vec![PendingMoves::default(); debts as usize],
            superblocks,
            min_behind: least,
            behind: 0,
            turn,
        }
    }

    fn index_of(&self, plane: PlaneId) -> usize {
        self.superblocks.map_or(plane.index(), |superblocks| superblocks.index_of(plane) as usize)
    }

    /// Returns whether the rate control of garbage collection is enabled.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Sets how many page moves the collection of `plane` owes for each written page. The victim has `pages` pages, of which `valid` are
    /// valid; for a superblock, both are sums over its blocks.
    pub fn begin(&mut self, plane: PlaneId, valid: u32, pages: u32) {
        let at = self.index_of(plane);
        if let Some(debt) = self.pending.get_mut(at) {
            debt.rate = i64::from(valid) * PARTS / i64::from(pages.saturating_sub(valid).max(1));
        }
    }

    /// Cancels the page moves that the collection of `plane` owes, after all valid pages of its victim have moved.
    pub fn end(&mut self, plane: PlaneId) {
        self.change(plane, |debt| *debt = PendingMoves::default());
    }

    /// Counts a page written to `plane` by a request or a destage, for which the collection of `plane` owes page moves.
    pub fn written(&mut self, plane: PlaneId) {
        self.change(plane, |debt| debt.moves += debt.rate);
    }

    /// Subtracts one page move from those that the collection of `plane` owes.
    pub fn moved(&mut self, plane: PlaneId) {
        self.change(plane, |debt| debt.moves -= PARTS);
    }

    fn change(&mut self, plane: PlaneId, change: impl FnOnce(&mut PendingMoves)) {
        let (at, least) = (self.index_of(plane), self.min_behind);
        let Some(debt) = self.pending.get_mut(at) else { return };
        let was_behind = debt.moves >= least;
        change(debt);
        self.behind = self.behind + u32::from(debt.moves >= least) - u32::from(was_behind);
    }

    fn is_behind(&self, plane: PlaneId) -> bool {
        self.pending.get(self.index_of(plane)).is_some_and(|debt| debt.moves >= self.min_behind)
    }

    /// Returns whether writes must wait because collection is behind (owes page moves) on one of `planes`. Always false if collection and
    /// writes take turns.
    #[inline]
    pub fn holds_writes(&self, mut planes: impl Iterator<Item = PlaneId>) -> bool {
        self.turn == GcTurn::Always && planes.any(|plane| self.is_behind(plane))
    }

    /// Returns whether collection of all `planes` must wait, because it is the turn of writes or because no collection is behind (owes
    /// enough page moves). Always false if collection and writes do not take turns.
    #[inline]
    pub fn holds_collection(&self, mut planes: impl Iterator<Item = PlaneId>) -> bool {
        match self.turn {
            GcTurn::Always => false,
            GcTurn::OfWrites => true,
            GcTurn::OfCollection(_) => !planes.any(|plane| self.is_behind(plane)),
        }
    }

    /// Returns whether collection and writes take turns (`gc.paced` with `cache.destage-stripe`).
    #[inline]
    pub fn takes_turns(&self) -> bool {
        self.turn != GcTurn::Always
    }

    /// Begins the turn of collection, if it is the turn of writes and any collection is behind (owes enough page moves). Returns whether
    /// the turn has begun.
    pub fn begin_turn(&mut self, now: Time) -> bool {
        let begins = self.turn == GcTurn::OfWrites && self.behind > 0;
        if begins {
            self.turn = GcTurn::OfCollection(now);
        }
        begins
    }

    /// Ends the turn of collection if no collection is behind (owes enough page moves). Returns the duration of the ended turn; `None` if
    /// no turn of collection has ended.
    pub fn end_turn(&mut self, now: Time) -> Option<Time> {
        match self.turn {
            GcTurn::OfCollection(since) if self.behind == 0 => {
                self.turn = GcTurn::OfWrites;
                Some(now - since)
            }
            _ => None,
        }
    }

    /// Returns whether it is the turn of collection, in which no stripe is destaged.
    pub fn is_turn_of_collection(&self) -> bool {
        matches!(self.turn, GcTurn::OfCollection(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    const PLANE: PlaneId = PlaneId(1);

    fn paced() -> GcRateControl {
        pace(Config::default())
    }

    fn pace(mut config: Config) -> GcRateControl {
        config.gc.paced = true;
        GcRateControl::new(&config, &Geometry::from_config(&config).expect("the geometry is valid"), None)
    }

    fn is_behind(pace: &GcRateControl, plane: PlaneId) -> bool {
        pace.holds_writes(std::iter::once(plane))
    }

    #[test]
    fn three_valid_pages_for_each_invalid_one_are_three_moves_for_each_write() {
        let mut pace = paced();
        pace.begin(PLANE, 75, 100);
        pace.written(PLANE);
        for _ in 0..3 {
            assert!(is_behind(&pace, PLANE));
            pace.moved(PLANE);
        }
        assert!(!is_behind(&pace, PLANE));
    }

    #[test]
    fn a_victim_without_valid_pages_holds_no_write_back_and_other_planes_do_not_wait() {
        let mut pace = paced();
        pace.begin(PLANE, 0, 100);
        pace.written(PLANE);
        assert!(!is_behind(&pace, PLANE));
        pace.begin(PLANE, 99, 100);
        pace.written(PLANE);
        assert!(is_behind(&pace, PLANE) && !is_behind(&pace, PlaneId(0)));
        pace.end(PLANE);
        assert!(!is_behind(&pace, PLANE));
    }

    #[test]
    fn where_they_take_turns_collection_has_one_while_it_owes_moves_and_waits_otherwise() {
        let mut config = Config::default();
        (config.cache.capacity, config.cache.destage_stripe) = (Bytes::from_kib(1024), Some(Bytes::from_kib(64)));
        let mut pace = pace(config);
        pace.begin(PLANE, 50, 100);
        let holds = |pace: &GcRateControl| pace.holds_collection(std::iter::once(PLANE));
        assert!(holds(&pace) && !pace.begin_turn(Time::ZERO), "no move is owed");
        (0..2).for_each(|_| pace.written(PLANE));
        assert!(!is_behind(&pace, PLANE) && pace.begin_turn(Time::from_us(3)) && !holds(&pace));
        assert!(pace.holds_collection(std::iter::once(PlaneId(0))), "it owes nothing there");
        pace.moved(PLANE);
        assert_eq!(pace.end_turn(Time::from_us(5)), None);
        pace.moved(PLANE);
        assert_eq!(pace.end_turn(Time::from_us(9)), Some(Time::from_us(6)));
        assert!(holds(&pace) && !pace.is_turn_of_collection());
    }
}
