//! Traces read ahead by a thread. Runs have the same results, and end in the same way, as without the thread.

use std::io::Write;
use std::path::Path;

use flashmesh::config::{Config, ReplayMode, Workload, WorkloadKind};
use flashmesh::error::WorkloadError;
use flashmesh::measure::request_log::{RequestRecord, RequestSink};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;
use flashmesh::workload::readers::{Compression, TraceSource, TraceStream, scan};
use flashmesh::workload::source::WorkloadSource;
use flashmesh::workload::writers::CompressedWriter;

use crate::support::drives::{bare_drive, finish};

const REQUESTS: u64 = 20_000;
const CAPACITY: Bytes = Bytes::from_kib(20 << 20);
const SECTOR: Bytes = Bytes::new(512);

/// Writes a compressed trace of reads and writes 100 ns apart, without its last `cut` bytes. Returns its path.
fn written(folder: &Path, cut: usize) -> std::path::PathBuf {
    let lines = (0..REQUESTS).map(|i| format!("{} 0 {} 8 {}\n", i * 100, i * 7919 % 100_000 * 8, i % 3 / 2));
    let mut packed = CompressedWriter::new(Compression::Gzip, Vec::new()).expect("a write to memory succeeds");
    packed.write_all(lines.collect::<String>().as_bytes()).expect("a write to memory succeeds");
    let mut packed = packed.finish().expect("a write to memory succeeds");
    packed.truncate(packed.len() - cut);
    let path = folder.join(format!("cut-{cut}.gz"));
    std::fs::write(&path, packed).expect("the trace can be written");
    path
}

fn drive(trace: &Path, mode: ReplayMode) -> Config {
    let mut config = bare_drive();
    config.replay.mode = mode;
    config.replay.outstanding = 32;
    config.workload = Workload { kind: WorkloadKind::Trace, trace: Some(trace.to_owned()), ..Workload::default() };
    config
}

fn stream(config: &Config) -> TraceStream {
    TraceStream::open(&config.workload, CAPACITY, SECTOR).expect("the trace can be opened")
}

/// Source that reads the requests of a trace on demand.
struct Pulled(TraceStream);

impl WorkloadSource for Pulled {
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        self.0.next_request()
    }

    fn request_count(&self) -> Option<u64> {
        None
    }
}

fn simulation(config: &Config, is_ahead: bool) -> Simulation {
    let stream = stream(config);
    let source: Box<dyn WorkloadSource> =
        if is_ahead { Box::new(TraceSource::from_stream(stream)) } else { Box::new(Pulled(stream)) };
    Simulation::with_source(config, source).expect("the drive can be built")
}

#[test]
fn a_trace_that_is_read_ahead_gives_the_same_run_bit_for_bit() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let trace = written(folder.path(), 0);
    let cuts = [None, Some(Time::from_us(400))];
    for (mode, cut) in [ReplayMode::Open, ReplayMode::Stress].into_iter().flat_map(|mode| cuts.map(|cut| (mode, cut))) {
        let mut config = drive(&trace, mode);
        config.power.cut = cut;
        let run = |is_ahead| {
            let (_, records) = finish(simulation(&config, is_ahead));
            let completed = records.len() as u64;
            assert_eq!(completed < REQUESTS, cut.is_some(), "{completed} requests, a cut at {cut:?}");
            records
        };
        assert_eq!(run(true), run(false), "{mode:?}, a cut at {cut:?}");
    }
}

#[test]
fn an_error_in_the_middle_of_a_trace_ends_the_run_with_the_same_words() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let config = drive(&written(folder.path(), 20_000), ReplayMode::Stress);
    let failed = |is_ahead| {
        let mut simulation = simulation(&config, is_ahead);
        let error = simulation.run(&Control::default()).expect_err("the trace is cut short");
        error.to_string()
    };
    let error = failed(true);
    assert_eq!(error, failed(false));
    assert!(error.contains("truncated"), "{error}");
    let scanned = scan(&config.workload, CAPACITY, SECTOR).expect_err("the trace is cut short");
    assert_eq!(error, scanned.to_string());
}

/// Sink that cancels the run at the completion of the request with the given id.
struct Cancelling(std::sync::Arc<Control>, u64);

impl RequestSink for Cancelling {
    fn record(&mut self, record: &RequestRecord) -> Result<(), String> {
        if record.id == self.1 {
            self.0.cancel();
        }
        Ok(())
    }
}

#[test]
fn a_run_that_takes_only_a_part_of_a_trace_ends() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let trace = written(folder.path(), 0);
    for requests in [1, 1024, 1025, 9_000] {
        let mut config = drive(&trace, ReplayMode::Stress);
        config.workload.requests = Some(requests);
        let mut simulation = Simulation::new(&config).expect("the drive can be built");
        let report = simulation.run(&Control::default()).expect("the run succeeds");
        assert_eq!(report.requests, requests);
    }
    let mut simulation = simulation(&drive(&trace, ReplayMode::Stress), true);
    let control = std::sync::Arc::new(Control::default());
    simulation.set_request_sink(Box::new(Cancelling(control.clone(), 3_000)));
    let report = simulation.run(&control).expect("the run succeeds");
    assert!(report.interrupted && (3_000..REQUESTS).contains(&report.requests), "{} requests", report.requests);
}
