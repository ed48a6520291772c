//! What bounds a run, in one line.

use super::breakdown::BreakdownSummary;
use super::report::Utilisation;
use crate::fabric::Layout;
use crate::{names, quantities};

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

names! {
    /// What bounds a run.
    Resource {
        /// The link between host and drive, in its busier direction.
        HostLink = "host-link",
        /// The adapter in the host (SATA).
        Adapter = "adapter",
        /// The links of the fabric.
        Links = "links",
        /// The flash controllers.
        Controllers = "controllers",
        /// The DRAM of the device cache.
        Dram = "dram",
        /// The dies, working for requests.
        Dies = "dies",
        /// The dies, working mostly for garbage collection.
        GarbageCollection = "garbage-collection",
        /// No part: the drive keeps up with the arrivals.
        Arrivals = "arrivals",
        /// No part: too few requests are in flight to fill the drive, and each waits for its own latency.
        Latency = "latency",
    }
}

quantities! {
    /// What bounds the run.
    Bound as "Bound" {
        /// The resource that bounds the run.
        resource: Resource;
        /// Busy share of that resource; of the busiest part where the run is bound by arrivals or latency.
        share: f64, in "share";
        /// A sentence that says so.
        sentence: String;
    }
}

fn busiest(shares: &[f64]) -> (usize, f64) {
    shares.iter().copied().enumerate().fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best })
}

/// The largest part of the mean latency, as an aside.
fn largest_part(mean: &BreakdownSummary) -> String {
    let parts = [
        (mean.host, "in the host queue and on the link"),
        (mean.cache, "in the device cache"),
        (mean.map_wait, "waiting for the map"),
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

/// A part of the drive that may bound a run.
struct Part {
    resource: Resource,
    /// Its share of the makespan.
    share: f64,
    /// What a person calls it: `channel 3`.
    name: String,
}

impl Bound {
    /// Names what bounds a run with this utilisation of the parts of `layout`, mean breakdown and load.
    ///
    /// `at_work` is the share of the makespan in which each `unit` worked, a die or a chip whose dies take turns: one that holds
    /// data which waits for a path is busy, but bounds nothing. `dram` is the busy share of the DRAM, where there is a device cache.
    pub fn find(
        utilisation: &Utilisation,
        (unit, at_work): (&str, &[f64]),
        dram: Option<f64>,
        layout: &Layout,
        mean: Option<&BreakdownSummary>,
        load: Load,
    ) -> Bound {
        let host_link = utilisation.link_to_drive.max(utilisation.link_to_host);
        let (link, link_share) = busiest(&utilisation.links);
        let (controller, controller_share) = busiest(&utilisation.controllers);
        let (die, die_share) = busiest(at_work);
        let part = |resource, share, name| Part { resource, share, name };
        let parts = [
            part(Resource::HostLink, host_link, "the host link".to_owned()),
            part(Resource::Adapter, utilisation.adapter.unwrap_or(0.0), "the SATA adapter".to_owned()),
            part(Resource::Links, link_share, layout.links.get(link).map_or(String::new(), |link| link.name.clone())),
            part(Resource::Controllers, controller_share, format!("controller {controller}")),
            part(Resource::Dies, die_share, format!("{unit} {die}")),
            part(Resource::Dram, dram.unwrap_or(0.0), "the DRAM of the cache".to_owned()),
        ];
        let nothing = part(Resource::HostLink, 0.0, "the host link".to_owned());
        // A controller is busy while its link is: of those as busy as each other the first one is named.
        let most = parts.into_iter().fold(nothing, |best, next| if next.share > best.share { next } else { best });
        if most.share < SATURATED {
            return Bound::of_the_load(most, mean, load);
        }
        let (dies, collection) = (percent(utilisation.dies_mean), percent(utilisation.dies_gc_mean));
        let Part { resource, share, name } = most;
        let busy = percent(share);
        let sentence = match resource {
            Resource::Links => {
                let kind = layout.links[link].kind;
                let alike = utilisation.links.iter().zip(&layout.links).filter(|(_, other)| other.kind == kind);
                let mean = alike.map(|(share, _)| share).sum::<f64>() / layout.count(kind) as f64;
                let kind = kind.plural();
                format!(
                    "bound by the {kind}: {name} is {busy} busy, all of them {} on average, the dies {dies}",
                    percent(mean)
                )
            }
            Resource::Controllers => {
                let mean = percent(utilisation.controllers_mean);
                format!(
                    "bound by the controllers: {name} is {busy} busy, all of them {mean} on average, the dies {dies}"
                )
            }
            Resource::Dies => {
                let working = percent(at_work.iter().sum::<f64>() / at_work.len() as f64);
                let bound =
                    format!("bound by the dies: {name} works {busy} of the time, all of them {working} on average");
                if utilisation.dies_gc_mean > 0.0 {
                    format!("{bound}, {collection} with garbage collection")
                } else {
                    bound
                }
            }
            Resource::Adapter => {
                format!("bound by the SATA adapter of the host, {busy} busy, the dies {dies} on average")
            }
            Resource::Dram => format!("bound by the DRAM of the cache, {busy} busy, the dies {dies} on average"),
            _ => {
                let to_host = utilisation.link_to_host >= utilisation.link_to_drive;
                format!("bound by the host link to the {}, {busy} busy", if to_host { "host" } else { "drive" })
            }
        };
        let mostly_collection = resource == Resource::Dies && utilisation.dies_gc_mean > utilisation.dies_mean / 2.0;
        Bound { resource: if mostly_collection { Resource::GarbageCollection } else { resource }, share, sentence }
    }

    /// Nothing is saturated: the load decides, and `most` is the busiest part.
    fn of_the_load(most: Part, mean: Option<&BreakdownSummary>, load: Load) -> Bound {
        let Part { resource, share, name } = most;
        let busy = format!("{name} is the busiest part, at {}", percent(share));
        let (resource, sentence) = match load {
            Load::Open { overdue_share } if overdue_share <= OVERDUE => {
                (Resource::Arrivals, format!("bound by the arrivals: the drive keeps up, {busy}"))
            }
            Load::Open { overdue_share } => {
                let full = percent(overdue_share);
                (resource, format!("the drive falls behind the arrivals, its queue is full {full} of the time: {busy}"))
            }
            Load::OnCompletion => {
                (Resource::Latency, format!("bound by latency{}: {busy}", mean.map_or(String::new(), largest_part)))
            }
        };
        Bound { resource, share, sentence }
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::layout::{Link, LinkKind};

    /// Two channels, a controller each, whose link is its only work.
    fn utilisation(link: f64, channels: [f64; 2], die: f64, gc: f64) -> Utilisation {
        let channels_mean = (channels[0] + channels[1]) / 2.0;
        Utilisation {
            link_to_drive: 0.0,
            link_to_host: link,
            adapter: None,
            links: channels.to_vec(),
            controllers: channels.to_vec(),
            dies: vec![die; 4],
            links_mean: channels_mean,
            controllers_mean: channels_mean,
            dies_mean: die,
            dies_gc_mean: gc,
        }
    }

    fn find(utilisation: &Utilisation, mean: Option<&BreakdownSummary>, load: Load) -> Bound {
        let link = |number| Link { kind: LinkKind::Channel, name: format!("channel {number}") };
        let layout = Layout { links: (0..2).map(link).collect(), wires: 16, controllers: 2, routers: 0 };
        Bound::find(utilisation, ("die", &utilisation.dies), None, &layout, mean, load)
    }

    #[test]
    fn a_sata_adapter_that_is_always_busy_bounds_the_run() {
        let busy = Utilisation { adapter: Some(0.99), ..utilisation(0.3, [0.2, 0.2], 0.5, 0.0) };
        let bound = find(&busy, None, Load::OnCompletion);
        assert_eq!(bound.sentence, "bound by the SATA adapter of the host, 99 % busy, the dies 50 % on average");
        assert_eq!(bound.resource, Resource::Adapter);
    }

    #[test]
    fn a_cache_whose_dram_is_always_busy_bounds_the_run() {
        let layout = Layout { links: Vec::new(), wires: 0, controllers: 2, routers: 0 };
        let utilisation = utilisation(0.3, [0.2, 0.2], 0.5, 0.0);
        let found =
            |dram| Bound::find(&utilisation, ("die", &utilisation.dies), Some(dram), &layout, None, Load::OnCompletion);
        assert_eq!(found(0.97).sentence, "bound by the DRAM of the cache, 97 % busy, the dies 50 % on average");
        assert_eq!(found(0.97).resource, Resource::Dram);
        assert_eq!(found(0.6).sentence, "bound by latency: the DRAM of the cache is the busiest part, at 60 %");
    }

    #[test]
    fn the_busiest_saturated_resource_bounds_the_run() {
        let resource = |u: Utilisation| find(&u, None, Load::OnCompletion).resource;
        assert_eq!(resource(utilisation(0.99, [0.5, 0.5], 0.5, 0.0)), Resource::HostLink);
        assert_eq!(resource(utilisation(0.5, [0.2, 0.95], 0.5, 0.0)), Resource::Links);
        assert_eq!(resource(utilisation(0.5, [0.5, 0.5], 0.95, 0.0)), Resource::Dies);
        assert_eq!(resource(utilisation(0.5, [0.5, 0.5], 0.95, 0.7)), Resource::GarbageCollection);
    }

    #[test]
    fn garbage_collection_is_mentioned_where_there_was_any() {
        let sentence = |gc| find(&utilisation(0.5, [0.5, 0.5], 0.95, gc), None, Load::OnCompletion).sentence;
        assert_eq!(sentence(0.0), "bound by the dies: die 0 works 95 % of the time, all of them 95 % on average");
        assert_eq!(
            sentence(0.1),
            "bound by the dies: die 0 works 95 % of the time, all of them 95 % on average, 10 % with garbage collection"
        );
    }

    #[test]
    fn a_run_that_saturates_nothing_is_bound_by_its_load() {
        assert_eq!(
            find(&utilisation(0.3, [0.5, 0.5], 0.6, 0.0), None, Load::Open { overdue_share: 0.0 }).resource,
            Resource::Arrivals
        );
        assert_eq!(find(&utilisation(0.3, [0.5, 0.5], 0.6, 0.0), None, Load::OnCompletion).resource, Resource::Latency);
    }

    #[test]
    fn a_drive_whose_queue_is_full_does_not_keep_up_though_nothing_is_saturated() {
        let bound = find(&utilisation(0.8, [0.5, 0.5], 0.6, 0.0), None, Load::Open { overdue_share: 0.97 });
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
            cache: 0.0,
            map_wait: 0.0,
            die_wait: 1.0,
            behind_gc: 7.0,
            path_wait: 0.0,
            array: 1.0,
            transfer: 0.0,
        };
        let bound = find(&utilisation(0.3, [0.5, 0.5], 0.6, 0.0), Some(&mean), Load::OnCompletion);
        assert_eq!(
            bound.sentence,
            "bound by latency, 70 % of it behind garbage collection: die 0 is the busiest part, at 60 %"
        );
    }

    #[test]
    fn controllers_that_are_busier_than_their_links_bound_the_run() {
        let mut busy = utilisation(0.5, [0.2, 0.3], 0.5, 0.0);
        busy.controllers = vec![0.96, 0.92];
        busy.controllers_mean = 0.94;
        let bound = find(&busy, None, Load::OnCompletion);
        assert_eq!(bound.resource, Resource::Controllers);
        assert_eq!(
            bound.sentence,
            "bound by the controllers: controller 0 is 96 % busy, all of them 94 % on average, the dies 50 %"
        );
    }

    #[test]
    fn the_sentence_names_the_hot_channel() {
        let bound = find(&utilisation(0.5, [0.25, 0.95], 0.5, 0.0), None, Load::OnCompletion);
        assert_eq!(
            bound.sentence,
            "bound by the channels: channel 1 is 95 % busy, all of them 60 % on average, the dies 50 %"
        );
    }
}
