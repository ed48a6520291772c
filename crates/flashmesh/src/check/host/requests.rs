//! Oracle `requests`: every request completes exactly once, after it reached the drive. All of its pages must have been read or programmed,
//! or served by the device cache. A flush completes only when all pages of the earlier writes of its namespace are programmed or in the
//! device cache. A rejected request accesses no page. The oracle counts the steps of every page.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::check::arithmetic::{Extent, PageSplit, spaces};
use crate::check::id_vec::IdVec;
use crate::config::Config;
use crate::ids::{Lpn, RequestId};
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

use super::per_page::PerPage;

/// Number of times that a page of a request was read from the array, programmed, or served by the device cache.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    read: u32,
    programmed: u32,
    cached: u32,
}

#[derive(Clone, Debug)]
struct Pending {
    io: IoRequest,
    submitted: Time,
    /// Logical pages of the request; `None` for flushes and deallocations, which access no page.
    extent: Option<Extent>,
    counts: PerPage<Counts>,
    /// Sequence number of the request, in order of arrival at the drive.
    order: u64,
    /// For a flush, the writes of its namespace that were unfinished when it began (neither on flash nor in the device cache), each with
    /// its `order`. Empty for other requests.
    after: Vec<(RequestId, u64)>,
}

impl Pending {
    fn programs_page(&self, at: usize) -> bool {
        let Some(extent) = self.extent else { return false };
        match self.io.kind {
            RequestKind::Write => true,
            RequestKind::WriteZeroes => extent.is_partial(extent.page(at)),
            RequestKind::Read | RequestKind::Deallocate | RequestKind::Flush => false,
        }
    }

    /// Returns whether the page at index `at` of the request was served exactly once, by the array (the step that `count` selects) or by the device
    /// cache.
    fn is_done(&self, count: impl Fn(&Counts) -> u32, at: usize) -> bool {
        count(&self.counts[at]) + self.counts[at].cached == 1
    }

    fn pages(&self) -> usize {
        self.extent.map_or(0, |extent| extent.len())
    }

    fn pages_left(&self) -> usize {
        (0..self.pages()).filter(|&at| self.programs_page(at) && !self.is_done(|counts| counts.programmed, at)).count()
    }
}

#[derive(Clone, Debug)]
pub(in super::super) struct Requests {
    cuts: PageSplit,
    /// Whether a program of a part of a page transfers only the written sectors (`flash.partial-program`).
    partial_program: bool,
    pending: IdVec<RequestId, Option<Pending>>,
    refused: FxHashSet<RequestId>,
    submitted: u64,
    /// First logical page of each namespace, ascending. A flush covers one namespace.
    namespaces: Vec<u32>,
}

fn name(id: RequestId, io: &IoRequest) -> String {
    format!("request {} ({:?} of {} at {} B)", id.0, io.kind, io.size, io.offset.as_u64())
}

impl Requests {
    pub(in super::super) const NAME: &'static str = "requests";

    pub(in super::super) fn new(config: &Config) -> Requests {
        Requests {
            cuts: PageSplit::new(config),
            partial_program: config.flash.partial_program,
            pending: IdVec::default(),
            refused: FxHashSet::default(),
            submitted: 0,
            namespaces: spaces(config).iter().map(|space| space.pages.start).collect(),
        }
    }

    fn namespace_at(&self, offset: Bytes) -> usize {
        let page = self.cuts.page_at(offset).0;
        self.namespaces.iter().filter(|&&first| first <= page).count()
    }

    pub(in super::super) fn submitted(&mut self, id: RequestId, io: &IoRequest, now: Time) -> Result<(), String> {
        let is_flush = io.kind == RequestKind::Flush;
        if (io.size == Bytes::ZERO && !is_flush) || (io.offset + io.size) > self.cuts.capacity() {
            let capacity = self.cuts.capacity();
            return Err(format!("{} is not within the drive of {capacity}", name(id, io)));
        }
        let covers_pages = !matches!(io.kind, RequestKind::Deallocate | RequestKind::Flush);
        let extent = covers_pages.then(|| self.cuts.extent(io));
        self.submitted += 1;
        let order = self.submitted;
        let pending = Pending {
            io: *io,
            submitted: now,
            extent,
            counts: PerPage::new((0..extent.map_or(0, |extent| extent.len())).map(|_| Counts::default())),
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

    pub(in super::super) fn flush_began(&mut self, id: RequestId) -> Result<(), String> {
        let flush = self.pending.find(id).filter(|pending| pending.io.kind == RequestKind::Flush);
        let Some(flushed) = flush.map(|flush| self.namespace_at(flush.io.offset)) else {
            return Err(format!("request {} began to flush, but is no flush in flight", id.0));
        };
        let is_meant = |pending: &Pending| pending.pages_left() > 0 && self.namespace_at(pending.io.offset) == flushed;
        let unfinished = self.pending.iter().filter(|(_, pending)| is_meant(pending));
        let after = unfinished.map(|(id, pending)| (id, pending.order)).collect();
        if let Some(flush) = self.pending.find_mut(id) {
            flush.after = after;
        }
        Ok(())
    }

    pub(in super::super) fn page_size(&self) -> Bytes {
        self.cuts.page_size()
    }

    /// Returns the number of bytes of `lpn` that a request reads from the array: the covered part for a read, the whole page for a partial write.
    /// With partial programs, a partial write reads only the part of the page that it does not cover. `None` if the request is not in flight or does
    /// not cover `lpn`.
    pub(in super::super) fn wanted(&self, id: RequestId, lpn: Lpn) -> Option<Bytes> {
        let touched = self.bytes(id, lpn)?;
        Some(match self.pending.find(id)?.io.kind {
            RequestKind::Read => touched,
            _ if self.partial_program => self.cuts.page_size() - touched,
            _ => self.cuts.page_size(),
        })
    }

    /// Returns the range of bytes of `lpn` that a request reads from the array. `None` if the request is not in flight. `None` also for a partial
    /// write with partial programs, which reads the part that it does not cover.
    pub(in super::super) fn sensed(&self, id: RequestId, lpn: Lpn) -> Option<Range<Bytes>> {
        let io = &self.pending.find(id)?.io;
        match io.kind {
            RequestKind::Read => Some(self.cuts.part(io, lpn)),
            _ if self.partial_program => None,
            _ => Some(Bytes::ZERO..self.cuts.page_size()),
        }
    }

    pub(in super::super) fn bytes(&self, id: RequestId, lpn: Lpn) -> Option<Bytes> {
        Some(self.cuts.bytes(&self.pending.find(id)?.io, lpn)).filter(|bytes| *bytes > Bytes::ZERO)
    }

    /// Counts a step (array read, program, or service by the device cache) for the page `lpn` of a request. Returns the request, and the index of the
    /// page within the request.
    ///
    /// # Errors
    /// A message, in which `did` is the verb for the step, if the request does not cover the page or the step was done before.
    fn page(
        &mut self,
        id: RequestId,
        lpn: Lpn,
        did: &str,
        count: impl Fn(&mut Counts) -> &mut u32,
    ) -> Result<(&Pending, usize), String> {
        let Some(pending) = self.pending.find_mut(id) else {
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
            let count = count(&mut pending.counts[at]);
            *count += 1;
            *count
        };
        if count > 1 {
            return Err(format!("logical page {} was {did} {count} times for {}", lpn.0, name(id, &pending.io)));
        }
        Ok((pending, at))
    }

    pub(in super::super) fn read(&mut self, id: RequestId, lpn: Lpn) -> Result<(), String> {
        let (Pending { io, extent, .. }, _) = self.page(id, lpn, "read", |counts| &mut counts.read)?;
        if io.kind != RequestKind::Read && !extent.is_some_and(|extent| extent.is_partial(lpn)) {
            return Err(format!("logical page {} was read for {}, which writes all of it", lpn.0, name(id, io)));
        }
        Ok(())
    }

    pub(in super::super) fn programmed(&mut self, id: RequestId, lpn: Lpn) -> Result<(), String> {
        let (pending, at) = self.page(id, lpn, "programmed", |counts| &mut counts.programmed)?;
        if !pending.programs_page(at) {
            let io = &pending.io;
            return Err(format!("logical page {} was programmed for {}", lpn.0, name(id, io)));
        }
        Ok(())
    }

    pub(in super::super) fn refused(&mut self, id: RequestId) -> Result<(), String> {
        if self.pending.find(id).is_some() || !self.refused.insert(id) {
            return Err(format!("request {} was refused while it is in flight", id.0));
        }
        Ok(())
    }

    pub(in super::super) fn cached(&mut self, id: RequestId, lpn: Lpn) -> Result<(), String> {
        self.page(id, lpn, "cached", |counts| &mut counts.cached).map(|_| ())
    }

    pub(in super::super) fn completed(&mut self, id: RequestId, now: Time) -> Result<(), String> {
        if self.refused.remove(&id) {
            return Ok(());
        }
        let Some(pending) = self.pending.remove(id) else {
            return Err(format!("request {} completed at {now}, but is not in flight", id.0));
        };
        let name = || name(id, &pending.io);
        if now < pending.submitted {
            return Err(format!("{} completed at {now}, before it reached the drive at {}", name(), pending.submitted));
        }
        let pages = pending.pages();
        let (left, did) = match pending.io.kind {
            RequestKind::Read => ((0..pages).filter(|&at| !pending.is_done(|counts| counts.read, at)).count(), "read"),
            RequestKind::Write | RequestKind::WriteZeroes => (pending.pages_left(), "programmed"),
            RequestKind::Deallocate => return Ok(()),
            RequestKind::Flush => return self.flushed(name, &pending.after, now),
        };
        if left > 0 {
            return Err(format!("{} completed at {now} with {} of {pages} pages {did}", name(), pages - left));
        }
        Ok(())
    }

    /// Checks that none of the writes `after`, which were unfinished when a flush began, is still unfinished when the flush completes. A
    /// write is finished when its pages are on flash or in the device cache; the oracle `cache` checks the cached data.
    fn flushed(&self, name: impl Fn() -> String, after: &[(RequestId, u64)], now: Time) -> Result<(), String> {
        let is_left = |&&(id, order): &&(RequestId, u64)| {
            self.pending.find(id).is_some_and(|pending| pending.order == order && pending.pages_left() > 0)
        };
        match after.iter().find(is_left) {
            None => Ok(()),
            Some((id, _)) => Err(format!("{} completed at {now}, before request {} was in the flash", name(), id.0)),
        }
    }

    pub(in super::super) fn finish(&self) -> Result<(), String> {
        match self.pending.iter().next() {
            None => Ok(()),
            Some((id, first)) => Err(format!(
                "{} of {} requests in flight never completed; it reached the drive at {}",
                name(id, &first.io),
                self.pending.iter().count(),
                first.submitted
            )),
        }
    }
}

#[cfg(test)]
mod tests;
