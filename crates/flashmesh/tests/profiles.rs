//! Every named profile generates what was published of it.

mod common;

use common::Fingerprint;
use flashmesh::config::{Replay, ReplayMode, Workload};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::profiles::{self, Profile, ProfileSource};
use flashmesh::workload::source::WorkloadSource;
use flashmesh::workload::{IoRequest, RequestKind};

const SECTOR: Bytes = Bytes::new(512);

fn drive() -> Bytes {
    Bytes::new(412 << 30)
}

fn open() -> Replay {
    Replay { mode: ReplayMode::Open, ..Replay::default() }
}

fn source(profile: &Profile, requests: Option<u64>, seed: u64) -> ProfileSource {
    let workload = Workload { requests, ..Workload::default() };
    ProfileSource::new(profile, &workload, &open(), drive(), SECTOR, seed).unwrap()
}

fn requests(profile: &Profile, requests: u64, seed: u64) -> Vec<IoRequest> {
    let mut source = source(profile, Some(requests), seed);
    std::iter::from_fn(|| source.next_request(0).unwrap()).collect()
}

/// Means are taken over so many requests that their standard error is below a quarter of the tolerance: a geometric
/// size has a coefficient of variation below 1, an exponential burst of four one of 2.
const COUNT: u64 = 1_000_000;

#[test]
fn every_profile_meets_its_published_figures_within_a_percent() {
    for profile in profiles::all() {
        let all = requests(profile, COUNT, 42);
        assert_eq!(all.len() as u64, COUNT);
        let name = &profile.name;

        let reads = all.iter().filter(|request| request.kind == RequestKind::Read).count() as f64 / COUNT as f64;
        assert!((reads - profile.read_share()).abs() < 0.01, "{name}: read share {reads}");

        let size = all.iter().map(|request| request.size).sum::<Bytes>().as_u64() as f64 / COUNT as f64;
        let published_size = profile.published.mean_request_kb * 1024.0;
        assert!((size / published_size - 1.0).abs() < 0.01, "{name}: mean size {size}, published {published_size}");

        let span_ps = all[all.len() - 1].arrival.as_ps() as f64;
        let interarrival_ps = span_ps / (COUNT - 1) as f64;
        let published_ps = profile.published.mean_interarrival.as_ps() as f64;
        assert!((interarrival_ps / published_ps - 1.0).abs() < 0.01, "{name}: inter-arrival {interarrival_ps} ps");
    }
}

#[test]
fn every_profile_stays_in_its_footprint_and_on_its_granule() {
    for profile in profiles::all() {
        let (footprint, granule) = (profile.assumed.footprint, profile.assumed.granule.as_u64());
        for request in requests(profile, 50_000, 7) {
            assert!(request.offset + request.size <= footprint, "{}: {request:?}", profile.name);
            assert!(request.offset.as_u64().is_multiple_of(granule), "{}: {request:?}", profile.name);
            assert!(request.size.as_u64().is_multiple_of(granule), "{}: {request:?}", profile.name);
            assert!(request.size <= profile.assumed.size_max, "{}: {request:?}", profile.name);
        }
    }
}

#[test]
fn runs_are_as_long_as_assumed() {
    let profile = profiles::find("jenkins").unwrap();
    let all = requests(profile, 200_000, 1);
    let jumps = all.windows(2).filter(|pair| pair[1].offset != pair[0].offset + pair[0].size).count();
    let mean_run = all.len() as f64 / (jumps + 1) as f64;
    assert!((mean_run / profile.assumed.run_requests - 1.0).abs() < 0.02, "mean run {mean_run}");
}

#[test]
fn a_profile_has_a_hundred_thousand_requests_by_default() {
    let mut source = source(profiles::find("hm_0").unwrap(), None, 1);
    assert_eq!(source.request_count(), Some(100_000));
    assert_eq!(std::iter::from_fn(|| source.next_request(0).unwrap()).count(), 100_000);
}

#[test]
fn the_configured_footprint_takes_the_place_of_the_assumed_one() {
    let profile = profiles::find("hm_0").unwrap();
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
    let profile = profiles::find("hm_0").unwrap();
    let small = Bytes::new(1 << 30);
    let error = ProfileSource::new(profile, &Workload::default(), &open(), small, SECTOR, 1).unwrap_err().to_string();
    assert!(error.starts_with("profile \"hm_0\": workload.footprint: "), "{error}");
}

#[test]
fn closed_threads_share_the_requests_and_arrival_times_are_left_out() {
    let profile = profiles::find("YCSB_B").unwrap();
    let replay = Replay { mode: ReplayMode::Closed, threads: 3, ..Replay::default() };
    let workload = Workload { requests: Some(100), ..Workload::default() };
    let mut source = ProfileSource::new(profile, &workload, &replay, drive(), SECTOR, 1).unwrap();
    for (thread, share) in [(0, 34), (1, 33), (2, 33)] {
        let own: Vec<IoRequest> = std::iter::from_fn(|| source.next_request(thread).unwrap()).collect();
        assert_eq!(own.len(), share);
        assert!(own.iter().all(|request| request.stream == thread && request.arrival == Time::ZERO));
    }
}

#[test]
fn the_first_ten_thousand_requests_of_all_profiles_are_the_known_ones() {
    let mut fingerprint = Fingerprint::new();
    for profile in profiles::all() {
        requests(profile, 10_000, 42).iter().for_each(|request| fingerprint.add(request));
    }
    assert_eq!(
        fingerprint.value(),
        0x1ec2_a358_e70a_77cf,
        "a profile or the generator changed: {:#018x}",
        fingerprint.value()
    );
}
