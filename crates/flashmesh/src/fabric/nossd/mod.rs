//! NoSSD: the chips carry routers, and commands and data move between them as packets (Network-on-SSD, CAL 2012;
//! Design for Scalability in Enterprise SSDs, PACT 2014).
//!
//! Two papers, and two readings: the presets `nossd12` and `enterprise-slc` have what each says, of which the defaults here are a mixture that
//! no paper has, kept for comparisons with the other interconnects.
//!
//! - *Network* (PACT 2014, section 5.3 and Table 5): a router in each chip, wormhole switching, XY routing, no virtual
//!   channels. A flit of 8 bit takes `flit-time` on a link and as long in each of the three stages of a router; the
//!   flits behind a head follow one by one. That is exact to the flit, see [`wormhole`](super::wormhole), which argues
//!   as well why it is free of deadlock: requests, data and acknowledgements share the buffers, all of them go XY, and
//!   whoever receives them takes them at once.
//! - *Flow control* (PACT 2014, section 5.3): the on/off signal of a buffer is modelled as the return of each slot, one cycle
//!   \[choice\]: with the four cycles of a hop this is the round trip of five of which the paper's least buffer of 10
//!   flits is the double.
//!   A [`PacketRouting`] of the caller's own names other ways, which must keep it free of deadlock.
//! - *Messages* (PACT 2014, section 5.2): read and erase requests, acknowledgements, and pages in packets of data. With
//!   `keep-runs` (rule 2) the packets of a page are one long packet to the network; with `small-first` (rule 1) the
//!   others go before them.
//! - *Controllers* (PACT 2014, section 5.4; CAL 2012, section 3.3): one for each row, on one side or on all four, each with one link
//!   into the network and one out of it. A die that wants its next operation waits in the queue of the controller that
//!   the injection policy chooses, and is granted the controller when all of the message before is in the network. Data
//!   waits for the link from the chip into its router in the same way. After that nothing is reserved: the time
//!   blocked in the network is [`stalled`](Fabric::stalled).
//! - *Clean* (CAL 2012, section 3.4): with `gc.move = "chip-to-chip"` the data of a page that is moved goes straight to another
//!   chip, which is then told to program it by a request without data, and acknowledges that; with `gc.move = "clean"` one request
//!   lists the pages of a block, and the chips do the rest by themselves ([`Fabric::redirect_acknowledgement`]). With `gc.copyback` the
//!   request to move pages inside a chip is of the same length. What goes from chip to chip goes XY as well, and is
//!   taken at once, so the network stays free of deadlock.
//! - *Half-duplex links* (PACT 2014, section 5.3) take turns with every flit with `interleave = "flits"`, those of the controllers as well: see
//!   [`FlitNetwork`](super::wormhole::FlitNetwork), which follows every flit and argues why it is free of deadlock. With `interleave = "packets"` they
//!   carry a packet only into a buffer that has room for all of it, without the long packets of `keep-runs`.
//! - *Lockstep* (CAL 2012, Table 1): with `pipeline-stages = 0` and `slot-reuse = "same-cycle"` a flit passes a router in a cycle, and a slot is
//!   filled in the cycle in which its flit leaves, so that buffers of one flit let a flit pass in every cycle.
//! - *Local channels* (PACT 2014, section 5.1): each chip, and each controller, has `chip-channels` and
//!   `controller-channels` links into the network and as many out
//!   of it. A message enters over one that is free, and leaves over the one that the fewest others are on their way to \[choice\].
//! - *Controller queues*: with `controller-queues = "packets"` no die waits for a controller. Its command is chosen when it is ready, and waits as
//!   packets, small ones first; the wait is time in the network, and `least-loaded` counts packets, as PACT 2014, section 5.4 has it.

mod circuits;
mod controllers;
mod facts;
mod link_accounting;
mod messages;
mod packets;
mod ports;
mod routing;
mod settings;
mod state;
mod terminals;
mod transport;
mod zero_load_latency;

use crate::config::{Config, ControllerQueues};
use crate::flash::geometry::Geometry;
use crate::ids::{AcknowledgementId, ChipId, DieId, LinkId, PathId};
use crate::units::{Bytes, Time};

use super::layout::{Layout, SharedResource};
use super::wormhole::{Class, TerminalId, Topology};
use super::{
    Cause, Fabric, FabricError, FabricEvent, Grant, Granted, Held, LinkUsage, Message, Outbox, Payload, Sent, TOKENS,
    TransferPhase,
};

pub use circuits::Circuits;
use controllers::Controllers;
pub use facts::FACTS;
use link_accounting::LinkAccounting;
use messages::Messages;
use packets::Packetizer;
use ports::{Entry, Ports};
pub use routing::{PacketRouting, PacketRoutingError};
use settings::too_large;
use state::{DieState, InFlight, Purpose};

/// The token of the wake-up for the network; those of ports are the numbers of their terminals.
const NETWORK: u32 = TOKENS - 1;

/// A network of routers, one in each chip.
#[derive(Clone, Debug)]
pub struct Nossd {
    messages: Messages,
    packetizer: Packetizer,
    controllers: Controllers,
    ports: Ports,
    dies: Vec<DieState>,
    queues: ControllerQueues,
    /// The controller whose turn it is to send a command.
    turn: u32,
    dies_per_chip: u32,
}

impl Nossd {
    /// The network of the drive that `config` describes.
    ///
    /// # Errors
    /// When there cannot be such a network.
    pub fn new(config: &Config, geometry: &Geometry) -> Result<Nossd, FabricError> {
        Nossd::over(config, geometry, controllers::topology(&config.nossd, geometry).map_err(too_large)?)
    }

    fn over(config: &Config, geometry: &Geometry, topology: Topology) -> Result<Nossd, FabricError> {
        let nossd = &config.nossd;
        let controllers = Controllers::new(nossd, geometry, &topology);
        let links = LinkAccounting::new(&topology, &controllers, geometry, nossd);
        Ok(Nossd {
            messages: Messages::new(nossd, topology, &controllers, links).map_err(too_large)?,
            packetizer: Packetizer::new(nossd, geometry.page_spare),
            ports: Ports::new(controllers.terminals()),
            controllers,
            dies: vec![DieState::default(); geometry.dies() as usize],
            queues: nossd.controller_queues,
            turn: 0,
            dies_per_chip: geometry.dies_per_chip,
        })
    }

    fn chip_of(&self, die: DieId) -> ChipId {
        ChipId(die.0 / self.dies_per_chip)
    }

    /// How much there is to send at a controller.
    fn load(&self, controller: u32, now: Time) -> u32 {
        let port = self.controllers.terminal(controller);
        match self.queues {
            ControllerQueues::Dies => self.ports.load(port, now),
            ControllerQueues::Packets => {
                self.controllers.local_channels(port).map(|terminal| self.messages.queued_packets(terminal)).sum()
            }
        }
    }

    /// The port where the messages of a die enter the network.
    fn port(&self, die: DieId, phase: TransferPhase) -> TerminalId {
        match phase {
            TransferPhase::Command => self.controllers.terminal(self.dies[die.index()].commanding),
            TransferPhase::DataOut | TransferPhase::Copy => self.controllers.terminal_of_chip(self.chip_of(die)),
        }
    }

    fn grant(die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        let path = PathId(die.0 * TransferPhase::ALL.len() as u32 + phase.index() as u32);
        let cause = match phase {
            TransferPhase::Command => Cause::Controller,
            TransferPhase::DataOut | TransferPhase::Copy => Cause::Channel,
        };
        outbox.grants.push(Granted { grant: Grant { die, phase, path }, since: now, cause });
    }

    /// The port at `terminal` can take the next message.
    fn port_is_free(&mut self, terminal: TerminalId, now: Time, outbox: &mut Outbox) {
        while let Some((die, channel)) = self.ports.next(terminal, now) {
            let phase = match self.dies[die.index()].copies_to {
                _ if self.controllers.has(terminal) => TransferPhase::Command,
                Some(_) => TransferPhase::Copy,
                None => TransferPhase::DataOut,
            };
            self.dies[die.index()].channel[phase.index()] = channel;
            Nossd::grant(die, phase, now, outbox);
        }
    }

    /// A die wants to send a message for `phase`.
    fn enter(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        if phase == TransferPhase::Command && self.queues == ControllerQueues::Packets {
            return Nossd::grant(die, phase, now, outbox);
        }
        let port = self.port(die, phase);
        match self.ports.enter(port, die, now) {
            Entry::Granted(channel) => {
                self.dies[die.index()].channel[phase.index()] = channel;
                Nossd::grant(die, phase, now, outbox);
            }
            Entry::First(free) => outbox.events.push((free, FabricEvent::Wake(port.0))),
            Entry::Waiting => {}
        }
    }

    /// The terminal that a message of a granted die goes to, noting who hears what follows from it.
    fn destination(&mut self, grant: Grant, payload: Payload) -> TerminalId {
        let chip = self.chip_of(grant.die);
        let state = &mut self.dies[grant.die.index()];
        match payload.message {
            Message::Read => {
                state.will_send(self.controllers.hears(chip, state.commanding), payload.planes);
                self.controllers.terminal_of_chip(chip)
            }
            Message::Program | Message::Erase | Message::Copyback => {
                state.acknowledged = self.controllers.hears(chip, state.commanding);
                self.controllers.terminal_of_chip(chip)
            }
            Message::Data | Message::Copy => {
                let hearing = state.sends();
                match state.copies_to.take() {
                    Some(to) => self.controllers.terminal_of_chip(to),
                    None => self.controllers.terminal(hearing),
                }
            }
        }
    }
}

impl Fabric for Nossd {
    fn set_packet_routing(
        &mut self,
        config: &Config,
        geometry: &Geometry,
        routing: &dyn PacketRouting,
    ) -> Result<bool, PacketRoutingError> {
        let topology = controllers::topology(&config.nossd, geometry).map_err(too_large)?;
        *self = Nossd::over(config, geometry, routing::routed(topology, routing)?)?;
        Ok(true)
    }

    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        if phase == TransferPhase::Command {
            let chip = self.chip_of(die);
            let mut turn = self.turn;
            let chosen = self.controllers.choose(chip, &mut turn, |controller| self.load(controller, now));
            self.turn = turn;
            self.dies[die.index()].commanding = chosen;
        }
        self.enter(die, phase, now, outbox);
    }

    fn copies(&self, from: DieId, to: DieId) -> bool {
        self.chip_of(from) != self.chip_of(to)
    }

    fn acquire_copy(&mut self, from: DieId, to: DieId, now: Time, outbox: &mut Outbox) {
        self.dies[from.index()].copies_to = Some(self.chip_of(to));
        self.enter(from, TransferPhase::Copy, now, outbox);
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, outbox: &mut Outbox) -> Sent {
        let (packets, class) = self.packetizer.cut(payload);
        let source = if grant.phase == TransferPhase::Command && self.queues == ControllerQueues::Packets {
            let port = self.port(grant.die, grant.phase);
            self.controllers.least_of(port, |terminal| self.messages.queued_packets(terminal))
        } else {
            let channel = self.dies[grant.die.index()].channel[grant.phase.index()];
            self.ports.send(channel);
            channel
        };
        let destination = self.destination(grant, payload);
        let message = InFlight {
            purpose: Purpose::Transfer(grant),
            die: grant.die,
            packets,
            // The list of a Clean is no data.
            bytes: if payload.message == Message::Read { Bytes::ZERO } else { payload.bytes },
            source,
            destination,
            created: 0,
            to_inject: packets.count,
            to_deliver: packets.count,
        };
        self.messages.inject(message, class, now, &self.controllers, outbox);
        let chip = self.chip_of(grant.die);
        let hops = match grant.phase {
            TransferPhase::Command => self.controllers.least_hops_in(chip),
            TransferPhase::DataOut => self.controllers.least_hops_out(chip),
            TransferPhase::Copy => self.messages.hops(source, destination),
        };
        Sent { delivered: None, least: self.messages.least(packets, hops) }
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        self.messages.links.tell(now, outbox);
        if let Some(id) = self.dies[grant.die.index()].arriving[grant.phase.index()].take() {
            self.messages.count(id, &self.controllers);
        }
        // After a transfer its port has been free, or has served others, since all of it was in the network.
        let channel = self.dies[grant.die.index()].channel[grant.phase.index()];
        if self.ports.is_granted(channel, grant.die) {
            self.dies[grant.die.index()].copies_to = None;
            self.ports.free_from(channel, now);
            self.port_is_free(channel, now, outbox);
        }
    }

    fn is_behind(&self, die: DieId, phase: TransferPhase, is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        // Whatever is in the network may block it there.
        self.messages
            .dies()
            .chain(self.ports.waiting(self.port(die, phase)))
            .any(|other| other != die && is_another(other))
    }

    fn stalled(&self, grant: Grant) -> Time {
        self.dies[grant.die.index()].stalled[grant.phase.index()]
    }

    fn acknowledges(&self) -> bool {
        true
    }

    fn acknowledge(&mut self, die: DieId, id: AcknowledgementId, now: Time, outbox: &mut Outbox) {
        self.messages.count_acknowledgements(now, &self.controllers);
        let packets = self.packetizer.acknowledgement();
        let message = InFlight {
            purpose: Purpose::Acknowledgement(id),
            die,
            packets,
            bytes: Bytes::ZERO,
            source: self.controllers.least_of(self.controllers.terminal_of_chip(self.chip_of(die)), |terminal| {
                self.messages.queued_packets(terminal)
            }),
            destination: self.controllers.terminal(self.dies[die.index()].acknowledged),
            created: 0,
            to_inject: packets.count,
            to_deliver: packets.count,
        };
        self.messages.inject(message, Class::Small, now, &self.controllers, outbox);
    }

    fn redirect_acknowledgement(&mut self, die: DieId, by: DieId) {
        self.dies[die.index()].acknowledged =
            self.controllers.hears(self.chip_of(die), self.dies[by.index()].commanding);
    }

    fn wake(&mut self, token: u32, now: Time, outbox: &mut Outbox) {
        match token {
            NETWORK => self.messages.advance(now, &mut self.ports, &mut self.dies, outbox),
            terminal => self.port_is_free(TerminalId(terminal), now, outbox),
        }
        self.messages.links.tell(now, outbox);
    }

    /// A network that runs ahead knows uses of links before they end.
    fn catch_up(&mut self, now: Time, outbox: &mut Outbox) {
        self.messages.links.tell(now, outbox);
    }

    fn finish(&mut self, now: Time, outbox: &mut Outbox) {
        self.messages.count_acknowledgements(now, &self.controllers);
        self.messages.links.tell(now, outbox);
    }

    fn layout(&self) -> &Layout {
        self.messages.links.layout()
    }

    fn shared_resources(&self) -> Vec<SharedResource> {
        self.messages.links.shared_resources()
    }

    fn usage(&self) -> &[LinkUsage] {
        self.messages.links.usage()
    }

    fn links_held(&self) -> Held<Time> {
        Held::ByPackets(self.messages.links_held())
    }

    fn controllers_busy(&self, now: Time) -> Vec<Time> {
        self.messages.links.controllers_busy(now)
    }

    fn hops(&self) -> u64 {
        self.messages.links.hops()
    }

    fn held(&self) -> Vec<(LinkId, DieId)> {
        self.messages.held()
    }
}
