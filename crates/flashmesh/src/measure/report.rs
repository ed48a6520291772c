//! The result of a run, with the names it has as JSON.

use serde::Serialize;

use super::bound::Bound;
use super::breakdown::BreakdownSummary;
use super::cache::{CacheReport, PowerCutReport};
use super::conflicts::CausesReport;
use super::host::HostReport;
use super::latency::LatencySummary;
use super::lower_bound::LowerBound;
use super::stretch::StretchReport;
use super::timeline::{MeasuredReport, WarmUpReport};
use crate::fabric::layout::LinkKind;
use crate::fabric::{Layout, LinkUsage, venice};
use crate::ftl::mapping_cache::Counters;
use crate::power::area::AreaReport;
use crate::power::energy::PowerReport;
use crate::units::Time;
use crate::workload::WorkloadSummary;

/// The result of a run. Times are picoseconds of simulated time unless the name says otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Requests completed.
    pub requests: u64,
    /// From the start to the last completion.
    pub makespan_ps: u64,
    /// Requests completed per simulated second.
    pub iops: f64,
    /// Bytes read and written per simulated second.
    pub bandwidth_bytes_per_s: f64,
    /// Completion latencies.
    pub latency_ps: LatencyReport,
    /// Where the time went.
    pub breakdown_ps: BreakdownReport,
    /// Pages programmed, translation pages among them, over pages the host wrote; null when it wrote none. Below 1 where the
    /// device cache takes a page several times before it goes to flash.
    pub write_amplification: Option<f64>,
    /// What garbage collection did.
    pub gc: GcReport,
    /// What the flash array did.
    pub flash: FlashReport,
    /// What the cache of the map did; null when the whole map is in DRAM.
    pub mapping_cache: Option<MappingCacheReport>,
    /// How often a path was free on the first try.
    pub path_conflict: PathConflictReport,
    /// What the scouts of Venice did; null on other fabrics.
    pub scouts: Option<venice::Counters>,
    /// What crossed between host and drive.
    pub host: HostReport,
    /// What the device cache did; null when it is turned off.
    pub cache: Option<CacheReport>,
    /// What a cut of the power did; null when none came.
    pub power_cut: Option<PowerCutReport>,
    /// How busy everything was.
    pub utilisation: Utilisation,
    /// What each link of the fabric carried.
    pub links: LinksReport,
    /// What bounds the run.
    pub bound: Bound,
    /// How fast it could have been at best.
    pub lower_bound: LowerBound,
    /// What the drive drew.
    pub power: PowerReport,
    /// What the interconnect is made of, and the room it takes.
    pub area: AreaReport,
    /// The same of each stream, in the order in which they are configured.
    pub streams: Vec<StreamReport>,
    /// How the warm-up ended; null when there was to be none.
    pub warm_up: Option<WarmUpReport>,
    /// What came behind the warm-up; null when there was to be none, or nothing came behind it.
    pub measured: Option<MeasuredReport>,
    /// The run in stretches of equal length; none unless asked for.
    pub epochs: Vec<StretchReport>,
    /// What the workload is; null when it was not named by the configuration, or there are several.
    pub workload: Option<WorkloadSummary>,
    /// Wall-clock seconds of the run, without reading the configuration and preconditioning.
    pub wall_s: f64,
    /// Requests per wall-clock second.
    pub requests_per_wall_s: f64,
    /// Peak memory of the process; null where the system does not tell.
    pub peak_rss_bytes: Option<u64>,
    /// A hash of the configuration as resolved.
    pub config_hash: String,
    /// The seed.
    pub seed: u64,
    /// The version of flashmesh.
    pub version: &'static str,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
}

/// What became of one stream.
#[derive(Clone, Debug, Serialize)]
pub struct StreamReport {
    /// Its name.
    pub name: String,
    /// Requests completed.
    pub requests: u64,
    /// From the start to its last completion.
    pub makespan_ps: u64,
    /// Requests completed per simulated second, up to its last completion.
    pub iops: f64,
    /// Bytes read and written per simulated second, up to its last completion.
    pub bandwidth_bytes_per_s: f64,
    /// Completion latencies.
    pub latency_ps: LatencyReport,
    /// Where the time went.
    pub breakdown_ps: BreakdownReport,
    /// What the workload is; null when it was not named by the configuration.
    pub workload: Option<WorkloadSummary>,
}

/// Latencies by kind; null where there was no such request.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyReport {
    /// All requests.
    pub all: Option<LatencySummary>,
    /// Reads.
    pub read: Option<LatencySummary>,
    /// Writes.
    pub write: Option<LatencySummary>,
    /// Flushes.
    pub flush: Option<LatencySummary>,
}

/// Where the time of requests went; null when none completed.
#[derive(Clone, Debug, Serialize)]
pub struct BreakdownReport {
    /// The mean of all requests.
    pub mean: Option<BreakdownSummary>,
    /// The mean of the slowest requests: from the 99th percentile on, rounded down to 1/16 of a power of two, so that it may
    /// take in more than one in a hundred; `count` says how many.
    pub tail: Option<BreakdownSummary>,
}

/// What garbage collection and wear levelling did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GcReport {
    /// Victim blocks taken, those of wear levelling included.
    pub collections: u64,
    /// Of these, taken by static wear levelling.
    pub wear_moves: u64,
    /// Of all, blocks of translation pages.
    pub translation_collections: u64,
    /// Valid pages moved.
    pub pages_moved: u64,
    /// Of these, sent from chip to chip without a controller.
    pub pages_copied: u64,
    /// Blocks erased.
    pub erases: u64,
}

impl GcReport {
    /// What `combine` makes of each count here and in `other`.
    pub fn zip(&self, other: &GcReport, combine: fn(u64, u64) -> u64) -> GcReport {
        GcReport {
            collections: combine(self.collections, other.collections),
            wear_moves: combine(self.wear_moves, other.wear_moves),
            translation_collections: combine(self.translation_collections, other.translation_collections),
            pages_moved: combine(self.pages_moved, other.pages_moved),
            pages_copied: combine(self.pages_copied, other.pages_copied),
            erases: combine(self.erases, other.erases),
        }
    }
}

/// Operations of the flash array, in pages (erases in blocks).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlashReport {
    /// Pages that requests wrote, wherever they went first.
    pub pages_written: u64,
    /// Pages read for requests.
    pub user_reads: u64,
    /// Pages programmed for requests, and by the device cache for those that wrote them.
    pub user_programs: u64,
    /// Pages read to complete partial writes.
    pub partial_write_reads: u64,
    /// Translation pages read, for entries of the map and to be written back.
    pub map_reads: u64,
    /// Translation pages programmed to write changed entries back.
    pub map_programs: u64,
    /// Operations that more than one plane joined.
    pub multi_plane_operations: u64,
    /// Programs and erases set aside for reads.
    pub suspensions: u64,
}

impl FlashReport {
    /// What `combine` makes of each count here and in `other`.
    pub fn zip(&self, other: &FlashReport, combine: fn(u64, u64) -> u64) -> FlashReport {
        FlashReport {
            pages_written: combine(self.pages_written, other.pages_written),
            user_reads: combine(self.user_reads, other.user_reads),
            user_programs: combine(self.user_programs, other.user_programs),
            partial_write_reads: combine(self.partial_write_reads, other.partial_write_reads),
            map_reads: combine(self.map_reads, other.map_reads),
            map_programs: combine(self.map_programs, other.map_programs),
            multi_plane_operations: combine(self.multi_plane_operations, other.multi_plane_operations),
            suspensions: combine(self.suspensions, other.suspensions),
        }
    }

    /// Pages programmed, translation pages and those that `gc` moved among them, over pages the host wrote; nothing when
    /// it wrote none.
    pub fn write_amplification(&self, gc: &GcReport) -> Option<f64> {
        let programmed = self.user_programs + self.map_programs + gc.pages_moved;
        (self.pages_written > 0).then(|| programmed as f64 / self.pages_written as f64)
    }
}

/// What the cache of the map did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MappingCacheReport {
    /// Entries it can hold.
    pub entries: u64,
    /// Share of the entries wanted that it had; null when none was wanted.
    pub hit_share: Option<f64>,
    /// Counts.
    #[serde(flatten)]
    pub counters: Counters,
}

/// How often a path was free on the first try (paper 000, section 6.3).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathConflictReport {
    /// Share of requests none of whose transfers had to wait for a path; null when none completed.
    pub requests_free_share: Option<f64>,
    /// Share of transfers that started at once; null when there was none.
    pub transfers_free_share: Option<f64>,
    /// Transfers, of requests and of garbage collection.
    pub transfers: u64,
    /// Time that transfers waited for a path, summed.
    pub wait_ps: u64,
    /// The same by what was in the way.
    pub causes: CausesReport,
}

/// What each link of the fabric carried, one entry a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinksReport {
    /// Its name.
    pub names: Vec<String>,
    /// What it connects.
    pub kinds: Vec<LinkKind>,
    /// Time with bytes on the move.
    pub busy_ps: Vec<u64>,
    /// Data and metadata towards the chips.
    pub bytes_to_chips: Vec<u64>,
    /// Data and metadata from the chips to controllers.
    pub bytes_from_chips: Vec<u64>,
    /// Data and metadata from chip to chip.
    pub bytes_between_chips: Vec<u64>,
    /// Links crossed, summed over the transfers.
    pub hops: u64,
    /// Links that a transfer crossed, on average; null when there was none.
    pub hops_mean: Option<f64>,
}

impl LinksReport {
    /// What the links of `layout` carried until `end`, with `hops` over all `transfers`.
    pub fn new(layout: &Layout, usage: &[LinkUsage], hops: u64, transfers: u64, end: Time) -> LinksReport {
        LinksReport {
            names: layout.links.iter().map(|link| link.name.clone()).collect(),
            kinds: layout.links.iter().map(|link| link.kind).collect(),
            busy_ps: usage.iter().map(|link| link.busy_by(end).as_ps()).collect(),
            bytes_to_chips: usage.iter().map(|link| link.bytes_in.as_u64()).collect(),
            bytes_from_chips: usage.iter().map(|link| link.bytes_out.as_u64()).collect(),
            bytes_between_chips: usage.iter().map(|link| link.bytes_across.as_u64()).collect(),
            hops,
            hops_mean: (transfers > 0).then(|| hops as f64 / transfers as f64),
        }
    }
}

/// Shares of the makespan, 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Utilisation {
    /// The link from host to drive.
    pub link_to_drive: f64,
    /// The link from drive to host.
    pub link_to_host: f64,
    /// The adapter in the host, where the drive has one (SATA): the busier of its two ways.
    pub adapter: Option<f64>,
    /// Each link of the fabric: bytes on the move.
    pub links: Vec<f64>,
    /// Each flash controller: with a transfer, or setting up its path.
    pub controllers: Vec<f64>,
    /// Each die, in the order of channel, way, die: busy with anything.
    pub dies: Vec<f64>,
    /// Mean of `links`.
    pub links_mean: f64,
    /// Mean of `controllers`.
    pub controllers_mean: f64,
    /// Mean of `dies`.
    pub dies_mean: f64,
    /// Mean share of the dies' time spent on garbage collection and wear levelling.
    pub dies_gc_mean: f64,
}

impl Report {
    /// The report as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("a report has string keys and finite numbers")
    }
}
