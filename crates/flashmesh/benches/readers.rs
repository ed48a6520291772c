//! How fast traces are read, and that memory stays flat however long they are.
//!
//! `cargo bench -p flashmesh --bench readers` writes synthetic traces of the ASCII family and of MSR Cambridge to a temporary
//! directory (5 million lines, about 180 and 270 MB; ten times that for the memory rows), reads each five times and prints
//! the median. `FLASHMESH_BENCH_LINES` sets another number of lines. The hash covers every request handed out, so that a
//! faster reader with another hash is a different reader.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use flashmesh::config::{TraceFormat, Workload};
use flashmesh::units::Bytes;
use flashmesh::workload::readers::{TraceSource, scan};
use flashmesh::workload::source::WorkloadSource;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One line of a benchmark's table.
struct Row {
    name: String,
    value: f64,
    unit: &'static str,
    /// What was computed; rows that measure memory have none.
    hash: Option<u64>,
}

const CAPACITY: Bytes = Bytes::from_kib(400 << 20);
const SECTOR: Bytes = Bytes::new(512);
const REPETITIONS: usize = 5;
const LINES: u64 = 5_000_000;

fn main() {
    let lines = std::env::var("FLASHMESH_BENCH_LINES").ok().and_then(|text| text.parse().ok()).unwrap_or(LINES);
    let directory = tempfile::tempdir().expect("a temporary directory");
    for row in rows(directory.path(), lines) {
        let hash = row.hash.map_or(String::new(), |hash| format!("  {hash:016x}"));
        println!("{:<42} {:>10.2} {:<18}{hash}", row.name, row.value, row.unit);
    }
}

/// Every row of this benchmark; the traces are written to `directory`.
fn rows(directory: &Path, lines: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    let formats: [(TraceFormat, &str, LineWriter); 2] =
        [(TraceFormat::Ascii, "ascii", write_ascii_line), (TraceFormat::Msr, "msr", write_msr_line)];
    for (format, name, write_line) in formats {
        let path = directory.join(name);
        write_trace(&path, lines, write_line).expect("a writable temporary directory");
        let workload = Workload { trace: Some(path.clone()), format, ..Workload::default() };
        let (seconds, hash) = median_of(|| hash_of_requests(&workload));
        let million_lines_per_second = |seconds: f64| lines as f64 / seconds / 1e6;
        rows.push(Row {
            name: format!("read {name}"),
            value: million_lines_per_second(seconds),
            unit: "million lines/s",
            hash: Some(hash),
        });
        let (seconds, hash) = median_of(|| scan(&workload, CAPACITY, SECTOR).expect("a sound trace").footprint_bytes);
        rows.push(Row {
            name: format!("scan {name}"),
            value: million_lines_per_second(seconds),
            unit: "million lines/s",
            hash: Some(hash),
        });
        rows.push(peak_memory(format!("peak memory, {name}, {lines} lines")));
        write_trace(&path, lines * 10, write_line).expect("a writable temporary directory");
        scan(&workload, CAPACITY, SECTOR).expect("a sound trace");
        hash_of_requests(&workload);
        rows.push(peak_memory(format!("peak memory, {name}, {} lines", lines * 10)));
        std::fs::remove_file(&path).expect("the file just written");
    }
    rows
}

type LineWriter = fn(&mut dyn Write, u64, [u64; 2]) -> std::io::Result<()>;

/// Writes a trace of `lines` lines: 4 KiB to 64 KiB at random places of 16 GiB, sorted by time.
fn write_trace(path: &PathBuf, lines: u64, write_line: LineWriter) -> std::io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for line in 0..lines {
        write_line(&mut file, line, [random.next_u64(), random.next_u64()])?;
    }
    file.flush()
}

fn write_ascii_line(file: &mut dyn Write, line: u64, random: [u64; 2]) -> std::io::Result<()> {
    let (time_ns, sector, sectors) = (938_513_000 + line * 10_007, random[0] % (4 << 20) * 8, (1 + random[1] % 16) * 8);
    writeln!(file, "{time_ns} {} {sector} {sectors} {}", random[1] >> 60, random[1] >> 59 & 1)
}

fn write_msr_line(file: &mut dyn Write, line: u64, random: [u64; 2]) -> std::io::Result<()> {
    let (ticks, offset, size) =
        (128_166_372_003_061_629 + line * 107, random[0] % (4 << 20) * 4096, (1 + random[1] % 16) * 4096);
    let kind = if random[1] >> 59 & 1 == 0 { "Read" } else { "Write" };
    writeln!(file, "{ticks},hm,{},{kind},{offset},{size},{}", random[1] >> 60, random[0] >> 50)
}

/// Seconds and result of the median run.
fn median_of(mut run: impl FnMut() -> u64) -> (f64, u64) {
    let mut runs: Vec<(f64, u64)> = (0..REPETITIONS)
        .map(|_| {
            let start = Instant::now();
            let result = run();
            (start.elapsed().as_secs_f64(), result)
        })
        .collect();
    assert!(runs.iter().all(|(_, result)| *result == runs[0].1), "every run reads the same");
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    runs[REPETITIONS / 2]
}

/// FNV-1a over the words of every request.
fn hash_of_requests(workload: &Workload) -> u64 {
    let mut source = TraceSource::open(workload, CAPACITY, SECTOR).expect("a sound trace");
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    while let Some(request) = source.next_request(0).expect("a sound trace") {
        let words = [
            request.arrival.as_ps(),
            request.offset.as_u64(),
            request.size.as_u64(),
            u64::from(request.stream) << 8 | request.kind as u64,
        ];
        for word in words {
            hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}

/// The most memory this process has held so far.
fn peak_memory(name: String) -> Row {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib: Option<f64> =
        (status.lines()).find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse().ok());
    Row { name, value: kib.map_or(f64::NAN, |kib| kib / 1024.0), unit: "MiB", hash: None }
}
