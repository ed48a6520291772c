//! Speed of reading and scanning traces, by format, uncompressed and compressed.
//!
//! Traces are generated in memory (`FLASHMESH_BENCH_LINES` lines, by default 5 million). Each row is the median of five timings with a hash: of all
//! requests in rows `read`, of the footprint in rows `scan`. Speeds can only be compared between runs with the same hash. `benches/limits` shows that
//! memory does not grow with the length of a trace.
#![allow(missing_docs)]

mod traces;

use std::io::{Cursor, Write};
use std::sync::Arc;
use std::time::Instant;

use flashmesh_workload::config::{TraceFormat, Workload};
use flashmesh_workload::readers::scan_stream;
use traces::{CAPACITY, Lines, read_all, stream};

const REPETITIONS: usize = 5;
const LINES: u64 = 5_000_000;

const FORMATS: [(TraceFormat, &str); 9] = [
    (TraceFormat::Ascii, "ascii"),
    (TraceFormat::Msr, "msr"),
    (TraceFormat::Spc, "spc"),
    (TraceFormat::Systor, "systor"),
    (TraceFormat::Blkparse, "blkparse"),
    (TraceFormat::Vscsi2, "vscsi2"),
    (TraceFormat::Diskmon, "diskmon"),
    (TraceFormat::Alibaba, "alibaba"),
    (TraceFormat::Tencent, "tencent"),
];

fn main() {
    let lines = std::env::var("FLASHMESH_BENCH_LINES").ok().and_then(|text| text.parse().ok()).unwrap_or(LINES);
    // `FLASHMESH_BENCH_FORMATS` selects formats, separated by commas; by default all are measured.
    let chosen = std::env::var("FLASHMESH_BENCH_FORMATS").ok();
    let is_chosen = |name: &str| chosen.as_deref().is_none_or(|chosen| chosen.split(',').any(|part| part == name));
    for (format, name) in FORMATS.into_iter().filter(|(_, name)| is_chosen(name)) {
        let plain: Arc<[u8]> = Lines::to_bytes(format, lines).into();
        print_row(&format!("read {name}"), lines, || read_all(stream(format, Cursor::new(plain.clone()))).1);
        print_row(&format!("scan {name}"), lines, || {
            let workload = Workload { format, ..Workload::default() };
            let summary = scan_stream(stream(format, Cursor::new(plain.clone())), workload.tolerate);
            summary.expect("the trace is valid").footprint_bytes
        });
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).expect("a write to memory succeeds");
        let gzip: Arc<[u8]> = gzip.finish().expect("a write to memory succeeds").into();
        print_row(&format!("read {name}.gz"), lines, || read_all(stream(format, Cursor::new(gzip.clone()))).1);
        let zstd: Arc<[u8]> = zstd::encode_all(&*plain, 1).expect("a write to memory succeeds").into();
        print_row(&format!("read {name}.zst"), lines, || read_all(stream(format, Cursor::new(zstd.clone()))).1);
    }
    println!("all on a drive of {CAPACITY}");
}

/// Times `run` [`REPETITIONS`] times. Prints `name`, the median speed in million lines per second, and the result that all runs return, as
/// a hash.
fn print_row(name: &str, lines: u64, mut run: impl FnMut() -> u64) {
    let mut runs: Vec<(f64, u64)> = (0..REPETITIONS)
        .map(|_| {
            let start = Instant::now();
            let result = run();
            (start.elapsed().as_secs_f64(), result)
        })
        .collect();
    assert!(runs.iter().all(|(_, result)| *result == runs[0].1), "every run reads the same");
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (seconds, hash) = runs[REPETITIONS / 2];
    println!("{name:<16} {:>8.2} million lines/s  {hash:016x}", lines as f64 / seconds / 1e6);
}
