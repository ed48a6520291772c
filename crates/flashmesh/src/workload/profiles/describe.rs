//! A profile as a person reads it.

use std::fmt::Write;

use super::Profile;

impl Profile {
    /// What was published and what is assumed, in lines for a terminal.
    pub fn describe(&self) -> String {
        let Profile { name, suite, source, published, assumed } = self;
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
        let mut text = format!("{name} ({suite})\n");
        section(
            &mut text,
            &format!("published: {source}"),
            &[
                ("reads", format!("{} %", published.read_percent)),
                ("mean request size", format!("{} kB", published.mean_request_kb)),
                ("mean inter-arrival", published.mean_interarrival.to_string()),
            ],
        );
        section(
            &mut text,
            "assumed",
            &[
                ("unit", "kB is 1024 B".to_owned()),
                ("sizes", format!("geometric over multiples of {}, at most {}", assumed.granule, assumed.size_max)),
                ("reads and writes", "the same sizes and places for both (nothing separate is published)".to_owned()),
                ("alignment", assumed.granule.to_string()),
                ("footprint", assumed.footprint.to_string()),
                ("popularity", format!("Zipf of skew {}, scattered over the footprint", assumed.zipf_theta)),
                ("sequentiality", runs),
                ("arrivals", arrivals),
                ("basis", assumed.basis.clone()),
            ],
        );
        text
    }
}

fn section(text: &mut String, title: &str, lines: &[(&str, String)]) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  {title}");
    for (what, value) in lines {
        let _ = writeln!(text, "    {what:<20}{value}");
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_description_shows_every_figure_and_tells_published_from_assumed() {
        let text = super::super::find("hm_0").unwrap().describe();
        let (published, assumed) = text.split_once("  assumed\n").unwrap();
        for figure in ["hm_0 (MSR Cambridge)", "Venice (ISCA 2023), Table 2", "36 %", "8.8 kB", "58us"] {
            assert!(published.contains(figure), "{figure} is missing in {published}");
        }
        for figure in ["1024 B", "geometric", "16GiB", "skew 0.9", "bursts of 4", "no sequential runs", "rsrch_1"] {
            assert!(assumed.contains(figure), "{figure} is missing in {assumed}");
        }
    }
}
