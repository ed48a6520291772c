//! Bottleneck of a run, as one line of text.

use crate::fabric::layout::Link;
use crate::fabric::{HoldTimes, Layout};
use crate::measure::latencies::breakdown::BreakdownSummary;
use crate::measure::report::Utilisation;
use crate::{names, quantities};

/// Busy share of time from which a part of the drive counts as saturated. The busiest saturated part is the bottleneck.
const SATURATED: f64 = 0.9;

/// Minimum share of time for which bytes must move over a saturated link of a packet network, for the link to count as the bottleneck. If bytes move
/// for less time, the packets that hold the link mostly wait for another link.
const MOVING: f64 = 0.5;

/// Share of the mean latency, spent waiting for other requests, above which a run is bound by waiting, and otherwise by latency. Applies only without
/// an open replay and without a saturated part.
const WAITING: f64 = 0.5;

/// Maximum share of an open replay during which the queue of the drive may be full, for the drive to count as keeping up with the arrivals.
const OVERDUE: f64 = 0.1;

/// Shares of time of two parts of the device cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct CacheShares {
    /// Share of time for which the DRAM was busy; `None` without a device cache.
    pub dram: Option<f64>,
    /// Share of time for which at least one written page waited for the throttle; 0 without a throttle.
    pub throttle: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArrivalMode {
    /// Open replay, with the share of the run during which the queue of the drive was full.
    Open {
        overdue_share: f64,
    },
    OnCompletion,
}

names! {
    /// The part of a drive, or the load, that limits the throughput of a run.
    Resource {
        /// The link between host and drive, in its busier direction.
        HostLink = "host-link",
        /// The adapter in the host (SATA).
        Adapter = "adapter",
        /// The links of the fabric.
        Links = "links",
        /// The flash controllers.
        Controllers = "controllers",
        /// The cores of the controller (`[firmware]`).
        Firmware = "firmware",
        /// The DRAM of the device cache.
        Dram = "dram",
        /// The throttle of the device cache, which delays writes while dies collect (`cache.throttle-interval`).
        Throttle = "throttle",
        /// The dies, working for requests.
        Dies = "dies",
        /// The dies, working mostly for GC.
        GarbageCollection = "garbage-collection",
        /// No part: the drive keeps up with the arrivals.
        Arrivals = "arrivals",
        /// No part. No part is always busy, but requests spend most of their latency behind others: more requests would wait longer.
        Waiting = "waiting",
        /// No part. Too few requests are in flight to fill the drive, and throughput is limited by the latency of each.
        Latency = "latency",
    }
}

quantities! {
    /// Bottleneck of the measured window, or of the whole run without such a window.
    Bound as "Bound" {
        /// The part of the drive, or the load, that limits throughput.
        resource: Resource;
        /// Busy share of `resource`; of the busiest part if arrivals, waiting or latency limit the run. For a link of a packet network over
        /// which bytes do not always move, the share of time for which packets hold it. For a link that operations hold (`hold-path`), the
        /// share of time for which operations hold it.
        share: f64, in "share";
        /// Sentence with the bottleneck and its busy share.
        sentence: String;
    }
}

fn busiest(shares: &[f64]) -> (usize, f64) {
    shares.iter().copied().enumerate().fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best })
}

/// Returns the index of the link over which bytes move for the largest share of time, among the links that packets hold for at least [`SATURATED`] of
/// the time. `None` if this share is below [`MOVING`]. The held time alone does not find the bottleneck: packets that wait for a link also hold the
/// links they have already reached.
fn congested(moving: &[f64], held: &[f64]) -> Option<usize> {
    let saturated = held.iter().enumerate().filter(|(link, share)| **share >= SATURATED && moving[*link] >= MOVING);
    saturated.map(|(link, _)| link).max_by(|left, right| moving[*left].total_cmp(&moving[*right]))
}

/// Returns for each part of the mean latency: the mean time in picoseconds, a description, and whether requests spend the time waiting for
/// other requests.
fn parts(mean: &BreakdownSummary) -> [(f64, &'static str, bool); 9] {
    [
        (mean.host, "in the host queue and on the link", true),
        (mean.firmware, "waiting for the firmware or in it", false),
        (mean.cache, "in the device cache", false),
        (mean.map_wait, "waiting for the map", true),
        (mean.die_wait, "waiting for dies busy with other requests", true),
        (mean.behind_gc, "behind garbage collection", true),
        (mean.path_wait, "waiting for a path", true),
        (mean.array, "in the flash array", false),
        (mean.transfer, "moving data to or from the chips", false),
    ]
}

fn largest_part(mean: &BreakdownSummary) -> String {
    let parts = parts(mean);
    let total: f64 = parts.iter().map(|(part, ..)| part).sum();
    let (part, name) =
        parts.into_iter().fold((0.0, ""), |best, (part, name, _)| if part > best.0 { (part, name) } else { best });
    if total == 0.0 { String::new() } else { format!(", {:.0} % of it {name}", part / total * 100.0) }
}

/// Returns the share of the mean latency that requests spend waiting for other requests. If the host link is `busiest`, the host time counts as work,
/// because it does not distinguish waiting for the link from crossing it.
fn waiting_share(mean: &BreakdownSummary, busiest: Resource) -> f64 {
    let total: f64 = parts(mean).iter().map(|(part, ..)| part).sum();
    let waiting: f64 = parts(mean).iter().filter(|(_, _, waits)| *waits).map(|(part, ..)| part).sum();
    let unclear = if busiest == Resource::HostLink { mean.host } else { 0.0 };
    if total == 0.0 { 0.0 } else { (waiting - unclear) / total }
}

struct Candidate {
    resource: Resource,
    share: f64,
    /// Name of the resource in the sentence of [`Bound`], such as `channel 3`.
    name: String,
}

impl Bound {
    /// Returns the bottleneck of a run, or of a window, from the utilisation, the mean latency by parts, and the way in which requests arrive.
    ///
    /// `at_work` has the share of the makespan for which each die worked, excluding time in which its data waited for a path. If the dies of a chip
    /// take turns, the entries are chips; `unit` is the word for an entry. `held` has the share of time for which each link was held, whether or not
    /// bytes moved. `mean` is `None` if no request completed.
    pub fn find(
        utilisation: &Utilisation,
        (unit, at_work): (&str, &[f64]),
        cache: CacheShares,
        (layout, held): (&Layout, &HoldTimes<f64>),
        mean: Option<&BreakdownSummary>,
        load: ArrivalMode,
    ) -> Bound {
        let host_link = utilisation.link_to_drive.max(utilisation.link_to_host);
        // With `fabric.hold-path`, operations hold links also while no bytes move. A link then counts as busy for as long as an operation holds it.
        let by_operations = !held.by_operations().is_empty();
        let (link, link_share) = busiest(if by_operations { held.by_operations() } else { &utilisation.links });
        let (controller, controller_share) = busiest(&utilisation.controllers);
        let (die, die_share) = busiest(at_work);
        let part = |resource, share, name| Candidate { resource, share, name };
        let parts = [
            part(Resource::HostLink, host_link, "the host link".to_owned()),
            part(Resource::Adapter, utilisation.adapter.unwrap_or(0.0), "the SATA adapter".to_owned()),
            part(Resource::Links, link_share, layout.links.get(link).map_or(String::new(), |link| link.name.clone())),
            part(Resource::Controllers, controller_share, format!("controller {controller}")),
            part(Resource::Dies, die_share, format!("{unit} {die}")),
            part(Resource::Firmware, utilisation.firmware.unwrap_or(0.0), "the firmware".to_owned()),
            part(Resource::Dram, cache.dram.unwrap_or(0.0), "the DRAM of the cache".to_owned()),
            part(Resource::Throttle, cache.throttle, "the throttle of the cache".to_owned()),
        ];
        let nothing = part(Resource::HostLink, 0.0, "the host link".to_owned());
        // A controller and its link have the same busy share. On a tie the first of `parts` is the bottleneck, so the sentence names the
        // link.
        let most = parts.into_iter().fold(nothing, |best, next| if next.share > best.share { next } else { best });
        if most.share < SATURATED {
            if let Some(link) = congested(&utilisation.links, held.by_packets()) {
                return Bound::from_held_link("packets", link, held.by_packets()[link], utilisation, layout);
            }
            return Bound::from_load(most, mean, load);
        }
        if by_operations && most.resource == Resource::Links {
            return Bound::from_held_link("operations", link, link_share, utilisation, layout);
        }
        let (dies, collection) = (percent(utilisation.dies_mean), percent(utilisation.dies_gc_mean));
        let Candidate { resource, share, name } = most;
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
            Resource::Firmware => {
                format!("bound by the cores of the firmware, {busy} busy, the dies {dies} on average")
            }
            Resource::Throttle => format!(
                "bound by the throttle of the cache (cache.throttle-interval): it delays writes {busy} of the time, the dies are {dies} busy on average, {collection} with garbage collection"
            ),
            Resource::Dram => format!("bound by the DRAM of the cache, {busy} busy, the dies {dies} on average"),
            _ => {
                let to_host = utilisation.link_to_host >= utilisation.link_to_drive;
                let direction = if to_host { "drive to host" } else { "host to drive" };
                format!("bound by the host link, {direction}: {busy} busy")
            }
        };
        let mostly_collection = resource == Resource::Dies && utilisation.dies_gc_mean > utilisation.dies_mean / 2.0;
        Bound { resource: if mostly_collection { Resource::GarbageCollection } else { resource }, share, sentence }
    }

    fn from_held_link(holders: &str, link: usize, held: f64, utilisation: &Utilisation, layout: &Layout) -> Bound {
        let Link { kind, name } = &layout.links[link];
        let (kind, moving, dies) = (kind.plural(), percent(utilisation.links[link]), percent(utilisation.dies_mean));
        let held_text = percent(held);
        let sentence = format!(
            "bound by the {kind}: {holders} hold {name} {held_text} of the time, and move over it {moving} of the time, the dies are {dies} busy"
        );
        Bound { resource: Resource::Links, share: held, sentence }
    }

    /// Returns the bound of a run without a saturated part: arrivals, waiting or latency. `most` is the busiest part, which is the bound if the drive
    /// falls behind the arrivals. `mean` is `None` if no request completed.
    fn from_load(most: Candidate, mean: Option<&BreakdownSummary>, load: ArrivalMode) -> Bound {
        let Candidate { resource, share, name } = most;
        let busy = format!("{name} is the busiest part, at {}", percent(share));
        let (resource, sentence) = match load {
            ArrivalMode::Open { overdue_share } if overdue_share <= OVERDUE => {
                (Resource::Arrivals, format!("bound by the arrivals: the drive keeps up, {busy}"))
            }
            ArrivalMode::Open { overdue_share } => {
                let full = percent(overdue_share);
                (resource, format!("the drive falls behind the arrivals, its queue is full {full} of the time: {busy}"))
            }
            ArrivalMode::OnCompletion if mean.is_some_and(|mean| waiting_share(mean, resource) > WAITING) => {
                let largest = mean.map_or(String::new(), largest_part);
                let waited = "requests wait for each other though no part is always busy: latency";
                (Resource::Waiting, format!("{waited} rises with the load{largest}; {busy}"))
            }
            ArrivalMode::OnCompletion => {
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
    use crate::fabric::layout::LinkKind;

    /// Returns the utilisation of a drive of two channels. Their controllers are busy exactly when they are.
    fn utilisation(link: f64, channels: [f64; 2], die: f64, gc: f64) -> Utilisation {
        let channels_mean = (channels[0] + channels[1]) / 2.0;
        Utilisation {
            link_to_drive: 0.0,
            link_to_host: link,
            adapter: None,
            firmware: None,
            links: channels.to_vec(),
            controllers: channels.to_vec(),
            dies: vec![die; 4],
            links_mean: channels_mean,
            controllers_mean: channels_mean,
            dies_mean: die,
            dies_gc_mean: gc,
        }
    }

    fn find(utilisation: &Utilisation, mean: Option<&BreakdownSummary>, load: ArrivalMode) -> Bound {
        let link = |number| Link { kind: LinkKind::Channel, name: format!("channel {number}") };
        let layout = Layout { links: (0..2).map(link).collect(), wires: 16, controllers: 2, routers: 0 };
        let (dies, cache) = (("die", &utilisation.dies[..]), CacheShares::default());
        Bound::find(utilisation, dies, cache, (&layout, &HoldTimes::TransfersOnly), mean, load)
    }

    /// Returns the bottleneck of a run in which no stream uses open replay, for given hold times of the links.
    fn find_held(utilisation: &Utilisation, layout: &Layout, held: &HoldTimes<f64>) -> Bound {
        let (dies, cache) = (("die", &utilisation.dies[..]), CacheShares::default());
        Bound::find(utilisation, dies, cache, (layout, held), None, ArrivalMode::OnCompletion)
    }

    #[test]
    fn a_sata_adapter_that_is_always_busy_bounds_the_run() {
        let busy = Utilisation { adapter: Some(0.99), ..utilisation(0.3, [0.2, 0.2], 0.5, 0.0) };
        let bound = find(&busy, None, ArrivalMode::OnCompletion);
        assert_eq!(bound.sentence, "bound by the SATA adapter of the host, 99 % busy, the dies 50 % on average");
        assert_eq!(bound.resource, Resource::Adapter);
    }

    #[test]
    fn cores_of_the_firmware_that_are_always_busy_bound_the_run() {
        let busy = Utilisation { firmware: Some(0.95), ..utilisation(0.3, [0.2, 0.2], 0.5, 0.0) };
        let bound = find(&busy, None, ArrivalMode::OnCompletion);
        assert_eq!(bound.sentence, "bound by the cores of the firmware, 95 % busy, the dies 50 % on average");
        assert_eq!(bound.resource, Resource::Firmware);
    }

    #[test]
    fn a_cache_whose_dram_is_always_busy_or_whose_throttle_always_delays_bounds_the_run() {
        let layout = Layout { links: Vec::new(), wires: 0, controllers: 2, routers: 0 };
        let utilisation = utilisation(0.3, [0.2, 0.2], 0.5, 0.0);
        let found = |dram, throttle| {
            Bound::find(
                &utilisation,
                ("die", &utilisation.dies),
                CacheShares { dram: Some(dram), throttle },
                (&layout, &HoldTimes::TransfersOnly),
                None,
                ArrivalMode::OnCompletion,
            )
        };
        assert_eq!(found(0.97, 0.0).sentence, "bound by the DRAM of the cache, 97 % busy, the dies 50 % on average");
        assert_eq!(found(0.97, 0.0).resource, Resource::Dram);
        let throttled = found(0.6, 0.98);
        assert_eq!(throttled.resource, Resource::Throttle);
        assert!(throttled.sentence.contains("delays writes 98 % of the time"), "{}", throttled.sentence);
        assert_eq!(found(0.6, 0.0).sentence, "bound by latency: the DRAM of the cache is the busiest part, at 60 %");
    }

    #[test]
    fn the_busiest_saturated_resource_bounds_the_run() {
        let resource = |u: Utilisation| find(&u, None, ArrivalMode::OnCompletion).resource;
        assert_eq!(resource(utilisation(0.99, [0.5, 0.5], 0.5, 0.0)), Resource::HostLink);
        assert_eq!(resource(utilisation(0.5, [0.2, 0.95], 0.5, 0.0)), Resource::Links);
        assert_eq!(resource(utilisation(0.5, [0.5, 0.5], 0.95, 0.0)), Resource::Dies);
        assert_eq!(resource(utilisation(0.5, [0.5, 0.5], 0.95, 0.7)), Resource::GarbageCollection);
    }

    #[test]
    fn garbage_collection_is_mentioned_where_there_was_any() {
        let sentence = |gc| find(&utilisation(0.5, [0.5, 0.5], 0.95, gc), None, ArrivalMode::OnCompletion).sentence;
        assert_eq!(sentence(0.0), "bound by the dies: die 0 works 95 % of the time, all of them 95 % on average");
        assert_eq!(
            sentence(0.1),
            "bound by the dies: die 0 works 95 % of the time, all of them 95 % on average, 10 % with garbage collection"
        );
    }

    #[test]
    fn a_run_that_saturates_nothing_is_bound_by_its_load() {
        assert_eq!(
            find(&utilisation(0.3, [0.5, 0.5], 0.6, 0.0), None, ArrivalMode::Open { overdue_share: 0.0 }).resource,
            Resource::Arrivals
        );
        assert_eq!(
            find(&utilisation(0.3, [0.5, 0.5], 0.6, 0.0), None, ArrivalMode::OnCompletion).resource,
            Resource::Latency
        );
    }

    #[test]
    fn a_drive_whose_queue_is_full_does_not_keep_up_though_nothing_is_saturated() {
        let bound = find(&utilisation(0.8, [0.5, 0.5], 0.6, 0.0), None, ArrivalMode::Open { overdue_share: 0.97 });
        assert_eq!(bound.resource, Resource::HostLink);
        assert_eq!(
            bound.sentence,
            "the drive falls behind the arrivals, its queue is full 97 % of the time: the host link is the busiest part, at 80 %"
        );
    }

    #[test]
    fn a_run_bound_by_latency_or_by_waiting_says_where_most_of_it_goes() {
        let mean = |host, behind_gc, array| BreakdownSummary {
            count: 1,
            host,
            firmware: 0.0,
            cache: 0.0,
            map_wait: 0.0,
            die_wait: 1.0,
            behind_gc,
            path_wait: 0.0,
            array,
            transfer: 0.0,
        };
        let found = |link, mean| find(&utilisation(link, [0.5, 0.5], 0.6, 0.0), Some(&mean), ArrivalMode::OnCompletion);
        let bound = found(0.3, mean(1.0, 2.0, 6.0));
        assert_eq!(
            bound.sentence,
            "bound by latency, 60 % of it in the flash array: die 0 is the busiest part, at 60 %"
        );
        assert_eq!(bound.resource, Resource::Latency);
        let bound = found(0.3, mean(1.0, 7.0, 1.0));
        assert_eq!(
            bound.sentence,
            "requests wait for each other though no part is always busy: latency rises with the load, 70 % of it behind garbage collection; die 0 is the busiest part, at 60 %"
        );
        assert_eq!(bound.resource, Resource::Waiting);
        // If the host link is the busiest resource, host time may be transfer time instead of queueing.
        let [queued, carried] = [0.3, 0.8].map(|link| found(link, mean(8.0, 0.0, 1.0)).resource);
        assert_eq!((queued, carried), (Resource::Waiting, Resource::Latency));
    }

    #[test]
    fn controllers_that_are_busier_than_their_links_bound_the_run() {
        let mut busy = utilisation(0.5, [0.2, 0.3], 0.5, 0.0);
        busy.controllers = vec![0.96, 0.92];
        busy.controllers_mean = 0.94;
        let bound = find(&busy, None, ArrivalMode::OnCompletion);
        assert_eq!(bound.resource, Resource::Controllers);
        assert_eq!(
            bound.sentence,
            "bound by the controllers: controller 0 is 96 % busy, all of them 94 % on average, the dies 50 %"
        );
    }

    #[test]
    fn a_link_that_waiting_packets_hold_bounds_the_run_though_bytes_move_over_it_less() {
        let link = |number| Link { kind: LinkKind::Mesh, name: format!("link {number}") };
        let layout = Layout { links: (0..2).map(link).collect(), wires: 16, controllers: 2, routers: 2 };
        let found = |links: [f64; 2], held: &[f64]| {
            let busy = Utilisation { controllers: vec![0.1; 2], ..utilisation(0.3, links, 0.2, 0.0) };
            let held = HoldTimes::PacketHolds(held.to_vec());
            find_held(&busy, &layout, &held)
        };
        // Packets hold link 0 while they wait for link 1, so link 0 is held longer but link 1 is the bottleneck.
        let bound = found([0.6, 0.8], &[0.99, 0.97]);
        assert_eq!((bound.resource, bound.share), (Resource::Links, 0.97));
        assert_eq!(
            bound.sentence,
            "bound by the mesh links: packets hold link 1 97 % of the time, and move over it 80 % of the time, the dies are 20 % busy"
        );
        assert_eq!(
            found([0.6, 0.8], &[0.99, 0.85]).sentence.split(':').nth(1),
            Some(" packets hold link 0 99 % of the time, and move over it 60 % of the time, the dies are 20 % busy")
        );
        assert_eq!(found([0.3, 0.8], &[0.99, 0.85]).resource, Resource::Latency);
        assert_eq!(found([0.6, 0.8], &[]).resource, Resource::Latency);
    }

    #[test]
    fn a_link_that_operations_hold_bounds_the_run_however_little_moves_over_it() {
        let link = |number| Link { kind: LinkKind::Channel, name: format!("channel {number}") };
        let layout = Layout { links: (0..2).map(link).collect(), wires: 16, controllers: 2, routers: 0 };
        let found = |held: [f64; 2], to_host: f64| {
            let busy = utilisation(to_host, [0.04, 0.03], 0.2, 0.0);
            let held = HoldTimes::OperationHolds(held.to_vec());
            find_held(&busy, &layout, &held)
        };
        let bound = found([0.93, 0.97], 0.3);
        assert_eq!((bound.resource, bound.share), (Resource::Links, 0.97));
        assert_eq!(
            bound.sentence,
            "bound by the channels: operations hold channel 1 97 % of the time, and move over it 3 % of the time, the dies are 20 % busy"
        );
        assert_eq!(found([0.93, 0.97], 0.99).resource, Resource::HostLink);
        assert_eq!(found([0.5, 0.6], 0.3).sentence, "bound by latency: channel 1 is the busiest part, at 60 %");
    }

    #[test]
    fn the_sentence_names_the_hot_channel() {
        let bound = find(&utilisation(0.5, [0.25, 0.95], 0.5, 0.0), None, ArrivalMode::OnCompletion);
        assert_eq!(
            bound.sentence,
            "bound by the channels: channel 1 is 95 % busy, all of them 60 % on average, the dies 50 %"
        );
    }
}
