//! NoSSD as `fabric.hold-path` has it: in place of packets that meet, circuits of the links that the packets of a command and its answer
//! would cross, from the controller that the injection policy chooses to the chip, and back to the one that hears it.
//!
//! Packets meet no others on a circuit, so that each takes as long as it does alone, and links of one wire for both directions are one. The
//! way, the packets and the policies are those of the network; what decides between packets that meet (arbitration, buffers, interleaving,
//! queues of controllers) decides nothing here. A command reserves the way of its answer as well, since what it starts may hold its path; an
//! answer that holds none reserves the links from the chip to its controller.
//!
//! A die that asks gets the first of its ways all of whose links are free, and takes all of them at once. Dies that wait are served in the
//! order of asking; a later one overtakes only where it takes no link that an earlier one waits for. So the first that waits is served as
//! soon as its links have come free, which no other takes, and then the next is first.

use crate::config::{Config, HoldPath};
use crate::fabric::layout::{Layout, LinkKind, SharedResource};
use crate::fabric::wormhole::{TerminalId, Topology};
use crate::fabric::{
    Cause, DataOf, Fabric, FabricError, Grant, Granted, LinkUsage, Message, Outbox, Payload, Sent, TransferPhase,
};
use crate::flash::geometry::Geometry;
use crate::ids::{ChipId, DieId, LinkId, PathId};
use crate::units::{Bytes, Time};

use super::controllers;
use super::controllers::Controllers;
use super::link_accounting::LinkAccounting;
use super::packets::{Packetizer, Packets};
use super::routing::{PacketRouting, PacketRoutingError, routed};
use super::settings::{parameters, too_large};
use super::state::DieState;
use super::zero_load_latency::ZeroLoadLatency;

/// One of the ways to a die: the local channels at its ends, and its links.
#[derive(Clone, Debug)]
struct Way {
    sender: TerminalId,
    chip: TerminalId,
    hearer: TerminalId,
    links: Vec<LinkId>,
}

#[derive(Clone, Debug)]
struct Circuit {
    die: DieId,
    way: Way,
    since: Time,
}

#[derive(Clone, Debug)]
struct Waiting {
    die: DieId,
    phase: TransferPhase,
    ways: Vec<Way>,
    cause: Cause,
}

/// The links of the network, reserved as circuits.
#[derive(Clone, Debug)]
pub struct Circuits {
    topology: Topology,
    flit_time: Time,
    packetizer: Packetizer,
    zero_load: ZeroLoadLatency,
    controllers: Controllers,
    /// The controller whose turn it is to send a command.
    turn: u32,
    dies_per_chip: u32,
    rule: HoldPath,
    links: LinkAccounting,
    dies: Vec<DieState>,
    /// By path.
    circuits: Vec<Option<Circuit>>,
    /// By link.
    taken: Vec<Option<DieId>>,
    /// In the order of asking.
    waiting: Vec<Waiting>,
}

impl Circuits {
    /// The network of the drive that `config` describes.
    ///
    /// # Errors
    /// When there cannot be such a network.
    pub fn new(config: &Config, geometry: &Geometry) -> Result<Circuits, FabricError> {
        Ok(Circuits::over(config, geometry, controllers::topology(&config.nossd, geometry).map_err(too_large)?))
    }

    fn over(config: &Config, geometry: &Geometry, topology: Topology) -> Circuits {
        let nossd = &config.nossd;
        let controllers = Controllers::new(nossd, geometry, &topology);
        let links = LinkAccounting::new(&topology, &controllers, geometry, nossd);
        Circuits {
            flit_time: nossd.flit_time,
            packetizer: Packetizer::new(nossd, geometry.page_spare),
            zero_load: ZeroLoadLatency::new(parameters(nossd)),
            turn: 0,
            dies_per_chip: geometry.dies_per_chip,
            rule: config.fabric.hold_path,
            dies: vec![DieState::default(); geometry.dies() as usize],
            circuits: Vec::new(),
            taken: vec![None; links.layout().links.len()],
            waiting: Vec::new(),
            controllers,
            topology,
            links,
        }
    }

    fn chip_of(&self, die: DieId) -> ChipId {
        ChipId(die.0 / self.dies_per_chip)
    }

    /// The ways of a command from `sender` to a die, or of what `hearer` is answered alone; an answer leaves over the local channel of the
    /// same number as that of the sender.
    fn ways(&self, die: DieId, sender: Option<u32>, hearer: u32) -> Vec<Way> {
        let chip = self.controllers.terminal_of_chip(self.chip_of(die));
        let local = |first: TerminalId, number: u32| TerminalId(first.0 + number);
        let chip_channels = self.controllers.local_channels(chip).count() as u32;
        let channels = self.controllers.local_channels(self.controllers.terminal(hearer)).count() as u32;
        let way = |number: u32| {
            let (of_chip, of_controller) = (number % chip_channels, number / chip_channels);
            let controller = |controller| local(self.controllers.terminal(controller), of_controller);
            let (chip, hearer) = (local(chip, of_chip), controller(hearer));
            let mut links = Vec::new();
            let mut add = |from, to| self.topology.follow(from, to, |link| links.push(self.links.number(link)));
            if let Some(sender) = sender {
                add(controller(sender), chip);
            }
            add(chip, hearer);
            links.sort_unstable_by_key(|link| link.0);
            links.dedup();
            Way { sender: sender.map_or(hearer, controller), chip, hearer, links }
        };
        (0..chip_channels * channels).map(way).collect()
    }

    /// Dies that wait for a way over `link`.
    fn waiting_for(&self, link: LinkId) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter().filter(move |other| other.ways.iter().any(|way| way.links.contains(&link)))
    }

    /// How many dies hold the local channels of a controller, or wait for them.
    fn load(&self, controller: u32) -> u32 {
        let locals = self.controllers.local_channels(self.controllers.terminal(controller));
        let links = locals.map(|terminal| self.links.number(self.topology.injection(terminal)));
        links.map(|link| u32::from(self.taken[link.index()].is_some()) + self.waiting_for(link).count() as u32).sum()
    }

    /// The controllers, where every local channel of the one that was chosen is taken; else the links between routers.
    fn cause(&self, ways: &[Way]) -> Cause {
        let is_taken = |link: LinkId| self.taken[link.index()].is_some() || self.waiting_for(link).next().is_some();
        let of_controllers = |link: &&LinkId| self.links.layout().links[link.index()].kind == LinkKind::Controller;
        let is_crowded = |way: &Way| way.links.iter().filter(of_controllers).any(|&link| is_taken(link));
        if ways.iter().all(is_crowded) { Cause::Controller } else { Cause::Link }
    }

    fn wait(&mut self, die: DieId, phase: TransferPhase, ways: Vec<Way>, now: Time, outbox: &mut Outbox) {
        let cause = self.cause(&ways);
        let is_free = |way: &Way| way.links.iter().all(|link| self.taken[link.index()].is_none());
        let may_go = ways.iter().any(is_free);
        self.waiting.push(Waiting { die, phase, ways, cause });
        if may_go {
            self.serve(now, outbox);
        }
    }

    /// Links have come free: those who wait are served as far as they can be.
    fn serve(&mut self, now: Time, outbox: &mut Outbox) {
        let mut claimed: Vec<bool> = self.taken.iter().map(Option::is_some).collect();
        let mut at = 0;
        while at < self.waiting.len() {
            let is_free = |way: &&Way| way.links.iter().all(|link| !claimed[link.index()]);
            let ways = &self.waiting[at].ways;
            let found = ways.iter().find(is_free).cloned();
            // What the die takes, or waits for, is not for those behind it.
            let wanted = if let Some(way) = &found { std::slice::from_ref(way) } else { ways.as_slice() };
            wanted.iter().flat_map(|way| &way.links).for_each(|link| claimed[link.index()] = true);
            match found {
                Some(way) => {
                    let waiting = self.waiting.remove(at);
                    self.take(&waiting, way, now, outbox);
                }
                None => at += 1,
            }
        }
    }

    fn take(&mut self, waiting: &Waiting, way: Way, now: Time, outbox: &mut Outbox) {
        let Waiting { die, phase, cause, .. } = *waiting;
        way.links.iter().for_each(|link| self.taken[link.index()] = Some(die));
        let free = self.circuits.iter().position(Option::is_none).unwrap_or(self.circuits.len());
        self.circuits.resize_with(self.circuits.len().max(free + 1), || None);
        self.circuits[free] = Some(Circuit { die, way, since: now });
        let grant = Grant { die, phase, path: PathId(free as u32) };
        outbox.grants.push(Granted { grant, since: now, cause });
    }

    fn circuit(&self, path: PathId) -> &Circuit {
        self.circuits[path.index()].as_ref().expect("a circuit is used by whom it was granted to")
    }

    /// A message crosses a circuit from one end to the other from `now` on; gives when it has arrived.
    fn cross(
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

impl Fabric for Circuits {
    fn set_packet_routing(
        &mut self,
        config: &Config,
        geometry: &Geometry,
        routing: &dyn PacketRouting,
    ) -> Result<bool, PacketRoutingError> {
        let topology = controllers::topology(&config.nossd, geometry).map_err(too_large)?;
        *self = Circuits::over(config, geometry, routed(topology, routing)?);
        Ok(true)
    }

    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        let chip = self.chip_of(die);
        let ways = if phase == TransferPhase::Command {
            let mut turn = self.turn;
            let sender = self.controllers.choose(chip, &mut turn, |controller| self.load(controller));
            self.turn = turn;
            self.dies[die.index()].commanding = sender;
            self.ways(die, Some(sender), self.controllers.hears(chip, sender))
        } else if self.rule.holds_reads() {
            // Whatever else a die sends is the end of an operation that holds no path.
            self.ways(die, None, self.dies[die.index()].acknowledged)
        } else {
            self.ways(die, None, self.dies[die.index()].hearer())
        };
        self.wait(die, phase, ways, now, outbox);
    }

    fn acquire_for(&mut self, die: DieId, _data: DataOf, now: Time, outbox: &mut Outbox) {
        self.acquire(die, TransferPhase::DataOut, now, outbox);
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, _outbox: &mut Outbox) -> Sent {
        let (packets, _) = self.packetizer.cut(payload);
        let Way { sender, chip, hearer, .. } = self.circuit(grant.path).way;
        let own = self.chip_of(grant.die);
        let state = &mut self.dies[grant.die.index()];
        let heard = self.controllers.hears(own, state.commanding);
        match payload.message {
            Message::Read => state.will_send(heard, payload.planes),
            Message::Program | Message::Erase | Message::Copyback => state.acknowledged = heard,
            Message::Data | Message::Copy => _ = state.sends(),
        }
        let (ends, hops) = match payload.message {
            Message::Data | Message::Copy => ([chip, hearer], self.controllers.least_hops_out(own)),
            _ => ([sender, chip], self.controllers.least_hops_in(own)),
        };
        let delivered = self.cross(ends, packets, payload.bytes, grant.phase, now);
        let least = self.flit_time * (self.zero_load.cycles(packets, hops) + 1);
        Sent { delivered: Some(delivered), least }
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        let Some(Circuit { die, way, since }) = self.circuits[grant.path.index()].take() else { return };
        for link in way.links {
            self.taken[link.index()] = None;
            outbox.used(link, die, since, now);
        }
        self.serve(now, outbox);
    }

    fn acknowledges(&self) -> bool {
        true
    }

    fn acknowledge_over(&mut self, grant: Grant, now: Time) -> Time {
        let Way { chip, hearer, .. } = self.circuit(grant.path).way;
        let packets = self.packetizer.acknowledgement();
        self.cross([chip, hearer], packets, Bytes::ZERO, TransferPhase::DataOut, now)
    }

    fn is_behind(&self, die: DieId, _phase: TransferPhase, is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        let Some(at) = self.waiting.iter().position(|waiting| waiting.die == die) else { return false };
        let wanted: Vec<LinkId> = self.waiting[at].ways.iter().flat_map(|way| way.links.iter().copied()).collect();
        let holders = wanted.iter().filter_map(|link| self.taken[link.index()]);
        let wants_the_same =
            |other: &&Waiting| other.ways.iter().any(|way| way.links.iter().any(|link| wanted.contains(link)));
        let before = self.waiting[..at].iter().filter(wants_the_same).map(|other| other.die);
        holders.chain(before).any(|other| other != die && is_another(other))
    }

    fn links_of(&self, grant: Grant) -> Vec<LinkId> {
        self.circuit(grant.path).way.links.clone()
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

    fn controllers_busy(&self, now: Time) -> Vec<Time> {
        self.links.controllers_busy(now)
    }

    fn hops(&self) -> u64 {
        self.links.hops()
    }

    fn held(&self) -> Vec<(LinkId, DieId)> {
        (0..).map(LinkId).zip(&self.taken).filter_map(|(link, die)| Some((link, (*die)?))).collect()
    }
}
