//! The tables of figures, which are compiled into the library.

use std::sync::LazyLock;

use serde::Deserialize;

use super::figures::{Figures, Repetition, SizeFigures, prefer_published};
use super::{Assumed, Member, Mix, Paper, Profile};
use crate::units::{Bytes, Time};

/// A table of published figures.
struct Table {
    paper: Paper,
    csv: &'static str,
}

/// The tables, one line per paper.
const TABLES: [Table; 5] = [
    Table {
        paper: Paper { key: "venice", source: "Venice (ISCA 2023), Table 2" },
        csv: include_str!("tables/venice.csv"),
    },
    Table { paper: Paper { key: "mbm", source: "MBM FTL, Table II" }, csv: include_str!("tables/mbm.csv") },
    Table {
        paper: Paper { key: "collisions", source: "Patterned read collisions (IEEE Access), Tables 2 and 5" },
        csv: include_str!("tables/collisions.csv"),
    },
    Table {
        paper: Paper { key: "nossd14", source: "NoSSD (PACT 2014), Table 2" },
        csv: include_str!("tables/nossd14.csv"),
    },
    Table {
        paper: Paper { key: "nossd12", source: "NoSSD (CAL 2012), section 4" },
        csv: include_str!("tables/nossd12.csv"),
    },
];

const MIXES_PAPER: Paper = Paper { key: "venice", source: "Venice (ISCA 2023), Table 3: mixes" };
const MIXES_CSV: &str = include_str!("tables/mixes_venice.csv");
/// Members of mixes that replace the members in [`MIXES_CSV`], which contradict the text of the paper.
const MIX_MEMBERS: &str = include_str!("tables/mix_members.csv");

/// The figures of the public MSR Cambridge traces, used where a paper does not publish a figure.
const VOLUMES: &str = include_str!("tables/msr_volumes.csv");
const VOLUMES_BASIS: &str =
    "counted in the public trace of the volume (SNIA IOTTA 388), its requests spread over the week it was recorded";

/// The figures of single profiles from other sources, used where a paper does not publish a figure.
const ELSEWHERE: &str = include_str!("tables/elsewhere.csv");

/// The reason for the length of bursts that `collisions.csv` has of a volume.
const BURSTS_BASIS: &str = "the length of bursts is fitted to the outstanding commands of Table 2";
/// The reason for the runs and the alignment that `collisions.csv` has of a volume.
const RUNS_BASIS: &str = "runs, alignment and recurrence are fitted to the collisions over those expected (Table 2) and to the deviation of the \
     reads of the dies (Table 3)";

const ASSUMED: &str = include_str!("tables/assumed.csv");

/// The recording time of the MSR Cambridge traces.
const WEEK: Time = Time::from_ms(7 * 24 * 60 * 60 * 1000);

/// All profiles. An error in a table cannot reach a run: the tables are compiled in, and tests parse all of them.
pub(super) static PROFILES: LazyLock<Vec<Profile>> =
    LazyLock::new(|| read_profiles().expect("the built-in tables of profiles can be read"));

/// All published mixes. Their members are profiles of the same paper.
pub(super) static MIXES: LazyLock<Vec<Mix>> =
    LazyLock::new(|| read_mixes().expect("the built-in table of mixes can be read"));

/// A row of figures. Each table has only the columns that its source publishes.
#[derive(Deserialize)]
struct FiguresRow {
    #[serde(alias = "trace")]
    profile: String,
    #[serde(default)]
    suite: String,
    #[serde(default)]
    basis: String,
    volume: Option<String>,
    read_pct: Option<f64>,
    #[serde(rename = "mean_request_kB")]
    mean_request_kb: Option<f64>,
    #[serde(rename = "mode_request_kB")]
    mode_request_kb: Option<f64>,
    #[serde(rename = "mean_read_kB")]
    mean_read_kb: Option<f64>,
    #[serde(rename = "mean_write_kB")]
    mean_write_kb: Option<f64>,
    #[serde(rename = "smallest_request_kB")]
    smallest_request_kb: Option<f64>,
    #[serde(rename = "largest_request_kB")]
    largest_request_kb: Option<f64>,
    mean_interarrival_us: Option<f64>,
    requests: Option<u64>,
    mean_repetition: Option<f64>,
    repetition_skew: Option<f64>,
    /// The requests of a burst, in place of the value of the suite.
    burst_requests: Option<u32>,
    /// The mean requests of a run, in place of the value of the suite.
    run_requests: Option<f64>,
    #[serde(rename = "alignment_KiB")]
    alignment_kib: Option<u64>,
}

#[derive(Deserialize)]
struct VolumeRow {
    volume: String,
    requests: u64,
    write_ratio: f64,
    #[serde(rename = "mean_read_kB")]
    mean_read_kb: Option<f64>,
    #[serde(rename = "mean_write_kB")]
    mean_write_kb: f64,
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
    mode_share: Option<f64>,
    basis: String,
}

#[derive(Deserialize)]
struct MixRow {
    mix: String,
    constituents: String,
    mean_interarrival_us: f64,
    source: String,
}

/// A row of [`MIX_MEMBERS`].
#[derive(Deserialize)]
struct MixMembersRow {
    mix: String,
    constituents: String,
    basis: String,
}

impl FiguresRow {
    fn figures(&self) -> Figures {
        let sizes = match *self {
            FiguresRow { mean_request_kb: Some(mean_kb), mode_request_kb: Some(mode_kb), .. } => {
                Some(SizeFigures::MeanAndMode { mean_kb, mode_kb })
            }
            FiguresRow { mean_request_kb: Some(kb), .. } => Some(SizeFigures::Mean { kb }),
            FiguresRow { mean_read_kb: Some(read_kb), mean_write_kb: Some(write_kb), .. } => {
                Some(SizeFigures::MeansByKind { read_kb, write_kb })
            }
            FiguresRow { smallest_request_kb: Some(smallest_kb), largest_request_kb: Some(largest_kb), .. } => {
                Some(SizeFigures::Range { smallest_kb, largest_kb })
            }
            _ => None,
        };
        Figures {
            read_percent: self.read_pct,
            sizes,
            mean_interarrival: self.mean_interarrival_us.map(time_of_us).or(self.requests.map(spread_over_a_week)),
            requests: self.requests,
        }
    }
}

impl VolumeRow {
    fn figures(&self) -> Figures {
        let write_kb = self.mean_write_kb;
        Figures {
            // Ratios have four digits; the rounding removes the error of their binary form.
            read_percent: Some(((1.0 - self.write_ratio) * 10_000.0).round() / 100.0),
            sizes: self.mean_read_kb.map(|read_kb| SizeFigures::MeansByKind { read_kb, write_kb }),
            mean_interarrival: Some(spread_over_a_week(self.requests)),
            requests: Some(self.requests),
        }
    }
}

fn time_of_us(us: f64) -> Time {
    Time::from_ps((us * 1e6 + 0.5) as u64)
}

fn spread_over_a_week(requests: u64) -> Time {
    Time::from_ps(WEEK.as_ps() / requests.max(1))
}

fn rows<Row: for<'row> Deserialize<'row>>(name: &str, csv: &str) -> Result<Vec<Row>, String> {
    csv::Reader::from_reader(csv.as_bytes())
        .into_deserialize()
        .collect::<Result<_, csv::Error>>()
        .map_err(|error| format!("{name}: {error}"))
}

fn read_profiles() -> Result<Vec<Profile>, String> {
    let assumed: Vec<AssumedRow> = rows("assumed.csv", ASSUMED)?;
    let volumes: Vec<VolumeRow> = rows("msr_volumes.csv", VOLUMES)?;
    let elsewhere: Vec<FiguresRow> = rows("elsewhere.csv", ELSEWHERE)?;
    let mut profiles = Vec::new();
    for table in &TABLES {
        for row in rows::<FiguresRow>(table.paper.source, table.csv)? {
            let name = table.paper.name_of(&row.profile);
            let (others, basis) = if let Some(wanted) = &row.volume {
                let volume = volumes.iter().find(|volume| volume.volume == *wanted);
                let volume = volume.ok_or_else(|| format!("msr_volumes.csv has no line for {wanted}"))?;
                (volume.figures(), VOLUMES_BASIS)
            } else if let Some(row) = elsewhere.iter().find(|row| row.profile == name) {
                (row.figures(), row.basis.as_str())
            } else {
                (Figures::default(), "")
            };
            let assumed = assumed
                .iter()
                .find(|assumed| assumed.suite == row.suite)
                .ok_or_else(|| format!("assumed.csv has no line for the suite {}", row.suite))?;
            profiles.push(profile_of(name, &row, &others, basis, assumed, table.paper)?);
        }
    }
    Ok(profiles)
}

fn profile_of(
    name: String,
    row: &FiguresRow,
    others: &Figures,
    basis: &str,
    assumed: &AssumedRow,
    paper: Paper,
) -> Result<Profile, String> {
    let published = row.figures();
    let missing = |what: &str| format!("no table has the {what} of {name}");
    let read_percent = prefer_published(published.read_percent, others.read_percent).ok_or_else(|| missing("reads"))?;
    let sizes = prefer_published(published.sizes, others.sizes).ok_or_else(|| missing("sizes"))?;
    let mean_interarrival =
        prefer_published(published.mean_interarrival, others.mean_interarrival).ok_or_else(|| missing("arrivals"))?;
    if matches!(sizes.value, SizeFigures::MeanAndMode { .. }) && assumed.mode_share.is_none() {
        return Err(missing("share of the most frequent size"));
    }
    // Requests smaller than a page cannot all be multiples of 4 KiB.
    let granule = if sizes.value.fit_pages() { Bytes::from_kib(4) } else { Bytes::new(512) };
    let of_bursts = row.burst_requests.map(|_| BURSTS_BASIS);
    let of_runs = row.run_requests.map(|_| RUNS_BASIS);
    let basis_of_assumed =
        [Some(assumed.basis.as_str()), of_bursts, of_runs].into_iter().flatten().collect::<Vec<_>>().join("; ");
    Ok(Profile {
        paper,
        suite: row.suite.clone(),
        read_percent,
        sizes,
        mean_interarrival,
        recurrence: row
            .mean_repetition
            .map(|mean| Repetition { mean, skew: row.repetition_skew.unwrap_or(Repetition::SKEW_DEFAULT) }),
        requests: published.requests.or(others.requests),
        other_sources: basis.to_owned(),
        assumptions: Assumed {
            footprint: Bytes::from_kib(assumed.footprint_gib << 20),
            zipf_theta: assumed.zipf_theta,
            run_requests: row.run_requests.unwrap_or(assumed.run_requests),
            burst_requests: row.burst_requests.unwrap_or(assumed.burst_requests),
            granule,
            alignment: row.alignment_kib.map_or(granule, Bytes::from_kib),
            size_max: Bytes::from_kib(assumed.size_max_kib),
            mode_share: assumed.mode_share.unwrap_or_default(),
            basis: basis_of_assumed,
        },
        name,
    })
}

fn read_mixes() -> Result<Vec<Mix>, String> {
    let replaced = rows::<MixMembersRow>("mix_members.csv", MIX_MEMBERS)?;
    let mix_of = |mut row: MixRow| {
        if let Some(members) = replaced.iter().find(|members| members.mix == row.mix) {
            (row.constituents, row.source) = (members.constituents.clone(), members.basis.clone());
        }
        let members = row
            .constituents
            .split('+')
            .map(|name| {
                let profile = PROFILES.iter().find(|profile| profile.name == MIXES_PAPER.name_of(name));
                profile.map(Member::of).ok_or_else(|| format!("{}: no profile is called {name}", row.mix))
            })
            .collect::<Result<_, String>>()?;
        Ok(Mix {
            name: MIXES_PAPER.name_of(&row.mix),
            paper: Some(MIXES_PAPER),
            members,
            members_basis: (row.source != "stated").then_some(row.source),
            mean_interarrival: time_of_us(row.mean_interarrival_us),
        })
    };
    rows(MIXES_PAPER.source, MIXES_CSV)?.into_iter().map(mix_of).collect()
}

#[cfg(test)]
#[path = "../../tests/support/shared.rs"]
mod shared;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::shared::shared;
    use super::*;
    use crate::profiles::Origin;

    fn published(figures: &Path, name: &str) -> String {
        std::fs::read_to_string(figures.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn published_rows(figures: &Path, name: &str) -> Vec<std::collections::HashMap<String, String>> {
        let published = rows(name, &published(figures, name)).unwrap();
        assert!(!published.is_empty(), "{name} has no rows");
        published
    }

    fn profile(name: &str) -> &'static Profile {
        PROFILES.iter().find(|profile| profile.name == name).unwrap_or_else(|| panic!("{name} is missing"))
    }

    #[test]
    fn every_suite_and_every_line_of_figures_has_a_profile() {
        for row in rows::<AssumedRow>("assumed.csv", ASSUMED).unwrap() {
            assert!(PROFILES.iter().any(|profile| profile.suite == row.suite), "{} has none", row.suite);
        }
        for row in rows::<FiguresRow>("elsewhere.csv", ELSEWHERE).unwrap() {
            assert_eq!(profile(&row.profile).other_sources, row.basis);
        }
    }

    #[test]
    fn members_are_replaced_only_where_the_paper_does_not_state_them() {
        let mixes = rows::<MixRow>("mixes_venice.csv", MIXES_CSV).unwrap();
        let replaced = rows::<MixMembersRow>("mix_members.csv", MIX_MEMBERS).unwrap();
        assert!(!replaced.is_empty());
        for MixMembersRow { mix, .. } in replaced {
            assert!(mixes.iter().any(|row| row.mix == mix && row.source != "stated"), "{mix}");
        }
    }

    #[test]
    fn tables_that_are_copies_are_the_published_ones() {
        let Some(figures) = shared("data") else { return };
        for (name, table) in
            [("workloads_venice.csv", TABLES[0].csv), ("mixes_venice.csv", MIXES_CSV), ("msr_volumes.csv", VOLUMES)]
        {
            assert_eq!(table, published(&figures, name), "{name}");
        }
    }

    #[test]
    fn the_figures_of_the_other_tables_are_the_published_ones() {
        let number = |row: &std::collections::HashMap<String, String>, key: &str| row[key].parse::<f64>().unwrap();
        let Some(figures) = shared("data") else { return };
        for row in published_rows(&figures, "workloads_mbm.csv") {
            let profile = profile(&format!("mbm/{}", row["trace"]));
            assert_eq!(profile.read_percent.value, number(&row, "read_pct"));
            let (read_kb, write_kb) = (number(&row, "mean_read_kB"), number(&row, "mean_write_kB"));
            assert_eq!(profile.sizes.value, SizeFigures::MeansByKind { read_kb, write_kb });
        }
        for row in published_rows(&figures, "workloads_nossd14.csv") {
            let profile = profile(&format!("nossd14/{}", row["trace"]));
            assert!((profile.read_share() - number(&row, "read_ratio")).abs() < 1e-12);
            let (mean_kb, mode_kb) = (number(&row, "mean_request_kB"), number(&row, "mode_request_kB"));
            assert_eq!(profile.sizes.value, SizeFigures::MeanAndMode { mean_kb, mode_kb });
            let us = number(&row, "mean_interarrival_ms") * 1000.0;
            assert_eq!(profile.mean_interarrival.value, time_of_us(us));
        }
        for row in published_rows(&figures, "workloads_collisions.csv") {
            let profile = profile(&format!("collisions/{}", row["trace"]));
            assert_eq!(
                (profile.read_percent.value, profile.read_percent.origin),
                (number(&row, "read_pct"), Origin::Published)
            );
        }
        for row in published_rows(&figures, "table5_collisions.csv") {
            profile(&format!("collisions/{}", row["trace"]));
        }
    }

    #[test]
    fn the_shares_that_papers_publish_of_volumes_are_those_counted_in_the_traces() {
        let volumes: Vec<VolumeRow> = rows("msr_volumes.csv", VOLUMES).unwrap();
        let mut compared = 0;
        for table in &TABLES {
            for row in rows::<FiguresRow>(table.paper.source, table.csv).unwrap() {
                let volume = volumes.iter().find(|volume| Some(&volume.volume) == row.volume.as_ref());
                if let (Some(volume), Some(published)) = (volume, row.read_pct) {
                    let counted = volume.figures().read_percent.unwrap();
                    assert!((published - counted).abs() < 0.05, "{}: {published} and {counted}", row.profile);
                    compared += 1;
                }
            }
        }
        assert_eq!(compared, 10);
    }

    #[test]
    fn requests_of_a_week_are_spread_over_it() {
        // NoSSD (PACT 2014), Table 2 states 270.25 ms for usr-0, which equals a week divided by the requests of the trace.
        let usr_0 = profile("mbm/usr_0").mean_interarrival;
        assert_eq!((usr_0.value.as_ps() / 10_000_000, usr_0.origin), (27_025, Origin::Elsewhere));
    }
}
