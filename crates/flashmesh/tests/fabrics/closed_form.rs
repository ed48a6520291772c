//! Latencies and throughputs of whole drives, compared with arithmetic.

use flashmesh::config::{Config, Controllers, FabricKind, MultiPlane, ReplayMode};
use flashmesh::fabric::Cause;
use flashmesh::measure::lower_bound::Limit;
use flashmesh::units::{Bytes, Rate, Time};
use flashmesh::workload::RequestKind;

use crate::support::drives::*;

pub const COMMAND: Time = Time::from_ns(10);
pub const READ: Time = Time::from_us(3);
pub const PROGRAM: Time = Time::from_us(100);
/// Transfer time of 4096 bytes at 1.2 GB/s, rounded up.
pub const PAGE_TRANSFER: Time = Time::from_ps(3_413_334);

/// Returns the drive of Venice, ISCA 2023, section 3.1: command 10 ns, tR 3 us, transfer 4 us.
fn drive_of_section_3_1() -> Config {
    let mut config = bare_drive();
    config.fabric.channel_rate = Rate::from_bytes_per_second(1_024_000_000);
    config
}

#[test]
fn two_reads_on_one_channel_take_11_01_us() {
    let done = completions(&drive_of_section_3_1(), [read(0, 1, Time::ZERO), read(8, 1, Time::ZERO)]);
    assert_eq!(done, [Time::from_ns(7_010), Time::from_ns(11_010)]);
}

#[test]
fn two_reads_on_two_channels_take_7_01_us() {
    let done = completions(&drive_of_section_3_1(), [read(0, 1, Time::ZERO), read(1, 1, Time::ZERO)]);
    assert_eq!(done, [Time::from_ns(7_010), Time::from_ns(7_010)]);
}

#[test]
fn two_reads_on_one_channel_do_not_disturb_each_other_on_the_ideal_fabric() {
    let mut config = drive_of_section_3_1();
    config.fabric.kind = FabricKind::Ideal;
    let done = completions(&config, [read(0, 1, Time::ZERO), read(8, 1, Time::ZERO)]);
    assert_eq!(done, [Time::from_ns(7_010), Time::from_ns(7_010)]);
}

/// The 8 GB/s link takes 8 ns for a submission entry (64 B), 2 ns for a completion entry (16 B), and 512 ns for 4 KiB.
#[test]
fn one_read_at_a_time_takes_entry_command_array_transfer_data_and_completion() {
    let mut config = bare_drive();
    config.host.link_rate = Rate::from_bytes_per_second(8_000_000_000);
    for kind in [FabricKind::Bus, FabricKind::Ideal] {
        config.fabric.kind = kind;
        let expected = Time::from_ns(8) + COMMAND + READ + PAGE_TRANSFER + Time::from_ns(512 + 2);
        let all = (0..20).map(|n| read(n * 7919, 1, Time::from_ms(n)));
        assert_eq!(latencies(&config, all), vec![expected; 20]);
    }
}

#[test]
fn one_write_at_a_time_takes_entry_with_data_command_transfer_array_and_completion() {
    let mut config = bare_drive();
    config.host.link_rate = Rate::from_bytes_per_second(8_000_000_000);
    for kind in [FabricKind::Bus, FabricKind::Ideal] {
        config.fabric.kind = kind;
        let expected = Time::from_ns(8 + 512) + COMMAND + PAGE_TRANSFER + PROGRAM + Time::from_ns(2);
        let all = (0..20).map(|n| write(n * 7919, 1, Time::from_ms(n)));
        assert_eq!(latencies(&config, all), vec![expected; 20]);
    }
}

/// pSSD packets use twice the channel rate. A control packet has 8 B; a data packet adds 12 B to its data. The die takes 20 ns to decode or frame a
/// packet.
#[test]
fn packets_double_the_rate_and_take_their_headers_and_the_time_of_the_controller_on_the_die() {
    let mut config = bare_drive();
    config.fabric.kind = FabricKind::Pssd;
    let twice = Rate::from_bytes_per_second(2_400_000_000);
    let (control, page) = (twice.time_for(Bytes::new(8)), twice.time_for(Bytes::new(4096 + 12)));
    let on_die = Time::from_ns(20);
    assert_eq!(latencies(&config, [read(0, 1, Time::ZERO)]), [control + READ + on_die * 2 + page]);
    assert_eq!(latencies(&config, [write(0, 1, Time::ZERO)]), [control + page + on_die + PROGRAM]);
}

fn pnssd() -> Config {
    let mut config = bare_drive();
    config.fabric.kind = FabricKind::Pnssd;
    config
}

/// Returns the times of a control packet and of `bytes` of data with header and checksum, at the rate of the bus.
fn packets_at_the_rate_of_the_bus(bytes: u64) -> (Time, Time) {
    let rate = Rate::from_bytes_per_second(1_200_000_000);
    (rate.time_for(Bytes::new(8)), rate.time_for(Bytes::new(bytes + 12)))
}

#[test]
fn one_request_at_a_time_moves_its_packets_over_one_of_the_two_channels() {
    let (control, page) = packets_at_the_rate_of_the_bus(4096);
    let on_die = Time::from_ns(20);
    for &controllers in Controllers::ALL {
        let mut config = pnssd();
        config.pnssd.controllers = controllers;
        let reads = (0..20).map(|n| read(n * 7919, 1, Time::from_ms(n)));
        assert_eq!(latencies(&config, reads), vec![control + READ + on_die * 2 + page; 20]);
        assert_eq!(latencies(&config, [write(0, 1, Time::ZERO)]), [control + page + on_die + PROGRAM]);
    }
}

#[test]
fn two_chips_of_a_row_do_not_disturb_each_other_and_a_third_one_has_a_column_of_its_own() {
    let (control, page) = packets_at_the_rate_of_the_bus(4096);
    let one = control + READ + Time::from_ns(40) + page;
    let of_row_0 = [0, 8, 16].map(|page| read(page, 1, Time::ZERO));
    assert_eq!(latencies(&pnssd(), of_row_0), [one; 3]);
}

#[test]
fn a_lone_transfer_that_is_split_takes_half_the_time() {
    let (control, half) = packets_at_the_rate_of_the_bus(2048);
    let on_die = Time::from_ns(20);
    let mut config = pnssd();
    config.pnssd.split_page = true;
    assert_eq!(latencies(&config, [read(0, 1, Time::ZERO)]), [control + READ + on_die * 2 + half]);
    assert_eq!(latencies(&config, [write(0, 1, Time::ZERO)]), [control + half + on_die + PROGRAM]);
    // A shared controller n serves row n and column n, one transfer at a time. Page 0 is on the diagonal, where both are controller 0, so its
    // transfer cannot be split. Page 8 has two controllers.
    config.pnssd.controllers = Controllers::Shared;
    let (_, whole) = packets_at_the_rate_of_the_bus(4096);
    assert_eq!(latencies(&config, [read(0, 1, Time::ZERO)]), [control + READ + on_die * 2 + whole]);
    assert_eq!(latencies(&config, [read(8, 1, Time::ZERO)]), [control + READ + on_die * 2 + half]);
}

#[test]
fn part_of_a_page_moves_only_its_own_bytes_and_their_share_of_the_metadata() {
    let mut config = bare_drive();
    config.geometry.page_spare = Bytes::new(224);
    config.fabric.channel_rate = Rate::from_bytes_per_second(1_000_000_000);
    let mut part = read(0, 1, Time::ZERO);
    part.size = Bytes::new(1024);
    assert_eq!(latencies(&config, [part]), [COMMAND + READ + Time::from_ns(1024 + 56)]);
}

#[test]
fn a_partial_write_of_a_written_page_reads_it_first() {
    let mut config = bare_drive();
    let second = Time::from_ms(1);
    let mut part = write(0, 1, second);
    part.size = Bytes::new(512);
    let whole = COMMAND + PAGE_TRANSFER + PROGRAM;
    let expected = [whole, COMMAND + READ + PAGE_TRANSFER + whole];
    assert_eq!(latencies(&config, [write(0, 1, Time::ZERO), part]), expected);
    config.fabric.kind = FabricKind::Ideal;
    assert_eq!(latencies(&config, [write(0, 1, Time::ZERO), part]), expected);
}

#[test]
fn a_two_plane_read_senses_once_and_sends_both_pages() {
    let mut config = bare_drive();
    config.flash.multi_plane = MultiPlane::SameOffset;
    config.ftl.allocation = order("PCWD");
    let expected = COMMAND * 2 + READ + PAGE_TRANSFER * 2;
    assert_eq!(latencies(&config, [read(0, 2, Time::ZERO)]), [expected]);
    config.flash.command_time_per_extra_plane = Some(Time::from_ns(3));
    assert_eq!(latencies(&config, [read(0, 2, Time::ZERO)]), [expected - Time::from_ns(7)]);
}

#[test]
fn a_two_plane_program_takes_one_program_time() {
    let mut config = bare_drive();
    config.flash.multi_plane = MultiPlane::SameOffset;
    config.ftl.allocation = order("PCWD");
    let both_pages = Rate::from_bytes_per_second(1_200_000_000).time_for(Bytes::from_kib(8));
    assert_eq!(latencies(&config, [write(0, 2, Time::ZERO)]), [COMMAND * 2 + both_pages + PROGRAM]);
}

#[test]
fn planes_that_may_not_join_work_one_after_the_other() {
    let mut config = bare_drive();
    config.ftl.allocation = order("PCWD");
    let one = COMMAND + READ + PAGE_TRANSFER;
    assert_eq!(latencies(&config, [read(0, 2, Time::ZERO)]), [one * 2]);
    assert_eq!(latencies(&config, [write(0, 2, Time::ZERO)]), [(COMMAND + PAGE_TRANSFER + PROGRAM) * 2]);
}

#[test]
fn two_dies_of_a_chip_sense_together_and_send_in_turn() {
    let mut config = bare_drive();
    config.geometry.dies_per_chip = 2;
    config.ftl.allocation = order("DCWP");
    for kind in [FabricKind::Bus, FabricKind::Ideal] {
        config.fabric.kind = kind;
        let reads = latencies(&config, [read(0, 2, Time::ZERO)]);
        assert_eq!(reads, [COMMAND + READ + PAGE_TRANSFER * 2]);
        let writes = latencies(&config, [write(0, 2, Time::ZERO)]);
        assert_eq!(writes, [(COMMAND + PAGE_TRANSFER) * 2 + PROGRAM]);
    }
}

#[test]
fn a_cache_register_lets_the_next_read_sense_while_data_leaves() {
    let mut config = bare_drive();
    config.flash.read_cache = true;
    // Four reads of one plane. Command 2 is sent as soon as page 1 is sensed, before the data of page 1.
    let pages = [0, 128, 256, 384].map(|page| read(page, 1, Time::ZERO));
    let done = completions(&config, pages);
    let first = COMMAND + READ + COMMAND + PAGE_TRANSFER;
    // After the first page the channel is the bottleneck, with one command and one page per read.
    let next = COMMAND + PAGE_TRANSFER;
    assert_eq!(done[0], first);
    assert_eq!(done[1], first + next);
    config.flash.read_cache = false;
    let done = completions(&config, pages);
    assert_eq!(done[3], (COMMAND + READ + PAGE_TRANSFER) * 4);
}

/// Returns a pseudo-random page of the whole drive.
fn any_page(n: u64) -> u64 {
    (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) % 5_800_000
}

/// Returns a pseudo-random page on channel 0.
fn any_page_of_row_0(n: u64) -> u64 {
    any_page(n) / 8 * 8
}

/// Returns a pseudo-random page of column 0. Pages 0 to 7 are on the chips of this column, one per row.
fn any_page_of_column_0(n: u64) -> u64 {
    any_page(n) / 64 * 64 + any_page(n) % 8
}

/// Returns the throughput of saturated single-page reads, in GB/s.
fn saturated(kind: FabricKind, page: fn(u64) -> u64) -> f64 {
    let mut config = bare_drive();
    config.fabric.kind = kind;
    saturated_on(config, page)
}

fn saturated_on(mut config: Config, page: fn(u64) -> u64) -> f64 {
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 4096;
    let (report, _) = run_source(&config, Repeated { left: 60_000, kind: RequestKind::Read, page });
    report.bandwidth_bytes_per_s / 1e9
}

#[test]
fn saturated_uniform_reads_fill_the_channels_of_the_bus() {
    assert_within("bus", saturated(FabricKind::Bus, any_page), 8.0 * 4096.0 / 3423.334, 0.01);
}

#[test]
fn saturated_reads_of_one_row_fill_one_channel_of_the_bus() {
    assert_within("bus, one row", saturated(FabricKind::Bus, any_page_of_row_0), 4096.0 / 3423.334, 0.01);
}

#[test]
fn saturated_reads_move_twice_as_fast_in_packets_less_their_overhead() {
    let page = (8.0 + 4096.0 + 12.0) / 2.4;
    assert_within("pSSD", saturated(FabricKind::Pssd, any_page), 8.0 * 4096.0 / page, 0.02);
    assert_within("pSSD, one row", saturated(FabricKind::Pssd, any_page_of_row_0), 4096.0 / page, 0.01);
}

/// Throughput of reads of a chip that never waits for a path, in GB/s. Command and page are sent in packets over 8 bits at 1.2 GB/s; handling the two
/// packets adds 40 ns to tR.
const CHIP: f64 = 4096.0 / ((8.0 + 4096.0 + 12.0) / 1.2 + 3040.0);

#[test]
fn saturated_uniform_reads_fill_the_horizontal_and_the_vertical_channels() {
    let channel = 4096.0 / ((8.0 + 4096.0 + 12.0) / 1.2);
    assert_within("pnSSD", saturated(FabricKind::Pnssd, any_page), 16.0 * channel, 0.02);
    let mut config = pnssd();
    config.pnssd.controllers = Controllers::Shared;
    assert_within("pnSSD, 8 controllers", saturated_on(config, any_page), 8.0 * channel, 0.02);
}

#[test]
fn saturated_reads_of_one_row_or_column_fill_its_chips_which_have_nine_channels() {
    assert_within("pnSSD, one row", saturated(FabricKind::Pnssd, any_page_of_row_0), 8.0 * CHIP, 0.02);
    assert_within("pnSSD, one column", saturated(FabricKind::Pnssd, any_page_of_column_0), 8.0 * CHIP, 0.02);
}

#[test]
fn with_shared_controllers_only_the_chip_on_the_diagonal_waits_in_a_hot_row() {
    let mut config = pnssd();
    config.pnssd.controllers = Controllers::Shared;
    // Reads of one column: each chip has the controller of its row to itself.
    assert_within("one column", saturated_on(config.clone(), any_page_of_column_0), 8.0 * CHIP, 0.02);
    // Reads of one row: seven chips can also use the controller of their column. The chip on the diagonal has only controller 0.
    let row = saturated_on(config, any_page_of_row_0);
    assert!((7.0 * CHIP..8.0 * CHIP).contains(&row), "{row} GB/s");
}

#[test]
fn saturated_uniform_reads_fill_the_chips_of_the_ideal_fabric() {
    assert_within("ideal", saturated(FabricKind::Ideal, |n| n), 64.0 * 4096.0 / 6423.334, 0.01);
}

#[test]
fn saturated_reads_of_one_row_fill_its_chips_on_the_ideal_fabric() {
    assert_within("ideal, one row", saturated(FabricKind::Ideal, |n| n * 8 % 5_800_000), 8.0 * 4096.0 / 6423.334, 0.01);
}

#[test]
fn reads_that_the_chips_could_serve_faster_are_bound_by_the_link() {
    let mut config = bare_drive();
    config.fabric.kind = FabricKind::Ideal;
    config.host.link_rate = Rate::from_bytes_per_second(8_000_000_000);
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 512;
    let (report, _) = run_source(&config, Repeated { left: 40_000, kind: RequestKind::Read, page: any_page });
    assert_within("link", report.iops, 8e9 / (4096.0 + 16.0), 0.01);
    assert!(report.bound.sentence.contains("host link, drive to host"), "{}", report.bound.sentence);
}

#[test]
fn writes_are_bound_by_the_program_time_of_the_chips() {
    let mut config = bare_drive();
    config.fabric.kind = FabricKind::Ideal;
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 1024;
    let (report, _) = run_source(&config, Repeated { left: 40_000, kind: RequestKind::Write, page: |n| n });
    assert_within("chips", report.iops, 64.0 / 103.423_334e-6, 0.01);
    assert!(report.bound.sentence.contains("dies"), "{}", report.bound.sentence);
}

#[test]
fn waiting_for_a_path_is_not_mistaken_for_the_transfer_of_a_later_plane() {
    let mut config = bare_drive();
    config.flash.multi_plane = MultiPlane::SameOffset;
    config.ftl.allocation = order("PWCD");
    // Both reads cover both planes of a chip, on one channel. The second chip is sensed while the first sends, then waits for the channel.
    let records = run(&config, [read(0, 2, Time::ZERO), read(2, 2, Time::ZERO)]);
    for record in &records {
        assert_eq!(record.breakdown.transfer, COMMAND * 2 + PAGE_TRANSFER * 2);
        assert_eq!(record.breakdown.array, READ);
    }
    // The two chips take turns on the channel, so each second page waits for a page of the other chip.
    assert_eq!(records[0].breakdown.path_wait, PAGE_TRANSFER);
    assert_eq!(records[1].breakdown.path_wait, PAGE_TRANSFER * 2);
    assert!(records.iter().all(|record| record.path_conflict.contains(Cause::Channel)));
}

#[test]
fn threads_that_have_no_more_requests_do_not_think_on() {
    let mut config = bare_drive();
    config.replay.mode = ReplayMode::Closed;
    config.replay.threads = 2;
    config.replay.think_time = Time::from_ms(1);
    let (report, _) = run_source(&config, Listed([read(0, 1, Time::ZERO), read(1, 1, Time::ZERO)].into()));
    let one = COMMAND + READ + PAGE_TRANSFER;
    assert_eq!(report.makespan_ps, one.as_ps());
    assert!((report.utilisation.dies[0] - 1.0).abs() < 1e-9, "die 0 was always busy: {}", report.utilisation.dies[0]);
}

#[test]
fn a_time_scale_that_leads_beyond_the_clock_is_an_error() {
    let mut config = bare_drive();
    config.replay.time_scale = 1e6;
    let requests = Listed([read(0, 1, Time::ZERO), read(1, 1, Time::from_us(20_000_000))].into());
    let mut simulation =
        flashmesh::simulation::Simulation::with_source(&config, Box::new(requests)).expect("the drive can be built");
    let error = simulation.run(&Default::default()).expect_err("the run exceeds the clock");
    assert!(error.to_string().contains("231 days"), "{error}");
}

#[test]
fn a_run_that_outlasts_the_clock_is_an_error() {
    let mut config = bare_drive();
    config.replay.mode = ReplayMode::Closed;
    config.replay.threads = 1;
    config.replay.think_time = Time::from_ms(1_000_000);
    let source = Repeated { left: 20_000, kind: RequestKind::Read, page: |n| n };
    let mut simulation =
        flashmesh::simulation::Simulation::with_source(&config, Box::new(source)).expect("the drive can be built");
    let error = simulation.run(&Default::default()).expect_err("the run exceeds the clock");
    assert!(error.to_string().contains("106 days"), "{error}");
}

#[test]
fn a_time_scale_multiplies_arrival_times() {
    let mut config = bare_drive();
    config.replay.time_scale = 0.5;
    let done = completions(&config, [read(0, 1, Time::ZERO), read(1, 1, Time::from_us(500))]);
    assert_eq!(done[1], Time::from_us(250) + COMMAND + READ + PAGE_TRANSFER);
}

/// Reads of one row of the bus keep its channel busy from the first command on, so the run is at its lower bound.
#[test]
fn a_hot_row_of_the_bus_reaches_its_lower_bound() {
    let config = bare_drive();
    let count = 2_000;
    let reads = (0..count).map(|n| read(n * 8 % 4096, 1, Time::ZERO)).collect();
    let (report, _) = run_source(&config, Listed(reads));
    let bound = &report.lower_bound;
    assert_eq!(bound.limit, Limit::Rows);
    assert_eq!(bound.rows_ps, Some(((COMMAND + PAGE_TRANSFER) * count).as_ps()));
    assert_eq!(bound.controllers_ps, Some(((COMMAND + PAGE_TRANSFER) * count).as_ps() / 8));
    // The channel idles only while the first page is sensed.
    let distance = bound.distance.expect("requests completed");
    assert!(distance > 0.0 && distance < 1e-3, "{distance}");
}

/// A die draws 82.5 mW while it reads (3 us) or programs (100 us), a channel 10.8 mW while it transfers.
#[test]
fn a_few_pages_take_the_energy_of_their_operations_and_transfers() {
    let config = bare_drive();
    let requests = [read(0, 2, Time::ZERO), write(8, 1, Time::ZERO)];
    let (report, _) = run_source(&config, Listed(requests.into()));
    let energy = &report.power.energy_j;
    let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9 * expected;
    assert!(near(energy.read, 2.0 * READ.as_secs_f64() * 0.0825), "{energy:?}");
    assert!(near(energy.program, PROGRAM.as_secs_f64() * 0.0825), "{energy:?}");
    assert!(near(energy.channels, 3.0 * (COMMAND + PAGE_TRANSFER).as_secs_f64() * 0.0108), "{energy:?}");
    assert_eq!((energy.erase, energy.links, energy.routers, energy.controllers), (0.0, 0.0, 0.0, 0.0));
}
