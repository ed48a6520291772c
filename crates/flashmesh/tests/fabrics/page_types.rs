//! Multi-bit cells, to the picosecond: pages take the time of their type, and a word line is programmed in one step.

use flashmesh::config::{Config, PageTypes, ProgramUnit, Suspension};
use flashmesh::units::Time;

use super::flash_path::{COMMAND, ONE_READ, ONE_WRITE, PAGE_TRANSFER, PROGRAM, US, one_chip};
use crate::support::drives::*;

/// Returns a drive with TLC chips: lower, middle and upper pages are read in 3, 5, 7 us and programmed in 100, 300, 700 us.
fn three_bits() -> Config {
    let mut config = one_chip(1);
    config.flash.page_types = PageTypes::Tlc;
    config.flash.middle_page_read_time = Some(US(5));
    config.flash.upper_page_read_time = Some(US(7));
    config.flash.middle_page_program_time = Some(US(300));
    config.flash.upper_page_program_time = Some(US(700));
    config
}

#[test]
fn pages_take_the_time_of_their_type() {
    let config = three_bits();
    let types = "llllllmmllmmuullmmuu";
    let of = |lower: u64, middle: u64, upper: u64| -> Vec<Time> {
        let time = |page_type| match page_type {
            'l' => lower,
            'm' => middle,
            _ => upper,
        };
        types.chars().map(|page_type| COMMAND + US(time(page_type)) + PAGE_TRANSFER).collect()
    };
    let pages = || 0..types.len() as u64;
    let writes = pages().map(|page| write(page, 1, Time::from_ms(page)));
    let reads = pages().map(|page| read(page, 1, Time::from_ms(50 + page)));
    let (report, records) = run_source(&config, Listed(writes.chain(reads).collect()));
    let found: Vec<Time> = records.iter().map(|record| record.completed - record.arrival).collect();
    assert_eq!(found, [of(100, 300, 700), of(3, 5, 7)].concat());
    let energy = &report.power.energy_j;
    let near = |found: f64, us: u64| (found - us as f64 * 1e-6 * 0.0825).abs() < 1e-12;
    assert!(near(energy.program, 10 * 100 + 6 * 300 + 4 * 700), "{energy:?}");
    assert!(near(energy.read, 10 * 3 + 6 * 5 + 4 * 7), "{energy:?}");
    assert_eq!(report.lower_bound.dies_ps, found.into_iter().sum::<Time>().as_ps());
}

/// Returns a drive with QLC chips: lower, middle, upper and top pages are read in 3, 5, 7 and 11 us.
fn four_bits() -> Config {
    let mut config = three_bits();
    config.flash.page_types = PageTypes::Qlc;
    config.flash.top_page_read_time = Some(US(11));
    config.flash.top_page_program_time = Some(US(1_500));
    config
}

#[test]
fn pages_of_four_bits_a_cell_take_turns_and_the_time_of_their_type() {
    let config = four_bits();
    let of = |times: [u64; 4]| times.repeat(2).into_iter().map(|time| COMMAND + US(time) + PAGE_TRANSFER);
    let writes = (0..8).map(|page| write(page, 1, Time::from_ms(2 * page)));
    let reads = (0..8).map(|page| read(page, 1, Time::from_ms(50 + page)));
    let (report, records) = run_source(&config, Listed(writes.chain(reads).collect()));
    let found: Vec<Time> = records.iter().map(|record| record.completed - record.arrival).collect();
    assert_eq!(found, of([100, 300, 700, 1_500]).chain(of([3, 5, 7, 11])).collect::<Vec<_>>());
    let energy = &report.power.energy_j;
    let near = |found: f64, us: u64| (found - us as f64 * 1e-6 * 0.0825).abs() < 1e-12;
    assert!(near(energy.program, 2 * (100 + 300 + 700 + 1_500)), "{energy:?}");
    assert!(near(energy.read, 2 * (3 + 5 + 7 + 11)), "{energy:?}");
}

#[test]
fn one_program_writes_the_four_pages_of_a_word_line_whose_data_comes_with_its_command() {
    let mut config = four_bits();
    config.flash.program_unit = ProgramUnit::WordLine;
    config.flash.middle_page_program_time = None;
    config.flash.upper_page_program_time = None;
    config.flash.top_page_program_time = None;
    let reads = (0..4).map(|page| read(page, 1, Time::from_ms(1 + page)));
    let expected = |pages: u64| COMMAND + PAGE_TRANSFER * pages + PROGRAM;
    let found = latencies(&config, std::iter::once(write(0, 8, Time::ZERO)).chain(reads));
    assert_eq!(found[0], expected(4) * 2);
    assert_eq!(found[1..], [3, 5, 7, 11].map(|time| COMMAND + US(time) + PAGE_TRANSFER));
    // Three pages wait for a fourth until the gather timeout; then the whole word line is programmed.
    assert_eq!(latencies(&config, [write(0, 3, Time::ZERO)]), [config.ftl.gather_timeout + expected(4)]);
}

#[test]
fn two_bits_a_cell_alternate_and_a_type_without_a_time_of_its_own_has_the_common_one() {
    let mut config = three_bits();
    config.flash.page_types = PageTypes::Mlc;
    config.flash.upper_page_read_time = None;
    let writes = latencies(&config, (0..4).map(|page| write(page, 1, Time::from_ms(page))));
    let upper = COMMAND + US(700) + PAGE_TRANSFER;
    assert_eq!(writes, [ONE_WRITE, upper, ONE_WRITE, upper]);
    assert_eq!(latencies(&config, (0..4).map(|page| read(page, 1, Time::from_ms(page)))), [ONE_READ; 4]);
}

#[test]
fn a_slow_page_keeps_the_progress_it_made_before_a_suspension() {
    let mut config = three_bits();
    config.flash.page_types = PageTypes::Mlc;
    config.flash.suspension = Suspension::Program;
    let (first, arrival) = (write(0, 1, Time::ZERO), Time::from_ms(1) + US(200));
    let requests = [first, write(1, 1, Time::from_ms(1)), read(0, 1, arrival)];
    let suspended = config.flash.suspend_time + ONE_READ + config.flash.resume_time;
    let expected = [ONE_WRITE, COMMAND + PAGE_TRANSFER + US(700) + suspended, config.flash.suspend_time + ONE_READ];
    assert_eq!(latencies(&config, requests), expected);
}
