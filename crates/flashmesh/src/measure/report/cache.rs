//! Results of the device cache.

use crate::cache::{Cache, Counts, Lookups};
use crate::quantities;
pub use crate::results::counters::PowerCutReport;
use crate::units::Time;

quantities! {
    /// Work of the device cache.
    CacheReport as "DeviceCache" {
        /// Capacity of the cache.
        capacity_pages: u64, in "pages";
        /// Lookups of pages of reads, over all streams.
        reads: Lookups;
        /// Lookups of pages of writes, for streams whose writes are cached.
        writes: Lookups;
        /// Pages that reads brought from flash and that were cached.
        fills: u64, in "pages";
        /// Pages that the cache wrote to flash, counted when the program is acknowledged.
        destages: u64, in "pages";
        /// Pages evicted to make space for others.
        evictions: u64, in "pages";
        /// Pages of writes that waited for space or because of `cache.throttle-interval`, or behind other waiting pages.
        waits: u64, in "pages";
        /// Pages of writes that were first in the queue and waited because of `cache.throttle-interval`.
        throttled: u64, in "pages";
        /// Total time for which pages of writes waited until the cache accepted them.
        wait_ps: u64, in "ps";
        /// Maximum number of dirty pages: pages with sectors that flash does not have.
        dirty_pages_max: u64, in "pages";
        /// Number of dirty pages at the end of the run. `cache.flush-at-end` destages them.
        dirty_pages_end: u64, in "pages";
        /// Busy share of the DRAM.
        dram_share: f64, in "share";
    }
}

impl CacheReport {
    /// Returns the report of `cache` at time `end`. `busy` is the busy time of its DRAM, `waited` the total time for which pages of writes
    /// waited until they were accepted, and `throttled` the number of pages that waited because of `cache.throttle-interval`.
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
