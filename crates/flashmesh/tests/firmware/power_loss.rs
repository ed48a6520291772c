//! Power cuts on a small drive: the reads and findings of its recovery, compared with arithmetic.

use flashmesh::config::{Config, Persistence, PersistencePolicy};
use flashmesh::measure::report::Report;
use flashmesh::results::counters::RecoveryReport;
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::{IoRequest, RequestKind};

use crate::support::drives::{Listed, bare_drive, request, run_source, write};

const COMMAND: Time = Time::from_ns(10);
const READ: Time = Time::from_us(3);
const PROGRAM: Time = Time::from_us(100);
/// Transfer times of a page of 4096 bytes and of a sector of 512 bytes at 1.2 GB/s, rounded up.
const TRANSFER: Time = Time::from_ps(3_413_334);
const SECTOR: Time = Time::from_ps(426_667);

/// Returns a drive of one die of one plane of 32 blocks of 16 pages: 128 host pages, one map page and 200 journal pages. A journal page has
/// eight entries.
fn one_plane() -> Config {
    let mut config = bare_drive();
    let geometry = &mut config.geometry;
    (geometry.channels, geometry.chips_per_channel, geometry.dies_per_chip, geometry.planes_per_die) = (1, 1, 1, 1);
    (geometry.blocks_per_plane, geometry.pages_per_block) = (32, 16);
    geometry.capacity = Some(Bytes::from_kib(128 * 4));
    config.persistence.policy = PersistencePolicy::Journal;
    config.persistence.entry_size = Bytes::new(512);
    config.persistence.checkpoint_interval = 100;
    config.power.capacitors = false;
    config
}

fn ms(milliseconds: u64) -> Time {
    Time::from_ms(milliseconds)
}

/// Runs `requests` with a power cut at `at`, and a write long after the cut. Returns the report, and the latencies in order of issue.
fn cut_at(mut config: Config, at: Time, requests: impl IntoIterator<Item = IoRequest>) -> (Report, Vec<Time>) {
    config.power.cut = Some(at);
    config.validate().expect("the configuration is valid");
    let last = write(0, 1, ms(1_000));
    let (report, mut records) = run_source(&config, Listed(requests.into_iter().chain([last]).collect()));
    records.sort_by_key(|record| record.id);
    (report, records.iter().map(|record| record.completed - record.arrival).collect())
}

fn recovery(report: &Report) -> &RecoveryReport {
    report.power_cut.as_ref().expect("the power was cut").recovery.as_ref().expect("the drive has a journal")
}

#[test]
fn a_recovery_reads_what_arithmetic_says_and_takes_as_long() {
    let (report, _) = cut_at(one_plane(), ms(30), (0..20).map(|page| write(page, 1, ms(page))));
    let kept = report.persistence.as_ref().expect("the drive has a journal");
    assert_eq!((kept.journal_pages, kept.journal_entries, kept.checkpoint_pages), (2, 16, 0));
    let found = recovery(&report);
    assert_eq!((found.entries_replayed, found.pages_found, found.pages_lost), (16, 4, 0));
    // 203 pages of map and journal (two written by the run) fill 13 blocks. The block scan reads the first page of each block, the system scan the
    // other 190 and the first erased one.
    let reads = &found.reads;
    assert_eq!((reads.blocks, reads.system, reads.map, reads.journal), (32, 203 - 13 + 1, 1, 2));
    // The recovery scans the open block: its four programmed pages, and its first erased page.
    assert_eq!(reads.open, 5);
    let (beside, whole) = (COMMAND + READ + SECTOR, COMMAND + READ + TRANSFER);
    assert_eq!(found.steps.blocks_ps, (beside * 32).as_ps());
    assert_eq!(found.steps.map_ps, (whole * 3).as_ps());
    assert_eq!(found.duration_ps, (beside * (32 + 191 + 5) + whole * 3).as_ps());
}

#[test]
fn checkpoints_end_the_journal_and_cost_what_they_program() {
    let mut config = one_plane();
    config.persistence.checkpoint_interval = 1;
    let (report, _) = cut_at(config, ms(30), (0..16).map(|page| write(page, 1, ms(page))));
    let kept = report.persistence.as_ref().expect("the drive has a journal");
    assert_eq!((kept.journal_pages, kept.checkpoints, kept.checkpoint_pages), (2, 2, 2));
    assert_eq!((kept.write_amplification, report.write_amplification), (Some(0.25), Some(1.25)));
    assert_eq!((report.flash.journal_programs, report.flash.map_programs), (2, 2));
    let found = recovery(&report);
    assert_eq!((found.entries_replayed, found.reads.journal, found.pages_found), (0, 0, 0));
}

#[test]
fn a_flush_waits_for_the_journal_unless_capacitors_write_it() {
    let flush = IoRequest { size: Bytes::ZERO, ..request(RequestKind::Flush, 0, 1, ms(1)) };
    for (capacitors, waits, pages) in [(false, COMMAND + TRANSFER + PROGRAM, 1), (true, Time::ZERO, 0)] {
        let mut config = one_plane();
        config.power.capacitors = capacitors;
        let (report, latencies) = cut_at(config, ms(3), [write(7, 1, ms(0)), flush]);
        assert_eq!(latencies[1], waits);
        assert_eq!(report.persistence.as_ref().expect("the drive has a journal").journal_pages, pages);
        // Capacitors saved the journal entry from DRAM.
        let found = recovery(&report);
        assert_eq!((found.entries_replayed, found.pages_found), (1, 0));
    }
}

#[test]
fn capacitors_tell_what_they_program_for_the_map() {
    let mut config = one_plane();
    config.power.capacitors = true;
    // Of 11 journal entries eight fill a page, which the run programs. Capacitors program the last three at the cut.
    let (report, _) = cut_at(config, ms(30), (0..11).map(|page| write(page, 1, ms(page))));
    let cut = report.power_cut.as_ref().expect("the power was cut");
    assert_eq!((cut.pages_programmed, cut.map_pages_programmed), (0, 1));
    assert_eq!(cut.duration_ps, (COMMAND + TRANSFER + PROGRAM).as_ps());
    // Journal pages that the run itself programmed are not counted as programs of the cut.
    assert_eq!((report.flash.journal_programs, recovery(&report).entries_replayed), (1, 11));
}

#[test]
fn a_deallocation_is_undone_unless_a_flush_confirms_it() {
    let flush = IoRequest { size: Bytes::ZERO, ..request(RequestKind::Flush, 0, 1, ms(2)) };
    let deallocate = request(RequestKind::Deallocate, 7, 1, ms(1));
    let undone =
        |requests: &[IoRequest]| recovery(&cut_at(one_plane(), ms(3), requests.iter().copied()).0).deallocations_lost;
    assert_eq!(undone(&[write(7, 1, ms(0)), deallocate]), 1);
    assert_eq!(undone(&[write(7, 1, ms(0)), deallocate, flush]), 0);
}

#[test]
fn a_program_cut_short_leaves_the_version_before() {
    let (report, _) = cut_at(one_plane(), ms(1) + Time::from_us(50), [write(7, 1, ms(0)), write(7, 1, ms(1))]);
    let cut = report.power_cut.as_ref().expect("the power was cut");
    assert_eq!((cut.requests_lost, cut.programs_lost), (1, 1));
    let found = recovery(&report);
    // The recovery scans the open block: the previous page, the torn one, and the first erased one.
    assert_eq!((found.pages_found, found.pages_lost, found.reads.open), (1, 0, 3));
}

#[test]
fn without_a_journal_the_map_survives_by_itself() {
    let mut config = one_plane();
    config.persistence = Persistence::default();
    let (report, _) = cut_at(config, ms(1) + Time::from_us(50), [write(7, 1, ms(0)), write(7, 1, ms(1))]);
    let cut = report.power_cut.expect("the power was cut");
    assert_eq!((cut.recovery, report.persistence, report.makespan_ps), (None, None, cut.at_ps));
}
