//! Profiles fitted to traces: the properties that a copy keeps, and the errors of invalid profiles.

use std::path::Path;

use flashmesh_workload::fitted::{FittedProfile, FittedSource, PROFILE_BYTES_MAX, fit_requests};
use flashmesh_workload::source::WorkloadSource;
use flashmesh_workload::statistics::{Figure, Statistics, compare};
use flashmesh_workload::units::{Bytes, Time};
use flashmesh_workload::{IoRequest, RequestKind};

const CAPACITY: Bytes = Bytes::from_kib(64 << 20);

/// Returns a trace with bursts, sequential runs, hot regions, odd sizes, and a mix of request kinds that changes over time.
fn original(requests: u64) -> Vec<IoRequest> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut draw = move |bound: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % bound
    };
    let (mut now, mut next) = (0, 0);
    (0..requests)
        .map(|index| {
            now += if draw(12) == 0 { 1_000_000_000 + draw(9_000_000_000) } else { draw(40_000_000) };
            let is_read = draw(10) < if index < requests / 2 { 8 } else { 4 };
            let sectors = [8, 8, 8, 16, 64, 1 + draw(40)][draw(6) as usize];
            let sector = match draw(10) {
                0..4 => next,
                4..7 => draw(50) * draw(50) * 1024 + 512,
                _ => draw(1 << 22) * 8,
            };
            next = sector + sectors;
            IoRequest {
                arrival: Time::from_ps(now),
                kind: if is_read { RequestKind::Read } else { RequestKind::Write },
                offset: Bytes::new(sector * 512),
                size: Bytes::new(sectors * 512),
                stream: 0,
            }
        })
        .collect()
}

fn made(model: &FittedProfile, requests: Option<u64>, seed: u64) -> Vec<IoRequest> {
    let mut source =
        FittedSource::new(model, requests, CAPACITY, Bytes::new(512), false, seed).expect("the drive is large enough");
    std::iter::from_fn(|| source.next_request(0).expect("times are in range")).collect()
}

fn figures(original: &[IoRequest], copy: &[IoRequest]) -> Vec<Figure> {
    let span = original.last().expect("the trace has requests").arrival;
    let [of_original, of_copy] = [original, copy].map(|requests| {
        let mut statistics = Statistics::new(original.len() as u64, span);
        requests.iter().for_each(|request| statistics.add(request));
        statistics
    });
    compare(&of_original, &of_copy)
}

/// Asserts that the figures `keys` of original and copy differ by at most `tolerance` (relative or absolute, depending on the figure).
fn assert_close(figures: &[Figure], keys: &[&str], tolerance: f64) {
    for key in keys {
        let figure = figures.iter().find(|figure| figure.key == *key).expect("the figure exists");
        let difference = figure.difference.expect("the figure can be compared");
        assert!(difference.abs() <= tolerance, "{figure:?}");
    }
}

#[test]
fn a_copy_keeps_to_the_bounds() {
    let original = original(20_000);
    let model = fit_requests(&original);
    for seed in 1..4 {
        let figures = figures(&original, &made(&model, None, seed));
        assert_close(&figures, &["read_share"], 0.0);
        assert_close(&figures, &["read_size_mean_bytes", "write_size_mean_bytes", "read_sizes", "write_sizes"], 0.03);
        let beyond: Vec<&Figure> = figures.iter().filter(|figure| !figure.is_within()).collect();
        assert!(beyond.is_empty(), "{beyond:#?}");
    }
}

/// Returns requests of `kib` KiB at random offsets in `pages` pages of 4 KiB, alternately reads and writes, one per microsecond.
fn random(requests: u64, pages: u64, kib: u64) -> Vec<IoRequest> {
    let mut state = 1_u64;
    (0..requests)
        .map(|index| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let kind = if index % 2 == 0 { RequestKind::Read } else { RequestKind::Write };
            let offset = Bytes::new((state >> 33) % pages * 4096);
            IoRequest { arrival: Time::from_us(index), kind, offset, size: Bytes::from_kib(kib), stream: 0 }
        })
        .collect()
}

#[test]
fn the_footprint_is_right_whatever_the_trace() {
    // From a drive that is overwritten several times to one whose pages are hardly ever accessed twice.
    for (requests, pages, kib) in [(20_000, 500, 4), (20_000, 10_000, 4), (20_000, 1 << 24, 4), (5_000, 40_000, 64)] {
        let original = random(requests, pages, kib);
        let model = fit_requests(&original);
        for seed in 1..4 {
            assert_close(&figures(&original, &made(&model, None, seed)), &["footprint_pages"], 0.05);
        }
    }
}

#[test]
fn a_profile_is_never_longer_than_stated() {
    // All properties are random, which gives the most request classes.
    let mut state = 1_u64;
    let mut draw = move |bits: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 11 & ((1 << bits) - 1)
    };
    let mut now = 0;
    let requests: Vec<IoRequest> = (0..200_000)
        .map(|_| {
            let (bits, gap_bits) = (draw(4) as u32 % 12, draw(5) as u32);
            now += draw(1 + gap_bits) * 1000;
            let kinds = [RequestKind::Read, RequestKind::Write, RequestKind::Deallocate, RequestKind::Read];
            let (kind, page_bits) = (kinds[draw(2) as usize], 4 + draw(4) as u32);
            let (offset, size) = (Bytes::new(draw(page_bits) * 512), Bytes::new(512 * (1 + draw(1 + bits))));
            IoRequest { arrival: Time::from_ps(now), kind, offset, size, stream: 0 }
        })
        .collect();
    let text = fit_requests(&requests).to_toml();
    assert!(text.len() <= PROFILE_BYTES_MAX, "{} bytes", text.len());
    assert!(text.len() > PROFILE_BYTES_MAX / 3, "{} bytes: not much of a test", text.len());
    assert!(FittedProfile::from_toml(&text, Path::new("a.toml")).is_ok());
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
    let model = fit_requests(&original(3_000));
    assert_eq!(made(&model, None, 7), made(&model, None, 7));
    assert_ne!(made(&model, None, 7), made(&model, None, 8));
}

#[test]
fn a_trace_may_be_longer_than_its_original_and_arrivals_never_run_back() {
    let model = fit_requests(&original(2_000));
    let long = made(&model, Some(9_000), 3);
    assert_eq!(long.len(), 9_000);
    assert!(long.is_sorted_by_key(|request| request.arrival));
    let end = |request: &IoRequest| request.offset.as_u64() + request.size.as_u64();
    assert!(long.iter().all(|request| end(request) <= model.address_span && request.size > Bytes::ZERO));
}

#[test]
fn a_profile_survives_being_written_and_read() {
    let model = fit_requests(&original(5_000));
    assert_eq!(
        FittedProfile::from_toml(&model.to_toml(), Path::new("a.toml")).expect("a written profile can be read"),
        model
    );
}

#[test]
fn a_broken_profile_is_refused_with_its_place() {
    let text = fit_requests(&original(500)).to_toml();
    let line =
        |needle: &str| text.lines().position(|line| line.starts_with(needle)).expect("the profile has the line") + 1;
    for (find, replace, place, says) in [
        ("version = 3", "version = 2", String::new(), "version 2 is not known, only 3: fit the trace again"),
        ("requests = ", "request = ", format!(":{}:1", line("requests")), "unknown field"),
        ("phases = [", "phases = [-1,", format!(":{}:", line("phases")), "invalid value"),
        ("phases = [", "phases = [0,", String::new(), "phases, row 1: need 256 counts"),
        ("gaps = [[", "gaps = [[99,[0,0,0,0,0,0,0,0,0]],[", String::new(), "gaps, row 1: needs a class"),
        ("segments = [[", "segments = [[0,0,[[0,2],[0,1],[0,1]]],[", String::new(), "segments, row 1: needs as many"),
        ("segments = [[", "segments = [[0,0,[[99,1],[0,1],[0,1]]],[", String::new(), "segments, row 1: has a count"),
        ("pairs = [[", "pairs = [[0,99,1,", String::new(), "pairs, row 1: counts what is not listed"),
    ] {
        let broken = text.replacen(&format!("\n{find}"), &format!("\n{replace}"), 1);
        assert_ne!(broken, text, "{find}");
        let message = FittedProfile::from_toml(&broken, Path::new("a.toml")).expect_err(find).to_string();
        assert!(message.starts_with(&format!("a.toml{place}")) && message.contains(says), "{find}: {message}");
    }
    let cut = &text[..text.len() / 2];
    assert!(FittedProfile::from_toml(cut, Path::new("a.toml")).is_err());
}

#[test]
fn a_drive_that_is_too_small_is_refused_unless_addresses_wrap() {
    let model = fit_requests(&original(500));
    let small = Bytes::from_kib(2 << 20);
    let made = |wrap| FittedSource::new(&model, None, small, Bytes::new(512), wrap, 1);
    assert!(made(false).is_err_and(|error| error.to_string().contains("set workload.beyond = \"wrap\"")));
    let mut source = made(true).expect("the addresses wrap");
    while let Some(request) = source.next_request(0).expect("times are in range") {
        assert!(request.offset.as_u64() + request.size.as_u64() <= small.as_u64());
    }
}
