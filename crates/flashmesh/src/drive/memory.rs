//! How much memory a run takes, before it is taken.

use crate::config::{Config, PreconditionKind, StreamConfig, WarmUp, Workload, WorkloadKind};
use crate::error::RunError;
use crate::flash::geometry::Geometry;
use crate::ftl::computed_map_bytes;
use crate::policies::ftl_rules;

/// What the program itself takes beside the state of a drive: code, libraries, queues and buffers.
const BASE_BYTES: u64 = 96 << 20;
/// Where a page is, and which page a page holds.
const BYTES_PER_MAPPED_PAGE: u64 = 4;
/// What is known of an erase block, but for its pages.
const BYTES_PER_BLOCK: u64 = 17;
/// An entry of the mapping cache with its place in the order of use, and that of a logical page in it.
const BYTES_PER_MAP_ENTRY: u64 = 16;
const BYTES_PER_MAP_SLOT: u64 = 4;
/// A page of the device cache, with its place in the order of use and in the table.
const BYTES_PER_CACHED_PAGE: u64 = 64;
/// What the system gives at once to a table that is touched: a page of the processor.
const TOUCHED_BYTES: u64 = 4096;
/// Tables that a page that is written touches beside the map: which page a page holds, and which pages are valid.
const TABLES_WRITTEN: u64 = 2;
/// Requests of a warm-up without a device cache, about.
const REQUESTS_OF_WARM_UP: u64 = 20_000;
/// How often a warm-up writes the device cache over, about.
const CACHES_OF_WARM_UP: f64 = 3.0;
/// The least share of writes with which a warm-up is estimated.
const WRITES_MIN: f64 = 0.05;
/// What the oracles remember of each page that is touched.
const CHECKED_PAGE_BYTES: u64 = 256;

/// The memory of a run, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// Address space: the tables of the drive at their full size, and all else.
    pub reserved: u64,
    /// What is in use at most, as far as that is known before the run: tables take room when they are touched, by preconditioning
    /// or by requests.
    pub used: u64,
    /// Of it, what preconditioning touches.
    pub preconditioned: u64,
}

impl Config {
    /// How much memory a run under this configuration takes; with `checks` its oracles as well.
    ///
    /// # Errors
    /// When the configuration has no geometry that can be built.
    pub fn memory(&self, checks: bool) -> Result<MemoryEstimate, RunError> {
        let geometry = Geometry::of(self)?;
        let (pages, logical) = (u64::from(geometry.pages()), u64::from(geometry.logical_pages));
        let blocks = u64::from(geometry.blocks());
        let words = u64::from(geometry.pages_per_block).div_ceil(64) * 8;
        let of_blocks = blocks * (words + BYTES_PER_BLOCK);
        let tables = (pages + logical) * BYTES_PER_MAPPED_PAGE + of_blocks;
        let computed = computed_map_bytes(&geometry, self, ftl_rules(self));
        let filled = match (self.precondition.kind, computed) {
            (PreconditionKind::None, _) => 0,
            (_, Some(bytes)) => of_blocks + bytes,
            (_, None) => (tables as f64 * self.precondition.fill) as u64,
        };
        let touch = self.touched_pages(&geometry).saturating_mul(TOUCHED_BYTES);
        let forward = logical * BYTES_PER_MAPPED_PAGE;
        let written =
            if self.expected_writes().any { touch.saturating_mul(TABLES_WRITTEN).min(tables - forward) } else { 0 };
        let touched = touch.min(forward) + written;
        let caches = self.caches(&geometry, logical);
        let checked = if checks { logical.min(self.touched_pages(&geometry)) * CHECKED_PAGE_BYTES } else { 0 };
        let beside = BASE_BYTES + caches + checked;
        let states = computed.unwrap_or(0);
        let used = match computed {
            None => filled.max(touched),
            // The tables hold what is written later, and collection needs the inverse of the states.
            Some(_) if self.expected_writes().any => (filled + touched).min(tables + states) + states,
            Some(_) => (filled + touched).min(tables + states),
        };
        let reserved = tables + 2 * states + beside;
        Ok(MemoryEstimate { reserved, used: used + beside, preconditioned: filled })
    }

    /// Pages that all requests together read or write, as far as that is known before the run.
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
            // A trace may touch all of the drive, or next to nothing.
            requests.map_or(0, |requests| requests.saturating_mul(size.unwrap_or(SIZE_TYPICAL).div_ceil(page)))
        };
        self.streams().iter().map(pages).fold(0, u64::saturating_add)
    }

    /// Returns the requests of a warm-up that ends at a balance, about: it writes the device cache over several times.
    fn requests_of_warm_up(&self, page: u64, workload: &Workload) -> u64 {
        if self.warm_up() != WarmUp::Steady {
            return 0;
        }
        let pages = CACHES_OF_WARM_UP * (self.cache.capacity.as_u64() / page) as f64;
        REQUESTS_OF_WARM_UP + (pages / (1.0 - workload.read_share).max(WRITES_MIN)) as u64
    }

    /// The mapping cache, what a journal is held against, and the device cache.
    fn caches(&self, geometry: &Geometry, logical: u64) -> u64 {
        let map = self.mapping.cache_capacity.map_or(0, |capacity| {
            let entries = capacity.as_u64() / self.mapping.entry_size.as_u64().max(1);
            entries.min(logical) * BYTES_PER_MAP_ENTRY + logical * BYTES_PER_MAP_SLOT
        });
        // The map as its pages on flash have it.
        let image = if self.persistence.has_journal() { logical * BYTES_PER_MAPPED_PAGE } else { 0 };
        let device = self.cache.capacity.as_u64() / geometry.page_size.as_u64().max(1) * BYTES_PER_CACHED_PAGE;
        map + image + device
    }
}

/// Requests of a workload that says no number.
const REQUESTS_DEFAULT: u64 = 100_000;
/// The size of a request that is not known.
const SIZE_TYPICAL: u64 = 64 << 10;
