//! From the workload to the queues of the dies: requests are issued, and cut into pages when they have reached the drive.

use crate::config::FirstTouch;
use crate::error::RunError;
use crate::host::replay::{BATCH, Mode, Next};
use crate::ids::{Lpn, Ppn, RequestId, StreamId, TransactionId};
use crate::schedule::transaction::{Class, Transaction};
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

use super::Simulation;
use super::cache::Writer;
use super::event::{Event, lane};
use super::request::Request;

impl Simulation {
    /// Issues the first requests of every stream.
    pub(super) fn start_replay(&mut self) -> Result<(), RunError> {
        for index in 0..self.streams.len() {
            let stream = StreamId(index as u32);
            match self.streams[index].replay.mode() {
                Mode::Open => self.issue_open(stream)?,
                Mode::Stress { outstanding } => (0..outstanding).try_for_each(|_| self.issue_for(stream, 0))?,
                Mode::Closed { threads } => (0..threads).try_for_each(|thread| self.issue_for(stream, thread))?,
            }
        }
        Ok(())
    }

    /// Open replay: issues what has arrived and waits for what has not.
    pub(super) fn issue_open(&mut self, stream: StreamId) -> Result<(), RunError> {
        loop {
            match self.streams[stream.index()].replay.next_open(self.queue.now())? {
                Next::Issue(arrived) => self.issue(stream, arrived),
                Next::At(at) => {
                    self.queue.schedule(lane::ARRIVAL, at, Event::Arrive(stream));
                    return Ok(());
                }
                Next::Later => return Ok(()),
            }
        }
    }

    /// Stress and closed replay: a place, or the thread, is free for its next request.
    pub(super) fn issue_for(&mut self, stream: StreamId, thread: u32) -> Result<(), RunError> {
        if let Next::Issue(arrived) = self.streams[stream.index()].replay.next_for(thread, self.queue.now())? {
            self.issue(stream, arrived);
        }
        Ok(())
    }

    /// Fetches what the requests that a stream pulled last will need from the tables of the translation layer.
    pub(super) fn look_ahead(&self, stream: StreamId) {
        // The pages are found before any of them is touched: the more loads there are in a row, the more of them overlap.
        let mut pages = [Lpn(0); BATCH];
        let (mut reads, mut writes) = (0, BATCH);
        for io in self.streams[stream.index()].replay.batch() {
            let Ok(offset) = self.namespaces.locate(stream, io) else { continue };
            let at = if io.kind == RequestKind::Read {
                reads += 1;
                reads - 1
            } else {
                writes -= 1;
                writes
            };
            pages[at] = self.geometry.lpn_of(offset);
        }
        let (reads, writes) = (&pages[..reads], &pages[writes..]);
        if let Some(map) = &self.map {
            map.fetch(reads.iter().chain(writes).copied());
        }
        self.ftl.touch(reads.iter().copied());
        self.ftl.touch_writes(writes);
    }

    /// Takes a request that has reached the drive.
    pub(super) fn submit(&mut self, id: RequestId) {
        let Request { io, stream, .. } = self.requests[id];
        let io = match self.admit(stream, &io) {
            Ok(offset) => IoRequest { offset, ..io },
            Err(status) => return self.refuse(id, status),
        };
        self.witness(|oracles, now| oracles.request_submitted(id, &io, now));
        match io.kind {
            RequestKind::Read => self.submit_pages(id, &io),
            RequestKind::Write => {
                self.begin_write(id);
                self.submit_pages(id, &io);
            }
            RequestKind::Deallocate => {
                // Parts of pages at either end stay: the standard lets a drive deallocate less than it was asked to.
                self.deallocate_pages(&io);
                self.respond(id);
            }
            RequestKind::Flush => self.begin_flush(id),
            RequestKind::WriteZeroes => self.write_zeroes(id, &io),
        }
    }

    /// Cuts a request into pages.
    fn submit_pages(&mut self, id: RequestId, io: &IoRequest) {
        let page_size = self.geometry.page_size;
        let end = io.offset + io.size;
        let first = self.geometry.lpn_of(io.offset);
        let last = self.geometry.lpn_of(end - Bytes::new(1));
        let pages = last.0 - first.0 + 1;
        self.requests[id].remaining = pages;
        if io.kind == RequestKind::Write {
            self.measures.flash.pages_written += u64::from(pages);
        }
        for lpn in first.0..=last.0 {
            let page_start = page_size * u64::from(lpn);
            let bytes = end.min(page_start + page_size) - io.offset.max(page_start);
            match io.kind {
                RequestKind::Read => self.submit_read(id, Lpn(lpn), bytes),
                _ => self.submit_write(id, Lpn(lpn), bytes),
            }
        }
    }

    /// Forgets the pages that a request covers as a whole.
    fn deallocate_pages(&mut self, io: &IoRequest) {
        let page_size = self.geometry.page_size.as_u64();
        let first = io.offset.as_u64().div_ceil(page_size);
        for lpn in first..(io.offset + io.size).as_u64() / page_size {
            let lpn = Lpn(lpn as u32);
            let was_mapped = self.ftl.deallocate(lpn);
            self.witness(|oracles, now| oracles.deallocated(lpn, now));
            if was_mapped {
                self.entry_changed(lpn);
            }
            self.forget_cached(lpn);
        }
        self.collect_idle_dies();
    }

    /// Whole pages are forgotten, and read as zeros from then on; the parts of pages at either end are written.
    fn write_zeroes(&mut self, id: RequestId, io: &IoRequest) {
        let page_size = self.geometry.page_size;
        let end = io.offset + io.size;
        let (first, last) = (self.geometry.lpn_of(io.offset), self.geometry.lpn_of(end - Bytes::new(1)));
        let covered = |lpn: Lpn| {
            let page_start = page_size * u64::from(lpn.0);
            end.min(page_start + page_size) - io.offset.max(page_start)
        };
        let ends = if first == last { &[first][..] } else { &[first, last] };
        let parts = ends.iter().filter(|&&lpn| covered(lpn) < page_size);
        self.deallocate_pages(io);
        let pages = parts.clone().count() as u32;
        if pages == 0 {
            return self.respond(id);
        }
        self.requests[id].remaining = pages;
        self.measures.flash.pages_written += u64::from(pages);
        self.begin_write(id);
        for &lpn in parts {
            self.submit_write(id, lpn, covered(lpn));
        }
    }

    fn submit_read(&mut self, request: RequestId, lpn: Lpn, bytes: Bytes) {
        if self.cache.is_some() {
            self.read_through_cache(request, lpn, bytes);
        } else {
            self.read_from_flash(request, lpn, bytes, false);
        }
    }

    /// A page of a read comes from flash; with `fills` the device cache keeps it.
    pub(super) fn read_from_flash(&mut self, request: RequestId, lpn: Lpn, bytes: Bytes, fills: bool) {
        if self.map.is_none() {
            let from = self.translate_read(lpn);
            let id = self.insert_transaction(Class::UserRead, Some(request), lpn, from, bytes);
            self.transactions[id].is_cached = fills;
            self.enqueue(id);
            return;
        }
        let id = self.insert_transaction(Class::UserRead, Some(request), lpn, Ppn(0), bytes);
        self.transactions[id].is_cached = fills;
        if self.has_entry(id) {
            self.start_read(id);
            self.settle_map();
        }
    }

    /// Sends a read, whose entry of the map is in DRAM, to where its page is.
    pub(super) fn start_read(&mut self, id: TransactionId) {
        let lpn = self.transactions[id].lpn;
        let from = self.translate_read(lpn);
        let transaction = &mut self.transactions[id];
        transaction.from = from;
        transaction.plane = self.geometry.plane_of(from);
        self.enqueue(id);
    }

    /// Where `lpn` is read; a page never written is placed for it.
    pub(super) fn translate_read(&mut self, lpn: Lpn) -> Ppn {
        if self.oracles.is_none() && self.map.is_none() {
            return self.ftl.translate_read(lpn);
        }
        let is_placed = self.ftl.lookup(lpn).is_none();
        let from = self.ftl.translate_read(lpn);
        if is_placed {
            if let Some(oracles) = &mut self.oracles {
                oracles.page_placed(from, lpn, &self.ftl, self.queue.now());
            }
            if self.config.ftl.first_touch == FirstTouch::WriteBlock {
                self.placement_changed(lpn);
            }
        }
        from
    }

    fn submit_write(&mut self, request: RequestId, lpn: Lpn, bytes: Bytes) {
        if self.cache.is_some() {
            self.write_through_cache(request, lpn, bytes);
        } else {
            self.write_to_flash(Writer::Request(request), lpn, bytes, false, Time::ZERO);
        }
    }

    /// A page is written to flash; it has been in the device cache for `in_cache`, and with `is_cached` its data stays there.
    pub(super) fn write_to_flash(&mut self, writer: Writer, lpn: Lpn, bytes: Bytes, is_cached: bool, in_cache: Time) {
        let request = match writer {
            Writer::Request(request) => Some(request),
            Writer::Cache(_) => None,
        };
        let id = self.insert_transaction(Class::UserProgram, request, lpn, Ppn(0), bytes);
        let transaction = &mut self.transactions[id];
        transaction.is_cached = is_cached;
        transaction.spent.cache = in_cache;
        if let Writer::Cache(stream) = writer {
            transaction.stream = stream;
            transaction.priority = self.streams[stream.index()].config.queue.priority;
        }
        match self.writes_in_flight.insert(lpn, id) {
            Some(earlier) => self.transactions[earlier].successor = Some(id),
            None => self.start_write(id),
        }
    }

    /// Starts a write that no earlier write of the same page holds back, once its entry of the map is in DRAM.
    pub(super) fn start_write(&mut self, id: TransactionId) {
        let now = self.queue.now();
        let transaction = &mut self.transactions[id];
        transaction.spent.die_wait += now - transaction.queued;
        if self.has_entry(id) {
            self.start_translated_write(id);
        }
    }

    /// Starts a write whose older version is known; one of a part of a page reads the rest first.
    pub(super) fn start_translated_write(&mut self, id: TransactionId) {
        if self.binds_early {
            self.bind_write(id);
            return;
        }
        let transaction = &mut self.transactions[id];
        let partial = transaction.bytes < self.geometry.page_size;
        match self.ftl.lookup(transaction.lpn) {
            Some(from) if partial => {
                transaction.class = Class::UserRead;
                transaction.reads_first = true;
                transaction.from = from;
                transaction.plane = self.geometry.plane_of(from);
                self.measures.flash.partial_write_reads += 1;
            }
            _ => self.turn_into_program(id),
        }
        self.enqueue(id);
    }

    /// The page of this write goes to a plane now; where in the plane is decided when it is programmed, unless that was decided before.
    pub(super) fn turn_into_program(&mut self, id: TransactionId) {
        let transaction = &mut self.transactions[id];
        transaction.class = Class::UserProgram;
        transaction.reads_first = false;
        transaction.plane = if transaction.has_page {
            self.geometry.plane_of(transaction.to)
        } else {
            self.ftl.place_write(transaction.lpn, &self.idle)
        };
    }

    /// A transaction that has waited for nothing yet.
    pub(super) fn insert_transaction(
        &mut self,
        class: Class,
        request: Option<RequestId>,
        lpn: Lpn,
        from: Ppn,
        bytes: Bytes,
    ) -> TransactionId {
        let plane = self.geometry.plane_of(from);
        let mut transaction = Transaction::new(class, request, lpn, plane, from, bytes);
        transaction.queued = self.queue.now();
        if let Some(request) = request {
            let Request { stream, priority, .. } = self.requests[request];
            (transaction.stream, transaction.priority) = (stream, priority);
        }
        self.transactions.insert(transaction)
    }

    /// Puts a transaction into the queue of its die.
    pub(super) fn enqueue(&mut self, id: TransactionId) {
        let now = self.queue.now();
        // A write with a page has had its turn since it got that.
        let has_turn = self.transactions[id].class == Class::UserProgram && self.transactions[id].has_page;
        if !has_turn {
            self.transactions[id].order = self.take_order();
        }
        let transaction = &mut self.transactions[id];
        let die = self.geometry.die_of_plane(transaction.plane);
        let plane = self.geometry.plane_in_die(transaction.plane) as u8;
        transaction.queued = now;
        transaction.internal_busy_at_queued = self.dies[die.index()].internal_busy(now);
        if has_turn {
            self.queues.insert(&mut self.transactions, die, plane, id);
        } else {
            self.queues.push(&mut self.transactions, die, plane, id);
        }
        if self.tracks_idle {
            self.idle.set(die, false);
            if self.dies_take_turns {
                self.dies_of_chip(die).for_each(|die| self.idle.set(die, false));
            }
        }
        self.kick(die);
    }

    /// The next place in the order of arrival among all transactions.
    #[inline]
    pub(super) fn take_order(&mut self) -> u64 {
        let order = self.transaction_order;
        self.transaction_order += 1;
        order
    }

    /// User data of `bytes` with its share of the metadata of the page.
    #[inline]
    pub(super) fn with_spare(&self, bytes: Bytes) -> Bytes {
        let spare = self.geometry.page_spare;
        if spare == Bytes::ZERO {
            return bytes;
        }
        bytes + Bytes::new((bytes.as_u64() * spare.as_u64()).div_ceil(self.geometry.page_size.as_u64()))
    }

    /// Simulated time, as the clock has it.
    #[inline]
    pub(super) fn now(&self) -> Time {
        self.queue.now()
    }
}
