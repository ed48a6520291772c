//! The figures flashmesh promises: `make bench` (one core, all measurements on).
//!
//! Every run is a process of its own, so that its memory and its start are its own. Each row is the median of several runs
//! with the range beside it, and a hash of the simulated result: a faster run with another hash is a different simulator.
#![allow(missing_docs)]

mod traces;

use std::io::Cursor;
use std::process::Command;
use std::time::Instant;

use flashmesh::config::{Config, FabricKind, Pattern, PreconditionKind, Sizes, TraceFormat};
use flashmesh::flash::geometry::Geometry;
use flashmesh::ftl::Ftl;
use flashmesh::measure::peak_rss;
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Rate};
use sha2::{Digest, Sha256};

const RUNS: usize = 5;

/// One promise: what is run, what is measured, and the least (or most) it has to be.
struct Row {
    name: &'static str,
    unit: &'static str,
    floor: f64,
    /// Whether more is better.
    rate: bool,
    /// The value, and a hash of the simulated result.
    run: fn() -> (f64, String),
}

const ROWS: &[Row] = &[
    Row { name: "4 KiB random reads, bus", unit: "M requests/s", floor: 3.0, rate: true, run: random_reads },
    Row { name: "4 KiB random reads, ideal", unit: "M requests/s", floor: 2.5, rate: true, run: random_reads_ideal },
    Row { name: "4 KiB random reads, pSSD", unit: "M requests/s", floor: 2.5, rate: true, run: random_reads_pssd },
    Row { name: "4 KiB random reads, pnSSD", unit: "M requests/s", floor: 2.5, rate: true, run: random_reads_pnssd },
    Row { name: "4 KiB random reads, NoSSD", unit: "M requests/s", floor: 0.3, rate: true, run: random_reads_nossd },
    Row { name: "4 KiB random reads, Venice", unit: "M requests/s", floor: 0.5, rate: true, run: random_reads_venice },
    Row { name: "4 KiB random reads, 10 % map misses", unit: "M requests/s", floor: 1.0, rate: true, run: map_misses },
    Row { name: "steady-state random writes, bus", unit: "M writes/s", floor: 0.6, rate: true, run: random_writes },
    Row { name: "64 KiB sequential reads, bus", unit: "M requests/s", floor: 0.25, rate: true, run: sequential_reads },
    Row { name: "start to first request", unit: "s", floor: 0.1, rate: false, run: first_request_seconds },
    Row { name: "start to first request", unit: "MB peak", floor: 60.0, rate: false, run: first_request_memory },
    Row { name: "preconditioning 412 GB, random", unit: "s", floor: 20.0, rate: false, run: precondition_seconds },
    Row { name: "preconditioning 412 GB, random", unit: "GB peak", floor: 1.2, rate: false, run: precondition_memory },
    Row { name: "reading a trace, ASCII family", unit: "M lines/s", floor: 8.0, rate: true, run: read_ascii },
    Row { name: "reading a trace, MSR Cambridge", unit: "M lines/s", floor: 8.0, rate: true, run: read_msr },
    Row { name: "reading 100 M requests", unit: "MB peak", floor: 60.0, rate: false, run: read_memory },
    Row { name: "time of 20 M reads over 4 x 5 M", unit: "ratio", floor: 1.25, rate: false, run: growth_with_requests },
    Row { name: "time on 1.6 TB over 412 GB", unit: "ratio", floor: 1.25, rate: false, run: growth_with_capacity },
    Row {
        name: "cost a hop, 32x32 on 8x8, NoSSD",
        unit: "ratio",
        floor: 1.0,
        rate: false,
        run: growth_with_mesh_nossd,
    },
    Row {
        name: "cost a hop, 32x32 on 8x8, Venice",
        unit: "ratio",
        floor: 1.0,
        rate: false,
        run: growth_with_mesh_venice,
    },
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(row) = arguments.iter().position(|argument| argument == "--row") {
        let row = &ROWS[arguments[row + 1].parse::<usize>().expect("a row number")];
        let (value, hash) = (row.run)();
        println!("{value} {hash}");
        return;
    }
    println!("{:<34} {:>10} {:>23}  {:<14} {:>7}  {:<5} result", "benchmark", "median", "range", "unit", "floor", "");
    let mut missed = 0;
    for (number, row) in ROWS.iter().enumerate() {
        let mut runs: Vec<(f64, String)> = (0..RUNS).map(|_| run_alone(number)).collect();
        assert!(runs.iter().all(|run| run.1 == runs[0].1), "{}: runs of one seed differ", row.name);
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let median = runs[RUNS / 2].0;
        let met = if row.rate { median >= row.floor } else { median <= row.floor };
        missed += usize::from(!met);
        let range = format!("{:.3} .. {:.3}", runs[0].0, runs[RUNS - 1].0);
        let verdict = if met { "ok" } else { "MISS" };
        let (name, unit, floor, hash) = (row.name, row.unit, row.floor, &runs[0].1);
        println!("{name:<34} {median:>10.3} {range:>23}  {unit:<14} {floor:>7}  {verdict:<5} {hash}");
    }
    if missed > 0 {
        println!("{missed} of {} figures were missed on this machine", ROWS.len());
    }
}

fn run_alone(row: usize) -> (f64, String) {
    let this = std::env::current_exe().expect("the benchmark knows its own path");
    let output = Command::new(this).args(["--row", &row.to_string()]).output().expect("the benchmark runs itself");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("the benchmark prints text");
    let (value, hash) = text.trim().split_once(' ').expect("a value and a hash");
    (value.parse().expect("a number"), hash.to_owned())
}

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
fn hash_of(report: &Report) -> String {
    let mut json = report.to_json();
    let fields = json.as_object_mut().expect("a report is an object");
    for varies in ["wall_s", "requests_per_wall_s", "peak_rss_bytes", "version", "config_hash"] {
        fields.remove(varies);
    }
    hash(&json.to_string())
}

/// Runs the drive; gives requests per wall second in millions, and the hash of the report.
fn run(config: &Config) -> (f64, String) {
    let report = report(config);
    (report.requests_per_wall_s / 1e6, hash_of(&report))
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

fn random_reads() -> (f64, String) {
    run(&drive(20_000_000))
}

fn random_reads_over(kind: FabricKind, requests: u64) -> (f64, String) {
    let mut config = drive(requests);
    config.fabric.kind = kind;
    run(&config)
}

/// Reads of 262 144 pages with nine tenths of their entries in the cache of the map.
fn map_misses() -> (f64, String) {
    let mut config = drive(10_000_000);
    config.workload.footprint = Some(Bytes::from_kib(4) * (1 << 18));
    config.mapping.cache_capacity = Some(config.mapping.entry_size * ((1 << 18) * 9 / 10));
    run(&config)
}

fn random_reads_ideal() -> (f64, String) {
    random_reads_over(FabricKind::Ideal, 20_000_000)
}

fn random_reads_pssd() -> (f64, String) {
    random_reads_over(FabricKind::Pssd, 20_000_000)
}

fn random_reads_pnssd() -> (f64, String) {
    random_reads_over(FabricKind::Pnssd, 20_000_000)
}

fn random_reads_nossd() -> (f64, String) {
    random_reads_over(FabricKind::Nossd, 3_000_000)
}

fn random_reads_venice() -> (f64, String) {
    random_reads_over(FabricKind::Venice, 5_000_000)
}

fn random_writes() -> (f64, String) {
    let mut config = drive(4_000_000);
    config.geometry.over_provisioning = 0.145;
    config.workload.read_share = 0.0;
    config.precondition.kind = PreconditionKind::Random;
    run(&config)
}

fn sequential_reads() -> (f64, String) {
    let mut config = drive(1_500_000);
    config.workload.pattern = Pattern::Sequential;
    config.workload.request_size = Sizes(vec![(Bytes::from_kib(64), 1.0)]);
    run(&config)
}

fn first_request_seconds() -> (f64, String) {
    let started = Instant::now();
    let hash = run(&drive(1)).1;
    (started.elapsed().as_secs_f64(), hash)
}

fn first_request_memory() -> (f64, String) {
    let hash = run(&drive(1)).1;
    (peak_rss().expect("the system tells").as_u64() as f64 / 1e6, hash)
}

fn precondition() -> String {
    let mut config = drive(1);
    config.precondition.kind = PreconditionKind::Random;
    let geometry = Geometry::new(&config.geometry).expect("the geometry is possible");
    let mut ftl = Ftl::new(&geometry, &config);
    let report = ftl.precondition(&config.precondition, config.seed);
    hash(&format!("{report:?}"))
}

fn precondition_seconds() -> (f64, String) {
    let started = Instant::now();
    let hash = precondition();
    (started.elapsed().as_secs_f64(), hash)
}

fn precondition_memory() -> (f64, String) {
    let hash = precondition();
    (peak_rss().expect("the system tells").as_u64() as f64 / 1e9, hash)
}

fn read(format: TraceFormat) -> (f64, String) {
    const LINES: u64 = 5_000_000;
    let bytes = traces::Lines::to_bytes(format, LINES);
    let started = Instant::now();
    let (count, hash) = traces::read_all(traces::stream(format, Cursor::new(bytes)));
    assert_eq!(count, LINES, "every line is a request");
    (LINES as f64 / started.elapsed().as_secs_f64() / 1e6, format!("{hash:016x}"))
}

fn read_ascii() -> (f64, String) {
    read(TraceFormat::Ascii)
}

fn read_msr() -> (f64, String) {
    read(TraceFormat::Msr)
}

fn read_memory() -> (f64, String) {
    let format = TraceFormat::Ascii;
    let (_, hash) = traces::read_all(traces::stream(format, traces::Lines::new(format, 100_000_000)));
    (peak_rss().expect("the system tells").as_u64() as f64 / 1e6, format!("{hash:016x}"))
}

/// Reads of a small part of the drive, so that neither run pays for tables the other does not touch.
fn small_footprint(requests: u64) -> Config {
    let mut config = drive(requests);
    config.workload.footprint = Some(Bytes::from_kib(4 << 20));
    config
}

fn growth_with_requests() -> (f64, String) {
    let (short, _) = run(&small_footprint(5_000_000));
    let (long, hash) = run(&small_footprint(20_000_000));
    (short / long, hash)
}

fn growth_with_capacity() -> (f64, String) {
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
fn growth_with_mesh(kind: FabricKind, requests: u64) -> (f64, String) {
    let (small, small_hops, _) = mesh(kind, 8, requests);
    let (large, large_hops, hash) = mesh(kind, 32, requests);
    (large / small / (large_hops / small_hops), hash)
}

fn growth_with_mesh_nossd() -> (f64, String) {
    growth_with_mesh(FabricKind::Nossd, 1_000_000)
}

fn growth_with_mesh_venice() -> (f64, String) {
    growth_with_mesh(FabricKind::Venice, 50_000)
}
