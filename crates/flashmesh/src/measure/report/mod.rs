//! The result of a run, in the order of the keys of its JSON.

pub mod cache;
pub mod document;
pub mod fairness;
pub mod host;
pub mod network;
pub mod recording;
pub mod user_quantities;

use super::bottleneck::bound::Bound;
use super::bottleneck::lower_bound::LowerBound;
use super::bottleneck::path_conflicts::CausesReport;
use super::confidence::{ConfidenceReport, PrecisionReport, StreamConfidence};
use super::epochs::interval::IntervalReport;
use super::epochs::timeline::{MeasuredReport, WarmUpReport};
use super::latencies::breakdown::BreakdownSummary;
use super::latencies::latency::{LatencyDistribution, LatencySummary};
use super::steady_state::steadiness::SteadinessReport;
use crate::collisions::{CollisionsReport, ReplicationReport};
use crate::fabric::layout::LinkKind;
use crate::fabric::{Layout, LinkUsage, venice};
use crate::ftl::mapping_cache::Counters;
use crate::power::area::AreaReport;
use crate::power::energy::PowerReport;
use crate::quantities;
use crate::results::counters::PersistenceReport;
pub use crate::results::counters::{FlashReport, GcReport, SlcReport};
use crate::units::Time;
use crate::workload::WorkloadSummary;
use cache::{CacheReport, PowerCutReport};
use host::HostReport;
use network::NetworkReport;
use recording::TimelineReport;
use user_quantities::UserQuantities;

quantities! {
    /// Results of the whole run, warm-up included. If the power was cut, all of them but `power_cut` cover the time up to the cut.
    Report {
        /// Number of requests that completed during the run.
        requests: u64, in "requests";
        /// Simulated time from the start of the run to its last completion, or to the last program of a final flush of the device cache. If the run
        /// was cut off or interrupted, the time up to that.
        makespan_ps: u64, in "ps";
        /// Completed requests per simulated second of the makespan.
        iops: f64, in "1/s";
        /// Bytes that successful requests read or wrote, per simulated second of the makespan.
        bandwidth_bytes_per_s: f64, in "B/s";
        /// Completion latencies of all requests of the run.
        latency_ps: LatencyReport;
        /// Distribution of the completion latencies of the run.
        distribution: DistributionReport;
        /// Breakdown of the latencies of the requests of the run.
        breakdown_ps: BreakdownReport;
        /// Pages programmed during the run, including moved pages and translation pages, over pages that requests wrote. Each page counts as often as
        /// it was written, in whole or in part. Below 1 if the device cache accepts a page several times before it is destaged.
        write_amplification: Option<f64>, in "ratio", null "when requests wrote no page";
        /// Work of GC and wear levelling during the run.
        gc: GcReport;
        /// Operations of the flash array during the run.
        flash: FlashReport;
        /// Flash operations per request.
        per_request: Option<PerRequestReport>, null "when no request completed";
        /// Shares of time that the chips spent in each state.
        chip_states: Option<ChipStatesReport>, null "with `measure.chip-states = false`";
        /// Lookups and transfers of the mapping cache during the run.
        mapping_cache: Option<MappingCacheReport>, null "when the whole map is in DRAM";
        /// Transfers and requests whose path was free at the first attempt, during the run.
        path_conflict: PathConflictReport;
        /// Read collisions during the run.
        collisions: Option<CollisionsReport>, null "with `measure.collisions = false`";
        /// Replication of pages on other dies during the run.
        replication: Option<ReplicationReport>, null "with `replication.enabled = false`";
        /// Work of the scouts of Venice during the run.
        scouts: Option<venice::Counters>, null "on other fabrics";
        /// Traffic between host and drive during the run.
        host: HostReport;
        /// Work of the device cache during the run.
        cache: Option<CacheReport>, null "when it is turned off";
        /// Work of the SLC cache during the run.
        slc: Option<SlcReport>, null "with `slc.blocks-per-plane = 0`";
        /// Work to keep the map on flash during the run.
        persistence: Option<PersistenceReport>, null "with `persistence.policy = \"ideal\"`";
        /// Effects of the power cut (`power.cut`).
        power_cut: Option<PowerCutReport>, null "when none came before the run ended";
        /// Busy shares of the parts of the drive, from the start of the run to the last event.
        utilisation: Utilisation;
        /// Traffic of each link of the interconnect during the run.
        links: LinksReport;
        /// Bottleneck of the measured window. Without such a window, and with the warm-up `auto`, bottleneck of the whole run.
        bound: Bound;
        /// Minimum time that the work of the run takes.
        lower_bound: LowerBound;
        /// Energy and power of the drive during the run.
        power: PowerReport;
        /// Parts of the interconnect, and their area.
        area: AreaReport;
        /// Confidence intervals of the figures of the measured window, or of the whole run without such a window.
        confidence: ConfidenceReport;
        /// Results of each stream, in the order of the configuration. Without configured streams, of one stream named `host`.
        streams: Vec<StreamReport>;
        /// End of the warm-up ([steady-state.md](steady-state.md)).
        warm_up: Option<WarmUpReport>, null "with `measure.warm-up = \"none\"`";
        /// The measured window, from the end of the warm-up to the end of the run.
        measured: Option<MeasuredReport>, null "without a warm-up, or when nothing completed behind it";
        /// Requested and reached precision of the figure that `measure.precision-of` selects.
        precision: Option<PrecisionReport>, null "without `measure.precision`";
        /// Whether the figures of the measured window are those of the steady state.
        steadiness: SteadinessReport;
        /// Intervals of the run, of length `measure.epoch` times a power of two. Their counts add up to those of the run, and the last interval ends
        /// with the run. Empty without `measure.epoch`.
        epochs: Vec<IntervalReport>;
        /// Transfers over the interconnect in a window of the run.
        network: Option<NetworkReport>, null "unless `measure.network` is set";
        /// Extent of the timeline of the run.
        timeline: Option<TimelineReport>, null "without `--timeline`";
        /// Summary of the workload.
        workload: Option<WorkloadSummary>, null "when there are several streams";
        /// Wall time of the run, without loading of the configuration and preconditioning.
        wall_s: f64, in "s";
        /// Completed requests per second of wall time.
        requests_per_wall_s: f64, in "1/s";
        /// Peak memory of the process up to the end of the run. Runs in one process share this value.
        peak_rss_bytes: Option<u64>, in "B", null "where the system does not tell";
        /// Hash of the configuration. Equal for configurations that determine the same run.
        config_hash: String;
        /// Seed from which all random numbers of the run derive.
        seed: u64;
        /// Version of flashmesh.
        version: &'static str;
        /// Whether the run was stopped before its end.
        interrupted: bool;
        /// Quantities that custom probes add.
        own: UserQuantities => flatten;
    }
}

quantities! {
    /// Flash operations per completed request (Design for Scalability, PACT 2014, Table 3).
    PerRequestReport as "PerRequest" {
        /// Array reads per request. A read of several planes counts once; a copyback counts as a read, too.
        reads: f64, in "operations";
        /// Array programs per request. A program of several planes counts once; a copyback counts as a program, too.
        programs: f64, in "operations";
        /// Data and metadata that crossed the pins of chips per request, in both directions.
        transferred_bytes: f64, in "B";
        /// Pages read to complete partial writes of pages, over pages that requests wrote.
        partial_update_share: Option<f64>, in "share", null "when requests wrote no page";
    }
}

quantities! {
    /// Shares of time that chips spend in each state. They add up to 1 (Design for Scalability, PACT 2014, Figure 5).
    ChipStatesReport as "ChipStates" {
        /// Commands or data move to or from the chip, over any path, and no array of the chip works.
        exclusive_transfer: f64, in "share";
        /// Commands or data move to or from the chip while an array of the chip works.
        overlapped: f64, in "share";
        /// Arrays of the chip work, and neither commands nor data move to or from the chip.
        exclusive_execution: f64, in "share";
        /// No array of the chip works, and neither commands nor data move. Dies that wait for a path, or have a suspended operation and do nothing, count as idle.
        idle: f64, in "share";
    }
}

quantities! {
    /// Results of one stream, over the whole run.
    StreamReport as "StreamResult" {
        /// Name of the stream.
        name: String;
        /// Number of requests of the stream that completed during the run.
        requests: u64, in "requests";
        /// Number of bytes that successful requests of the stream read.
        read_bytes: u64, in "B";
        /// Number of bytes that successful requests of the stream wrote.
        written_bytes: u64, in "B";
        /// Simulated time from the start of the run to the start of the stream, which `replay.phase` and `replay.start-delay` delay.
        start_ps: u64, in "ps";
        /// Simulated time from the start of the run to the last completion of the stream.
        makespan_ps: u64, in "ps";
        /// Completed requests per simulated second, from the start of the stream to its last completion.
        iops: f64, in "1/s";
        /// Bytes that successful requests read and wrote, per simulated second from the start of the stream to its last completion.
        bandwidth_bytes_per_s: f64, in "B/s";
        /// Completion latencies of the requests of the stream.
        latency_ps: LatencyReport;
        /// Breakdown of the latencies of the requests of the stream.
        breakdown_ps: BreakdownReport;
        /// Confidence intervals of the figures of the stream in the measured window, or in the whole run without such a window.
        confidence: Option<StreamConfidence>, null "with one stream, with more than 16, or when there are too few requests to tell";
        /// Summary of the workload of the stream.
        workload: Option<WorkloadSummary>, null "when it was not made from the configuration";
    }
}

quantities! {
    /// Completion latencies by kind of request, from arrival to completion.
    LatencyReport as "LatencyByKind" {
        /// Latencies of all requests.
        all: Option<LatencySummary>, null "when none completed";
        /// Latencies of reads. Requests that complete with an error count only under `all`, like deallocations and write zeroes.
        read: Option<LatencySummary>, null "when none completed";
        /// Latencies of writes.
        write: Option<LatencySummary>, null "when none completed";
        /// Latencies of flushes.
        flush: Option<LatencySummary>, null "when none completed";
    }
}

quantities! {
    /// Distributions of completion latencies by kind of request.
    DistributionReport as "DistributionByKind" {
        /// Distribution of the latencies of all requests.
        all: Option<LatencyDistribution>, null "when none completed";
        /// Distribution of the latencies of reads.
        read: Option<LatencyDistribution>, null "when none completed";
        /// Distribution of the latencies of writes.
        write: Option<LatencyDistribution>, null "when none completed";
    }
}

quantities! {
    /// Breakdown of the latencies of requests.
    BreakdownReport as "BreakdownByPart" {
        /// Mean latency of all requests, by part.
        mean: Option<BreakdownSummary>, null "when none completed";
        /// Mean latency of the slowest requests, by part: from the 99th percentile on. The percentile is rounded down to 1/16 of a power of two,
        /// so that the mean may cover more than 1 % of the requests.
        tail: Option<BreakdownSummary>, null "when none completed";
        /// Breakdown of the latencies of reads.
        read: BreakdownParts;
        /// Breakdown of the latencies of writes.
        write: BreakdownParts;
    }
}

quantities! {
    /// Breakdown of the latencies of requests of one kind.
    BreakdownParts as "BreakdownOfKind" {
        /// Mean latency of all requests of the kind, by part.
        mean: Option<BreakdownSummary>, null "when none completed";
        /// Mean latency of the slowest requests of the kind, by part: from their 99th percentile on, rounded down to 1/16 of a power of two.
        tail: Option<BreakdownSummary>, null "when none completed";
    }
}

quantities! {
    /// Lookups and transfers of the mapping cache.
    MappingCacheReport as "MappingCache" {
        /// Number of entries that the cache can hold.
        entries: u64, in "entries";
        /// Map entries found in the cache, over entries requested during the run.
        hit_share: Option<f64>, in "share", null "when none was wanted";
        /// Counts of the mapping cache.
        counters: Counters => flatten;
    }
}

quantities! {
    /// Transfers and requests whose path was free at the first attempt (Venice, ISCA 2023, section 6.3).
    PathConflictReport as "PathConflict" {
        /// Share of completed requests of which no transfer had to wait for a path.
        requests_free_share: Option<f64>, in "share", null "when no request completed";
        /// Share of completed requests of which no transfer had to wait for a path that another request used: the measure of Venice, ISCA 2023,
        /// section 3.1. Waits behind pages of the same request do not count.
        requests_free_of_others_share: Option<f64>, in "share", null "when no request completed";
        /// Share of transfers whose path was free at the first attempt.
        transfers_free_share: Option<f64>, in "share", null "without transfers";
        /// Number of transfers, for requests and for GC.
        transfers: u64, in "transfers";
        /// Sum of the times that transfers waited for a path.
        wait_ps: u64, in "ps";
        /// Path conflicts by cause.
        causes: CausesReport;
    }
}

quantities! {
    /// Traffic of the links of the interconnect, with one entry for each link.
    LinksReport as "Links" {
        /// Name of each link. Channels are numbered by row, followed by the columns'; private channels by chip; links of a mesh have the routers at
        /// their ends, as (row, column).
        names: Vec<String>;
        /// Kind of each link, by the parts that it connects.
        kinds: Vec<LinkKind>;
        /// Time for which bytes moved over each link.
        busy_ps: Vec<u64>, in "ps";
        /// Data and metadata that each link carried towards the chips.
        bytes_to_chips: Vec<u64>, in "B";
        /// Data and metadata that each link carried from the chips to controllers.
        bytes_from_chips: Vec<u64>, in "B";
        /// Data and metadata that each link carried from chip to chip.
        bytes_between_chips: Vec<u64>, in "B";
        /// Number of links crossed, over all transfers.
        hops: u64, in "links";
        /// Mean number of links that a transfer crossed.
        hops_mean: Option<f64>, in "links", null "without transfers";
    }
}

impl LinksReport {
    /// Returns the traffic of the links of `layout` from the start of the run to `end`, with an entry of `usage` for each link. All `transfers`
    /// together crossed `hops` links.
    pub fn new(layout: &Layout, usage: &[LinkUsage], hops: u64, transfers: u64, end: Time) -> LinksReport {
        LinksReport {
            names: layout.links.iter().map(|link| link.name.clone()).collect(),
            kinds: layout.links.iter().map(|link| link.kind).collect(),
            busy_ps: usage.iter().map(|link| link.busy_until(end).as_ps()).collect(),
            bytes_to_chips: usage.iter().map(|link| link.bytes_in.as_u64()).collect(),
            bytes_from_chips: usage.iter().map(|link| link.bytes_out.as_u64()).collect(),
            bytes_between_chips: usage.iter().map(|link| link.bytes_across.as_u64()).collect(),
            hops,
            hops_mean: (transfers > 0).then(|| hops as f64 / transfers as f64),
        }
    }
}

quantities! {
    /// Busy shares of the parts of the drive.
    Utilisation as "Utilisation" {
        /// Share of time for which the host link sends to the drive. If the link carries one direction at a time, share of time for which it sends
        /// in either direction.
        link_to_drive: f64, in "share";
        /// Share of time for which the host link sends to the host.
        link_to_host: f64, in "share";
        /// Share of time for which the SATA adapter in the host is busy, in its busier direction.
        adapter: Option<f64>, in "share", null "but for `sata`";
        /// Share of time for which a core of the controller is busy; mean over the cores.
        firmware: Option<f64>, in "share", null "where nothing takes them time (`[firmware]`)";
        /// Share of time for which bytes moved over each link, in the order of `links.names`.
        links: Vec<f64>, in "share";
        /// Share of time for which each flash controller has a transfer, or sets up its path.
        controllers: Vec<f64>, in "share";
        /// Share of time for which each die is busy in any way, in the order of channel, way, die. With `multi-plane = "independent"`, a plane that
        /// reads counts by its share of the planes.
        dies: Vec<f64>, in "share";
        /// Mean of `links` over all links.
        links_mean: f64, in "share";
        /// Mean of `controllers` over all flash controllers.
        controllers_mean: f64, in "share";
        /// Mean of `dies` over all dies.
        dies_mean: f64, in "share";
        /// Mean share of time that dies spend on GC and wear levelling.
        dies_gc_mean: f64, in "share";
    }
}

impl Report {
    /// Returns this report, which ends at the power cut, with the fields of `whole` that are known only at the end of the run, such as the effects of
    /// the cut.
    pub(crate) fn with_end(self, whole: Report) -> Report {
        Report {
            power_cut: whole.power_cut,
            wall_s: whole.wall_s,
            requests_per_wall_s: whole.requests_per_wall_s,
            peak_rss_bytes: whole.peak_rss_bytes,
            interrupted: whole.interrupted,
            own: whole.own,
            ..self
        }
    }

    /// Returns the report as JSON, with the keys in the order of the fields.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("a report has string keys and finite numbers")
    }
}
