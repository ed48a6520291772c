//! Drives with the Venice interconnect, compared with arithmetic and tested for lost wake-ups.

use flashmesh::config::{Config, FabricKind, HoldPath, Pattern, ReplayMode, Retry, Routing, TieBreak};
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::RequestKind;

use crate::support::drives::*;

const COMMAND: Time = Time::from_ns(10);
const READ: Time = Time::from_us(3);
const PROGRAM: Time = Time::from_us(100);

/// Returns the `venice-z-nand` preset with Venice: 8 x 8 chips, 8-bit links at 1 GHz.
fn drive() -> Config {
    let mut config = bare_drive();
    config.fabric.kind = FabricKind::Venice;
    config
}

/// Returns the first page of the chip in `row` and `column` of 8 x 8.
const fn page_at(row: u64, column: u64) -> u64 {
    row + 8 * column
}

/// Returns the round-trip time of a scout over `hops` links, 2 ns per link and direction.
fn scout(hops: u64) -> Time {
    Time::from_ns(2 * 2 * hops)
}

/// Returns the time of a command over a circuit of `links` links.
fn command(links: u64) -> Time {
    COMMAND + Time::from_ns(links)
}

fn data(links: u64) -> Time {
    Time::from_ns(links + 4096)
}

#[test]
fn a_read_alone_reserves_a_circuit_for_its_command_and_one_for_its_data() {
    for (row, column) in [(0, 0), (3, 0), (0, 7), (5, 4), (7, 7)] {
        // The path to the router consists of the link of the controller and the links of the row. One more link leads to the chip.
        let (hops, links) = (column + 1, column + 2);
        let expected = scout(hops) + command(links) + READ + scout(hops) + data(links);
        assert_eq!(latencies(&drive(), [read(page_at(row, column), 1, Time::ZERO)]), [expected], "{row}, {column}");
    }
}

#[test]
fn a_write_alone_reserves_one_circuit_for_command_and_data() {
    let expected = scout(4) + COMMAND + data(5) + PROGRAM;
    assert_eq!(latencies(&drive(), [write(page_at(2, 3), 1, Time::ZERO)]), [expected]);
}

/// The request has two pages, on the first chips of two rows.
#[test]
fn the_transactions_of_a_request_share_one_circuit_at_a_time() {
    let mut config = drive();
    let (hops, links) = (1, 2);
    let both = scout(hops) + command(links) + READ + scout(hops) + data(links);
    assert_eq!(latencies(&config, [read(page_at(0, 0), 2, Time::ZERO)]), [both]);
    config.venice.circuits_per_request = Some(2);
    assert_eq!(latencies(&config, [read(page_at(0, 0), 2, Time::ZERO)]), [both]);
    config.venice.circuits_per_request = Some(1);
    // With one circuit per request, the second command is sent while the first chip reads, and the second page after the first.
    assert_eq!(latencies(&config, [read(page_at(0, 0), 2, Time::ZERO)]), [both + scout(hops) + data(links)]);
    let write_one = scout(hops) + COMMAND + data(links);
    assert_eq!(latencies(&config, [write(page_at(0, 0), 2, Time::ZERO)]), [write_one * 2 + PROGRAM]);
    // Two separate requests each have their own circuit.
    assert_eq!(latencies(&config, [0, 1].map(|row| read(page_at(row, 0), 1, Time::ZERO))), [both, both]);
    // The first read holds the only circuit of the request until its data has been sent, and the second read waits for that circuit.
    config.fabric.hold_path = HoldPath::Reads;
    let whole = both - scout(hops);
    assert_eq!(latencies(&config, [read(page_at(0, 0), 2, Time::ZERO)]), [whole * 2]);
}

#[test]
fn a_read_that_holds_its_circuit_reserves_once() {
    let mut config = drive();
    config.fabric.hold_path = HoldPath::Reads;
    let expected = scout(4) + command(5) + READ + data(5);
    assert_eq!(latencies(&config, [read(page_at(2, 3), 1, Time::ZERO)]), [expected]);
}

#[test]
fn links_take_bytes_as_wide_and_as_fast_as_they_are() {
    let mut config = drive();
    config.venice.link_width = Bytes::new(3);
    config.venice.link_cycle = Time::from_ps(500);
    // 4096 bytes are 1366 times 3 bytes. A scout crosses a link in two cycles.
    let half = |cycles: u64| Time::from_ps(500 * cycles);
    let expected = half(2 * 2 * 4) + COMMAND + half(5) + READ + half(2 * 2 * 4) + half(5 + 1366);
    assert_eq!(latencies(&config, [read(page_at(2, 3), 1, Time::ZERO)]), [expected]);
}

#[test]
fn a_second_read_of_a_row_is_served_by_the_nearest_other_controller_the_upper_one_first() {
    let done = completions(&drive(), [read(page_at(4, 0), 1, Time::ZERO), read(page_at(4, 1), 1, Time::ZERO)]);
    // Controller 4 is busy with the first command, so controller 3 sends the second, over one more hop. When the data of the second read is ready,
    // controller 4 is busy with the data of the first, so controller 3 serves it again.
    assert_eq!(done[0], scout(1) + command(2) + READ + scout(1) + data(2));
    assert_eq!(done[1], scout(3) + command(4) + READ + scout(3) + data(4));
}

#[test]
fn a_read_beyond_the_number_of_controllers_waits_for_one() {
    let mut config = drive();
    config.geometry.channels = 1;
    let (report, _) = run_source(&config, listed([read(0, 1, Time::ZERO), read(1, 1, Time::ZERO)]));
    let causes = &report.path_conflict.causes;
    assert_eq!([causes.channel.transfers, causes.controller.transfers, causes.link.transfers], [0, 2, 0]);
    // The second command waits for the first, and the data of the second read for that of the first; the data wait starts when the second read is
    // sensed.
    let first_command = scout(1) + command(2);
    let first_done = first_command + READ + scout(1) + data(2);
    let second_read = first_command + scout(2) + command(3) + READ;
    let expected = first_command + (first_done - second_read);
    assert_eq!(causes.controller.wait_ps, expected.as_ps());
    assert_eq!(report.path_conflict.transfers_free_share, Some(0.5));
}

#[test]
fn dies_of_a_chip_wait_for_its_pins() {
    let mut config = drive();
    config.geometry.dies_per_chip = 2;
    config.ftl.allocation = order("DCWP");
    let (report, _) = run_source(&config, listed([read(0, 2, Time::ZERO)]));
    let causes = &report.path_conflict.causes;
    assert_eq!([causes.channel.transfers, causes.controller.transfers, causes.link.transfers], [2, 0, 0]);
}

/// Venice, ISCA 2023, section 3.1: a path conflict is with another request.
#[test]
fn pages_of_one_request_that_wait_for_each_other_are_no_conflict_with_another_request() {
    for kind in [FabricKind::Bus, FabricKind::Pssd, FabricKind::Pnssd, FabricKind::Nossd, FabricKind::Venice] {
        let mut config = drive();
        config.fabric.kind = kind;
        // The request has 16 pages, two on each row, so some of its pages wait for other pages of the same request.
        let (alone, _) = run_source(&config, listed([read(0, 16, Time::ZERO)]));
        let conflicts = &alone.path_conflict;
        assert_eq!(conflicts.requests_free_share, Some(0.0), "{kind}");
        assert_eq!(conflicts.requests_free_of_others_share, Some(1.0), "{kind}");
        // Two requests at the same time have pages on the same rows.
        let (both, _) = run_source(&config, listed([read(0, 16, Time::ZERO), read(16, 16, Time::ZERO)]));
        let free = both.path_conflict.requests_free_of_others_share.expect("two requests completed");
        assert!(free <= 0.5, "{kind}: {free}");
    }
}

#[test]
fn requests_of_one_page_conflict_with_others_whenever_they_wait() {
    for kind in [FabricKind::Bus, FabricKind::Nossd] {
        let mut config = drive();
        config.fabric.kind = kind;
        let conflicts = saturated(config, any_page_of_row_0).path_conflict;
        assert!(conflicts.requests_free_share.expect("requests completed") < 0.5, "{kind}");
        assert_eq!(conflicts.requests_free_of_others_share, conflicts.requests_free_share, "{kind}");
    }
}

/// Transfers wait for the pins of their chip, then for a controller, then for a path. A transfer counts under each cause of its wait.
#[test]
fn a_wait_counts_under_every_cause_with_the_time_of_each() {
    let (report, records) = {
        let mut config = drive();
        config.geometry.channels = 2;
        config.geometry.chips_per_channel = 4;
        config.geometry.dies_per_chip = 2;
        config.replay.mode = ReplayMode::Stress;
        config.replay.outstanding = 64;
        run_source(&config, Repeated { left: 400, kind: RequestKind::Read, page: any_page_of_small_drive })
    };
    let path = &report.path_conflict;
    let causes = [&path.causes.channel, &path.causes.controller, &path.causes.link];
    let waited: u64 = causes.iter().map(|cause| cause.wait_ps).sum();
    assert_eq!(waited, path.wait_ps);
    // Most transfers wait for two causes: the pins of the chip, then a controller.
    let conflicts: u64 = causes.iter().map(|cause| cause.transfers).sum();
    let blocked = path.transfers as f64 * (1.0 - path.transfers_free_share.expect("transfers took place"));
    assert!(conflicts as f64 > 1.1 * blocked, "{conflicts} of {blocked}");
    assert_eq!(records.len(), 400);
    let scouts = report.scouts.expect("Venice counts its scouts");
    assert!(scouts.failed_first <= scouts.failed && scouts.failed_first > 0, "{scouts:?}");
}

/// In the paper a controller resends a failed scout immediately (Venice, ISCA 2023, sections 4.2 and 4.3). That costs more scouts and throughput than
/// serving other requests until a circuit is torn down.
#[test]
fn controllers_that_retry_at_once_send_more_scouts_and_serve_less() {
    let [waits, retries] = [Retry::OnTeardown, Retry::Immediate].map(|retry| {
        let mut config = drive();
        config.venice.retry = retry;
        config.replay.mode = ReplayMode::Stress;
        config.replay.outstanding = 512;
        run_source(&config, Repeated { left: 4_000, kind: RequestKind::Read, page: any_page_of_row_0 }).0
    });
    let failed = |report: &Report| report.scouts.as_ref().expect("Venice counts its scouts").failed;
    assert!(failed(&retries) > 2 * failed(&waits), "{} and {}", failed(&retries), failed(&waits));
    assert!(gigabytes_per_second(&retries) < gigabytes_per_second(&waits));
}

/// Returns a drive on which two scouts with XY routing cross: controller 0 reaches (1, 1) via (0, 1), controller 1 reaches (0, 1) via (1, 1).
fn crossing(retry: Retry) -> Config {
    let mut config = drive();
    config.geometry.channels = 2;
    config.geometry.chips_per_channel = 2;
    config.venice.routing = Routing::Xy;
    config.venice.retry = retry;
    config
}

#[test]
fn scouts_that_block_each_other_try_again_one_after_the_other() {
    for retry in Retry::ALL {
        for pages in [[1, 3, 0, 2], [2, 3, 0, 1], [3, 2, 1, 0]] {
            let reads = (0..40).flat_map(|n| pages.map(|page| read(4 * (n % 7) + page, 1, Time::from_us(n / 3))));
            assert_eq!(run(&crossing(*retry), reads).len(), 160);
        }
    }
}

fn listed(requests: impl IntoIterator<Item = flashmesh::workload::IoRequest>) -> Listed {
    Listed(requests.into_iter().collect())
}

/// Returns a pseudo-random page of the whole drive.
fn any_page(n: u64) -> u64 {
    (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) % 5_800_000
}

/// Returns a pseudo-random page on row 0.
fn any_page_of_row_0(n: u64) -> u64 {
    any_page(n) / 8 * 8
}

/// Runs saturated single-page reads, and returns the report.
fn saturated(mut config: Config, page: fn(u64) -> u64) -> Report {
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 4096;
    run_source(&config, Repeated { left: 20_000, kind: RequestKind::Read, page }).0
}

fn gigabytes_per_second(report: &Report) -> f64 {
    report.bandwidth_bytes_per_s / 1e9
}

#[test]
fn saturated_uniform_reads_fill_the_controllers() {
    let measured = gigabytes_per_second(&saturated(drive(), any_page));
    assert!((7.7..=7.9).contains(&measured), "{measured} GB/s");
}

#[test]
fn saturated_reads_of_one_row_are_served_by_all_controllers() {
    let measured = gigabytes_per_second(&saturated(drive(), any_page_of_row_0));
    assert_within("one row", measured, 4.3, 0.05);
}

#[test]
fn circuits_held_while_the_array_works_halve_the_throughput() {
    let mut config = drive();
    config.fabric.hold_path = HoldPath::Reads;
    let measured = gigabytes_per_second(&saturated(config, any_page));
    assert_within("held", measured, 8.0 * 4096.0 / (4096.0 + 3000.0 + 48.0), 0.03);
}

#[test]
fn every_way_to_route_and_to_retry_serves_everything() {
    for routing in Routing::ALL {
        for retry in Retry::ALL {
            for hold_path in HoldPath::ALL {
                let mut config = drive();
                config.geometry.channels = 3;
                config.geometry.blocks_per_plane = 16;
                config.geometry.over_provisioning = 0.3;
                config.geometry.dies_per_chip = 2;
                config.flash.read_cache = true;
                config.venice.routing = *routing;
                config.venice.retry = *retry;
                config.venice.tie_break = TieBreak::Uniform;
                config.fabric.hold_path = hold_path;
                config.replay.mode = ReplayMode::Stress;
                config.replay.outstanding = 200;
                let source = Repeated { left: 500, kind: RequestKind::Read, page: any_page_of_small_drive };
                let (report, _) = run_source(&config, source);
                assert_eq!(report.requests, 500, "{routing}, {retry}, held: {hold_path}");
            }
        }
    }
}

fn any_page_of_small_drive(n: u64) -> u64 {
    any_page(n) % 10_000
}

/// Returns the report of 3,000 requests, many of them to pages of one row, without the fields that differ from run to run. With `is_checked`, all
/// oracles are enabled.
fn report_of_hot_row(config: &Config, is_checked: bool) -> serde_json::Value {
    let mut simulation = Simulation::new(config).expect("the drive can be built");
    if is_checked {
        simulation.enable_checks();
    }
    let mut json = simulation.run(&Control::default()).expect("the run ends without a violation").to_json();
    let fields = json.as_object_mut().expect("a report is an object");
    for varies in ["wall_s", "requests_per_wall_s", "peak_rss_bytes"] {
        fields.remove(varies);
    }
    json
}

#[test]
fn scouts_that_run_ahead_come_to_what_scouts_that_are_watched_step_by_step_come_to() {
    for (number, routing) in Routing::ALL.iter().enumerate() {
        for retry in Retry::ALL {
            for tie_break in TieBreak::ALL {
                let mut config = drive();
                config.geometry.channels = 3 + number as u32;
                config.venice.routing = *routing;
                config.venice.retry = *retry;
                config.venice.tie_break = *tie_break;
                config.fabric.hold_path = if number == 1 { HoldPath::Reads } else { HoldPath::Never };
                config.replay.mode = ReplayMode::Stress;
                config.replay.outstanding = 64;
                config.workload.pattern = Pattern::HotStride;
                config.workload.hot_stride = 3 + number as u32;
                config.workload.requests = Some(3_000);
                let [ahead, watched] = [false, true].map(|is_checked| report_of_hot_row(&config, is_checked));
                assert_eq!(ahead, watched, "{routing}, {retry}, {tie_break}");
            }
        }
    }
}

#[test]
fn scouts_are_counted_up_to_the_cut_of_the_power_whoever_looks_on() {
    let mut config = Config::default();
    config.fabric.kind = FabricKind::Venice;
    config.venice.retry = Retry::Immediate;
    config.workload.requests = Some(20_000);
    config.power.cut = Some(Time::from_ms(1));
    let [ahead, watched] = [false, true].map(|is_checked| report_of_hot_row(&config, is_checked));
    assert_eq!(ahead, watched);
}
