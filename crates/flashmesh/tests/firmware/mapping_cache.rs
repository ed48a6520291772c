//! Map cache on whole drives: latencies and hit rates compared with arithmetic, and configurations that could deadlock.

use flashmesh::config::{
    self, Arbitration, Config, FabricKind, HoldPath, MapFill, MultiPlane, Pattern, PreconditionKind, ReplayMode, Sizes,
};
use flashmesh::measure::report::{MappingCacheReport, Report};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::RequestKind;

use crate::support::drives::*;

const COMMAND: Time = Time::from_ns(10);
const READ: Time = Time::from_us(3);
const PROGRAM: Time = Time::from_us(100);
/// Transfer time of a page of 4096 bytes at 1.2 GB/s, rounded up.
const PAGE_TRANSFER: Time = Time::from_ps(3_413_334);
/// Transfer time of a sector of 512 bytes at 1.2 GB/s, rounded up.
const SECTOR_TRANSFER: Time = Time::from_ps(426_667);

/// Returns [`bare_drive`] with a map cache of `entries` entries. A translation page has 1024 entries.
fn drive_with(entries: u64) -> Config {
    let mut config = bare_drive();
    config.geometry.blocks_per_plane = 128;
    config.geometry.over_provisioning = 0.2;
    config.mapping.cache_capacity = Some(Bytes::new(8 * entries));
    config
}

/// Returns a drive of two chips of one plane of 28 blocks of 16 pages each, with a capacity of 16 blocks per plane. A translation page has 32
/// entries.
fn small_drive(entries: u64) -> Config {
    let mut config = drive_with(entries);
    config.geometry.channels = 2;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 28;
    config.geometry.pages_per_block = 16;
    config.geometry.capacity = Some(Bytes::new(PAGE) * (2 * 16 * 16));
    config.mapping.stored_entry_size = Bytes::new(PAGE / 32);
    config.replay.mode = ReplayMode::Stress;
    config
}

fn checked(config: &Config) -> Report {
    config.validate().expect("the configuration is valid");
    let mut simulation = Simulation::new(&unwarmed(config)).expect("the drive can be built");
    simulation.enable_checks();
    simulation.run(&Control::default()).expect("the run ends without a violation")
}

fn map_of(report: &Report) -> &MappingCacheReport {
    report.mapping_cache.as_ref().expect("the drive has a map cache")
}

#[test]
fn a_miss_costs_one_read_of_a_translation_page_and_a_hit_nothing() {
    let read_time = COMMAND + READ + PAGE_TRANSFER;
    let at = |us| Time::from_us(us);
    // Page 0 is read twice. Page 1 has the same translation page, but its entry was not loaded. Page 5000 has another translation page.
    let requests = || [read(0, 1, at(0)), read(0, 1, at(100)), read(1, 1, at(200)), read(5000, 1, at(300))];
    let twice = read_time + read_time;
    let config = drive_with(16);
    assert_eq!(latencies(&config, requests()), [twice, read_time, twice, twice]);
    let records = run(&config, requests());
    let waits: Vec<Time> = records.iter().map(|record| record.breakdown.map_wait).collect();
    assert_eq!(waits, [read_time, Time::ZERO, read_time, read_time]);

    let mut whole_pages = config.clone();
    whole_pages.mapping.cache_capacity = Some(Bytes::new(8 * 2048));
    whole_pages.mapping.fill = MapFill::Page;
    assert_eq!(latencies(&whole_pages, requests()), [twice, read_time, read_time, twice]);

    let mut parts = config;
    parts.mapping.read_size = Some(Bytes::new(512));
    let with_part = COMMAND + READ + SECTOR_TRANSFER + read_time;
    assert_eq!(latencies(&parts, requests()), [with_part, read_time, with_part, with_part]);
}

#[test]
fn a_miss_reads_a_whole_translation_page_whatever_a_write_back_reads() {
    let mut config = drive_with(16);
    config.mapping.write_back_read_size = Some(Bytes::new(512));
    let read_time = COMMAND + READ + PAGE_TRANSFER;
    assert_eq!(latencies(&config, [read(0, 1, Time::ZERO)]), [read_time + read_time]);
}

#[test]
fn a_run_may_end_while_a_circuit_is_kept_for_a_translation_page() {
    let mut config = small_drive(1);
    config.replay.mode = ReplayMode::Open;
    config.fabric.kind = FabricKind::Venice;
    config.fabric.hold_path = HoldPath::Reads;
    config.precondition.kind = PreconditionKind::Sequential;
    // The cache has one entry. The second request evicts the changed entry of page 0. The translation page of that entry is then read and
    // programmed, although no request waits for it.
    let zeroes = |page, at| request(RequestKind::WriteZeroes, page, 1, at);
    for delay in (0..6000).step_by(500).map(Time::from_ns) {
        let records = run(&config, [zeroes(0, Time::ZERO), zeroes(100, Time::ZERO), zeroes(0, delay)]);
        assert_eq!(records.len(), 3);
    }
}

#[test]
fn a_write_needs_its_entry_as_a_read_does() {
    let write_time = COMMAND + PAGE_TRANSFER + PROGRAM;
    let requests = [write(0, 1, Time::ZERO), write(0, 1, Time::from_us(500)), read(0, 1, Time::from_us(1000))];
    let read_time = COMMAND + READ + PAGE_TRANSFER;
    assert_eq!(latencies(&drive_with(16), requests), [read_time + write_time, write_time, read_time]);
}

#[test]
fn requests_that_miss_the_same_translation_page_share_one_read_of_it() {
    let requests = (0..8).map(|page| read(page, 1, Time::ZERO));
    let (report, _) = run_source(&drive_with(16), Listed(requests.collect()));
    let map = map_of(&report);
    assert_eq!((map.counters.misses, map.counters.joined_misses, report.flash.map_reads), (1, 7, 1));
    assert_eq!((map.counters.hits, map.hit_share), (0, Some(0.0)));
}

#[test]
fn reads_of_requests_join_reads_of_the_map_on_other_planes_where_asked() {
    let mut config = small_drive(64);
    config.geometry.planes_per_die = 2;
    config.geometry.capacity = Some(Bytes::new(PAGE) * (4 * 16 * 16));
    config.flash.multi_plane = MultiPlane::SameOffset;
    config.precondition.kind = PreconditionKind::Sequential;
    config.workload.requests = Some(2000);
    config.workload.read_share = 1.0;
    config.workload.pattern = Pattern::Random;
    config.replay.outstanding = 32;
    let counts = |config: &Config| {
        let report = checked(config);
        (report.flash.user_reads, report.flash.multi_plane_operations)
    };
    let (reads, apart) = counts(&config);
    config.schedule.map_reads_take_others = true;
    let (reads_of_both, together) = counts(&config);
    assert_eq!(reads, reads_of_both);
    assert!(together > apart, "{together} multi-plane operations, {apart} if reads of the map join no others");
}

/// As in MQSim, map data has priority: a translation page is sent before the data of requests on any chip.
#[test]
fn a_translation_page_leaves_before_the_data_of_requests_that_wait_for_the_same_channel() {
    let mut config = drive_with(16);
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 8;
    config.geometry.dies_per_chip = 1;
    config.fabric.arbitration = Arbitration::DataFirstRoundRobin;
    // Consecutive pages are on consecutive chips, so the missed page is on chip 0.
    let (missed, its_chip) = (5000, 0);
    let (alone, _) = run_source(&config, Listed([read(missed, 1, Time::ZERO)].into()));
    let works = |chip: &usize| alone.utilisation.dies[*chip] > 0.0 && *chip != its_chip;
    let map_chip = (0..8).find(works).expect("the translation page is on another chip");
    let mut compared = 0;
    for chip in (0..8).filter(|chip| ![its_chip, map_chip].contains(chip)) {
        let first = (0..8).find(|other| ![its_chip, map_chip, chip].contains(other)).expect("there are eight chips");
        let [first, second] = [first, chip].map(|chip| chip as u64);
        let start = Time::from_us(200);
        let later = start + Time::from_ns(100);
        let records = run(
            &config,
            [
                // These two reads load the entries of `first` and `second` into the cache.
                read(first, 1, Time::ZERO),
                read(second, 1, Time::from_us(100)),
                read(first, 1, start),
                read(second, 1, later),
                read(missed, 1, later),
            ],
        );
        // The data of the first read occupies the channel while the translation page and the data of the second read become ready.
        let free = start + COMMAND + READ + PAGE_TRANSFER;
        assert_eq!(records[2].completed, free, "chip {chip}");
        assert_eq!(records[4].breakdown.map_wait, free + PAGE_TRANSFER - later, "chip {chip}");
        assert_eq!(records[3].completed, free + PAGE_TRANSFER * 2, "chip {chip}");
        compared += 1;
    }
    assert_eq!(compared, 6);
}

#[test]
fn an_entry_that_was_changed_is_written_back_when_it_makes_way_and_a_clean_one_is_forgotten() {
    // The cache has one entry. Page 0 is written. Pages 5000 and 10000 are on two other translation pages, so each of them evicts the
    // previous entry.
    let at = |us| Time::from_us(us);
    let requests = [write(0, 1, at(0)), read(5000, 1, at(500)), read(10_000, 1, at(1000)), read(0, 1, at(1500))];
    let (report, _) = run_source(&drive_with(1), Listed(requests.into()));
    let map = map_of(&report);
    assert_eq!((map.counters.misses, map.counters.evictions, map.counters.write_backs), (4, 3, 1));
    // The write-back reads its translation page first. So there are five map reads: four for misses, one for the write-back.
    assert_eq!((report.flash.map_reads, report.flash.map_programs), (5, 1));
    assert_eq!(report.write_amplification, Some(2.0));
}

#[test]
fn a_translation_page_is_written_back_without_a_read_when_all_of_its_entries_are_in_dram() {
    let mut config = small_drive(32);
    config.replay.mode = ReplayMode::Open;
    // All 32 entries of the first translation page are changed, and then evicted by the entries of the second translation page.
    let writes = (0..32).map(|page| write(page, 1, Time::from_us(200 * page)));
    let reads = (32..40).map(|page| read(page, 1, Time::from_us(200 * page)));
    let (report, _) = run_source(&config, Listed(writes.chain(reads).collect()));
    let map = map_of(&report);
    assert_eq!((map.counters.write_backs, map.counters.write_backs_without_read), (1, 1));
    assert_eq!(report.flash.map_programs, 1);
}

#[test]
fn uniform_random_reads_hit_as_often_as_the_cache_is_large() {
    // With C of N entries in the cache, a lookup hits with probability C / N.
    for (entries, pages) in [(512, 2048), (1024, 2048), (1843, 2048)] {
        let mut config = drive_with(entries);
        config.replay.mode = ReplayMode::Stress;
        config.replay.outstanding = 2;
        config.workload.pattern = Pattern::Random;
        config.workload.read_share = 1.0;
        config.workload.footprint = Some(Bytes::new(PAGE) * pages);
        config.workload.request_size = Sizes(vec![(Bytes::new(PAGE), 1.0)]);
        config.workload.requests = Some(60_000);
        let report = checked(&config);
        let share = map_of(&report).hit_share.expect("entries were looked up");
        assert_within("share of hits", share, entries as f64 / pages as f64, 0.03);
        assert_eq!(report.flash.map_programs, 0, "no entry was changed");
    }
}

/// Runs random writes to the whole small drive, which is full, with a map cache of `entries` entries.
fn random_writes(entries: u64, requests: u64) -> Report {
    let mut config = small_drive(entries);
    config.replay.outstanding = 16;
    config.workload.pattern = Pattern::Random;
    config.workload.read_share = 0.2;
    config.workload.request_size = Sizes(vec![(Bytes::new(PAGE), 1.0)]);
    config.workload.requests = Some(requests);
    config.precondition.kind = PreconditionKind::Random;
    checked(&config)
}

#[test]
fn random_writes_cost_write_backs_and_collections_of_translation_pages() {
    let (small, large) = (random_writes(24, 6000), random_writes(384, 6000));
    for report in [&small, &large] {
        assert_eq!(report.requests, 6000);
        assert!(report.flash.map_programs > 0 && report.gc.translation_collections > 0, "{:?}", report.gc);
        assert!(map_of(report).counters.write_backs >= report.flash.map_programs);
        // The energy gives the number of programs independently of the counters.
        let power = config::Power::default();
        let of_one = (power.program_current * power.supply_voltage).as_watts() * PROGRAM.as_secs_f64();
        let programmed = report.power.energy_j.program / of_one;
        let amplification = report.write_amplification.expect("pages were written");
        assert_within("write amplification", amplification, programmed / report.flash.pages_written as f64, 1e-9);
    }
    assert!(large.flash.map_programs < small.flash.map_programs, "a larger cache writes more entries back together");
    // Accesses to the 512 entries are uniform, so any replacement policy has the same hit rate. Until the cache is full, it holds the distinct
    // entries accessed so far.
    for (report, entries) in [(&large, 384.0_f64), (&small, 24.0)] {
        let filling = -512.0 * f64::ln(1.0 - entries / 512.0);
        let expected = (filling - entries + (6000.0 - filling) * entries / 512.0) / 6000.0;
        let share = map_of(report).hit_share.expect("entries were looked up");
        // Entries being written back still hit, so the hit rate may exceed the expected one.
        assert!((-0.01..0.015).contains(&(share - expected)), "{share}, not {expected}, with {entries} of 512");
    }
}

#[test]
fn a_cache_of_one_entry_with_one_write_back_at_a_time_brings_nothing_to_a_stand() {
    let mut config = small_drive(1);
    config.mapping.write_backs = 1;
    config.replay.outstanding = 64;
    config.workload.read_share = 0.3;
    config.workload.deallocate_share = 0.1;
    config.workload.request_size = Sizes(vec![(Bytes::new(2048), 0.3), (Bytes::new(3 * PAGE), 0.7)]);
    config.workload.requests = Some(2000);
    config.precondition.kind = PreconditionKind::Sequential;
    let report = checked(&config);
    assert_eq!(report.requests, 2000);
    assert!(map_of(&report).counters.waits_for_room > 0);
}

#[test]
fn the_translation_pages_of_a_new_drive_lie_on_flash_spread_over_the_planes() {
    for kind in [PreconditionKind::None, PreconditionKind::Sequential, PreconditionKind::Random] {
        let mut config = drive_with(64);
        (config.geometry.channels, config.geometry.chips_per_channel) = (2, 3);
        config.precondition.kind = kind;
        let mut simulation = Simulation::new(&unwarmed(&config)).expect("the drive can be built");
        simulation.enable_checks();
        let (ftl, geometry) = (simulation.ftl(), simulation.geometry());
        let pages = ftl.translation_pages().expect("the map is on flash");
        assert_eq!(pages.count(), geometry.logical_pages.div_ceil(1024));
        let mut on_plane = vec![0u32; geometry.planes() as usize];
        for page in pages.all() {
            let at = ftl.lookup(flashmesh::ids::Lpn(page)).expect("translation pages are mapped from the start");
            on_plane[geometry.plane_of(at).index()] += 1;
        }
        let (least, most) =
            (on_plane.iter().min().expect("there are planes"), on_plane.iter().max().expect("there are planes"));
        assert!(most - least <= 1, "{least} to {most}");
        ftl.audit().expect("the tables agree");
    }
}
