//! Destination of moved pages: an open block of their own, or the open block of host writes.
//!
//! If moved pages share the open block of host writes, only collection may open the reserve (the last free block): it does so once the shared block
//! is full and host writes can open no other block. After the erase of the victim, host writes continue in the remaining pages of the reserve. So a
//! plane never runs out of space, for the same reasons as with two open blocks.

use super::BlockManager;
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ids::{BlockId, PlaneId, Ppn};

impl BlockManager {
    pub(in super::super) fn set_moves_shared(&mut self, shared: bool) {
        self.moves_share_write_block = shared;
    }

    pub(in super::super) fn are_moves_shared(&self) -> bool {
        self.moves_share_write_block
    }

    /// Returns the kind of the open block of host writes in `plane`, if moved pages of kind `stream` go to that block first; `None` if these pages go
    /// only to the open block of kind `stream`.
    pub(super) fn shared_with(&self, plane: PlaneId, stream: OpenBlockKind) -> Option<OpenBlockKind> {
        let is_shared = self.moves_share_write_block && stream == OpenBlockKind::Collection;
        is_shared.then(|| self.accounts.planes[plane.index()].open.host_block_kind(None))
    }

    /// Like [`BlockManager::allocate`], but for a moved page, which may go to the open block of host writes.
    pub(in super::super) fn allocate_move(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Option<Ppn> {
        let shared = self.shared_with(plane, stream);
        shared.and_then(|shared| self.allocate(plane, shared)).or_else(|| self.allocate(plane, stream))
    }

    /// Returns the block and page offset of the next moved page. If moved pages go to the open block of host writes, this is the first page after a
    /// partly filled program, which [`BlockManager::begin_program_of_move`] skips. Returns `None` if no page can be allocated.
    pub(crate) fn next_move_offset(&self, plane: PlaneId, stream: OpenBlockKind) -> Option<(BlockId, u32)> {
        let shared = self.shared_with(plane, stream);
        shared
            .and_then(|shared| self.accounts.next_program(plane, shared))
            .or_else(|| self.accounts.next_offset(plane, stream))
    }

    /// Makes the write pointers of host writes equal in all planes of each die: skips pages, up to the most advanced write pointer of the die
    /// \[choice\].
    pub(in super::super) fn level_write_pointers(&mut self) {
        let planes_per_die = self.accounts.geometry.planes_per_die;
        for first in (0..self.accounts.geometry.planes()).step_by(planes_per_die as usize) {
            let planes = || (first..first + planes_per_die).map(PlaneId);
            let pointer = |blocks: &BlockManager, plane: PlaneId| {
                let open = &blocks.accounts.planes[plane.index()].open;
                open.get(open.host_block_kind(None)).next_page
            };
            let furthest = planes().map(|plane| pointer(self, plane)).max().unwrap_or(0);
            for plane in planes() {
                let written = self.accounts.planes[plane.index()].open.host_block_kind(None);
                self.accounts.skip_pages(plane, written, furthest - pointer(self, plane));
            }
        }
    }

    /// Like [`BlockManager::allocate`], but for up to `most` consecutive pages of one block. Returns the first page and the number of pages; `None`
    /// if no page can be allocated.
    pub(in super::super) fn allocate_run(
        &mut self,
        plane: PlaneId,
        stream: OpenBlockKind,
        most: u32,
    ) -> Option<(Ppn, u32)> {
        let first = self.allocate(plane, stream)?;
        let account = &mut self.accounts.planes[plane.index()];
        let more = account.open.pages_left(stream).min(most.saturating_sub(1));
        account.open.get_mut(stream).next_page += more;
        account.free_pages -= if stream == OpenBlockKind::Slc { 0 } else { more };
        Some((first, 1 + more))
    }

    /// Like [`allocate_run`](Self::allocate_run), but for moved pages, which may go to the open block of host writes as in
    /// [`BlockManager::allocate_move`].
    pub(in super::super) fn allocate_moves(
        &mut self,
        plane: PlaneId,
        stream: OpenBlockKind,
        most: u32,
    ) -> Option<(Ppn, u32)> {
        let shared = self.shared_with(plane, stream);
        let first = shared.and_then(|shared| self.allocate_run(plane, shared, most));
        first.or_else(|| self.allocate_run(plane, stream, most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::engine::random::SimRng;
    use crate::ftl::testing::one_plane;
    use crate::ftl::{Ftl, IdleDies};
    use crate::ids::Lpn;

    const PLANE: PlaneId = PlaneId(0);

    fn shared() -> Ftl {
        let mut ftl = one_plane(Config::default());
        ftl.set_moves_shared(true);
        ftl
    }

    #[test]
    fn moved_pages_follow_written_ones_in_the_same_block() {
        let mut ftl = shared();
        let idle = IdleDies::new(1);
        for lpn in 0..12 {
            ftl.untimed().write(Lpn(lpn), &idle);
        }
        ftl.deallocate(Lpn(0));
        let victim = ftl.begin_collection(PLANE).expect("block 0 has an invalid page")[0];
        let (page, lpn) = ftl.next_valid_page(victim, 0).expect("block 0 has valid pages");
        let stream = ftl.move_block_kind(Ppn(page));
        assert_eq!(ftl.blocks.next_move_offset(PLANE, stream), Some((BlockId(1), 4)));
        let to = ftl.allocate_move(PLANE, stream).expect("there is a page");
        assert_eq!(to, Ppn(12));
        assert!(ftl.commit_move(lpn, Ppn(page), to));
        assert_eq!(ftl.allocate(PLANE, OpenBlockKind::SHARED), Some(Ppn(13)));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn a_full_plane_never_runs_out_of_space_with_a_shared_write_block() {
        let mut ftl = shared();
        let idle = IdleDies::new(1);
        let mut random = SimRng::new(7);
        let pages = 10 * 8;
        for lpn in 0..pages {
            ftl.untimed().write(Lpn(lpn), &idle);
        }
        for _ in 0..20_000 {
            ftl.untimed().write(Lpn(random.below(pages)), &idle);
        }
        ftl.audit().expect("the tables agree");
        assert_eq!(ftl.blocks.valid_pages_of_drive(), u64::from(pages));
    }
}
