//! Cuts of the power on whole drives, with all oracles on: whatever the drive does, what was programmed is found again.
#![allow(missing_docs)]

mod arbitrary;
mod drives;

use arbitrary::{Case, case};
use drives::Listed;
use flashmesh::config::{Config, FirmwarePolicy, Persistence, PersistencePolicy};
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

fn run(config: &Config, requests: &[IoRequest]) -> Report {
    let source = Listed(requests.iter().copied().collect());
    let mut simulation = Simulation::with_source(config, Box::new(source)).expect("the drive can be built");
    simulation.enable_checks();
    simulation.run(&Control::default()).unwrap_or_else(|error| panic!("{error}\n{}", config.to_toml()))
}

/// A drive with a journal of small pages, so that many are programmed, and moments at which its power is cut.
fn journaling() -> impl Strategy<Value = (Config, Vec<IoRequest>, Vec<u32>)> {
    let journal = (1..=16u64, 1..=6u32, 1..=4u32, select(vec![4u64, 16, 64]));
    let policy = select(FirmwarePolicy::ALL);
    let moments = proptest::collection::vec(0..=1000u32, 1..=3);
    let others = (policy, any::<bool>(), any::<bool>(), 0..=3u32);
    (case(), journal, others, moments).prop_map(|(Case { mut config, requests }, journal, others, moments)| {
        let (entries, checkpoint_interval, checkpoint_writes, map_entries) = journal;
        let (policy, capacitors, replicates, extra_blocks) = others;
        let page = config.geometry.page_size.as_u64();
        config.persistence = Persistence {
            policy: PersistencePolicy::Journal,
            entry_size: Bytes::new(page / entries),
            checkpoint_interval,
            checkpoint_writes,
        };
        config.power.capacitors = capacitors;
        config.ftl.policy = policy;
        if config.mapping.cache_capacity.is_none() {
            config.mapping.stored_entry_size = Bytes::new(page / map_entries);
        }
        config.mapping.write_back_buffer = Bytes::ZERO;
        let geometry = &mut config.geometry;
        let planes = geometry.channels * geometry.chips_per_channel * geometry.dies_per_chip * geometry.planes_per_die;
        let logical = (geometry.capacity.expect("the drive has one").as_u64() / page) as u32;
        let pages = logical.div_ceil(map_entries as u32) + config.persistence.journal_pages() + 1;
        geometry.blocks_per_plane += pages.div_ceil(planes).div_ceil(geometry.pages_per_block) + 3 + extra_blocks;
        if replicates {
            config.replication.enabled = true;
            config.replication.l_m = 0.02;
            config.flash.read_time = Time::from_us(60);
            config.flash.program_time = Time::from_us(20);
        }
        (config, requests, moments)
    })
}

/// How many cases are drawn: those of `PROPTEST_CASES`, else enough for every run of the tests.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(256)
}

#[test]
fn whenever_the_power_is_cut_everything_programmed_is_found_again() {
    let mut runner = match std::env::var("FLASHMESH_SEED").ok().and_then(|text| text.parse::<u64>().ok()) {
        None => TestRunner::deterministic(),
        Some(seed) => {
            let bytes: Vec<u8> = seed.to_le_bytes().into_iter().cycle().take(32).collect();
            let rng = proptest::test_runner::TestRng::from_seed(proptest::test_runner::RngAlgorithm::ChaCha, &bytes);
            TestRunner::new_with_rng(ProptestConfig::default(), rng)
        }
    };
    let (mut cuts, mut entries, mut found, mut checkpoints, mut copies, mut undone) = (0u64, 0, 0, 0, 0, 0);
    for _ in 0..cases() {
        let (config, requests, moments) = journaling().new_tree(&mut runner).expect("it can be drawn").current();
        // Not every policy goes with every drive.
        if config.validate().is_err() {
            continue;
        }
        let whole = run(&config, &requests);
        assert_eq!(whole.requests, requests.len() as u64);
        for moment in moments {
            let mut config = config.clone();
            config.power.cut = Some(Time::from_ps(whole.makespan_ps / 1000 * u64::from(moment)));
            let report = run(&config, &requests);
            let Some(cut) = report.power_cut else { continue };
            let recovery = cut.recovery.expect("there is a journal");
            assert_eq!(recovery.pages_lost, 0);
            assert!(recovery.duration_ps > 0 && recovery.reads.blocks > 0);
            cuts += 1;
            entries += recovery.entries_replayed;
            found += recovery.pages_found;
            copies += recovery.copies_found;
            undone += recovery.deallocations_lost;
            checkpoints += report.persistence.expect("there is a journal").checkpoints;
        }
    }
    println!(
        "{cuts} cuts, {entries} entries replayed, {found} pages found by the scan, {checkpoints} checkpoints, {copies} copies found, \
         {undone} deallocations undone"
    );
    assert!(cuts > 0 && entries > 0 && found > 0 && checkpoints > 0 && copies > 0 && undone > 0, "all of it is seen");
}
