//! Every request completes exactly once, after it reached the drive, when each of its pages has been read or programmed, or the
//! device cache has read or taken it; a flush when that is so of all writes that reached its namespace before it. A request that
//! was refused touches no page.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, RequestId};
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

/// The logical pages that a request reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    first: u32,
    last: u32,
    /// Whether it covers a part of the first and of the last page only.
    partial: (bool, bool),
}

impl Extent {
    pub(super) fn of(io: &IoRequest, geometry: &Geometry) -> Extent {
        let page = geometry.page_size.as_u64();
        let (start, end) = (io.offset.as_u64(), (io.offset + io.size).as_u64());
        let (first, last) = (start / page, end.saturating_sub(1).max(start) / page);
        let starts_within = !start.is_multiple_of(page);
        let ends_within = !end.is_multiple_of(page);
        let one = first == last;
        Extent {
            first: first as u32,
            last: last as u32,
            partial: (starts_within || (one && ends_within), ends_within || (one && starts_within)),
        }
    }

    pub(super) fn len(&self) -> usize {
        (self.last - self.first) as usize + 1
    }

    pub(super) fn pages(&self) -> impl Iterator<Item = Lpn> + use<> {
        (self.first..=self.last).map(Lpn)
    }

    /// The position of `lpn` among its pages.
    pub(super) fn position(&self, lpn: Lpn) -> Option<usize> {
        (self.first..=self.last).contains(&lpn.0).then(|| (lpn.0 - self.first) as usize)
    }

    /// Whether it covers a part of `lpn` only.
    pub(super) fn is_partial(&self, lpn: Lpn) -> bool {
        (lpn.0 == self.first && self.partial.0) || (lpn.0 == self.last && self.partial.1)
    }
}

#[derive(Debug)]
struct Pending {
    io: IoRequest,
    submitted: Time,
    /// None for a request without flash operations.
    extent: Option<Extent>,
    reads: Vec<u32>,
    programs: Vec<u32>,
    /// Pages that the device cache has read or written.
    cached: Vec<u32>,
    /// Its place in the order in which requests reached the drive.
    order: u64,
    /// Of a flush, the writes to its namespace that were not in the flash when it reached the drive.
    after: Vec<(RequestId, u64)>,
}

impl Pending {
    /// Whether it has to program the page at this position.
    fn programs_page(&self, at: usize) -> bool {
        let Some(extent) = self.extent else { return false };
        match self.io.kind {
            RequestKind::Write => true,
            RequestKind::WriteZeroes => extent.is_partial(Lpn(extent.first + at as u32)),
            RequestKind::Read | RequestKind::Deallocate | RequestKind::Flush => false,
        }
    }

    /// Whether the page at this position is where its request wants it: once programmed, or once in the device cache.
    fn is_done(&self, counts: &[u32], at: usize) -> bool {
        counts[at] + self.cached[at] == 1
    }

    /// Pages still to be programmed, or to be taken by the device cache.
    fn pages_left(&self) -> usize {
        (0..self.programs.len()).filter(|&at| self.programs_page(at) && !self.is_done(&self.programs, at)).count()
    }
}

/// The requests in flight, and what was done for them.
#[derive(Debug)]
pub(super) struct Requests {
    geometry: Geometry,
    pending: FxHashMap<RequestId, Pending>,
    refused: FxHashSet<RequestId>,
    submitted: u64,
    /// Where the namespaces begin, rising; a flush is about one of them.
    namespaces: Vec<Bytes>,
}

fn name(id: RequestId, io: &IoRequest) -> String {
    format!("request {} ({:?} of {} at {} B)", id.0, io.kind, io.size, io.offset.as_u64())
}

impl Requests {
    pub(super) const NAME: &'static str = "requests";

    pub(super) fn new(geometry: &Geometry, config: &Config) -> Requests {
        Requests {
            geometry: geometry.clone(),
            pending: FxHashMap::default(),
            refused: FxHashSet::default(),
            submitted: 0,
            namespaces: config.namespaces(geometry).unwrap_or_default().iter().map(|space| space.start).collect(),
        }
    }

    /// The number of namespaces that begin at or before `offset`.
    fn namespace_at(&self, offset: Bytes) -> usize {
        self.namespaces.partition_point(|&start| start <= offset)
    }

    pub(super) fn submitted(&mut self, id: RequestId, io: &IoRequest, now: Time) -> Result<(), String> {
        let is_flush = io.kind == RequestKind::Flush;
        if (io.size == Bytes::ZERO && !is_flush) || (io.offset + io.size) > self.geometry.capacity() {
            let capacity = self.geometry.capacity();
            return Err(format!("{} is not within the drive of {capacity}", name(id, io)));
        }
        let covers_pages = !matches!(io.kind, RequestKind::Deallocate | RequestKind::Flush);
        let extent = covers_pages.then(|| Extent::of(io, &self.geometry));
        let zeros = vec![0; extent.map_or(0, |extent| extent.len())];
        self.submitted += 1;
        let order = self.submitted;
        let pending = Pending {
            io: *io,
            submitted: now,
            extent,
            reads: zeros.clone(),
            programs: zeros.clone(),
            cached: zeros,
            order,
            after: Vec::new(),
        };
        match self.pending.insert(id, pending) {
            None => Ok(()),
            Some(before) => Err(format!(
                "{} reached the drive again; it is there since {} and has not completed",
                name(id, &before.io),
                before.submitted
            )),
        }
    }

    /// A flush waits for the writes to its namespace that are not done.
    pub(super) fn flush_began(&mut self, id: RequestId) -> Result<(), String> {
        let flush = self.pending.get(&id).filter(|pending| pending.io.kind == RequestKind::Flush);
        let Some(flushed) = flush.map(|flush| self.namespace_at(flush.io.offset)) else {
            return Err(format!("request {} began to flush, but is no flush in flight", id.0));
        };
        let is_meant = |pending: &Pending| pending.pages_left() > 0 && self.namespace_at(pending.io.offset) == flushed;
        let unfinished = self.pending.iter().filter(|(_, pending)| is_meant(pending));
        let after = unfinished.map(|(id, pending)| (*id, pending.order)).collect();
        if let Some(flush) = self.pending.get_mut(&id) {
            flush.after = after;
        }
        Ok(())
    }

    /// How much of `lpn` a request in flight reads or writes.
    pub(super) fn bytes(&self, id: RequestId, lpn: Lpn) -> Option<Bytes> {
        let io = &self.pending.get(&id)?.io;
        let start = self.geometry.page_size * u64::from(lpn.0);
        let (first, end) = (start.max(io.offset), (start + self.geometry.page_size).min(io.offset + io.size));
        (first < end).then(|| end - first)
    }

    fn page(
        &mut self,
        id: RequestId,
        lpn: Lpn,
        did: &str,
        count: impl Fn(&mut Pending, usize) -> &mut u32,
    ) -> Result<(), String> {
        let Some(pending) = self.pending.get_mut(&id) else {
            return Err(format!("logical page {} was {did} for request {}, which is not in flight", lpn.0, id.0));
        };
        let Some(at) = pending.extent.and_then(|extent| extent.position(lpn)) else {
            return Err(format!(
                "logical page {} was {did} for {}, which does not cover it",
                lpn.0,
                name(id, &pending.io)
            ));
        };
        let count = {
            let count = count(pending, at);
            *count += 1;
            *count
        };
        if count > 1 {
            return Err(format!("logical page {} was {did} {count} times for {}", lpn.0, name(id, &pending.io)));
        }
        Ok(())
    }

    pub(super) fn read(&mut self, id: RequestId, lpn: Lpn) -> Result<(), String> {
        self.page(id, lpn, "read", |pending, at| &mut pending.reads[at])?;
        let Pending { io, extent, .. } = &self.pending[&id];
        if io.kind != RequestKind::Read && !extent.is_some_and(|extent| extent.is_partial(lpn)) {
            return Err(format!("logical page {} was read for {}, which writes all of it", lpn.0, name(id, io)));
        }
        Ok(())
    }

    pub(super) fn programmed(&mut self, id: RequestId, lpn: Lpn) -> Result<(), String> {
        self.page(id, lpn, "programmed", |pending, at| &mut pending.programs[at])?;
        let pending = &self.pending[&id];
        let at = pending.extent.and_then(|extent| extent.position(lpn));
        if !at.is_some_and(|at| pending.programs_page(at)) {
            let io = &pending.io;
            return Err(format!("logical page {} was programmed for {}", lpn.0, name(id, io)));
        }
        Ok(())
    }

    pub(super) fn refused(&mut self, id: RequestId) -> Result<(), String> {
        if self.pending.contains_key(&id) || !self.refused.insert(id) {
            return Err(format!("request {} was refused while it is in flight", id.0));
        }
        Ok(())
    }

    /// The device cache has read or written a page of a request, all of what that touches.
    pub(super) fn cached(&mut self, id: RequestId, lpn: Lpn) -> Result<(), String> {
        self.page(id, lpn, "cached", |pending, at| &mut pending.cached[at])
    }

    pub(super) fn completed(&mut self, id: RequestId, now: Time) -> Result<(), String> {
        if self.refused.remove(&id) {
            return Ok(());
        }
        let Some(pending) = self.pending.remove(&id) else {
            return Err(format!("request {} completed at {now}, but is not in flight", id.0));
        };
        let name = name(id, &pending.io);
        if now < pending.submitted {
            return Err(format!("{name} completed at {now}, before it reached the drive at {}", pending.submitted));
        }
        let pages = pending.extent.map_or(0, |extent| extent.len());
        let (left, did) = match pending.io.kind {
            RequestKind::Read => ((0..pages).filter(|&at| !pending.is_done(&pending.reads, at)).count(), "read"),
            RequestKind::Write | RequestKind::WriteZeroes => (pending.pages_left(), "programmed"),
            RequestKind::Deallocate => return Ok(()),
            RequestKind::Flush => return self.flushed(&name, &pending.after, now),
        };
        if left > 0 {
            return Err(format!("{name} completed at {now} with {} of {pages} pages {did}", pages - left));
        }
        Ok(())
    }

    /// A flush completes when what was written before it to its namespace is in the flash, or was taken by the device cache, whose
    /// oracle goes on from there.
    fn flushed(&self, name: &str, after: &[(RequestId, u64)], now: Time) -> Result<(), String> {
        let is_left = |&&(id, order): &&(RequestId, u64)| {
            self.pending.get(&id).is_some_and(|pending| pending.order == order && pending.pages_left() > 0)
        };
        match after.iter().find(is_left) {
            None => Ok(()),
            Some((id, _)) => Err(format!("{name} completed at {now}, before request {} was in the flash", id.0)),
        }
    }

    /// The run is over.
    pub(super) fn finish(&self) -> Result<(), String> {
        match self.pending.iter().min_by_key(|(id, _)| **id) {
            None => Ok(()),
            Some((id, first)) => Err(format!(
                "{} of {} requests in flight never completed; it reached the drive at {}",
                name(*id, &first.io),
                self.pending.len(),
                first.submitted
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::planted::{assert_fails, assert_silent, end, geometry, oracles, program, read, submit, us};
    use super::super::{Oracles, Origin};
    use super::Extent;
    use crate::config::Namespace;
    use crate::ids::{Lpn, RequestId};
    use crate::units::{Bytes, Time};
    use crate::workload::IoRequest;
    use crate::workload::RequestKind::{Deallocate, Flush, Read, Write, WriteZeroes};

    const ID: RequestId = RequestId(5);

    /// A read of logical pages 3 and 4 that has reached the drive.
    fn reading() -> Oracles {
        let mut oracles = oracles();
        submit(&mut oracles, ID.0, Read, 3 * 4096, 8192, us(1));
        oracles
    }

    #[test]
    fn requests_that_complete_with_all_their_pages_are_right() {
        let mut oracles = reading();
        let now = read(&mut oracles, 12, 3, Some(ID.0), us(1));
        let now = read(&mut oracles, 13, 4, Some(ID.0), now);
        oracles.request_completed(ID, now);
        // The id is free for the next request.
        submit(&mut oracles, ID.0, Write, 0, 4096, now);
        let now = program(&mut oracles, 0, 0, Origin::User(ID), now);
        oracles.request_completed(ID, now);
        submit(&mut oracles, ID.0, Deallocate, 0, 4096, now);
        oracles.request_completed(ID, now);
        end(&mut oracles, now);
        assert_silent(&oracles);
    }

    #[test]
    fn a_request_that_never_completes_is_caught_at_the_end() {
        let mut oracles = reading();
        end(&mut oracles, us(9));
        let message =
            "request 5 (Read of 8KiB at 12288 B) of 1 requests in flight never completed; it reached the drive at 1us";
        assert_fails(&oracles, "requests", message);
    }

    #[test]
    fn a_request_that_completes_twice_is_caught() {
        let mut oracles = oracles();
        submit(&mut oracles, ID.0, Deallocate, 0, 4096, us(1));
        oracles.request_completed(ID, us(2));
        oracles.request_completed(ID, us(3));
        assert_fails(&oracles, "requests", "request 5 completed at 3us, but is not in flight");
    }

    #[test]
    fn a_request_that_completes_before_it_was_submitted_is_caught() {
        let mut oracles = oracles();
        submit(&mut oracles, ID.0, Deallocate, 0, 4096, us(1));
        oracles.request_completed(ID, Time::from_ps(999_999));
        assert_fails(&oracles, "requests", "completed at 999.999ns, before it reached the drive at 1us");
    }

    #[test]
    fn a_request_submitted_twice_is_caught() {
        let mut oracles = reading();
        submit(&mut oracles, ID.0, Read, 0, 4096, us(2));
        assert_fails(&oracles, "requests", "reached the drive again; it is there since 1us and has not completed");
    }

    #[test]
    fn a_flush_waits_for_the_writes_to_its_namespace_only() {
        let mut config = super::super::planted::config();
        let half = Namespace { capacity: Some(Bytes::from_kib(4 * 64)), ..Namespace::default() };
        config.namespace = vec![("a".to_owned(), half.clone()), ("b".to_owned(), half)];
        for (flushed, waits) in [(0, false), (64, true)] {
            let mut oracles = super::super::planted::oracles_with(&config);
            submit(&mut oracles, 1, Write, 64 * 4096, 4096, us(0));
            submit(&mut oracles, 2, Flush, flushed * 4096, 0, us(1));
            oracles.flush_began(RequestId(2), flushed as u32..flushed as u32 + 64, us(1));
            oracles.request_completed(RequestId(2), us(2));
            if waits {
                assert_fails(&oracles, "requests", "before request 1 was in the flash");
            } else {
                assert_silent(&oracles);
            }
        }
    }

    #[test]
    fn a_flush_that_completes_before_an_earlier_write_is_in_the_flash_is_caught() {
        let mut oracles = oracles();
        submit(&mut oracles, 1, Write, 0, 4096, us(1));
        submit(&mut oracles, 2, Flush, 0, 0, us(2));
        oracles.flush_began(RequestId(2), 0..128, us(2));
        // A later write is not waited for.
        submit(&mut oracles, 3, Write, 4096, 4096, us(3));
        let now = program(&mut oracles, 0, 0, Origin::User(RequestId(1)), us(3));
        submit(&mut oracles, 4, Flush, 0, 0, now);
        oracles.flush_began(RequestId(4), 0..128, now);
        oracles.request_completed(RequestId(2), now);
        assert_silent(&oracles);
        oracles.request_completed(RequestId(4), now);
        assert_fails(&oracles, "requests", "before request 3 was in the flash");
    }

    #[test]
    fn zeroes_program_parts_of_pages_only() {
        let mut right = oracles();
        submit(&mut right, ID.0, WriteZeroes, 512, 8192 - 512, us(1));
        let now = program(&mut right, 0, 0, Origin::User(ID), us(1));
        right.request_completed(ID, now);
        assert_silent(&right);

        let mut whole = oracles();
        submit(&mut whole, ID.0, WriteZeroes, 512, 8192 - 512, us(1));
        program(&mut whole, 0, 1, Origin::User(ID), us(1));
        assert_fails(&whole, "requests", "logical page 1 was programmed for request 5 (WriteZeroes");
    }

    #[test]
    fn a_request_that_was_refused_completes_without_its_pages_and_touches_none() {
        let mut oracles = oracles();
        oracles.request_refused(ID, us(1));
        oracles.request_completed(ID, us(2));
        assert_silent(&oracles);
        oracles.request_refused(ID, us(3));
        read(&mut oracles, 12, 3, Some(ID.0), us(3));
        assert_fails(&oracles, "requests", "for request 5, which is not in flight");
    }

    #[test]
    fn a_request_that_completes_without_a_page_is_caught() {
        let mut oracles = reading();
        let now = read(&mut oracles, 13, 4, Some(ID.0), us(1));
        oracles.request_completed(ID, now);
        assert_fails(&oracles, "requests", "completed at 4us with 1 of 2 pages read");
    }

    #[test]
    fn a_page_read_twice_for_a_request_is_caught() {
        let mut oracles = reading();
        let now = read(&mut oracles, 13, 4, Some(ID.0), us(1));
        read(&mut oracles, 13, 4, Some(ID.0), now);
        assert_fails(&oracles, "requests", "logical page 4 was read 2 times for request 5");
    }

    #[test]
    fn a_page_outside_of_the_request_is_caught() {
        let mut oracles = reading();
        read(&mut oracles, 14, 5, Some(ID.0), us(1));
        assert_fails(
            &oracles,
            "requests",
            "logical page 5 was read for request 5 (Read of 8KiB at 12288 B), which does not cover it",
        );
    }

    #[test]
    fn a_program_for_a_read_and_a_read_for_a_write_of_whole_pages_are_caught() {
        let mut programs = reading();
        program(&mut programs, 0, 3, Origin::User(ID), us(1));
        assert_fails(&programs, "requests", "logical page 3 was programmed for request 5 (Read");

        let mut reads = oracles();
        submit(&mut reads, ID.0, Write, 3 * 4096, 4096, us(1));
        read(&mut reads, 12, 3, Some(ID.0), us(1));
        assert_fails(
            &reads,
            "requests",
            "logical page 3 was read for request 5 (Write of 4KiB at 12288 B), which writes all of it",
        );
    }

    #[test]
    fn a_request_beyond_the_drive_is_caught() {
        let mut oracles = oracles();
        submit(&mut oracles, ID.0, Read, 127 * 4096, 8192, us(1));
        assert_fails(&oracles, "requests", "request 5 (Read of 8KiB at 520192 B) is not within the drive of 512KiB");
    }

    #[test]
    fn an_extent_knows_which_of_its_pages_it_covers_in_part() {
        let partial = |offset, size| {
            let (offset, size) = (Bytes::new(offset), Bytes::new(size));
            let io = IoRequest { arrival: Time::ZERO, kind: Write, offset, size, stream: 0 };
            let extent = Extent::of(&io, &geometry());
            extent.pages().map(|lpn: Lpn| (lpn.0, extent.is_partial(lpn))).collect::<Vec<_>>()
        };
        assert_eq!(partial(4096, 8192), [(1, false), (2, false)]);
        assert_eq!(partial(4608, 512), [(1, true)]);
        assert_eq!(partial(4096, 512), [(1, true)]);
        assert_eq!(partial(4608, 3584), [(1, true)]);
        assert_eq!(partial(3584, 4608), [(0, true), (1, false)]);
        assert_eq!(partial(512, 8192), [(0, true), (1, false), (2, true)]);
    }
}
