//! Limits of start, preconditioning and traces: `cargo bench -p flashmesh --bench limits [-- --only TEXT]`.
//!
//! Every run is a separate process, so that memory and start are measured separately. Each row is the median of several runs with their
//! range, and a hash of the simulated result: speeds can only be compared between runs with the same hash. `--only TEXT` runs only the rows
//! whose names contain the text. `make bench` measures the cost of a simulated request.
#![allow(missing_docs)]

mod reading;
mod start;
#[path = "../../../flashmesh-workload/benches/traces/mod.rs"]
mod traces;

use std::process::Command;

use flashmesh::config::TraceFormat;
use flashmesh::measure::peak_rss;
use sha2::{Digest, Sha256};

const RUNS: usize = 5;

/// Result of a run: the measured value, and a hash of the simulated result.
type Outcome = (f64, String);

/// Measurement with a limit.
struct Row {
    name: &'static str,
    unit: &'static str,
    limit: f64,
    /// Whether `limit` is a minimum (for rates) instead of a maximum.
    rate: bool,
    run: fn() -> Outcome,
}

impl Row {
    const fn at_least(limit: f64, unit: &'static str, name: &'static str, run: fn() -> Outcome) -> Row {
        Row { name, unit, limit, rate: true, run }
    }

    const fn at_most(limit: f64, unit: &'static str, name: &'static str, run: fn() -> Outcome) -> Row {
        Row { name, unit, limit, rate: false, run }
    }
}

const LINES: &str = "M lines/s";
const RATIO: &str = "ratio";

const ROWS: &[Row] = &[
    Row::at_most(0.1, "s", "start to first request", start::first_request_seconds),
    Row::at_most(60.0, "MB peak", "start to first request", || in_memory(1e6, start::first_request)),
    Row::at_most(60.0, "MB peak", "300 k reads all over 412 GB", || in_memory(1e6, start::reads_of_a_whole_drive)),
    Row::at_most(5.0, "s", "a full drive of 1 TB, 4 KiB pages", start::full_drive_of_a_terabyte_seconds),
    Row::at_most(1.2, "GB peak", "a full drive of 1 TB, 4 KiB pages", || {
        in_memory(1e9, start::full_drive_of_a_terabyte)
    }),
    Row::at_most(5.0, "s", "a full CM7-R of 3.84 TB", start::full_drive_seconds),
    Row::at_most(0.4, "GB peak", "a full CM7-R of 3.84 TB", || in_memory(1e9, start::full_drive)),
    Row::at_least(8.0, LINES, "reading a trace, ASCII family", || reading::speed(TraceFormat::Ascii)),
    Row::at_least(8.0, LINES, "reading a trace, MSR Cambridge", || reading::speed(TraceFormat::Msr)),
    Row::at_least(5.0, LINES, "reading a trace, SPC", || reading::speed(TraceFormat::Spc)),
    Row::at_least(5.0, LINES, "reading a trace, SYSTOR '17", || reading::speed(TraceFormat::Systor)),
    Row::at_least(5.0, LINES, "reading a trace, blkparse", || reading::speed(TraceFormat::Blkparse)),
    Row::at_least(5.0, LINES, "reading a trace, vscsi", || reading::speed(TraceFormat::Vscsi2)),
    Row::at_least(5.0, LINES, "reading a trace, DiskMon", || reading::speed(TraceFormat::Diskmon)),
    Row::at_least(5.0, LINES, "reading a trace, Alibaba", || reading::speed(TraceFormat::Alibaba)),
    Row::at_least(5.0, LINES, "reading a trace, Tencent", || reading::speed(TraceFormat::Tencent)),
    Row::at_most(60.0, "MB peak", "reading 100 M requests", || in_memory(1e6, reading::a_long_trace)),
    Row::at_most(1.1, RATIO, "memory of 8 M lines / 1 M, ASCII", || reading::growth(TraceFormat::Ascii)),
    Row::at_most(1.1, RATIO, "memory of 8 M lines / 1 M, MSR", || reading::growth(TraceFormat::Msr)),
    Row::at_most(1.1, RATIO, "memory of 8 M lines / 1 M, SPC", || reading::growth(TraceFormat::Spc)),
    Row::at_most(1.1, RATIO, "memory of 8 M lines / 1 M, SYSTOR", || reading::growth(TraceFormat::Systor)),
    Row::at_most(1.1, RATIO, "memory of 8 M lines / 1 M, blkparse", || reading::growth(TraceFormat::Blkparse)),
    Row::at_most(1.1, RATIO, "memory of 8 M lines / 1 M, vscsi", || reading::growth(TraceFormat::Vscsi2)),
    Row::at_most(1.1, RATIO, "memory of 8 M lines / 1 M, DiskMon", || reading::growth(TraceFormat::Diskmon)),
    Row::at_most(1.1, RATIO, "memory of 8 M lines / 1 M, Alibaba", || reading::growth(TraceFormat::Alibaba)),
    Row::at_most(1.1, RATIO, "memory of 8 M lines / 1 M, Tencent", || reading::growth(TraceFormat::Tencent)),
    Row::at_most(1.1, RATIO, "memory of replay, 400 k lines / 50 k", reading::growth_of_a_replay),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value_of = |option: &str| arguments.iter().position(|argument| argument == option).map(|at| &arguments[at + 1]);
    if let Some(row) = value_of("--row") {
        let (value, hash) = (ROWS[row.parse::<usize>().expect("the argument is a row number")].run)();
        println!("{value} {hash}");
        return;
    }
    let only = value_of("--only").map_or("", String::as_str);
    println!("{:<36} {:>10} {:>23}  {:<14} {:>7}  {:<5} result", "benchmark", "median", "range", "unit", "limit", "");
    let (mut measured, mut missed) = (0, 0);
    for (number, row) in ROWS.iter().enumerate().filter(|(_, row)| row.name.contains(only)) {
        let (name, unit, limit) = (row.name, row.unit, row.limit);
        let mut runs: Vec<Outcome> = (0..RUNS).map(|_| run_alone(number)).collect();
        assert!(runs.iter().all(|run| run.1 == runs[0].1), "{name}: runs of one seed differ");
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let median = runs[RUNS / 2].0;
        let met = if row.rate { median >= limit } else { median <= limit };
        measured += 1;
        missed += usize::from(!met);
        let range = format!("{:.3} .. {:.3}", runs[0].0, runs[RUNS - 1].0);
        let verdict = if met { "ok" } else { "MISS" };
        println!("{name:<36} {median:>10.3} {range:>23}  {unit:<14} {limit:>7}  {verdict:<5} {}", runs[0].1);
    }
    if missed > 0 {
        println!("{missed} of {measured} figures were missed on this machine");
    }
}

fn run_alone(row: usize) -> Outcome {
    let this = std::env::current_exe().expect("the benchmark knows its own path");
    let output = Command::new(this).args(["--row", &row.to_string()]).output().expect("the benchmark can run itself");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("the benchmark prints text");
    let (value, hash) = text.trim().split_once(' ').expect("the output is a value and a hash");
    (value.parse().expect("the value is a number"), hash.to_owned())
}

/// Returns the peak memory of the process, in bytes.
fn peak_bytes() -> f64 {
    peak_rss().expect("the system reports peak memory").as_u64() as f64
}

/// Measures the peak memory of the process after `run`, in units of `unit` bytes.
fn in_memory(unit: f64, run: fn() -> String) -> Outcome {
    let hash = run();
    (peak_bytes() / unit, hash)
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
