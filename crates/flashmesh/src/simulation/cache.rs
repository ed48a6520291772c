//! Pages on their way through the device cache: reads find what is there, writes end there, and dirty pages leave it.
//!
//! The data of a read that the cache keeps is written to DRAM behind the back of the request. The data of a write that
//! the cache has just taken and sends to flash at once is not read from DRAM again.

use std::collections::VecDeque;

use crate::cache::dram::Dram;
use crate::cache::{Admitted, Cache, Destaged, PageWrite, Sectors, SlotId};
use crate::config::Config;
use crate::fabric::Causes;
use crate::flash::geometry::Geometry;
use crate::ftl::Ftl;
use crate::ids::{Lpn, RequestId, StreamId};
use crate::measure::cache::CacheReport;
use crate::schedule::transaction::Spent;
use crate::units::{Bytes, Time};
use crate::workload::IoRequest;

use super::Simulation;
use super::event::{Event, lane};

/// Who has a page written to flash.
#[derive(Clone, Copy, Debug)]
pub(super) enum Writer {
    /// A request.
    Request(RequestId),
    /// The device cache; the stream wrote the page.
    Cache(StreamId),
}

/// What follows an access to DRAM.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// What was read goes to the host.
    Deliver(RequestId, Bytes),
    /// A page of a write is done.
    Accept(RequestId),
    /// A page is programmed.
    Program(Writer, Lpn, Bytes),
}

/// An access to DRAM that something waits for.
#[derive(Clone, Copy, Debug)]
struct Access {
    /// When its page came to the cache.
    since: Time,
    then: Then,
}

/// The device cache and the DRAM it lives in.
#[derive(Debug)]
pub(super) struct DeviceCache {
    pub cache: Cache,
    dram: Dram,
    /// The accesses that something waits for, in the order in which they end.
    accesses: VecDeque<Access>,
    /// How long writes waited for room, summed.
    waited: Time,
    /// The pages that flash holds data of; `None` where the cache keeps all that is read.
    written: Option<Written>,
    page_size: Bytes,
    sector_size: Bytes,
}

/// A bit for each page of the host.
#[derive(Debug)]
struct Written(Vec<u64>);

impl Written {
    fn new(ftl: &Ftl, pages: u32) -> Written {
        let mut written = Written(vec![0; pages.div_ceil(u64::BITS) as usize]);
        (0..pages).map(Lpn).filter(|&lpn| ftl.lookup(lpn).is_some()).for_each(|lpn| written.set(lpn, true));
        written
    }

    fn has(&self, lpn: Lpn) -> bool {
        self.0[(lpn.0 / u64::BITS) as usize] & 1 << (lpn.0 % u64::BITS) != 0
    }

    fn set(&mut self, lpn: Lpn, is_written: bool) {
        let word = &mut self.0[(lpn.0 / u64::BITS) as usize];
        *word = *word & !(1 << (lpn.0 % u64::BITS)) | u64::from(is_written) << (lpn.0 % u64::BITS);
    }
}

impl DeviceCache {
    /// The cache of a drive that nothing was read from yet; `None` when it is turned off.
    pub fn new(config: &Config, geometry: &Geometry, ftl: &Ftl) -> Option<Box<DeviceCache>> {
        let cache = Cache::new(config, geometry)?;
        Some(Box::new(DeviceCache {
            cache,
            dram: Dram::new(&config.cache),
            accesses: VecDeque::new(),
            waited: Time::ZERO,
            written: (!config.cache.keep_unwritten).then(|| Written::new(ftl, geometry.logical_pages)),
            page_size: geometry.page_size,
            sector_size: geometry.sector_size,
        }))
    }

    fn bytes_of(&self, sectors: Sectors) -> Bytes {
        self.sector_size * u64::from(sectors.count())
    }

    /// The sectors of `lpn` that a request touches.
    fn sectors_of(&self, io: &IoRequest, lpn: Lpn) -> Sectors {
        let (page, sector) = (self.page_size.as_u64(), self.sector_size.as_u64());
        let start = page * u64::from(lpn.0);
        let first = io.offset.as_u64().saturating_sub(start) / sector;
        let end = ((io.offset + io.size).as_u64() - start).min(page).div_ceil(sector);
        Sectors::range(first as u32, end as u32)
    }

    /// Queues an access to `sectors` of a page in DRAM; gives when it is done.
    fn access(&mut self, now: Time, slot: SlotId, sectors: Sectors) -> Time {
        let address = Cache::address(slot, sectors.first(), self.page_size, self.sector_size);
        let size = self.bytes_of(sectors);
        self.dram.access(now, address, size)
    }

    /// How long its DRAM was at work until `now`.
    pub fn dram_busy(&self, now: Time) -> Time {
        self.dram.busy(now)
    }

    /// What it did until `now`.
    pub fn report(&self, now: Time) -> CacheReport {
        CacheReport::new(&self.cache, self.dram_busy(now), self.waited, now)
    }
}

impl Simulation {
    /// A page of a read: what is in the cache comes from there, the rest from flash.
    pub(super) fn read_through_cache(&mut self, request: RequestId, lpn: Lpn, bytes: Bytes) {
        let is_stable = !self.writes_in_flight.contains_key(&lpn);
        let io = self.located(request);
        let Some(device) = &mut self.cache else { return };
        let may_fill = is_stable && device.written.as_ref().is_none_or(|written| written.has(lpn));
        let wanted = device.sectors_of(&io, lpn);
        let found = device.cache.read(self.requests[request].stream, lpn, wanted, may_fill);
        let missing = device.bytes_of(found.missing);
        self.cache_changed();
        let mut from_flash = bytes;
        if let Some((slot, sectors)) = found.here {
            self.witness(|oracles, now| oracles.cache_found(request, lpn, sectors, now));
            let from_dram = bytes - bytes.min(missing);
            from_flash = bytes - from_dram;
            // The two parts of the page end apart.
            self.requests[request].remaining += u32::from(!found.missing.is_empty());
            self.access_memory(slot, sectors, self.queue.now(), Then::Deliver(request, from_dram));
        }
        if !found.missing.is_empty() {
            self.read_from_flash(request, lpn, from_flash, found.fills);
        }
        self.send_destages();
    }

    /// A page of a write: it ends in the cache, passes through it, or goes past it.
    pub(super) fn write_through_cache(&mut self, request: RequestId, lpn: Lpn, bytes: Bytes) {
        let now = self.queue.now();
        let (io, stream) = (self.located(request), self.requests[request].stream);
        let Some(device) = &mut self.cache else { return };
        let sectors = device.sectors_of(&io, lpn);
        let write = PageWrite { request, stream, lpn, sectors, since: now };
        let admitted = device.cache.offer(write);
        self.cache_changed();
        if let Some(admitted) = admitted {
            self.admitted(&write, admitted, bytes);
        }
        self.send_destages();
    }

    /// The data of a write goes where the cache sends it.
    fn admitted(&mut self, write: &PageWrite, admitted: Admitted, bytes: Bytes) {
        let PageWrite { request, lpn, sectors, since, .. } = *write;
        match admitted {
            Admitted::InDram(slot) => {
                self.witness(|oracles, now| oracles.cache_took(request, lpn, sectors, true, now));
                self.access_memory(slot, sectors, since, Then::Accept(request));
            }
            Admitted::InBoth(slot) => {
                self.witness(|oracles, now| oracles.cache_took(request, lpn, sectors, false, now));
                self.access_memory(slot, sectors, since, Then::Program(Writer::Request(request), lpn, bytes));
            }
            Admitted::OnFlash => {
                let waited = self.queue.now() - since;
                self.write_to_flash(Writer::Request(request), lpn, bytes, false, waited);
            }
        }
    }

    fn access_memory(&mut self, slot: SlotId, sectors: Sectors, since: Time, then: Then) {
        let now = self.queue.now();
        let Some(device) = &mut self.cache else { return };
        let done = device.access(now, slot, sectors);
        device.accesses.push_back(Access { since, then });
        self.queue.schedule(lane::MEMORY, done, Event::Memory);
    }

    /// The access to DRAM that was queued first is done.
    pub(super) fn memory_done(&mut self) {
        let now = self.queue.now();
        let access = self.cache.as_mut().and_then(|device| device.accesses.pop_front());
        let Some(Access { since, then }) = access else { return };
        let spent = Spent { cache: now - since, ..Spent::default() };
        match then {
            Then::Deliver(request, bytes) => {
                self.send_page(bytes);
                self.page_finished(request, spent, Causes::default());
            }
            Then::Accept(request) => self.page_finished(request, spent, Causes::default()),
            // The power is cut, and nobody waits for it.
            Then::Program(Writer::Request(_), lpn, _) if self.power_cut.is_some() => self.passed_cache(lpn),
            Then::Program(writer, lpn, bytes) => {
                let is_cached = matches!(writer, Writer::Request(_));
                self.write_to_flash(writer, lpn, bytes, is_cached, spent.cache);
            }
        }
    }

    /// Sends the pages that the cache wants on flash on their way, and lets in the writes that need not wait any more.
    fn send_destages(&mut self) {
        loop {
            self.send_due();
            let Some(device) = &mut self.cache else { return };
            let Some((write, admitted)) = device.cache.admit_next() else { break };
            device.waited += self.queue.now() - write.since;
            let page = self.geometry.page_size * u64::from(write.lpn.0);
            let io = self.located(write.request);
            let bytes = (io.offset + io.size).min(page + self.geometry.page_size) - io.offset.max(page);
            self.cache_changed();
            self.admitted(&write, admitted, bytes);
        }
        self.send_due();
    }

    fn send_due(&mut self) {
        while let Some(destaged) = self.cache.as_mut().and_then(|device| device.cache.next_destage()) {
            self.destage(destaged);
        }
    }

    fn destage(&mut self, destaged: Destaged) {
        let Destaged { lpn, stream, slot, sectors, is_at_hand } = destaged;
        let now = self.queue.now();
        self.witness(|oracles, now| oracles.destage_began(lpn, sectors, now));
        let Some(device) = &self.cache else { return };
        let bytes = device.bytes_of(sectors);
        if is_at_hand {
            self.write_to_flash(Writer::Cache(stream), lpn, bytes, false, Time::ZERO);
        } else {
            self.access_memory(slot, sectors, now, Then::Program(Writer::Cache(stream), lpn, bytes));
        }
    }

    /// The array has programmed a page that the cache sent; gives whether the page was deallocated meanwhile.
    pub(super) fn destage_programmed(&mut self, lpn: Lpn) -> bool {
        let Some(device) = &mut self.cache else { return false };
        device.cache.programmed(lpn);
        device.cache.is_forgotten(lpn)
    }

    /// Flash has the data of a page, or has it no longer.
    pub(super) fn page_written(&mut self, lpn: Lpn, is_written: bool) {
        if let Some(written) = self.cache.as_mut().and_then(|device| device.written.as_mut()) {
            written.set(lpn, is_written);
        }
    }

    /// Flash has a page that the cache sent.
    pub(super) fn destaged(&mut self, lpn: Lpn) {
        self.tell_cache(|cache| cache.saved(lpn));
    }

    /// A write that went through the cache is done.
    pub(super) fn passed_cache(&mut self, lpn: Lpn) {
        self.tell_cache(|cache| cache.passed(lpn));
    }

    /// The host no longer needs a page.
    pub(super) fn forget_cached(&mut self, lpn: Lpn) {
        self.page_written(lpn, false);
        self.tell_cache(|cache| cache.deallocate(lpn));
    }

    /// A page that was read from flash for `request` stays in the cache.
    pub(super) fn fill_cache(&mut self, request: RequestId, lpn: Lpn) {
        let now = self.queue.now();
        let Some(device) = &mut self.cache else { return };
        if let Some((slot, sectors)) = device.cache.filled(lpn) {
            device.access(now, slot, sectors);
            self.witness(|oracles, now| oracles.cache_filled(request, lpn, sectors, now));
        }
        self.cache_changed();
        self.send_destages();
    }

    /// The completion of a request has reached the host.
    #[inline]
    pub(super) fn acknowledge_cached(&mut self, request: RequestId) {
        if let Some(device) = &mut self.cache {
            device.cache.acknowledge(request);
        }
    }

    /// Tells the cache of something, and does what it asks for then.
    pub(super) fn tell_cache(&mut self, tell: impl FnOnce(&mut Cache)) {
        let Some(device) = &mut self.cache else { return };
        tell(&mut device.cache);
        self.cache_changed();
        self.send_destages();
        self.end_flushes();
    }

    /// Tells the oracles, when they are on, of the pages that the cache holds no more.
    fn cache_changed(&mut self) {
        if let (Some(oracles), Some(device)) = (&mut self.oracles, &mut self.cache) {
            let now = self.queue.now();
            device.cache.take_removed().into_iter().for_each(|lpn| oracles.cache_removed(lpn, now));
        }
    }

    /// Begins to write everything dirty in `pages` to flash. When it is there `waiter` responds; without one,
    /// [`Simulation::flushed`] says so.
    pub(super) fn flush_cache(&mut self, waiter: Option<RequestId>, pages: std::ops::Range<u32>) {
        self.tell_cache(|cache| cache.flush(waiter, pages));
    }

    /// Ends the flushes that have nothing to wait for.
    fn end_flushes(&mut self) {
        while let Some(waiter) = self.cache.as_mut().and_then(|device| device.cache.take_flushed()) {
            match waiter {
                Some(request) => self.respond(request),
                None => self.flushed(),
            }
        }
    }
}
