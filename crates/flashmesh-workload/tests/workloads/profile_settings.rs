//! Settings of a configuration that override a profile: arrivals, rate, alignment and placement; and mixes defined in a configuration.

use std::collections::BTreeMap;

use flashmesh_workload::config::{ArrivalKind, BurstKinds, MixPlacement, Replay, ReplayMode, Workload};
use flashmesh_workload::profiles::{self, Mix, MixSource, NamedWorkload, Profile, ProfileSource};
use flashmesh_workload::source::WorkloadSource;
use flashmesh_workload::units::{Bytes, Time};
use flashmesh_workload::{IoRequest, RequestKind};

const SECTOR: Bytes = Bytes::new(512);

fn drive() -> Bytes {
    Bytes::new(412 << 30)
}

fn open() -> Replay {
    Replay { mode: ReplayMode::Open, ..Replay::default() }
}

fn profile(name: &str) -> &'static Profile {
    match profiles::find(name).unwrap() {
        NamedWorkload::Profile(profile) => profile,
        NamedWorkload::Mix(mix) => panic!("{} is a mix", mix.name),
    }
}

fn mix(name: &str) -> Mix {
    match profiles::find(name).unwrap() {
        NamedWorkload::Mix(mix) => mix.into_owned(),
        NamedWorkload::Profile(profile) => panic!("{} is a profile", profile.name),
    }
}

fn mix_source(mix: &Mix, replay: &Replay, requests: u64, seed: u64) -> MixSource {
    let workload = Workload { requests: Some(requests), ..Workload::default() };
    MixSource::new(mix, &workload, replay, drive(), SECTOR, seed).unwrap()
}

fn drain(source: &mut dyn WorkloadSource, thread: u32) -> Vec<IoRequest> {
    std::iter::from_fn(|| source.next_request(thread).unwrap()).collect()
}

/// Returns the mean time between arrivals in ps, and its coefficient of variation.
fn gaps(all: &[IoRequest]) -> (f64, f64) {
    let gaps: Vec<f64> = all.windows(2).map(|pair| (pair[1].arrival - pair[0].arrival).as_ps() as f64).collect();
    let count = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / count;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt() / mean)
}

#[test]
fn any_profile_arrives_as_the_configuration_says_at_the_published_rate_and_places_its_requests_as_before() {
    for profile in profiles::all() {
        let name = &profile.name;
        let published_ps = profile.mean_interarrival.value.as_ps() as f64;
        // Sparse profiles cover a week; more requests would exceed the maximum simulated time.
        let count = profile.requests_default().min(20_000);
        let replayed = |arrivals, burst_length| {
            let workload = Workload { requests: Some(count), arrivals, burst_length, ..Workload::default() };
            drain(&mut ProfileSource::new(profile, &workload, &open(), drive(), SECTOR, 5).unwrap(), 0)
        };
        let assumed = replayed(None, None);
        let poisson = replayed(Some(ArrivalKind::Exponential), None);
        let (mean_ps, deviation) = gaps(&poisson);
        // The standard error of mean and deviation is one over the root of the number of requests.
        let error_max = 5.0 / (count as f64).sqrt();
        assert!((mean_ps / published_ps - 1.0).abs() < error_max, "{name}: every {mean_ps} ps");
        assert!((deviation - 1.0).abs() < error_max, "{name}: deviation {deviation} means");
        let bursts = replayed(Some(ArrivalKind::Burst), Some(8));
        let together = bursts.windows(2).filter(|pair| pair[0].arrival == pair[1].arrival).count();
        assert_eq!(together as u64, count - count.div_ceil(8), "{name}");
        let constant = replayed(Some(ArrivalKind::Constant), None);
        let each = constant.windows(2).map(|pair| pair[1].arrival - pair[0].arrival);
        assert!(each.into_iter().all(|gap| gap == profile.mean_interarrival.value), "{name}");
        let places = |all: &[IoRequest]| -> Vec<_> {
            all.iter().map(|request| (request.kind, request.offset, request.size)).collect()
        };
        for others in [&poisson, &bursts, &constant] {
            assert!(places(others) == places(&assumed), "{name}");
        }
    }
}

#[test]
fn a_configured_rate_takes_the_place_of_the_published_one() {
    let every = Time::from_us(7);
    let workload = Workload {
        requests: Some(100_000),
        arrivals: Some(ArrivalKind::Exponential),
        interarrival: Some(every),
        ..Workload::default()
    };
    let all = drain(&mut ProfileSource::new(profile("hm_0"), &workload, &open(), drive(), SECTOR, 5).unwrap(), 0);
    assert!((gaps(&all).0 / 7e6 - 1.0).abs() < 0.01);
    // Merged exponential arrivals are exponential, so the deviation of the gaps equals their mean.
    for mix in profiles::mixes() {
        let all = drain(&mut MixSource::new(mix, &workload, &open(), drive(), SECTOR, 5).unwrap(), 0);
        let (mean_ps, deviation) = gaps(&all);
        assert!((mean_ps / 7e6 - 1.0).abs() < 0.01 && (deviation - 1.0).abs() < 0.02, "{}", mix.name);
    }
    let none = Workload { interarrival: Some(Time::ZERO), ..workload };
    let refused = MixSource::new(&mix("mix1"), &none, &open(), drive(), SECTOR, 5).unwrap_err().to_string();
    assert!(refused.starts_with("profile \"mix1\": workload.interarrival: 0s"), "{refused}");
}

#[test]
fn requests_of_a_profile_begin_at_multiples_of_the_configured_alignment() {
    for (alignment, start) in [(512, 512), (65_536, 1 << 20), (24 << 10, 24 << 10)] {
        let workload = Workload {
            requests: Some(5_000),
            alignment: Some(Bytes::new(alignment)),
            footprint_start: Bytes::new(start),
            ..Workload::default()
        };
        for name in ["hm_0", "nossd14/fin2"] {
            let mut source = ProfileSource::new(profile(name), &workload, &open(), drive(), SECTOR, 5).unwrap();
            let all = drain(&mut source, 0);
            let from_start = |request: &IoRequest| request.offset.as_u64() - start;
            assert!(all.iter().all(|request| from_start(request).is_multiple_of(alignment)), "{name}");
            assert!(alignment > 512 || all.iter().any(|request| !from_start(request).is_multiple_of(4096)), "{name}");
        }
        let mut mixed = MixSource::new(&mix("mix1"), &workload, &open(), drive(), SECTOR, 5).unwrap();
        assert!(drain(&mut mixed, 0).iter().all(|request| (request.offset.as_u64() - start).is_multiple_of(alignment)));
    }
}

#[test]
fn a_share_of_the_requests_begins_at_any_sector_of_its_block() {
    let drawn = |name: &str, unaligned_share, footprint: u64| {
        let workload = Workload {
            requests: Some(20_000),
            unaligned_share,
            footprint: Some(Bytes::new(footprint)),
            ..Workload::default()
        };
        drain(&mut ProfileSource::new(profile(name), &workload, &open(), drive(), SECTOR, 5).unwrap(), 0)
    };
    let sectors_of =
        |all: &[IoRequest]| all.iter().map(|request| request.offset.as_u64() % 4096 / 512).collect::<Vec<_>>();
    assert!(sectors_of(&drawn("hm_0", 0.0, 1 << 30)).iter().all(|&sector| sector == 0));
    for share in [0.25, 1.0] {
        let all = drawn("hm_0", share, 1 << 30);
        // An unaligned request starts at each of the eight sectors of a 4 KiB block equally often.
        for sector in 1..8 {
            let count = sectors_of(&all).iter().filter(|&&of| of == sector).count() as f64;
            assert!((count / (20_000.0 * share / 8.0) - 1.0).abs() < 0.15, "{share}: sector {sector}: {count}");
        }
    }
    // Requests stay within a small footprint. With blocks of one sector no start is unaligned.
    let small = 2 << 20;
    assert!(drawn("hm_0", 1.0, small).iter().all(|request| request.offset.as_u64() + request.size.as_u64() <= small));
    assert_eq!(drawn("nossd14/fin2", 1.0, 1 << 30), drawn("nossd14/fin2", 0.0, 1 << 30));
}

/// Returns 40,000 requests of `name` with `settings`, in bursts of `LENGTH`.
fn bursts<const LENGTH: usize>(name: &str, settings: &Workload) -> Vec<[IoRequest; LENGTH]> {
    let workload = Workload { requests: Some(40_000), ..settings.clone() };
    let all = drain(&mut ProfileSource::new(profile(name), &workload, &open(), drive(), SECTOR, 5).unwrap(), 0);
    all.as_chunks::<LENGTH>().0.to_vec()
}

/// Returns the mean number of occurrences of a distinct burst.
fn times_each<const LENGTH: usize>(bursts: &[[IoRequest; LENGTH]]) -> f64 {
    let mut counts: BTreeMap<[Bytes; LENGTH], u32> = BTreeMap::new();
    bursts.iter().for_each(|burst| *counts.entry(burst.map(|request| request.offset)).or_default() += 1);
    bursts.len() as f64 / counts.len() as f64
}

#[test]
fn bursts_without_runs_come_again_as_often_as_the_configuration_says() {
    let repeated =
        |name, pair_repetition| times_each(&bursts::<4>(name, &Workload { pair_repetition, ..Workload::default() }));
    // Only a share of 0.385 of the pairs in a repeated burst collides again, so a mean repetition of m takes 1 + (m - 1) / 0.385 occurrences of each
    // burst.
    let is_near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.1;
    for (mean, expected) in [(2.0, 3.6), (10.0, 24.4)] {
        for name in ["collisions/PRXY0", "collisions/TS0", "hm_0"] {
            let found = repeated(name, Some(mean));
            assert!(is_near(found, expected), "{name}: {found}, expected {expected}");
        }
    }
    assert_eq!(repeated("collisions/PRXY0", None), 1.0);
    assert_eq!(repeated("collisions/PRXY0", Some(1.0)), 1.0);
    // The published mean repetition of WEB2, whose bursts have two requests, is 9.2.
    let published = times_each(&bursts::<2>("collisions/WEB2", &Workload::default()));
    assert!(is_near(published, 22.3), "{published}");
    let once = Workload { pair_repetition: Some(1.0), ..Workload::default() };
    assert!(times_each(&bursts::<2>("collisions/WEB2", &once)) < 1.01);
}

#[test]
fn bursts_of_one_kind_keep_the_share_of_reads_and_come_again_as_that_kind() {
    let settings = Workload { burst_kinds: BurstKinds::Alike, pair_repetition: Some(10.0), ..Workload::default() };
    for name in ["collisions/PRXY0", "collisions/TS0", "collisions/WDEV0"] {
        let all = bursts::<4>(name, &settings);
        let mut kind_at: BTreeMap<[Bytes; 4], RequestKind> = BTreeMap::new();
        for burst in &all {
            assert!(burst.iter().all(|request| request.kind == burst[0].kind));
            let places = burst.map(|request| request.offset);
            assert_eq!(*kind_at.entry(places).or_insert(burst[0].kind), burst[0].kind, "{name}: {places:?}");
        }
        let reads = all.iter().filter(|burst| burst[0].kind == RequestKind::Read).count() as f64 / all.len() as f64;
        let published = profile(name).read_share();
        // The tolerance is three standard deviations of a share of 10,000 bursts.
        assert!((reads - published).abs() < 0.015, "{name}: {reads}, published {published}");
        assert!(times_each(&all) > 15.0, "{name}");
    }
    let mixed = bursts::<4>("collisions/TS0", &Workload::default());
    assert!(mixed.iter().any(|burst| burst.iter().any(|request| request.kind != burst[0].kind)));
}

#[test]
fn what_is_said_of_bursts_is_about_those_of_the_configured_length() {
    let settings = Workload {
        arrivals: Some(ArrivalKind::Burst),
        burst_length: Some(8),
        burst_kinds: BurstKinds::Alike,
        pair_repetition: Some(10.0),
        ..Workload::default()
    };
    for name in ["collisions/TS0", "YCSB_B"] {
        let halves = bursts::<4>(name, &settings);
        let places = |half: &[IoRequest; 4]| half.map(|request| request.offset);
        let mut second_of: BTreeMap<[Bytes; 4], [Bytes; 4]> = BTreeMap::new();
        for [first, second] in halves.as_chunks::<2>().0 {
            assert!(first.iter().chain(second).all(|request| request.kind == first[0].kind), "{name}");
            assert_eq!(*second_of.entry(places(first)).or_insert(places(second)), places(second), "{name}");
        }
        assert!(second_of.len() * 10 < halves.len(), "{name}: bursts come again");
    }
}

#[test]
fn requests_that_come_one_at_a_time_have_no_bursts_to_repeat() {
    for (settings, key) in [
        (Workload { pair_repetition: Some(2.0), ..Workload::default() }, "workload.pair-repetition"),
        (Workload { burst_kinds: BurstKinds::Alike, ..Workload::default() }, "workload.burst-kinds"),
    ] {
        let refused =
            ProfileSource::new(profile("YCSB_B"), &settings, &open(), drive(), SECTOR, 5).unwrap_err().to_string();
        assert!(refused.contains(key) && refused.contains("come one at a time"), "{refused}");
    }
}

#[test]
fn members_of_a_mix_may_lie_over_one_another() {
    let gib = |count: u64| Bytes::new(count << 30);
    let reach = |footprint| {
        let workload = Workload {
            requests: Some(30_000),
            mix_placement: MixPlacement::Shared,
            footprint_start: gib(2),
            footprint,
            ..Workload::default()
        };
        // src1_0 and src2_1 have 16 GiB each, YCSB_B has 32 GiB.
        let all = drain(&mut MixSource::new(&mix("mix2"), &workload, &open(), gib(40), SECTOR, 5).unwrap(), 0);
        [0, 1, 2].map(|member| {
            let own = all.iter().filter(|request| request.stream == member);
            let ends = own.map(|request| {
                assert!(request.offset >= gib(2));
                (request.offset + request.size).as_u64()
            });
            ends.max().unwrap().div_ceil(1 << 30)
        })
    };
    assert_eq!(reach(None), [18, 18, 34]);
    assert_eq!(reach(Some(gib(5))), [7, 7, 7]);
}

#[test]
fn a_mix_of_the_configuration_is_the_published_one_where_members_and_rate_are_the_same() {
    let workload = Workload { requests: Some(5_000), interarrival: Some(Time::from_ns(5_800)), ..Workload::default() };
    let made = |mix: &Mix| drain(&mut MixSource::new(mix, &workload, &open(), drive(), SECTOR, 5).unwrap(), 0);
    assert_eq!(made(&mix("src2_1 + proj_3")), made(&mix("mix1")));
    // On its own, each member has one request every 58 us. With the factor 3, hm_0 has three of four requests.
    let all = drain(&mut mix_source(&mix("3*hm_0 + web_1@58us"), &open(), 40_000, 5), 0);
    let share = all.iter().filter(|request| request.stream == 0).count() as f64 / all.len() as f64;
    assert!((share - 0.75).abs() < 0.01, "{share}");
    assert!((gaps(&all).0 / (58e6 / 4.0) - 1.0).abs() < 0.03);
}
