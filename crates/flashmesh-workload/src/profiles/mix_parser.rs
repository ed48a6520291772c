//! Mixes composed in a configuration: `profile = "src2_1 + 2*proj_3 + hm_0@50us"`.

use super::names::{NamedWorkload, find_named};
use super::{Member, Mix};
use crate::error::WorkloadError;
use crate::units::Time;

/// The operators of a mix. No name of a profile contains them.
const MARKS: [char; 3] = ['+', '*', '@'];

const MEMBERS_MAX: usize = 64;

/// The largest mean time between arrivals of a member.
const INTERARRIVAL_MAX: Time = Time::from_ms(1_000_000);

/// Returns whether `text` composes a mix of members and operators. Otherwise it is the name of a profile or of a published mix.
pub(super) fn is_mix(text: &str) -> bool {
    text.contains(MARKS)
}

/// Parses a mix: members with `+` between them.
///
/// A member is the name of a profile, with its published arrival rate. `2*NAME` doubles that rate, `NAME@50us` replaces it by one request every 50
/// us on average. The rate of the mix is the sum of the rates of its members.
///
/// # Errors
/// If a member is no profile, or its rate is invalid.
pub(super) fn parse_mix(text: &str) -> Result<Mix, WorkloadError> {
    let parts: Vec<&str> = text.split('+').map(str::trim).collect();
    if parts.len() > MEMBERS_MAX {
        return Err(unusable(format!("a mix has at most {MEMBERS_MAX} members, \"{text}\" has {}", parts.len())));
    }
    let members = parts.iter().map(|part| member(part, text)).collect::<Result<Vec<_>, _>>()?;
    let mut mix =
        Mix { name: parts.join(" + "), paper: None, members, members_basis: None, mean_interarrival: Time::ZERO };
    mix.mean_interarrival = mix.natural_interarrival();
    Ok(mix)
}

fn member(part: &str, text: &str) -> Result<Member, WorkloadError> {
    if part.is_empty() {
        return Err(unusable(format!("a member is missing in \"{text}\": a mix is written hm_0 + 2*proj_3")));
    }
    let (factor, rest) = match part.split_once('*') {
        Some((factor, rest)) => (Some(factor.trim()), rest.trim()),
        None => (None, part),
    };
    let (name, every) = match rest.split_once('@') {
        Some((name, every)) => (name.trim(), Some(every.trim())),
        None => (rest, None),
    };
    let NamedWorkload::Profile(profile) = find_named(name)? else {
        return Err(unusable(format!("{name} is a mix itself and cannot be a member of one: name its members")));
    };
    let published = Member::of(profile);
    let mean_interarrival = match (factor, every) {
        (Some(_), Some(_)) => {
            return Err(unusable(format!("\"{part}\" has a factor and a time between arrivals: leave one away")));
        }
        (Some(factor), None) => {
            let wrong =
                || unusable(format!("the factor \"{factor}\" of {name} is not a number from 0.000001 to 1000000"));
            let factor: f64 = factor.parse().map_err(|_| wrong())?;
            if !(1e-6..=1e6).contains(&factor) {
                return Err(wrong());
            }
            Time::from_ps((published.mean_interarrival.as_ps() as f64 / factor + 0.5) as u64)
        }
        (None, Some(every)) => {
            every.parse().map_err(|error| unusable(format!("the time between arrivals of {name}: {error}")))?
        }
        (None, None) => published.mean_interarrival,
    };
    if mean_interarrival == Time::ZERO || (mean_interarrival > INTERARRIVAL_MAX && every.is_some()) {
        return Err(unusable(format!(
            "{name} cannot arrive every {mean_interarrival}: a member of a mix has a time between arrivals above 0s and at most {INTERARRIVAL_MAX}"
        )));
    }
    Ok(Member { profile, mean_interarrival })
}

fn unusable(message: String) -> WorkloadError {
    WorkloadError::Unusable(format!("workload.profile: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_us(text: &str) -> Vec<f64> {
        let members = parse_mix(text).unwrap().members;
        members.iter().map(|member| member.mean_interarrival.as_ps() as f64 / 1e6).collect()
    }

    #[test]
    fn members_arrive_at_their_published_rate_a_multiple_of_it_or_a_given_one() {
        // Venice, Table 2: src2_1 every 50 us, proj_3 every 19 us.
        assert_eq!(every_us("src2_1 + proj_3"), [50.0, 19.0]);
        assert_eq!(every_us("2*src2_1+ 0.5 * proj_3 + venice/hm_0@7.5us"), [25.0, 38.0, 7.5]);
        assert_eq!(every_us("hm_0@3us"), [3.0]);
    }

    #[test]
    fn the_rates_of_members_add_up() {
        let mix = parse_mix("src2_1 + proj_3@50us").unwrap();
        assert_eq!(mix.mean_interarrival, Time::from_us(25));
        assert_eq!(mix.name, "src2_1 + proj_3@50us");
        assert!((mix.read_share() - (0.98 + 0.95) / 2.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_mix_is_refused_with_what_is_wrong_in_it() {
        for (text, said) in [
            ("hm_0 + ", "a member is missing in \"hm_0 + \""),
            ("hm_0 + hm0", "did you mean \"hm_0\""),
            ("hm_0 + mix1", "mix1 is a mix itself"),
            ("x*hm_0", "the factor \"x\" of hm_0 is not a number"),
            ("0*hm_0", "the factor \"0\" of hm_0 is not a number"),
            ("hm_0@5", "the time between arrivals of hm_0: `5` has no unit"),
            ("hm_0@0s", "hm_0 cannot arrive every 0"),
            ("2*hm_0@5us", "leave one away"),
        ] {
            let message = parse_mix(text).unwrap_err().to_string();
            assert!(message.starts_with("workload.profile: ") && message.contains(said), "{text}: {message}");
        }
        assert!(parse_mix(&["hm_0"; 65].join("+")).unwrap_err().to_string().contains("at most 64 members"));
    }
}
