//! Lower bound on the time of a run: the longest time that any part of the drive needs for its share of the work.
//!
//! The work is the work of the run, including GC, on its interconnect. No order of this work takes less time than the bound. The distance of a run
//! from the bound shows what scheduling, mapping and routing could still gain. Other work (less GC, pages on other dies) is not considered.
//!
//! - *Dies*: a die works for one operation at a time, and is busy until its data has left; with a cache register, data leaves while the array works.
//!   Dies of a chip that take turns count as one die. Of planes that read independently, the one with the most reads counts. A transfer counts with
//!   its minimum time: over the shortest path, without contention.
//! - *Chips*, *rows*, *mesh links*, *controllers*: the links that an interconnect shares (see [`SharedResource`]). Links that share their traffic
//!   count with their mean time. A link that operations hold (`fabric.hold-path`) counts for as long as it is held. Under fixed routing each link
//!   between routers counts alone. Circuits choose their routes, and reach the chips of a row over all links that lead to the row.
//! - *Link to the drive*, *link to the host*: queue entries and data, one after the other in each direction.
//! - *Adapter*: the SATA adapter of the host, in its busier direction.
//! - *Firmware*: the work of the controller's cores (`[firmware]`), divided evenly.
//! - *DRAM*: the accesses of the device cache, one after the other.
//! - *Arrivals*: the arrival of the last request, in an open replay.

use crate::fabric::layout::TransferDestination;
use crate::fabric::{LinkUsage, SharedResource};
use crate::units::Time;
use crate::{names, quantities};

names! {
    /// A part of the drive whose time for the work of a run is a lower bound.
    Limit {
        /// The busiest die.
        Dies = "dies",
        /// The pins of the busiest chip.
        Chips = "chips",
        /// The channel, or all links, of the busiest row.
        Rows = "rows",
        /// The busiest link between routers.
        MeshLinks = "mesh-links",
        /// The controllers, with all transfers divided evenly.
        Controllers = "controllers",
        /// The host link, in the direction to the drive.
        LinkToDrive = "link-to-drive",
        /// The host link, in the direction to the host.
        LinkToHost = "link-to-host",
        /// The SATA adapter in the host.
        Adapter = "adapter",
        /// The cores of the controller, with all work divided evenly.
        Firmware = "firmware",
        /// The DRAM of the device cache.
        Dram = "dram",
        /// The arrivals of the requests.
        Arrivals = "arrivals",
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct DieWork {
    pub array: Time,
    /// Array time that `array` counts twice: a suspended operation works on until its next suspension point (`flash.suspend-interval`), and the
    /// waiting read counts this time as well.
    pub overlapped: Time,
    /// Minimum time of the commands to the die, with the data that they carry.
    pub commands: Time,
    /// Minimum time of the transfers of read data out of the die.
    pub data: Time,
}

#[derive(Clone, Copy, Debug)]
pub struct RunWork<'a> {
    /// Work of each die. If the dies of a chip take turns, work of each chip.
    pub dies: &'a [DieWork],
    pub read_cache: bool,
    pub shared_resources: &'a [SharedResource],
    pub usage: &'a [LinkUsage],
    /// Time for which operations held each link; empty without `fabric.hold-path`.
    pub held: &'a [Time],
    pub link_to_drive: Time,
    pub link_to_host: Time,
    pub adapter: Option<Time>,
    /// Busy time of the controller's cores, averaged over the cores; `None` if the firmware takes no time.
    pub firmware: Option<Time>,
    pub dram: Option<Time>,
    /// Arrival of the last request of all open replays; `None` if no stream is an open replay.
    pub last_arrival: Option<Time>,
    pub end: Time,
    /// Whether the run ended while work was in progress. Work counts in full when it starts, so some of it may be unfinished.
    pub interrupted: bool,
}

quantities! {
    /// Minimum time that the work of the run takes, GC included, in any order of the work.
    LowerBound as "LowerBound" {
        /// Lower bound: the maximum of the times of all parts.
        makespan_ps: u64, in "ps";
        /// Part with the maximum time.
        limit: Limit;
        /// Time of the run over `lower_bound.makespan_ps`, minus 1.
        distance: Option<f64>, in "share", null "when there was nothing to do";
        /// Time of the busiest die: its operations and transfers, one after the other. With `read-cache` its data leaves during other work. A chip
        /// whose dies take turns (`die-interleaving`) counts as one die.
        dies_ps: u64, in "ps";
        /// Time of the pins of the busiest chip.
        chips_ps: Option<u64>, in "ps", null "where they are no link of their own";
        /// Time of the channel of the busiest row; with `hold-path`, the time for which operations hold it. For Venice, the time of the circuits to
        /// the row's chips, divided over all links that lead to the row.
        rows_ps: Option<u64>, in "ps", null "where a row shares none";
        /// Time of the busiest link between routers.
        mesh_links_ps: Option<u64>, in "ps", null "where there are none, or transfers choose among them";
        /// Time of the controllers, with all transfers divided evenly.
        controllers_ps: Option<u64>, in "ps", null "where nothing limits them";
        /// Time of all transfers over the host link in the direction to the drive.
        link_to_drive_ps: u64, in "ps";
        /// Time of all transfers over the host link in the direction to the host.
        link_to_host_ps: u64, in "ps";
        /// Time of the SATA adapter in the host, in its busier direction.
        adapter_ps: Option<u64>, in "ps", null "but for `sata`";
        /// Time of the controller's cores, with all work divided evenly.
        firmware_ps: Option<u64>, in "ps", null "where nothing takes them time (`[firmware]`)";
        /// Time of the DRAM of the device cache.
        dram_ps: Option<u64>, in "ps", null "where the cache is turned off";
        /// Arrival of the last request.
        arrivals_ps: Option<u64>, in "ps", null "where all streams issue requests as others complete";
    }
}

impl DieWork {
    pub fn and(self, other: DieWork) -> DieWork {
        DieWork {
            array: self.array + other.array,
            overlapped: self.overlapped + other.overlapped,
            commands: self.commands + other.commands,
            data: self.data + other.data,
        }
    }

    /// Returns the work that the die did since an earlier time, at which its total work was `earlier`.
    pub fn since(self, earlier: DieWork) -> DieWork {
        DieWork {
            array: self.array.saturating_sub(earlier.array),
            overlapped: self.overlapped.saturating_sub(earlier.overlapped),
            commands: self.commands.saturating_sub(earlier.commands),
            data: self.data.saturating_sub(earlier.data),
        }
    }

    /// Returns the minimum busy time of the die. With a cache register (`read_cache`), transfers of read data overlap other work.
    pub fn min_busy_time(&self, read_cache: bool) -> Time {
        let commanded = self.array.saturating_sub(self.overlapped) + self.commands;
        if read_cache { commanded.later(self.data) } else { commanded + self.data }
    }
}

impl RunWork<'_> {
    fn longest(&self, part: TransferDestination) -> Option<Time> {
        let taken = |link: usize| self.held.get(link).copied().unwrap_or_else(|| self.usage[link].busy_until(self.end));
        let carried =
            |resource: &SharedResource| -> Time { resource.links.iter().map(|link| taken(link.index())).sum() };
        let shared_resources = self.shared_resources.iter().filter(|resource| resource.part == part);
        shared_resources
            .map(|resource| Time::from_ps(carried(resource).as_ps() / u64::from(resource.at_once.max(1))))
            .max()
    }

    pub fn lower_bound(&self) -> LowerBound {
        let dies = self.dies.iter().map(|die| die.min_busy_time(self.read_cache)).max().unwrap_or_default();
        let [chips, rows, mesh_links, controllers] = [
            TransferDestination::Chip,
            TransferDestination::Row,
            TransferDestination::Mesh,
            TransferDestination::Controllers,
        ]
        .map(|part| self.longest(part));
        let limits = [
            (Limit::Dies, Some(dies)),
            (Limit::Chips, chips),
            (Limit::Rows, rows),
            (Limit::MeshLinks, mesh_links),
            (Limit::Controllers, controllers),
            (Limit::LinkToDrive, Some(self.link_to_drive)),
            (Limit::LinkToHost, Some(self.link_to_host)),
            (Limit::Adapter, self.adapter),
            (Limit::Firmware, self.firmware),
            (Limit::Dram, self.dram),
            (Limit::Arrivals, self.last_arrival),
        ];
        let until_end = |time: Time| if self.interrupted { time.min(self.end) } else { time };
        let limits = limits.map(|(limit, time)| (limit, time.map(until_end)));
        let known = limits.into_iter().filter_map(|(limit, time)| time.map(|time| (limit, time)));
        let (limit, bound) =
            known.fold((Limit::Dies, Time::ZERO), |best, next| if next.1 > best.1 { next } else { best });
        let ps = |time: Option<Time>| time.map(Time::as_ps);
        LowerBound {
            makespan_ps: bound.as_ps(),
            limit,
            distance: (bound > Time::ZERO).then(|| self.end.as_secs_f64() / bound.as_secs_f64() - 1.0),
            dies_ps: until_end(dies).as_ps(),
            chips_ps: ps(chips.map(until_end)),
            rows_ps: ps(rows.map(until_end)),
            mesh_links_ps: ps(mesh_links.map(until_end)),
            controllers_ps: ps(controllers.map(until_end)),
            link_to_drive_ps: until_end(self.link_to_drive).as_ps(),
            link_to_host_ps: until_end(self.link_to_host).as_ps(),
            adapter_ps: ps(self.adapter.map(until_end)),
            firmware_ps: ps(self.firmware.map(until_end)),
            dram_ps: ps(self.dram.map(until_end)),
            arrivals_ps: ps(self.last_arrival.map(until_end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::LinkId;

    const US: fn(u64) -> Time = Time::from_us;

    fn work<'a>(dies: &'a [DieWork], shared_resources: &'a [SharedResource], usage: &'a [LinkUsage]) -> RunWork<'a> {
        RunWork {
            dies,
            read_cache: false,
            shared_resources,
            usage,
            held: &[],
            link_to_drive: US(3),
            link_to_host: US(2),
            adapter: None,
            firmware: None,
            dram: None,
            last_arrival: None,
            end: US(40),
            interrupted: false,
        }
    }

    fn resource(part: TransferDestination, links: &[u32]) -> SharedResource {
        SharedResource { part, links: links.iter().copied().map(LinkId).collect(), at_once: links.len() as u32 }
    }

    #[test]
    fn a_die_needs_its_operations_and_transfers_one_after_the_other_unless_it_has_a_cache_register() {
        let dies = [DieWork { array: US(9), commands: US(1), data: US(20), ..DieWork::default() }, DieWork::default()];
        let mut work = work(&dies, &[], &[]);
        let bound = work.lower_bound();
        assert_eq!((bound.limit, bound.makespan_ps), (Limit::Dies, US(30).as_ps()));
        let distance = bound.distance.expect("the run had work");
        assert!((distance - 1.0 / 3.0).abs() < 1e-12, "{distance}");
        work.read_cache = true;
        assert_eq!(work.lower_bound().makespan_ps, US(20).as_ps());
    }

    #[test]
    fn links_of_a_row_count_each_and_those_of_the_controllers_together() {
        let usage = [10, 30, 20].map(|us| LinkUsage { busy: US(us), ..LinkUsage::default() });
        let rows = [
            resource(TransferDestination::Row, &[0]),
            resource(TransferDestination::Row, &[1]),
            resource(TransferDestination::Row, &[2]),
        ];
        let bound = work(&[], &rows, &usage).lower_bound();
        assert_eq!((bound.limit, bound.rows_ps, bound.controllers_ps), (Limit::Rows, Some(US(30).as_ps()), None));
        let controllers = [resource(TransferDestination::Controllers, &[0, 1, 2])];
        let bound = work(&[], &controllers, &usage).lower_bound();
        assert_eq!((bound.limit, bound.makespan_ps, bound.rows_ps), (Limit::Controllers, US(20).as_ps(), None));
    }

    #[test]
    fn a_link_counts_for_as_long_as_operations_hold_it() {
        let usage = [10, 30].map(|us| LinkUsage { busy: US(us), ..LinkUsage::default() });
        let rows = [
            resource(TransferDestination::Row, &[0]),
            resource(TransferDestination::Row, &[1]),
            resource(TransferDestination::Controllers, &[0, 1]),
        ];
        let bound = RunWork { held: &[US(36), US(32)], ..work(&[], &rows, &usage) }.lower_bound();
        assert_eq!((bound.limit, bound.rows_ps), (Limit::Rows, Some(US(36).as_ps())));
        assert_eq!(bound.controllers_ps, Some(US(34).as_ps()));
    }

    #[test]
    fn each_link_between_routers_counts_by_itself_where_routing_leaves_no_choice() {
        let usage = [10, 35, 20].map(|us| LinkUsage { busy: US(us), ..LinkUsage::default() });
        let links = [
            resource(TransferDestination::Mesh, &[0]),
            resource(TransferDestination::Mesh, &[1]),
            resource(TransferDestination::Controllers, &[2]),
        ];
        let bound = work(&[], &links, &usage).lower_bound();
        assert_eq!((bound.limit, bound.mesh_links_ps), (Limit::MeshLinks, Some(US(35).as_ps())));
    }

    #[test]
    fn a_drive_is_bound_by_its_adapter_its_dram_or_the_last_arrival_when_these_take_longer() {
        let mut work = work(&[], &[], &[]);
        assert_eq!(work.lower_bound().limit, Limit::LinkToDrive);
        work.adapter = Some(US(37));
        assert_eq!(work.lower_bound().limit, Limit::Adapter);
        work.dram = Some(US(38));
        let bound = work.lower_bound();
        assert_eq!((bound.limit, bound.dram_ps), (Limit::Dram, Some(US(38).as_ps())));
        work.last_arrival = Some(US(39));
        let bound = work.lower_bound();
        assert_eq!((bound.limit, bound.arrivals_ps), (Limit::Arrivals, Some(US(39).as_ps())));
    }

    #[test]
    fn nothing_to_do_has_no_distance() {
        let idle = RunWork { link_to_drive: Time::ZERO, link_to_host: Time::ZERO, ..work(&[], &[], &[]) };
        assert_eq!(idle.lower_bound().distance, None);
    }
}
