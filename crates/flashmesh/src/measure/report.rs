//! The result of a run: what it reports, in the order of the keys of its JSON.

use super::bound::Bound;
use super::breakdown::BreakdownSummary;
use super::cache::{CacheReport, PowerCutReport};
use super::confidence::{ConfidenceReport, PrecisionReport};
use super::conflicts::CausesReport;
use super::host::HostReport;
use super::interval::IntervalReport;
use super::latency::{LatencyDistribution, LatencySummary};
use super::lower_bound::LowerBound;
use super::network::NetworkReport;
use super::own::OwnQuantities;
use super::recording::TimelineReport;
use super::steadiness::SteadinessReport;
use super::timeline::{MeasuredReport, WarmUpReport};
use crate::collisions::{CollisionsReport, ReplicationReport};
use crate::fabric::layout::LinkKind;
use crate::fabric::{Layout, LinkUsage, venice};
use crate::ftl::mapping_cache::Counters;
use crate::power::area::AreaReport;
use crate::power::energy::PowerReport;
use crate::quantities;
use crate::results::work::PersistenceReport;
pub use crate::results::work::{FlashReport, GcReport, SlcReport};
use crate::units::Time;
use crate::workload::WorkloadSummary;

quantities! {
    /// The whole run, warm-up included. Of a run whose power was cut everything but `power_cut` is about the time up to the cut.
    Report {
        /// Requests that completed during the run.
        requests: u64, in "requests";
        /// Simulated time from the start of the run to its last completion, or to the last program of a final flush of the
        /// device cache; to the cut of the power, or to the interruption, of a run that ended so.
        makespan_ps: u64, in "ps";
        /// Completed requests per simulated second of the makespan.
        iops: f64, in "1/s";
        /// Bytes that successful requests read and wrote, per simulated second of the makespan.
        bandwidth_bytes_per_s: f64, in "B/s";
        /// Completion latencies of all requests of the run.
        latency_ps: LatencyReport;
        /// Distribution of the completion latencies of the run.
        distribution: DistributionReport;
        /// Where the latencies of the requests of the run went.
        breakdown_ps: BreakdownReport;
        /// Pages programmed during the run, pages moved by garbage collection and translation pages included, over pages that
        /// requests wrote, each page counted as often as it was written, in whole or in part. Below 1 where the device cache
        /// takes a page several times before it goes to flash.
        write_amplification: Option<f64>, in "ratio", null "when requests wrote no page";
        /// Work of garbage collection and wear levelling during the run.
        gc: GcReport;
        /// Operations of the flash array during the run.
        flash: FlashReport;
        /// Flash operations for each request.
        per_request: Option<PerRequestReport>, null "when no request completed";
        /// How the chips spent their time.
        chip_states: Option<ChipStatesReport>, null "with `measure.chip-states = false`";
        /// Lookups and transfers of the cache of the map during the run.
        mapping_cache: Option<MappingCacheReport>, null "when the whole map is in DRAM";
        /// Transfers and requests that found their path free at the first try, during the run.
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
        /// Busy shares of the parts of the drive, of the simulated time from the start to the last event.
        utilisation: Utilisation;
        /// Traffic of each link of the fabric during the run.
        links: LinksReport;
        /// Bottleneck of the measured window; of the run where there is none, and with the warm-up `auto`.
        bound: Bound;
        /// The least time that the work of the run takes.
        lower_bound: LowerBound;
        /// Energy and power of the drive during the run.
        power: PowerReport;
        /// Parts of the interconnect, and their area.
        area: AreaReport;
        /// The results of each stream, in the order of the configuration; one, named `host`, where no streams are configured.
        streams: Vec<StreamReport>;
        /// How the warm-up ended ([steady-state.md](steady-state.md)).
        warm_up: Option<WarmUpReport>, null "with `measure.warm-up = \"none\"`";
        /// The measured window, from the end of the warm-up to the end of the run.
        measured: Option<MeasuredReport>, null "without a warm-up, or when nothing completed behind it";
        /// Confidence intervals of the figures of the measured window, or of the whole run where there is none.
        confidence: ConfidenceReport;
        /// Precision wanted and reached of the figure that `measure.precision-of` names.
        precision: Option<PrecisionReport>, null "without `measure.precision`";
        /// Whether these figures are those of the steady state.
        steadiness: SteadinessReport;
        /// The run in intervals of `measure.epoch`, or of that times a power of two. Their counts add up to those of the run, and
        /// the last one ends with the run. Empty where `measure.epoch` is unset.
        epochs: Vec<IntervalReport>;
        /// Transfers over the interconnect in a window of the run.
        network: Option<NetworkReport>, null "unless `measure.network` is set";
        /// Extent of the timeline of the run.
        timeline: Option<TimelineReport>, null "without `--timeline`";
        /// Summary of the workload.
        workload: Option<WorkloadSummary>, null "when there are several streams";
        /// Wall time of the run, without reading the configuration and preconditioning.
        wall_s: f64, in "s";
        /// Completed requests per second of wall time.
        requests_per_wall_s: f64, in "1/s";
        /// Peak memory of the process until the end of the run; runs of one process share it.
        peak_rss_bytes: Option<u64>, in "B", null "where the system does not tell";
        /// Hash of the configuration, equal for configurations that decide the same run.
        config_hash: String;
        /// Seed from which all random choices of the run derive.
        seed: u64;
        /// Version of flashmesh.
        version: &'static str;
        /// Whether the run was stopped before its end.
        interrupted: bool;
        /// Quantities that probes of the user have added.
        own: OwnQuantities => flatten;
    }
}

quantities! {
    /// Flash operations for each completed request (Design for Scalability, PACT 2014, Table 3).
    PerRequestReport as "PerRequest" {
        /// Array reads per request; one over several planes counts once, and one of a copyback too.
        reads: f64, in "operations";
        /// Array programs per request, counted alike.
        programs: f64, in "operations";
        /// Data and metadata that crossed the pins of the chips per request, in either direction.
        transferred_bytes: f64, in "B";
        /// Pages read to complete writes of a part of them, over pages that requests wrote.
        partial_update_share: Option<f64>, in "share", null "when requests wrote no page";
    }
}

quantities! {
    /// Shares of time of the chips, which add up to 1 (Design for Scalability, PACT 2014, Figure 5).
    ChipStatesReport as "ChipStates" {
        /// Commands or data move to or from the chip, over whatever path they have, and no array of it works.
        exclusive_transfer: f64, in "share";
        /// Something moves while an array works.
        overlapped: f64, in "share";
        /// Arrays work, and nothing moves.
        exclusive_execution: f64, in "share";
        /// Neither. Dies that only wait, for a path or with an operation suspended, count as idle.
        idle: f64, in "share";
    }
}

quantities! {
    /// The results of one stream, over the whole run.
    StreamReport as "StreamResult" {
        /// Name of the stream.
        name: String;
        /// Requests of the stream that completed during the run.
        requests: u64, in "requests";
        /// Bytes that successful requests of the stream read.
        read_bytes: u64, in "B";
        /// Bytes that successful requests of the stream wrote.
        written_bytes: u64, in "B";
        /// Simulated time from the start of the run to that of the stream, which `replay.phase` and `replay.start-delay` put off.
        start_ps: u64, in "ps";
        /// Simulated time from the start of the run to the last completion of the stream.
        makespan_ps: u64, in "ps";
        /// Completed requests per simulated second, from the start of the stream to its last completion.
        iops: f64, in "1/s";
        /// Bytes that successful requests read and wrote, per simulated second from the start of the stream to its last completion.
        bandwidth_bytes_per_s: f64, in "B/s";
        /// Completion latencies of the requests of the stream.
        latency_ps: LatencyReport;
        /// Where the latencies of the requests of the stream went.
        breakdown_ps: BreakdownReport;
        /// Summary of the workload of the stream.
        workload: Option<WorkloadSummary>, null "when it was not made from the configuration";
    }
}

quantities! {
    /// Completion latencies by kind of request, from the arrival of a request to its completion.
    LatencyReport as "LatencyByKind" {
        /// All requests.
        all: Option<LatencySummary>, null "when none completed";
        /// Reads. Requests that end with an error count under `all` only, as deallocations and zeroes do.
        read: Option<LatencySummary>, null "when none completed";
        /// Writes.
        write: Option<LatencySummary>, null "when none completed";
        /// Flushes.
        flush: Option<LatencySummary>, null "when none completed";
    }
}

quantities! {
    /// Distributions of completion latencies by kind of request.
    DistributionReport as "DistributionByKind" {
        /// All requests.
        all: Option<LatencyDistribution>, null "when none completed";
        /// Reads.
        read: Option<LatencyDistribution>, null "when none completed";
        /// Writes.
        write: Option<LatencyDistribution>, null "when none completed";
    }
}

quantities! {
    /// Where the latency of requests went.
    BreakdownReport as "BreakdownByPart" {
        /// Mean over all requests.
        mean: Option<BreakdownSummary>, null "when none completed";
        /// Mean over the slowest requests: from the 99th percentile on, rounded down to 1/16 of a power of two, so that it may
        /// cover more than 1 % of them.
        tail: Option<BreakdownSummary>, null "when none completed";
        /// Reads.
        read: BreakdownParts;
        /// Writes.
        write: BreakdownParts;
    }
}

quantities! {
    /// Where the latency of the requests of one kind went.
    BreakdownParts as "BreakdownOfKind" {
        /// Mean over all requests of the kind.
        mean: Option<BreakdownSummary>, null "when none completed";
        /// Mean over the slowest requests of the kind, from their 99th percentile on, rounded down to 1/16 of a power of two.
        tail: Option<BreakdownSummary>, null "when none completed";
    }
}

quantities! {
    /// Lookups and transfers of the cache of the map.
    MappingCacheReport as "MappingCache" {
        /// Entries that the cache can hold.
        entries: u64, in "entries";
        /// Entries found, over entries wanted during the run.
        hit_share: Option<f64>, in "share", null "when none was wanted";
        /// Counts.
        counters: Counters => flatten;
    }
}

quantities! {
    /// Transfers and requests that found their path free at the first try (Venice, ISCA 2023, section 6.3).
    PathConflictReport as "PathConflict" {
        /// Share of completed requests none of whose transfers had to wait for a path.
        requests_free_share: Option<f64>, in "share", null "when no request completed";
        /// Share of completed requests none of whose transfers had to wait for a path that was used for another request: the measure
        /// of Venice, ISCA 2023, section 3.1. Waits behind pages of the same request do not count.
        requests_free_of_others_share: Option<f64>, in "share", null "when no request completed";
        /// Share of transfers whose path was free at the first try.
        transfers_free_share: Option<f64>, in "share", null "without transfers";
        /// Transfers, of requests and of garbage collection.
        transfers: u64, in "transfers";
        /// Time that transfers waited for a path, summed.
        wait_ps: u64, in "ps";
        /// Conflicts by cause.
        causes: CausesReport;
    }
}

quantities! {
    /// Traffic of the links of the fabric, an entry for each link.
    LinksReport as "Links" {
        /// Name of each link: channels by row, those of columns behind them; private channels by chip; links of a mesh by the
        /// routers at their ends, (row, column).
        names: Vec<String>;
        /// Kind of each link, by the parts that it connects.
        kinds: Vec<LinkKind>;
        /// Time that each link had bytes on the move.
        busy_ps: Vec<u64>, in "ps";
        /// Data and metadata that each link carried towards the chips.
        bytes_to_chips: Vec<u64>, in "B";
        /// Data and metadata that each link carried from the chips to controllers.
        bytes_from_chips: Vec<u64>, in "B";
        /// Data and metadata that each link carried from chip to chip.
        bytes_between_chips: Vec<u64>, in "B";
        /// Links crossed, summed over the transfers.
        hops: u64, in "links";
        /// Mean number of links that a transfer crossed.
        hops_mean: Option<f64>, in "links", null "without transfers";
    }
}

impl LinksReport {
    /// Returns the traffic of the links of `layout` until `end`, with `hops` over all `transfers`.
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

quantities! {
    /// Busy shares of the parts of the drive.
    Utilisation as "Utilisation" {
        /// Link, host to drive; of a link that carries one direction at a time, in either.
        link_to_drive: f64, in "share";
        /// Link, drive to host.
        link_to_host: f64, in "share";
        /// Adapter in the host, in the busier of its two directions.
        adapter: Option<f64>, in "share", null "but for `sata`";
        /// Cores of the controller, in the mean.
        firmware: Option<f64>, in "share", null "where nothing takes them time (`[firmware]`)";
        /// Each link of the fabric, in the order of `links.names`, with bytes on the move.
        links: Vec<f64>, in "share";
        /// Each flash controller, with a transfer or setting up its path.
        controllers: Vec<f64>, in "share";
        /// Each die, in the order of channel, way, die, busy with anything.
        dies: Vec<f64>, in "share";
        /// Mean of `links`.
        links_mean: f64, in "share";
        /// Mean of `controllers`.
        controllers_mean: f64, in "share";
        /// Mean of `dies`.
        dies_mean: f64, in "share";
        /// Mean share of the time of the dies that went to garbage collection and wear levelling.
        dies_gc_mean: f64, in "share";
    }
}

impl Report {
    /// Joins the report up to the power cut with what is known only at the end: how the power was cut, and the recovery.
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

    /// The report as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("a report has string keys and finite numbers")
    }
}
