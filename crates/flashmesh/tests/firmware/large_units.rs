//! Mapping units of several pages on whole drives, compared with arithmetic: sensed pages, reads before partial writes, and units that share a word
//! line.

use flashmesh::config::{Config, PageTypes, ProgramUnit};
use flashmesh::measure::report::Report;
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;

use crate::support::drives::*;

const COMMAND: Time = Time::from_ns(10);
const PROGRAM: Time = Time::from_us(100);
/// Read times of lower, middle, upper and top pages.
const READS: [Time; 4] = [Time::from_us(20), Time::from_us(30), Time::from_us(50), Time::from_us(90)];

/// Returns a drive of one die of one plane, with pages of 4 KiB, mapping units of 16 KiB, and channels of 1 B/ns.
fn die() -> Config {
    let mut config = bare_drive();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 64;
    config.geometry.pages_per_block = 96;
    config.geometry.sector_size = Bytes::new(512);
    config.geometry.over_provisioning = 0.25;
    config.fabric.channel_rate = flashmesh::units::Rate::from_bytes_per_second(1_000_000_000);
    config.flash.read_time = READS[0];
    config.flash.program_time = PROGRAM;
    config.ftl.mapping_unit = Some(Bytes::from_kib(16));
    config
}

/// Like [`die`], but with QLC cells, whose word lines are programmed in one step.
fn qlc() -> Config {
    let mut config = die();
    config.flash.page_types = PageTypes::Qlc;
    config.flash.program_unit = ProgramUnit::WordLine;
    config.flash.middle_page_read_time = Some(READS[1]);
    config.flash.upper_page_read_time = Some(READS[2]);
    config.flash.top_page_read_time = Some(READS[3]);
    config
}

fn moving(bytes: u64) -> Time {
    Time::from_ns(bytes)
}

fn at(request: IoRequest, offset: u64, size: u64, millisecond: u64) -> IoRequest {
    IoRequest { offset: Bytes::new(offset), size: Bytes::new(size), arrival: Time::from_ms(millisecond), ..request }
}

/// Runs `requests`. Returns the report, and the latencies in order of issue.
fn measured(config: &Config, requests: &[IoRequest]) -> (Report, Vec<Time>) {
    config.validate().expect("the configuration is valid");
    let (report, mut records) = run_source(config, Listed(requests.iter().copied().collect()));
    records.sort_by_key(|record| record.id);
    (report, records.iter().map(|record| record.completed - record.arrival).collect())
}

#[test]
fn a_read_senses_the_pages_that_it_touches_and_moves_its_bytes_alone() {
    let (write, read) = (write(0, 1, Time::ZERO), read(0, 1, Time::ZERO));
    let reads = [(0, 4096), (4096, 4096), (12 << 10, 4096), (0, 16 << 10), (6 << 10, 4096), (512, 512)];
    let sensed: [&[usize]; 6] = [&[0], &[1], &[3], &[0, 1, 2, 3], &[1, 2], &[0]];
    let requests: Vec<IoRequest> = [at(write, 0, 16 << 10, 0)]
        .into_iter()
        .chain((1..).zip(reads).map(|(millisecond, (offset, size))| at(read, offset, size, millisecond)))
        .collect();
    for (config, times) in [(die(), [READS[0]; 4]), (qlc(), READS)] {
        let (_, latencies) = measured(&config, &requests);
        let expected = reads
            .iter()
            .zip(sensed)
            .map(|(&(_, size), pages)| pages.iter().fold(COMMAND + moving(size), |time, &page| time + times[page]));
        assert_eq!(latencies[1..], expected.collect::<Vec<Time>>());
    }
}

#[test]
fn a_unit_is_programmed_page_by_page_or_word_line_by_word_line() {
    for (unit_kib, config, programs) in [(16, die(), 4), (16, qlc(), 1), (32, qlc(), 2)] {
        let mut config = config;
        config.ftl.mapping_unit = Some(Bytes::from_kib(unit_kib));
        let unit = unit_kib << 10;
        let (report, latencies) = measured(&config, &[at(write(0, 1, Time::ZERO), 0, unit, 0)]);
        assert_eq!(latencies, [COMMAND + moving(unit) + PROGRAM * programs], "{unit_kib} KiB");
        assert_eq!((report.flash.user_programs, report.flash.units_skipped), (1, 0));
    }
}

#[test]
fn units_of_half_a_word_line_gather() {
    let mut config = qlc();
    config.ftl.mapping_unit = Some(Bytes::from_kib(8));
    let write = write(0, 1, Time::ZERO);
    let (report, latencies) = measured(&config, &[at(write, 0, 8 << 10, 0), at(write, 8 << 10, 8 << 10, 0)]);
    assert_eq!(latencies, [COMMAND + moving(16 << 10) + PROGRAM; 2]);
    assert_eq!((report.flash.user_programs, report.flash.units_skipped), (2, 0));
}

/// A write of a part of a mapping unit reads and programs the whole unit, so write amplification is the ratio of unit size to write size.
#[test]
fn a_write_of_a_part_of_a_unit_reads_the_unit_first_and_programs_it() {
    let write = write(0, 1, Time::ZERO);
    let whole = (0..40).map(|unit| at(write, unit << 14, 16 << 10, unit));
    let parts = (0..40).map(|unit| at(write, (unit << 14) + 4096, 4096, 100 + unit));
    let requests: Vec<IoRequest> = whole.chain(parts).collect();
    for (config, reads, programs) in
        [(die(), READS[0] * 4, 4), (qlc(), READS.into_iter().fold(Time::ZERO, |sum, time| sum + time), 1)]
    {
        let (report, latencies) = measured(&config, &requests);
        let program = COMMAND + moving(16 << 10) + PROGRAM * programs;
        let first = COMMAND + reads + moving(16 << 10);
        assert_eq!(latencies[..40], vec![program; 40]);
        assert_eq!(latencies[40..], vec![first + program; 40]);
        let programmed = Bytes::from_kib(16) * (report.flash.user_programs - 40);
        assert_eq!(programmed.as_u64() / (40 * 4096), 4, "the write amplification of writes of a quarter of a unit");
    }
}

#[test]
fn energy_is_that_of_the_pages_that_the_array_worked_on() {
    let config = qlc();
    let (write, read) = (write(0, 1, Time::ZERO), read(0, 1, Time::ZERO));
    let (report, _) = measured(&config, &[at(write, 0, 16 << 10, 0), at(read, 8 << 10, 8 << 10, 1)]);
    let power = &config.power;
    let of = |current: flashmesh::units::Current, time: Time| {
        (current * power.supply_voltage).as_watts() * time.as_secs_f64()
    };
    let energy = report.power.energy_j;
    assert!((energy.read / of(power.read_current, READS[2] + READS[3]) - 1.0).abs() < 1e-9);
    assert!((energy.program / of(power.program_current, PROGRAM) - 1.0).abs() < 1e-9);
}
