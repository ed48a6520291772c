//! Replication of pages on whole drives: combinations with all other features under all oracles, and its benefit.

use flashmesh::collisions::{ReplicationCounts, ReplicationReport};
use flashmesh::config::{Allocation, ArrayLevel, Config, CountedReads, FabricKind, FirmwarePolicy};
use flashmesh::flash::geometry::Geometry;
use flashmesh::ids::Lpn;
use flashmesh::measure::report::Report;
use flashmesh::policy::{ReadLocation, ReplicaChoice, ReplicaSelector};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::{IoRequest, RequestKind};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::support::arbitrary::{drive, policies};
use crate::support::cases::cases;
use crate::support::drives::Listed;
use crate::support::partitions;

/// Returns a strategy that draws a request to a small hot set: kind, page, whether it is partial, and gap in us.
fn sketch() -> impl Strategy<Value = (RequestKind, u32, bool, u64)> {
    let kind = prop_oneof![
        40 => Just(RequestKind::Read),
        6 => Just(RequestKind::Write),
        1 => Just(RequestKind::Deallocate),
    ];
    (kind, any::<u32>(), proptest::bool::weighted(0.2), select(vec![0u64, 0, 0, 1, 20, 300]))
}

/// Returns a strategy that draws a drive with replication and space for copies, and requests to pages that often share a die.
fn case() -> impl Strategy<Value = (Config, Vec<IoRequest>)> {
    let own = (0..=20u32, 1..=40u32, 1..=500u64, 3..=6u32, proptest::bool::weighted(0.7));
    let requests = proptest::collection::vec(sketch(), 200..600);
    let managed = option::weighted(0.4, policies::managed(FirmwarePolicy::ALL.to_vec()));
    let options = (0..=1u32, select(CountedReads::ALL), managed);
    (drive(), own, requests, 2..=12u32, options).prop_map(|(mut config, own, sketches, hot, options)| {
        let (stride, counted_reads, managed) = options;
        config.replication.counted_reads = counted_reads;
        let (l_r, percent, window, extra_blocks, is_cheap) = own;
        config.geometry.blocks_per_plane += extra_blocks;
        config.replication.enabled = true;
        config.replication.l_r = l_r;
        config.replication.l_m = f64::from(percent) / 1000.0;
        config.replication.rate_window = Time::from_us(window);
        if let Some(managed) = managed {
            managed.fit(&mut config);
        }
        if is_cheap {
            config.flash.read_time = Time::from_us(60);
            config.flash.program_time = Time::from_us(20);
        }
        let planes = config.geometry.channels
            * config.geometry.chips_per_channel
            * config.geometry.dies_per_chip
            * config.geometry.planes_per_die;
        let page = config.geometry.page_size.as_u64();
        let sector = config.geometry.sector_size.as_u64();
        let pages = partitions::first_capacity(&config).as_u64() / page;
        let stride = if stride == 0 { 1 } else { u64::from(planes) };
        let mut arrival = Time::ZERO;
        let requests = sketches.into_iter().map(|(kind, number, is_partial, gap)| {
            arrival += Time::from_us(gap);
            let lpn = u64::from(number % hot) * stride % pages;
            let size = Bytes::new(if is_partial && kind != RequestKind::Deallocate { sector } else { page });
            IoRequest { arrival, kind, offset: Bytes::new(lpn * page), size, stream: 0 }
        });
        let requests = requests.collect();
        (config, requests)
    })
}

fn run(config: &Config, requests: &[IoRequest], checked: bool) -> Report {
    let source = Listed(requests.iter().copied().collect());
    let mut simulation = Simulation::with_source(config, Box::new(source)).expect("the drive can be built");
    if checked {
        simulation.enable_checks();
    }
    simulation.run(&Control::default()).unwrap_or_else(|error| panic!("{error}\n{}", config.to_toml()))
}

fn replication(report: &Report) -> &ReplicationReport {
    report.replication.as_ref().expect("replication is enabled")
}

#[test]
fn random_drives_with_replication_satisfy_every_oracle() {
    let mut runner = TestRunner::deterministic();
    let cases = cases(256);
    let mut sum = ReplicationCounts::default();
    let (mut legal, mut at_limit) = (0, 0);
    for _ in 0..cases {
        let (config, requests) = case().new_tree(&mut runner).expect("a case can be drawn").current();
        // Some drives have too few spare blocks for copies, or only one die.
        if config.validate().is_err() {
            continue;
        }
        legal += 1;
        let report = run(&config, &requests, true);
        let found = replication(&report);
        assert!(found.copies_peak <= found.copies_max + 1, "{found:?}\n{config:?}");
        let counts = &found.counts;
        assert!(counts.made <= counts.wanted && counts.reads_of_copies <= counts.reads, "{found:?}");
        let ended = counts.ended_by_writes + counts.originals_kept + counts.copies_kept;
        assert_eq!(counts.made, ended + found.copies_end, "{found:?}\n{config:?}");
        assert_eq!(counts.made + counts.wasted, report.flash.replica_programs);
        at_limit += u64::from(counts.copies_kept + counts.originals_kept > 0);
        sum = sum.zip(counts, |sum, one| sum + one);
    }
    if cases >= 256 {
        assert!(legal > cases / 3, "{legal} of {cases}");
        // Every outcome occurred: copies made, read, invalidated by writes, kept instead of the original, cancelled before they were programmed, and
        // evicted at the limit `replication.l-m`.
        let seen = [sum.made, sum.reads_of_copies, sum.ended_by_writes, sum.copies_kept, sum.dropped, at_limit];
        assert!(seen.iter().all(|&count| count > 0), "{sum:?}");
    }
}

/// Returns a drive of four dies and requests that repeatedly read two pages of one die together.
fn pair_of_pages(fabric: FabricKind) -> (Config, Vec<IoRequest>) {
    let mut config = Config::default();
    config.geometry.channels = 2;
    config.geometry.chips_per_channel = 2;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 128;
    config.geometry.pages_per_block = 64;
    config.fabric.kind = fabric;
    config.replication.enabled = true;
    config.replication.l_m = 0.01;
    let geometry = Geometry::new(&config.geometry).expect("the geometry is valid");
    let page = config.geometry.page_size;
    let read = |at: u64, lpn: u64| IoRequest {
        arrival: Time::from_us(at),
        kind: RequestKind::Read,
        offset: page * lpn,
        size: page,
        stream: 0,
    };
    let apart = u64::from(geometry.planes());
    let requests = (0..2000).flat_map(|round| [read(round * 500, 0), read(round * 500, apart)]).collect();
    config.replay.mode = flashmesh::config::ReplayMode::Open;
    (config, requests)
}

#[test]
fn a_pair_that_collides_again_and_again_is_taken_apart_over_every_interconnect() {
    for &fabric in FabricKind::ALL {
        let (config, requests) = pair_of_pages(fabric);
        let on = run(&config, &requests, true);
        let mut plain = config.clone();
        plain.replication.enabled = false;
        let off = run(&plain, &requests, true);
        let found = replication(&on);
        assert_eq!((found.counts.made, found.copies_end), (1, 1), "{fabric}: {found:?}");
        // Of 2000 collisions only those before the first copy remain.
        assert!(found.counts.imbalanced < 200, "{fabric}: {found:?}");
        assert!(found.counts.imbalanced_avoided > 1800, "{fabric}: {found:?}");
        let mean = |report: &Report| report.latency_ps.read.as_ref().expect("reads completed").mean;
        assert!(mean(&on) < 0.95 * mean(&off), "{fabric}: {} and {}", mean(&on), mean(&off));
    }
}

#[test]
fn a_pair_is_taken_apart_where_dies_write_and_collect_superblocks() {
    for policy in [FirmwarePolicy::Tbm, FirmwarePolicy::Superblock] {
        let (mut config, requests) = pair_of_pages(FabricKind::Bus);
        config.geometry.planes_per_die = 2;
        config.ftl.policy = policy;
        // With this order the two pages are on the two planes of one die.
        config.ftl.allocation =
            Allocation::Static([ArrayLevel::Channel, ArrayLevel::Way, ArrayLevel::Die, ArrayLevel::Plane]);
        let found = run(&config, &requests, true);
        assert_eq!((replication(&found).counts.made, replication(&found).copies_end), (1, 1), "{policy}: {found:?}");
        assert!(replication(&found).counts.imbalanced_avoided > 1800, "{policy}: {found:?}");
    }
}

#[test]
fn without_pairs_in_the_lists_nothing_is_replicated() {
    let (mut config, requests) = pair_of_pages(FabricKind::Bus);
    config.replication.l_r = 0;
    let report = run(&config, &requests, true);
    assert_eq!((replication(&report).counts.wanted, replication(&report).counts.imbalanced), (0, 2000));
}

#[test]
fn a_page_that_is_written_has_one_home_and_a_read_after_it_is_fresh() {
    let (config, mut requests) = pair_of_pages(FabricKind::Bus);
    let write = IoRequest { kind: RequestKind::Write, arrival: Time::from_ms(900), ..requests[0] };
    let at = requests.iter().position(|request| request.arrival > write.arrival).expect("reads follow the write");
    for lpn in [0, 4] {
        requests.insert(at, IoRequest { offset: config.geometry.page_size * lpn, ..write });
    }
    let report = run(&config, &requests, true);
    assert_eq!(replication(&report).counts.ended_by_writes, 1);
}

/// Replica selector that always chooses the original.
struct Originals;

impl ReplicaSelector for Originals {
    fn choose(&mut self, _lpn: Lpn, _original: ReadLocation, _replica: ReadLocation) -> ReplicaChoice {
        ReplicaChoice::Original
    }
}

#[test]
fn the_choice_of_homes_can_be_injected() {
    let (config, requests) = pair_of_pages(FabricKind::Bus);
    let source = Listed(requests.into_iter().collect());
    let mut simulation = Simulation::with_source(&config, Box::new(source)).expect("the drive can be built");
    simulation.set_replica_selector(Box::new(Originals));
    simulation.enable_checks();
    let report = simulation.run(&Control::default()).expect("the run ends without a violation");
    let counts = &replication(&report).counts;
    assert!(counts.made > 0 && counts.reads > 0 && counts.reads_of_copies == 0, "{counts:?}");
}

/// Returns the error for a configuration that cannot replicate.
fn refused(text: &str) -> String {
    Config::from_str(text, "drive.toml", &[]).expect_err("the configuration is refused").to_string()
}

#[test]
fn a_drive_that_cannot_hold_copies_is_refused() {
    let one_die = "[geometry]\nchannels = 1\nchips-per-channel = 1\ndies-per-chip = 1\n[replication]\nenabled = true\n";
    let message = refused(one_die);
    assert!(message.contains("the drive has one die") && message.contains("drive.toml:"), "{message}");
    let message = refused("preset = \"collisions\"\n[replication]\nenabled = true\nl-m = 0.9\n");
    assert!(message.contains("replication.l-m (90 %)") && message.contains("lower replication.l-m to"), "{message}");
    let message = refused("[replication]\nenabled = true\nl-m = 1.5\n");
    assert!(message.contains("l-m") && message.contains('1'), "{message}");
    let message = refused("[replication]\nenabled = true\nl-m = 0.0\n");
    assert!(message.contains("less than one page"), "{message}");
    let message = refused("[replication]\nl-r = 7\n");
    assert!(message.contains("replication.l-r has no effect"), "{message}");
}
