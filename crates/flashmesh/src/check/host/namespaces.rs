//! Oracle `namespaces`: a request stays within the namespace of its stream, and the pages of a namespace lie only on the
//! planes bound to it. Ranges and planes come from the configuration.

use crate::check::arithmetic::{ArrayTree, NamespaceSpan, PageSplit, in_units, space_of_stream, spaces};
use crate::check::id_vec::IdVec;
use crate::config::Config;
use crate::ids::{Lpn, Ppn, RequestId, StreamId};
use crate::workload::IoRequest;

#[derive(Clone, Debug)]
pub(in super::super) struct Namespaces {
    homes: ArrayTree,
    cuts: PageSplit,
    spaces: Vec<NamespaceSpan>,
    of_stream: Vec<usize>,
    issued: IdVec<RequestId, Option<StreamId>>,
}

impl Namespaces {
    pub(in super::super) const NAME: &'static str = "namespaces";

    pub(in super::super) fn new(config: &Config) -> Namespaces {
        Namespaces {
            homes: ArrayTree::new(&in_units(config)),
            cuts: PageSplit::new(config),
            spaces: spaces(config),
            of_stream: space_of_stream(config),
            issued: IdVec::default(),
        }
    }

    pub(in super::super) fn issued(&mut self, id: RequestId, stream: StreamId) {
        self.issued.insert(id, stream);
    }

    pub(in super::super) fn submitted(&mut self, id: RequestId, io: &IoRequest) -> Result<(), String> {
        let Some(stream) = self.issued.find(id) else { return Ok(()) };
        let Some(space) = self.of_stream.get(stream.index()).map(|&at| &self.spaces[at]) else {
            return Err(format!("request {} is of stream {}, which has no namespace", id.0, stream.0));
        };
        let extent = self.cuts.extent(io);
        if extent.pages().all(|lpn| space.pages.contains(&lpn.0)) {
            return Ok(());
        }
        Err(format!(
            "request {} of stream {} is about {} at {} B of the drive, but namespace `{}` has pages {} to {}",
            id.0,
            stream.0,
            io.size,
            io.offset.as_u64(),
            space.name,
            space.pages.start,
            space.pages.end - 1
        ))
    }

    pub(in super::super) fn completed(&mut self, id: RequestId) {
        self.issued.remove(id);
    }

    pub(in super::super) fn lies(&self, lpn: Lpn, ppn: Ppn) -> Result<(), String> {
        let Some(space) = self.spaces.iter().find(|space| space.pages.contains(&lpn.0)) else { return Ok(()) };
        let plane = self.homes.plane_of(ppn);
        if space.planes[plane.index()] {
            return Ok(());
        }
        Err(format!(
            "logical page {} of namespace `{}` is at page {}, in plane {}, which is none of its planes",
            lpn.0, space.name, ppn.0, plane.0
        ))
    }

    /// Checks that all pages of namespaces that are bound to planes lie on these planes, including pages written before the run.
    pub(in super::super) fn finish(&self, lookup: impl Fn(Lpn) -> Option<Ppn>) -> Result<(), String> {
        let is_bound = |space: &&NamespaceSpan| space.planes.contains(&false);
        let mut pages = self.spaces.iter().filter(is_bound).flat_map(|space| space.pages.clone()).map(Lpn);
        pages.try_for_each(|lpn| lookup(lpn).map_or(Ok(()), |ppn| self.lies(lpn, ppn)))
    }
}

#[cfg(test)]
mod tests {
    use crate::check::histories::{assert_fails, assert_silent, config, oracles_with, program, submit, us, write};
    use crate::check::{Oracles, Origin};
    use crate::config::{Indices, Namespace};
    use crate::ids::{Lpn, Ppn, RequestId, StreamId};
    use crate::units::Bytes;
    use crate::workload::RequestKind;

    /// Creates oracles of two namespaces. Pages 0 to 31 may lie anywhere, pages 32 to 63 only on planes 4 and 6: plane 0 of both dies of channel 1.
    fn oracles() -> Oracles {
        let mut config = config();
        let anywhere = Namespace { capacity: Some(Bytes::from_kib(4 * 32)), ..Namespace::default() };
        let bound =
            Namespace { channels: Some(Indices::new([1])), planes: Some(Indices::new([0])), ..anywhere.clone() };
        config.namespace = vec![("a".to_owned(), anywhere), ("b".to_owned(), bound)];
        oracles_with(&config)
    }

    #[test]
    fn pages_on_the_planes_of_their_namespace_are_right() {
        let mut oracles = oracles();
        // A plane has 32 pages, so page 4 * 32 is the first page of plane 4.
        let now = write(&mut oracles, 0, 0, 31, us(0));
        let now = write(&mut oracles, 1, 4 * 32, 32, now);
        let now = write(&mut oracles, 2, 6 * 32, 63, now);
        program(&mut oracles, 6 * 32 + 4, 32, Origin::Moved(Ppn(4 * 32)), now);
        assert_silent(&oracles);
    }

    #[test]
    fn a_write_to_a_plane_of_others_is_caught() {
        let mut oracles = oracles();
        write(&mut oracles, 0, 5 * 32, 32, us(0));
        let message = "logical page 32 of namespace `b` is at page 160, in plane 5, which is none of its planes";
        assert_fails(&oracles, "namespaces", message);
    }

    #[test]
    fn a_move_and_a_placement_to_a_plane_of_others_are_caught() {
        let mut moved = oracles();
        let now = write(&mut moved, 0, 4 * 32, 32, us(0));
        program(&mut moved, 0, 32, Origin::Moved(Ppn(4 * 32)), now);
        assert_fails(&moved, "namespaces", "logical page 32 of namespace `b` is at page 0");

        let mut placed = oracles();
        placed.page_placed(Ppn(0), Lpn(40), us(0));
        assert_fails(&placed, "namespaces", "logical page 40 of namespace `b` is at page 0");
    }

    #[test]
    fn a_request_beyond_the_namespace_of_its_stream_is_caught() {
        let mut config = config();
        let half = Namespace { capacity: Some(Bytes::from_kib(4 * 32)), ..Namespace::default() };
        config.namespace = vec![("a".to_owned(), half.clone()), ("b".to_owned(), half)];
        let template = config.streams().remove(0);
        config.stream = ["b", "a"]
            .map(|name| {
                let mut stream = template.clone();
                stream.queue.namespace = Some(name.to_owned());
                stream
            })
            .into();
        let submitted = |stream: u32, page: u64, pages: u64| {
            let mut oracles = oracles_with(&config);
            oracles.request_issued(RequestId(1), StreamId(stream), us(0));
            submit(&mut oracles, 1, RequestKind::Read, page * 4096, pages * 4096, us(0));
            oracles
        };
        assert_silent(&submitted(0, 32, 32));
        assert_silent(&submitted(1, 0, 32));
        let message =
            "request 1 of stream 0 is about 8KiB at 126976 B of the drive, but namespace `b` has pages 32 to 63";
        assert_fails(&submitted(0, 31, 2), "namespaces", message);
        assert_fails(&submitted(1, 31, 2), "namespaces", "namespace `a` has pages 0 to 31");
        assert_fails(&submitted(1, 32, 1), "namespaces", "namespace `a` has pages 0 to 31");
    }

    #[test]
    fn a_page_that_nothing_touched_is_caught_at_the_end() {
        let mut oracles = oracles();
        oracles.finish_with(|lpn| (lpn == Lpn(50)).then_some(Ppn(7)), || Ok(()), true, us(1));
        assert_fails(&oracles, "namespaces", "logical page 50 of namespace `b` is at page 7");
    }

    #[test]
    fn a_request_of_a_stream_without_a_namespace_is_caught() {
        let mut oracles = oracles();
        oracles.namespaces.issued(RequestId(1), StreamId(9));
        submit(&mut oracles, 1, RequestKind::Read, 0, 4096, us(0));
        assert_fails(&oracles, "namespaces", "request 1 is of stream 9, which has no namespace");
    }
}
