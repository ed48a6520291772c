//! Named profiles of published workloads.
//!
//! A paper publishes a few figures of a workload; a replay needs more. A [`Profile`] has figures from its paper, figures from elsewhere (each
//! [`SourcedValue`] states its origin), and assumptions of this project ([`Assumed`]). [`Profile::describe`] shows all three. A [`Mix`] combines
//! several profiles on one drive; the mix is published, or composed in the configuration (`mix_parser.rs`).
//!
//! Workloads of the Venice paper have the names of the paper, such as `hm_0`. Names of workloads of other papers begin with the key of the paper,
//! such as `mbm/usr_0`. So a workload that several papers describe, each with its own figures, has a profile per paper.
//!
//! The figures are in `tables/`: one file per paper, two with figures from elsewhere, and `assumed.csv` with one line per suite
//! of workloads. A new paper needs one new file and one line in `tables.rs`.

mod describe;
mod figures;
mod mix;
mod mix_parser;
mod mix_source;
mod names;
mod sizes;
mod source;
mod tables;

pub(super) use describe::settings;
pub use figures::{Origin, Repetition, SizeFigures, SourcedValue};
pub use mix::{Member, Mix};
pub use mix_source::MixSource;
pub use names::{NamedWorkload, Paper, find, groups};
pub use source::ProfileSource;

use crate::config::Workload;
use crate::synthetic::REQUESTS_DEFAULT;
use crate::units::{Bytes, Time};

/// A published workload, with the figures and assumptions that a replay needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The name in the configuration: `key/name` with the key and the name of the paper, or only the name if the paper is Venice.
    pub name: String,
    /// The paper that publishes the workload.
    pub paper: Paper,
    /// The collection of traces that the workload belongs to.
    pub suite: String,
    /// The share of reads in percent. All other requests are writes.
    pub read_percent: SourcedValue<f64>,
    /// The figures of request sizes: a mean, a mode or a range.
    pub sizes: SourcedValue<SizeFigures>,
    /// The mean time between arrivals of requests.
    pub mean_interarrival: SourcedValue<Time>,
    /// The repetition of bursts (requests that arrive together); `None` if the paper does not publish any.
    pub recurrence: Option<Repetition>,
    /// The number of requests of the trace behind the figures; `None` if unknown.
    pub requests: Option<u64>,
    /// The sources of the figures that the paper does not publish; empty if the paper publishes all.
    pub other_sources: String,
    /// The assumptions of this project, which no source states.
    pub assumptions: Assumed,
}

/// The assumptions that complete the figures of a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumed {
    /// The footprint, unless the configuration sets one.
    pub footprint: Bytes,
    /// The Zipf skew of the addresses where runs start.
    pub zipf_theta: f64,
    /// The mean number of requests in a sequential run; 1 for no runs.
    pub run_requests: f64,
    /// The requests of a burst, which arrive together. The times between bursts are exponential.
    pub burst_requests: u32,
    /// The unit of sizes: all sizes are multiples of it.
    pub granule: Bytes,
    /// The alignment of the starts of requests, unless the configuration sets one.
    pub alignment: Bytes,
    /// The largest size of a request.
    pub size_max: Bytes,
    /// The share of requests with the most frequent size, if that size is known; 0 otherwise.
    pub mode_share: f64,
    /// The reason for these assumptions.
    pub basis: String,
}

impl Profile {
    /// Returns the mean size of a request, over reads and writes, in bytes.
    pub fn mean_request_bytes(&self) -> f64 {
        self.sizes.value.mean_bytes(self.read_share())
    }

    /// Returns the share of reads, from 0 to 1.
    pub fn read_share(&self) -> f64 {
        self.read_percent.value / 100.0
    }

    /// Returns the recurrence that `workload` sets, or else the published recurrence. `None` if bursts do not recur.
    fn repetition(&self, workload: &Workload) -> Option<Repetition> {
        let Some(mean) = workload.pair_repetition else { return self.recurrence };
        let skew = self.recurrence.map_or(Repetition::SKEW_DEFAULT, |published| published.skew);
        (mean > 1.0).then_some(Repetition { mean, skew })
    }

    /// Returns the default number of requests of a run: [`REQUESTS_DEFAULT`], or the number of requests of the trace if that is smaller.
    pub fn requests_default(&self) -> u64 {
        self.requests.map_or(REQUESTS_DEFAULT, |requests| requests.min(REQUESTS_DEFAULT))
    }
}

/// Returns all profiles of published workloads, in the order of the tables that list them.
pub fn all() -> &'static [Profile] {
    &tables::PROFILES
}

/// Returns all published mixes (several profiles that run at the same time), in the order of the table that lists them.
pub fn mixes() -> &'static [Mix] {
    &tables::MIXES
}
