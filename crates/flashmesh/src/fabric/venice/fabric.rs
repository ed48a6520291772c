//! The Venice interconnect: requests, grants and releases of circuits.

use crate::config::{Config, Retry};
use crate::fabric::layout::{Layout, SharedResource, TransferDestination};
use crate::fabric::{Cause, Fabric, Grant, GrantRecord, LinkUsage, Outbox, Payload, SendOutcome, TransferPhase};
use crate::flash::geometry::Geometry;
use crate::ids::{ChannelId, DieId, LinkId, PathId, RequestId};
use crate::units::Time;

use super::controllers::chip_pins::ChipPinTable;
use super::controllers::circuit_quota::CircuitQuota;
use super::controllers::flash_controller::{ControllerStage, FlashController};
use super::controllers::flash_controllers::FlashControllers;
use super::controllers::path_queue::{PathQueue, PathRequest};
use super::mesh::layout::layout;
use super::mesh::ports::Port;
use super::mesh::{Mesh, MeshCoord};
use super::routing::custom::CustomRouting;
use super::routing::{AnyRouting, RoutingAlgorithm};
use super::scouts::counters::Counters;
use super::scouts::network::CircuitNetwork;
use super::scouts::reachability::WatchedScout;
use super::scouts::scout_events::ScoutEvents;
use super::scouts::tie_break::TieBreaker;
use super::timing::LinkTiming;
use super::traffic::Traffic;
use super::wait_stats::WaitStats;

/// The Venice interconnect; see the [module](super).
#[derive(Clone, Debug)]
pub struct Venice {
    pub(super) network: CircuitNetwork,
    layout: Layout,
    traffic: Traffic,
    pub(super) controllers: FlashControllers,
    pub(super) chips: ChipPinTable,
    pub(super) path_queue: PathQueue,
    pub(super) wait_stats: WaitStats,
    pub(super) scout_events: ScoutEvents,
    /// Circuits of each host request, for `venice.circuits-per-request`; `None` if their number is not limited.
    quota: Option<Box<CircuitQuota>>,
    /// Number of path requests so far. This is the sequence number of the next request.
    requests: u64,
    pub(super) timing: LinkTiming,
    pub(super) retry: Retry,
    /// Scout whose search is compared with a prediction by flood fill. `None` if several scouts are in flight, or without an oracle (a probe that
    /// checks the run).
    pub(super) watched: Option<WatchedScout>,
}

impl Venice {
    /// Builds the interconnect, with one mesh row per channel and one column per chip of a channel. All controllers are free.
    pub fn new(config: &Config, geometry: &Geometry) -> Venice {
        let mesh = Mesh::new(geometry.channels, geometry.chips_per_channel);
        let venice = &config.venice;
        let tie_break = TieBreaker::new(venice.tie_break, config.seed);
        let timing = LinkTiming::new(venice, &mesh);
        Venice {
            network: CircuitNetwork::new(mesh, AnyRouting::new(venice.routing), tie_break, venice.revisits),
            layout: layout(&mesh, timing.link_bits()),
            traffic: Traffic::new(mesh.links()),
            controllers: FlashControllers::new(mesh.rows()),
            chips: ChipPinTable::new(geometry),
            path_queue: PathQueue::new(mesh.rows(), venice.service),
            wait_stats: WaitStats::new(geometry.dies()),
            scout_events: ScoutEvents::new(timing.scout_hop()),
            quota: venice.circuits_per_request.map(|most| Box::new(CircuitQuota::new(most, geometry.dies()))),
            requests: 0,
            timing,
            retry: venice.retry,
            watched: None,
        }
    }

    /// Grants the reserved circuit of `controller` to the die that requested it. `since` is the launch of the successful scout.
    #[inline]
    fn grant(&mut self, controller: ChannelId, since: Time, outbox: &mut Outbox) {
        let state = &mut self.controllers[controller];
        state.stage = ControllerStage::Granted;
        let PathRequest { die, phase, .. } = state.request;
        let grant = Grant { die, phase, path: PathId(controller.0) };
        outbox.grants.push(GrantRecord { grant, since, cause: Cause::Link });
    }
}

impl Fabric for Venice {
    fn set_routing(&mut self, routing: &dyn RoutingAlgorithm) -> bool {
        self.network.set_routing(AnyRouting::Custom(CustomRouting::new(routing)));
        true
    }

    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        self.step_scouts(now, outbox);
        let chip = self.chips.chip_of(die);
        let place = self.network.mesh().coord_of(chip);
        let request = PathRequest { sequence: self.requests, die, phase, chip, coord: place };
        self.requests += 1;
        self.wait_stats.begin(&request);
        if self.quota.as_mut().is_none_or(|quota| quota.admit_or_enqueue(&request)) {
            self.admit(request, now, outbox);
        } else {
            self.wait_stats.set_cause(&request, Cause::Controller, now);
        }
        self.schedule_wake(outbox);
    }

    fn set_host_request(&mut self, request: Option<RequestId>) {
        if let Some(quota) = &mut self.quota {
            quota.set_host_request(request);
        }
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, _outbox: &mut Outbox) -> SendOutcome {
        let controller = ChannelId(grant.path.0);
        let state = &self.controllers[controller];
        let links = state.circuit.len() as u64;
        // The shortest path crosses the controller link of the chip's row, one link along the row for each column before the chip, and the chip link.
        let links_min = u64::from(state.request.coord.column) + 2;
        let duration = self.timing.transfer(payload, links);
        self.traffic.count(&state.circuit, grant.phase, payload, now, duration);
        SendOutcome { arrival: Some(now + duration), min_duration: self.timing.transfer(payload, links_min) }
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        self.step_scouts(now, outbox);
        let controller = ChannelId(grant.path.0);
        let request = self.controllers[controller].request;
        self.network.release(controller);
        self.watched = None;
        self.release_controller(controller, now, outbox);
        self.path_queue.count_teardown();
        self.release_pins(request.chip, now);
        if let Some(quota) = &mut self.quota
            && let Some(next) = quota.release(&request)
        {
            self.path_queue.insert(next);
        }
        self.serve_waiting(now, outbox);
        self.schedule_wake(outbox);
    }

    fn wake(&mut self, _token: u32, now: Time, outbox: &mut Outbox) {
        self.step_scouts(now, outbox);
        let mut has_granted = false;
        while let Some(controller) = self.scout_events.take_grant(now) {
            self.grant(controller, self.controllers[controller].since, outbox);
            has_granted = true;
        }
        // After a grant the die may act at once, so scouts run ahead only without a grant. With an oracle (a probe that checks the run) they never
        // do, because it needs each link use at its time.
        if !has_granted && outbox.link_uses.is_none() {
            self.step_scouts(outbox.lookahead_until, outbox);
        }
        self.schedule_wake(outbox);
    }

    fn catch_up(&mut self, now: Time, outbox: &mut Outbox) {
        self.step_scouts(now, outbox);
        self.schedule_wake(outbox);
    }

    fn finish(&mut self, now: Time, outbox: &mut Outbox) {
        self.step_scouts(now, outbox);
    }

    fn is_blocked_by(&self, die: DieId, phase: TransferPhase, is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        if self.quota.as_ref().is_some_and(|quota| quota.is_waiting(die, phase)) {
            return false;
        }
        let number = self.chips.chip_of(die);
        let chip = &self.chips[number];
        let busy =
            self.controllers.iter().filter(|state| state.stage != ControllerStage::Free).map(|state| &state.request);
        if chip.is_reserved {
            // A die that waits for pins is blocked by the holder of their reservation (circuit or scout), and by the dies queued for them.
            let holders = busy.filter(|request| request.chip == number).map(|request| request.die);
            return holders.chain(chip.queue.dies()).any(|other| other != die && is_another(other));
        }
        busy.map(|request| request.die).chain(self.path_queue.dies()).any(|other| other != die && is_another(other))
    }

    fn wait_by_cause(&self, grant: Grant) -> Option<[Time; Cause::ALL.len()]> {
        Some(self.wait_stats.by_cause(grant.die, grant.phase))
    }

    fn links_of(&self, grant: Grant) -> Vec<LinkId> {
        self.controllers[ChannelId(grant.path.0)].circuit.clone()
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn shared_resources(&self) -> Vec<SharedResource> {
        let mesh = self.network.mesh();
        // A circuit enters a row over its controller link, or over a vertical link from the row above or below. The number of these links bounds the
        // circuits that lead to chips of the row at once.
        let row = |row: u32| SharedResource {
            part: TransferDestination::Row,
            links: (0..mesh.columns()).map(|column| mesh.link(MeshCoord { row, column }, Port::Chip)).collect(),
            at_once: 1 + mesh.columns() * (u32::from(row > 0) + u32::from(row + 1 < mesh.rows())),
        };
        self.layout.shared_resources().into_iter().chain((0..mesh.rows()).map(row)).collect()
    }

    fn usage(&self) -> &[LinkUsage] {
        self.traffic.usage()
    }

    fn controller_busy_times(&self, now: Time) -> Vec<Time> {
        self.controllers.iter().map(|controller| controller.busy_until(now)).collect()
    }

    fn hops(&self) -> u64 {
        self.traffic.hops()
    }

    fn scout_counters(&self) -> Option<&Counters> {
        Some(self.network.counters())
    }

    fn held_links(&self) -> Vec<(LinkId, DieId)> {
        let of = |(state, number): (&FlashController, u32)| {
            let die = state.request.die;
            self.network.held_links(ChannelId(number)).map(move |link| (link, die))
        };
        self.controllers.iter().zip(0..).flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::ports::Port;
    use super::*;
    use crate::config::Routing;
    use crate::fabric::SearchPrediction;
    use crate::ids::ChipId;

    /// Returns a Venice interconnect for `rows` x `columns` chips with one die each, so that die and chip numbers are equal.
    fn venice(rows: u32, columns: u32, routing: Routing, retry: Retry) -> Venice {
        let mut config = Config::default();
        config.geometry.channels = rows;
        config.geometry.chips_per_channel = columns;
        config.venice.routing = routing;
        config.venice.retry = retry;
        Venice::new(&config, &Geometry::new(&config.geometry).expect("the geometry is valid"))
    }

    /// Runs until no scout or grant is pending, and releases each granted path at once. Returns the time and the die of each grant.
    fn run(fabric: &mut Venice, mut outbox: Outbox) -> Vec<(Time, u32)> {
        let mut granted = Vec::new();
        let mut now = Time::ZERO;
        loop {
            while let Some(GrantRecord { grant, .. }) = outbox.grants.pop() {
                granted.push((now, grant.die.0));
                fabric.release(grant, now, &mut outbox);
            }
            if outbox.wake_at == Time::MAX {
                return granted;
            }
            assert!(outbox.wake_at >= now, "a wake-up for {} is requested at {now}", outbox.wake_at);
            now = outbox.wake_at;
            fabric.wake(0, now, &mut outbox);
        }
    }

    fn request(fabric: &Venice, die: u32) -> PathRequest {
        let chip = ChipId(die);
        let place = fabric.network.mesh().coord_of(chip);
        PathRequest { sequence: u64::from(die), die: DieId(die), phase: TransferPhase::Command, chip, coord: place }
    }

    #[test]
    fn scouts_that_all_fail_at_each_other_are_sent_again() {
        for retry in Retry::ALL {
            let mut fabric = venice(3, 2, Routing::Xy, *retry);
            let mut outbox = Outbox::default();
            // The scouts cross in the second column: one goes down to die 5, one up to die 1, and each reserves the link that the other needs next.
            for (controller, die) in [(0, 5), (2, 1)] {
                let request = request(&fabric, die);
                fabric.path_queue.insert_searching(request);
                fabric.launch(ChannelId(controller), request, Time::ZERO, &mut outbox);
            }
            fabric.schedule_wake(&mut outbox);
            let mut dies: Vec<u32> = run(&mut fabric, outbox).into_iter().map(|(_, die)| die).collect();
            dies.sort_unstable();
            assert_eq!(dies, [1, 5], "{retry}");
            assert!(fabric.network.counters().failed >= 2, "{retry}: the scouts did not block each other");
            assert!(fabric.held_links().is_empty());
        }
    }

    #[test]
    fn a_die_whose_chip_is_cut_off_waits_until_a_circuit_is_torn_down() {
        let mut fabric = venice(2, 2, Routing::Venice, Retry::OnTeardown);
        let mut outbox = Outbox::default();
        // Both mesh links of the router of chip 3, in the corner (1, 1), are out of service.
        let mesh = *fabric.network.mesh();
        let corner = mesh.coord_of(ChipId(3));
        let cut = [mesh.link(corner, Port::West), mesh.link(corner, Port::North)];
        cut.iter().for_each(|link| fabric.network.set_out_of_service(*link, true));
        fabric.acquire(DieId(0), TransferPhase::Command, Time::ZERO, &mut outbox);
        let mut at = Time::ZERO;
        while outbox.grants.is_empty() {
            at = outbox.wake_at;
            fabric.wake(0, at, &mut outbox);
        }
        let grant = outbox.grants.pop().expect("the way to chip 0 is free").grant;
        fabric.acquire(DieId(3), TransferPhase::Command, at, &mut outbox);
        let later = at + Time::from_us(1);
        fabric.step_scouts(later, &mut outbox);
        assert!(outbox.grants.is_empty());
        assert_eq!(fabric.network.counters().failed, 1, "the die retries only after a change");
        cut.iter().for_each(|link| fabric.network.set_out_of_service(*link, false));
        outbox.events.clear();
        fabric.release(grant, later, &mut outbox);
        // The scout leaves at the teardown. It crosses the controller link and one link of row 1, and returns: 4 crossings of 2 ns.
        assert_eq!(run(&mut fabric, outbox), [(later + Time::from_ns(2 * 2 * 2), 3)]);
    }

    #[test]
    fn a_scout_that_does_not_do_what_the_flood_fill_says_is_told() {
        let search = |fault: bool| {
            let mut fabric = venice(2, 3, Routing::Venice, Retry::OnTeardown);
            let mut outbox = Outbox { link_uses: Some(Vec::new()), ..Outbox::default() };
            fabric.acquire(DieId(5), TransferPhase::Command, Time::ZERO, &mut outbox);
            // The chip link fails after the launch, so the scout fails although the flood fill predicted a path.
            let mesh = *fabric.network.mesh();
            let pins = mesh.link(mesh.coord_of(ChipId(5)), Port::Chip);
            if fault {
                fabric.network.set_out_of_service(pins, true);
            }
            while outbox.searches.is_empty() {
                fabric.step_scouts(outbox.wake_at, &mut outbox);
                fabric.schedule_wake(&mut outbox);
            }
            outbox.searches[0]
        };
        assert_eq!((search(false).prediction, search(false).found), (SearchPrediction::Finds, true));
        assert_eq!((search(true).prediction, search(true).found), (SearchPrediction::Finds, false));
    }
}
