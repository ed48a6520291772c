//! The device cache and the DRAM it lives in.

use std::collections::VecDeque;

use crate::cache::dram::Dram;
use crate::cache::{Cache, Sectors, SlotId};
use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ftl::Ftl;
use crate::ids::{Lpn, RequestId};
use crate::measure::cache::CacheReport;
use crate::units::{Bytes, Time};

use super::super::PageRequest;
use super::super::work::host_write::Writer;
use super::stripes::Stripes;
use super::throttle::Throttle;

/// What follows an access to DRAM.
#[derive(Clone, Copy, Debug)]
pub enum Then {
    /// What was read goes to the host.
    Deliver(RequestId, Bytes),
    /// A page of a write is done.
    Accept(RequestId),
    /// A page is programmed.
    Program(Writer, Lpn, Bytes),
}

/// An access to DRAM that something waits for.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// When its page came to the cache.
    pub since: Time,
    pub then: Then,
}

/// The device cache and the DRAM it lives in.
#[derive(Clone, Debug)]
pub struct DeviceCache {
    pub cache: Cache,
    dram: Dram,
    /// The accesses that something waits for, in the order in which they end.
    pub accesses: VecDeque<Access>,
    /// How long writes waited for room, summed.
    pub waited: Time,
    /// Where writes are slowed down while the drive is short of space.
    pub throttle: Option<Throttle>,
    /// Where pages go to flash in stripes.
    pub stripes: Option<Stripes>,
    /// Whether a flush of the host has dirty pages written to flash.
    flush_programs: bool,
    /// The pages that flash holds data of; `None` where the cache keeps all that is read.
    written: Option<Written>,
    page_size: Bytes,
    sector_size: Bytes,
}

/// A bit for each page of the host.
#[derive(Clone, Debug)]
struct Written(Vec<u64>);

impl Written {
    fn new(ftl: &Ftl, pages: u32) -> Written {
        let mut written = Written(vec![0; pages.div_ceil(u64::BITS) as usize]);
        (0..pages).map(Lpn).filter(|&lpn| ftl.is_mapped(lpn)).for_each(|lpn| written.set(lpn, true));
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
            throttle: Throttle::new(config.cache.throttle_interval),
            stripes: Stripes::new(config, geometry),
            flush_programs: config.cache.flush_programs,
            written: (!config.cache.keep_unwritten).then(|| Written::new(ftl, geometry.logical_pages)),
            page_size: geometry.page_size,
            sector_size: geometry.sector_size,
        }))
    }

    /// How large some sectors are.
    pub fn bytes_of(&self, sectors: Sectors) -> Bytes {
        self.sector_size * u64::from(sectors.count())
    }

    /// Where in its page the first of some sectors is; 0 where there are none.
    pub fn start_of(&self, sectors: Sectors) -> Bytes {
        if sectors.is_empty() { Bytes::ZERO } else { self.sector_size * u64::from(sectors.first()) }
    }

    /// The sectors that a request touches of a page.
    pub fn sectors_of(&self, page: &PageRequest) -> Sectors {
        let sector = self.sector_size.as_u64();
        let (start, end) = (page.start.as_u64(), (page.start + page.bytes).as_u64());
        Sectors::range((start / sector) as u32, end.div_ceil(sector) as u32)
    }

    /// Whether a flush is done once the cache has the data of the writes before it; that of the end of a run is not.
    pub fn is_safe(&self, flush: Option<RequestId>) -> bool {
        flush.is_some() && !self.flush_programs
    }

    /// Whether flash holds data of a page that the cache may keep.
    pub fn has_data(&self, lpn: Lpn) -> bool {
        self.written.as_ref().is_none_or(|written| written.has(lpn))
    }

    /// Flash has the data of a page, or has it no longer.
    pub fn set_written(&mut self, lpn: Lpn, is_written: bool) {
        if let Some(written) = &mut self.written {
            written.set(lpn, is_written);
        }
    }

    /// Queues an access to `sectors` of a page in DRAM; gives when it is done.
    pub fn access(&mut self, now: Time, slot: SlotId, sectors: Sectors) -> Time {
        let address = Cache::address(slot, sectors.first(), self.page_size, self.sector_size);
        let size = self.bytes_of(sectors);
        self.dram.access(now, address, size)
    }

    /// The state machine: which pages it holds.
    pub fn state(&self) -> &Cache {
        &self.cache
    }

    /// How long its DRAM was at work until `now`.
    pub fn dram_busy(&self, now: Time) -> Time {
        self.dram.busy(now)
    }

    /// What it did until `now`.
    pub fn report(&self, now: Time) -> CacheReport {
        let throttled = self.throttle.as_ref().map_or(0, Throttle::pages);
        CacheReport::new(&self.cache, self.dram_busy(now), self.waited, throttled, now)
    }
}
