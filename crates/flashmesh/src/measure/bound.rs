//! What bounds a run, in one line.

use serde::Serialize;

use super::breakdown::BreakdownSummary;
use super::report::Utilisation;

/// A resource busier than this share of the run is what bounds it.
const SATURATED: f64 = 0.9;

/// Open replay: a drive whose queue is full for more than this share of the run does not keep up with the arrivals.
const OVERDUE: f64 = 0.1;

/// How requests come to the drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// At times of their own; the queue of the drive was full for this share of the run.
    Open {
        /// Share of the makespan.
        overdue_share: f64,
    },
    /// As earlier ones complete.
    OnCompletion,
}

/// What bounds a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// The link to the host, in its busier direction.
    HostLink,
    /// The paths to the chips.
    Channels,
    /// The dies, working for requests.
    Dies,
    /// The dies, and mostly garbage collection.
    GarbageCollection,
    /// Nothing: the drive keeps up with the arrivals.
    Arrivals,
    /// Nothing: the requests in flight are too few to fill the drive, each waits for its own latency.
    Latency,
}

/// What bounds a run, how busy that is, and a sentence that says so.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// The resource.
    pub resource: Resource,
    /// Its share of the makespan, 0 to 1.
    pub share: f64,
    /// One line for a person.
    pub sentence: String,
}

fn busiest(shares: &[f64]) -> (usize, f64) {
    shares.iter().copied().enumerate().fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best })
}

/// The largest part of the mean latency, as an aside.
fn largest_part(mean: &BreakdownSummary) -> String {
    let parts = [
        (mean.host, "in the host queue and on the link"),
        (mean.die_wait, "waiting for dies busy with other requests"),
        (mean.behind_gc, "behind garbage collection"),
        (mean.path_wait, "waiting for a path"),
        (mean.array, "in the flash array"),
        (mean.transfer, "moving data to or from the chips"),
    ];
    let total: f64 = parts.iter().map(|(part, _)| part).sum();
    let (part, name) = parts.into_iter().fold((0.0, ""), |best, next| if next.0 > best.0 { next } else { best });
    if total == 0.0 { String::new() } else { format!(", {:.0} % of it {name}", part / total * 100.0) }
}

impl Bound {
    /// Names what bounds a run with this utilisation, mean breakdown and load.
    pub fn find(utilisation: &Utilisation, mean: Option<&BreakdownSummary>, load: Load) -> Bound {
        let link = utilisation.link_to_drive.max(utilisation.link_to_host);
        let direction =
            if utilisation.link_to_host >= utilisation.link_to_drive { "to the host" } else { "to the drive" };
        let (channel, channel_share) = busiest(&utilisation.channels);
        let (die, die_share) = busiest(&utilisation.dies);
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let (resource, share) =
            [(Resource::HostLink, link), (Resource::Channels, channel_share), (Resource::Dies, die_share)]
                .into_iter()
                .fold((Resource::HostLink, 0.0), |best, next| if next.1 > best.1 { next } else { best });
        if share < SATURATED {
            let busy = match resource {
                Resource::HostLink => format!("the host link is the busiest part, at {}", percent(share)),
                Resource::Channels => format!("channel {channel} is the busiest part, at {}", percent(share)),
                _ => format!("die {die} is the busiest part, at {}", percent(share)),
            };
            return match load {
                Load::Open { overdue_share } if overdue_share <= OVERDUE => {
                    let sentence = format!("bound by the arrivals: the drive keeps up, {busy}");
                    Bound { resource: Resource::Arrivals, share, sentence }
                }
                Load::Open { overdue_share } => {
                    let full = percent(overdue_share);
                    let sentence =
                        format!("the drive falls behind the arrivals, its queue is full {full} of the time: {busy}");
                    Bound { resource, share, sentence }
                }
                Load::OnCompletion => {
                    let sentence = format!("bound by latency{}: {busy}", mean.map_or(String::new(), largest_part));
                    Bound { resource: Resource::Latency, share, sentence }
                }
            };
        }
        let sentence = match resource {
            Resource::HostLink => format!("bound by the host link {direction}, {} busy", percent(link)),
            Resource::Channels => format!(
                "bound by the channels: channel {channel} is {} busy, all of them {} on average, the dies {}",
                percent(channel_share),
                percent(utilisation.channels_mean),
                percent(utilisation.dies_mean)
            ),
            _ => format!(
                "bound by the dies: die {die} is {} busy, all of them {} on average, {} with garbage collection",
                percent(die_share),
                percent(utilisation.dies_mean),
                percent(utilisation.dies_gc_mean)
            ),
        };
        let collection = resource == Resource::Dies && utilisation.dies_gc_mean > utilisation.dies_mean / 2.0;
        Bound { resource: if collection { Resource::GarbageCollection } else { resource }, share, sentence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utilisation(link: f64, channels: [f64; 2], die: f64, gc: f64) -> Utilisation {
        Utilisation {
            link_to_drive: 0.0,
            link_to_host: link,
            channels: channels.to_vec(),
            dies: vec![die; 4],
            channels_mean: (channels[0] + channels[1]) / 2.0,
            dies_mean: die,
            dies_gc_mean: gc,
        }
    }

    #[test]
    fn the_busiest_saturated_resource_bounds_the_run() {
        let resource = |u: Utilisation| Bound::find(&u, None, Load::OnCompletion).resource;
        assert_eq!(resource(utilisation(0.99, [0.5, 0.5], 0.5, 0.0)), Resource::HostLink);
        assert_eq!(resource(utilisation(0.5, [0.2, 0.95], 0.5, 0.0)), Resource::Channels);
        assert_eq!(resource(utilisation(0.5, [0.5, 0.5], 0.95, 0.0)), Resource::Dies);
        assert_eq!(resource(utilisation(0.5, [0.5, 0.5], 0.95, 0.7)), Resource::GarbageCollection);
    }

    #[test]
    fn a_run_that_saturates_nothing_is_bound_by_its_load() {
        assert_eq!(
            Bound::find(&utilisation(0.3, [0.5, 0.5], 0.6, 0.0), None, Load::Open { overdue_share: 0.0 }).resource,
            Resource::Arrivals
        );
        assert_eq!(
            Bound::find(&utilisation(0.3, [0.5, 0.5], 0.6, 0.0), None, Load::OnCompletion).resource,
            Resource::Latency
        );
    }

    #[test]
    fn a_drive_whose_queue_is_full_does_not_keep_up_though_nothing_is_saturated() {
        let bound = Bound::find(&utilisation(0.8, [0.5, 0.5], 0.6, 0.0), None, Load::Open { overdue_share: 0.97 });
        assert_eq!(bound.resource, Resource::HostLink);
        assert_eq!(
            bound.sentence,
            "the drive falls behind the arrivals, its queue is full 97 % of the time: the host link is the busiest part, at 80 %"
        );
    }

    #[test]
    fn a_run_bound_by_latency_says_where_most_of_it_goes() {
        let mean = BreakdownSummary {
            count: 1,
            host: 1.0,
            die_wait: 1.0,
            behind_gc: 7.0,
            path_wait: 0.0,
            array: 1.0,
            transfer: 0.0,
        };
        let bound = Bound::find(&utilisation(0.3, [0.5, 0.5], 0.6, 0.0), Some(&mean), Load::OnCompletion);
        assert_eq!(
            bound.sentence,
            "bound by latency, 70 % of it behind garbage collection: die 0 is the busiest part, at 60 %"
        );
    }

    #[test]
    fn the_sentence_names_the_hot_channel() {
        let bound = Bound::find(&utilisation(0.5, [0.25, 0.95], 0.5, 0.0), None, Load::OnCompletion);
        assert_eq!(
            bound.sentence,
            "bound by the channels: channel 1 is 95 % busy, all of them 60 % on average, the dies 50 %"
        );
    }
}
