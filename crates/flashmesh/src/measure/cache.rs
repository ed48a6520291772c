//! What the device cache did, with the names it has as JSON.

use serde::Serialize;

use crate::cache::{Cache, Counts, Lookups};
use crate::units::Time;

/// What the device cache did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CacheReport {
    /// What it can hold, in pages.
    pub capacity_pages: u64,
    /// Pages read.
    pub reads: Lookups,
    /// Pages written, by streams whose writes it takes.
    pub writes: Lookups,
    /// Pages that reads brought from flash and that it kept.
    pub fills: u64,
    /// Pages it wrote to flash.
    pub destages: u64,
    /// Pages it forgot to make room for others.
    pub evictions: u64,
    /// Pages of writes that waited for room, or behind others that did.
    pub waits: u64,
    /// How long those waited that went on, summed.
    pub wait_ps: u64,
    /// The most pages that were dirty at once.
    pub dirty_pages_max: u64,
    /// Pages that were dirty at the end.
    pub dirty_pages_end: u64,
    /// Busy share of the DRAM.
    pub dram_share: f64,
}

impl CacheReport {
    /// What `cache` did until `end`; its DRAM was `busy`, and writes `waited`.
    pub fn new(cache: &Cache, busy: Time, waited: Time, end: Time) -> CacheReport {
        let Counts { reads, writes, fills, destages, evictions, waits, dirty_max } = *cache.counts();
        CacheReport {
            capacity_pages: cache.capacity(),
            reads,
            writes,
            fills,
            destages,
            evictions,
            waits,
            wait_ps: waited.as_ps(),
            dirty_pages_max: dirty_max,
            dirty_pages_end: cache.dirty_pages(),
            dram_share: if end == Time::ZERO { 0.0 } else { (busy.as_secs_f64() / end.as_secs_f64()).min(1.0) },
        }
    }
}

/// What a cut of the power did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PowerCutReport {
    /// When it came.
    pub at_ps: u64,
    /// Whether capacitors kept the drive alive.
    pub capacitors: bool,
    /// Requests in flight, which never completed.
    pub requests_lost: u64,
    /// Pages in the cache that flash lacked sectors of.
    pub dirty_pages: u64,
    /// What it lacked of them.
    pub dirty_bytes: u64,
    /// Pages programmed from then on, with capacitors.
    pub pages_programmed: u64,
    /// How long that took.
    pub duration_ps: u64,
    /// What the drive drew for it: the events that ended after the cut.
    pub energy_j: f64,
    /// Pages that the host was told to be written and that were lost, in whole or in part, without capacitors.
    pub pages_lost: u64,
    /// What was lost of them.
    pub bytes_lost: u64,
    /// Pages that were being programmed for requests or the cache, and were lost with it.
    pub programs_lost: u64,
}
