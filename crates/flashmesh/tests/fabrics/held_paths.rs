//! Channels held during array operations, compared with arithmetic.

use flashmesh::config::{Arbitration, Config, FabricKind, HoldPath, ReplayMode, Suspension};
use flashmesh::fabric::{ArbitrationPolicy, Contender};
use flashmesh::measure::bound::Resource;
use flashmesh::measure::lower_bound::Limit;
use flashmesh::simulation::Simulation;
use flashmesh::units::{Bytes, Rate, Time};
use flashmesh::workload::RequestKind;

use crate::support::drives::*;

const COMMAND: Time = Time::from_ns(10);
const READ: Time = Time::from_us(3);
const PROGRAM: Time = Time::from_us(100);

fn drive() -> Config {
    let mut config = bare_drive();
    config.fabric.hold_path = HoldPath::Always;
    config
}

fn page_time() -> Time {
    Rate::from_bytes_per_second(1_200_000_000).time_for(Bytes::new(PAGE))
}

/// Consecutive pages are on the eight rows in turn, so every eighth page is on row 0.
#[test]
fn reads_of_a_row_take_turns_from_command_to_data() {
    let whole = COMMAND + READ + page_time();
    let reads = || [0, 8, 16].map(|page| read(page, 1, Time::ZERO));
    assert_eq!(latencies(&drive(), reads()), [whole, whole * 2, whole * 3]);
    // Pages 0 and 1 are on different rows, each with its own channel.
    assert_eq!(latencies(&drive(), [0, 1].map(|page| read(page, 1, Time::ZERO))), [whole, whole]);
    let mut released = drive();
    released.fabric.hold_path = HoldPath::Never;
    assert!(latencies(&released, reads())[2] < whole * 3 - READ);
}

/// Arbiter that grants a channel to the request that arrived last.
struct LatestFirst;

impl ArbitrationPolicy for LatestFirst {
    fn choose(&mut self, _resource: u32, _last: u32, waiting: &[Contender]) -> usize {
        waiting.len() - 1
    }
}

/// While page 0 is read, the reads of pages 8 and 16, on other chips of its row, wait for the channel.
#[test]
fn an_arbiter_of_the_user_chooses_the_die_that_holds_the_channel_next() {
    let reads = [0, 8, 16].map(|page| read(page, 1, Time::ZERO));
    let source = Listed(reads.into_iter().collect());
    let mut simulation = Simulation::with_source(&drive(), Box::new(source)).expect("the drive can be built");
    simulation.set_arbiter(Box::new(LatestFirst)).expect("dies wait for the channels of a bus");
    let (_, mut records) = finish(simulation);
    records.sort_by_key(|record| record.id);
    let whole = COMMAND + READ + page_time();
    assert_eq!(records.iter().map(|record| record.completed).collect::<Vec<_>>(), [whole, whole * 3, whole * 2]);
}

#[test]
fn a_read_waits_for_the_end_of_a_program_on_its_row() {
    let program = COMMAND + page_time() + PROGRAM;
    let expected = program + COMMAND + READ + page_time();
    assert_eq!(
        latencies(&drive(), [write(0, 1, Time::ZERO), read(8, 1, Time::from_ns(1))])[1],
        expected - Time::from_ns(1)
    );
}

/// Each of the eight channels does one operation at a time, so a channel sends one page per whole operation.
#[test]
fn saturated_reads_are_bound_by_the_whole_operation() {
    let mut config = drive();
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 512;
    let page = |n: u64| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) % 5_800_000;
    let (report, _) = run_source(&config, Repeated { left: 10_000, kind: RequestKind::Read, page });
    let expected = 8.0 * PAGE as f64 / (COMMAND + READ + page_time()).as_secs_f64();
    assert_within("uniform reads", report.bandwidth_bytes_per_s, expected, 0.03);
}

/// A channel that an operation holds counts as busy, although the channel transfers few bytes.
#[test]
fn the_bottleneck_of_a_saturated_drive_is_the_channel_that_operations_hold() {
    for (kind, write) in [(FabricKind::Bus, false), (FabricKind::Pssd, false), (FabricKind::Bus, true)] {
        let mut config = drive();
        config.fabric.kind = kind;
        config.replay.mode = ReplayMode::Stress;
        config.replay.outstanding = 256;
        let page = |n: u64| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) % 5_800_000 / 8 * 8;
        let kind_of_requests = if write { RequestKind::Write } else { RequestKind::Read };
        let (report, _) = run_source(&config, Repeated { left: 2_000, kind: kind_of_requests, page });
        assert_eq!(report.bound.resource, Resource::Links, "{}", report.bound.sentence);
        assert!(report.bound.sentence.contains("operations hold channel"), "{}", report.bound.sentence);
        if !write {
            // All pages are on row 0, whose channel takes one operation after the other.
            assert_eq!(report.lower_bound.limit, Limit::Rows);
            let distance = report.lower_bound.distance.expect("requests completed");
            assert!(distance < 0.01, "{distance}");
        }
    }
}

#[test]
fn every_drive_with_held_channels_comes_to_an_end_with_no_oracle_speaking() {
    let arbitrations = [
        Arbitration::OldestFirst,
        Arbitration::RoundRobin,
        Arbitration::CommandFirst,
        Arbitration::NextCommandFirst,
        Arbitration::DataFirst,
        Arbitration::DataFirstRoundRobin,
    ];
    for (number, arbitration) in (0..48).zip(arbitrations.into_iter().cycle()) {
        let kind = if number % 2 == 0 { FabricKind::Bus } else { FabricKind::Pssd };
        let mut config = drive_with_held_paths(number, kind);
        config.fabric.arbitration = arbitration;
        config.geometry.channels = 1 + number % 3;
        config.geometry.chips_per_channel = 1 + number / 3 % 3;
        assert_eq!(run_checked(&config).requests, 400);
    }
}

#[test]
fn a_held_path_leaves_none_for_the_read_that_would_suspend_the_array() {
    let mut config = Config::default();
    config.fabric.hold_path = HoldPath::Always;
    config.flash.suspension = Suspension::Both;
    let error = config.validate().expect_err("suspension with held paths is refused").to_string();
    assert!(error.contains("flash.suspension") && error.contains("fabric.hold-path"), "{error}");
}

#[test]
fn the_key_that_held_the_circuits_of_venice_names_the_one_that_does_now() {
    let text = "fabric.kind = \"venice\"\nvenice.hold-circuit = true\n";
    let error = Config::from_str(text, "held.toml", &[]).expect_err("the old key is refused").to_string();
    assert!(error.contains("it is called fabric.hold-path; its value for true is \"reads\""), "{error}");
}

#[test]
fn each_value_of_the_key_is_read_and_written() {
    for (value, expected) in [
        ("true", HoldPath::Always),
        ("false", HoldPath::Never),
        ("\"reads\"", HoldPath::Reads),
        ("\"programs\"", HoldPath::Programs),
    ] {
        let config =
            Config::from_str(&format!("fabric.hold-path = {value}"), "held.toml", &[]).expect("the value is valid");
        assert_eq!(config.fabric.hold_path, expected);
        assert!(config.to_toml().contains(&format!("hold-path = {value}\n")), "{}", config.to_toml());
    }
    let error = Config::from_str("fabric.hold-path = \"writes\"", "held.toml", &[]).expect_err("the value is refused");
    assert!(error.to_string().contains("programs"), "{error}");
}

/// A chip has one wire to its router, so the data and the acknowledgements of its dies are sent one after the other.
#[test]
fn an_acknowledgement_waits_for_the_data_that_its_die_sends() {
    for seed in 0..4 {
        let mut config = Config { seed, ..Config::default() };
        config.fabric.kind = FabricKind::Nossd;
        config.fabric.hold_path = HoldPath::Always;
        config.flash.read_cache = true;
        config.flash.program_time = Time::from_us(10);
        config.geometry.page_size = Bytes::from_kib(16);
        config.geometry.channels = 2;
        config.geometry.chips_per_channel = 1 + seed as u32 % 2;
        config.geometry.blocks_per_plane = 64;
        config.workload.read_share = 0.5;
        config.workload.requests = Some(600);
        config.replay.outstanding = 64;
        run_checked(&config);
    }
}

#[test]
fn a_circuit_is_given_back_before_the_last_acknowledgement_ends_the_run() {
    for cut in [None, Some(Time::from_ms(1))] {
        let mut config = Config::default();
        config.fabric.kind = FabricKind::Nossd;
        config.fabric.hold_path = HoldPath::Always;
        config.cache.capacity = Bytes::from_kib(64);
        config.cache.flush_at_end = true;
        config.power.cut = cut;
        config.workload.read_share = 0.5;
        config.workload.requests = Some(3_000);
        run_checked(&config);
    }
}
