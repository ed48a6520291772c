//! Random drives with all features at once, with all oracles enabled: every request completes once, and no oracle reports a violation.
//!
//! This is a short form of `make soak`. A failing drive is printed as a file for `flashmesh run --check`.
#![allow(missing_docs)]

mod drives;

use flashmesh::config::Config;

const REQUESTS: u64 = 6_000;
const DRIVES: u64 = 10;
const PLAIN_REQUESTS: u64 = 2_000;

fn check(config: &Config, requests: u64) -> flashmesh::measure::report::Report {
    drives::run(config, requests).unwrap_or_else(|problem| panic!("{problem}\n{}", config.to_toml()))
}

#[test]
fn every_request_completes_and_no_oracle_speaks_with_everything_on() {
    let drive = drives::busy(REQUESTS);
    for number in 1..=DRIVES {
        let config = drives::draw(&drive, 1, number);
        let report = check(&config, REQUESTS);
        let is_collected = report.gc.collections > 0 && report.gc.pages_moved > 0;
        assert!(is_collected, "GC never ran\n{}", config.to_toml());
    }
}

#[test]
fn every_request_completes_and_no_oracle_speaks_on_a_plain_drive_with_any_interconnect() {
    for (number, interconnect) in (1..).zip(drives::INTERCONNECTS) {
        check(&drives::draw(&drives::plain(interconnect, PLAIN_REQUESTS), 1, number), PLAIN_REQUESTS);
    }
}
