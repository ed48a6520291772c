//! Limits of traces: the speed of each format, and memory that does not grow with the length of a trace.

use std::io::Cursor;
use std::time::Instant;

use flashmesh::config::{Config, PreconditionKind, TraceFormat};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::workload::readers::TraceSource;

use crate::start::hash_of;
use crate::traces::{Lines, read_all, stream};
use crate::{Outcome, peak_bytes};

/// Measures the speed of reading a trace from memory, in million lines per second.
pub fn speed(format: TraceFormat) -> Outcome {
    const LINES: u64 = 5_000_000;
    let bytes = Lines::to_bytes(format, LINES);
    let started = Instant::now();
    let (count, hash) = read_all(stream(format, Cursor::new(bytes)));
    assert_eq!(count, LINES, "every line is a request");
    (LINES as f64 / started.elapsed().as_secs_f64() / 1e6, format!("{hash:016x}"))
}

/// Reads 100 million lines. Returns a hash of the requests.
pub fn a_long_trace() -> String {
    read_lines(TraceFormat::Ascii, 100_000_000)
}

fn read_lines(format: TraceFormat, lines: u64) -> String {
    let (count, hash) = read_all(stream(format, Lines::new(format, lines)));
    assert_eq!(count, lines, "every line is a request");
    format!("{hash:016x}")
}

/// Measures the memory for reading 8 million lines relative to that for one million.
pub fn growth(format: TraceFormat) -> Outcome {
    growth_over(1_000_000, |lines| read_lines(format, lines))
}

/// Measures the memory of a full drive that replays a trace of 400 thousand lines, relative to that for 50 thousand lines.
pub fn growth_of_a_replay() -> Outcome {
    // The drive is barely larger than the address range of the trace, so all of it is soon in use.
    let mut config = Config { seed: 1, ..Config::default() };
    config.geometry.blocks_per_plane = 64;
    config.precondition.kind = PreconditionKind::Random;
    growth_over(50_000, |lines| {
        let trace = stream(TraceFormat::Ascii, Lines::new(TraceFormat::Ascii, lines));
        let source = Box::new(TraceSource::from_stream(trace));
        let mut simulation = Simulation::with_source(&config, source).expect("the drive can be built");
        hash_of(&simulation.run(&Control::default()).expect("the run succeeds"))
    })
}

/// Measures the peak memory of a run of length 8 x `short` relative to one of length `short`.
fn growth_over(short: u64, run: impl Fn(u64) -> String) -> Outcome {
    run(short);
    let peak = peak_bytes();
    let hash = run(8 * short);
    (peak_bytes() / peak, hash)
}
