//! Programs of a word line on whole drives, against arithmetic: times, gathering, what is skipped, and the stall of a full buffer.

use flashmesh::config::{Config, FirmwarePolicy, MultiPlane, PageTypes, ProgramUnit};
use flashmesh::measure::report::Report;
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;

use crate::support::drives::*;

const COMMAND: Time = Time::from_ns(10);
const PROGRAM: Time = Time::from_us(600);
/// 4096 bytes at 1.2 GB/s, rounded up.
const TRANSFER: Time = Time::from_ps(3_413_334);

/// One die whose planes are programmed together, word line by word line of three pages.
fn die_of(planes: u32) -> Config {
    let mut config = bare_drive();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = planes;
    config.geometry.blocks_per_plane = 64;
    config.geometry.pages_per_block = 96;
    config.flash.page_types = PageTypes::Tlc;
    config.flash.program_unit = ProgramUnit::WordLine;
    config.flash.program_time = PROGRAM;
    config.flash.multi_plane = MultiPlane::SameOffset;
    config.ftl.policy = FirmwarePolicy::Tbm;
    config.ftl.gather_timeout = Time::from_ms(5);
    config
}

/// Runs these requests; gives the report and the latencies in the order of issue.
fn measured(config: &Config, requests: impl IntoIterator<Item = IoRequest>) -> (Report, Vec<Time>) {
    config.validate().expect("the configuration is legal");
    let (report, mut records) = run_source(config, Listed(requests.into_iter().collect()));
    records.sort_by_key(|record| record.id);
    (report, records.iter().map(|record| record.completed - record.arrival).collect())
}

#[test]
fn a_word_line_takes_its_data_and_one_program_whatever_its_pages() {
    for planes in [1, 2, 4] {
        let pages = u64::from(3 * planes);
        let writes = (0..pages).map(|page| write(page, 1, Time::ZERO));
        let (report, latencies) = measured(&die_of(planes), writes);
        let expected = (COMMAND + TRANSFER) * pages + PROGRAM;
        assert_eq!(latencies, vec![expected; pages as usize], "{planes} planes");
        assert_eq!((report.flash.user_programs, report.flash.units_skipped), (pages, 0));
    }
}

#[test]
fn a_word_line_that_nobody_fills_is_programmed_after_the_timeout_and_the_rest_is_skipped() {
    let config = die_of(2);
    let (report, latencies) = measured(&config, (0..5).map(|page| write(page, 1, Time::ZERO)));
    let expected = Time::from_ms(5) + (COMMAND + TRANSFER) * 5 + PROGRAM;
    assert!(latencies.iter().all(|&latency| latency == expected), "{latencies:?}, {expected} expected");
    assert_eq!((report.flash.user_programs, report.flash.units_skipped), (5, 1));
    assert_eq!(report.write_amplification, Some(6.0 / 5.0));
}

/// A host write of a part of a unit programs all of it: the amplification is that of the unit over the write.
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

/// Writes come twice as fast as the die takes them: a buffer of `n` pages is full after `2 n` of them, and the next wait.
#[test]
fn a_buffer_is_full_when_arrivals_are_ahead_of_service_by_what_it_holds() {
    let mut config = die_of(2);
    let buffer = 96;
    config.cache.capacity = Bytes::new(buffer * PAGE);
    config.cache.high_mark = 0.0;
    config.cache.low_mark = 0.0;
    config.cache.keep_destaged = false;
    config.cache.flush_at_end = false;
    let service = (COMMAND + TRANSFER) * 6 + PROGRAM;
    let period = Time::from_ps(service.as_ps() / 12);
    let (_, latencies) = measured(&config, (0..600).map(|page| write(page, 1, period * page)));
    let stalled = latencies.iter().position(|&latency| latency > Time::from_us(50)).expect("the buffer fills");
    // Room comes by whole programs of six pages, and the first leaves when six have come.
    assert!((2 * buffer as usize - 6..=2 * buffer as usize + 12).contains(&stalled), "{stalled}");
    // From then on writes complete as programs end: each waits for those that are ahead of it.
    let grows = latencies[590].saturating_sub(latencies[300]).as_ps() as f64;
    let expected = 290.0 * period.as_ps() as f64;
    assert!((grows / expected - 1.0).abs() < 0.05, "{grows} ps, {expected} expected");
}
