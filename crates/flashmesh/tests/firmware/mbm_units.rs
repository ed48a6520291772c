//! MBM (Maximizing Bandwidth Management FTL) with several mapping units per program. Full programs are placed like the pages of the MBM paper;
//! left-over units gather on one plane.

use std::sync::{Arc, Mutex};

use flashmesh::config::Config;
use flashmesh::ids::Ppn;
use flashmesh::measure::report::Report;
use flashmesh::probe::{Notice, Probe};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;

use crate::support::drives::*;

const UNIT: u64 = 4096;
const COMMAND: Time = Time::from_ns(70);
/// Transfer time of 16 KiB at 10 ns per byte.
const TRANSFER: Time = Time::from_ns(163_840);
const PROGRAM: Time = Time::from_us(1_300);
const TIMEOUT: Time = Time::from_ms(5);

/// Returns the drive of the MBM paper with pages of 16 KiB, behind an infinitely fast link. `shape` is the number of channels, of chips per
/// channel, of dies per chip and of planes per die; `more` has further settings.
fn drive(shape: [u32; 4], more: &str) -> Config {
    let [channels, chips, dies, planes] = shape;
    config_of(&format!(
        "preset = \"mbm\"\n[geometry]\nchannels = {channels}\nchips-per-channel = {chips}\ndies-per-chip = {dies}\n\
         planes-per-die = {planes}\nblocks-per-plane = 32\npages-per-block = 48\nover-provisioning = 0.4\npage-size = \"16KiB\"\n\
         [host]\nlink-rate = \"unlimited\"\nqueue-depth = 65535\n[replay]\nmode = \"open\"\n[ftl]\npolicy = \"mbm\"\n{more}"
    ))
}

/// Like [`drive`], but with four mapping units per page.
fn in_units(shape: [u32; 4], more: &str) -> Config {
    let mut config = drive(shape, more);
    config.ftl.mapping_unit = Some(Bytes::new(UNIT));
    config.ftl.gather_timeout = TIMEOUT;
    config.validate().expect("the configuration is valid");
    config
}

/// Probe that records the end and the first page of each program, in order.
#[derive(Clone, Default)]
struct Programs(Arc<Mutex<Vec<(Time, Ppn)>>>);

impl Probe for Programs {
    fn notify(&mut self, now: Time, notice: &Notice<'_>) {
        if let Notice::PageProgrammed(ppn, ..) = *notice {
            self.0.lock().expect("no other thread panicked").push((now, ppn));
        }
    }
}

fn programs_of(config: &Config, requests: &[IoRequest]) -> (Vec<(Time, Ppn)>, Report) {
    let source = Listed(requests.iter().copied().collect());
    let mut simulation = Simulation::with_source(config, Box::new(source)).expect("the drive can be built");
    let programs = Programs::default();
    simulation.add_probe(Box::new(programs.clone()));
    let report = simulation.run(&Control::default()).expect("the run succeeds");
    let programs = programs.0.lock().expect("no other thread panicked").clone();
    (programs, report)
}

/// Returns writes of one to seven pages, with gaps shorter than a program.
fn writes_of_pages() -> Vec<IoRequest> {
    let request = |n: u64| {
        let (page, pages) = (n * 37 % 900, 1 + n * 5 % 7);
        IoRequest {
            offset: Bytes::from_kib(16) * page,
            size: Bytes::from_kib(16) * pages,
            ..write(0, 1, Time::from_us(n * 230))
        }
    };
    (0..220).map(request).collect()
}

#[test]
fn programs_of_four_units_go_where_pages_go_at_the_same_times() {
    let requests = writes_of_pages();
    for shape in [[2, 2, 2, 2], [3, 1, 1, 4], [1, 3, 2, 2]] {
        for more in [
            "",
            "[mbm]\nmcs = false",
            "[mbm]\nws = false",
            "[mbm]\nmcs-begins = \"once-until-drained\"",
            "[flash]\ndie-start = \"together\"",
            "[flash]\ndie-interleaving = false",
        ] {
            let (pages, by_page) = programs_of(&drive(shape, more), &requests);
            let (units, by_unit) = programs_of(&in_units(shape, more), &requests);
            let expected: Vec<(Time, Ppn)> =
                pages.iter().flat_map(|&(at, page)| (0..4).map(move |unit| (at, Ppn(page.0 * 4 + unit)))).collect();
            assert!(units == expected, "{shape:?} with {more:?}: programs differ");
            let [joined, again] = [&by_page, &by_unit].map(|report| report.flash.multi_plane_operations);
            assert!(joined > 20 && joined == again, "{shape:?} with {more:?}: {joined} and {again} operations join");
            assert_eq!((by_unit.flash.units_skipped, by_page.makespan_ps), (0, by_unit.makespan_ps));
        }
    }
}

fn program_of(planes: u64) -> Time {
    (COMMAND + TRANSFER) * planes + PROGRAM
}

fn latencies_and_counts(config: &Config, requests: &[IoRequest]) -> (Vec<Time>, (u64, u64, u64)) {
    let (report, mut records) = run_source(config, Listed(requests.iter().copied().collect()));
    records.sort_by_key(|record| record.id);
    let latencies = records.iter().map(|record| record.completed - record.arrival).collect();
    let flash = &report.flash;
    (latencies, (flash.user_programs, flash.units_skipped, flash.multi_plane_operations))
}

/// Three writes arrive one after the other while all dies are idle. They gather on the plane of the first and are programmed at the timeout.
#[test]
fn writes_gather_on_the_plane_that_was_chosen() {
    let apart = Time::from_us(200);
    let requests: Vec<IoRequest> = (0..3).map(|n| write(n * 9, 1, apart * n)).collect();
    let (latencies, counts) = latencies_and_counts(&in_units([2, 1, 1, 2], ""), &requests);
    let done = TIMEOUT + program_of(1);
    assert_eq!(latencies, [done, done.saturating_sub(apart), done.saturating_sub(apart * 2)]);
    assert_eq!(counts, (3, 1, 0));
    // With a fourth write, the program is full and starts before the timeout.
    let requests: Vec<IoRequest> = (0..4).map(|n| write(n * 9, 1, apart * n)).collect();
    let (latencies, counts) = latencies_and_counts(&in_units([2, 1, 1, 2], ""), &requests);
    let expected: Vec<Time> = (0..4).map(|n| apart * (3 - n) + program_of(1)).collect();
    assert_eq!((latencies, counts), (expected, (4, 0, 0)));
}

/// Mapping units that fill no program gather until the timeout: the fifth unit on another die, the ninth on the only die once it is free.
#[test]
fn what_fills_no_program_goes_to_a_die_by_itself() {
    let (latencies, counts) = latencies_and_counts(&in_units([3, 1, 1, 2], ""), &[write(0, 5, Time::ZERO)]);
    // Four mapping units fill a page of one die. The fifth gathers on another until the timeout.
    assert_eq!((latencies, counts), (vec![TIMEOUT + program_of(1)], (5, 3, 0)));
    let (latencies, counts) = latencies_and_counts(&in_units([1, 1, 1, 2], ""), &[write(0, 9, Time::ZERO)]);
    // The only die programs two pages, and then the ninth mapping unit.
    assert_eq!((latencies, counts), (vec![program_of(2) + TIMEOUT + program_of(1)], (9, 3, 1)));
}

/// Runs short writes and long reads on a drive with GC, so that areas are reallocated. `more` has further settings, including the workload.
fn collecting(more: &str) -> Report {
    let mut config = in_units([2, 2, 1, 2], more);
    config.geometry.pages_per_block = 24;
    config.geometry.blocks_per_plane = 40;
    config.validate().expect("the configuration is valid");
    run_checked(&config)
}

#[test]
fn a_full_drive_collects_with_areas_laid_out_anew_word_lines_and_an_slc_cache() {
    let workload =
        "[precondition]\nkind = \"random\"\n[workload]\nread-share = 0.4\nrequests = 4000\nrequest-size = \"12KiB\"\n";
    for more in [
        "[mbm]\nread-threshold = \"8KiB\"\narea-size = \"256KiB\"\n",
        "[mbm]\nread-threshold = \"8KiB\"\nws = false\n[flash]\npage-types = \"tlc\"\nprogram-unit = \"word-line\"\n",
        "[flash]\npage-types = \"tlc\"\nprogram-unit = \"word-line\"\n[slc]\nblocks-per-plane = 3\n",
    ] {
        let report = collecting(&format!("{workload}{more}"));
        assert!(report.gc.erases > 20, "{more}: {} erases", report.gc.erases);
        let programmed = report.flash.user_programs + report.gc.pages_moved + report.gc.pages_reallocated;
        let expected = (programmed + report.flash.units_skipped) as f64 / report.flash.user_programs as f64;
        assert_within("write amplification", report.write_amplification.expect("the host wrote"), expected, 1e-9);
    }
    let moved = collecting(&format!("{workload}[mbm]\nread-threshold = \"8KiB\"\narea-size = \"256KiB\"\n"));
    assert!(moved.gc.pages_reallocated > 0);
}
