//! Runs that share preconditioned drives have the same reports as runs that prepare their own.

use std::time::Duration;

use flashmesh::config::Config;
use flashmesh::ftl::PreparedDrives;
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};

const DRIVE: &str = "geometry.channels = 2\ngeometry.chips-per-channel = 2\ngeometry.blocks-per-plane = 64\ngeometry.over-provisioning = 0.3\n\
                     workload.requests = 3_000\nworkload.read-share = 0.3\n";

fn config(overrides: &[&str]) -> Config {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    Config::from_str(DRIVE, "drive.toml", &overrides).expect("the configuration is valid")
}

/// Returns the report without wall-clock time and memory, which differ between runs.
fn simulated(mut simulation: Simulation) -> String {
    simulation.enable_checks();
    let report: Report = simulation.run(&Control::default()).expect("the run succeeds");
    let mut json: serde_json::Value = serde_json::to_value(&report).expect("the report can be serialised");
    for key in ["wall_s", "requests_per_wall_s", "peak_rss_bytes"] {
        json.as_object_mut().expect("a report is an object").remove(key);
    }
    json.to_string()
}

#[test]
fn shared_drives_change_no_report() {
    let drives = PreparedDrives::default();
    let word_lines = ["precondition.kind=random", "geometry.pages-per-block=96", "flash.program-unit=word-line"];
    let points: [&[&str]; 14] = [
        &["precondition.kind=random"],
        &["precondition.kind=random", "workload.read-share=1"],
        &["precondition.kind=random", "fabric.kind=ideal"],
        &["precondition.kind=random", "replay.outstanding=7", "flash.read-time=9us"],
        &["precondition.kind=random", "seed=5"],
        &["precondition.kind=random", "ftl.allocation=dynamic"],
        &["precondition.kind=random", "gc.victim=fifo"],
        &["precondition.kind=random", "mapping.cache-capacity=64KiB"],
        &["precondition.kind=sequential", "precondition.fill=0.5"],
        &["precondition.kind=none"],
        &[&word_lines[..], &["flash.page-types=mlc"]].concat(),
        &[&word_lines[..], &["flash.page-types=qlc"]].concat(),
        &[&word_lines[..], &["flash.page-types=qlc", "slc.blocks-per-plane=1"]].concat(),
        &["precondition.kind=random", "fabric.kind=venice", "geometry.chips-per-channel=4"],
    ];
    // All points run twice: the second runs start from cached states, which the first runs must not have changed.
    for overrides in points.iter().chain(&points) {
        let config = config(overrides);
        let own = simulated(Simulation::new(&config).expect("the drive can be built"));
        let shared = simulated(Simulation::prepared(&config, None, &drives).expect("the drive can be built"));
        assert_eq!(own, shared, "{overrides:?}");
    }
}

#[test]
fn a_state_is_prepared_once() {
    let drives = PreparedDrives::default();
    let large = ["precondition.kind=random", "geometry.blocks-per-plane=512"];
    let time = |extra: &str| {
        let started = std::time::Instant::now();
        Simulation::prepared(&config(&[&large[..], &[extra]].concat()), None, &drives).expect("the drive can be built");
        started.elapsed()
    };
    let first = time("replay.outstanding=1");
    let rest: Duration = ["replay.outstanding=2", "flash.read-time=9us", "fabric.kind=ideal"].map(time).iter().sum();
    assert!(rest < first, "three copies took {rest:?}, one preparation {first:?}");
}

#[test]
fn a_stream_that_is_not_there_is_refused() {
    let refused = Simulation::prepared(&config(&[]), Some(1), &PreparedDrives::default()).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("there is no stream 1"), "{refused}");
}
