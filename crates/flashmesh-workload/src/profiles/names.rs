//! Lookup of published workloads by name.

use std::borrow::Cow;

use super::{Mix, Profile, all, mix_parser, mixes};
use crate::error::WorkloadError;

/// A paper that publishes workloads, or one table of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    /// The prefix of the names of the paper's workloads, such as `mbm`.
    pub key: &'static str,
    /// The title of the paper, and the table.
    pub source: &'static str,
}

/// The key of the paper whose workloads have no prefix.
const KEYLESS: &str = "venice";

impl Paper {
    /// Returns the configuration name of the workload that the paper calls `name`.
    pub(super) fn name_of(&self, name: &str) -> String {
        if self.key == KEYLESS { name.to_owned() } else { format!("{}/{name}", self.key) }
    }
}

/// A named workload.
#[derive(Clone, Debug, PartialEq)]
pub enum NamedWorkload {
    /// A single workload.
    Profile(&'static Profile),
    /// A mix of several workloads.
    Mix(Cow<'static, Mix>),
}

impl NamedWorkload {
    /// Returns the name in the configuration. The name of a composed mix is its composition, such as `src2_1 + 2*proj_3`.
    pub fn name(&self) -> &str {
        match self {
            NamedWorkload::Profile(profile) => &profile.name,
            NamedWorkload::Mix(mix) => &mix.name,
        }
    }

    /// Returns the paper that publishes the workload; `None` for a mix composed in a configuration.
    pub fn paper(&self) -> Option<Paper> {
        match self {
            NamedWorkload::Profile(profile) => Some(profile.paper),
            NamedWorkload::Mix(mix) => mix.paper,
        }
    }

    /// Returns the published figures, the figures from elsewhere and the assumptions, as lines for a terminal.
    pub fn describe(&self) -> String {
        match self {
            NamedWorkload::Profile(profile) => profile.describe(),
            NamedWorkload::Mix(mix) => mix.describe(),
        }
    }

    /// Returns the main figures in one line: the reads, sizes and arrivals of a profile, or the members and arrivals of a mix.
    pub fn summary(&self) -> String {
        match self {
            NamedWorkload::Profile(profile) => profile.summary(),
            NamedWorkload::Mix(mix) => mix.summary(),
        }
    }

    /// Returns whether `name` refers to this workload. `name` may begin with the key of the paper, even if the name in the configuration has no key.
    fn is_called(&self, name: &str) -> bool {
        self.name() == name
            || name
                .split_once('/')
                .is_some_and(|(key, bare)| bare == self.name() && self.paper().is_some_and(|paper| paper.key == key))
    }

    /// Returns the name without the key of the paper.
    fn bare_name(&self) -> &str {
        self.name().split_once('/').map_or(self.name(), |(_, bare)| bare)
    }
}

fn everything() -> impl Iterator<Item = NamedWorkload> {
    all().iter().map(NamedWorkload::Profile).chain(mixes().iter().map(|mix| NamedWorkload::Mix(Cow::Borrowed(mix))))
}

/// Returns all named workloads, grouped by paper, in the order of the tables.
pub fn groups() -> Vec<(Paper, Vec<NamedWorkload>)> {
    let mut groups: Vec<(Paper, Vec<NamedWorkload>)> = Vec::new();
    for named in everything() {
        let Some(paper) = named.paper() else { continue };
        match groups.iter_mut().find(|(known, _)| *known == paper) {
            Some((_, members)) => members.push(named),
            None => groups.push((paper, vec![named])),
        }
    }
    // Groups with the same key become neighbours: the profiles of a paper, then its mixes.
    let keys: Vec<&str> = groups.iter().map(|(paper, _)| paper.key).collect();
    groups.sort_by_key(|(paper, _)| keys.iter().position(|key| *key == paper.key));
    groups
}

/// Returns the profile or mix with this name, or the mix that `name` composes, such as `src2_1 + 2*proj_3`.
///
/// # Errors
/// If no workload has this name, or a composition is invalid. The message suggests similar names, if there are any.
pub fn find(name: &str) -> Result<NamedWorkload, WorkloadError> {
    if mix_parser::is_mix(name) {
        return mix_parser::parse_mix(name).map(|mix| NamedWorkload::Mix(Cow::Owned(mix)));
    }
    find_named(name)
}

pub(super) fn find_named(name: &str) -> Result<NamedWorkload, WorkloadError> {
    everything().find(|named| named.is_called(name)).ok_or_else(|| {
        let similar = near_misses(name).iter().map(|near| format!("\"{near}\"")).collect::<Vec<_>>().join(" or ");
        let suggestion = if similar.is_empty() { String::new() } else { format!("; did you mean {similar}?") };
        WorkloadError::Unusable(format!(
            "workload.profile: no profile is called \"{name}\"{suggestion} (flashmesh profiles lists all)"
        ))
    })
}

/// Returns the names most similar to `name`, ignoring case, separators and, if `name` has no key, the paper; empty if no name is similar enough.
fn near_misses(name: &str) -> Vec<String> {
    const SIMILAR_ENOUGH: f64 = 0.6;
    let plain = |name: &str| name.to_lowercase().replace(['_', '-', ' '], "");
    let wanted = plain(name);
    let scored: Vec<(f64, String)> = everything()
        .map(|named| {
            let known = if name.contains('/') { named.name() } else { named.bare_name() };
            (strsim::normalized_damerau_levenshtein(&wanted, &plain(known)), named.name().to_owned())
        })
        .collect();
    let best = scored.iter().map(|(similarity, _)| *similarity).fold(SIMILAR_ENOUGH, f64::max);
    scored.into_iter().filter(|(similarity, _)| *similarity >= best).map(|(_, known)| known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct() {
        let names: std::collections::BTreeSet<_> = everything().map(|named| named.name().to_owned()).collect();
        assert_eq!(names.len(), everything().count());
    }

    #[test]
    fn every_paper_has_all_its_workloads() {
        let counts: Vec<(&str, usize)> = groups().iter().map(|(paper, members)| (paper.key, members.len())).collect();
        let expected = [("venice", 19), ("venice", 6), ("mbm", 6), ("collisions", 35), ("nossd14", 32), ("nossd12", 4)];
        assert_eq!(counts, expected);
    }

    #[test]
    fn every_name_is_found_and_may_have_the_key_of_its_paper() {
        for named in everything() {
            assert_eq!(find(named.name()).unwrap(), named);
            assert_eq!(find(&format!("{}/{}", named.paper().unwrap().key, named.bare_name())).unwrap(), named);
        }
        assert!(find("mbm/hm_0").is_err() && find("venice/mbm/usr_0").is_err());
    }

    #[test]
    fn a_near_miss_is_answered_with_the_likely_names() {
        for (typed, meant) in [
            ("hm0", "\"hm_0\" or \"collisions/HM0\""),
            ("ycsb-b", "\"YCSB_B\""),
            ("postgress", "\"postgres\""),
            ("tpcc", "\"nossd14/tpcc\" or \"nossd12/TPCC\""),
            ("mbm/usr0", "\"mbm/usr_0\""),
            ("Mix1", "\"mix1\""),
        ] {
            let message = find(typed).unwrap_err().to_string();
            assert!(message.contains(&format!("did you mean {meant}?")), "{message}");
        }
    }

    #[test]
    fn a_name_like_no_other_is_answered_with_where_all_names_are() {
        let message = find("nothing at all").unwrap_err().to_string();
        assert!(!message.contains("did you mean"), "{message}");
        assert!(message.contains("flashmesh profiles"), "{message}");
    }
}
