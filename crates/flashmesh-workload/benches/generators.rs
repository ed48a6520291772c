//! Speed of request generation: the median of five timings per pattern and profile, with a hash of the requests.
//!
//! Run with `cargo bench -p flashmesh-workload --bench generators`. Speeds can only be compared between runs with the same hash, because
//! another hash means other requests.

#[path = "../tests/support/fingerprint.rs"]
mod common;

use std::hint::black_box;
use std::time::Instant;

use common::Fingerprint;
use flashmesh_workload::IoRequest;
use flashmesh_workload::config::{Pattern, Replay, ReplayMode, Sizes, Workload};
use flashmesh_workload::fitted::{FittedSource, fit_requests};
use flashmesh_workload::profiles::{self, MixSource, ProfileSource};
use flashmesh_workload::source::WorkloadSource;
use flashmesh_workload::synthetic::SyntheticSource;
use flashmesh_workload::units::Bytes;

const REQUESTS: u64 = 2_000_000;
const TIMINGS: usize = 5;
const SEED: u64 = 42;
const SECTOR: Bytes = Bytes::new(512);

fn main() {
    println!("{:<28}{:>12}{:>10}  {:<16}", "generator", "requests/s", "ns", "hash");
    let stress = Replay::default();
    let open = Replay { mode: ReplayMode::Open, ..Replay::default() };
    let mixed = Workload {
        read_share: 0.7,
        deallocate_share: 0.05,
        request_size: Sizes(vec![(Bytes::from_kib(4), 0.6), (Bytes::from_kib(16), 0.3), (Bytes::from_kib(64), 0.1)]),
        ..Workload::default()
    };
    let patterns = [
        ("sequential", Pattern::Sequential),
        ("random", Pattern::Random),
        ("zipf", Pattern::Zipf),
        ("hot-cold", Pattern::HotCold),
        ("hot-stride", Pattern::HotStride),
    ];
    for (name, pattern) in patterns {
        let fixed = Workload { pattern, ..Workload::default() };
        measure(name, || synthetic(&fixed, &stress));
        let mixed = Workload { pattern, ..mixed.clone() };
        measure(&format!("{name}, mixed"), || synthetic(&mixed, &stress));
        measure(&format!("{name}, mixed, open"), || synthetic(&mixed, &open));
    }
    for profile in profiles::all() {
        measure(&profile.name, || {
            let workload = Workload { requests: Some(REQUESTS), ..Workload::default() };
            ProfileSource::new(profile, &workload, &open, drive(), SECTOR, SEED).expect("the profile fits the drive")
        });
    }
    let mut original = synthetic(&Workload { pattern: Pattern::Zipf, ..mixed.clone() }, &open);
    let requests: Vec<IoRequest> =
        std::iter::from_fn(|| original.next_request(0).expect("no errors")).take(200_000).collect();
    let fitted = fit_requests(&requests);
    measure("fitted", || {
        FittedSource::new(&fitted, Some(REQUESTS), drive(), SECTOR, false, SEED).expect("the profile fits the drive")
    });
    for mix in profiles::mixes() {
        measure(&mix.name, || {
            let workload = Workload { requests: Some(REQUESTS), ..Workload::default() };
            MixSource::new(mix, &workload, &open, drive(), SECTOR, SEED).expect("the mix fits the drive")
        });
    }
}

fn drive() -> Bytes {
    Bytes::new(412 << 30)
}

fn synthetic(workload: &Workload, replay: &Replay) -> SyntheticSource {
    let workload = Workload { requests: Some(REQUESTS), ..workload.clone() };
    SyntheticSource::new(&workload, replay, drive(), SECTOR, SEED).expect("the workload fits the drive")
}

fn measure<Source: WorkloadSource>(name: &str, mut build: impl FnMut() -> Source) {
    let mut seconds: Vec<f64> = (0..TIMINGS)
        .map(|_| {
            let mut source = build();
            let begun = Instant::now();
            while let Some(request) = source.next_request(0).expect("generated requests have no errors") {
                black_box(request);
            }
            begun.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let median = seconds[TIMINGS / 2];

    let mut source = build();
    let mut fingerprint = Fingerprint::new();
    while let Some(request) = source.next_request(0).expect("generated requests have no errors") {
        fingerprint.add(&request);
    }
    let rate = REQUESTS as f64 / median;
    println!("{name:<28}{rate:>12.0}{:>10.1}  {:016x}", 1e9 / rate, fingerprint.value());
}
