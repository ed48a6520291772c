//! The SLC cache beside firmware policies whose planes work together, parity, and a map that is in DRAM in part.

use flashmesh::config::{Config, FirmwarePolicy, ParityShare, SlcRegion};
use flashmesh::ids::Lpn;
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;

use super::slc::{CACHE, LATER, drive, writes};
use crate::support::drives::*;

/// So many dies on channels of their own, of two planes each, every one as large as the plane of [`drive`].
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
    let report = simulation.run(&Control::default()).expect("no oracle speaks");
    simulation.ftl().audit().expect("the tables agree");
    report
}

/// Every page that is written is of the first plane, by the static order.
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
            let slc = report.slc.expect("the drive has a cache");
            assert_eq!((slc.pages_written, slc.pages_direct), (cache, 3 * planes), "{policy}, {region}");
            assert_eq!(
                (slc.pages_folded, slc.folds, slc.erases),
                (cache, 4 * planes, 4 * planes),
                "{policy}, {region}"
            );
        }
    }
}

/// Pages wait for the plane that is furthest behind, and what is folded goes there: all planes of a superblock have equally many.
#[test]
fn folded_pages_are_spread_evenly_over_a_superblock() {
    let config = dies(3, FirmwarePolicy::Superblock);
    let source = Listed((0..CACHE * 6).map(|page| write(page * 6, 1, Time::ZERO)).chain([read(0, 1, LATER)]).collect());
    let mut simulation = Simulation::with_source(&config, Box::new(source)).expect("the drive can be built");
    simulation.run(&Control::default()).expect("it runs");
    let mut pages = [0; 6];
    for page in 0..CACHE as u32 * 6 {
        let place = simulation.ftl().lookup(Lpn(page * 6)).expect("it was written");
        pages[simulation.geometry().plane_of(place).index()] += 1;
    }
    assert_eq!(pages, [CACHE; 6]);
}

#[test]
fn writes_of_mbm_take_the_cache_while_there_is_a_page() {
    let config = dies(2, FirmwarePolicy::Mbm);
    let report = run_all(&config, writes(0..4 * CACHE + 24, Time::ZERO).chain([read(0, 1, LATER)]));
    let slc = report.slc.expect("the drive has a cache");
    assert_eq!((slc.pages_written, slc.pages_direct, slc.pages_folded), (4 * CACHE, 24, 4 * CACHE));
}

/// A block of the cache has eight word lines; with a parity of 1/2 four of them hold data.
#[test]
fn parity_protects_what_lies_in_the_cache_too() {
    let mut config = dies(2, FirmwarePolicy::Superblock);
    config.ftl.parity = Some(ParityShare(2));
    config.geometry.capacity = Some(Bytes::new(PAGE) * (4 * 20 * 24));
    // Of the four blocks of a plane three may be full.
    config.slc.fold_threshold = 0.99;
    let pages = 4 * 3 * 4;
    let requests = || writes(0..pages, Time::ZERO).chain([read(0, 1, LATER)]);
    let cached = run_all(&config, requests());
    let slc = cached.slc.as_ref().expect("the drive has a cache");
    assert_eq!((slc.pages_written, slc.pages_direct, slc.folds), (pages, 0, 0));
    assert_eq!(cached.flash.parity_programs, pages);
    config.slc.fold_threshold = 0.0;
    let folded = run_all(&config, requests());
    assert_eq!(folded.slc.as_ref().expect("the drive has a cache").pages_folded, pages);
    assert_eq!(folded.flash.parity_programs, 2 * pages, "what is folded is protected where it goes");
}

/// Folds change entries of the map as collections do: their translation pages are written back.
#[test]
fn a_map_that_is_in_dram_in_part_learns_where_folded_pages_are() {
    let mut config = drive();
    config.geometry.blocks_per_plane += 4;
    config.mapping.cache_capacity = Some(Bytes::new(8 * 16));
    config.mapping.entry_size = Bytes::new(8);
    config.mapping.stored_entry_size = Bytes::new(256);
    let written = run_all(&config, writes(0..CACHE, Time::ZERO));
    let folded = run_all(&config, writes(0..CACHE, Time::ZERO).chain([read(900, 1, LATER)]));
    assert_eq!(folded.slc.as_ref().expect("the drive has a cache").pages_folded, CACHE);
    let programs = |report: &Report| report.flash.map_programs;
    // 32 entries lie in two translation pages of 16.
    assert!(programs(&folded) >= programs(&written) + 2, "{} and {}", programs(&folded), programs(&written));
}
