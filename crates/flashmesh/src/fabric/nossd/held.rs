//! NoSSD with paths that are held through the operation of the array: circuits of the links that the packets of a command and its answer
//! would cross, from the controller that the injection policy chooses to the chip, and back to the one that hears it.
//!
//! Packets meet no others on a circuit, so that each takes as long as it does alone, and links of one wire for both directions
//! are one part. The way, the packets and the policies are those of the network that holds nothing; what decides between packets that meet
//! (arbitration, buffers, interleaving) decides nothing here.

use crate::config::Config;
use crate::fabric::held_paths::{HeldPaths, Way, Ways};
use crate::fabric::layout::{Layout, LinkKind, Passage};
use crate::fabric::wormhole::{TerminalId, Topology};
use crate::fabric::{Cause, FabricError, LinkUsage, Message, Outbox, Payload, Sent, TransferPhase};
use crate::flash::geometry::Geometry;
use crate::ids::{ChipId, DieId, LinkId};
use crate::units::{Bytes, Time};

use super::controllers;
use super::controllers::Controllers;
use super::link_accounting::LinkAccounting;
use super::packets::{Packetizer, Packets};
use super::settings::{parameters, too_large};
use super::zero_load_latency::ZeroLoadLatency;

/// The ends of a circuit: local channels of the controller that sends, of the chip, and of the controller that hears it.
#[derive(Clone, Copy, Debug)]
struct Ends {
    sender: TerminalId,
    chip: TerminalId,
    hearer: TerminalId,
}

/// The links of the network, to be held as circuits.
#[derive(Debug)]
pub struct Circuits {
    topology: Topology,
    flit_time: Time,
    packetizer: Packetizer,
    zero_load: ZeroLoadLatency,
    controllers: Controllers,
    /// The controller whose turn it is to send a command.
    turn: u32,
    dies_per_chip: u32,
    local_channels: u32,
    links: LinkAccounting,
}

impl HeldPaths<Circuits> {
    /// The network of the drive that `config` describes.
    ///
    /// # Errors
    /// When there cannot be such a network.
    pub(in super::super) fn nossd(config: &Config, geometry: &Geometry) -> Result<HeldPaths<Circuits>, FabricError> {
        let nossd = &config.nossd;
        let topology = controllers::topology(nossd, geometry).map_err(too_large)?;
        let controllers = Controllers::new(nossd, geometry, &topology);
        let circuits = Circuits {
            links: LinkAccounting::new(&topology, &controllers, geometry, nossd),
            flit_time: nossd.flit_time,
            packetizer: Packetizer::new(nossd, geometry.page_spare),
            zero_load: ZeroLoadLatency::new(parameters(nossd)),
            turn: 0,
            dies_per_chip: geometry.dies_per_chip,
            local_channels: nossd.local_channels,
            controllers,
            topology,
        };
        Ok(HeldPaths::new(circuits, geometry.dies()))
    }
}

impl Circuits {
    fn chip_of(&self, die: DieId) -> ChipId {
        ChipId(die.0 / self.dies_per_chip)
    }

    /// The number of the part that is a link of the network.
    fn part(&self, link: LinkId) -> u32 {
        self.links.number(link).0
    }

    /// When a message of `packets` that is sent at `now` has arrived.
    fn arrival(&mut self, [source, destination]: [TerminalId; 2], packets: Packets, now: Time) -> Time {
        let hops = self.topology.hops(source, destination);
        let created = now.as_ps().div_ceil(self.flit_time.as_ps());
        self.flit_time * (created + self.zero_load.cycles(packets, hops) + 1)
    }

    /// The ends of the circuit `way` to `die`: by the controller that sends, then its local channel, then that of the chip. The answer
    /// reaches its controller over the local channel of the same number as that of the sender.
    fn ends(&self, die: DieId, way: u32) -> Ends {
        let (own, of_sender) = (way % self.local_channels, way / self.local_channels % self.local_channels);
        let sender = way / self.local_channels / self.local_channels;
        let chip = self.chip_of(die);
        let hearer = self.controllers.hears(chip, sender);
        let local = |first: TerminalId, number: u32| TerminalId(first.0 + number);
        Ends {
            sender: local(self.controllers.terminal(sender), of_sender),
            chip: local(self.controllers.terminal_of_chip(chip), own),
            hearer: local(self.controllers.terminal(hearer), of_sender),
        }
    }

    /// Where a message of `phase` goes.
    fn way_of(&self, die: DieId, way: u32, phase: TransferPhase) -> [TerminalId; 2] {
        let Ends { sender, chip, hearer } = self.ends(die, way);
        match phase {
            TransferPhase::Command => [sender, chip],
            TransferPhase::DataOut | TransferPhase::Copy => [chip, hearer],
        }
    }

    /// A message for `die` has crossed the links from one end to the other, from `since` on.
    fn crossed(
        &mut self,
        die: DieId,
        ends: [TerminalId; 2],
        (packets, bytes, phase): (Packets, Bytes, TransferPhase),
        since: Time,
        outbox: &mut Outbox,
    ) {
        let busy = self.flit_time * (u64::from(packets.count) * u64::from(packets.flits));
        self.links.count(&self.topology, ends, busy, bytes, phase);
        self.topology.follow(ends[0], ends[1], |link| outbox.used(self.links.number(link), die, since, since + busy));
    }
}

impl Ways for Circuits {
    fn parts(&self) -> u32 {
        self.links.layout().links.len() as u32
    }

    fn of(&mut self, die: DieId, load: &dyn Fn(u32) -> u32) -> Vec<Way> {
        let chip = self.chip_of(die);
        let mut turn = self.turn;
        let local_load = |controller: u32| -> u32 {
            let locals = self.controllers.local_channels(self.controllers.terminal(controller));
            locals.map(|terminal| load(self.part(self.topology.injection(terminal)))).sum()
        };
        let sender = self.controllers.choose(chip, &mut turn, local_load);
        self.turn = turn;
        let circuits = self.local_channels * self.local_channels;
        let way = |number: u32| {
            let Ends { sender, chip, hearer } = self.ends(die, number);
            let mut parts = Vec::new();
            self.topology.follow(sender, chip, |link| parts.push(self.part(link)));
            self.topology.follow(chip, hearer, |link| parts.push(self.part(link)));
            parts.sort_unstable();
            parts.dedup();
            Way { parts, number }
        };
        (sender * circuits..(sender + 1) * circuits).map(way).collect()
    }

    /// The controllers, where every local channel of the one that was chosen is taken; else the links between routers.
    fn cause(&self, ways: &[Way], is_taken: &dyn Fn(u32) -> bool) -> Cause {
        let of_controllers = |part: &&u32| self.links.layout().links[**part as usize].kind == LinkKind::Controller;
        let is_crowded = |way: &Way| way.parts.iter().filter(of_controllers).any(|&part| is_taken(part));
        if ways.iter().all(is_crowded) { Cause::Controller } else { Cause::Link }
    }

    fn time(&mut self, die: DieId, way: u32, payload: Payload, now: Time) -> Sent {
        let (packets, _) = self.packetizer.cut(payload);
        let phase = match payload.message {
            Message::Data | Message::Copy => TransferPhase::DataOut,
            _ => TransferPhase::Command,
        };
        let delivered = self.arrival(self.way_of(die, way, phase), packets, now);
        let chip = self.chip_of(die);
        let hops = match phase {
            TransferPhase::Command => self.controllers.least_hops_in(chip),
            TransferPhase::DataOut | TransferPhase::Copy => self.controllers.least_hops_out(chip),
        };
        let least = self.flit_time * (self.zero_load.cycles(packets, hops) + 1);
        Sent { delivered: Some(delivered), least }
    }

    fn count(
        &mut self,
        die: DieId,
        way: u32,
        phase: TransferPhase,
        payload: Payload,
        since: Time,
        outbox: &mut Outbox,
    ) {
        let (packets, _) = self.packetizer.cut(payload);
        let ends = self.way_of(die, way, phase);
        self.crossed(die, ends, (packets, payload.bytes, phase), since, outbox);
    }

    fn acknowledged(&mut self, die: DieId, way: u32, now: Time) -> Time {
        let packets = self.packetizer.acknowledgement();
        self.arrival(self.way_of(die, way, TransferPhase::DataOut), packets, now)
    }

    fn count_acknowledgement(&mut self, die: DieId, way: u32, since: Time, outbox: &mut Outbox) {
        let ends = self.way_of(die, way, TransferPhase::DataOut);
        let message = (self.packetizer.acknowledgement(), Bytes::ZERO, TransferPhase::DataOut);
        self.crossed(die, ends, message, since, outbox);
    }

    fn layout(&self) -> &Layout {
        self.links.layout()
    }

    fn passages(&self) -> Vec<Passage> {
        self.links.passages()
    }

    fn usage(&self) -> &[LinkUsage] {
        self.links.usage()
    }

    fn controllers_busy(&self, _now: Time) -> Vec<Time> {
        self.links.controllers_busy()
    }

    fn hops(&self) -> u64 {
        self.links.hops()
    }
}
