//! Pages that garbage collection moves to another chip: which plane takes them.

use super::{Ftl, Occupancy, Stream};
use crate::ids::{ChipId, DieId, Lpn, PlaneId};

impl Ftl {
    /// Chooses the plane that a valid page of a victim in `plane`, which holds `lpn`, is copied to without passing a controller, and keeps
    /// a page for it there. From then on the page is on its way, until it has [`arrived`](Ftl::arrived). `None` when it has to stay in
    /// its own plane.
    ///
    /// The candidates are the planes at the same place (die and plane) of other chips which the data `reaches`, as far as they are
    /// of the namespace of the page. Those that cannot take it are passed over: planes that have no room for another valid page, that
    /// have no page left in the open block for arrivals and cannot open another, or that await a page already, since a chip has one
    /// page buffer for each plane \[choice\]. Of the others it is the one with the fewest valid pages, of equals the nearest, of
    /// equals the first, if it has no more than the plane of the victim \[choice\]: moves even the planes out. Were pages sent
    /// wherever free pages are, they would gather where a collection has just ended, and a plane full of valid pages amplifies
    /// writes more than an empty one saves.
    ///
    /// # Why nothing gets stuck
    ///
    /// A page is let in only when there is a page for it in the open block for arrivals. Nothing else allocates from that block, and it
    /// is never opened with the last free block, the reserve of collection. So the program of a page that is on its way waits for
    /// its die and for nothing else; no collection ever waits for space in another plane, and its own victim finds in its own plane
    /// what it found before. A plane has one more open block than else, and one more block is spare
    /// ([`ARRIVAL_BLOCKS`](super::spare_blocks::ARRIVAL_BLOCKS), which the configuration is checked for); a page is let in, as the host's
    /// are, only while the valid pages stay below what that leaves. Every collection still discards at least one invalid page, so
    /// collections that send their pages to each other come to an end.
    pub(crate) fn admit_copy(
        &mut self,
        lpn: Lpn,
        plane: PlaneId,
        reaches: impl Fn(DieId, DieId) -> bool,
    ) -> Option<PlaneId> {
        let planes_per_chip = self.geometry.dies_per_chip * self.geometry.planes_per_die;
        let from = self.geometry.die_of_plane(plane);
        let candidates = (plane.0 % planes_per_chip..self.geometry.planes()).step_by(planes_per_chip as usize);
        let may_take = |to| reaches(from, self.geometry.die_of_plane(to));
        let chosen = self.emptiest(lpn, plane, candidates.map(PlaneId), may_take)?;
        self.open_for_arrivals(chosen)?;
        self.blocks.plane_mut(chosen).awaited = 1;
        Some(chosen)
    }

    /// The same for mapping units that fill a program, or are the last of a victim, and hold `lpns`: one plane takes them all, by one program.
    pub(crate) fn admit_program(
        &mut self,
        lpns: &[Lpn],
        plane: PlaneId,
        reaches: impl Fn(DieId, DieId) -> bool,
    ) -> Option<PlaneId> {
        let planes_per_chip = self.geometry.dies_per_chip * self.geometry.planes_per_die;
        let from = self.geometry.die_of_plane(plane);
        let candidates = (plane.0 % planes_per_chip..self.geometry.planes()).step_by(planes_per_chip as usize);
        let takes_all = |to| reaches(from, self.geometry.die_of_plane(to)) && self.room_for(lpns, to) == lpns.len();
        let chosen = self.emptiest(*lpns.first()?, plane, candidates.map(PlaneId), takes_all)?;
        self.open_for_arrivals(chosen)?;
        self.blocks.plane_mut(chosen).awaited = lpns.len() as u32;
        Some(chosen)
    }

    /// Chooses the plane that the valid pages of a victim in `plane`, which hold `lpns` in this order, are sent to by one Clean packet, among
    /// those of the dies that the packet may name, and keeps pages for the first of them there: for how many is returned as well. From
    /// then on they are on their way. `None` when no plane takes any.
    ///
    /// As [`Ftl::admit_copy`], but for the candidates: the packet names where each page goes, so that any plane of another chip will do. As
    /// many pages go as have room in one open block \[choice\]; the controller sends another Clean for the others. Where programs take several
    /// mapping units, only the last of a victim leave one in part empty.
    pub(crate) fn admit_clean(
        &mut self,
        lpns: &[Lpn],
        plane: PlaneId,
        may_take: impl Fn(DieId) -> bool,
    ) -> Option<(PlaneId, usize)> {
        let first = *lpns.first()?;
        let chip = |plane: PlaneId| self.geometry.chip_of(self.geometry.die_of_plane(plane));
        let may_take = |to| chip(to) != chip(plane) && may_take(self.geometry.die_of_plane(to));
        let chosen = self.emptiest(first, plane, (0..self.geometry.planes()).map(PlaneId), may_take)?;
        let with_room = self.room_for(lpns, chosen);
        self.open_for_arrivals(chosen)?;
        let program = self.geometry.units_per_program as usize;
        let account = self.blocks.plane_mut(chosen);
        let mut pages = with_room.min(account.open.pages_left(Stream::Arrival) as usize);
        if pages < lpns.len() {
            pages -= pages % program;
        }
        account.awaited = pages as u32;
        (pages > 0).then_some((chosen, pages))
    }

    /// How many of these pages, from the first one on, have room in `plane`.
    fn room_for(&self, lpns: &[Lpn], plane: PlaneId) -> usize {
        let occupancy = Occupancy::new(&self.blocks, &self.mapping, self.replicas.as_deref());
        let has_room = |(before, &lpn): (u32, &Lpn)| self.allocation.admits(lpn, plane, &occupancy) > before;
        (0..).zip(lpns).take_while(|page| has_room(*page)).count()
    }

    /// The plane of `candidates` that takes a page which leaves `plane`.
    fn emptiest(
        &self,
        lpn: Lpn,
        plane: PlaneId,
        candidates: impl Iterator<Item = PlaneId>,
        may_take: impl Fn(PlaneId) -> bool,
    ) -> Option<PlaneId> {
        let valid = |plane: PlaneId| self.blocks.plane(plane).valid_pages;
        candidates
            .filter(|&to| valid(to) <= valid(plane) && may_take(to) && self.can_admit(lpn, to))
            .min_by_key(|&to| (valid(to), self.distance(plane, to), to))
    }

    fn open_for_arrivals(&mut self, plane: PlaneId) -> Option<()> {
        if self.blocks.plane(plane).open.pages_left(Stream::Arrival) == 0 {
            self.blocks.open_block(plane, Stream::Arrival)?;
        }
        Some(())
    }

    /// A page that was on its way to `plane` has been programmed and committed, or was dropped. Gives how many are still on their way.
    pub(crate) fn arrived(&mut self, plane: PlaneId) -> u32 {
        let account = self.blocks.plane_mut(plane);
        account.awaited -= 1;
        account.awaited
    }

    /// So many of those that `plane` was to take are sent.
    pub(crate) fn expect_pages(&mut self, plane: PlaneId, pages: u32) {
        self.blocks.plane_mut(plane).awaited = pages;
    }

    fn can_admit(&self, lpn: Lpn, plane: PlaneId) -> bool {
        let has_room = || {
            let occupancy = Occupancy::new(&self.blocks, &self.mapping, self.replicas.as_deref());
            self.allocation.admits(lpn, plane, &occupancy) > 0
        };
        self.blocks.plane(plane).awaited == 0 && self.blocks.has_page(plane, Stream::Arrival) && has_room()
    }

    /// Rows and columns between the chips of two planes.
    fn distance(&self, from: PlaneId, to: PlaneId) -> u32 {
        let place = |plane: PlaneId| {
            let ChipId(chip) = self.geometry.chip_of(self.geometry.die_of_plane(plane));
            (chip / self.geometry.chips_per_channel, chip % self.geometry.chips_per_channel)
        };
        let ((from_row, from_column), (to_row, to_column)) = (place(from), place(to));
        from_row.abs_diff(to_row) + from_column.abs_diff(to_column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Config};
    use crate::flash::geometry::Geometry;
    use crate::ftl::{FtlRules, IdleDies};
    use crate::units::Bytes;

    /// Three rows of three chips of two planes; a plane has 12 blocks of 8 pages, of which the host sees 6.
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
        config.gc.r#move = config::Move::ChipToChip;
        Ftl::new(&Geometry::new(&config.geometry).expect("the geometry is possible"), &config, FtlRules::new(&config))
    }

    /// The second plane of the chip in the middle of the array.
    const FROM: PlaneId = PlaneId(9);

    /// The page that FROM holds first.
    const PAGE: Lpn = Lpn(FROM.0 * 48);
    const HOST: Stream = Stream::SHARED;

    fn column(from: DieId, to: DieId) -> bool {
        from != to && from.0 % 3 == to.0 % 3
    }

    /// The host writes `pages` pages to `plane`.
    fn fill(ftl: &mut Ftl, plane: PlaneId, pages: u32) {
        for page in 0..pages {
            let ppn = ftl.allocate(plane, HOST).expect("the plane has space");
            ftl.commit(Lpn(plane.0 * 48 + page), ppn);
        }
    }

    #[test]
    fn of_equally_empty_planes_the_nearest_takes_the_page_and_of_equally_near_ones_the_first() {
        let mut ftl = drive();
        assert_eq!(ftl.admit_copy(PAGE, FROM, column), Some(PlaneId(3)));
        // Anywhere: the chips beside it, in the order of the array; the one above awaits a page.
        assert_eq!(ftl.admit_copy(PAGE, FROM, |from, to| from != to), Some(PlaneId(7)));
        assert_eq!(ftl.admit_copy(PAGE, FROM, |from, to| from != to), Some(PlaneId(11)));
        assert_eq!(ftl.admit_copy(PAGE, FROM, |_, _| false), None);
    }

    #[test]
    fn the_plane_with_the_fewest_valid_pages_takes_the_page() {
        let mut ftl = drive();
        fill(&mut ftl, PlaneId(3), 1);
        assert_eq!(ftl.admit_copy(PAGE, FROM, column), Some(PlaneId(15)));
    }

    #[test]
    fn a_plane_that_has_more_valid_pages_or_awaits_a_page_takes_none() {
        let mut ftl = drive();
        fill(&mut ftl, FROM, 40);
        fill(&mut ftl, PlaneId(3), 41);
        fill(&mut ftl, PlaneId(15), 40);
        assert_eq!(ftl.admit_copy(PAGE, FROM, column), Some(PlaneId(15)));
        assert_eq!(ftl.admit_copy(PAGE, FROM, column), None);
        ftl.arrived(PlaneId(15));
        assert_eq!(ftl.admit_copy(PAGE, FROM, column), Some(PlaneId(15)));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn a_plane_that_is_short_of_free_pages_takes_a_page_that_evens_the_drive_out() {
        let mut ftl = drive();
        // An earlier page has opened a block for arrivals there.
        assert_eq!(ftl.admit_copy(PAGE, FROM, column), Some(PlaneId(3)));
        ftl.arrived(PlaneId(3));
        fill(&mut ftl, FROM, 48);
        fill(&mut ftl, PlaneId(15), 48);
        // Ten of twelve blocks, half of whose pages are invalid: beside the block for arrivals only the reserve is free.
        fill(&mut ftl, PlaneId(3), 40);
        for page in 0..40 {
            let ppn = ftl.allocate(PlaneId(3), HOST).expect("the plane has space");
            ftl.commit(Lpn(3 * 48 + page), ppn);
        }
        assert!(ftl.is_short(PlaneId(3)));
        assert_eq!(ftl.admit_copy(PAGE, FROM, column), Some(PlaneId(3)));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn a_plane_with_as_many_valid_pages_as_it_can_take_takes_none() {
        let mut ftl = drive();
        // An even share is 48 pages; half of the block beyond that and the five that a plane needs is room as well.
        for plane in [3, FROM.0, 15] {
            for page in 0..52 {
                let ppn = ftl.allocate(PlaneId(plane), HOST).expect("the plane has space");
                ftl.commit(Lpn(plane * 52 + page), ppn);
            }
        }
        assert!(!ftl.is_short(PlaneId(3)));
        assert_eq!(ftl.admit_copy(PAGE, FROM, column), None);
        ftl.deallocate(Lpn(15 * 52));
        assert_eq!(ftl.admit_copy(PAGE, FROM, column), Some(PlaneId(15)));
    }

    #[test]
    fn pages_that_arrive_have_a_block_of_their_own_and_leave_the_reserve_alone() {
        let mut ftl = drive();
        let idle = IdleDies::new(9);
        fill(&mut ftl, FROM, 24);
        for page in 0..8 {
            let from = ftl.lookup(Lpn(FROM.0 * 48 + page)).expect("it was written");
            let to = ftl.admit_copy(PAGE, FROM, |_, die| die == DieId(1)).expect("the plane is empty");
            assert_eq!(to, PlaneId(3));
            let ppn = ftl.allocate(to, Stream::Arrival).expect("its place is kept");
            assert!(ftl.commit_move(Lpn(FROM.0 * 48 + page), from, ppn));
            ftl.arrived(to);
            // The host writes page 12, which is of that plane.
            ftl.write_untimed(Lpn(12), &idle);
        }
        assert_eq!((ftl.blocks.plane(FROM).valid_pages, ftl.blocks.plane(PlaneId(3)).valid_pages), (16, 9));
        ftl.audit().expect("the tables agree");
    }
}
