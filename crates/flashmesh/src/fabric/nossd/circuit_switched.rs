//! NoSSD under `fabric.hold-path`: circuit switching in place of packet switching. A circuit reserves all links that the packets of a command and its
//! reply (data or acknowledgement) would cross. The links lead from the controller that the injection policy chooses to the chip, and back to the
//! controller that receives the reply.
//!
//! A packet on a circuit meets no other packets and takes its zero-load time. The two directions of a half-duplex link count as one link. Routes,
//! packets, and the policies that choose controllers are the same as in the packet-switched network ([`Nossd`](super::Nossd)). Settings for
//! contention between packets (arbitration, buffers, interleaving, controller queues) have no effect. A command also reserves the route of its reply,
//! because `fabric.hold-path` may keep the circuit until the reply. If an operation does not hold its circuit, its reply reserves the links from the
//! chip to the receiving controller.
//!
//! A requesting die is granted the first of its possible routes whose links are all free. All links of the route are reserved at once. Requests are
//! granted in order of arrival. A later request overtakes an earlier one only if it reserves no link that the earlier one waits for. So the oldest
//! request is granted as soon as its links are free, and no request starves.

use crate::config::{Config, HoldPath};
use crate::fabric::layout::{Layout, LinkKind, SharedResource};
use crate::fabric::wormhole::{TerminalId, Topology};
use crate::fabric::{
    Cause, DataOwner, Fabric, FabricError, Grant, GrantRecord, LinkUsage, Outbox, Payload, SendOutcome, TransferKind,
    TransferPhase,
};
use crate::flash::geometry::Geometry;
use crate::ids::{ChipId, DieId, LinkId, PathId};
use crate::units::{Bytes, Time};

use super::injection::controller_selector;
use super::injection::controller_selector::{ControllerSelector, InjectionState};
use super::messages::packets::{Packetizer, Packets};
use super::messages::state::DieState;
use super::network::link_accounting::LinkAccounting;
use super::network::routing::{PacketRouting, PacketRoutingError, with_routing};
use super::network::zero_load_latency::ZeroLoadLatency;
use super::settings::{parameters, too_large};

/// A possible route of a circuit: its links, and its local channels (pairs of links to a router), as terminals, at the sending controller, at the
/// chip and at the receiving controller. For a reply alone, `sender` equals `receiver`.
#[derive(Clone, Debug)]
struct CircuitRoute {
    sender: TerminalId,
    chip: TerminalId,
    receiver: TerminalId,
    links: Vec<LinkId>,
}

#[derive(Clone, Debug)]
struct Circuit {
    die: DieId,
    route: CircuitRoute,
    since: Time,
}

#[derive(Clone, Debug)]
struct CircuitRequest {
    die: DieId,
    phase: TransferPhase,
    routes: Vec<CircuitRoute>,
    cause: Cause,
}

/// The circuit-switched NoSSD interconnect: a network whose links are reserved as circuits.
#[derive(Clone, Debug)]
pub struct CircuitSwitchedNossd {
    topology: Topology,
    flit_time: Time,
    packetizer: Packetizer,
    zero_load: ZeroLoadLatency,
    controllers: ControllerSelector,
    injection_state: InjectionState,
    dies_per_chip: u32,
    rule: HoldPath,
    links: LinkAccounting,
    dies: Vec<DieState>,
    /// Reserved circuits, indexed by path; `None` for an unused path number.
    circuits: Vec<Option<Circuit>>,
    /// Die that holds each link, indexed by link; `None` if the link is free.
    holders: Vec<Option<DieId>>,
    /// Path requests that are not granted yet, in order of arrival.
    waiting: Vec<CircuitRequest>,
}

impl CircuitSwitchedNossd {
    /// Builds the network of the drive that `config` describes.
    ///
    /// # Errors
    /// If the drive has more chips than a network supports.
    pub fn new(config: &Config, geometry: &Geometry) -> Result<CircuitSwitchedNossd, FabricError> {
        Ok(CircuitSwitchedNossd::with_topology(
            config,
            geometry,
            controller_selector::topology(&config.nossd, geometry).map_err(too_large)?,
        ))
    }

    fn with_topology(config: &Config, geometry: &Geometry, topology: Topology) -> CircuitSwitchedNossd {
        let nossd = &config.nossd;
        let controllers = ControllerSelector::new(nossd, geometry, &topology);
        let links = LinkAccounting::new(&topology, &controllers, geometry, nossd);
        CircuitSwitchedNossd {
            flit_time: nossd.flit_time,
            packetizer: Packetizer::new(nossd, geometry.page_spare),
            zero_load: ZeroLoadLatency::new(parameters(nossd)),
            injection_state: InjectionState::new(config.seed),
            dies_per_chip: geometry.dies_per_chip,
            rule: config.fabric.hold_path,
            dies: vec![DieState::default(); geometry.dies() as usize],
            circuits: Vec::new(),
            holders: vec![None; links.layout().links.len()],
            waiting: Vec::new(),
            controllers,
            topology,
            links,
        }
    }

    fn chip_of(&self, die: DieId) -> ChipId {
        ChipId(die.0 / self.dies_per_chip)
    }

    /// Returns the possible routes of a command from controller `sender` to `die`, and of its reply to controller `receiver`; `None` as `sender` for
    /// a reply alone. There is one route for each combination of a local channel of the chip and a channel number, which command and reply share at
    /// their controllers.
    fn routes(&self, die: DieId, sender: Option<u32>, receiver: u32) -> Vec<CircuitRoute> {
        let chip = self.controllers.terminal_of_chip(self.chip_of(die));
        let local = |first: TerminalId, number: u32| TerminalId(first.0 + number);
        let chip_channels = self.controllers.local_channels(chip).count() as u32;
        let channels = self.controllers.local_channels(self.controllers.terminal(receiver)).count() as u32;
        let route = |number: u32| {
            let (of_chip, of_controller) = (number % chip_channels, number / chip_channels);
            let controller = |controller| local(self.controllers.terminal(controller), of_controller);
            let (chip, receiver) = (local(chip, of_chip), controller(receiver));
            let mut links = Vec::new();
            let mut add =
                |from, to| self.topology.for_each_link(from, to, |link| links.push(self.links.layout_link(link)));
            if let Some(sender) = sender {
                add(controller(sender), chip);
            }
            add(chip, receiver);
            links.sort_unstable_by_key(|link| link.0);
            links.dedup();
            CircuitRoute { sender: sender.map_or(receiver, controller), chip, receiver, links }
        };
        (0..chip_channels * channels).map(route).collect()
    }

    /// Returns the queued requests that have a possible route over `link`.
    fn requests_for(&self, link: LinkId) -> impl Iterator<Item = &CircuitRequest> {
        self.waiting.iter().filter(move |other| other.routes.iter().any(|route| route.links.contains(&link)))
    }

    /// Returns the load of a controller: the number of its held local channels, plus the number of queued requests for each of its local channels.
    fn load(&self, controller: u32) -> u32 {
        let locals = self.controllers.local_channels(self.controllers.terminal(controller));
        let links = locals.map(|terminal| self.links.layout_link(self.topology.injection(terminal)));
        links.map(|link| u32::from(self.holders[link.index()].is_some()) + self.requests_for(link).count() as u32).sum()
    }

    /// Returns the cause of the wait of a request with the possible `routes`: [`Cause::Controller`] if every route has a controller link
    /// that is held or requested, otherwise [`Cause::Link`].
    fn cause(&self, routes: &[CircuitRoute]) -> Cause {
        let is_taken = |link: LinkId| self.holders[link.index()].is_some() || self.requests_for(link).next().is_some();
        let of_controllers = |link: &&LinkId| self.links.layout().links[link.index()].kind == LinkKind::Controller;
        let is_blocked = |route: &CircuitRoute| route.links.iter().filter(of_controllers).any(|&link| is_taken(link));
        if routes.iter().all(is_blocked) { Cause::Controller } else { Cause::Link }
    }

    fn enqueue(&mut self, die: DieId, phase: TransferPhase, routes: Vec<CircuitRoute>, now: Time, outbox: &mut Outbox) {
        let cause = self.cause(&routes);
        let is_free = |route: &CircuitRoute| route.links.iter().all(|link| self.holders[link.index()].is_none());
        let can_be_granted = routes.iter().any(is_free);
        self.waiting.push(CircuitRequest { die, phase, routes, cause });
        if can_be_granted {
            self.grant_queued(now, outbox);
        }
    }

    /// Grants all queued requests that have a route whose links are free and that no earlier request needs.
    fn grant_queued(&mut self, now: Time, outbox: &mut Outbox) {
        let mut claimed: Vec<bool> = self.holders.iter().map(Option::is_some).collect();
        let mut at = 0;
        while at < self.waiting.len() {
            let is_free = |route: &&CircuitRoute| route.links.iter().all(|link| !claimed[link.index()]);
            let routes = &self.waiting[at].routes;
            let found = routes.iter().find(is_free).cloned();
            // Later requests must not use the links granted to this request or, if it stays queued, any link of its routes.
            let wanted = if let Some(route) = &found { std::slice::from_ref(route) } else { routes.as_slice() };
            wanted.iter().flat_map(|route| &route.links).for_each(|link| claimed[link.index()] = true);
            match found {
                Some(route) => {
                    let waiting = self.waiting.remove(at);
                    self.reserve(&waiting, route, now, outbox);
                }
                None => at += 1,
            }
        }
    }

    fn reserve(&mut self, waiting: &CircuitRequest, route: CircuitRoute, now: Time, outbox: &mut Outbox) {
        let CircuitRequest { die, phase, cause, .. } = *waiting;
        route.links.iter().for_each(|link| self.holders[link.index()] = Some(die));
        let free = self.circuits.iter().position(Option::is_none).unwrap_or(self.circuits.len());
        self.circuits.resize_with(self.circuits.len().max(free + 1), || None);
        self.circuits[free] = Some(Circuit { die, route, since: now });
        let grant = Grant { die, phase, path: PathId(free as u32) };
        outbox.grants.push(GrantRecord { grant, since: now, cause });
    }

    fn circuit(&self, path: PathId) -> &Circuit {
        self.circuits[path.index()].as_ref().expect("a circuit is used by whom it was granted to")
    }

    /// Sends a message of `packets` with `bytes` data bytes over a circuit at `now`, from the first terminal of `ends` to the second. Returns the
    /// arrival time of its last flit.
    fn send_over(
        &mut self,
        ends: [TerminalId; 2],
        packets: Packets,
        bytes: Bytes,
        phase: TransferPhase,
        now: Time,
    ) -> Time {
        let busy = self.flit_time * (u64::from(packets.count) * u64::from(packets.flits));
        self.links.count(&self.topology, ends, (busy, now + busy), bytes, phase);
        let hops = self.topology.hops(ends[0], ends[1]);
        let created = now.as_ps().div_ceil(self.flit_time.as_ps());
        self.flit_time * (created + self.zero_load.cycles(packets, hops) + 1)
    }
}

impl Fabric for CircuitSwitchedNossd {
    fn set_packet_routing(
        &mut self,
        config: &Config,
        geometry: &Geometry,
        routing: &dyn PacketRouting,
    ) -> Result<bool, PacketRoutingError> {
        let topology = controller_selector::topology(&config.nossd, geometry).map_err(too_large)?;
        *self = CircuitSwitchedNossd::with_topology(config, geometry, with_routing(topology, routing)?);
        Ok(true)
    }

    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        let chip = self.chip_of(die);
        let routes = if phase == TransferPhase::Command {
            let mut state = self.injection_state.clone();
            let sender = self.controllers.command_controller(chip, &mut state, |controller| self.load(controller));
            self.injection_state = state;
            self.dies[die.index()].command_controller = sender;
            self.routes(die, Some(sender), self.controllers.reply_controller(chip, sender))
        } else if self.rule.holds_reads() {
            // If reads hold their paths, their data needs no request. So this request is for an acknowledgement, of an operation that holds no path.
            self.routes(die, None, self.dies[die.index()].ack_controller)
        } else {
            self.routes(die, None, self.dies[die.index()].data_controller())
        };
        self.enqueue(die, phase, routes, now, outbox);
    }

    fn acquire_for(&mut self, die: DieId, _data: DataOwner, now: Time, outbox: &mut Outbox) {
        self.acquire(die, TransferPhase::DataOut, now, outbox);
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, _outbox: &mut Outbox) -> SendOutcome {
        let (packets, _) = self.packetizer.packetize(payload);
        let CircuitRoute { sender, chip, receiver, .. } = self.circuit(grant.path).route;
        let own = self.chip_of(grant.die);
        let state = &mut self.dies[grant.die.index()];
        let receiving = self.controllers.reply_controller(own, state.command_controller);
        match payload.kind {
            TransferKind::Read => state.expect_data(receiving, payload.planes),
            TransferKind::Program | TransferKind::Erase | TransferKind::Copyback => state.ack_controller = receiving,
            TransferKind::Data | TransferKind::ChipToChipData => _ = state.dequeue_plane(),
        }
        let (ends, hops) = match payload.kind {
            TransferKind::Data | TransferKind::ChipToChipData => ([chip, receiver], self.controllers.min_hops_out(own)),
            _ => ([sender, chip], self.controllers.min_hops_in(own)),
        };
        let delivered = self.send_over(ends, packets, payload.bytes, grant.phase, now);
        let least = self.flit_time * (self.zero_load.cycles(packets, hops) + 1);
        SendOutcome { arrival: Some(delivered), min_duration: least }
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        let Some(Circuit { die, route, since }) = self.circuits[grant.path.index()].take() else { return };
        for link in route.links {
            self.holders[link.index()] = None;
            outbox.record_use(link, die, since, now);
        }
        self.grant_queued(now, outbox);
    }

    fn sends_acknowledgements(&self) -> bool {
        true
    }

    fn acknowledge_over(&mut self, grant: Grant, now: Time) -> Time {
        let CircuitRoute { chip, receiver, .. } = self.circuit(grant.path).route;
        let packets = self.packetizer.acknowledgement();
        self.send_over([chip, receiver], packets, Bytes::ZERO, TransferPhase::DataOut, now)
    }

    fn is_blocked_by(&self, die: DieId, _phase: TransferPhase, is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        let Some(at) = self.waiting.iter().position(|waiting| waiting.die == die) else { return false };
        let wanted: Vec<LinkId> =
            self.waiting[at].routes.iter().flat_map(|route| route.links.iter().copied()).collect();
        let holders = wanted.iter().filter_map(|link| self.holders[link.index()]);
        let wants_the_same = |other: &&CircuitRequest| {
            other.routes.iter().any(|route| route.links.iter().any(|link| wanted.contains(link)))
        };
        let before = self.waiting[..at].iter().filter(wants_the_same).map(|other| other.die);
        holders.chain(before).any(|other| other != die && is_another(other))
    }

    fn links_of(&self, grant: Grant) -> Vec<LinkId> {
        self.circuit(grant.path).route.links.clone()
    }

    fn layout(&self) -> &Layout {
        self.links.layout()
    }

    fn shared_resources(&self) -> Vec<SharedResource> {
        self.links.shared_resources()
    }

    fn usage(&self) -> &[LinkUsage] {
        self.links.usage()
    }

    fn controller_busy_times(&self, now: Time) -> Vec<Time> {
        self.links.controllers_busy(now)
    }

    fn hops(&self) -> u64 {
        self.links.hops()
    }

    fn held_links(&self) -> Vec<(LinkId, DieId)> {
        (0..).map(LinkId).zip(&self.holders).filter_map(|(link, die)| Some((link, (*die)?))).collect()
    }
}
