//! SLC cache together with firmware policies that program all planes of a superblock, with parity, and with a map cache.

use flashmesh::config::{Config, FirmwarePolicy, ParityShare, SlcRegion};
use flashmesh::ids::Lpn;
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;

use super::slc::{CACHE, LATER, drive, writes};
use crate::support::drives::*;

/// Returns a drive of `dies` dies of two planes. Each die has its own channel, and each plane is as large as the plane of [`drive`].
fn dies(dies: u32, policy: FirmwarePolicy) -> Config {
    let mut config = drive();
    config.geometry.channels = dies;
    config.geometry.planes_per_die = 2;
    config.geometry.capacity = Some(Bytes::new(PAGE) * (u64::from(dies) * 2 * 40 * 24));
    config.ftl.policy = policy;
    config
}

fn run_all(config: &Config, requests: impl IntoIterator<Item = IoRequest>) -> Report {
    let source = Listed(requests.into_iter().collect());
    let mut simulation = Simulation::with_source(config, Box::new(source)).expect("the drive can be built");
    simulation.enable_checks();
    let report = simulation.run(&Control::default()).expect("no oracle reports a violation");
    simulation.ftl().audit().expect("the tables agree");
    report
}

/// The static order puts all written pages on the first plane, so the spread is due to the policies.
#[test]
fn planes_that_share_superblocks_fill_fold_and_erase_their_caches_together() {
    for (policy, of_superblock) in [(FirmwarePolicy::Tbm, 1), (FirmwarePolicy::Superblock, 3)] {
        for region in [SlcRegion::Static, SlcRegion::Dynamic] {
            let mut config = dies(3, policy);
            config.slc.region = region;
            let planes = 2 * of_superblock;
            let cache = CACHE * planes;
            let to_first_plane = |page: u64| write(page * 6, 1, Time::ZERO);
            let requests = (0..cache + 3 * planes).map(to_first_plane).chain([read(0, 1, LATER)]);
            let report = run_all(&config, requests);
            let slc = report.slc.expect("the drive has an SLC cache");
            assert_eq!((slc.pages_written, slc.pages_direct), (cache, 3 * planes), "{policy}, {region}");
            assert_eq!(
                (slc.pages_folded, slc.folds, slc.erases),
                (cache, 4 * planes, 4 * planes),
                "{policy}, {region}"
            );
        }
    }
}

/// Every write and every fold selects the plane with the fewest pages, so all planes of a superblock get the same number of pages.
#[test]
fn folded_pages_are_spread_evenly_over_a_superblock() {
    let config = dies(3, FirmwarePolicy::Superblock);
    let source = Listed((0..CACHE * 6).map(|page| write(page * 6, 1, Time::ZERO)).chain([read(0, 1, LATER)]).collect());
    let mut simulation = Simulation::with_source(&config, Box::new(source)).expect("the drive can be built");
    simulation.run(&Control::default()).expect("the run succeeds");
    let mut pages = [0; 6];
    for page in 0..CACHE as u32 * 6 {
        let place = simulation.ftl().lookup(Lpn(page * 6)).expect("the page was written");
        pages[simulation.geometry().plane_of(place).index()] += 1;
    }
    assert_eq!(pages, [CACHE; 6]);
}

#[test]
fn writes_of_mbm_take_the_cache_while_there_is_a_page() {
    let config = dies(2, FirmwarePolicy::Mbm);
    let report = run_all(&config, writes(0..4 * CACHE + 24, Time::ZERO).chain([read(0, 1, LATER)]));
    let slc = report.slc.expect("the drive has an SLC cache");
    assert_eq!((slc.pages_written, slc.pages_direct, slc.pages_folded), (4 * CACHE, 24, 4 * CACHE));
}

/// Of the eight word lines of a cache block, parity 1/2 leaves four for data.
#[test]
fn parity_protects_what_lies_in_the_cache_too() {
    let mut config = dies(2, FirmwarePolicy::Superblock);
    config.ftl.parity = Some(ParityShare(2));
    config.geometry.capacity = Some(Bytes::new(PAGE) * (4 * 20 * 24));
    // Three of the four cache blocks of a plane may fill up before a fold starts.
    config.slc.fold_threshold = 0.99;
    let pages = 4 * 3 * 4;
    let requests = || writes(0..pages, Time::ZERO).chain([read(0, 1, LATER)]);
    let cached = run_all(&config, requests());
    let slc = cached.slc.as_ref().expect("the drive has an SLC cache");
    assert_eq!((slc.pages_written, slc.pages_direct, slc.folds), (pages, 0, 0));
    assert_eq!(cached.flash.parity_programs, pages);
    config.slc.fold_threshold = 0.0;
    let folded = run_all(&config, requests());
    assert_eq!(folded.slc.as_ref().expect("the drive has an SLC cache").pages_folded, pages);
    assert_eq!(folded.flash.parity_programs, 2 * pages, "folded pages are protected at their destination");
}

/// Folds move pages, so they change map entries, and the translation pages are written back.
#[test]
fn a_map_that_is_in_dram_in_part_learns_where_folded_pages_are() {
    let mut config = drive();
    config.geometry.blocks_per_plane += 4;
    config.mapping.cache_capacity = Some(Bytes::new(8 * 16));
    config.mapping.entry_size = Bytes::new(8);
    config.mapping.stored_entry_size = Bytes::new(256);
    let written = run_all(&config, writes(0..CACHE, Time::ZERO));
    let folded = run_all(&config, writes(0..CACHE, Time::ZERO).chain([read(900, 1, LATER)]));
    assert_eq!(folded.slc.as_ref().expect("the drive has an SLC cache").pages_folded, CACHE);
    let programs = |report: &Report| report.flash.map_programs;
    // The 32 entries of the folded pages are on two translation pages of 16 entries, which are both programmed again.
    assert!(programs(&folded) >= programs(&written) + 2, "{} and {}", programs(&folded), programs(&written));
}
