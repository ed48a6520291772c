//! The network of routers: scouts that reserve circuits link by link, and the reserved circuits.

use crate::config::Revisits;
use crate::fabric::venice::mesh::direction::{PackedCoord, PackedDestination};
use crate::fabric::venice::mesh::ports::{Port, PortSet};
use crate::fabric::venice::mesh::{Mesh, MeshCoord};
use crate::fabric::venice::routing::AnyRouting;
use crate::ids::{ChannelId, ChipId, LinkId};
use crate::units::Time;

use super::counters::Counters;
use super::router::{
    LARGE_TABLE_LEN, PaddedGrid, Router, RouterTable, RouterTableStorage, SMALL_TABLE_LEN, ScoutMarks,
};
use super::routing_table::RoutingTable;
use super::scout::{MarkedScout, Scout, ScoutPhase, StepContext, StepCounts};
use super::step_schedule::StepSchedule;
use super::tie_break::{Lfsr, LfsrTieBreak, TieBreakRule, TieBreaker};

/// Action of a scout at the router or controller where it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoutAction {
    /// The scout reserves a link and leaves over it.
    Forward,
    /// The scout backtracks to the previous router, or to the controller.
    Back,
    /// The scout reserves the chip pins. The circuit is complete, and the scout returns over its `hops` links.
    Reached {
        /// Number of links between the controller and the router of the chip, including the controller link.
        hops: u32,
    },
    /// The scout has returned to the controller without a path, and holds no links.
    Failed,
}

/// Calls a method that moves scouts, compiled for the size of the router table. Only the usual combination (uncounted visits, LFSR tie-break) is
/// specialised, because every instruction of a step matters there; the others use the method for tables of any size.
macro_rules! compiled {
    ($network:ident.$walk:ident($($argument:expr),*)) => {{
        if matches!($network.tie_break, TieBreaker::Lfsr) && !$network.counts_visits {
            let draw = &mut LfsrTieBreak;
            match $network.routers.len() {
                SMALL_TABLE_LEN => $network.$walk::<[Router; SMALL_TABLE_LEN], [ScoutMarks; SMALL_TABLE_LEN], _, false>(draw, $($argument),*),
                LARGE_TABLE_LEN => $network.$walk::<[Router; LARGE_TABLE_LEN], [ScoutMarks; LARGE_TABLE_LEN], _, false>(draw, $($argument),*),
                _ => $network.$walk::<[Router], [ScoutMarks], _, false>(draw, $($argument),*),
            }
        } else {
            let mut draw = std::mem::replace(&mut $network.tie_break, TieBreaker::Lfsr);
            let end = if $network.counts_visits {
                $network.$walk::<[Router], [ScoutMarks], _, true>(&mut draw, $($argument),*)
            } else {
                $network.$walk::<[Router], [ScoutMarks], _, false>(&mut draw, $($argument),*)
            };
            $network.tie_break = draw;
            end
        }
    }};
}

/// A mesh of routers with a controller left of each row, and the scouts and circuits in it. Each controller has at most one scout or circuit.
///
/// [`step`](CircuitNetwork::step) moves one scout by one link; the caller keeps the time of each scout. Between two steps, the scout is on a link. A
/// link is reserved, in both directions at once, when a scout leaves over it, and released when the scout has backtracked over it.
#[derive(Clone, Debug)]
pub struct CircuitNetwork {
    mesh: Mesh,
    frame: PaddedGrid,
    routers: Box<[Router]>,
    /// Links of each router, indexed by router and port; an invalid id where there is no link.
    links: Vec<[LinkId; 5]>,
    /// Destination of scouts to each chip, indexed by chip: the router of the chip.
    goals: Vec<PackedDestination>,
    /// Scout of each controller, with its marks at routers (ports used, visits), indexed by controller.
    packets: Vec<MarkedScout>,
    routing: AnyRouting,
    routes: RoutingTable,
    tie_break: TieBreaker,
    /// Whether routers count the visits of each scout ([`Revisits::ThreeTimes`]).
    counts_visits: bool,
    counters: Counters,
}

impl CircuitNetwork {
    /// Creates a network without scouts or circuits.
    pub fn new(mesh: Mesh, routing: AnyRouting, tie_break: TieBreaker, revisits: Revisits) -> CircuitNetwork {
        let frame = PaddedGrid::new(&mesh);
        let position = |number| PackedCoord::new(mesh.coord_of(ChipId(number)));
        let border = Router { busy: PortSet::MESH, lfsr: Lfsr::new(0), position: position(0) };
        let mut routers = vec![border; frame.table_len()];
        let mut links = vec![[LinkId(u32::MAX); 5]; frame.len()];
        for number in 0..mesh.routers() {
            let place = mesh.coord_of(ChipId(number));
            let ports = mesh.ports(place);
            let index = frame.index(place);
            let busy = PortSet::MESH.difference(ports);
            routers[index] = Router { busy, lfsr: Lfsr::new(number), position: position(number) };
            for port in Port::MESH.into_iter().filter(|port| ports.contains(*port)).chain([Port::Chip]) {
                links[index][port as usize] = mesh.link(place, port);
            }
        }
        let goals = (0..mesh.routers()).map(|number| position(number).destination()).collect();
        let packet = |row| {
            let entrance = mesh.entry_coord(ChannelId(row));
            MarkedScout::new(frame.index(entrance), PackedCoord::new(entrance), &frame)
        };
        let packets = (0..mesh.rows()).map(packet).collect();
        let (routes, counters) = (RoutingTable::new(routing), Counters::default());
        let (routers, counts_visits) = (routers.into(), revisits == Revisits::ThreeTimes);
        CircuitNetwork {
            mesh,
            frame,
            routers,
            links,
            goals,
            packets,
            routing,
            routes,
            tie_break,
            counts_visits,
            counters,
        }
    }

    /// Replaces the routing algorithm of scouts. Call before any scout is launched.
    pub(in super::super) fn set_routing(&mut self, routing: AnyRouting) {
        self.routes = RoutingTable::new(routing);
        self.routing = routing;
    }

    /// Returns the mesh, for coordinates and link numbers.
    pub const fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Returns the counters of all scouts since the start.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counts a path request whose first scout has failed.
    #[inline]
    pub(in super::super) fn count_first_failure(&mut self) {
        self.counters.failed_first += 1;
    }

    /// Returns whether `controller` has neither a scout in flight nor a circuit.
    #[inline]
    pub fn is_free(&self, controller: ChannelId) -> bool {
        self.packets[controller.index()].scout.phase == ScoutPhase::Free
    }

    /// Launches the scout of `controller`, which must be free, towards chip `target`. The first [`step`](Self::step) moves the scout over the
    /// controller link to the first router.
    #[inline]
    pub fn launch(&mut self, controller: ChannelId, target: ChipId) {
        debug_assert!(self.is_free(controller), "{controller:?} has a scout or a circuit already");
        self.counters.sent += 1;
        let entrance = self.entrance(controller);
        let packet = &mut self.packets[controller.index()];
        packet.scout = Scout::new(ScoutPhase::Reserve, entrance as u32, self.goals[target.index()]);
    }

    /// Returns the table index of the router at the link of `controller`.
    #[inline]
    const fn entrance(&self, controller: ChannelId) -> usize {
        self.frame.index(self.mesh.entry_coord(controller))
    }

    /// Moves the scout of `controller`, which must be in flight, to the end of its current link. Returns the action of the scout there.
    pub fn step(&mut self, controller: ChannelId) -> ScoutAction {
        let CircuitNetwork { frame, routers, packets, tie_break, routes, .. } = self;
        let MarkedScout { scout, marks, .. } = &mut packets[controller.index()];
        let (routers, marks) = (&mut **routers, &mut **marks);
        let mut tally = StepCounts::default();
        let step = if self.counts_visits {
            StepContext::<_, _, true> { frame, routers, routes, tie_break }.step(scout, marks, &mut tally)
        } else {
            StepContext::<_, _, false> { frame, routers, routes, tie_break }.step(scout, marks, &mut tally)
        };
        self.counters.steps += 1;
        tally.add_to(&mut self.counters);
        if matches!(step, ScoutAction::Reached { .. } | ScoutAction::Failed) {
            self.end_search(controller, step);
        }
        step
    }

    /// Ends the search of `controller` if `step` does: counts the result, and clears the marks of its scout.
    #[inline(always)]
    fn end_search(&mut self, controller: ChannelId, step: ScoutAction) {
        match step {
            ScoutAction::Forward | ScoutAction::Back => return,
            ScoutAction::Failed => self.counters.failed += 1,
            ScoutAction::Reached { hops } => self.counters.circuit(hops + 1),
        }
        self.packets[controller.index()].end(&self.frame);
    }

    /// Moves the scout of `controller`, the only one in flight, until its search ends or its next step is due after `until`. The first step is due at
    /// `at`, not after `until`, and each further step `hop` later. Returns the time and the action of the last step.
    #[inline]
    pub(super) fn run_scout(&mut self, controller: ChannelId, at: Time, hop: Time, until: Time) -> (Time, ScoutAction) {
        compiled!(self.run_scout_with(controller, at, hop, until))
    }

    /// Implements [`run_scout`](Self::run_scout). Not inlined, so that the loop does not share CPU registers with its callers.
    #[inline(never)]
    fn run_scout_with<R, M, D: TieBreakRule, const COUNTS: bool>(
        &mut self,
        tie_break: &mut D,
        controller: ChannelId,
        mut at: Time,
        hop: Time,
        until: Time,
    ) -> (Time, ScoutAction)
    where
        R: RouterTable<Router> + ?Sized,
        M: RouterTable<ScoutMarks> + ?Sized,
        Box<[Router]>: RouterTableStorage<R>,
        Box<[ScoutMarks]>: RouterTableStorage<M>,
    {
        let CircuitNetwork { frame, routers, packets, routes, .. } = self;
        let MarkedScout { scout, marks, .. } = &mut packets[controller.index()];
        let mut field = StepContext::<_, _, COUNTS> { frame, routers: routers.table(), routes, tie_break };
        let (mut moving, mut tally) = (*scout, StepCounts::default());
        let marks = marks.table();
        let more = (until - at).as_ps() / hop.as_ps();
        let mut left = more;
        let step = loop {
            let step = field.step(&mut moving, marks, &mut tally);
            if matches!(step, ScoutAction::Reached { .. } | ScoutAction::Failed) || left == 0 {
                break step;
            }
            left -= 1;
        };
        *scout = moving;
        let steps = more - left + 1;
        at += hop * (more - left);
        self.counters.steps += steps;
        tally.add_to(&mut self.counters);
        self.end_search(controller, step);
        (at, step)
    }

    /// Moves the scouts of the schedule `turns` until a search ends or all next steps are due after `until`. Returns the time of the end, the
    /// controller, and the last action of its scout; `None` if no search ended. The last action remains the first entry of `turns`, from which the
    /// caller must remove it.
    #[inline]
    pub(super) fn run_scouts(
        &mut self,
        turns: &mut StepSchedule,
        until: Time,
    ) -> Option<(Time, ChannelId, ScoutAction)> {
        compiled!(self.run_scouts_with(turns, until))
    }

    #[inline(never)]
    fn run_scouts_with<R, M, D: TieBreakRule, const COUNTS: bool>(
        &mut self,
        tie_break: &mut D,
        turns: &mut StepSchedule,
        until: Time,
    ) -> Option<(Time, ChannelId, ScoutAction)>
    where
        R: RouterTable<Router> + ?Sized,
        M: RouterTable<ScoutMarks> + ?Sized,
        Box<[Router]>: RouterTableStorage<R>,
        Box<[ScoutMarks]>: RouterTableStorage<M>,
    {
        let CircuitNetwork { frame, routers, packets, routes, .. } = self;
        let mut field = StepContext::<_, _, COUNTS> { frame, routers: routers.table(), routes, tie_break };
        let mut tally = StepCounts::default();
        let (mut ended, mut steps) = (None, 0);
        while !turns.is_empty() {
            let (lap, rest) = turns.rest_of_lap();
            let mut taken = 0;
            for &(after, controller) in rest {
                let at = lap + after;
                if at > until {
                    break;
                }
                let MarkedScout { scout, marks, .. } = &mut packets[controller.index()];
                let step = field.step(scout, marks.table(), &mut tally);
                if matches!(step, ScoutAction::Reached { .. } | ScoutAction::Failed) {
                    ended = Some((at, controller, step));
                    break;
                }
                taken += 1;
            }
            steps += taken as u64 + u64::from(ended.is_some());
            if !turns.advance(taken) {
                break;
            }
        }
        self.counters.steps += steps;
        tally.add_to(&mut self.counters);
        if let Some((_, controller, step)) = ended {
            self.end_search(controller, step);
        }
        ended
    }

    /// Tears down the circuit of `controller`, which must hold one: releases its links, and makes the controller free.
    #[inline]
    pub fn release(&mut self, controller: ChannelId) {
        let mut index = self.entrance(controller);
        let packet = &mut self.packets[controller.index()];
        debug_assert!(packet.scout.phase == ScoutPhase::Circuit, "{controller:?} holds no circuit");
        let mut entry = PortSet::NONE;
        for &exit in &packet.exits {
            let hop = self.frame.hop(exit);
            let router = &mut self.routers[index];
            router.busy = router.busy.difference(entry.union(hop.near_port));
            entry = hop.far_port;
            index = hop.neighbour(index);
        }
        let router = &mut self.routers[index];
        router.busy = router.busy.difference(entry.union(PortSet::from_port(Port::Chip)));
        (packet.scout.phase, packet.scout.held_count) = (ScoutPhase::Free, 0);
    }

    /// Returns the links that `controller` holds, from the controller link to the last link of its scout or to the chip link of its circuit. Empty if
    /// the controller is free.
    pub fn held_links(&self, controller: ChannelId) -> impl Iterator<Item = LinkId> {
        let packet = &self.packets[controller.index()];
        let scout = &packet.scout;
        let own = (scout.phase != ScoutPhase::Free).then(|| self.mesh.controller_link(controller));
        let chip = (scout.phase == ScoutPhase::Circuit).then(|| self.links[scout.router as usize][Port::Chip as usize]);
        let mut exits = Vec::new();
        if scout.phase == ScoutPhase::Circuit {
            exits.extend_from_slice(&packet.exits);
        } else {
            packet.trace_exits(&self.frame, &mut exits);
        }
        own.into_iter().chain(self.links_between(controller, exits)).chain(chip)
    }

    /// Replaces the content of `links` with the circuit of `controller`, from the controller link to the chip link.
    #[inline]
    pub(super) fn list_circuit(&self, controller: ChannelId, links: &mut Vec<LinkId>) {
        let packet = &self.packets[controller.index()];
        links.clear();
        links.push(self.mesh.controller_link(controller));
        links.extend(self.links_between(controller, packet.exits.iter().copied()));
        links.push(self.links[packet.scout.router as usize][Port::Chip as usize]);
    }

    /// Returns the mesh links of a path that starts at the first router in the row of `controller` and leaves its routers by the ports `exits`.
    #[inline]
    fn links_between(
        &self,
        controller: ChannelId,
        exits: impl IntoIterator<Item = Port>,
    ) -> impl Iterator<Item = LinkId> {
        let mut index = self.entrance(controller);
        exits.into_iter().map(move |exit| {
            let link = self.links[index][exit as usize];
            index = self.frame.neighbour(index, exit);
            link
        })
    }

    /// Returns the number of links that `controller` holds, and the link reserved last (`None` if there is none).
    pub(super) fn last_held_link(&self, controller: ChannelId) -> (usize, Option<LinkId>) {
        let packet = &self.packets[controller.index()];
        let (between, links) = (packet.scout.held_count as usize, &self.links[packet.scout.router as usize]);
        match packet.scout.phase {
            ScoutPhase::Free => (0, None),
            ScoutPhase::Circuit => (between + 2, Some(links[Port::Chip as usize])),
            _ if between == 0 => (1, Some(self.mesh.controller_link(controller))),
            _ => (between + 1, Some(links[packet.scout.arrival_port as usize])),
        }
    }

    /// Returns the ports of the router at `place`, including the chip port, whose link exists and is neither reserved nor out of service.
    pub(super) fn free_ports(&self, place: MeshCoord) -> PortSet {
        PortSet::MESH.union(PortSet::from_port(Port::Chip)).difference(self.routers[self.frame.index(place)].busy)
    }

    /// Returns whether routers count the visits of each scout. If so, a scout may move forward over a link once in each direction, otherwise only
    /// once in all.
    pub(super) const fn counts_visits(&self) -> bool {
        self.counts_visits
    }

    pub(in super::super) const fn routing(&self) -> &AnyRouting {
        &self.routing
    }

    /// Returns the minimum number of links to be crossed, after the next step of the scout of `controller`, before a circuit can be granted. Either
    /// the scout reaches its destination and returns over the circuit; or it returns without a path, and the next scout crosses at least one link
    /// forward and back.
    #[inline]
    pub(super) fn remaining_links_min(&self, controller: ChannelId) -> u32 {
        const OUT_AND_BACK: u32 = 2;
        let packet = &self.packets[controller.index()];
        let target = packet.scout.destination.coord();
        let way_back = self.mesh.entry_coord(controller).distance(target) + 1;
        let at = self.routers[packet.scout.router as usize].position.coord();
        (at.distance(target) + way_back).min(packet.return_links() + OUT_AND_BACK)
    }

    /// Returns the chip of the router at which the scout of `controller` arrives next; `None` if it arrives at the controller, or no scout is in
    /// flight.
    pub fn position(&self, controller: ChannelId) -> Option<ChipId> {
        let scout = &self.packets[controller.index()].scout;
        let at = || self.mesh.chip(self.routers[scout.router as usize].position.coord());
        matches!(scout.phase, ScoutPhase::Reserve | ScoutPhase::Cancel).then(at)
    }

    /// Returns whether `link`, a mesh link or a chip link, is reserved or out of service.
    #[cfg(feature = "internals")]
    pub fn is_reserved(&self, link: LinkId) -> bool {
        let (place, port) = self.mesh.link_end(link);
        self.routers[self.frame.index(place)].busy.contains(port)
    }

    /// Takes `link`, a free mesh link or chip link, out of service if `out`, otherwise back into service. Scouts treat a link out of service as
    /// reserved.
    #[cfg(feature = "internals")]
    pub fn set_out_of_service(&mut self, link: LinkId, out: bool) {
        let (place, port) = self.mesh.link_end(link);
        debug_assert!(self.is_reserved(link) != out, "{link:?} is in use, or out of service already");
        super::scout::set_busy(&mut self.routers, &self.frame, self.frame.index(place), port, out);
    }

    /// Returns whether all controllers are free and no scout has left marks at routers.
    #[cfg(feature = "internals")]
    pub fn is_empty(&self) -> bool {
        let is_clear = |packet: &MarkedScout| {
            packet.scout.phase == ScoutPhase::Free && packet.marks.iter().all(|marks| *marks == ScoutMarks::NONE)
        };
        self.packets.iter().all(is_clear)
    }
}

#[cfg(test)]
mod tests;
