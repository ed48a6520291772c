//! Mixes: several published workloads at once on one drive.

use super::{Paper, Profile};
use crate::units::Time;

/// A mix of workloads, published (Venice, ISCA 2023, section 5, Table 3) or composed in a configuration (`profile = "src2_1 + 2*proj_3"`).
///
/// The table states the mean time between arrivals of the mix and names its members. The sum of the members' own rates is not always the rate of the
/// mix, and the table does not say how the rates are adjusted. So the rates of all members are scaled by a common factor to meet the rate of the mix
/// \[choice\].
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// The name in the configuration.
    pub name: String,
    /// The paper that publishes the mix; `None` for a mix composed in a configuration.
    pub paper: Option<Paper>,
    /// The profiles that the mix consists of, each with its own mean time between arrivals.
    pub members: Vec<Member>,
    /// The reason for this choice of members; `None` if the paper states the members, or a configuration composes the mix.
    pub members_basis: Option<String>,
    /// The mean time between arrivals of the mix.
    pub mean_interarrival: Time,
}

/// A profile as a member of a mix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// The profile of the member.
    pub profile: &'static Profile,
    /// The mean time between arrivals of the member, before scaling to the rate of the mix.
    pub mean_interarrival: Time,
}

impl Member {
    pub(super) fn of(profile: &'static Profile) -> Member {
        Member { profile, mean_interarrival: profile.mean_interarrival.value }
    }

    fn rate(&self) -> f64 {
        1.0 / self.mean_interarrival.as_ps() as f64
    }
}

impl Mix {
    /// Returns the mean time between arrivals of all members together, before scaling to the rate of the mix.
    pub fn natural_interarrival(&self) -> Time {
        let rate: f64 = self.members.iter().map(Member::rate).sum();
        Time::from_ps((1.0 / rate + 0.5) as u64)
    }

    /// Returns the factor by which the members' times between arrivals are multiplied to meet the rate of the mix.
    pub fn time_factor(&self) -> f64 {
        self.mean_interarrival.as_ps() as f64 / self.natural_interarrival().as_ps() as f64
    }

    /// Returns the mean time between arrivals of `member` within the mix.
    pub fn interarrival_of(&self, member: &Member) -> Time {
        Time::from_ps((member.mean_interarrival.as_ps() as f64 * self.time_factor() + 0.5) as u64)
    }

    /// Returns the share of the requests that belong to `member`, from 0 to 1.
    pub fn share_of(&self, member: &Member) -> f64 {
        self.natural_interarrival().as_ps() as f64 * member.rate()
    }

    /// Returns the share of reads among the requests of all members, from 0 to 1.
    pub fn read_share(&self) -> f64 {
        self.members.iter().map(|member| self.share_of(member) * member.profile.read_share()).sum()
    }

    /// Returns the mean size of the requests of all members, in bytes.
    pub fn mean_request_bytes(&self) -> f64 {
        self.members.iter().map(|member| self.share_of(member) * member.profile.mean_request_bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(name: &str) -> &'static Mix {
        super::super::mixes().iter().find(|mix| mix.name == name).unwrap()
    }

    #[test]
    fn rates_add_up_and_one_factor_meets_the_published_one() {
        // src2_1 every 50 us and proj_3 every 19 us make one arrival every 13.77 us; the mix has one every 5.8 us.
        let mix = mix("mix1");
        assert_eq!(mix.natural_interarrival(), Time::from_ps(13_768_116));
        assert!((mix.time_factor() - 5.8 / 13.768_116).abs() < 1e-6);
        let rate: f64 = mix.members.iter().map(|member| 1.0 / mix.interarrival_of(member).as_ps() as f64).sum();
        assert!((1.0 / rate / 5.8e6 - 1.0).abs() < 1e-6);
        assert!((mix.share_of(&mix.members[1]) - 50.0 / 69.0).abs() < 1e-6);
    }

    #[test]
    fn shares_of_members_add_up() {
        for mix in super::super::mixes() {
            let total: f64 = mix.members.iter().map(|member| mix.share_of(member)).sum();
            assert!((total - 1.0).abs() < 1e-5, "{}: {total}", mix.name);
            assert!((2..=3).contains(&mix.members.len()), "{}", mix.name);
        }
    }

    #[test]
    fn members_keep_nearly_their_own_rates_but_in_mixes_whose_members_the_paper_decides() {
        for mix in super::super::mixes() {
            let keeps = (mix.time_factor() - 1.0).abs() < 0.02;
            assert_eq!(
                keeps,
                !["mix1", "mix3", "mix6"].contains(&mix.name.as_str()),
                "{}: {}",
                mix.name,
                mix.time_factor()
            );
        }
    }

    #[test]
    fn mix6_arrives_90_percent_below_its_members() {
        // Section 6.2 of the Venice paper states 90 %. Its Table 3 states one arrival of mix6 every 3 us, but the members are not legible there.
        let below = |mix: &Mix| {
            let own: u64 = mix.members.iter().map(|member| member.mean_interarrival.as_ps()).sum();
            1.0 - mix.mean_interarrival.as_ps() as f64 * mix.members.len() as f64 / own as f64
        };
        assert_eq!(mix("mix6").mean_interarrival, Time::from_us(3));
        assert!((below(mix("mix6")) - 0.901).abs() < 0.001);
        // The members of mix6 must be the pair or triple of the paper's workloads whose rates need the least scaling, among those with
        // `below` within 0.25 percentage points of 90 %.
        let names: Vec<&str> = super::super::all().iter().map(|profile| profile.name.as_str()).collect();
        let all: Vec<&str> = names.into_iter().filter(|name| !name.contains('/')).collect();
        let pairs = all.iter().flat_map(|one| all.iter().map(move |other| vec![*one, *other]));
        let triples = pairs.clone().flat_map(|pair| all.iter().map(move |third| [pair.clone(), vec![*third]].concat()));
        let sets = pairs.chain(triples).filter(|set| set.is_sorted_by(|one, other| one < other));
        let least = sets
            .map(|set| Mix {
                mean_interarrival: mix("mix6").mean_interarrival,
                ..super::super::mix_parser::parse_mix(&set.join(" + ")).unwrap()
            })
            .filter(|mix| (below(mix) - 0.9).abs() < 0.0025)
            .min_by(|one, other| one.time_factor().ln().abs().total_cmp(&other.time_factor().ln().abs()))
            .unwrap();
        let members = |mix: &Mix| {
            let mut names: Vec<String> = mix.members.iter().map(|member| member.profile.name.clone()).collect();
            names.sort();
            names
        };
        assert_eq!(members(&least), members(mix("mix6")));
    }
}
