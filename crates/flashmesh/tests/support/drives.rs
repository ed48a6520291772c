//! Small drives and workloads for the tests of whole drives, and runs with all oracles enabled.
#![allow(missing_docs)]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use flashmesh::config::{
    Allocation, ArrayLevel, Config, FabricKind, HoldPath, MultiPlane, PreconditionKind, ReplayMode, WarmUp,
};
use flashmesh::error::WorkloadError;
use flashmesh::measure::report::Report;
use flashmesh::measure::request_log::{RequestRecord, RequestSink};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Rate, Time};
use flashmesh::workload::source::WorkloadSource;
use flashmesh::workload::{IoRequest, RequestKind};

pub const PAGE: u64 = 4096;

pub struct Listed(pub VecDeque<IoRequest>);

impl WorkloadSource for Listed {
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        Ok(self.0.pop_front())
    }

    fn request_count(&self) -> Option<u64> {
        Some(self.0.len() as u64)
    }
}

/// Source of `left` one-page requests, computed on demand, so a long run takes no memory.
pub struct Repeated {
    pub left: u64,
    pub kind: RequestKind,
    /// Function from the number of requests left to the page of the next request.
    pub page: fn(u64) -> u64,
}

impl WorkloadSource for Repeated {
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        Ok(Some(request(self.kind, (self.page)(self.left), 1, Time::ZERO)))
    }

    fn request_count(&self) -> Option<u64> {
        Some(self.left)
    }
}

pub fn request(kind: RequestKind, page: u64, pages: u64, arrival: Time) -> IoRequest {
    IoRequest { arrival, kind, offset: Bytes::new(page * PAGE), size: Bytes::new(pages * PAGE), stream: 0 }
}

pub fn read(page: u64, pages: u64, arrival: Time) -> IoRequest {
    request(RequestKind::Read, page, pages, arrival)
}

pub fn write(page: u64, pages: u64, arrival: Time) -> IoRequest {
    request(RequestKind::Write, page, pages, arrival)
}

/// Returns the `venice-z-nand` preset without a host link and without multi-plane operations, as the closed forms assume. It has 1/16 of the blocks,
/// because the audit of the full map would take longer than most runs.
pub fn bare_drive() -> Config {
    let mut config = Config::default();
    config.geometry.blocks_per_plane = 64;
    config.host.link_rate = Rate::UNLIMITED;
    config.host.queue_depth = 65_535;
    config.flash.multi_plane = MultiPlane::Off;
    config.replay.mode = ReplayMode::Open;
    config
}

/// Returns a drive of 4 x 4 chips in steady state, with the given over-provisioning and 64 outstanding requests.
pub fn steady_drive(kind: FabricKind, over_provisioning: f64) -> Config {
    let mut config = bare_drive();
    config.fabric.kind = kind;
    config.geometry.channels = 4;
    config.geometry.chips_per_channel = 4;
    config.geometry.blocks_per_plane = 64;
    config.geometry.pages_per_block = 32;
    config.geometry.over_provisioning = over_provisioning;
    config.precondition.kind = PreconditionKind::Random;
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 64;
    config
}

/// Returns one of a family of small drives, by `number`, that hold paths during array operations. The 400 requests outnumber the dies.
pub fn drive_with_held_paths(number: u32, kind: FabricKind) -> Config {
    let mut config = Config { seed: number.into(), ..Config::default() };
    config.fabric.kind = kind;
    config.fabric.hold_path = HoldPath::Always;
    config.geometry.dies_per_chip = 1 + number / 2 % 2;
    config.geometry.planes_per_die = 1 + number / 4 % 2;
    config.geometry.blocks_per_plane = 12;
    config.geometry.pages_per_block = 16;
    config.geometry.over_provisioning = 0.5;
    config.flash.multi_plane = if number.is_multiple_of(2) { MultiPlane::SameOffset } else { MultiPlane::Off };
    config.flash.read_cache = number / 2 % 2 == 1;
    config.gc.copyback = number.is_multiple_of(5);
    config.precondition.kind = PreconditionKind::Random;
    config.workload.read_share = 0.5;
    config.workload.requests = Some(400);
    config.replay.outstanding = 64;
    config
}

/// Returns the static allocation order with these initials of levels, the fastest-varying level first.
pub fn order(initials: &str) -> Allocation {
    let levels: Vec<ArrayLevel> = initials
        .chars()
        .map(|initial| match initial {
            'C' => ArrayLevel::Channel,
            'W' => ArrayLevel::Way,
            'D' => ArrayLevel::Die,
            _ => ArrayLevel::Plane,
        })
        .collect();
    Allocation::Static(levels.try_into().expect("`initials` has four letters"))
}

#[derive(Clone, Default)]
pub struct Kept(pub Arc<Mutex<Vec<RequestRecord>>>);

impl RequestSink for Kept {
    fn record(&mut self, record: &RequestRecord) -> Result<(), String> {
        self.0.lock().expect("no other thread panicked").push(*record);
        Ok(())
    }
}

/// Returns the configuration in `text`, without a warm-up unless `text` sets one, so that all requests are measured.
pub fn config_of(text: &str) -> Config {
    unwarmed(&Config::from_str(text, "drive.toml", &[]).unwrap_or_else(|error| panic!("{error}")))
}

pub fn run_source(config: &Config, source: impl WorkloadSource + 'static) -> (Report, Vec<RequestRecord>) {
    finish(Simulation::with_source(config, Box::new(source)).expect("the drive can be built"))
}

/// Runs a simulation to its end with all oracles enabled. Returns the report, and the records in order of completion.
pub fn finish(mut simulation: Simulation) -> (Report, Vec<RequestRecord>) {
    simulation.enable_checks();
    let kept = Kept::default();
    simulation.set_request_sink(Box::new(kept.clone()));
    let report = simulation.run(&Control::default()).expect("the run ends without a violation");
    let records = kept.0.lock().expect("no other thread panicked").clone();
    (report, records)
}

/// Returns `config` with the warm-up disabled unless it configures one, so that all requests of the workload are measured.
pub fn unwarmed(config: &Config) -> Config {
    let mut config = config.clone();
    config.measure.warm_up.get_or_insert(WarmUp::None);
    config
}

pub fn run_checked(config: &Config) -> Report {
    let mut simulation = Simulation::new(&unwarmed(config)).expect("the drive can be built");
    simulation.enable_checks();
    simulation.run(&Control::default()).unwrap_or_else(|error| panic!("{error}: {config:?}"))
}

/// Runs `requests` with all oracles enabled. Returns the records in order of issue.
pub fn run(config: &Config, requests: impl IntoIterator<Item = IoRequest>) -> Vec<RequestRecord> {
    let (_, mut records) = run_source(config, Listed(requests.into_iter().collect()));
    records.sort_by_key(|record| record.id);
    records
}

/// Returns the latencies of `requests` in order of issue.
pub fn latencies(config: &Config, requests: impl IntoIterator<Item = IoRequest>) -> Vec<Time> {
    run(config, requests).iter().map(|record| record.completed - record.arrival).collect()
}

pub fn completions(config: &Config, requests: impl IntoIterator<Item = IoRequest>) -> Vec<Time> {
    run(config, requests).iter().map(|record| record.completed).collect()
}

pub fn assert_within(what: &str, measured: f64, expected: f64, share: f64) {
    let deviation = measured / expected - 1.0;
    assert!(
        deviation.abs() <= share,
        "{what}: measured {measured}, expected {expected}, off by {:.2} % of at most {:.2} %",
        deviation * 100.0,
        share * 100.0
    );
}
