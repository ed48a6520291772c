//! The tables of figures, built into the library.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{Assumed, Profile, Published};
use crate::units::{Bytes, Time};

/// A table of published figures.
struct Table {
    source: &'static str,
    csv: &'static str,
}

/// The registry: a line for each source.
const TABLES: [Table; 1] = [Table { source: "Venice (ISCA 2023), Table 2", csv: include_str!("venice.csv") }];

const ASSUMED: &str = include_str!("assumed.csv");

/// Every profile. The tables are part of the program, and tests read all of them: a fault in one cannot reach a run.
pub(super) static PROFILES: LazyLock<Vec<Profile>> =
    LazyLock::new(|| read_all().expect("the built-in tables of profiles can be read"));

#[derive(Deserialize)]
struct PublishedRow {
    trace: String,
    suite: String,
    read_pct: f64,
    #[serde(rename = "mean_request_kB")]
    mean_request_kb: f64,
    mean_interarrival_us: f64,
}

#[derive(Deserialize)]
struct AssumedRow {
    suite: String,
    #[serde(rename = "footprint_GiB")]
    footprint_gib: u64,
    zipf_theta: f64,
    run_requests: f64,
    burst_requests: u32,
    #[serde(rename = "size_max_KiB")]
    size_max_kib: u64,
    basis: String,
}

fn read_all() -> Result<Vec<Profile>, String> {
    let assumed: Vec<AssumedRow> = rows("assumed.csv", ASSUMED)?;
    let mut profiles = Vec::new();
    for table in &TABLES {
        for row in rows::<PublishedRow>(table.source, table.csv)? {
            let assumed = assumed
                .iter()
                .find(|assumed| assumed.suite == row.suite)
                .ok_or_else(|| format!("assumed.csv has no line for the suite {}", row.suite))?;
            profiles.push(profile_of(row, assumed, table.source));
        }
    }
    Ok(profiles)
}

fn rows<Row: for<'row> Deserialize<'row>>(name: &str, csv: &str) -> Result<Vec<Row>, String> {
    csv::Reader::from_reader(csv.as_bytes())
        .into_deserialize()
        .collect::<Result<_, csv::Error>>()
        .map_err(|error| format!("{name}: {error}"))
}

fn profile_of(row: PublishedRow, assumed: &AssumedRow, source: &'static str) -> Profile {
    // Requests of a mean below one page cannot all be multiples of 4 KiB.
    let granule = if row.mean_request_kb < 4.0 { Bytes::new(512) } else { Bytes::from_kib(4) };
    Profile {
        name: row.trace,
        suite: row.suite,
        source,
        published: Published {
            read_percent: row.read_pct,
            mean_request_kb: row.mean_request_kb,
            mean_interarrival: Time::from_ps((row.mean_interarrival_us * 1e6 + 0.5) as u64),
        },
        assumed: Assumed {
            footprint: Bytes::from_kib(assumed.footprint_gib << 20),
            zipf_theta: assumed.zipf_theta,
            run_requests: assumed.run_requests,
            burst_requests: assumed.burst_requests,
            granule,
            size_max: Bytes::from_kib(assumed.size_max_kib),
            basis: assumed.basis.clone(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_with_assumptions_has_a_profile() {
        let assumed: Vec<AssumedRow> = rows("assumed.csv", ASSUMED).unwrap();
        for row in assumed {
            assert!(PROFILES.iter().any(|profile| profile.suite == row.suite), "{} has none", row.suite);
        }
    }

    #[test]
    fn the_table_is_the_published_one() {
        let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/workloads_venice.csv");
        match std::fs::read_to_string(shared) {
            Ok(published) => assert_eq!(include_str!("venice.csv"), published),
            Err(_) => println!("skipped: {shared} is absent"),
        }
    }
}
