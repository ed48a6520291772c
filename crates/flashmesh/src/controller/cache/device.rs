//! The device cache, which buffers user data that is read and written, and the DRAM that holds the cached pages.

use std::collections::VecDeque;

use crate::cache::dram::Dram;
use crate::cache::{Cache, Sectors, SlotId};
use crate::config::{AccessUnit, Config};
use crate::flash::geometry::Geometry;
use crate::ftl::Ftl;
use crate::ids::{Lpn, RequestId};
use crate::measure::cache::CacheReport;
use crate::units::{Bytes, Time};

use super::super::PageRequest;
use super::super::work::host_write::Writer;
use super::stripes::Stripes;
use super::throttle::Throttle;

/// Action at the end of a DRAM access.
#[derive(Clone, Copy, Debug)]
pub enum AccessAction {
    /// Send read data of this size to the host.
    Deliver(RequestId, Bytes),
    /// Report to the frontend that a page of a write is completed.
    Accept(RequestId),
    /// Write the page to flash, with this size of data. The write is for a request that passes through the cache, or a destage.
    Program(Writer, Lpn, Bytes),
}

/// A queued DRAM access, and the action at its end.
#[derive(Clone, Copy, Debug)]
pub struct DramAccess {
    /// Time at which the cache began to handle the page: the arrival of its request, or the start of its destage.
    pub since: Time,
    pub then: AccessAction,
    /// Whether the next access of the queue ends at the same time, because one DRAM access moves both pages ([`AccessGroup`]).
    pub is_joined: bool,
}

/// Pages of a request that one DRAM access moves (`cache.access-unit = "request"`).
#[derive(Clone, Debug)]
pub struct AccessGroup {
    pub request: RequestId,
    /// Whether the first of these pages had to wait after its command had arrived, for example for space in the cache.
    pub had_waited: bool,
    pub address: u64,
    pub size: Bytes,
    pub accesses: Vec<DramAccess>,
}

impl AccessAction {
    /// Returns the request whose other pages may share the DRAM access; `None` for a write to flash, which shares no access.
    pub fn grouped_request(self) -> Option<RequestId> {
        match self {
            AccessAction::Deliver(request, _) | AccessAction::Accept(request) => Some(request),
            AccessAction::Program(..) => None,
        }
    }
}

/// The device cache with its DRAM, write throttle and destage stripes.
#[derive(Clone, Debug)]
pub struct DeviceCache {
    pub cache: Cache,
    dram: Dram,
    /// Queued DRAM accesses, each with the action at its end, in the order in which they end.
    pub accesses: VecDeque<DramAccess>,
    /// Whether one DRAM access moves all pages of a request (`cache.access-unit = "request"`).
    pub groups_accesses: bool,
    /// Pages of one request that will share one DRAM access and wait for further pages of the request; `None` if there are none.
    pub group: Option<AccessGroup>,
    /// Time that written pages waited until the cache admitted them (for space, for the throttle, or in a held command), summed over the pages.
    pub waited: Time,
    /// Throttle of writes while the drive is short of space; `None` if it is disabled.
    pub throttle: Option<Throttle>,
    /// Progress of destage stripes (groups of pages that are destaged together); `None` if pages are destaged one by one.
    pub stripes: Option<Stripes>,
    /// Whether a host flush destages dirty pages. Otherwise the flush completes without destages, because cached data survives a power loss.
    flush_programs: bool,
    /// Logical pages with data on flash: reads fill the cache only with these. `None` if reads may fill the cache with any page
    /// (`cache.keep-unwritten`).
    written: Option<WrittenBitmap>,
    page_size: Bytes,
    sector_size: Bytes,
}

/// A bit for each logical page, set if flash holds data of the page.
#[derive(Clone, Debug)]
struct WrittenBitmap(Vec<u64>);

impl WrittenBitmap {
    fn new(ftl: &Ftl, pages: u32) -> WrittenBitmap {
        let mut written = WrittenBitmap(vec![0; pages.div_ceil(u64::BITS) as usize]);
        (0..pages).map(Lpn).filter(|&lpn| ftl.map().is_mapped(lpn)).for_each(|lpn| written.set(lpn, true));
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
    /// Creates the empty cache; `None` if it is disabled.
    pub fn new(config: &Config, geometry: &Geometry, ftl: &Ftl) -> Option<Box<DeviceCache>> {
        let cache = Cache::new(config, geometry)?;
        Some(Box::new(DeviceCache {
            cache,
            dram: Dram::new(&config.cache),
            accesses: VecDeque::new(),
            groups_accesses: config.cache.access_unit == AccessUnit::Request,
            group: None,
            waited: Time::ZERO,
            throttle: Throttle::new(&config.cache),
            stripes: Stripes::new(config, geometry),
            flush_programs: config.cache.flush_programs,
            written: (!config.cache.keep_unwritten).then(|| WrittenBitmap::new(ftl, geometry.logical_pages)),
            page_size: geometry.page_size,
            sector_size: geometry.sector_size,
        }))
    }

    /// Returns the size of `sectors` in bytes.
    pub fn bytes_of(&self, sectors: Sectors) -> Bytes {
        self.sector_size * u64::from(sectors.count())
    }

    /// Returns the offset of the first of `sectors` in its page; 0 if there are none.
    pub fn start_of(&self, sectors: Sectors) -> Bytes {
        if sectors.is_empty() { Bytes::ZERO } else { self.sector_size * u64::from(sectors.first()) }
    }

    /// Returns the sectors of a page that a request touches.
    pub fn sectors_of(&self, page: &PageRequest) -> Sectors {
        let sector = self.sector_size.as_u64();
        let (start, end) = (page.start.as_u64(), (page.start + page.bytes).as_u64());
        Sectors::range((start / sector) as u32, end.div_ceil(sector) as u32)
    }

    /// Returns whether the flush of request `flush` completes without destages, because data in the cache survives a power loss. Always
    /// false for `None`: a flush at the end of the run or after a power cut, which no request issued.
    pub fn is_safe(&self, flush: Option<RequestId>) -> bool {
        flush.is_some() && !self.flush_programs
    }

    /// Returns whether a read may fill the cache with sectors of a page: only if flash holds data of the page. Always true if `written` is `None`.
    pub fn has_data(&self, lpn: Lpn) -> bool {
        self.written.as_ref().is_none_or(|written| written.has(lpn))
    }

    /// Records whether flash holds data of a page.
    pub fn set_written(&mut self, lpn: Lpn, is_written: bool) {
        if let Some(written) = &mut self.written {
            written.set(lpn, is_written);
        }
    }

    /// Queues a DRAM access to `sectors` of the page in cache slot `slot`. Returns the time at which the access ends.
    pub fn access(&mut self, now: Time, slot: SlotId, sectors: Sectors) -> Time {
        let size = self.bytes_of(sectors);
        self.dram.access(now, self.address_of(slot, sectors), size)
    }

    /// Queues a DRAM access of `size` bytes at DRAM address `address`. Returns the time at which the access ends.
    pub fn access_at(&mut self, now: Time, address: u64, size: Bytes) -> Time {
        self.dram.access(now, address, size)
    }

    /// Returns the DRAM address of the first of `sectors` of the page in cache slot `slot`.
    pub fn address_of(&self, slot: SlotId, sectors: Sectors) -> u64 {
        Cache::address(slot, sectors.first(), self.page_size, self.sector_size)
    }

    /// Returns the cached pages and their states.
    pub fn state(&self) -> &Cache {
        &self.cache
    }

    /// Returns the total time for which the DRAM was busy up to `now`.
    pub fn dram_busy(&self, now: Time) -> Time {
        self.dram.busy(now)
    }

    /// Returns the total time up to `now` for which at least one written page waited for the throttle; zero without a throttle.
    pub fn throttle_waited(&self, now: Time) -> Time {
        self.throttle.as_ref().map_or(Time::ZERO, |throttle| throttle.waited(now))
    }

    /// Returns the report of the cache up to `now`.
    pub fn report(&self, now: Time) -> CacheReport {
        let throttled = self.throttle.as_ref().map_or(0, Throttle::pages);
        CacheReport::new(&self.cache, self.dram_busy(now), self.waited, throttled, now)
    }
}
