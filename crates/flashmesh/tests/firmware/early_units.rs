//! Writes that get their places before their turn where a program writes several mapping units, against arithmetic: what fills a program, what
//! waits for whom, what is left empty.

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
/// A unit of 4 KiB, at a nanosecond a byte.
const UNIT: Time = Time::from_ns(4096);

/// One die of so many planes, with four units of 4 KiB in a page. Units lie on its planes in turn, four by four.
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

/// Runs these requests; gives the report and the latencies in the order of issue.
fn measured(config: &Config, requests: impl IntoIterator<Item = IoRequest>) -> (Report, Vec<Time>) {
    config.validate().expect("the configuration is legal");
    let (report, mut records) = run_source(config, Listed(requests.into_iter().collect()));
    records.sort_by_key(|record| record.id);
    (report, records.iter().map(|record| record.completed - record.arrival).collect())
}

/// The command, the data of so many pages and the program.
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

/// Four units of each plane have the first page there; with seven of eight the page of one plane is full, and does not wait for the other.
#[test]
fn planes_join_for_programs_that_are_full() {
    let (report, latencies) = measured(&die_of(2), [write(0, 8, Time::ZERO)]);
    assert_eq!((counts(&report), latencies), ((8, 0, 1), vec![program_of(2)]));

    let (report, latencies) = measured(&die_of(2), [write(0, 7, Time::ZERO)]);
    assert_eq!((counts(&report), latencies), ((7, 1, 0), vec![TIMEOUT + program_of(1)]));
    // Then the pages that follow agree: plane 0 has its second one, and plane 1 as well.
    let (report, latencies) = measured(&die_of(2), [write(0, 7, Time::ZERO), write(0, 8, Time::from_ms(50))]);
    assert_eq!((counts(&report), latencies[1]), ((15, 1, 1), program_of(2)));
    // A plane that has written more than the other has another page, and they do not join.
    let (report, latencies) = measured(&die_of(2), [write(0, 4, Time::ZERO), write(0, 8, Time::from_ms(50))]);
    assert_eq!((counts(&report), latencies[1]), ((12, 0, 0), program_of(1) * 2));
}

/// The write of a part of a unit keeps its place while it reads the rest, and those that share its page wait for it. The unit that comes after
/// them has the next page; with late binding it would have been the fourth.
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
    // The cache sends what is written to flash at once, where it waits for others.
    config.cache.capacity = Bytes::from_kib(256);
    (config.cache.high_mark, config.cache.low_mark) = (0.0, 0.0);
    let flush = IoRequest { kind: RequestKind::Flush, size: Bytes::ZERO, ..write(0, 1, Time::from_us(50)) };
    let writes = [write(0, 1, Time::ZERO), write(2, 1, Time::ZERO)];
    let (report, latencies) = measured(&config, writes.into_iter().chain([flush]));
    assert_eq!((counts(&report), latencies[2]), ((2, 2, 0), program_of(1)));
    // With capacitors it need not be on flash, and nothing is hurried.
    config.cache.flush_programs = false;
    config.power.capacitors = true;
    let later = read(9, 1, Time::from_ms(20));
    let (report, latencies) = measured(&config, writes.into_iter().chain([flush, later]));
    assert_eq!((counts(&report), latencies[2]), ((2, 2, 0), Time::ZERO));
}

/// A unit that is read before it was written takes a place of the page that gathers: one that takes the last has the others programmed.
#[test]
fn a_unit_that_is_read_before_it_was_written_takes_a_place_and_is_not_programmed() {
    let mut config = die_of(1);
    config.ftl.first_touch = FirstTouch::WriteBlock;
    let at = Time::from_us(50);
    let writes = |units: u64| (0..units).map(|unit| write(unit, 1, Time::ZERO));
    let (report, latencies) = measured(&config, writes(3).chain([read(9, 1, at)]));
    assert_eq!(counts(&report), (3, 0, 0));
    // The read of the unit and the program meet at the die, and the read is first.
    assert!(latencies[..3].iter().all(|&latency| latency < TIMEOUT), "{latencies:?}");
    let (report, latencies) = measured(&config, writes(2).chain([read(9, 1, at)]));
    assert_eq!((counts(&report), latencies[0]), ((2, 1, 0), TIMEOUT + program_of(1)));
}

/// A drive that is full and collects, whose moved units lie behind those that are written, in blocks of their own, or by stream.
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
    config.validate().expect("the configuration is legal");
    run_checked(&config)
}

#[test]
fn a_full_drive_collects_and_early_places_cost_no_more_than_what_they_leave_empty() {
    for moved in [MovedPages::OwnBlock, MovedPages::WriteBlock] {
        for word_line in [false, true] {
            let report = collecting(|config| {
                config.gc.moved_pages = moved;
                if word_line {
                    config.flash.page_types = PageTypes::Tlc;
                    config.flash.program_unit = ProgramUnit::WordLine;
                }
            });
            let (flash, gc) = (&report.flash, &report.gc);
            assert!(gc.erases > 20 && flash.units_skipped > 0, "{moved:?}: {} erases", gc.erases);
            let programmed = flash.user_programs + gc.pages_moved + flash.units_skipped;
            let amplification = programmed as f64 / flash.user_programs as f64;
            assert_within("write amplification", report.write_amplification.expect("it writes"), amplification, 1e-9);
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
    // Two pages are full and programmed; two units wait for others, and are lost with the request that wrote them.
    let writes = (0..10).map(|unit| write(unit, 1, Time::ZERO)).chain([write(0, 1, Time::from_ms(1_000))]);
    let (report, _) = measured(&config, writes);
    let cut = report.power_cut.as_ref().expect("it came");
    let recovery = cut.recovery.as_ref().expect("there is a journal");
    assert_eq!((cut.requests_lost, recovery.pages_found, recovery.pages_lost), (2, 8, 0));
    for at in [50, 150, 1_000, 20_000] {
        let report = collecting(|config| {
            config.persistence.policy = PersistencePolicy::Journal;
            config.persistence.checkpoint_interval = 100;
            config.power.cut = Some(Time::from_us(at));
        });
        assert!(report.power_cut.is_some(), "it came at {at} us");
    }
}
