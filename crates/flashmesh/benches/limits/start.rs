//! Limits of the work before the first request: opening a drive, and preconditioning it.

use std::time::Instant;

use flashmesh::config::{Config, PreconditionKind};
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};

use crate::{Outcome, hash};

/// Returns a hash of the report without the fields that depend on time, machine or version.
pub fn hash_of(report: &Report) -> String {
    let mut json = report.to_json();
    let fields = json.as_object_mut().expect("a report is an object");
    for varies in ["wall_s", "requests_per_wall_s", "peak_rss_bytes", "version", "config_hash"] {
        fields.remove(varies);
    }
    hash(&json.to_string())
}

/// Opens the default drive and runs one request. Returns a hash of the results.
pub fn first_request() -> String {
    let mut config = Config { seed: 1, ..Config::default() };
    config.workload.requests = Some(1);
    let mut simulation = Simulation::new(&config).expect("the drive can be built");
    hash_of(&simulation.run(&Control::default()).expect("the run succeeds"))
}

pub fn first_request_seconds() -> Outcome {
    seconds(first_request)
}

/// Reads unwritten pages all over the default drive. Returns a hash of the results.
pub fn reads_of_a_whole_drive() -> String {
    let mut config = Config { seed: 1, ..Config::default() };
    config.workload.requests = Some(300_000);
    let mut simulation = Simulation::new(&config).expect("the drive can be built");
    hash_of(&simulation.run(&Control::default()).expect("the run succeeds"))
}

/// Preconditions a drive of a terabyte of small pages with random writes, and runs a few requests. Returns a hash of the results.
pub fn full_drive_of_a_terabyte() -> String {
    let mut config = Config { seed: 1, ..Config::default() };
    config.geometry.blocks_per_plane = 2665;
    full(config)
}

/// Preconditions the drive `kioxia-cm7-r` with random writes, and runs a few requests. Returns a hash of the results.
pub fn full_drive() -> String {
    full(Config::from_preset("kioxia-cm7-r").expect("the preset exists"))
}

fn full(mut config: Config) -> String {
    config.precondition.kind = PreconditionKind::Random;
    config.workload.requests = Some(1_000);
    let mut simulation = Simulation::new(&config).expect("the drive can be built");
    hash_of(&simulation.run(&Control::default()).expect("the run succeeds"))
}

pub fn full_drive_seconds() -> Outcome {
    seconds(full_drive)
}

pub fn full_drive_of_a_terabyte_seconds() -> Outcome {
    seconds(full_drive_of_a_terabyte)
}

fn seconds(run: fn() -> String) -> Outcome {
    let started = Instant::now();
    let hash = run();
    (started.elapsed().as_secs_f64(), hash)
}
