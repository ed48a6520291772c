//! Independent plane reads (`flash.multi-plane = "independent"`), compared with arithmetic and with drives that have a die per plane.

use flashmesh::config::{Config, FabricKind, KindOrder, MultiPlane, Suspension};
use flashmesh::measure::lower_bound::Limit;
use flashmesh::measure::report::Report;
use flashmesh::units::{Bytes, Rate, Time};
use flashmesh::workload::IoRequest;

use crate::support::drives::*;

const COMMAND: Time = Time::from_ns(10);
const READ: Time = Time::from_us(3);
const PROGRAM: Time = Time::from_us(100);
/// Transfer time of 4096 bytes at 1.2 GB/s, rounded up.
const PAGE_TRANSFER: Time = Time::from_ps(3_413_334);

/// Returns a bus drive of one die with `planes` planes, whose consecutive pages are in consecutive planes.
fn one_die(planes: u32) -> Config {
    let mut config = bare_drive();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = planes;
    config.ftl.allocation = order("PCWD");
    config.flash.multi_plane = MultiPlane::Independent;
    config
}

/// Returns reads of `count` consecutive pages, a request each, all at time 0.
fn reads(count: u64) -> Vec<IoRequest> {
    (0..count).map(|page| read(page, 1, Time::ZERO)).collect()
}

#[test]
fn planes_of_a_die_sense_beside_each_other_and_send_in_turn() {
    let done = completions(&one_die(4), reads(4));
    let first = COMMAND + READ + PAGE_TRANSFER;
    // All planes are sensed before the first page has left, so the channel then sends page after page.
    assert_eq!(done, [first, first + PAGE_TRANSFER, first + PAGE_TRANSFER * 2, first + PAGE_TRANSFER * 3]);
}

#[test]
fn a_read_begins_while_another_plane_is_in_the_middle_of_its_own() {
    let mut config = one_die(2);
    config.fabric.channel_rate = Rate::UNLIMITED;
    let late = Time::from_us(1);
    let done = completions(&config, [read(0, 1, Time::ZERO), read(1, 1, late)]);
    assert_eq!(done, [COMMAND + READ, late + COMMAND + READ]);
    config.flash.multi_plane = MultiPlane::SameOffset;
    assert_eq!(completions(&config, [read(0, 1, Time::ZERO), read(1, 1, late)])[1], (COMMAND + READ) * 2);
}

#[test]
fn reads_of_one_plane_wait_for_each_other() {
    let config = one_die(2);
    let done = completions(&config, [read(0, 1, Time::ZERO), read(2, 1, Time::ZERO)]);
    assert_eq!(done[1], (COMMAND + READ + PAGE_TRANSFER) * 2);
}

#[test]
fn a_cache_register_of_a_plane_lets_its_next_read_sense_while_data_leaves() {
    let mut config = one_die(2);
    config.flash.read_cache = true;
    let done = completions(&config, [read(0, 1, Time::ZERO), read(2, 1, Time::ZERO)]);
    // The command of the second read is sent before the data of the first read.
    assert_eq!(done, [COMMAND * 2 + READ + PAGE_TRANSFER, COMMAND * 2 + READ + PAGE_TRANSFER * 2]);
}

#[test]
fn at_most_as_many_planes_read_at_once_as_allowed() {
    let mut config = one_die(4);
    config.fabric.channel_rate = Rate::UNLIMITED;
    let last = |config: &Config| *completions(config, reads(4)).iter().max().expect("reads end");
    assert_eq!(last(&config), COMMAND * 4 + READ);
    config.flash.plane_reads_max = Some(2);
    assert_eq!(last(&config), COMMAND * 3 + READ * 2);
    config.flash.plane_reads_max = Some(1);
    assert_eq!(last(&config), (COMMAND + READ) * 4);
}

#[test]
fn a_program_waits_until_all_planes_have_read_and_no_read_begins_beside_it() {
    let mut config = one_die(2);
    config.fabric.channel_rate = Rate::UNLIMITED;
    let us = Time::from_us;
    let requests = [read(0, 1, Time::ZERO), write(2, 1, us(1)), read(1, 1, us(2))];
    config.schedule.order = KindOrder::Arrival;
    let program_ends = COMMAND + READ + COMMAND + PROGRAM;
    // In order of arrival, the read of plane 1 waits for the write, and the write waits for the read of plane 0.
    assert_eq!(completions(&config, requests), [COMMAND + READ, program_ends, program_ends + COMMAND + READ]);
    config.schedule.order = KindOrder::ReadFirst;
    let second_read = us(2) + COMMAND + READ;
    assert_eq!(completions(&config, requests), [COMMAND + READ, second_read + COMMAND + PROGRAM, second_read]);
}

#[test]
fn programs_of_planes_still_join() {
    let config = one_die(2);
    let both_pages = Rate::from_bytes_per_second(1_200_000_000).time_for(Bytes::from_kib(8));
    assert_eq!(latencies(&config, [write(0, 2, Time::ZERO)]), [COMMAND * 2 + both_pages + PROGRAM]);
}

#[test]
fn reads_of_several_planes_run_during_one_suspension() {
    let mut config = one_die(2);
    config.fabric.channel_rate = Rate::UNLIMITED;
    config.flash.suspension = Suspension::Program;
    let (suspend, resume) = (config.flash.suspend_time, config.flash.resume_time);
    let at = Time::from_us(20);
    let done = completions(&config, [write(4, 1, Time::ZERO), read(0, 1, at), read(1, 1, at)]);
    let second_read = at + COMMAND * 2 + suspend + READ;
    assert_eq!(done[1..], [second_read - COMMAND, second_read]);
    // The program makes no progress between its suspension and its resumption.
    assert_eq!(done[0], COMMAND + PROGRAM + (second_read - at) + resume);
}

/// Returns a drive of 20 channels, one chip each, with 2,048 random reads of 512 B outstanding.
fn wide_drive(dies: u32, planes: u32) -> Config {
    config_of(&format!(
        r#"
        geometry = {{ channels = 20, chips-per-channel = 1, dies-per-chip = {dies}, planes-per-die = {planes}, blocks-per-plane = 16, over-provisioning = 0.4 }}
        flash = {{ read-time = "5us", command-time = "1ns", multi-plane = "same-offset" }}
        fabric = {{ channel-rate = "4GB/s" }}
        host = {{ link-rate = "unlimited", queue-depth = 4096 }}
        precondition = {{ kind = "sequential" }}
        replay = {{ mode = "stress", outstanding = 2048 }}
        workload = {{ read-share = 1.0, request-size = "512B", requests = 60000 }}
        "#
    ))
}

fn iops(config: &Config) -> f64 {
    let Report { requests, makespan_ps, .. } = run_checked(config);
    requests as f64 / (makespan_ps as f64 * 1e-12)
}

#[test]
fn independent_planes_serve_within_5_percent_what_planes_modelled_as_dies_serve() {
    let as_dies = iops(&wide_drive(24, 1));
    let mut planes = wide_drive(4, 6);
    let joint = iops(&planes);
    planes.flash.multi_plane = MultiPlane::Independent;
    let independent = iops(&planes);
    assert!((independent / as_dies - 1.0).abs() < 0.05, "{independent:.0} and {as_dies:.0} reads a second");
    assert!(independent > 2.5 * joint, "{independent:.0} and {joint:.0} reads a second");
}

#[test]
fn the_busiest_plane_bounds_a_run_of_reads() {
    let mut config = one_die(4);
    config.fabric.kind = FabricKind::Ideal;
    config.flash.read_time = Time::from_us(50);
    config.fabric.channel_rate = Rate::UNLIMITED;
    // Planes 0 to 3 have 5, 1, 1 and 1 reads, so plane 0 sets the lower bound.
    let pages = [0, 4, 8, 12, 16, 1, 2, 3].map(|page| read(page, 1, Time::ZERO));
    let (report, _) = run_source(&config, Listed(pages.into_iter().collect()));
    let bound = &report.lower_bound;
    assert_eq!((bound.limit, bound.dies_ps), (Limit::Dies, ((COMMAND + Time::from_us(50)) * 5).as_ps()));
    assert!(bound.makespan_ps <= report.makespan_ps);
}
