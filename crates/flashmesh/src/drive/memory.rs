//! Estimate of the memory of a run, before the run allocates it.

use crate::config::{Config, PreconditionKind, StreamConfig, WarmUp, Workload, WorkloadKind};
use crate::error::RunError;
use crate::flash::geometry::Geometry;
use crate::ftl::computed_map_bytes;
use crate::policies::ftl_rules;

/// Memory in bytes of a run without the tables and caches of the drive, and without oracles: code, libraries, queues and buffers.
const BASE_BYTES: u64 = 96 << 20;
/// Size in bytes of an entry of the map, or of the inverse map (physical to logical page).
const BYTES_PER_MAPPED_PAGE: u64 = 4;
/// Size in bytes of the record of an erase block, without its pages.
const BYTES_PER_BLOCK: u64 = 17;
/// Size in bytes of an entry of the mapping cache, with its LRU links.
const BYTES_PER_MAP_ENTRY: u64 = 16;
/// Size in bytes of the slot of a logical page in the index of the mapping cache.
const BYTES_PER_MAP_SLOT: u64 = 4;
/// Size in bytes of the record of a page of the device cache, with its LRU links and its entry in the index.
const BYTES_PER_CACHED_PAGE: u64 = 64;
/// Memory in bytes that the operating system allocates at the first access to a table entry: one page of virtual memory.
const OS_PAGE_BYTES: u64 = 4096;
/// Number of tables besides the mapping table that a page write accesses: the inverse map (physical to logical page), and the bitmap of valid pages.
const TABLES_WRITTEN: u64 = 2;
/// Approximate number of requests of a warm-up, for a drive without a device cache.
const REQUESTS_OF_WARM_UP: u64 = 20_000;
/// Approximate number of times that a warm-up overwrites the whole device cache.
const CACHES_OF_WARM_UP: f64 = 3.0;
/// Minimum share of writes that the estimate of a warm-up assumes, so that the estimate stays finite for workloads that only read.
const WRITES_MIN: f64 = 0.05;
/// Memory in bytes of the oracles for each page that the run accesses.
const CHECKED_PAGE_BYTES: u64 = 256;

/// Estimate of the memory of a run, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// Address space: all tables of the drive at their full size, and all other memory.
    pub reserved: u64,
    /// Peak memory in use, as far as it is known before the run. A table occupies memory only where preconditioning or requests access it.
    pub used: u64,
    /// Part of `used` that preconditioning accesses.
    pub preconditioned: u64,
}

impl Config {
    /// Returns the memory that a run with this configuration takes, in bytes, including its oracles if `checks`.
    ///
    /// # Errors
    /// If the geometry of the configuration cannot be built.
    pub fn memory_estimate(&self, checks: bool) -> Result<MemoryEstimate, RunError> {
        let geometry = Geometry::from_config(self)?;
        let (pages, logical) = (u64::from(geometry.pages()), u64::from(geometry.logical_pages));
        let blocks = u64::from(geometry.blocks());
        let words = u64::from(geometry.pages_per_block).div_ceil(64) * 8;
        let of_blocks = blocks * (words + BYTES_PER_BLOCK);
        let tables = (pages + logical) * BYTES_PER_MAPPED_PAGE + of_blocks;
        let computed = computed_map_bytes(&geometry, self, ftl_rules(self));
        let filled = match (self.precondition.kind, computed) {
            (PreconditionKind::None, _) => 0,
            (PreconditionKind::Aged, _) => of_blocks + ((tables - of_blocks) as f64 * self.precondition.fill) as u64,
            (_, Some(bytes)) => of_blocks + bytes,
            (_, None) => (tables as f64 * self.precondition.fill) as u64,
        };
        let touch = self.touched_pages(&geometry).saturating_mul(OS_PAGE_BYTES);
        let forward = logical * BYTES_PER_MAPPED_PAGE;
        let written = if self.expected_writes().may_write {
            touch.saturating_mul(TABLES_WRITTEN).min(tables - forward)
        } else {
            0
        };
        let touched = touch.min(forward) + written;
        let caches = self.caches(&geometry, logical);
        let checked = if checks { logical.min(self.touched_pages(&geometry)) * CHECKED_PAGE_BYTES } else { 0 };
        let beside = BASE_BYTES + caches + checked;
        let states = computed.unwrap_or(0);
        let used = match computed {
            None => filled.max(touched),
            // The initial map is computed on demand, not stored in the tables. Writes of the run fill the tables, and GC needs an inverse map as
            // large as the computed map.
            Some(_) if self.expected_writes().may_write => (filled + touched).min(tables + states) + states,
            Some(_) => (filled + touched).min(tables + states),
        };
        let reserved = tables + 2 * states + beside;
        Ok(MemoryEstimate { reserved, used: used + beside, preconditioned: filled })
    }

    /// Returns the number of pages that all requests together read or write, as far as it is known before the run. A page counts once per access.
    fn touched_pages(&self, geometry: &Geometry) -> u64 {
        let page = geometry.page_size.as_u64().max(1);
        let pages = |stream: &StreamConfig| {
            let workload = &stream.workload;
            let size = match workload.kind {
                WorkloadKind::Synthetic => workload.request_size.0.iter().map(|(size, _)| size.as_u64()).max(),
                WorkloadKind::Job => {
                    let given = [Some(&workload.request_size), workload.write_size.as_ref()];
                    let sizes = given.into_iter().flatten().flat_map(|sizes| &sizes.0);
                    sizes.map(|(size, _)| size.as_u64()).max()
                }
                _ => None,
            };
            let requests = match workload.kind {
                WorkloadKind::Synthetic | WorkloadKind::Profile => {
                    let asked = workload.requests.unwrap_or(REQUESTS_DEFAULT);
                    Some(asked.saturating_add(self.requests_of_warm_up(page, workload)))
                }
                WorkloadKind::Job => {
                    let size = workload.request_size.0.iter().map(|(size, _)| size.as_u64()).min().unwrap_or(page);
                    let passes =
                        workload.pass_size.map(|pass| pass.as_u64().saturating_mul(workload.passes) / size.max(1));
                    workload.requests.or(passes).or(Some(REQUESTS_DEFAULT))
                }
                WorkloadKind::Trace | WorkloadKind::Fitted => workload.requests,
            };
            // A trace or a fitted profile without `workload.requests` counts as 0, because it may access the whole drive or almost nothing.
            requests.map_or(0, |requests| requests.saturating_mul(size.unwrap_or(SIZE_TYPICAL).div_ceil(page)))
        };
        self.streams().iter().map(pages).fold(0, u64::saturating_add)
    }

    /// Returns the approximate number of requests of a warm-up until steady state, which overwrites the device cache several times. Returns
    /// 0 for other warm-ups.
    fn requests_of_warm_up(&self, page: u64, workload: &Workload) -> u64 {
        if self.warm_up() != WarmUp::Steady {
            return 0;
        }
        let pages = CACHES_OF_WARM_UP * (self.cache.capacity.as_u64() / page) as f64;
        REQUESTS_OF_WARM_UP + (pages / (1.0 - workload.read_share).max(WRITES_MIN)) as u64
    }

    /// Returns the memory of the mapping cache, the device cache, and the journal's copy of the map, in bytes.
    fn caches(&self, geometry: &Geometry, logical: u64) -> u64 {
        let map = self.mapping.cache_capacity.map_or(0, |capacity| {
            let entries = capacity.as_u64() / self.mapping.entry_size.as_u64().max(1);
            entries.min(logical) * BYTES_PER_MAP_ENTRY + logical * BYTES_PER_MAP_SLOT
        });
        // Copy of the map in the state that the translation pages on flash have.
        let image = if self.persistence.has_journal() { logical * BYTES_PER_MAPPED_PAGE } else { 0 };
        let device = self.cache.capacity.as_u64() / geometry.page_size.as_u64().max(1) * BYTES_PER_CACHED_PAGE;
        map + image + device
    }
}

/// Number of requests of a workload without `workload.requests`.
const REQUESTS_DEFAULT: u64 = 100_000;
/// Assumed request size, in bytes, of a workload that does not configure one.
const SIZE_TYPICAL: u64 = 64 << 10;
