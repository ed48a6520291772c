//! Moves of garbage collection to other chips: choice of the plane to which a valid page is copied.

use crate::ftl::{Ftl, OpenBlockKind, PlaneOccupancy};
use crate::ids::{DieId, Lpn, PlaneId};

/// Access to the translation layer for pages in flight to a plane from another chip.
#[derive(Debug)]
pub struct IncomingPages<'a>(&'a mut Ftl);

impl Ftl {
    /// Returns access for pages that arrive from other chips.
    pub(crate) fn incoming_pages(&mut self) -> IncomingPages<'_> {
        IncomingPages(self)
    }
}

impl IncomingPages<'_> {
    /// Chooses the destination plane of a chip-to-chip copy of `lpns`, valid pages of a victim in `plane` that one program writes: one page, or the
    /// mapping units of a whole program or of the last, partly filled program of the victim. Counts the pages as in flight to the destination until
    /// [`finish`](Self::finish). Returns `None`, and counts nothing, if no plane qualifies; the pages then have to stay in `plane`.
    ///
    /// Candidates are the planes of other chips that have the same index in their chip as `plane` and belong to the namespace of the pages. Data must
    /// be able to move from the die of `plane` to that of the candidate (`reaches(from, to)`). These candidates are skipped:
    ///
    /// - planes without room for all of `lpns` as valid pages of the namespace,
    /// - planes that have no free page in an open block for arriving pages and cannot open another such block,
    /// - planes that already await a page, because a chip has one page buffer per plane \[choice\].
    ///
    /// Of the remaining candidates, the plane with the fewest valid pages is chosen, on a tie the nearest, then the one with the lowest number. The
    /// chosen plane must not have more valid pages than `plane` \[choice\]. So moves even out the valid pages of the planes, because a plane full of
    /// valid pages raises write amplification more than an empty plane lowers it. Choosing the plane with the most free pages instead would gather
    /// pages where a collection has just ended.
    ///
    /// # Why there is no deadlock
    ///
    /// A page is admitted only if the open block for arriving pages has a free page for it. No other kind of data is written to that block. The last
    /// free block of a plane, the reserve of collection, is never opened for arriving pages. So the program of a page in flight waits only for its
    /// die, and no collection waits for space in another plane. Victims of the destination plane find as many free pages in their own plane as
    /// without arriving pages.
    ///
    /// A plane has one more open block, for arriving pages, and one more spare block for it
    /// ([`INCOMING_BLOCKS`](crate::ftl::division::spare_blocks::INCOMING_BLOCKS), checked with the configuration). As for host writes, a page is
    /// admitted only while the plane stays within its page limit, which excludes its spare blocks. Victim selectors choose a block with invalid pages
    /// sooner or later, and its collection frees these invalid pages. So collections that send pages to each other come to an end.
    pub(crate) fn admit(
        &mut self,
        lpns: &[Lpn],
        plane: PlaneId,
        reaches: impl Fn(DieId, DieId) -> bool,
    ) -> Option<PlaneId> {
        let planes_per_chip = self.0.geometry.dies_per_chip * self.0.geometry.planes_per_die;
        let from = self.0.geometry.die_of_plane(plane);
        let candidates = (plane.0 % planes_per_chip..self.0.geometry.planes()).step_by(planes_per_chip as usize);
        let takes_all = |to| reaches(from, self.0.geometry.die_of_plane(to)) && self.room_for(lpns, to) == lpns.len();
        let chosen = self.emptiest(*lpns.first()?, plane, candidates.map(PlaneId), takes_all)?;
        self.open_for_incoming(chosen)?;
        self.0.blocks.accounts.plane_mut(chosen).incoming_pages = lpns.len() as u32;
        Some(chosen)
    }

    /// Chooses the destination plane of a Clean packet (command to copy pages to another chip) for `lpns`, the valid pages of a victim in `plane`.
    /// The destination is on a die for which `may_take` holds. Counts the first of `lpns`, as many as fit, as in flight to the destination. Returns
    /// the destination and the number of these pages; `None` if no plane takes any.
    ///
    /// Like [`admit`](Self::admit), except for the candidates: a packet names the destination of each page, so any plane of another chip is
    /// eligible. The packet takes as many pages as have room in one open block \[choice\]; the controller sends another Clean for the remaining
    /// pages. If programs write several mapping units, only a packet with the last pages of the victim may leave a program partly empty.
    pub(crate) fn admit_clean(
        &mut self,
        lpns: &[Lpn],
        plane: PlaneId,
        may_take: impl Fn(DieId) -> bool,
    ) -> Option<(PlaneId, usize)> {
        let first = *lpns.first()?;
        let chip = |plane: PlaneId| self.0.geometry.chip_of(self.0.geometry.die_of_plane(plane));
        let may_take = |to| chip(to) != chip(plane) && may_take(self.0.geometry.die_of_plane(to));
        let chosen = self.emptiest(first, plane, (0..self.0.geometry.planes()).map(PlaneId), may_take)?;
        let with_room = self.room_for(lpns, chosen);
        self.open_for_incoming(chosen)?;
        let program = self.0.geometry.units_per_program as usize;
        let account = self.0.blocks.accounts.plane_mut(chosen);
        let mut pages = with_room.min(account.open.pages_left(OpenBlockKind::Incoming) as usize);
        if pages < lpns.len() {
            pages -= pages % program;
        }
        account.incoming_pages = pages as u32;
        (pages > 0).then_some((chosen, pages))
    }

    /// Returns how many of `lpns`, counted from the first, can become valid pages of `plane` within its limits.
    fn room_for(&self, lpns: &[Lpn], plane: PlaneId) -> usize {
        let occupancy = PlaneOccupancy::new(&self.0.blocks, &self.0.mapping, self.0.replicas.as_deref());
        let has_room = |(before, &lpn): (u32, &Lpn)| self.0.allocation.admits(lpn, plane, &occupancy) > before;
        (0..).zip(lpns).take_while(|page| has_room(*page)).count()
    }

    /// Returns the candidate with the fewest valid pages, among those that can take `lpn` and have at most as many valid pages as `plane`.
    /// On a tie, returns the nearest to `plane`, then the lowest number. Returns `None` if no candidate qualifies.
    fn emptiest(
        &self,
        lpn: Lpn,
        plane: PlaneId,
        candidates: impl Iterator<Item = PlaneId>,
        may_take: impl Fn(PlaneId) -> bool,
    ) -> Option<PlaneId> {
        let valid = |plane: PlaneId| self.0.blocks.accounts.plane(plane).valid_pages;
        candidates
            .filter(|&to| valid(to) <= valid(plane) && may_take(to) && self.can_admit(lpn, to))
            .min_by_key(|&to| (valid(to), self.0.geometry.distance(plane, to), to))
    }

    fn open_for_incoming(&mut self, plane: PlaneId) -> Option<()> {
        if self.0.blocks.accounts.plane(plane).open.pages_left(OpenBlockKind::Incoming) == 0 {
            self.0.blocks.open_block(plane, OpenBlockKind::Incoming)?;
        }
        Some(())
    }

    /// Records that one page in flight to `plane` from another chip has been committed or dropped. Returns how many pages from other chips are still
    /// in flight to `plane`.
    pub(crate) fn finish(&mut self, plane: PlaneId) -> u32 {
        let account = self.0.blocks.accounts.plane_mut(plane);
        account.incoming_pages -= 1;
        account.incoming_pages
    }

    /// Sets the number of pages in flight to `plane` from other chips. Called if fewer pages are sent than were admitted.
    pub(crate) fn set_count(&mut self, plane: PlaneId, pages: u32) {
        self.0.blocks.accounts.plane_mut(plane).incoming_pages = pages;
    }

    fn can_admit(&self, lpn: Lpn, plane: PlaneId) -> bool {
        let has_room = || {
            let occupancy = PlaneOccupancy::new(&self.0.blocks, &self.0.mapping, self.0.replicas.as_deref());
            self.0.allocation.admits(lpn, plane, &occupancy) > 0
        };
        self.0.blocks.accounts.plane(plane).incoming_pages == 0
            && self.0.blocks.accounts.has_page(plane, OpenBlockKind::Incoming)
            && has_room()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Config};
    use crate::flash::geometry::Geometry;
    use crate::ftl::{FtlRules, IdleDies};
    use crate::units::Bytes;

    /// Creates a drive of three rows of three chips with two planes each. A plane has 12 blocks of 8 pages; the capacity is 6 blocks per plane.
    fn drive() -> Ftl {
        let mut config = Config::default();
        config.geometry = config::Geometry {
            channels: 3,
            chips_per_channel: 3,
            blocks_per_plane: 12,
            pages_per_block: 8,
            capacity: Some(Bytes::from_kib(4) * (18 * 6 * 8)),
            ..config::Geometry::default()
        };
        config.gc.r#move = config::PageMove::ChipToChip;
        Ftl::new(&Geometry::new(&config.geometry).expect("the geometry is valid"), &config, FtlRules::new(&config))
    }

    /// Source plane of the copies: the second plane of the chip in the middle of the 3 x 3 array (planes 8 and 9).
    const FROM: PlaneId = PlaneId(9);

    /// First logical page that `fill` writes to plane `FROM`.
    const PAGE: Lpn = Lpn(FROM.0 * 48);
    const HOST: OpenBlockKind = OpenBlockKind::SHARED;

    fn column(from: DieId, to: DieId) -> bool {
        from != to && from.0 % 3 == to.0 % 3
    }

    /// Writes `pages` logical pages, from page 48 times `plane` on, to `plane`.
    fn fill(ftl: &mut Ftl, plane: PlaneId, pages: u32) {
        for page in 0..pages {
            let ppn = ftl.allocate(plane, HOST).expect("the plane has space");
            ftl.commit(Lpn(plane.0 * 48 + page), ppn);
        }
    }

    #[test]
    fn ties_of_valid_pages_go_to_the_nearest_plane_and_ties_of_distance_to_the_first() {
        let mut ftl = drive();
        assert_eq!(ftl.incoming_pages().admit(&[PAGE], FROM, column), Some(PlaneId(3)));
        // All chips are reachable. Plane 3 (chip above) already awaits a page. Planes 7 and 11 (chips left and right) and 15 (below) are equally
        // near; the lowest number goes first.
        assert_eq!(ftl.incoming_pages().admit(&[PAGE], FROM, |from, to| from != to), Some(PlaneId(7)));
        assert_eq!(ftl.incoming_pages().admit(&[PAGE], FROM, |from, to| from != to), Some(PlaneId(11)));
        assert_eq!(ftl.incoming_pages().admit(&[PAGE], FROM, |_, _| false), None);
    }

    #[test]
    fn the_plane_with_the_fewest_valid_pages_takes_the_page() {
        let mut ftl = drive();
        fill(&mut ftl, PlaneId(3), 1);
        assert_eq!(ftl.incoming_pages().admit(&[PAGE], FROM, column), Some(PlaneId(15)));
    }

    #[test]
    fn a_plane_with_more_valid_pages_or_with_a_page_in_flight_takes_none() {
        let mut ftl = drive();
        fill(&mut ftl, FROM, 40);
        fill(&mut ftl, PlaneId(3), 41);
        fill(&mut ftl, PlaneId(15), 40);
        assert_eq!(ftl.incoming_pages().admit(&[PAGE], FROM, column), Some(PlaneId(15)));
        assert_eq!(ftl.incoming_pages().admit(&[PAGE], FROM, column), None);
        ftl.incoming_pages().finish(PlaneId(15));
        assert_eq!(ftl.incoming_pages().admit(&[PAGE], FROM, column), Some(PlaneId(15)));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn a_plane_short_of_free_pages_still_takes_a_page_from_a_fuller_plane() {
        let mut ftl = drive();
        // Plane 3 has a block open for incoming pages, from an earlier copy.
        assert_eq!(ftl.incoming_pages().admit(&[PAGE], FROM, column), Some(PlaneId(3)));
        ftl.incoming_pages().finish(PlaneId(3));
        fill(&mut ftl, FROM, 48);
        fill(&mut ftl, PlaneId(15), 48);
        // Fills ten of the twelve blocks of plane 3, half of their pages invalid. One block is open for incoming pages, so only the reserve is free.
        fill(&mut ftl, PlaneId(3), 40);
        for page in 0..40 {
            let ppn = ftl.allocate(PlaneId(3), HOST).expect("the plane has space");
            ftl.commit(Lpn(3 * 48 + page), ppn);
        }
        assert!(ftl.is_short(PlaneId(3)));
        assert_eq!(ftl.incoming_pages().admit(&[PAGE], FROM, column), Some(PlaneId(3)));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn a_plane_at_its_quota_takes_none() {
        let mut ftl = drive();
        // The quota is 52 pages: the even share of 48 pages, and half a block. Of 12 blocks, the even share takes 6 and 5 must be spare. Allocation
        // may use half of the remaining block.
        for plane in [3, FROM.0, 15] {
            for page in 0..52 {
                let ppn = ftl.allocate(PlaneId(plane), HOST).expect("the plane has space");
                ftl.commit(Lpn(plane * 52 + page), ppn);
            }
        }
        assert!(!ftl.is_short(PlaneId(3)));
        assert_eq!(ftl.incoming_pages().admit(&[PAGE], FROM, column), None);
        ftl.deallocate(Lpn(15 * 52));
        assert_eq!(ftl.incoming_pages().admit(&[PAGE], FROM, column), Some(PlaneId(15)));
    }

    #[test]
    fn arriving_pages_have_a_block_of_their_own_and_never_open_the_reserve() {
        let mut ftl = drive();
        let idle = IdleDies::new(9);
        fill(&mut ftl, FROM, 24);
        for page in 0..8 {
            let from = ftl.lookup(Lpn(FROM.0 * 48 + page)).expect("the page was written");
            let to = ftl.incoming_pages().admit(&[PAGE], FROM, |_, die| die == DieId(1)).expect("the plane is empty");
            assert_eq!(to, PlaneId(3));
            let ppn = ftl.allocate(to, OpenBlockKind::Incoming).expect("a page is reserved for the copy");
            assert!(ftl.commit_move(Lpn(FROM.0 * 48 + page), from, ppn));
            ftl.incoming_pages().finish(to);
            // The static order puts page 12 on plane 3 as well, so host writes compete for its free blocks.
            ftl.untimed().write(Lpn(12), &idle);
        }
        assert_eq!(
            (ftl.blocks.accounts.plane(FROM).valid_pages, ftl.blocks.accounts.plane(PlaneId(3)).valid_pages),
            (16, 9)
        );
        ftl.audit().expect("the tables agree");
    }
}
