//! Named profiles and mixes: a profile generates its published figures, and a mix is the union of its members.

use std::thread;

use flashmesh_workload::config::{Replay, ReplayMode, Workload};
use flashmesh_workload::profiles::{self, Mix, MixSource, NamedWorkload, Origin, Profile, ProfileSource, SizeFigures};
use flashmesh_workload::source::WorkloadSource;
use flashmesh_workload::units::{Bytes, Time};
use flashmesh_workload::{IoRequest, RequestKind};
use proptest::prelude::*;

use crate::support::cases::cases;
use crate::support::fingerprint::Fingerprint;

const SECTOR: Bytes = Bytes::new(512);

fn drive() -> Bytes {
    Bytes::new(412 << 30)
}

fn open() -> Replay {
    Replay { mode: ReplayMode::Open, ..Replay::default() }
}

fn closed(threads: u32) -> Replay {
    Replay { mode: ReplayMode::Closed, threads, ..Replay::default() }
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

fn source(profile: &Profile, requests: Option<u64>, seed: u64) -> ProfileSource {
    let workload = Workload { requests, ..Workload::default() };
    ProfileSource::new(profile, &workload, &open(), drive(), SECTOR, seed).unwrap()
}

fn mix_source(mix: &Mix, replay: &Replay, requests: u64, seed: u64) -> MixSource {
    let workload = Workload { requests: Some(requests), ..Workload::default() };
    MixSource::new(mix, &workload, replay, drive(), SECTOR, seed).unwrap()
}

fn drain(source: &mut dyn WorkloadSource, thread: u32) -> Vec<IoRequest> {
    std::iter::from_fn(|| source.next_request(thread).unwrap()).collect()
}

fn requests(profile: &Profile, requests: u64, seed: u64) -> Vec<IoRequest> {
    drain(&mut source(profile, Some(requests), seed), 0)
}

/// Sums over generated requests, whose means are compared with published ones.
#[derive(Default)]
struct Sums {
    /// Number and total bytes of requests, for reads and for writes.
    kinds: [(u64, u64); 2],
    /// Number of requests, indexed by number of sectors.
    sectors: Vec<u64>,
    /// Number of gaps between requests, and their total time.
    gaps: u64,
    span_ps: u128,
}

impl Sums {
    fn add(&mut self, source: &mut dyn WorkloadSource) {
        let (mut first, mut last) = (None, Time::ZERO);
        while let Some(request) = source.next_request(0).unwrap() {
            let kind = &mut self.kinds[usize::from(request.kind == RequestKind::Write)];
            *kind = (kind.0 + 1, kind.1 + request.size.as_u64());
            let sectors = (request.size.as_u64() / SECTOR.as_u64()) as usize;
            self.sectors.resize(self.sectors.len().max(sectors + 1), 0);
            self.sectors[sectors] += 1;
            self.gaps += u64::from(first.is_some());
            first = first.or(Some(request.arrival));
            last = request.arrival;
        }
        self.span_ps += u128::from((last - first.unwrap()).as_ps());
    }

    fn requests(&self) -> u64 {
        self.kinds[0].0 + self.kinds[1].0
    }

    fn read_share(&self) -> f64 {
        self.kinds[0].0 as f64 / self.requests() as f64
    }

    fn mean_bytes(&self) -> f64 {
        (self.kinds[0].1 + self.kinds[1].1) as f64 / self.requests() as f64
    }

    /// Returns the sizes that occurred, in kB, with their number of occurrences.
    fn sizes_kb(&self) -> Vec<(f64, u64)> {
        let sizes = self.sectors.iter().enumerate().filter(|&(_, &count)| count > 0);
        sizes.map(|(sectors, &count)| (sectors as f64 / 2.0, count)).collect()
    }

    fn mean_interarrival_ps(&self) -> f64 {
        self.span_ps as f64 / self.gaps as f64
    }
}

/// Returns the number of requests at which the standard error of the mean interarrival time is a quarter of a percent, if arrivals come in
/// exponential bursts of `burst_requests` requests.
fn count_for(burst_requests: u32) -> u64 {
    160_000 * u64::from(burst_requests)
}

/// Number of requests generated from one seed. If hundreds of thousands of requests came from one seed, requests of the least active volumes would
/// arrive later than the largest [`Time`], 213 days.
const STRETCH: u64 = 10_000;

fn sums_of(profile: &Profile) -> Sums {
    let mut sums = Sums::default();
    for seed in 0..count_for(profile.assumptions.burst_requests) / STRETCH {
        sums.add(&mut source(profile, Some(STRETCH), seed));
    }
    sums
}

/// Returns whether the mean of `count` geometric sizes is within 1 % of `expected`, or within four standard errors if these are larger.
fn is_close(measured: f64, expected: f64, count: u64) -> bool {
    (measured / expected - 1.0).abs() < (4.0 / (count as f64).sqrt()).max(0.01)
}

fn assert_figures(profile: &Profile) {
    let (sums, name) = (sums_of(profile), &profile.name);
    let reads = sums.read_share();
    assert!((reads - profile.read_percent.value / 100.0).abs() < 0.01, "{name}: read share {reads}");

    let size = sums.mean_bytes();
    let expected = match profile.sizes.value {
        SizeFigures::Mean { kb } => kb * 1024.0,
        SizeFigures::MeanAndMode { mean_kb, mode_kb } => {
            let sizes_kb = sums.sizes_kb();
            let most = sizes_kb.iter().max_by_key(|(_, count)| count).unwrap();
            assert_eq!(most.0, mode_kb, "{name}: the most frequent size");
            mean_kb * 1024.0
        }
        SizeFigures::MeansByKind { read_kb, write_kb } => {
            for ((count, bytes), kb) in sums.kinds.into_iter().zip([read_kb, write_kb]) {
                let mean = bytes as f64 / count as f64;
                assert!(is_close(mean, kb * 1024.0, count), "{name}: {count} requests of {mean} bytes, not {kb} kB");
            }
            profile.mean_request_bytes()
        }
        SizeFigures::Range { smallest_kb, largest_kb } => {
            let sizes_kb = sums.sizes_kb();
            assert_eq!((sizes_kb[0].0, sizes_kb[sizes_kb.len() - 1].0), (smallest_kb, largest_kb), "{name}");
            f64::midpoint(smallest_kb, largest_kb) * 1024.0
        }
    };
    assert!((size / expected - 1.0).abs() < 0.01, "{name}: mean size {size}, published {expected}");

    let interarrival_ps = sums.mean_interarrival_ps();
    let published_ps = profile.mean_interarrival.value.as_ps() as f64;
    assert!((interarrival_ps / published_ps - 1.0).abs() < 0.01, "{name}: inter-arrival {interarrival_ps} ps");
}

#[test]
fn batches_of_a_profile_hold_what_is_asked_for_one_by_one() {
    for profile in profiles::all().iter().take(5) {
        let mut batch = Vec::new();
        source(profile, Some(500), 3).fill(&mut batch, 1_000).unwrap();
        assert_eq!(batch, requests(profile, 500, 3), "{}", profile.name);
    }
}

#[test]
fn every_profile_meets_its_figures_within_a_percent() {
    let all = profiles::all();
    thread::scope(|scope| {
        for half in all.chunks(all.len().div_ceil(2)) {
            scope.spawn(|| half.iter().for_each(assert_figures));
        }
    });
}

#[test]
fn every_mix_meets_its_inter_arrival_and_the_means_of_its_members_within_a_percent() {
    for mix in profiles::mixes() {
        let (mut sums, name) = (Sums::default(), &mix.name);
        sums.add(&mut mix_source(mix, &open(), count_for(4), 42));
        let (reads, size) = (sums.read_share(), sums.mean_bytes());
        assert!((reads - mix.read_share()).abs() < 0.01, "{name}: read share {reads}");
        assert!((size / mix.mean_request_bytes() - 1.0).abs() < 0.01, "{name}: mean size {size}");
        let ratio = sums.mean_interarrival_ps() / mix.mean_interarrival.as_ps() as f64;
        assert!((ratio - 1.0).abs() < 0.01, "{name}: {ratio} of the published inter-arrival");
    }
}

#[test]
fn a_member_of_a_mix_makes_the_requests_of_its_profile_in_its_own_part_of_the_drive() {
    let mix = &mix("mix2");
    let all = drain(&mut mix_source(mix, &open(), 30_000, 5), 0);
    let mut start = Bytes::ZERO;
    for (index, member) in (0..).zip(&mix.members) {
        let own: Vec<&IoRequest> = all.iter().filter(|request| request.stream == index).collect();
        assert!(own.len() > 2_000, "{} of {}", own.len(), member.profile.name);
        assert_eq!(own[0].arrival, Time::ZERO, "{} starts with the others", member.profile.name);
        let end = start + member.profile.assumptions.footprint;
        assert!(own.iter().all(|request| start <= request.offset && request.offset + request.size <= end));
        start = end;
    }
    // A member of a mix issues the requests of its profile, at the rate of the mix.
    let first = &mix.members[0];
    let own = all.iter().filter(|request| request.stream == 0);
    let pace = mix.interarrival_of(first).as_ps() as f64 / first.mean_interarrival.as_ps() as f64;
    for (within, alone) in own.zip(requests(first.profile, 30_000, 5)) {
        assert_eq!((within.offset, within.size, within.kind), (alone.offset, alone.size, alone.kind));
        assert!((within.arrival.as_ps() as f64 - alone.arrival.as_ps() as f64 * pace).abs() < 1e6);
    }
}

#[test]
fn members_that_are_alike_draw_different_requests() {
    // YCSB_B and YCSB_D differ only in their rates. With a shared random sequence their requests would arrive in step.
    let all = drain(&mut mix_source(&mix("mix5"), &open(), 50_000, 9), 0);
    let gaps = |stream: u32| -> Vec<f64> {
        let own: Vec<Time> =
            all.iter().filter(|request| request.stream == stream).map(|request| request.arrival).collect();
        own.windows(2).take(10_000).map(|pair| (pair[1] - pair[0]).as_ps() as f64).collect()
    };
    let (left, right) = (gaps(1), gaps(2));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_left, mean_right) = (mean(&left), mean(&right));
    let products: Vec<f64> =
        left.iter().zip(&right).map(|(x, y)| (x / mean_left - 1.0) * (y / mean_right - 1.0)).collect();
    // Independent exponential gaps have a correlation of 0, with a standard error of 0.01. Five are allowed.
    assert!(mean(&products).abs() < 0.05, "correlation {}", mean(&products));
}

#[test]
fn stress_replay_of_a_mix_keeps_the_order_of_arrival_and_leaves_out_the_times() {
    let mix = &mix("mix6");
    let untimed = |request: IoRequest| IoRequest { arrival: Time::ZERO, ..request };
    let open: Vec<IoRequest> = drain(&mut mix_source(mix, &open(), 5_000, 3), 0).into_iter().map(untimed).collect();
    let stress = Replay { mode: ReplayMode::Stress, ..Replay::default() };
    assert_eq!(drain(&mut mix_source(mix, &stress, 5_000, 3), 0), open);
}

#[test]
fn closed_replay_deals_threads_and_requests_to_the_members_of_a_mix() {
    let mut source = mix_source(&mix("mix6"), &closed(4), 102, 3);
    for (thread, member, share) in [(0, 0, 26), (1, 1, 26), (2, 2, 25), (3, 0, 25)] {
        let own = drain(&mut source, thread);
        assert_eq!(own.len(), share, "thread {thread}");
        assert!(own.iter().all(|request| request.stream == member && request.arrival == Time::ZERO));
    }
    assert_eq!(source.next_request(4).unwrap(), None);
}

#[test]
fn a_mix_is_refused_where_its_parts_or_its_threads_are_too_few() {
    let refusal = |workload: &Workload, replay: &Replay, capacity| {
        MixSource::new(&mix("mix2"), workload, replay, capacity, SECTOR, 1).unwrap_err().to_string()
    };
    let too_small = refusal(&Workload::default(), &open(), Bytes::new(63 << 30));
    assert!(too_small.starts_with("profile \"mix2\": workload.footprint: 64GiB "), "{too_small}");
    let threads = refusal(&Workload::default(), &closed(2), drive());
    assert!(threads.starts_with("profile \"mix2\": replay.threads: "), "{threads}");
    let tiny = Workload { footprint: Some(Bytes::from_kib(1024)), ..Workload::default() };
    let tiny = refusal(&tiny, &open(), drive());
    assert!(tiny.contains("larger than the footprint"), "{tiny}");
}

#[test]
fn the_configured_footprint_of_a_mix_is_shared_in_proportion() {
    let mix = &mix("mix2");
    let start = Bytes::from_kib(4 << 20);
    let workload =
        Workload { footprint_start: start, footprint: Some(Bytes::from_kib(8 << 20)), ..Workload::default() };
    let mut source = MixSource::new(mix, &workload, &open(), drive(), SECTOR, 1).unwrap();
    let bounds = [4_u64, 6, 8, 12].map(|gib| Bytes::from_kib(gib << 20));
    for request in drain(&mut source, 0) {
        let part = request.stream as usize;
        assert!(bounds[part] <= request.offset && request.offset + request.size <= bounds[part + 1], "{request:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(64), failure_persistence: None, ..ProptestConfig::default() })]

    /// For any profile or mix, requests are in bounds, counted and in order, and the source stays at its end.
    #[test]
    fn any_profile_or_mix_keeps_the_contract_of_sources(
        index in 0..profiles::all().len() + profiles::mixes().len(),
        (mode, threads) in (0..3_usize, 1..6_u32),
        (start_mib, footprint_mib) in (0..64_u64, 16..256_u64),
        count in 1..500_u64,
        seed in any::<u64>(),
    ) {
        let mode = [ReplayMode::Open, ReplayMode::Stress, ReplayMode::Closed][mode];
        let replay = Replay { mode, threads, ..Replay::default() };
        let (start, footprint) = (Bytes::from_kib(start_mib << 10), Bytes::from_kib(footprint_mib << 10));
        let workload =
            Workload { requests: Some(count), footprint_start: start, footprint: Some(footprint), ..Workload::default() };
        let capacity = start + footprint;
        let (mut source, streams): (Box<dyn WorkloadSource>, u32) = match profiles::all().get(index) {
            Some(profile) => {
                let source = ProfileSource::new(profile, &workload, &replay, capacity, SECTOR, seed);
                (Box::new(source.unwrap()), if mode == ReplayMode::Closed { threads } else { 1 })
            }
            None => {
                let mix = &profiles::mixes()[index - profiles::all().len()];
                let members = mix.members.len() as u32;
                let source = MixSource::new(mix, &workload, &replay, capacity, SECTOR, seed);
                if mode == ReplayMode::Closed && threads < members {
                    prop_assert!(source.is_err());
                    return Ok(());
                }
                (Box::new(source.unwrap()), members)
            }
        };
        prop_assert_eq!(source.request_count(), Some(count));
        let threads = if mode == ReplayMode::Closed { threads } else { 1 };
        let mut total = 0;
        for thread in 0..threads {
            let own = drain(source.as_mut(), thread);
            total += own.len() as u64;
            for request in &own {
                prop_assert!(start <= request.offset && request.offset + request.size <= capacity, "{:?}", request);
                prop_assert!(request.size > Bytes::ZERO && request.stream < streams, "{:?}", request);
            }
            prop_assert!(own.is_sorted_by_key(|request| request.arrival));
            prop_assert!(source.next_request(thread).unwrap().is_none());
        }
        prop_assert_eq!(total, count);
    }
}

#[test]
fn every_profile_stays_in_its_footprint_and_keeps_its_alignment_and_granule() {
    for profile in profiles::all() {
        let (footprint, granule) = (profile.assumptions.footprint, profile.assumptions.granule.as_u64());
        let alignment = profile.assumptions.alignment.as_u64();
        for request in requests(profile, STRETCH, 7) {
            assert!(request.offset + request.size <= footprint, "{}: {request:?}", profile.name);
            assert!(request.offset.as_u64().is_multiple_of(alignment), "{}: {request:?}", profile.name);
            assert!(request.size.as_u64().is_multiple_of(granule), "{}: {request:?}", profile.name);
            assert!(request.size <= profile.assumptions.size_max, "{}: {request:?}", profile.name);
        }
    }
}

#[test]
fn runs_are_as_long_as_assumed() {
    let profile = profile("jenkins");
    let all = requests(profile, 200_000, 1);
    let jumps = all.windows(2).filter(|pair| pair[1].offset != pair[0].offset + pair[0].size).count();
    let mean_run = all.len() as f64 / (jumps + 1) as f64;
    assert!((mean_run / profile.assumptions.run_requests - 1.0).abs() < 0.02, "mean run {mean_run}");
}

#[test]
fn a_profile_has_a_hundred_thousand_requests_by_default() {
    let mut source = source(profile("hm_0"), None, 1);
    assert_eq!(source.request_count(), Some(100_000));
    assert_eq!(drain(&mut source, 0).len(), 100_000);
}

#[test]
fn a_profile_of_a_shorter_trace_has_as_many_requests_as_the_trace() {
    let wdev3 = profile("collisions/WDEV3");
    assert_eq!(source(wdev3, None, 1).request_count(), Some(682));
    assert_eq!(source(wdev3, Some(1000), 1).request_count(), Some(1000));
}

#[test]
fn a_default_run_of_any_profile_ends_before_the_end_of_time() {
    for profile in profiles::all() {
        let span_ps = u128::from(profile.requests_default()) * u128::from(profile.mean_interarrival.value.as_ps());
        assert!(span_ps < u128::from(u64::MAX) / 3, "{}", profile.name);
    }
}

#[test]
fn only_what_a_paper_leaves_out_comes_from_elsewhere_and_the_basis_is_given() {
    for profile in profiles::all() {
        let origins = [profile.read_percent.origin, profile.sizes.origin, profile.mean_interarrival.origin];
        assert_eq!(origins.contains(&Origin::Elsewhere), !profile.other_sources.is_empty(), "{}", profile.name);
    }
}

#[test]
fn the_configured_footprint_takes_the_place_of_the_assumed_one() {
    let profile = profile("hm_0");
    let workload = Workload {
        footprint_start: Bytes::from_kib(1024),
        footprint: Some(Bytes::from_kib(2048)),
        ..Workload::default()
    };
    let mut source = ProfileSource::new(profile, &workload, &open(), Bytes::from_kib(4096), SECTOR, 1).unwrap();
    while let Some(request) = source.next_request(0).unwrap() {
        assert!(request.offset >= Bytes::from_kib(1024), "{request:?}");
        assert!(request.offset + request.size <= Bytes::from_kib(3072), "{request:?}");
    }
}

#[test]
fn a_drive_too_small_for_the_footprint_is_refused_with_the_key_that_helps() {
    let profile = profile("hm_0");
    let small = Bytes::new(1 << 30);
    let error = ProfileSource::new(profile, &Workload::default(), &open(), small, SECTOR, 1).unwrap_err().to_string();
    assert!(error.starts_with("profile \"hm_0\": workload.footprint: "), "{error}");
}

#[test]
fn closed_threads_share_the_requests_and_arrival_times_are_left_out() {
    let profile = profile("YCSB_B");
    let workload = Workload { requests: Some(100), ..Workload::default() };
    let mut source = ProfileSource::new(profile, &workload, &closed(3), drive(), SECTOR, 1).unwrap();
    for (thread, share) in [(0, 34), (1, 33), (2, 33)] {
        let own: Vec<IoRequest> = std::iter::from_fn(|| source.next_request(thread).unwrap()).collect();
        assert_eq!(own.len(), share);
        assert!(own.iter().all(|request| request.stream == thread && request.arrival == Time::ZERO));
    }
}

#[test]
fn the_first_ten_thousand_requests_of_all_profiles_and_mixes_are_the_known_ones() {
    let mut known: Vec<(&str, u64)> = Vec::new();
    for paper in ["venice", "mbm", "collisions", "nossd14", "nossd12"] {
        let mut fingerprint = Fingerprint::new();
        for profile in profiles::all().iter().filter(|profile| profile.paper.key == paper) {
            requests(profile, 10_000, 42).iter().for_each(|request| fingerprint.add(request));
        }
        known.push((paper, fingerprint.value()));
    }
    let mut fingerprint = Fingerprint::new();
    for mix in profiles::mixes() {
        drain(&mut mix_source(mix, &open(), 10_000, 42), 0).iter().for_each(|request| fingerprint.add(request));
    }
    known.push(("mixes", fingerprint.value()));
    let expected = [
        ("venice", 0x1ec2_a358_e70a_77cf),
        ("mbm", 0x3b22_4e6e_f403_c8d6),
        ("collisions", 0xb5df_f49d_5301_19d0),
        ("nossd14", 0x0542_f026_9e57_24f5),
        ("nossd12", 0x72a2_04a0_f516_c105),
        ("mixes", 0x7ff1_f387_7b05_1777),
    ];
    assert_eq!(known, expected, "a profile, a mix or the generator changed: {known:#x?}");
}
