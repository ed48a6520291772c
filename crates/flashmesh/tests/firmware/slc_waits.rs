//! Writes that wait for folds of a full SLC cache, compared with arithmetic.

use flashmesh::config::{Config, FirmwarePolicy, PersistencePolicy, SlcRegion, SlcWhenFull};
use flashmesh::measure::report::Report;
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;

use super::slc::*;
use crate::support::drives::*;

/// Pages in one block of the cache.
const BLOCK: u64 = CACHE / 4;

fn waiting() -> Config {
    let mut config = drive();
    config.slc.when_full = SlcWhenFull::Fold;
    config
}

fn run_all(config: &Config, requests: impl IntoIterator<Item = IoRequest>) -> (Report, Vec<Time>) {
    let (report, mut records) = run_source(config, Listed(requests.into_iter().collect()));
    records.sort_by_key(|record| record.id);
    let latencies = records.iter().map(|record| record.completed - record.arrival).collect();
    (report, latencies)
}

/// Returns the time of a fold of one cache block: eight pages are read from the cache and programmed outside, and the block is erased.
fn fold(config: &Config) -> Time {
    (COMMAND + SLC_READ + PAGE_TRANSFER + ONE_TLC_WRITE) * BLOCK + COMMAND + config.flash.erase_time
}

#[test]
fn a_block_of_writes_waits_for_each_fold_once_the_cache_is_full() {
    let config = waiting();
    let pages = CACHE + 3 * BLOCK;
    let (report, latencies) = run_all(&config, writes(0..pages, Time::ZERO));
    let folds = |n: u64| n.saturating_sub(CACHE).div_ceil(BLOCK);
    let expected: Vec<_> = (1..=pages).map(|n| ONE_SLC_WRITE * n + fold(&config) * folds(n)).collect();
    assert_eq!(latencies, expected);
    let slc = report.slc.expect("the drive has an SLC cache");
    assert_eq!((slc.pages_written, slc.pages_direct), (pages, 0));
    assert!(slc.pages_folded >= 3 * BLOCK, "{slc:?}");
}

#[test]
fn a_read_waits_for_the_fold_that_writes_wait_for_and_goes_before_them() {
    let config = waiting();
    let (begun, after) = (ONE_SLC_WRITE * CACHE, Time::from_us(100));
    let requests = writes(0..CACHE + 1, Time::ZERO).chain([read(CACHE - 1, 1, begun + after)]);
    let (_, latencies) = run_all(&config, requests);
    let one_read = COMMAND + SLC_READ + PAGE_TRANSFER;
    assert_eq!(latencies[CACHE as usize + 1], fold(&config) - after + one_read);
    assert_eq!(latencies[CACHE as usize], begun + fold(&config) + one_read + ONE_SLC_WRITE);
}

#[test]
fn a_dynamic_cache_that_has_given_all_its_blocks_back_lets_writes_pass() {
    let mut config = waiting();
    config.slc.region = SlcRegion::Dynamic;
    config.slc.blocks_per_plane = 64;
    config.geometry.blocks_per_plane = 17;
    config.geometry.capacity = Some(Bytes::new(PAGE) * (8 * 24));
    for pages in [1, 4] {
        let requests = (0..3_000).map(|n| write(n * 7 % (8 * 24), pages, Time::ZERO));
        let (report, _) = run_all(&config, requests);
        let slc = report.slc.expect("the drive has an SLC cache");
        assert!(slc.folds > 0 && slc.pages_written > 0, "{slc:?}");
        assert!(slc.pages_direct > slc.pages_written, "without free blocks there is no cache: {slc:?}");
    }
}

#[test]
fn a_plane_that_is_collected_without_end_folds_for_every_write() {
    let mut config = waiting();
    config.geometry.blocks_per_plane = 4 + 12;
    config.geometry.capacity = Some(Bytes::new(PAGE) * (6 * 24));
    config.gc.threshold = 0.1;
    for preemptible in [false, true] {
        config.gc.preemptible = preemptible;
        let requests = (0..1_500).map(|n| write(n * 7 % (6 * 24), 1, Time::ZERO));
        let (report, _) = run_all(&config, requests);
        let slc = report.slc.expect("the drive has an SLC cache");
        assert_eq!((slc.pages_written, slc.pages_direct), (1_500, 0), "{slc:?}");
        assert!(report.gc.collections > slc.folds, "GC ran besides folding: {:?}", report.gc);
    }
}

#[test]
fn superblocks_of_the_cache_are_folded_for_writes_that_wait() {
    for policy in [FirmwarePolicy::Tbm, FirmwarePolicy::Superblock] {
        let mut config = waiting();
        config.ftl.policy = policy;
        config.geometry.channels = 2;
        config.geometry.planes_per_die = 2;
        config.geometry.capacity = Some(Bytes::new(PAGE) * (4 * 40 * 24));
        let pages = 8 * 4 * CACHE;
        let (report, _) = run_all(&config, writes(0..pages, Time::ZERO));
        let slc = report.slc.expect("the drive has an SLC cache");
        assert_eq!(slc.pages_written + slc.pages_direct, pages, "{policy:?}");
        assert_eq!(slc.pages_direct, 0, "{policy:?}: {slc:?}");
    }
}

#[test]
fn a_cut_of_the_power_while_writes_wait_loses_none_that_was_acknowledged() {
    let mut config = waiting();
    config.persistence.policy = PersistencePolicy::Journal;
    config.geometry.blocks_per_plane += 16;
    let step = Time::from_ps(fold(&config).as_ps() / 9);
    for moment in 1..=30 {
        let mut config = config.clone();
        config.power.cut = Some(ONE_SLC_WRITE * CACHE + step * moment);
        let (report, _) = run_all(&config, writes(0..CACHE + 3 * BLOCK, Time::ZERO));
        let cut = report.power_cut.expect("the power was cut");
        let recovery = cut.recovery.expect("the map was recovered");
        assert_eq!((recovery.pages_lost, cut.pages_lost), (0, 0), "at moment {moment} of 30");
    }
}
