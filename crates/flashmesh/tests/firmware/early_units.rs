//! Early binding with several mapping units per program, compared with arithmetic: when a program is full, which writes wait for each other, and
//! which locations stay empty.

use flashmesh::config::{
    Config, FirstTouch, MovedPages, MultiPlane, PageTypes, PersistencePolicy, PreconditionKind, ProgramOrder,
    ProgramUnit, ReplayMode, WriteBinding,
};
use flashmesh::measure::report::Report;
use flashmesh::units::{Bytes, Rate, Time};
use flashmesh::workload::{IoRequest, RequestKind};

use crate::support::drives::*;

const COMMAND: Time = Time::from_ns(10);
const READ: Time = Time::from_us(3);
const PROGRAM: Time = Time::from_us(100);
const TIMEOUT: Time = Time::from_ms(5);
/// Transfer time of a mapping unit of 4 KiB at 1 B/ns.
const UNIT: Time = Time::from_ns(4096);

/// Returns a drive of one die of `planes` planes, with four mapping units of 4 KiB per page. Consecutive groups of four units alternate between the
/// planes.
fn die_of(planes: u32) -> Config {
    let mut config = bare_drive();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = planes;
    config.geometry.blocks_per_plane = 64;
    config.geometry.pages_per_block = 96;
    config.geometry.page_size = Bytes::from_kib(16);
    config.geometry.sector_size = Bytes::new(512);
    config.geometry.over_provisioning = 0.25;
    config.fabric.channel_rate = Rate::from_bytes_per_second(1_000_000_000);
    config.flash.multi_plane = MultiPlane::SameOffset;
    config.flash.program_order = ProgramOrder::Any;
    config.ftl.mapping_unit = Some(Bytes::from_kib(4));
    config.ftl.write_binding = WriteBinding::Early;
    config.ftl.gather_timeout = TIMEOUT;
    config
}

/// Runs `requests`. Returns the report, and the latencies in order of issue.
fn measured(config: &Config, requests: impl IntoIterator<Item = IoRequest>) -> (Report, Vec<Time>) {
    config.validate().expect("the configuration is valid");
    let (report, mut records) = run_source(config, Listed(requests.into_iter().collect()));
    records.sort_by_key(|record| record.id);
    (report, records.iter().map(|record| record.completed - record.arrival).collect())
}

/// Returns the time of one program of `pages` pages, one per plane: command and data of each page, then the array.
fn program_of(pages: u64) -> Time {
    (COMMAND + UNIT * 4) * pages + PROGRAM
}

fn counts(report: &Report) -> (u64, u64, u64) {
    (report.flash.user_programs, report.flash.units_skipped, report.flash.multi_plane_operations)
}

#[test]
fn the_last_place_of_a_page_begins_its_program_and_the_timeout_one_that_nobody_fills() {
    let (report, latencies) = measured(&die_of(1), (0..5).map(|unit| write(unit, 1, Time::ZERO)));
    let expected = [vec![program_of(1); 4], vec![TIMEOUT + program_of(1)]].concat();
    assert_eq!(latencies, expected);
    assert_eq!(counts(&report), (5, 3, 0));
    assert_eq!(report.write_amplification, Some(8.0 / 5.0));
}

#[test]
fn a_word_line_is_full_with_the_units_of_all_its_pages() {
    let mut config = die_of(1);
    config.flash.page_types = PageTypes::Tlc;
    config.flash.program_unit = ProgramUnit::WordLine;
    let (report, latencies) = measured(&config, (0..26).map(|unit| write(unit, 1, Time::ZERO)));
    let word_line = COMMAND + UNIT * 12 + PROGRAM;
    let expected = [vec![word_line; 12], vec![word_line * 2; 12], vec![TIMEOUT + word_line; 2]].concat();
    assert_eq!(latencies, expected);
    assert_eq!(counts(&report), (26, 10, 0));
}

/// Eight mapping units fill a page on both planes, which are programmed together. Seven fill only the first plane's page, which is programmed alone.
#[test]
fn planes_join_for_programs_that_are_full() {
    let (report, latencies) = measured(&die_of(2), [write(0, 8, Time::ZERO)]);
    assert_eq!((counts(&report), latencies), ((8, 0, 1), vec![program_of(2)]));

    let (report, latencies) = measured(&die_of(2), [write(0, 7, Time::ZERO)]);
    assert_eq!((counts(&report), latencies), ((7, 1, 0), vec![TIMEOUT + program_of(1)]));
    // After seven mapping units both planes are at page offset 1, so their next programs join.
    let (report, latencies) = measured(&die_of(2), [write(0, 7, Time::ZERO), write(0, 8, Time::from_ms(50))]);
    assert_eq!((counts(&report), latencies[1]), ((15, 1, 1), program_of(2)));
    // After four mapping units only the first plane is at page offset 1, so the programs do not join.
    let (report, latencies) = measured(&die_of(2), [write(0, 4, Time::ZERO), write(0, 8, Time::from_ms(50))]);
    assert_eq!((counts(&report), latencies[1]), ((12, 0, 0), program_of(1) * 2));
}

/// A partial write keeps its location while the rest of its mapping unit is read, and the writes bound to the same page wait for it. The next unit
/// goes to the next page; late binding would add it to this page.
#[test]
fn a_write_of_a_part_keeps_its_place_in_its_program() {
    let at = Time::from_ms(100);
    let part = IoRequest { size: Bytes::new(512), ..write(0, 1, at) };
    let requests =
        || (0..4).map(|unit| write(unit, 1, Time::ZERO)).chain([part]).chain((1..5).map(|unit| write(unit, 1, at)));
    let (report, latencies) = measured(&die_of(1), requests());
    let first = COMMAND + READ + UNIT + program_of(1);
    assert_eq!(latencies[4..], [first, first, first, first, TIMEOUT + program_of(1)]);
    assert_eq!((counts(&report), report.flash.partial_write_reads), ((9, 3, 0), 1));

    let mut late = die_of(1);
    late.ftl.write_binding = WriteBinding::Late;
    let (_, latencies) = measured(&late, requests());
    assert!(latencies[4] > TIMEOUT && latencies[8] < TIMEOUT, "{latencies:?}");
}

#[test]
fn a_flush_has_programs_run_with_what_they_have() {
    let mut config = die_of(1);
    // The cache destages each write at once, so the program stays partly filled.
    config.cache.capacity = Bytes::from_kib(256);
    (config.cache.high_mark, config.cache.low_mark) = (0.0, 0.0);
    let flush = IoRequest { kind: RequestKind::Flush, size: Bytes::ZERO, ..write(0, 1, Time::from_us(50)) };
    let writes = [write(0, 1, Time::ZERO), write(2, 1, Time::ZERO)];
    let (report, latencies) = measured(&config, writes.into_iter().chain([flush]));
    assert_eq!((counts(&report), latencies[2]), ((2, 2, 0), program_of(1)));
    // With capacitors and without `cache.flush-programs`, a flush does not wait for flash and starts no program.
    config.cache.flush_programs = false;
    config.power.capacitors = true;
    let later = read(9, 1, Time::from_ms(20));
    let (report, latencies) = measured(&config, writes.into_iter().chain([flush, later]));
    assert_eq!((counts(&report), latencies[2]), ((2, 2, 0), Time::ZERO));
}

/// A read of an unwritten mapping unit takes a location in the page that is being filled. If it takes the last one, the gathered writes are
/// programmed at once.
#[test]
fn a_unit_that_is_read_before_it_was_written_takes_a_place_and_is_not_programmed() {
    let mut config = die_of(1);
    config.ftl.first_touch = FirstTouch::WriteBlock;
    let at = Time::from_us(50);
    let writes = |units: u64| (0..units).map(|unit| write(unit, 1, Time::ZERO));
    let (report, latencies) = measured(&config, writes(3).chain([read(9, 1, at)]));
    assert_eq!(counts(&report), (3, 0, 0));
    // The read delays the program a little; the writes must only not wait for the timeout.
    assert!(latencies[..3].iter().all(|&latency| latency < TIMEOUT), "{latencies:?}");
    let (report, latencies) = measured(&config, writes(2).chain([read(9, 1, at)]));
    assert_eq!((counts(&report), latencies[0]), ((2, 1, 0), TIMEOUT + program_of(1)));
}

/// Runs a full drive with GC, in a configuration changed by `more`.
fn collecting(more: impl Fn(&mut Config)) -> Report {
    let mut config = die_of(2);
    config.geometry.channels = 2;
    config.geometry.blocks_per_plane = 32;
    config.geometry.pages_per_block = 24;
    config.geometry.over_provisioning = 0.4;
    config.precondition.kind = PreconditionKind::Random;
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 24;
    config.ftl.gather_timeout = Time::from_us(300);
    config.workload.read_share = 0.3;
    config.workload.requests = Some(6_000);
    more(&mut config);
    config.validate().expect("the configuration is valid");
    run_checked(&config)
}

#[test]
fn a_full_drive_collects_and_early_places_cost_no_more_than_what_they_leave_empty() {
    for moved in [MovedPages::OwnBlock, MovedPages::WriteBlock] {
        for word_line in [false, true] {
            let report = collecting(|config| {
                config.gc.moved_pages = Some(moved);
                if word_line {
                    config.flash.page_types = PageTypes::Tlc;
                    config.flash.program_unit = ProgramUnit::WordLine;
                }
            });
            let (flash, gc) = (&report.flash, &report.gc);
            assert!(gc.erases > 20 && flash.units_skipped > 0, "{moved:?}: {} erases", gc.erases);
            let programmed = flash.user_programs + gc.pages_moved + flash.units_skipped;
            let amplification = programmed as f64 / flash.user_programs as f64;
            assert_within(
                "write amplification",
                report.write_amplification.expect("the host wrote"),
                amplification,
                1e-9,
            );
        }
    }
}

#[test]
fn what_was_programmed_before_a_cut_is_found_after_it() {
    let mut config = die_of(1);
    config.persistence.policy = PersistencePolicy::Journal;
    config.persistence.checkpoint_interval = 100;
    config.power.capacitors = false;
    config.power.cut = Some(Time::from_ms(2));
    // Two pages are full and programmed. The last two mapping units still wait for their page to fill, and are lost with their requests.
    let writes = (0..10).map(|unit| write(unit, 1, Time::ZERO)).chain([write(0, 1, Time::from_ms(1_000))]);
    let (report, _) = measured(&config, writes);
    let cut = report.power_cut.as_ref().expect("the power was cut");
    let recovery = cut.recovery.as_ref().expect("the drive has a journal");
    assert_eq!((cut.requests_lost, recovery.pages_found, recovery.pages_lost), (2, 8, 0));
    for at in [50, 150, 1_000, 20_000] {
        let report = collecting(|config| {
            config.persistence.policy = PersistencePolicy::Journal;
            config.persistence.checkpoint_interval = 100;
            config.power.cut = Some(Time::from_us(at));
        });
        assert!(report.power_cut.is_some(), "the power is cut at {at} us");
    }
}
