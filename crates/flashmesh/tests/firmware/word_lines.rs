//! Word-line programs on whole drives, compared with arithmetic: times, gathering, skipped pages, and stalls at a full write buffer.

use flashmesh::config::{
    Config, FirmwarePolicy, MultiPlane, PageTypes, Priorities, Priority, ProgramUnit, StreamConfig,
};
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;
use flashmesh::workload::source::WorkloadSource;

use crate::support::drives::*;

pub const COMMAND: Time = Time::from_ns(10);
pub const PROGRAM: Time = Time::from_us(600);
/// Transfer time of three pages of 4 KiB at 1.2 GB/s.
pub const WORD_LINE: Time = Time::from_ns(10_240);

/// Returns a drive of one die of `planes` planes, programmed together in word lines of three pages.
pub fn die_of(planes: u32) -> Config {
    let mut config = bare_drive();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = planes;
    config.geometry.blocks_per_plane = 64;
    config.geometry.pages_per_block = 96;
    config.geometry.over_provisioning = 0.25;
    config.flash.page_types = PageTypes::Tlc;
    config.flash.program_unit = ProgramUnit::WordLine;
    config.flash.program_time = PROGRAM;
    config.flash.multi_plane = MultiPlane::SameOffset;
    config.ftl.policy = FirmwarePolicy::Tbm;
    config.ftl.gather_timeout = Time::from_ms(5);
    config
}

/// Runs `requests`. Returns the report, and the latencies in order of issue.
pub fn measured(config: &Config, requests: impl IntoIterator<Item = IoRequest>) -> (Report, Vec<Time>) {
    config.validate().expect("the configuration is valid");
    let (report, mut records) = run_source(config, Listed(requests.into_iter().collect()));
    records.sort_by_key(|record| record.id);
    (report, records.iter().map(|record| record.completed - record.arrival).collect())
}

#[test]
fn a_word_line_takes_its_data_and_one_program_whatever_its_pages() {
    for planes in [2, 4] {
        let pages = u64::from(3 * planes);
        let writes = (0..pages).map(|page| write(page, 1, Time::ZERO));
        let (report, latencies) = measured(&die_of(planes), writes);
        let expected = (COMMAND + WORD_LINE) * u64::from(planes) + PROGRAM;
        assert_eq!(latencies, vec![expected; pages as usize], "{planes} planes");
        assert_eq!((report.flash.user_programs, report.flash.units_skipped), (pages, 0));
    }
}

#[test]
fn a_word_line_that_nobody_fills_is_programmed_after_the_timeout_and_the_rest_is_skipped() {
    let config = die_of(2);
    let (report, latencies) = measured(&config, (0..5).map(|page| write(page, 1, Time::ZERO)));
    // A program always covers whole word lines, so the channel transfers a sixth page too.
    let expected = Time::from_ms(5) + (COMMAND + WORD_LINE) * 2 + PROGRAM;
    assert!(latencies.iter().all(|&latency| latency == expected), "{latencies:?}, expected {expected}");
    assert_eq!((report.flash.user_programs, report.flash.units_skipped), (5, 1));
    assert_eq!(report.write_amplification, Some(6.0 / 5.0));
}

/// Two streams of different priorities write three pages each, which fill a word line on both planes.
#[test]
fn writes_of_different_priorities_fill_a_word_line_together() {
    for priorities in [Priorities::Off, Priorities::Strict, Priorities::Weighted] {
        let mut config = die_of(2);
        config.schedule.priorities = priorities;
        let template = config.streams().remove(0);
        let stream = |(name, priority): (&str, Priority)| {
            let mut stream = StreamConfig { name: name.to_owned(), ..template.clone() };
            stream.queue.priority = priority;
            stream
        };
        config.stream = [("first", Priority::High), ("second", Priority::Low)].map(stream).to_vec();
        let writes = |first: u64| Listed((first..first + 3).map(|page| write(page, 1, Time::ZERO)).collect());
        let sources: Vec<Box<dyn WorkloadSource>> = vec![Box::new(writes(0)), Box::new(writes(3))];
        let (report, records) = finish(Simulation::with_sources(&config, sources).expect("the drive can be built"));
        assert_eq!((report.flash.user_programs, report.flash.units_skipped), (6, 0), "{priorities}");
        let expected = (COMMAND + WORD_LINE) * 2 + PROGRAM;
        assert!(records.iter().all(|record| record.completed == expected), "{priorities}: {records:?}");
    }
}

/// A host write of a part of a mapping unit programs the whole unit, so write amplification is the ratio of unit size to write size.
#[test]
fn a_small_write_programs_its_unit() {
    for (unit_kib, write_kib) in [(16, 16), (16, 4), (4, 4), (4, 1), (4, 2)] {
        let mut config = die_of(2);
        config.geometry.page_size = Bytes::from_kib(16);
        config.geometry.sector_size = Bytes::new(512);
        config.ftl.mapping_unit = Some(Bytes::from_kib(unit_kib));
        let count = 480;
        let writes = (0..count).map(|number| IoRequest {
            offset: Bytes::from_kib(number * 64),
            size: Bytes::from_kib(write_kib),
            ..write(0, 1, Time::from_us(number * 20))
        });
        let (report, _) = measured(&config, writes);
        let programmed = Bytes::from_kib(unit_kib) * report.flash.user_programs;
        let amplification = programmed.as_u64() as f64 / (Bytes::from_kib(write_kib) * count).as_u64() as f64;
        assert_eq!(amplification, unit_kib as f64 / write_kib as f64, "{write_kib} KiB in units of {unit_kib} KiB");
        assert_eq!(report.flash.units_skipped, 0);
    }
}

/// Writes arrive at twice the program rate, so a buffer of `n` pages stalls after about `2 n` writes.
#[test]
fn a_buffer_is_full_when_arrivals_are_ahead_of_service_by_what_it_holds() {
    let mut config = die_of(2);
    let buffer = 96;
    config.cache.capacity = Bytes::new(buffer * PAGE);
    config.cache.high_mark = 0.0;
    config.cache.low_mark = 0.0;
    config.cache.keep_destaged = false;
    config.cache.flush_at_end = false;
    let service = (COMMAND + WORD_LINE) * 2 + PROGRAM;
    let period = Time::from_ps(service.as_ps() / 12);
    let (_, latencies) = measured(&config, (0..600).map(|page| write(page, 1, period * page)));
    let stalled = latencies.iter().position(|&latency| latency > Time::from_us(50)).expect("the buffer becomes full");
    // The first program starts with the sixth write. A program frees six pages and takes as long as twelve arrivals.
    let held = |writes: u64| writes - writes.saturating_sub(5) / 12 * 6;
    assert_eq!(Some(stalled as u64), (0..600).find(|&writes| held(writes) >= buffer));
    // From the first stall on, writes complete at the program rate, so their latency grows steadily.
    let grows = latencies[590].saturating_sub(latencies[300]).as_ps() as f64;
    let expected = 290.0 * period.as_ps() as f64;
    assert!((grows / expected - 1.0).abs() < 0.05, "{grows} ps, expected {expected}");
}

/// Cuts the power at `at` while mapping units gather in the cache. A program takes 24 units of 4 KiB.
fn cut_while_units_gather(writes: u64, at: Time, capacitors: bool) -> Report {
    let mut config = die_of(2);
    config.geometry.page_size = Bytes::from_kib(16);
    config.ftl.mapping_unit = Some(Bytes::from_kib(4));
    config.cache.capacity = Bytes::new(256 * PAGE);
    config.cache.high_mark = 0.0;
    config.cache.low_mark = 0.0;
    config.power.cut = Some(at);
    config.power.capacitors = capacitors;
    let read_later = read(0, 1, Time::from_ms(100));
    measured(&config, (0..writes).map(|unit| write(unit, 1, Time::ZERO)).chain([read_later])).0
}

#[test]
fn units_that_gather_are_programmed_by_capacitors_and_lost_without() {
    // Of 30 mapping units the first 24 are being programmed at 400 us and are on flash at 2 ms.
    for (writes, at, saved, torn) in [
        (20, Time::from_ms(2), 0, 0),
        (30, Time::from_us(400), 0, 24),
        (30, Time::from_ms(2), 24, 0),
        (48, Time::from_ms(4), 48, 0),
    ] {
        let unsaved = writes - saved;
        let without = cut_while_units_gather(writes, at, false).power_cut.expect("the power was cut");
        assert_eq!(
            (without.dirty_pages, without.pages_lost, without.programs_lost),
            (unsaved, unsaved, torn),
            "{writes}"
        );
        assert_eq!((without.bytes_lost, without.pages_programmed), (unsaved * PAGE, 0), "{writes}");
        let with = cut_while_units_gather(writes, at, true).power_cut.expect("the power was cut");
        assert_eq!((with.dirty_pages, with.pages_lost, with.programs_lost), (unsaved, 0, 0), "{writes}");
        assert_eq!(with.pages_programmed, unsaved, "{writes}");
    }
}

/// TBM moves pages to the plane that is furthest behind. A plane ahead of the others may receive none, so its partly filled program must not wait for
/// more.
#[test]
fn collections_of_twin_blocks_go_on_where_planes_lag_behind_each_other() {
    let text = "\
[geometry]
channels = 8
chips-per-channel = 2
dies-per-chip = 1
planes-per-die = 4
blocks-per-plane = 64
pages-per-block = 1152
page-size = \"16KiB\"
sector-size = \"4KiB\"
capacity = \"65236320256B\"
[flash]
page-types = \"tlc\"
program-unit = \"word-line\"
read-time = \"28us\"
middle-page-read-time = \"38us\"
upper-page-read-time = \"56us\"
program-time = \"1620us\"
erase-time = \"3500us\"
suspension = \"both\"
suspend-time = \"160us\"
suspensions-max = 64
[ftl]
policy = \"tbm\"
allocation = \"dynamic\"
mapping-unit = \"4KiB\"
gather-timeout = \"1s\"
[gc]
threshold = \"1%\"
hard-threshold = \"0.2%\"
preemptible = true
paced = true
[cache]
capacity = \"32MiB\"
high-mark = \"0%\"
low-mark = \"0%\"
keep-destaged = false
flush-programs = false
destages-max = 1_000_000
stall = \"commands\"
[precondition]
kind = \"random\"
[replay]
mode = \"stress\"
outstanding = 256
[workload]
read-share = 0.05
requests = 50_000
";
    let report = Simulation::new(&config_of(text)).expect("the drive can be built").run(&Control::default());
    let report = report.expect("the run ends");
    let longest = Time::from_ps(report.latency_ps.all.expect("requests completed").max);
    assert!(longest < Time::from_ms(100), "a request took {longest}: collections waited for the end of gathering");
}
