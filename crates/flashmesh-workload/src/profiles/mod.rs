//! Published workloads by name.
//!
//! A paper publishes a handful of figures of a workload; a replay needs more. A [`Profile`] keeps apart
//! what its paper publishes, what is known of the same workload from elsewhere (each [`Figure`] says which of the two
//! it is), and what this project adds, [`Assumed`]; [`Profile::describe`] shows all three. A [`Mix`] is several
//! profiles at once on one drive: a published one, or one that the configuration puts together (`configured.rs`).
//!
//! The workloads of the Venice paper have the bare names it gives them, `hm_0`; those of other papers have the key of
//! their paper before the name, `mbm/usr_0`. So one workload that several papers describe, with figures of their own,
//! is a profile for each of them.
//!
//! Figures live in `tables/`: a file for each paper, two with figures from elsewhere, and `assumed.csv` with one line
//! for each suite of workloads. A further paper is one more file and one line in `tables.rs`.

mod configured;
mod describe;
mod figures;
mod mix;
mod mix_source;
mod names;
mod sizes;
mod source;
mod tables;

pub(super) use describe::settings;
pub use figures::{Figure, Origin, Repetition, SizeFigures};
pub use mix::{Member, Mix};
pub use mix_source::MixSource;
pub use names::{Named, Paper, find, groups};
pub use source::ProfileSource;

use crate::config::Workload;
use crate::synthetic::REQUESTS_DEFAULT;
use crate::units::{Bytes, Time};

/// A published workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name: that in its paper, with the paper's key before it unless that is Venice.
    pub name: String,
    /// The paper that publishes it.
    pub paper: Paper,
    /// The collection it belongs to.
    pub suite: String,
    /// Share of requests that read, in percent; all others write.
    pub read_percent: Figure<f64>,
    /// Sizes of requests.
    pub sizes: Figure<SizeFigures>,
    /// Mean time from one arrival to the next.
    pub mean_interarrival: Figure<Time>,
    /// How often requests that arrive together come together again; nothing where that is not known.
    pub recurrence: Option<Repetition>,
    /// How many requests the trace behind the figures holds, where that is known.
    pub requests: Option<u64>,
    /// Where the figures that its paper does not publish come from; empty when there are none.
    pub elsewhere: String,
    /// Assumptions of this project, which no source states.
    pub assumed: Assumed,
}

/// Assumptions that complete the figures of a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumed {
    /// How much of the drive is touched, unless the configuration says otherwise.
    pub footprint: Bytes,
    /// Skew of the Zipf popularity of the places where runs begin.
    pub zipf_theta: f64,
    /// Mean number of requests in a sequential run; 1 is no runs.
    pub run_requests: f64,
    /// Requests that arrive together; the groups arrive at exponential distances.
    pub burst_requests: u32,
    /// Sizes are multiples of this and requests begin at multiples of it.
    pub granule: Bytes,
    /// The largest size.
    pub size_max: Bytes,
    /// Share of requests that have the most frequent size, where that size is known; 0 where it is not.
    pub mode_share: f64,
    /// Where these assumptions come from.
    pub basis: String,
}

impl Profile {
    /// The mean size of a request in bytes.
    pub fn mean_request_bytes(&self) -> f64 {
        self.sizes.value.mean_bytes(self.read_share())
    }

    /// The share of reads, from 0 to 1.
    pub fn read_share(&self) -> f64 {
        self.read_percent.value / 100.0
    }

    /// How often requests that arrive together come together again, as `workload` says or as published.
    fn repetition(&self, workload: &Workload) -> Option<Repetition> {
        let Some(mean) = workload.pair_repetition else { return self.recurrence };
        let skew = self.recurrence.map_or(Repetition::SKEW_DEFAULT, |published| published.skew);
        (mean > 1.0).then_some(Repetition { mean, skew })
    }

    /// How many requests there are when the configuration does not say: no more than the trace has.
    pub fn requests_default(&self) -> u64 {
        self.requests.map_or(REQUESTS_DEFAULT, |requests| requests.min(REQUESTS_DEFAULT))
    }
}

/// Every profile, in the order of their tables.
pub fn all() -> &'static [Profile] {
    &tables::PROFILES
}

/// Every mix, in the order of its table.
pub fn mixes() -> &'static [Mix] {
    &tables::MIXES
}
