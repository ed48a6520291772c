//! Random workloads on random small drives, with all oracles enabled, compared with a simple model of the expected results.

mod checks;
mod model;

use std::collections::{BTreeMap, BTreeSet};

use self::checks::{check_lower_bound, check_map, check_numbers, check_requests};
use self::model::{Model, status};
use flashmesh::config::{
    AccessTime, AccessUnit, Arbitration, CacheStall, Config, FirmwarePolicy, HoldPath, PageMove, PlaneOrder,
    PreconditionKind, WriteBinding,
};
use flashmesh::host::status::Status;
use flashmesh::ids::Lpn;
use flashmesh::measure::cache::CacheReport;
use flashmesh::measure::report::Report;
use flashmesh::measure::request_log::RequestRecord;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Bytes;
use flashmesh::workload::{IoRequest, RequestKind};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::support::arbitrary;
use crate::support::arbitrary::Case;
use crate::support::drives::{Kept, Listed};

/// Results of the run of a case, which is a random drive with its requests.
struct Outcome {
    report: Report,
    records: Vec<RequestRecord>,
    /// Logical pages mapped at the end.
    mapped: BTreeSet<u32>,
}

fn simulation(case: &Case) -> Simulation {
    case.config.validate().expect("the configuration is valid");
    let source = Listed(case.requests.iter().copied().collect());
    Simulation::with_source(&case.config, Box::new(source)).expect("the drive can be built")
}

/// Runs the case with all oracles enabled. Returns its results.
fn run(case: &Case) -> Outcome {
    let mut simulation = simulation(case);
    simulation.enable_checks();
    let kept = Kept::default();
    simulation.set_request_sink(Box::new(kept.clone()));
    let report =
        simulation.run(&Control::default()).unwrap_or_else(|error| panic!("{error}\n{}", case.config.to_toml()));
    let logical_pages = simulation.geometry().logical_pages;
    let mapped = (0..logical_pages).filter(|&lpn| simulation.ftl().lookup(Lpn(lpn)).is_some()).collect();
    let records = kept.0.lock().expect("no other thread panicked").clone();
    Outcome { report, records, mapped }
}

fn request_of(record: &RequestRecord) -> IoRequest {
    let RequestRecord { arrival, kind, offset, size, stream, .. } = *record;
    IoRequest { arrival, kind, offset, size, stream }
}

/// Runs a case and compares all its results with the model. Returns the first difference as an error.
fn check(case: &Case) -> Result<(), TestCaseError> {
    let outcome = run(case);
    check_requests(case, &outcome)?;
    check_numbers(case, &outcome)?;
    check_lower_bound(&outcome)?;
    check_map(case, &outcome)
}

fn planes(config: &Config) -> u32 {
    let geometry = &config.geometry;
    geometry.channels * geometry.chips_per_channel * geometry.dies_per_chip * geometry.planes_per_die
}

/// Settings that follow MQSim, each tested on its own.
const WAYS_OF_MQSIM: [fn(&mut Config); 6] = [
    |config| config.cache.access_unit = AccessUnit::Request,
    |config| config.cache.access_time = AccessTime::Mqsim,
    |config| config.cache.stall = CacheStall::CachedWrites,
    |config| config.flash.plane_order = PlaneOrder::Arrival,
    |config| {
        if config.fabric.hold_path == HoldPath::Never {
            config.fabric.arbitration = Arbitration::DataFirstTogether;
        }
    },
    |config| config.schedule.map_reads_take_others = true,
];

/// Returns a strategy that draws a random drive with its requests, and applies change `index` of [`WAYS_OF_MQSIM`] to the drive.
fn case_with_way(index: usize) -> impl Strategy<Value = Case> {
    arbitrary::case().prop_map(move |mut case| {
        WAYS_OF_MQSIM[index](&mut case.config);
        case
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn so_does_any_drive_that_moves_pages_of_a_request_in_one_dram_access(case in case_with_way(0)) {
        check(&case)?;
    }

    #[test]
    fn so_does_any_drive_with_dram_times_of_mqsim(case in case_with_way(1)) {
        check(&case)?;
    }

    #[test]
    fn so_does_any_drive_that_lets_writes_pass_the_cache(case in case_with_way(2)) {
        check(&case)?;
    }

    #[test]
    fn so_does_any_drive_that_sends_planes_by_arrival(case in case_with_way(3)) {
        check(&case)?;
    }

    #[test]
    fn so_does_any_drive_that_arbitrates_commands_of_a_request_together(case in case_with_way(4)) {
        check(&case)?;
    }

    #[test]
    fn so_does_any_drive_that_joins_reads_with_reads_of_the_map(case in case_with_way(5)) {
        check(&case)?;
    }

    #[test]
    fn so_does_any_drive_that_maps_units_of_any_size_or_programs_word_lines(case in arbitrary::with_independent_planes(arbitrary::case_in_units())) {
        check(&case)?;
    }

    #[test]
    fn so_does_any_drive_that_sends_units_from_chip_to_chip(case in arbitrary::with_independent_planes(arbitrary::case_that_sends_units())) {
        check(&case)?;
    }

    #[test]
    fn so_does_any_drive_with_an_slc_cache(case in arbitrary::with_independent_planes(arbitrary::case_with_slc())) {
        check(&case)?;
    }
}

#[test]
fn most_drives_that_are_drawn_with_an_slc_cache_have_one() {
    const DRAWN: usize = 1_000;
    let mut runner = TestRunner::deterministic();
    let drawn = |_| arbitrary::case_with_slc().new_tree(&mut runner).expect("a case can be drawn").current().config;
    let drives: Vec<Config> = (0..DRAWN).map(drawn).collect();
    let gathers = |config: &&Config| config.slc.is_on() && config.units_per_program() > 1;
    let counts = (drives.iter().filter(|config| config.slc.is_on()).count(), drives.iter().filter(gathers).count());
    assert!(
        counts.0 > DRAWN / 2 && counts.1 > DRAWN * 3 / 20,
        "{counts:?} of {DRAWN} have an SLC cache, and gather programs"
    );
    for policy in FirmwarePolicy::ALL {
        let have_it = drives.iter().filter(|config| config.slc.is_on() && config.ftl.policy == *policy).count();
        assert!(have_it > 0, "none of {DRAWN} drives has an SLC cache under {policy}");
    }
    let with_parity = drives.iter().filter(|config| config.slc.is_on() && config.parity_stripe().is_some()).count();
    assert!(with_parity > DRAWN / 100, "{with_parity} of {DRAWN} have an SLC cache and parity");
}

#[test]
fn many_drives_that_send_pages_from_chip_to_chip_have_units_that_gather_or_large_ones() {
    let mut runner = TestRunner::deterministic();
    let strategy = arbitrary::case_that_sends_units();
    let drawn = |_| strategy.new_tree(&mut runner).expect("a case can be drawn").current().config;
    let drives: Vec<Config> = (0..400).map(drawn).collect();
    for r#move in [PageMove::ChipToChip, PageMove::Clean] {
        let send: Vec<&Config> = drives.iter().filter(|config| config.gc.r#move == r#move).collect();
        let gather = send.iter().filter(|config| config.units_per_program() > 1).count();
        let large = send.iter().filter(|config| config.pages_per_unit() > 1).count();
        assert!(gather > 30 && large > 20, "{move}: {gather} of 400 gather, {large} have large units");
    }
}

#[test]
fn many_drives_that_are_drawn_with_units_gather_programs_and_many_have_large_units() {
    let mut runner = TestRunner::deterministic();
    let drawn = |_| arbitrary::case_in_units().new_tree(&mut runner).expect("a case can be drawn").current().config;
    let drives: Vec<Config> = (0..400).map(drawn).collect();
    let gather = |config: &&Config| config.units_per_program() > 1;
    let large = |config: &&Config| config.pages_per_unit() > 1;
    let by_die = |config: &&Config| gather(config) && config.ftl.policy == FirmwarePolicy::Tbm;
    let counts = (drives.iter().filter(gather).count(), drives.iter().filter(by_die).count());
    assert!(counts.0 > 150 && counts.1 > 8, "{counts:?} of 400 gather, and gather by die");
    let early = |config: &&Config| gather(config) && config.ftl.write_binding == WriteBinding::Early;
    let touched = |config: &&Config| early(config) && config.ftl.first_touch.assigns_location();
    let mbm = |config: &&Config| gather(config) && config.ftl.policy == FirmwarePolicy::Mbm;
    let counts =
        [drives.iter().filter(early).count(), drives.iter().filter(touched).count(), drives.iter().filter(mbm).count()];
    assert!(
        counts.iter().all(|&count| count > 20),
        "{counts:?} of 400 gather with early binding, also with early binding for reads, and under MBM"
    );
    let copy_back: Vec<&Config> = drives.iter().filter(|config| config.gc.copyback).collect();
    let counts = (copy_back.iter().filter(|c| gather(c)).count(), copy_back.iter().filter(|c| large(c)).count());
    assert!(counts.0 > 40 && counts.1 > 20, "{counts:?} of 400 copy back and gather, or have large units");
    let large = drives.iter().filter(large).count();
    assert!(large > 80, "{large} of 400 have units of several pages");
}

/// Returns a drive of one plane of 8 blocks of 4 pages, half of them as capacity, with one request outstanding.
fn one_plane() -> Config {
    let mut config = Config::default();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 8;
    config.geometry.pages_per_block = 4;
    config.geometry.capacity = Some(Bytes::from_kib(64));
    config.replay.outstanding = 1;
    config
}

fn io(kind: RequestKind, first_page: u64, size: u64, arrival_us: u64) -> IoRequest {
    let arrival = flashmesh::units::Time::from_us(arrival_us);
    IoRequest { arrival, kind, offset: Bytes::new(first_page * 4096), size: Bytes::new(size), stream: 0 }
}

#[test]
fn a_write_is_served_when_reads_of_pages_never_written_took_the_last_block_the_host_could_open() {
    // 24 writes fill six blocks without GC. The read opens the seventh block, and the eighth is the GC reserve.
    let mut requests = vec![io(RequestKind::Write, 0, 4096, 0); 24];
    requests.push(io(RequestKind::Read, 1, 4096, 0));
    requests.push(io(RequestKind::Write, 0, 4096, 0));
    let report = run(&Case { config: one_plane(), requests }).report;
    assert_eq!((report.requests, report.gc.collections > 0), (26, true));
}

#[test]
fn a_partial_write_whose_page_is_deallocated_does_not_disturb_the_suspension_it_asked_for() {
    let mut config = one_plane();
    config.geometry.chips_per_channel = 2;
    config.precondition.kind = PreconditionKind::Sequential;
    config.fabric.channel_rate = flashmesh::units::Rate::from_bytes_per_second(100_000_000);
    config.flash.suspension = flashmesh::config::Suspension::Program;
    config.replay.mode = flashmesh::config::ReplayMode::Open;
    // While the first write programs die 0, the second holds the channel until 91 us. A partial write of page 2 waits to read the page from die 0,
    // but the page is deallocated before the channel is free.
    let requests = vec![
        io(RequestKind::Write, 0, 4096, 0),
        io(RequestKind::Write, 1, 4096, 50),
        io(RequestKind::Write, 2, 512, 60),
        io(RequestKind::Deallocate, 2, 4096, 70),
    ];
    let report = run(&Case { config, requests }).report;
    assert_eq!((report.requests, report.flash.suspensions, report.flash.user_programs), (4, 1, 3));
}

#[test]
fn a_run_ends_with_its_last_completion_whatever_collection_is_under_way() {
    let mut config = one_plane();
    config.gc.background_threshold = 0.9;
    config.replay.mode = flashmesh::config::ReplayMode::Closed;
    config.replay.think_time = flashmesh::units::Time::from_us(1500);
    // The second write invalidates two blocks, whose erases take 1 ms each. When the write completes, only the first erase has started.
    let requests = vec![io(RequestKind::Write, 0, 8 * 4096, 0); 2];
    let report = run(&Case { config, requests }).report;
    assert_eq!((report.requests, report.gc.collections), (2, 1));
    assert!(report.utilisation.dies[0] <= 1.0);
}

/// Returns the logical pages that end mapped if the requests run one at a time, and those of them that were only read. Those may end unmapped: a
/// plane short of free pages does not map reads, and a deallocation during a destage unmaps the page.
fn mapped_one_at_a_time(case: &Case) -> (BTreeSet<u32>, BTreeSet<u32>) {
    let page = case.config.mapping_unit().as_u64();
    let places_for_reads = case.config.ftl.first_touch.assigns_location();
    let mut only_read = BTreeSet::new();
    let mut mapped = Model::of(&Case { config: case.config.clone(), requests: Vec::new() }).mapped_min;
    for io in case.requests.iter().filter(|io| status(&case.config, io) == Status::Success) {
        let (start, end) = (io.offset.as_u64(), (io.offset + io.size).as_u64());
        for lpn in start / page..end.div_ceil(page) {
            let is_whole = lpn * page >= start && (lpn + 1) * page <= end;
            let lpn = lpn as u32;
            match io.kind {
                RequestKind::Deallocate | RequestKind::WriteZeroes if is_whole => {
                    mapped.remove(&lpn);
                    only_read.remove(&lpn);
                }
                RequestKind::Deallocate | RequestKind::Flush => {}
                RequestKind::Read if places_for_reads => {
                    if mapped.insert(lpn) {
                        only_read.insert(lpn);
                    }
                }
                RequestKind::Read => {}
                RequestKind::Write | RequestKind::WriteZeroes => {
                    mapped.insert(lpn);
                    only_read.remove(&lpn);
                }
            }
        }
    }
    (mapped, only_read)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_request_at_a_time_maps_exactly_what_the_model_maps(mut case in arbitrary::case()) {
        case.config.host.queue_depth = 1;
        case.config.cache.flush_at_end = true;
        let outcome = run(&case);
        let (mapped, only_read) = mapped_one_at_a_time(&case);
        prop_assert!(outcome.mapped.is_subset(&mapped), "{:?} and {:?}", outcome.mapped, mapped);
        let lost = &mapped - &outcome.mapped;
        prop_assert!(lost.is_subset(&only_read), "{:?} and {:?}", outcome.mapped, mapped);
    }
}

#[test]
fn the_random_cases_reach_every_corner_of_the_drive() {
    let mut runner = TestRunner::deterministic();
    let strategy = arbitrary::case();
    let mut reached: BTreeMap<&str, u64> = BTreeMap::new();
    let mut limits = BTreeSet::new();
    let expected = ["Arrivals", "Chips", "Controllers", "Dies", "Dram", "LinkToDrive", "Rows"].map(str::to_owned);
    let expected = BTreeSet::from(expected);
    // Draws up to 800 cases, until each of the rarer combinations of features has occurred.
    for _ in 0..800 {
        let is_everywhere = reached.len() == 25 && reached.values().all(|&count| count > 0);
        if is_everywhere && limits.is_superset(&expected) {
            break;
        }
        let case = strategy.new_tree(&mut runner).expect("a case can be drawn").current();
        let Report { flash, gc, path_conflict, breakdown_ps, lower_bound, mapping_cache, cache, .. } =
            simulation(&case).run(&Control::default()).expect("the run succeeds");
        let takes_turns = !case.config.flash.die_interleaving && case.config.geometry.dies_per_chip > 1;
        let map = mapping_cache.map(|map| map.counters).unwrap_or_default();
        limits.insert(format!("{:?}", lower_bound.limit));
        let waited_behind_gc = breakdown_ps.mean.is_some_and(|mean| mean.behind_gc > 0.0);
        let counts = [
            ("erases", gc.erases),
            ("erases on chips whose dies take turns", if takes_turns { gc.erases } else { 0 }),
            ("pages moved", gc.pages_moved),
            ("wear moves", gc.wear_moves),
            ("pages copied from chip to chip", gc.pages_copied),
            ("copybacks", if case.config.gc.copyback { gc.pages_moved } else { 0 }),
            ("suspensions", flash.suspensions),
            ("multi-plane operations", flash.multi_plane_operations),
            ("reads of partial writes", flash.partial_write_reads),
            ("waits for paths", path_conflict.wait_ps),
            ("waits behind collection", u64::from(waited_behind_gc)),
            ("hits of the map", map.hits),
            ("misses of the map", map.misses),
            ("joined misses of the map", map.joined_misses),
            ("waits for room in the map", map.waits_for_room),
            ("write-backs of the map without a read", map.write_backs_without_read),
            ("translation pages programmed", flash.map_programs),
            ("collections of translation pages", gc.translation_collections),
        ];
        let cached =
            cache.into_iter().flat_map(|CacheReport { reads, writes, fills, destages, evictions, waits, .. }| {
                [
                    ("reads that hit the cache", reads.hits),
                    ("reads that hit it in part", reads.partial_hits),
                    ("writes that hit it in part", writes.partial_hits),
                    ("fills", fills),
                    ("destages", destages),
                    ("evictions", evictions),
                    ("writes that wait for room in the cache", waits),
                ]
            });
        for (name, count) in counts.into_iter().chain(cached) {
            *reached.entry(name).or_default() += count;
        }
    }
    let missed: Vec<_> = reached.iter().filter(|(_, count)| **count == 0).collect();
    assert!(reached.len() == 25 && missed.is_empty(), "{reached:?}");
    assert!(limits.is_superset(&expected), "{limits:?}");
}

#[test]
fn the_model_counts_parts_of_pages() {
    let mut config = Config::default();
    config.geometry.capacity = Some(Bytes::from_kib(64));
    let at = |offset, request: IoRequest| IoRequest { offset: Bytes::new(offset), ..request };
    let requests = vec![
        at(512, io(RequestKind::Write, 0, 8192, 0)),
        io(RequestKind::Read, 1, 512, 0),
        at(512, io(RequestKind::Deallocate, 0, 8192, 0)),
    ];
    let model = Model::of(&Case { config, requests });
    assert_eq!((model.pages_written, model.pages_completed_max, model.pages_read), (3, 2, 1));
    assert_eq!(model.mapped_min, BTreeSet::from([0, 2]));
    assert_eq!(model.mapped_max, BTreeSet::from([0, 1, 2]));
}
