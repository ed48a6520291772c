//! Writes that get their page when they come to their plane, `ftl.write-binding = "early"`, and are programmed later, in any order.

use super::plane::PREALLOCATED_BLOCKS;
use super::{Ftl, Stream};
use crate::ids::{PlaneId, Ppn};

impl Ftl {
    /// The next page of the block that writes of `stream` go to, for one whose program begins later; [`Ftl::preallocated_programmed`] follows it.
    ///
    /// `None` when only the reserve of collection is left, or as many pages of the plane, of all streams, wait for their programs
    /// as it has spare blocks for.
    #[inline]
    pub fn preallocate(&mut self, plane: PlaneId, stream: Stream) -> Option<Ppn> {
        if self.planes[plane.index()].preallocated == PREALLOCATED_BLOCKS * self.geometry.pages_per_block {
            return None;
        }
        let ppn = self.allocate(plane, stream)?;
        self.planes[plane.index()].preallocated += 1;
        Some(ppn)
    }

    /// A page of `plane` that [`Ftl::preallocate`] gave has been programmed.
    #[inline]
    pub fn preallocated_programmed(&mut self, plane: PlaneId) {
        self.planes[plane.index()].preallocated -= 1;
    }

    /// A page that [`Ftl::preallocate`] gave will not be programmed: it counts as one that holds nothing.
    pub fn drop_preallocated(&mut self, ppn: Ppn) {
        self.count_program(self.blocks.block_of(ppn));
        self.preallocated_programmed(self.geometry.plane_of(ppn));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, WriteBinding};
    use crate::ftl::BlockState;
    use crate::ftl::testing::one_plane;
    use crate::ids::{BlockId, Lpn, StreamId};

    const PLANE: PlaneId = PlaneId(0);
    const HOST: Stream = Stream::Host(StreamId(0));

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
