//! Where pages go that collection or wear levelling moves: to an open block of their own, or to the one that is written.
//!
//! Where they share the block that is written, collection goes on with the reserve in the open block for moved pages when that is
//! full; when the victim is erased, the host goes on in it. So the host never takes a page of the reserve, and a plane never gets
//! stuck for the same reasons as with two open blocks.

use super::plane::Frontier;
use super::{Ftl, Stream};
use crate::ids::{BlockId, PlaneId, Ppn};

impl Ftl {
    /// Has moved pages go to the block that is written, or to one of their own.
    pub fn set_moves_shared(&mut self, shared: bool) {
        self.rules.shares_moves = shared;
    }

    /// The open block that moved pages share with writes, when pages of `stream` do.
    fn shared_block(&self, plane: PlaneId, stream: Stream) -> Option<Frontier> {
        (self.rules.shares_moves && stream == Stream::Collection).then(|| self.planes[plane.index()].open.of_host())
    }

    /// As [`Ftl::allocate`], for a page that is moved: `stream` is that of [`Ftl::stream_of_move`].
    pub fn allocate_move(&mut self, plane: PlaneId, stream: Stream) -> Option<Ppn> {
        let shared = self.shared_block(plane, stream);
        let own = stream.frontier();
        shared.and_then(|shared| self.allocate_from(plane, shared)).or_else(|| self.allocate_from(plane, own))
    }

    /// What [`Ftl::allocate_move`] would give: the block and the page in it.
    pub fn next_move_offset(&self, plane: PlaneId, stream: Stream) -> Option<(BlockId, u32)> {
        let shared = self.shared_block(plane, stream);
        let own = stream.frontier();
        shared.and_then(|shared| self.next_offset(plane, shared)).or_else(|| self.next_offset(plane, own))
    }

    /// A victim of `plane` is erased: writes go on in what moved pages have left of the reserve.
    pub(super) fn take_over_reserve(&mut self, plane: PlaneId) {
        let account = &mut self.planes[plane.index()];
        let written = account.open.of_host();
        if account.open.pages_left(written) == 0 && account.open.pages_left(Frontier::Collection) > 0 {
            let reserve = *account.open.get(Frontier::Collection);
            let full = std::mem::replace(account.open.get_mut(written), reserve);
            *account.open.get_mut(Frontier::Collection) = full;
        }
    }

    /// Gives up what is left of an open block: those pages count as programmed and hold nothing.
    pub(super) fn skip_open_pages(&mut self, plane: PlaneId, frontier: Frontier) {
        let account = &mut self.planes[plane.index()];
        let left = account.open.pages_left(frontier);
        let block = account.open.get(frontier).block;
        account.open.get_mut(frontier).next_page += left;
        account.free_pages -= left;
        (0..left).for_each(|_| self.count_program(block));
    }

    /// Brings the write pointers of the planes of each die together, at the furthest one: the others give up pages \[choice\].
    pub(super) fn level_write_pointers(&mut self) {
        let planes_per_die = self.geometry.planes_per_die;
        for first in (0..self.geometry.planes()).step_by(planes_per_die as usize) {
            let planes = || (first..first + planes_per_die).map(PlaneId);
            let pointer = |ftl: &Ftl, plane: PlaneId| {
                let open = &ftl.planes[plane.index()].open;
                open.get(open.of_host()).next_page
            };
            let furthest = planes().map(|plane| pointer(self, plane)).max().unwrap_or(0);
            for plane in planes() {
                let written = self.planes[plane.index()].open.of_host();
                for _ in pointer(self, plane)..furthest {
                    let account = &mut self.planes[plane.index()];
                    let block = account.open.get(written).block;
                    account.open.get_mut(written).next_page += 1;
                    account.free_pages -= 1;
                    self.count_program(block);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::engine::random::SimRng;
    use crate::ftl::IdleDies;
    use crate::ftl::testing::one_plane;
    use crate::ids::Lpn;

    const PLANE: PlaneId = PlaneId(0);

    fn shared() -> Ftl {
        let mut ftl = one_plane(Config::default());
        ftl.set_moves_shared(true);
        ftl
    }

    #[test]
    fn moved_pages_lie_behind_written_ones_in_the_same_block() {
        let mut ftl = shared();
        let idle = IdleDies::new(1);
        for lpn in 0..12 {
            ftl.write_untimed(Lpn(lpn), &idle);
        }
        ftl.deallocate(Lpn(0));
        let victim = ftl.begin_collection(PLANE).expect("block 0 has an invalid page");
        let (page, lpn) = ftl.next_valid_page(victim, 0).expect("and valid ones");
        let stream = ftl.stream_of_move(Ppn(page));
        assert_eq!(ftl.next_move_offset(PLANE, stream), Some((BlockId(1), 4)));
        let to = ftl.allocate_move(PLANE, stream).expect("there is a page");
        assert_eq!(to, Ppn(12));
        assert!(ftl.commit_move(lpn, Ppn(page), to));
        assert_eq!(ftl.allocate(PLANE, Stream::Host(crate::ids::StreamId(0))), Some(Ppn(13)));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn a_full_plane_is_written_on_for_ever_and_the_host_goes_on_in_the_reserve() {
        let mut ftl = shared();
        let idle = IdleDies::new(1);
        let mut random = SimRng::new(7);
        let pages = 10 * 8;
        for lpn in 0..pages {
            ftl.write_untimed(Lpn(lpn), &idle);
        }
        for _ in 0..20_000 {
            ftl.write_untimed(Lpn(random.below(pages)), &idle);
        }
        ftl.audit().expect("the tables agree");
        assert_eq!(ftl.mapped_pages(), u64::from(pages));
    }
}
