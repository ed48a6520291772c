//! Preallocated pages: pages of writes whose programs begin later (early binding).

use super::BlockManager;
use crate::ftl::division::spare_blocks::PREALLOCATED_BLOCKS;
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ids::{PlaneId, Ppn};

impl BlockManager {
    /// Like [`BlockManager::allocate`], but for a write whose program begins later (early binding).
    /// [`preallocated_programmed`](Self::preallocated_programmed) or [`drop_preallocated`](Self::drop_preallocated) must follow.
    ///
    /// Returns `None` if only the reserve of collection (last free block) is left, or if the plane already has one block of preallocated
    /// pages ([`PREALLOCATED_BLOCKS`]), over all host streams.
    #[inline]
    pub(crate) fn preallocate(&mut self, plane: PlaneId, stream: OpenBlockKind) -> Option<Ppn> {
        if self.accounts.plane(plane).preallocated == PREALLOCATED_BLOCKS * self.accounts.geometry.pages_per_block {
            return None;
        }
        let ppn = self.allocate(plane, stream)?;
        self.accounts.plane_mut(plane).preallocated += 1;
        Some(ppn)
    }

    /// Records that a preallocated page of `plane` was programmed.
    #[inline]
    pub(crate) fn preallocated_programmed(&mut self, plane: PlaneId) {
        self.accounts.plane_mut(plane).preallocated -= 1;
    }

    /// Drops the preallocated page `ppn`, whose write was cancelled. The page counts as programmed and invalid.
    pub(crate) fn drop_preallocated(&mut self, ppn: Ppn) {
        self.accounts.program_invalid(ppn);
        self.preallocated_programmed(self.accounts.geometry.plane_of(ppn));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, WriteBinding};
    use crate::ftl::testing::one_plane;
    use crate::ftl::{BlockState, Ftl};
    use crate::ids::{BlockId, Lpn, StreamId};

    const PLANE: PlaneId = PlaneId(0);
    const HOST: OpenBlockKind = OpenBlockKind::SHARED;

    fn drive() -> Ftl {
        drive_of(Config::default())
    }

    fn drive_of(mut config: Config) -> Ftl {
        config.ftl.write_binding = WriteBinding::Early;
        one_plane(config)
    }

    #[test]
    fn a_plane_preallocates_one_block_of_pages_until_some_are_programmed() {
        let mut ftl = drive();
        for page in 0..8 {
            assert_eq!(ftl.blocks.preallocate(PLANE, HOST), Some(Ppn(page)));
        }
        assert_eq!(ftl.blocks.preallocate(PLANE, HOST), None);
        ftl.commit_write(Lpn(5), Ppn(5));
        ftl.blocks.preallocated_programmed(PLANE);
        assert_eq!(ftl.blocks.preallocate(PLANE, HOST), Some(Ppn(8)));
        assert_eq!(ftl.blocks.preallocate(PLANE, HOST), None);
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn a_block_is_full_when_its_pages_are_programmed_or_given_up() {
        let mut ftl = drive();
        (0..8).for_each(|_| assert!(ftl.blocks.preallocate(PLANE, HOST).is_some()));
        ftl.blocks.drop_preallocated(Ppn(3));
        for page in [7, 0, 1, 2, 4, 5, 6] {
            assert_eq!(ftl.blocks.state(BlockId(0)), BlockState::Open);
            ftl.commit_write(Lpn(page), Ppn(page));
            ftl.blocks.preallocated_programmed(PLANE);
        }
        assert_eq!((ftl.blocks.state(BlockId(0)), ftl.blocks.valid_pages(BlockId(0))), (BlockState::Full, 7));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn a_page_placed_by_a_read_takes_the_next_page_of_the_open_write_block() {
        let mut ftl = drive();
        assert_eq!(ftl.blocks.preallocate(PLANE, HOST), Some(Ppn(0)));
        assert_eq!(ftl.map_on_read(Lpn(7), None), Some(Ppn(1)));
        assert_eq!(ftl.location(Lpn(7)), Ppn(1));
        assert_eq!(ftl.blocks.preallocate(PLANE, HOST), Some(Ppn(2)));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn streams_preallocate_from_their_own_blocks_and_share_the_limit_of_the_plane() {
        let config = Config::from_str("ftl.write-streams = \"per-stream\"\n[stream.a]\n[stream.b]", "drive.toml", &[]);
        let mut ftl = drive_of(config.expect("the configuration is valid"));
        let [first, second] = [0, 1].map(|stream| ftl.blocks.host_block_kind(PLANE, Some(StreamId(stream))));
        assert_eq!(
            (ftl.blocks.preallocate(PLANE, second), ftl.blocks.preallocate(PLANE, first)),
            (Some(Ppn(0)), Some(Ppn(8)))
        );
        assert_eq!(
            ftl.map_on_read(Lpn(7), None),
            Some(Ppn(9)),
            "data from before the run goes to the block of the first stream"
        );
        assert_eq!(ftl.map_on_read(Lpn(6), Some(StreamId(1))), Some(Ppn(1)), "the block of the stream that reads");
        for page in 2..8 {
            assert_eq!(ftl.blocks.preallocate(PLANE, second), Some(Ppn(page)));
        }
        assert_eq!((ftl.blocks.preallocate(PLANE, second), ftl.blocks.preallocate(PLANE, first)), (None, None));
        ftl.audit().expect("the tables agree");
    }
}
