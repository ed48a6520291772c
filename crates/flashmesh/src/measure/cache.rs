//! Results of the device cache, and of a cut of the power.

use crate::cache::{Cache, Counts, Lookups};
use crate::quantities;
pub use crate::results::work::PowerCutReport;
use crate::units::Time;

quantities! {
    /// Work of the device cache.
    CacheReport as "DeviceCache" {
        /// Pages that the cache can hold.
        capacity_pages: u64, in "pages";
        /// Pages of reads, of all streams, looked up in the cache.
        reads: Lookups;
        /// Pages of writes looked up in the cache, of streams whose writes it takes.
        writes: Lookups;
        /// Pages that reads brought from flash and that the cache kept.
        fills: u64, in "pages";
        /// Pages that the cache wrote to flash, counted when their programs are acknowledged.
        destages: u64, in "pages";
        /// Pages evicted to make room for others.
        evictions: u64, in "pages";
        /// Pages of writes that waited for room or for `cache.throttle-interval`, or behind others that did.
        waits: u64, in "pages";
        /// Pages of writes that were the first in line and waited for `cache.throttle-interval`.
        throttled: u64, in "pages";
        /// Time that pages of writes waited so, summed over those that went on.
        wait_ps: u64, in "ps";
        /// Most pages that were dirty at once: pages with sectors that flash lacked.
        dirty_pages_max: u64, in "pages";
        /// Pages that were dirty at the end of the run; `cache.flush-at-end` writes them to flash.
        dirty_pages_end: u64, in "pages";
        /// Busy share of the DRAM.
        dram_share: f64, in "share";
    }
}

impl CacheReport {
    /// Returns the report of `cache` until `end`: its DRAM was `busy`, writes `waited`, and `throttled` of their pages were delayed.
    pub fn new(cache: &Cache, busy: Time, waited: Time, throttled: u64, end: Time) -> CacheReport {
        let Counts { reads, writes, fills, destages, evictions, waits, dirty_max } = *cache.counts();
        CacheReport {
            capacity_pages: cache.capacity(),
            reads,
            writes,
            fills,
            destages,
            evictions,
            waits,
            throttled,
            wait_ps: waited.as_ps(),
            dirty_pages_max: dirty_max,
            dirty_pages_end: cache.dirty_pages(),
            dram_share: if end == Time::ZERO { 0.0 } else { (busy.as_secs_f64() / end.as_secs_f64()).min(1.0) },
        }
    }
}
