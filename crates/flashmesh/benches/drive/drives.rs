//! Drives: presets over every interconnect, and one with everything on.

use std::time::Instant;

use flashmesh::config::{Config, FabricKind, Pattern, PreconditionKind, Sizes};
use flashmesh::flash::geometry::Geometry;
use flashmesh::ftl::Ftl;
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Rate};

use crate::{Outcome, hash};

/// The `z-nand` preset with 64 outstanding 4 KiB requests.
fn drive(requests: u64) -> Config {
    let mut config = Config { seed: 1, ..Config::default() };
    config.workload.requests = Some(requests);
    config
}

/// Runs the drive.
fn report(config: &Config) -> Report {
    let mut simulation = Simulation::new(config).expect("the drive can be built");
    simulation.run(&Control::default()).expect("the run ends")
}

/// The hash of what was simulated.
pub fn hash_of(report: &Report) -> String {
    let mut json = report.to_json();
    let fields = json.as_object_mut().expect("a report is an object");
    for varies in ["wall_s", "requests_per_wall_s", "peak_rss_bytes", "version", "config_hash"] {
        fields.remove(varies);
    }
    hash(&json.to_string())
}

/// Runs the drive; gives requests per wall second in millions, and the hash of the report.
pub fn run(config: &Config) -> Outcome {
    rate_of(&report(config))
}

/// Millions of requests per wall second, and the hash.
pub fn rate_of(report: &Report) -> Outcome {
    (report.requests_per_wall_s / 1e6, hash_of(report))
}

/// 4 KiB random reads over an interconnect.
pub fn reads(kind: FabricKind, requests: u64) -> Outcome {
    let mut config = drive(requests);
    config.fabric.kind = kind;
    run(&config)
}

/// Reads of 262 144 pages with nine tenths of their entries in the cache of the map.
pub fn map_misses() -> Outcome {
    let mut config = drive(10_000_000);
    config.workload.footprint = Some(Bytes::from_kib(4) * (1 << 18));
    config.mapping.cache_capacity = Some(config.mapping.entry_size * ((1 << 18) * 9 / 10));
    run(&config)
}

/// Reads with a device cache, a tenth of them without their entry of the map at hand, from four NVMe queues.
pub fn everything() -> Outcome {
    run(&Config::from_str(include_str!("everything.toml"), "everything.toml", &[]).expect("a sound configuration"))
}

pub fn random_writes() -> Outcome {
    let mut config = drive(4_000_000);
    config.geometry.over_provisioning = 0.145;
    config.workload.read_share = 0.0;
    config.precondition.kind = PreconditionKind::Random;
    run(&config)
}

pub fn sequential_reads() -> Outcome {
    let mut config = drive(1_500_000);
    config.workload.pattern = Pattern::Sequential;
    config.workload.request_size = Sizes(vec![(Bytes::from_kib(64), 1.0)]);
    run(&config)
}

pub fn first_request() -> String {
    run(&drive(1)).1
}

pub fn first_request_seconds() -> Outcome {
    seconds(first_request)
}

pub fn precondition() -> String {
    let mut config = drive(1);
    config.precondition.kind = PreconditionKind::Random;
    let geometry = Geometry::new(&config.geometry).expect("the geometry is possible");
    let mut ftl = Ftl::new(&geometry, &config);
    let report = ftl.precondition(&config.precondition, config.seed);
    hash(&format!("{report:?}"))
}

pub fn precondition_seconds() -> Outcome {
    seconds(precondition)
}

fn seconds(run: fn() -> String) -> Outcome {
    let started = Instant::now();
    let hash = run();
    (started.elapsed().as_secs_f64(), hash)
}

/// Reads of a small part of the drive, so that neither run pays for tables the other does not touch.
fn small_footprint(requests: u64) -> Config {
    let mut config = drive(requests);
    config.workload.footprint = Some(Bytes::from_kib(4 << 20));
    config
}

pub fn growth_with_requests() -> Outcome {
    let (short, _) = run(&small_footprint(5_000_000));
    let (long, hash) = run(&small_footprint(20_000_000));
    (short / long, hash)
}

pub fn growth_with_capacity() -> Outcome {
    let (small, _) = run(&small_footprint(5_000_000));
    let mut config = small_footprint(5_000_000);
    config.geometry.blocks_per_plane *= 4;
    let (large, hash) = run(&config);
    (small / large, hash)
}

/// Reads on `side` x `side` chips, with the same load for each controller: 8 requests outstanding and 1 GB/s of the host's link
/// for each row, as the preset has it for its 8 rows. Gives seconds a request, links a transfer, and the hash.
fn mesh(kind: FabricKind, side: u32, requests: u64) -> (f64, f64, String) {
    let mut config = small_footprint(requests);
    config.fabric.kind = kind;
    config.geometry.channels = side;
    config.geometry.chips_per_channel = side;
    config.replay.outstanding = 8 * side;
    config.host.link_rate = Rate::from_bytes_per_second(1_000_000_000 * u64::from(side));
    let report = report(&config);
    let hops = report.links.hops_mean.expect("there are transfers");
    (1.0 / report.requests_per_wall_s, hops, hash_of(&report))
}

/// How much more a request costs on 32x32 chips than on 8x8, over how much longer its paths are.
pub fn growth_with_mesh(kind: FabricKind, requests: u64) -> Outcome {
    let (small, small_hops, _) = mesh(kind, 8, requests);
    let (large, large_hops, hash) = mesh(kind, 32, requests);
    (large / small / (large_hops / small_hops), hash)
}
