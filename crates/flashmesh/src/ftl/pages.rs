//! Pages of a plane that programs get: when they begin, or before (`ftl.write-binding = "early"`).

use super::spare_blocks::PREALLOCATED_BLOCKS;
use super::{Ftl, Stream};
use crate::ids::{BlockId, PlaneId, Ppn, StreamId};

impl Ftl {
    /// Which open block of `plane` takes what `stream` of the host writes there: its own where streams are kept apart. A stream
    /// that uses no namespace with this plane, or none, has that of the first which does.
    #[inline]
    pub fn host_stream(&self, plane: PlaneId, stream: Option<StreamId>) -> Stream {
        self.blocks.plane(plane).open.writer(stream)
    }

    /// The stream that a valid page goes to when it is moved out of the block of `from`.
    #[inline]
    pub(crate) fn stream_of_move(&self, from: Ppn) -> Stream {
        match self.translation {
            Some(_) => self.blocks.stream_of_move(self.geometry.block_of(from)),
            None if self.geometry.is_slc_page(from) => Stream::Fold,
            None => Stream::Collection,
        }
    }

    /// What [`Ftl::allocate`] would give: the block and the page in it.
    #[inline]
    pub fn next_page_offset(&self, plane: PlaneId, stream: Stream) -> Option<(BlockId, u32)> {
        self.blocks.next_offset(plane, stream)
    }

    /// Whether [`Ftl::allocate`] would give a page to the host where all its streams write to one block.
    #[inline(always)]
    pub(crate) fn has_shared_page(&self, plane: PlaneId) -> bool {
        self.blocks.has_page(plane, Stream::SHARED)
    }

    /// The next page of the open block of `stream`, opening another block when it is full.
    ///
    /// `None` for the host when only the reserve of collection is left; for collection only when that is used up too,
    /// which one collection at a time cannot do.
    #[inline]
    pub fn allocate(&mut self, plane: PlaneId, stream: Stream) -> Option<Ppn> {
        self.blocks.allocate(plane, stream)
    }

    /// A program of mapping units up to `last` begins: what it leaves of the pages that it writes stays empty. Gives how many units that is.
    pub(crate) fn finish_program(&mut self, last: Ppn) -> u32 {
        self.blocks.finish_program(last)
    }

    /// A program of mapping units that were given their places takes no more of them: what is left of the program that begins at `start` stays
    /// empty. Gives how many units that is.
    pub(crate) fn close_program(&mut self, start: Ppn) -> u32 {
        self.blocks.close_program(start)
    }

    /// A page that is moved begins a program: where it goes to the block of writes, what is left of the one that writes were given places of stays
    /// empty. Gives a page of that, and how many units are left, if there are any.
    pub(crate) fn begin_program_of_move(&mut self, plane: PlaneId, stream: Stream) -> Option<(Ppn, u32)> {
        self.blocks.begin_program_of_move(plane, stream)
    }

    /// As [`Ftl::allocate`], for a page that is moved: `stream` is that of [`Ftl::stream_of_move`].
    pub(crate) fn allocate_move(&mut self, plane: PlaneId, stream: Stream) -> Option<Ppn> {
        self.blocks.allocate_move(plane, stream)
    }

    /// What [`Ftl::allocate_move`] would give: the block and the page in it.
    pub(crate) fn next_move_offset(&self, plane: PlaneId, stream: Stream) -> Option<(BlockId, u32)> {
        self.blocks.next_move_offset(plane, stream)
    }

    /// As [`Ftl::allocate`], for a write whose program begins later. [`Ftl::preallocated_programmed`] or [`Ftl::drop_preallocated`] follows.
    ///
    /// `None` when only the reserve of collection is left, or as many pages of the plane, of all streams, wait for their programs
    /// as it has spare blocks for.
    #[inline]
    pub(crate) fn preallocate(&mut self, plane: PlaneId, stream: Stream) -> Option<Ppn> {
        if self.blocks.plane(plane).preallocated == PREALLOCATED_BLOCKS * self.geometry.pages_per_block {
            return None;
        }
        let ppn = self.blocks.allocate(plane, stream)?;
        self.blocks.plane_mut(plane).preallocated += 1;
        Some(ppn)
    }

    #[inline]
    pub(crate) fn preallocated_programmed(&mut self, plane: PlaneId) {
        self.blocks.plane_mut(plane).preallocated -= 1;
    }

    /// A preallocated page will not be programmed: it counts as one that holds nothing.
    pub(crate) fn drop_preallocated(&mut self, ppn: Ppn) {
        self.blocks.program_invalid(ppn);
        self.preallocated_programmed(self.geometry.plane_of(ppn));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, WriteBinding};
    use crate::ftl::BlockState;
    use crate::ftl::testing::one_plane;
    use crate::ids::Lpn;

    const PLANE: PlaneId = PlaneId(0);
    const HOST: Stream = Stream::SHARED;

    fn drive() -> Ftl {
        drive_of(Config::default())
    }

    fn drive_of(mut config: Config) -> Ftl {
        config.ftl.write_binding = WriteBinding::Early;
        one_plane(config)
    }

    #[test]
    fn a_plane_hands_out_a_block_of_pages_and_more_as_these_are_programmed() {
        let mut ftl = drive();
        for page in 0..8 {
            assert_eq!(ftl.preallocate(PLANE, HOST), Some(Ppn(page)));
        }
        assert_eq!(ftl.preallocate(PLANE, HOST), None);
        ftl.commit_write(Lpn(5), Ppn(5));
        ftl.preallocated_programmed(PLANE);
        assert_eq!(ftl.preallocate(PLANE, HOST), Some(Ppn(8)));
        assert_eq!(ftl.preallocate(PLANE, HOST), None);
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn a_block_is_full_when_its_pages_are_programmed_or_given_up() {
        let mut ftl = drive();
        (0..8).for_each(|_| assert!(ftl.preallocate(PLANE, HOST).is_some()));
        ftl.drop_preallocated(Ppn(3));
        for page in [7, 0, 1, 2, 4, 5, 6] {
            assert_eq!(ftl.block_state(BlockId(0)), BlockState::Open);
            ftl.commit_write(Lpn(page), Ppn(page));
            ftl.preallocated_programmed(PLANE);
        }
        assert_eq!((ftl.block_state(BlockId(0)), ftl.valid_pages(BlockId(0))), (BlockState::Full, 7));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn a_page_read_before_it_was_written_takes_the_next_page_of_the_block_of_writes() {
        let mut ftl = drive();
        assert_eq!(ftl.preallocate(PLANE, HOST), Some(Ppn(0)));
        assert_eq!(ftl.place_for_read(Lpn(7)), Some(Ppn(1)));
        assert_eq!(ftl.location(Lpn(7)), Ppn(1));
        assert_eq!(ftl.preallocate(PLANE, HOST), Some(Ppn(2)));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn each_stream_is_given_pages_of_its_own_block_and_all_share_what_a_plane_hands_out() {
        let config = Config::from_str("ftl.write-streams = \"per-stream\"\n[stream.a]\n[stream.b]", "drive.toml", &[]);
        let mut ftl = drive_of(config.expect("the configuration is legal"));
        let [first, second] = [0, 1].map(|stream| ftl.host_stream(PLANE, Some(StreamId(stream))));
        assert_eq!((ftl.preallocate(PLANE, second), ftl.preallocate(PLANE, first)), (Some(Ppn(0)), Some(Ppn(8))));
        assert_eq!(
            ftl.place_for_read(Lpn(7)),
            Some(Ppn(9)),
            "what was there before goes to the block of the first stream"
        );
        for page in 1..7 {
            assert_eq!(ftl.preallocate(PLANE, second), Some(Ppn(page)));
        }
        assert_eq!((ftl.preallocate(PLANE, second), ftl.preallocate(PLANE, first)), (None, None));
        ftl.audit().expect("the tables agree");
    }
}
