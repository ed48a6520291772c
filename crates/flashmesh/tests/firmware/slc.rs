//! SLC cache compared with arithmetic: write rate, the page at which the rate drops, folding, and the write amplification saved.

use flashmesh::config::{
    Config, FirmwarePolicy, PageTypes, ParityShare, PersistencePolicy, PreconditionKind, ProgramUnit, SlcRegion,
};
use flashmesh::measure::report::SlcReport;
use flashmesh::units::{Bytes, Rate, Time};
use flashmesh::workload::IoRequest;

use crate::support::drives::*;

pub(super) const COMMAND: Time = Time::from_ns(10);
pub(super) const PAGE_TRANSFER: Time = Time::from_ns(4096);
const SLC_PROGRAM: Time = Time::from_us(100);
const TLC_PROGRAM: Time = Time::from_us(600);
pub(super) const SLC_READ: Time = Time::from_us(20);
const TLC_READ: Time = Time::from_us(60);
pub(super) const ONE_SLC_WRITE: Time = Time::from_ns(10 + 4_096 + 100_000);
pub(super) const ONE_TLC_WRITE: Time = Time::from_ns(10 + 4_096 + 600_000);
/// Arrival time long after everything has been folded.
pub(super) const LATER: Time = Time::from_ms(1_000);
/// SLC pages in the cache of a plane: a third of 24 pages in each of four blocks.
pub(super) const CACHE: u64 = 32;

/// Returns a drive of one plane of TLC blocks of 24 pages, with a capacity of 40 blocks, four additional blocks for the cache, and a channel of
/// 1 B/ns.
pub(super) fn drive() -> Config {
    let mut config = bare_drive();
    config.fabric.channel_rate = Rate::from_bytes_per_second(1_000_000_000);
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 64;
    config.geometry.pages_per_block = 24;
    config.geometry.capacity = Some(Bytes::new(PAGE) * (40 * 24));
    config.flash.page_types = PageTypes::Tlc;
    config.flash.read_time = TLC_READ;
    config.flash.program_time = TLC_PROGRAM;
    config.slc.blocks_per_plane = 4;
    config.slc.program_time = SLC_PROGRAM;
    config.slc.read_time = SLC_READ;
    config
}

pub(super) fn writes(pages: std::ops::Range<u64>, at: Time) -> impl Iterator<Item = IoRequest> {
    pages.map(move |page| write(page, 1, at))
}

fn run_all(config: &Config, requests: impl IntoIterator<Item = IoRequest>) -> (SlcReport, f64, Vec<Time>) {
    let (report, mut records) = run_source(config, Listed(requests.into_iter().collect()));
    records.sort_by_key(|record| record.id);
    let latencies = records.iter().map(|record| record.completed - record.arrival).collect();
    (report.slc.expect("the drive has an SLC cache"), report.write_amplification.unwrap_or(0.0), latencies)
}

#[test]
fn writes_take_the_time_of_the_cache_until_it_is_full_to_the_page_and_then_that_of_tlc() {
    let (slc, amplification, latencies) = run_all(&drive(), writes(0..CACHE + 8, Time::ZERO));
    let expected = (1..=CACHE + 8).map(|n| ONE_SLC_WRITE * n.min(CACHE) + ONE_TLC_WRITE * n.saturating_sub(CACHE));
    assert_eq!(latencies, expected.collect::<Vec<_>>());
    assert_eq!((slc.pages_written, slc.pages_direct, slc.pages_folded), (CACHE, 8, 0));
    assert_eq!((slc.blocks, slc.capacity_bytes), (4, CACHE * PAGE));
    assert_eq!((amplification, slc.direct_share), (1.0, Some(8.0 / 40.0)));
    let (slow, fast) = ((ONE_TLC_WRITE * 8).as_secs_f64(), (ONE_SLC_WRITE * CACHE).as_secs_f64());
    assert!((slc.full_share.expect("the run took time") - slow / (slow + fast)).abs() < 1e-9, "{slc:?}");
}

#[test]
fn an_idle_drive_folds_all_that_was_written_and_the_cache_is_empty_again() {
    let requests = writes(0..CACHE, Time::ZERO).chain(writes(100..100 + CACHE, LATER));
    let (slc, amplification, latencies) = run_all(&drive(), requests);
    let expected = (1..=CACHE).map(|n| ONE_SLC_WRITE * n);
    assert_eq!(latencies, expected.clone().chain(expected).collect::<Vec<_>>());
    assert_eq!((slc.pages_written, slc.pages_direct, slc.pages_folded, slc.erases), (2 * CACHE, 0, CACHE, 4));
    assert_eq!((amplification, slc.erases_per_block), (1.5, 1.0));
    assert_eq!(slc.native_erases_per_block, 0.0);
}

#[test]
fn what_was_overwritten_before_it_is_folded_is_not_moved() {
    // The cache is full, so twelve overwrites bypass it. They invalidate the 8 pages of the first cache block and 4 of the second.
    let requests = writes(0..CACHE, Time::ZERO).chain(writes(0..12, Time::ZERO));
    let (slc, _, _) = run_all(&drive(), requests.chain([read(0, 1, LATER)]));
    assert_eq!((slc.pages_written, slc.pages_direct), (CACHE, 12));
    assert_eq!((slc.folds, slc.erases, slc.pages_folded), (4, 4, CACHE - 12));
}

#[test]
fn a_cache_is_left_alone_up_to_the_share_of_its_blocks_that_may_be_full() {
    let mut config = drive();
    config.slc.fold_threshold = 0.5;
    let (slc, _, _) = run_all(&config, writes(0..CACHE, Time::ZERO).chain([read(0, 1, LATER)]));
    assert_eq!((slc.folds, slc.pages_folded), (2, 16));
}

#[test]
fn a_page_is_read_in_the_time_of_the_cache_until_it_is_folded() {
    let reads = [read(0, 1, Time::from_ms(1)), read(0, 1, LATER)];
    let one_page = |config: &Config| run_all(config, std::iter::once(write(0, 1, Time::ZERO)).chain(reads)).2;
    // The cache block is not full, so it is not folded, and the page is read from the cache.
    let in_cache = COMMAND + SLC_READ + PAGE_TRANSFER;
    assert_eq!(one_page(&drive()), [ONE_SLC_WRITE, in_cache, in_cache]);
    let block = writes(0..8, Time::ZERO).chain([read(0, 1, LATER)]);
    assert_eq!(run_all(&drive(), block).2[8], COMMAND + TLC_READ + PAGE_TRANSFER);
}

#[test]
fn all_planes_of_a_drive_are_full_before_a_sequential_write_goes_past_the_cache() {
    for page_types in [PageTypes::Mlc, PageTypes::Tlc, PageTypes::Qlc] {
        let mut config = drive();
        config.geometry.channels = 2;
        config.geometry.chips_per_channel = 2;
        config.geometry.planes_per_die = 2;
        config.geometry.capacity = Some(Bytes::new(PAGE) * (8 * 40 * 24));
        config.flash.page_types = page_types;
        config.flash.multi_plane = flashmesh::config::MultiPlane::SameOffset;
        let cache = 8 * 4 * 24 / u64::from(config.pages_per_word_line());
        for beyond in [0, 1, 100] {
            let (slc, _, _) = run_all(&config, writes(0..cache + beyond, Time::ZERO));
            assert_eq!((slc.pages_written, slc.pages_direct), (cache, beyond), "{page_types:?}");
        }
    }
}

/// Returns [`drive`] with pages of four mapping units of 4 KiB. Programs outside the cache are word lines of three pages.
fn word_lines() -> Config {
    let mut config = drive();
    config.geometry.page_size = Bytes::from_kib(16);
    config.geometry.capacity = Some(Bytes::from_kib(16) * (40 * 24));
    config.ftl.mapping_unit = Some(Bytes::from_kib(4));
    config.flash.program_unit = ProgramUnit::WordLine;
    config
}

#[test]
fn programs_of_the_cache_are_of_a_page_and_those_past_it_of_a_word_line() {
    // Each request writes one page of four mapping units.
    let requests = (0..CACHE + 6).map(|page| write(4 * page, 4, Time::ZERO));
    let (slc, amplification, latencies) = run_all(&word_lines(), requests);
    let (slc_program, word_line) =
        (COMMAND + PAGE_TRANSFER * 4 + SLC_PROGRAM, COMMAND + PAGE_TRANSFER * 12 + TLC_PROGRAM);
    let expected =
        (1..=CACHE + 6).map(|n| slc_program * n.min(CACHE) + word_line * n.saturating_sub(CACHE).div_ceil(3));
    assert_eq!(latencies, expected.collect::<Vec<_>>());
    assert_eq!((slc.pages_written, slc.pages_direct, amplification), (4 * CACHE, 24, 1.0));
}

#[test]
fn units_are_folded_into_full_word_lines() {
    let requests = (0..CACHE).map(|page| write(4 * page, 4, Time::ZERO)).chain([read(0, 1, LATER)]);
    let (report, _) = run_source(&word_lines(), Listed(requests.collect()));
    let slc = report.slc.expect("the drive has an SLC cache");
    assert_eq!((slc.folds, slc.pages_folded), (4, 4 * CACHE));
    // Folding a cache block of 32 mapping units takes three programs of twelve, so four units stay empty per cache block.
    assert_eq!(report.flash.units_skipped, 4 * 4);
}

#[test]
fn a_cut_of_the_power_while_pages_are_folded_loses_none() {
    let mut config = drive();
    config.persistence.policy = PersistencePolicy::Journal;
    config.geometry.blocks_per_plane += 16;
    let requests = || writes(0..CACHE, Time::ZERO).chain([read(0, 1, LATER)]);
    let written = ONE_SLC_WRITE * CACHE;
    for moves in 1..=40 {
        let mut config = config.clone();
        config.power.cut = Some(written + Time::from_us(300) * moves);
        let (report, _) = run_source(&config, Listed(requests().collect()));
        let cut = report.power_cut.expect("the power was cut");
        let recovery = cut.recovery.expect("the map was recovered");
        assert_eq!((recovery.pages_lost, cut.pages_lost), (0, 0), "at moment {moves} of 40");
    }
}

/// Returns [`drive`] with a dynamic cache of up to `blocks` free blocks.
fn dynamic_drive(blocks: u32) -> Config {
    let mut config = drive();
    config.slc.region = SlcRegion::Dynamic;
    config.slc.blocks_per_plane = blocks;
    config
}

#[test]
fn a_dynamic_cache_of_an_empty_drive_takes_as_many_blocks_as_it_may_and_gives_them_back() {
    let requests = writes(0..40 * 8 + 8, Time::ZERO).chain(writes(0..40 * 8, LATER * 2));
    let (slc, amplification, latencies) = run_all(&dynamic_drive(40), requests);
    let of_cache = (1..=40 * 8).map(|n| ONE_SLC_WRITE * n);
    let direct = (1..=8).map(|n| ONE_SLC_WRITE * (40 * 8) + ONE_TLC_WRITE * n);
    assert_eq!(latencies, of_cache.clone().chain(direct).chain(of_cache).collect::<Vec<_>>());
    assert_eq!((slc.blocks, slc.pages_written, slc.pages_direct), (40, 2 * 40 * 8, 8));
    assert_eq!((slc.pages_folded, slc.erases, slc.native_erases_per_block), (40 * 8, 40, 40.0 / 64.0));
    assert_eq!(amplification, (2 * 40 * 8 + 8 + 40 * 8) as f64 / (2 * 40 * 8 + 8) as f64);
}

/// Of 64 blocks, 40 hold data. Of the other 24, two stay free for the GC threshold, one for folds and one in reserve; 20 are lent to the cache.
#[test]
fn a_dynamic_cache_of_a_full_drive_is_as_large_as_the_blocks_that_are_free_and_not_needed() {
    let mut config = dynamic_drive(64);
    config.precondition.kind = PreconditionKind::Sequential;
    let first = || writes(0..200, Time::ZERO);
    let (slc, ..) = run_all(&config, first());
    assert_eq!((slc.pages_written, slc.pages_direct), (20 * 8, 40));
    // Folded pages now fill seven blocks and pages that bypassed the cache two, so nine fewer blocks are lent.
    let (slc, ..) = run_all(&config, first().chain(writes(200..400, LATER * 2)));
    assert_eq!((slc.pages_written, slc.pages_direct), (20 * 8 + (24 - 9 - 4) * 8, 40 + 200 - 88));
}

#[test]
fn a_plane_short_of_space_takes_back_what_it_lent_and_is_written_without_end() {
    let mut config = dynamic_drive(64);
    config.geometry.blocks_per_plane = 17;
    config.geometry.capacity = Some(Bytes::new(PAGE) * (8 * 24));
    config.precondition.kind = PreconditionKind::Sequential;
    config.gc.background_threshold = 0.5;
    for gap in [Time::ZERO, Time::from_us(300), Time::from_ms(1), Time::from_ms(3)] {
        let requests = (0..3_000).map(|n| write(n * 7 % (8 * 24), 1, gap * n));
        let (report, _) = run_source(&config, Listed(requests.collect()));
        let slc = report.slc.expect("the drive has an SLC cache");
        assert!(report.gc.collections > slc.folds, "{slc:?}, {:?}", report.gc);
        // Only in pauses between writes does background GC free blocks that can be lent to the cache.
        assert_eq!(slc.folds > 50, gap >= Time::from_ms(1), "{gap}: {slc:?}");
    }
}

#[test]
fn a_plane_that_is_collected_without_end_keeps_its_cache_going() {
    let mut config = drive();
    config.geometry.blocks_per_plane = 4 + 12;
    config.geometry.capacity = Some(Bytes::new(PAGE) * (6 * 24));
    config.gc.threshold = 0.1;
    let gap = Time::from_ms(3);
    let requests = (0..1_500).map(|n| write(n * 7 % (6 * 24), 1, gap * n));
    let (report, _) = run_source(&config, Listed(requests.collect()));
    let slc = report.slc.expect("the drive has an SLC cache");
    assert!(slc.pages_written > 1_000 && slc.folds > 20, "{slc:?}");
    assert!(report.gc.collections > slc.folds, "GC ran besides folding: {:?}", report.gc);
}

#[test]
fn what_a_cache_cannot_go_together_with_is_refused_by_name() {
    let refused = |change: fn(&mut Config), expected: &str| {
        let mut config = drive();
        change(&mut config);
        let error = config.validate().expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(
        |config| {
            (config.geometry.channels, config.geometry.pages_per_block) = (2, 3);
            config.ftl.policy = FirmwarePolicy::Superblock;
            config.ftl.parity = Some(ParityShare(2));
        },
        "a block of the SLC cache, which holds a page for each word line of geometry.pages-per-block (3), is one program",
    );
    refused(|config| config.geometry.pages_per_block = 25, "geometry.pages-per-block (25) is no multiple of that");
    refused(|config| config.slc.blocks_per_plane = 20, "keeps 20 blocks of each plane for the SLC cache");
    refused(
        |config| {
            config.slc.region = SlcRegion::Dynamic;
            config.geometry.blocks_per_plane = 46;
        },
        "slc.region `dynamic` has an SLC cache, which needs three blocks",
    );
    refused(|config| config.flash.page_types = PageTypes::One, "all blocks hold one bit a cell");
}
