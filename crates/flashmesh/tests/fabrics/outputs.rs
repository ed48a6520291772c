//! Results besides rates and latencies: chip states, work per request, and the bottleneck inside the interconnect.

use flashmesh::config::{Config, FabricKind, Interleave, Pattern, PreconditionKind, ReplayMode, Sizes};
use flashmesh::measure::bound::Resource;
use flashmesh::measure::report::{ChipStatesReport, Report};
use flashmesh::simulation::Simulation;
use flashmesh::units::{Bytes, Time};

use crate::support::drives::{Listed, assert_within, bare_drive, finish, read, run_source};

fn simulated(config: &Config) -> Report {
    finish(Simulation::new(config).expect("the drive can be built")).0
}

/// Returns a drive of one chip of two dies of one plane.
fn one_chip() -> Config {
    let mut config = bare_drive();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.dies_per_chip = 2;
    config.geometry.planes_per_die = 1;
    config.measure.chip_states = true;
    config
}

fn states(report: &Report) -> &ChipStatesReport {
    report.chip_states.as_ref().expect("chip states are enabled")
}

#[test]
fn the_states_of_a_chip_are_those_of_the_closed_form() {
    let config = one_chip();
    // Each read takes 10 ns of command, 3 us of array and 4096 B at 1.2 GB/s of data. The drive is idle between the first read and 20 us.
    let (command, array, data, end) = (10e-9, 3e-6, 4096.0 / 1.2e9, 20e-6 + 10e-9 + 3e-6 + 4096.0 / 1.2e9);
    let requests = [read(0, 1, Time::ZERO), read(0, 1, Time::from_us(20))];
    let (report, _) = run_source(&config, Listed(requests.into()));
    let found = states(&report);
    assert_within("exclusive transfer", found.exclusive_transfer, 2.0 * (command + data) / end, 1e-3);
    assert_within("exclusive execution", found.exclusive_execution, 2.0 * array / end, 1e-3);
    assert_eq!(found.overlapped, 0.0);
    let sum = found.exclusive_transfer + found.overlapped + found.exclusive_execution + found.idle;
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

#[test]
fn transfers_of_one_die_overlap_with_the_array_of_the_other() {
    let config = one_chip();
    // Pages 0 and 1 are on different dies. The second die starts 10 ns after the first, and sends its data after the first.
    let requests = [read(0, 1, Time::ZERO), read(1, 1, Time::ZERO)];
    let (report, _) = run_source(&config, Listed(requests.into()));
    let found = states(&report);
    let (command, array, data) = (10e-9, 3e-6, 4096.0 / 1.2e9);
    let end = command + array + 2.0 * data;
    assert_within("overlapped", found.overlapped, 2.0 * command / end, 2e-3);
    assert_within("exclusive execution", found.exclusive_execution, (array - command) / end, 2e-3);
    assert_within("exclusive transfer", found.exclusive_transfer, (2.0 * data) / end, 2e-3);
}

#[test]
fn states_are_counted_only_when_asked_for_and_change_nothing() {
    let mut config = one_chip();
    config.replay.mode = ReplayMode::Stress;
    config.workload.requests = Some(500);
    config.workload.read_share = 0.5;
    let with = simulated(&config);
    config.measure.chip_states = false;
    let without = simulated(&config);
    assert!(with.chip_states.is_some() && without.chip_states.is_none());
    assert_eq!((with.makespan_ps, with.latency_ps), (without.makespan_ps, without.latency_ps));
}

#[test]
fn every_interconnect_moves_the_same_bytes_over_the_pins_for_a_read() {
    for &kind in FabricKind::ALL {
        let mut config = bare_drive();
        config.fabric.kind = kind;
        config.replay.mode = ReplayMode::Stress;
        config.workload.requests = Some(300);
        config.workload.request_size = Sizes(vec![(Bytes::from_kib(8), 1.0)]);
        let found = simulated(&config).per_request.expect("requests completed");
        assert_eq!((found.reads, found.programs, found.partial_update_share), (2.0, 0.0, None), "{kind}");
        // Packet headers and checksums add a few percent to the two pages.
        assert!((8192.0..8192.0 * 1.2).contains(&found.transferred_bytes), "{kind}: {}", found.transferred_bytes);
    }
}

#[test]
fn half_a_page_is_a_partial_update_and_a_whole_one_is_not() {
    for (size, share) in [(2, 1.0), (4, 0.0)] {
        let mut config = bare_drive();
        config.geometry.channels = 2;
        config.geometry.chips_per_channel = 2;
        config.replay.mode = ReplayMode::Stress;
        config.precondition.kind = PreconditionKind::Sequential;
        config.workload.requests = Some(400);
        config.workload.read_share = 0.0;
        config.workload.request_size = Sizes(vec![(Bytes::from_kib(size), 1.0)]);
        config.workload.alignment = Some(Bytes::from_kib(4));
        let report = simulated(&config);
        let found = report.per_request.expect("requests completed");
        assert_eq!(found.partial_update_share, Some(share), "{size} KiB");
        assert_eq!(found.programs, 1.0);
        assert_eq!(found.reads, share);
    }
}

#[test]
fn a_mesh_whose_links_are_held_by_packets_that_wait_bounds_the_run() {
    let mut config = bare_drive();
    config.geometry.channels = 4;
    config.geometry.chips_per_channel = 4;
    config.fabric.kind = FabricKind::Nossd;
    config.nossd.half_duplex = true;
    config.nossd.interleave = Interleave::Flits;
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 256;
    config.workload.requests = Some(1_500);
    let bound = simulated(&config).bound;
    assert_eq!(bound.resource, Resource::Links, "{}", bound.sentence);
    // A single outstanding request is bound by its own latency.
    config.replay.outstanding = 1;
    config.workload.requests = Some(200);
    assert_eq!(simulated(&config).bound.resource, Resource::Latency);
}

#[test]
fn requests_to_one_row_of_a_mesh_of_circuits_wait_for_each_other() {
    let mut config = bare_drive();
    config.fabric.kind = FabricKind::Venice;
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 1024;
    config.workload.pattern = Pattern::HotStride;
    config.workload.hot_traffic = 0.5;
    config.workload.requests = Some(6_000);
    let bound = simulated(&config).bound;
    assert_eq!(bound.resource, Resource::Waiting, "{}", bound.sentence);
    config.replay.outstanding = 1;
    config.workload.requests = Some(200);
    assert_eq!(simulated(&config).bound.resource, Resource::Latency);
}
