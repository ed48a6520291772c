//! Published workloads by name.
//!
//! A paper publishes a handful of figures of a workload; replaying it takes more than that. A [`Profile`] keeps the two
//! apart: [`Published`] is what the source says, [`Assumed`] is what this project adds, and [`Profile::describe`]
//! shows both. Figures live in tables beside this file: one for each source, and `assumed.csv` with one line for each
//! suite of workloads. A further table with the columns of `venice.csv` is that file and one line in `tables.rs`.

mod describe;
mod sizes;
mod source;
mod tables;

pub use source::ProfileSource;

use crate::error::WorkloadError;
use crate::units::{Bytes, Time};

/// A published workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The name it is published under.
    pub name: String,
    /// The collection it belongs to.
    pub suite: String,
    /// The paper and table its figures are from.
    pub source: &'static str,
    /// What the source says.
    pub published: Published,
    /// What it leaves open, as settled here.
    pub assumed: Assumed,
}

/// The published figures of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Share of requests that read, in percent; all others write.
    pub read_percent: f64,
    /// Mean size of a request, in kB.
    pub mean_request_kb: f64,
    /// Mean time from one arrival to the next.
    pub mean_interarrival: Time,
}

/// What a profile adds to the published figures.
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
    /// Where these assumptions come from.
    pub basis: String,
}

impl Profile {
    /// The published mean size in bytes: kB is read as 1024 B, as the sizes of block requests are.
    pub fn mean_request_bytes(&self) -> f64 {
        self.published.mean_request_kb * 1024.0
    }

    /// The published share of reads, from 0 to 1.
    pub fn read_share(&self) -> f64 {
        self.published.read_percent / 100.0
    }
}

/// Every profile, in the order of their tables.
pub fn all() -> &'static [Profile] {
    &tables::PROFILES
}

/// The name of every profile, in the order of their tables.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().iter().map(|profile| profile.name.as_str())
}

/// The profile called `name`.
///
/// # Errors
/// When there is none; the message gives the most similar name, if one is similar, and all names.
pub fn find(name: &str) -> Result<&'static Profile, WorkloadError> {
    all().iter().find(|profile| profile.name == name).ok_or_else(|| {
        let suggestion = near_miss(name).map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
        let known = names().collect::<Vec<_>>().join(", ");
        WorkloadError::Unusable(format!(
            "workload.profile: no profile is called \"{name}\"{suggestion} (profiles: {known})"
        ))
    })
}

fn near_miss(name: &str) -> Option<&'static str> {
    const SIMILAR_ENOUGH: f64 = 0.6;
    let wanted = name.to_lowercase();
    names()
        .map(|known| (strsim::normalized_damerau_levenshtein(&wanted, &known.to_lowercase()), known))
        .filter(|&(similarity, _)| similarity >= SIMILAR_ENOUGH)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nineteen_of_venice_are_there_once_each() {
        assert_eq!(names().count(), 19);
        let distinct: std::collections::BTreeSet<_> = names().collect();
        assert_eq!(distinct.len(), 19);
    }

    #[test]
    fn figures_are_the_published_ones() {
        let profile = find("YCSB_B").unwrap();
        assert_eq!(profile.suite, "YCSB");
        assert_eq!(
            profile.published,
            Published { read_percent: 99.0, mean_request_kb: 65.7, mean_interarrival: Time::from_us(13) }
        );
    }

    #[test]
    fn a_near_miss_is_answered_with_the_likely_name() {
        for (typed, meant) in [("hm0", "hm_0"), ("HM_0", "hm_0"), ("ycsb-b", "YCSB_B"), ("postgress", "postgres")] {
            let message = find(typed).unwrap_err().to_string();
            assert!(message.contains(&format!("did you mean \"{meant}\"?")), "{message}");
        }
    }

    #[test]
    fn a_name_like_no_other_is_answered_with_all_names_alone() {
        let message = find("nothing at all").unwrap_err().to_string();
        assert!(!message.contains("did you mean"), "{message}");
        assert!(names().all(|name| message.contains(name)), "{message}");
    }
}
