//! Descriptions of profiles and mixes for users.

use std::fmt::Write;

use super::{Mix, Origin, Profile, Repetition, SizeFigures};
use crate::config::{ArrivalKind, BurstKinds, MixPlacement, Workload};
use crate::units::Time;

impl Profile {
    /// Returns the share of reads, the request sizes and the mean time between arrivals in one line for users.
    pub fn summary(&self) -> String {
        let (reads, sizes) = (self.read_percent.value, self.sizes.value);
        format!("{reads} % reads; {sizes}; every {}", rounded(self.mean_interarrival.value))
    }

    /// Returns the published figures, the figures from elsewhere and the assumptions, as lines for a terminal.
    pub fn describe(&self) -> String {
        let Profile { name, suite, paper, other_sources: elsewhere, assumptions: assumed, .. } = self;
        let figures = [
            (self.read_percent.origin, "reads", format!("{} %", self.read_percent.value)),
            (self.sizes.origin, "request size", self.sizes.value.to_string()),
            (self.mean_interarrival.origin, "mean inter-arrival", rounded(self.mean_interarrival.value).to_string()),
        ];
        let of = |wanted: Origin| -> Vec<(&str, String)> {
            figures
                .iter()
                .filter(|(origin, ..)| *origin == wanted)
                .map(|(_, what, value)| (*what, value.clone()))
                .collect()
        };
        let mut text = format!("{name} ({suite})\n");
        let mut published = of(Origin::Published);
        if let Some(Repetition { mean, .. }) = self.recurrence {
            published.push(("repetition", format!("a pair of pages collides {mean} times on average")));
        }
        if published.is_empty() {
            published.push(("its name", "no figure of its requests".to_owned()));
        }
        section(&mut text, &format!("published: {}", paper.source), &published);
        let mut others = of(Origin::Elsewhere);
        if !others.is_empty() {
            others.push(("basis", elsewhere.clone()));
            section(&mut text, "from elsewhere", &others);
        }
        let runs = if assumed.run_requests > 1.0 {
            format!("runs of {} requests on average, geometric", assumed.run_requests)
        } else {
            "no sequential runs".to_owned()
        };
        let arrivals = if assumed.burst_requests > 1 {
            format!("bursts of {} requests at exponential distances", assumed.burst_requests)
        } else {
            "exponential (Poisson arrivals)".to_owned()
        };
        let popularity = if assumed.zipf_theta > 0.0 {
            format!("Zipf of skew {}, scattered over the footprint", assumed.zipf_theta)
        } else {
            "all places alike".to_owned()
        };
        let mut lines = vec![("unit", "kB is 1024 B".to_owned())];
        lines.extend(self.assumed_sizes().map(|sizes| ("sizes", sizes)));
        let alike = if matches!(self.sizes.value, SizeFigures::MeansByKind { .. }) {
            "the same places for both"
        } else {
            "the same sizes and places for both (nothing separate is published)"
        };
        lines.extend(self.recurrence.map(|own| ("recurrence", own.to_string())));
        lines.extend([
            ("reads and writes", alike.to_owned()),
            ("alignment", assumed.alignment.to_string()),
            ("footprint", assumed.footprint.to_string()),
            ("popularity", popularity),
            ("sequentiality", runs),
            ("arrivals", arrivals),
            ("basis", assumed.basis.clone()),
        ]);
        section(&mut text, "assumed", &lines);
        text
    }

    /// Returns the assumptions about the distribution of sizes; `None` if the figures determine it.
    fn assumed_sizes(&self) -> Option<String> {
        let assumed = &self.assumptions;
        let geometric = format!("geometric over multiples of {}, at most {}", assumed.granule, assumed.size_max);
        match self.sizes.value {
            SizeFigures::Mean { .. } | SizeFigures::MeansByKind { .. } => Some(geometric),
            SizeFigures::MeanAndMode { mode_kb, .. } => {
                let percent = assumed.mode_share * 100.0;
                Some(format!("{percent} % of requests have {mode_kb} kB, the others are {geometric}"))
            }
            SizeFigures::Range { smallest_kb, largest_kb } => {
                (smallest_kb < largest_kb).then(|| format!("all multiples of {} in the range alike", assumed.granule))
            }
        }
    }
}

impl Mix {
    /// Returns the names of the members and the mean time between arrivals in one line for users.
    pub fn summary(&self) -> String {
        format!("{}; every {}", self.member_names(), rounded(self.mean_interarrival))
    }

    /// Returns the published figures and the assumptions, as lines for a terminal.
    pub fn describe(&self) -> String {
        let mut text = format!("{} ({})\n", self.name, self.member_names());
        let mut lines: Vec<(&str, String)> = Vec::new();
        let (every, alone) = (self.mean_interarrival.to_string(), rounded(self.natural_interarrival()));
        if let Some(paper) = self.paper {
            let mut published = vec![("mean inter-arrival", every)];
            if self.members_basis.is_none() {
                published.push(("members", self.member_names()));
            }
            section(&mut text, &format!("published: {}", paper.source), &published);
            lines.extend(self.members_basis.clone().map(|basis| ("members", basis)));
            let factor = self.time_factor();
            let factor = format!("times of all members x{factor:.3}: alone they would arrive every {alone}");
            lines.push(("arrivals", factor));
        } else {
            lines.push(("arrivals", format!("rates of members add up to one request every {alone}")));
        }
        lines.extend([
            ("places", "a part of the drive for each member, one after the other".to_owned()),
            ("start", "all members at once".to_owned()),
        ]);
        lines.extend(self.members.iter().enumerate().map(|(index, member)| {
            let (gap, footprint) = (rounded(self.interarrival_of(member)), member.profile.assumptions.footprint);
            let percent = self.share_of(member) * 100.0;
            let stream = format!("stream {index}: every {gap}, {percent:.0} % of all requests, on {footprint}");
            (member.profile.name.as_str(), stream)
        }));
        section(&mut text, "assumed", &lines);
        let _ = writeln!(text, "  flashmesh profiles NAME describes each member");
        text
    }

    fn member_names(&self) -> String {
        self.members.iter().map(|member| member.profile.name.as_str()).collect::<Vec<_>>().join(" + ")
    }
}

/// Returns the settings of `workload` that override settings of the profile, as lines for a terminal; empty if no setting does.
pub(crate) fn settings(workload: &Workload) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    match (workload.arrivals, workload.burst_length) {
        (Some(ArrivalKind::Burst), Some(length)) => {
            lines.push(("arrivals", format!("bursts of {length} requests at exponential distances")));
        }
        (Some(arrivals), _) => lines.push(("arrivals", arrivals.to_string())),
        (None, _) => {}
    }
    lines.extend(workload.interarrival.map(|every| ("mean inter-arrival", every.to_string())));
    lines.extend(workload.alignment.map(|alignment| ("alignment", alignment.to_string())));
    if workload.unaligned_share > 0.0 {
        lines.push(("unaligned", format!("{:.0} % of requests begin at any sector", 100.0 * workload.unaligned_share)));
    }
    lines.extend(workload.pair_repetition.map(|mean| {
        let says = if mean > 1.0 {
            format!("a pair of pages collides {mean} times on average")
        } else {
            "no burst comes again".to_owned()
        };
        ("repetition", says)
    }));
    if workload.burst_kinds == BurstKinds::Alike {
        lines.push(("reads and writes", "bursts of one kind".to_owned()));
    }
    if workload.mix_placement == MixPlacement::Shared {
        lines.push(("places", "all members on one part of the drive".to_owned()));
    }
    let mut text = String::new();
    if !lines.is_empty() {
        section(&mut text, "set by the configuration", &lines);
    }
    text
}

/// Rounds a derived time to four digits for readability. No source states more digits.
fn rounded(time: Time) -> Time {
    let unit = 10_u64.pow(time.as_ps().max(1).ilog10().saturating_sub(3));
    Time::from_ps((time.as_ps() + unit / 2) / unit * unit)
}

fn section(text: &mut String, title: &str, lines: &[(&str, String)]) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "  {title}");
    for (what, value) in lines {
        let _ = writeln!(text, "    {what:<20}{value}");
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;

    /// Returns the description of the profile or mix `name`, split at the titles of its sections.
    fn sections(name: &str) -> Vec<String> {
        let text = find(name).unwrap().describe();
        text.replace("\n  from elsewhere\n", "\n#\n")
            .replace("\n  assumed\n", "\n#\n")
            .split("\n#\n")
            .map(str::to_owned)
            .collect()
    }

    fn assert_shows(section: &str, wanted: &[&str]) {
        for figure in wanted {
            assert!(section.contains(figure), "{figure} is missing in {section}");
        }
    }

    #[test]
    fn a_description_shows_every_figure_and_tells_published_from_assumed() {
        let sections = sections("hm_0");
        assert_eq!(sections.len(), 2);
        assert_shows(&sections[0], &["hm_0 (MSR Cambridge)", "Venice (ISCA 2023), Table 2", "36 %", "8.8 kB", "58us"]);
        let assumed = ["1024 B", "geometric", "16GiB", "skew 0.9", "bursts of 4", "no sequential runs", "rsrch_1"];
        assert_shows(&sections[1], &assumed);
    }

    #[test]
    fn what_a_paper_leaves_out_is_shown_apart_with_its_source() {
        let web2 = sections("collisions/WEB2");
        assert_shows(&web2[0], &["99.25 %"]);
        assert_shows(&web2[1], &["reads 53.65 kB on average, writes 21.09 kB", "116.9ms", "SNIA IOTTA 388"]);
        let ts0 = sections("collisions/TS0");
        assert_shows(&ts0[0], &["no figure of its requests"]);
        assert_shows(&ts0[1], &["17.58 %"]);
    }

    #[test]
    fn a_size_that_leaves_nothing_open_has_no_assumed_sizes() {
        let rr8 = sections("collisions/RR8");
        assert_shows(&rr8[0], &["4 kB each"]);
        assert!(!rr8[2].contains("geometric"), "{}", rr8[2]);
        assert_shows(&sections("nossd14/tpcc")[1], &["96 % of requests have 8 kB, the others are geometric"]);
    }

    #[test]
    fn a_mix_shows_its_members_and_how_their_times_are_scaled() {
        let sections = sections("mix1");
        assert_shows(&sections[0], &["src2_1 + proj_3", "Table 3", "5.8us", "members"]);
        assert_shows(&sections[1], &["x0.421", "13.77us", "stream 0: every 21.06us, 28 % of all requests, on 16GiB"]);
        assert!(!sections[1].contains("members  "), "{}", sections[1]);
        assert_shows(&self::sections("mix2")[1], &["not legible in the text"]);
    }

    #[test]
    fn a_summary_is_one_line() {
        assert_eq!(find("hm_0").unwrap().summary(), "36 % reads; 8.8 kB on average; every 58us");
        assert_eq!(find("mix3").unwrap().summary(), "prxy_0 + rsrch_0; every 93us");
    }
}
