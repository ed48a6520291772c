//! Synthetic workloads match their description: shares, offsets, times and bounds, and equal requests for equal seeds.

use std::collections::{BTreeMap, HashSet};

use flashmesh_workload::config::{ArrivalKind, Pattern, Replay, ReplayMode, Sizes, Workload};
use flashmesh_workload::source::WorkloadSource;
use flashmesh_workload::synthetic::SyntheticSource;
use flashmesh_workload::units::{Bytes, Time};
use flashmesh_workload::{IoRequest, RequestKind};
use proptest::prelude::*;

use crate::support::fingerprint::Fingerprint;

const GIB: u64 = 1 << 30;
const SECTOR: Bytes = Bytes::new(512);

fn drive() -> Bytes {
    Bytes::new(8 * GIB)
}

fn open() -> Replay {
    Replay { mode: ReplayMode::Open, ..Replay::default() }
}

fn closed(threads: u32) -> Replay {
    Replay { mode: ReplayMode::Closed, threads, ..Replay::default() }
}

fn source(workload: &Workload, replay: &Replay, seed: u64) -> SyntheticSource {
    SyntheticSource::new(workload, replay, drive(), SECTOR, seed).unwrap()
}

fn drain(source: &mut dyn WorkloadSource, thread: u32) -> Vec<IoRequest> {
    std::iter::from_fn(|| source.next_request(thread).unwrap()).collect()
}

fn requests(workload: &Workload, replay: &Replay, seed: u64) -> Vec<IoRequest> {
    drain(&mut source(workload, replay, seed), 0)
}

fn mixed_sizes() -> Sizes {
    Sizes(vec![(Bytes::from_kib(4), 0.6), (Bytes::from_kib(16), 0.3), (Bytes::from_kib(64), 0.1)])
}

/// Returns a workload with all request kinds, mixed sizes, and a footprint that does not start at address 0.
fn rich(pattern: Pattern) -> Workload {
    Workload {
        pattern,
        requests: Some(10_000),
        read_share: 0.6,
        deallocate_share: 0.1,
        request_size: mixed_sizes(),
        footprint_start: Bytes::new(GIB),
        footprint: Some(Bytes::new(4 * GIB)),
        ..Workload::default()
    }
}

const PATTERNS: [Pattern; 5] =
    [Pattern::Sequential, Pattern::Random, Pattern::Zipf, Pattern::HotCold, Pattern::HotStride];

#[test]
fn the_first_ten_thousand_requests_of_each_pattern_are_the_known_ones() {
    let golden: [u64; 5] = [
        0x2bda_30e2_beb8_fccf,
        0xfd33_03fe_6530_a196,
        0xac5a_8c67_402f_326d,
        0x8bdf_f4a9_eacb_f7ed,
        0x4431_ed22_43ef_2cec,
    ];
    let found = PATTERNS.map(|pattern| {
        let mut fingerprint = Fingerprint::new();
        requests(&rich(pattern), &open(), 42).iter().for_each(|request| fingerprint.add(request));
        fingerprint.value()
    });
    assert_eq!(found, golden, "the generator changed: {found:#018x?}");
}

#[test]
fn the_same_seed_gives_the_same_requests_and_another_seed_others() {
    for pattern in PATTERNS {
        let workload = rich(pattern);
        assert_eq!(requests(&workload, &open(), 7), requests(&workload, &open(), 7));
        assert_ne!(requests(&workload, &open(), 7), requests(&workload, &open(), 8));
    }
}

#[test]
fn batches_hold_what_is_asked_for_one_by_one_and_end_with_it() {
    for pattern in PATTERNS {
        let workload = Workload { flush_share: 0.1, requests: Some(1_000), ..rich(pattern) };
        for replay in [open(), Replay::default()] {
            let (mut batched, mut taken) = (source(&workload, &replay, 5), Vec::new());
            let mut batch = Vec::new();
            for _ in 0..1_000_usize.div_ceil(32) {
                batch.clear();
                batched.fill(&mut batch, 32).unwrap();
                assert!(batch.len() == 32 || taken.len() + batch.len() == 1_000);
                taken.append(&mut batch);
            }
            batched.fill(&mut batch, 32).unwrap();
            assert!(batch.is_empty());
            assert_eq!(taken, requests(&workload, &replay, 5), "{pattern:?}");
        }
    }
}

#[test]
fn uniform_requests_spread_evenly_by_chi_square() {
    let workload = Workload { requests: Some(1_000_000), ..Workload::default() };
    let mut counts = [0_u64; 64];
    for request in requests(&workload, &Replay::default(), 1) {
        counts[(request.offset.as_u64() * 64 / drive().as_u64()) as usize] += 1;
    }
    let expected = 1e6 / 64.0;
    let chi_square: f64 = counts.iter().map(|&seen| (seen as f64 - expected).powi(2) / expected).sum();
    // With 63 degrees of freedom, one in a thousand seeds exceeds 103.4.
    assert!(chi_square < 103.4, "chi-square {chi_square}");
}

#[test]
fn zipf_requests_hit_few_blocks_that_are_not_neighbours() {
    let theta = 0.99_f64;
    let workload = Workload {
        pattern: Pattern::Zipf,
        zipf_theta: theta,
        footprint: Some(Bytes::from_kib(4 * 10_000)),
        requests: Some(1_000_000),
        ..Workload::default()
    };
    let mut counts = BTreeMap::new();
    for request in requests(&workload, &Replay::default(), 1) {
        *counts.entry(request.offset.as_u64() / 4096).or_insert(0_u64) += 1;
    }
    let mut by_count: Vec<(u64, u64)> = counts.into_iter().map(|(block, count)| (count, block)).collect();
    by_count.sort_unstable_by(|left, right| right.cmp(left));
    let total: f64 = (1..=10_000).map(|rank| f64::from(rank).powf(-theta)).sum();
    for (rank, (count, _)) in (1..=10).zip(&by_count) {
        let expected = 1e6 * f64::from(rank).powf(-theta) / total;
        // The tolerance is five standard deviations of a binomial count.
        assert!((*count as f64 - expected).abs() < 5.0 * expected.sqrt(), "rank {rank}: {count}, expected {expected}");
    }
    let hottest: HashSet<u64> = by_count.iter().take(20).map(|&(_, block)| block).collect();
    assert!(hottest.iter().all(|block| !hottest.contains(&(block + 1))), "hot blocks are neighbours: {hottest:?}");
}

#[test]
fn popular_blocks_are_the_same_for_every_seed() {
    let workload = Workload { pattern: Pattern::Zipf, zipf_theta: 2.0, requests: Some(10_000), ..Workload::default() };
    let hottest = |seed| {
        let mut counts = BTreeMap::new();
        requests(&workload, &Replay::default(), seed).iter().for_each(|request| {
            *counts.entry(request.offset.as_u64()).or_insert(0_u64) += 1;
        });
        counts.into_iter().max_by_key(|&(_, count)| count).map(|(offset, _)| offset)
    };
    assert_eq!(hottest(1), hottest(2));
}

#[test]
fn the_hot_region_gets_its_share_and_both_regions_are_even_inside() {
    let workload = Workload {
        pattern: Pattern::HotCold,
        hot_footprint: 0.25,
        hot_traffic: 0.9,
        requests: Some(1_000_000),
        ..Workload::default()
    };
    let mut quarters = [0_u64; 4];
    let mut hot_low_half = 0_u64;
    for request in requests(&workload, &Replay::default(), 3) {
        quarters[(request.offset.as_u64() / (2 * GIB)) as usize] += 1;
        hot_low_half += u64::from(request.offset.as_u64() < GIB);
    }
    let share = |count: u64| count as f64 / 1e6;
    assert!((share(quarters[0]) - 0.9).abs() < 0.002, "{quarters:?}");
    assert!((share(hot_low_half) - 0.45).abs() < 0.003, "{hot_low_half}");
    assert!(quarters[1..].iter().all(|&cold| (share(cold) - 0.1 / 3.0).abs() < 0.001), "{quarters:?}");
}

#[test]
fn the_hot_blocks_at_a_stride_get_their_share_and_all_blocks_of_a_group_are_alike() {
    let workload = Workload {
        pattern: Pattern::HotStride,
        hot_stride: 4,
        hot_traffic: 0.7,
        footprint: Some(Bytes::from_kib(4 * 10)),
        requests: Some(1_000_000),
        ..Workload::default()
    };
    let mut blocks = [0_u64; 10];
    for request in requests(&workload, &Replay::default(), 3) {
        blocks[(request.offset.as_u64() / 4096) as usize] += 1;
    }
    for (block, count) in blocks.into_iter().enumerate() {
        let expected = if block % 4 == 0 { 0.7 / 3.0 } else { 0.3 / 7.0 };
        assert!((count as f64 / 1e6 - expected).abs() < 0.002, "block {block} of {blocks:?}");
    }
}

#[test]
fn large_requests_stay_in_their_region() {
    let workload = Workload {
        pattern: Pattern::HotCold,
        hot_footprint: 0.5,
        hot_traffic: 0.5,
        footprint: Some(Bytes::from_kib(256)),
        request_size: mixed_sizes(),
        requests: Some(10_000),
        ..Workload::default()
    };
    let border = Bytes::from_kib(128);
    for request in requests(&workload, &Replay::default(), 3) {
        assert!(request.offset >= border || request.offset + request.size <= border, "{request:?}");
    }
}

#[test]
fn sequential_requests_follow_each_other_and_wrap() {
    let workload = Workload {
        pattern: Pattern::Sequential,
        request_size: Sizes(vec![(Bytes::from_kib(16), 1.0)]),
        footprint_start: Bytes::from_kib(32),
        footprint: Some(Bytes::from_kib(56)),
        requests: Some(5),
        ..Workload::default()
    };
    let offsets: Vec<u64> =
        requests(&workload, &Replay::default(), 0).iter().map(|request| request.offset.as_u64() >> 10).collect();
    assert_eq!(offsets, [32, 48, 64, 32, 48], "the last 8 KiB hold no request");
}

#[test]
fn closed_threads_share_the_requests_evenly_and_read_their_own_parts() {
    let workload = Workload { pattern: Pattern::Sequential, requests: Some(10), ..Workload::default() };
    let mut source = source(&workload, &closed(4), 0);
    let mut touched = HashSet::new();
    for (thread, share) in [(0, 3), (1, 3), (2, 2), (3, 2)] {
        let own = drain(&mut source, thread);
        assert_eq!(own.len(), share);
        assert_eq!(own[0].offset, Bytes::new(2 * GIB * u64::from(thread)));
        assert!(own.iter().all(|request| request.stream == thread));
        assert!(own.iter().all(|request| touched.insert(request.offset)), "two threads read one block");
    }
    assert_eq!(source.next_request(4).unwrap(), None, "there is no fifth thread");
    assert_eq!(source.next_request(0).unwrap(), None, "the end stays the end");
    assert_eq!(source.request_count(), Some(10));
}

#[test]
fn closed_threads_draw_numbers_of_their_own_whatever_the_order_they_are_asked_in() {
    let workload = rich(Pattern::Random);
    let mut one_by_one = source(&workload, &closed(2), 5);
    let (first, second) = (drain(&mut one_by_one, 0), drain(&mut one_by_one, 1));
    let mut in_turns = source(&workload, &closed(2), 5);
    assert_eq!((first.len(), second.len()), (5_000, 5_000));
    for (expected_first, expected_second) in first.iter().zip(&second) {
        assert_eq!(in_turns.next_request(1).unwrap().as_ref(), Some(expected_second));
        assert_eq!(in_turns.next_request(0).unwrap().as_ref(), Some(expected_first));
    }
    let same = first.iter().zip(&second).filter(|(left, right)| left.offset == right.offset).count();
    assert!(same < 10, "{same} of {} offsets agree", first.len());
}

#[test]
fn one_stream_serves_all_threads_in_stress_and_open_replay() {
    for replay in [Replay::default(), open()] {
        let workload = Workload { requests: Some(3), ..Workload::default() };
        let expected = requests(&workload, &replay, 1);
        let mut source = source(&workload, &replay, 1);
        let shared: Vec<_> = [9, 0, 4].map(|thread| source.next_request(thread).unwrap().unwrap()).to_vec();
        assert_eq!(shared, expected);
    }
}

#[test]
fn where_requests_go_does_not_depend_on_when_they_arrive() {
    let placed = |arrivals, replay: &Replay| {
        let workload = Workload { arrivals: Some(arrivals), burst_length: Some(4), ..rich(Pattern::Zipf) };
        requests(&workload, replay, 9)
            .into_iter()
            .map(|request| (request.kind, request.offset, request.size))
            .collect::<Vec<_>>()
    };
    let expected = placed(ArrivalKind::Exponential, &open());
    assert_eq!(placed(ArrivalKind::Burst, &open()), expected);
    assert_eq!(placed(ArrivalKind::Constant, &Replay::default()), expected);
}

#[test]
fn the_mean_interarrival_is_met_within_half_a_percent() {
    for (arrivals, burst_length) in [(ArrivalKind::Constant, 1), (ArrivalKind::Exponential, 1), (ArrivalKind::Burst, 4)]
    {
        let workload = Workload {
            arrivals: Some(arrivals),
            burst_length: Some(burst_length),
            interarrival: Some(Time::from_ns(12_345)),
            requests: Some(1_000_001),
            ..Workload::default()
        };
        let all = requests(&workload, &open(), 13);
        assert!(all.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival), "time runs back");
        let mean_ps = all[all.len() - 1].arrival.as_ps() as f64 / 1e6;
        assert!((mean_ps / 12_345_000.0 - 1.0).abs() < 0.005, "{arrivals:?}: {mean_ps}");
    }
}

#[test]
fn bad_parameters_are_named_by_their_key() {
    let base = Workload::default;
    let cases = [
        ("workload.zipf-theta", Workload { pattern: Pattern::Zipf, zipf_theta: f64::NAN, ..base() }),
        ("workload.hot-traffic", Workload { pattern: Pattern::HotCold, hot_traffic: 1.5, ..base() }),
        ("workload.hot-footprint", Workload { pattern: Pattern::HotCold, hot_footprint: 0.0, ..base() }),
        ("workload.hot-footprint", Workload { pattern: Pattern::HotCold, hot_footprint: 1.0, ..base() }),
        ("workload.read-share", Workload { read_share: -0.5, ..base() }),
        ("workload.deallocate-share", Workload { deallocate_share: 0.5, ..base() }),
        ("workload.request-size", Workload { request_size: Sizes(Vec::new()), ..base() }),
        ("workload.alignment", Workload { alignment: Some(Bytes::new(1000)), ..base() }),
        ("workload.footprint", Workload { footprint: Some(Bytes::new(9 * GIB)), ..base() }),
        ("workload.footprint-start", Workload { footprint_start: Bytes::new(8 * GIB), ..base() }),
        ("workload.burst-length", Workload { arrivals: Some(ArrivalKind::Burst), burst_length: Some(0), ..base() }),
    ];
    for (key, workload) in cases {
        let error = SyntheticSource::new(&workload, &open(), drive(), SECTOR, 0).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{key}: ")), "{key}: {error}");
    }
    let error = SyntheticSource::new(&base(), &closed(0), drive(), SECTOR, 0).unwrap_err();
    assert!(error.to_string().starts_with("replay.threads: "), "{error}");
}

#[test]
fn threads_without_room_for_a_request_are_refused() {
    let workload = Workload {
        pattern: Pattern::Sequential,
        footprint: Some(Bytes::from_kib(32)),
        request_size: Sizes(vec![(Bytes::from_kib(16), 1.0)]),
        ..Workload::default()
    };
    assert!(SyntheticSource::new(&workload, &closed(2), drive(), SECTOR, 0).is_ok());
    let error = SyntheticSource::new(&workload, &closed(3), drive(), SECTOR, 0).unwrap_err();
    assert!(error.to_string().starts_with("replay.threads: "), "{error}");
}

prop_compose! {
    fn any_workload()(
        pattern in prop::sample::select(PATTERNS.to_vec()),
        sizes in prop::collection::vec((1_u64..200, 0.0..10.0_f64), 1..6),
        alignment in prop::option::of(1_u64..64),
        start in 0_u64..16,
        footprint in prop::option::of(1_u64..2000),
        (zipf_theta, hot_footprint, hot_traffic) in (0.0..=5.0_f64, 0.0..=1.0_f64, 0.0..=1.0_f64),
        (read_share, deallocate_share) in (0.0..=1.0_f64, 0.0..=1.0_f64),
        (arrivals, burst_length) in (
            prop::sample::select(vec![ArrivalKind::Constant, ArrivalKind::Exponential, ArrivalKind::Burst]), 1_u32..9),
    ) -> Workload {
        let request_size = Sizes(sizes.iter().map(|&(sectors, weight)| (SECTOR * sectors, weight)).collect());
        let smallest = sizes.iter().filter(|&&(_, weight)| weight > 0.0).map(|&(sectors, _)| sectors).min();
        let aligned = alignment.or(smallest).unwrap_or(1);
        Workload {
            pattern,
            request_size,
            alignment: alignment.map(|sectors| SECTOR * sectors),
            footprint_start: SECTOR * (start * aligned),
            footprint: footprint.map(|sectors| SECTOR * sectors),
            zipf_theta,
            hot_footprint,
            hot_traffic,
            read_share,
            deallocate_share: deallocate_share * (1.0 - read_share),
            arrivals: Some(arrivals),
            burst_length: Some(burst_length),
            requests: Some(300),
            ..Workload::default()
        }
    }
}

proptest! {
    #[test]
    fn no_request_leaves_the_footprint_or_the_alignment(
        workload in any_workload(), threads in 0_u32..5, seed in any::<u64>()
    ) {
        let replay = if threads == 0 { open() } else { closed(threads) };
        let capacity = SECTOR * 4000;
        // The only accepted error is that the drawn workload is invalid; then another one is drawn.
        let Ok(mut source) = SyntheticSource::new(&workload, &replay, capacity, SECTOR, seed) else {
            return Err(TestCaseError::reject("the description is invalid"));
        };
        let begin = workload.footprint_start;
        let end = workload.footprint.map_or(capacity, |footprint| begin + footprint);
        let allowed: HashSet<Bytes> =
            workload.request_size.0.iter().filter(|&&(_, weight)| weight > 0.0).map(|&(size, _)| size).collect();
        let alignment = workload.alignment.unwrap_or(*allowed.iter().min().unwrap());
        let mut seen = 0;
        for thread in 0..threads.max(1) {
            let own = drain(&mut source, thread);
            seen += own.len();
            for request in own {
                prop_assert!(request.offset >= begin && request.offset + request.size <= end, "{:?}", request);
                prop_assert!(request.offset.as_u64().is_multiple_of(alignment.as_u64()), "{:?}", request);
                prop_assert!(allowed.contains(&request.size), "{:?}", request);
                prop_assert!(request.kind != RequestKind::Read || workload.read_share > 0.0, "{:?}", request);
            }
        }
        prop_assert_eq!(seen, 300);
    }

    #[test]
    fn sequential_threads_never_touch_each_others_part(
        threads in 1_u32..9, size in 1_u64..20, footprint in 200_u64..4000, alignment in 1_u64..16
    ) {
        let workload = Workload {
            pattern: Pattern::Sequential,
            request_size: Sizes(vec![(SECTOR * size, 1.0)]),
            alignment: Some(SECTOR * alignment),
            footprint: Some(SECTOR * footprint),
            requests: Some(2000),
            ..Workload::default()
        };
        let Ok(mut source) = SyntheticSource::new(&workload, &closed(threads), SECTOR * 4000, SECTOR, 0) else {
            return Err(TestCaseError::reject("the footprint has no room for every thread"));
        };
        let (mut reached, mut requests) = (0, 0);
        for thread in 0..threads {
            let own = drain(&mut source, thread);
            requests += own.len();
            let first = own.iter().map(|request| request.offset.as_u64()).min().unwrap_or(u64::MAX);
            prop_assert!(first >= reached, "thread {} begins at {}, before {}", thread, first, reached);
            reached = own.iter().map(|request| (request.offset + request.size).as_u64()).max().unwrap_or(reached);
        }
        prop_assert_eq!(requests, 2000);
    }
}
