//! NoSSD: routers in the chips move commands and data as packets (Network-on-SSD, CAL 2012; Design for Scalability in Enterprise SSDs, PACT 2014).
//!
//! The presets `nossd12` and `enterprise-slc` follow one paper each. The defaults of `[nossd]` combine the two, which no paper does, for comparisons
//! with the other interconnects.
//!
//! - *Network* (PACT 2014, section 5.3 and Table 5): a router in each chip, wormhole switching, XY routing, no virtual channels. A flit of 8 bit
//!   takes `flit-time` on a link and in each of the three stages of a router; the flits of a packet follow each other without gaps. The model is
//!   exact to the flit: see [`wormhole`](super::wormhole), which also proves freedom from deadlock. Requests, data and acknowledgements share the
//!   buffers. All packets are routed XY, and receivers accept them at once.
//! - *Flow control* (PACT 2014, section 5.3): the on/off signal of a buffer is modelled as one credit per slot, which takes one cycle to return
//!   (\[choice\]: the paper does not state it). A hop takes four cycles, so the credit round trip is five cycles, half the paper's smallest buffer of
//!   10 flits. A custom [`PacketRouting`] can replace XY routing, and must stay free of deadlock.
//! - *Messages* (PACT 2014, section 5.2): read and erase requests, acknowledgements, and pages in data packets. With `keep-runs` (rule 2) the packets
//!   of a page travel as one long packet; with `small-first` (rule 1) small packets (requests and acknowledgements) go before data packets.
//! - *Controllers* (PACT 2014, section 5.4; CAL 2012, section 3.3): one for each row, on one side of the array or on all four. Each has one link into
//!   the network and one out of it. The injection policy chooses the controller for a command. The die waits in the queue of that controller until
//!   the previous message of the controller is completely in the network. In the same way, data waits for the link from its chip into the router. A
//!   granted message reserves no links; other packets block it for [`stall_time`](Fabric::stall_time).
//! - *Clean* (CAL 2012, section 3.4): with `gc.move = "chip-to-chip"` a moved page goes directly to another chip. A request without data then makes
//!   that chip program the page, and the chip acknowledges it. With `gc.move = "clean"` one request lists the pages of a block, and the chips move
//!   them without further requests ([`Fabric::redirect_acknowledgement`]). With `gc.copyback` the request to move pages inside a chip is as long as
//!   an erase request. Packets between chips are also routed XY and accepted at once, so the network stays free of deadlock.
//! - *Half-duplex links* (PACT 2014, section 5.3): with `interleave = "flits"` the two directions of a link alternate flit by flit, on controller
//!   links as well. [`FlitNetwork`](super::wormhole::FlitNetwork) simulates every flit, and its doc proves freedom from deadlock. With `interleave =
//!   "packets"` a packet crosses a link only if the buffer behind it has space for the whole packet; `keep-runs`, which makes long packets, is
//!   rejected.
//! - *Lockstep* (CAL 2012, Table 1): with `pipeline-stages = 0` and `slot-reuse = "same-cycle"` a flit passes a router in one cycle, and a slot can
//!   be refilled in the cycle in which its flit leaves. So a buffer of one flit passes a flit in every cycle.
//! - *Local channels* (PACT 2014, section 5.1): each chip has `chip-channels` links into the network and as many out of it, each controller
//!   `controller-channels`. A message enters over a free local channel, and leaves over the one with the fewest messages in flight \[choice\].
//! - *Controller queues*: with `controller-queues = "packets"` no die waits for a controller. The controller of a command is chosen as soon as the
//!   command is ready, and the packets of the command queue at the controller, small packets first. The wait counts as time in the network, and
//!   `least-loaded` counts packets, as in PACT 2014, section 5.4.

mod circuit_switched;
mod info;
mod injection;
mod messages;
mod network;
mod settings;

use crate::config::{Config, ControllerQueues};
use crate::flash::geometry::Geometry;
use crate::ids::{AcknowledgementId, ChipId, DieId, LinkId, PathId};
use crate::units::{Bytes, Time};

use super::layout::{Layout, SharedResource};
use super::wormhole::{PacketClass, TerminalId, Topology};
use super::{
    Cause, Fabric, FabricError, FabricEvent, Grant, GrantRecord, HoldTimes, LinkUsage, Outbox, Payload, SendOutcome,
    TOKENS, TransferKind, TransferPhase,
};

pub use circuit_switched::CircuitSwitchedNossd;
pub use info::INFO;
use injection::controller_selector::{ControllerSelector, InjectionState};
use injection::injection_ports::{InjectionPorts, PortAdmission};
use messages::MessageNetwork;
use messages::packets::Packetizer;
use messages::state::{DieState, MessageContent, MessageInFlight};
use network::link_accounting::LinkAccounting;
pub use network::routing::{PacketRouting, PacketRoutingError};
use settings::too_large;

/// Token of wake-ups for the next event of the network. The token of a wake-up for a free port (injection point of a chip or controller) is one of
/// its terminals.
const NETWORK: u32 = TOKENS - 1;

/// The packet-switched NoSSD interconnect: a network of routers, one in each chip.
#[derive(Clone, Debug)]
pub struct Nossd {
    messages: MessageNetwork,
    packetizer: Packetizer,
    controllers: ControllerSelector,
    ports: InjectionPorts,
    dies: Vec<DieState>,
    queues: ControllerQueues,
    injection_state: InjectionState,
    dies_per_chip: u32,
}

impl Nossd {
    /// Builds the network of the drive that `config` describes.
    ///
    /// # Errors
    /// If the network is too large, or could deadlock.
    pub fn new(config: &Config, geometry: &Geometry) -> Result<Nossd, FabricError> {
        Nossd::with_topology(
            config,
            geometry,
            injection::controller_selector::topology(&config.nossd, geometry).map_err(too_large)?,
        )
    }

    fn with_topology(config: &Config, geometry: &Geometry, topology: Topology) -> Result<Nossd, FabricError> {
        let nossd = &config.nossd;
        let controllers = ControllerSelector::new(nossd, geometry, &topology);
        let links = LinkAccounting::new(&topology, &controllers, geometry, nossd);
        Ok(Nossd {
            messages: MessageNetwork::new(nossd, topology, &controllers, links).map_err(too_large)?,
            packetizer: Packetizer::new(nossd, geometry.page_spare),
            ports: InjectionPorts::new(controllers.terminals()),
            controllers,
            dies: vec![DieState::default(); geometry.dies() as usize],
            queues: nossd.controller_queues,
            injection_state: InjectionState::new(config.seed),
            dies_per_chip: geometry.dies_per_chip,
        })
    }

    fn chip_of(&self, die: DieId) -> ChipId {
        ChipId(die.0 / self.dies_per_chip)
    }

    /// Returns the load of a controller at `now`: the number of dies that are queued there or send. With `controller-queues = "packets"`, the number
    /// of queued packets.
    fn load(&self, controller: u32, now: Time) -> u32 {
        let port = self.controllers.terminal(controller);
        match self.queues {
            ControllerQueues::Dies => self.ports.load(port, now),
            ControllerQueues::Packets => {
                self.controllers.local_channels(port).map(|terminal| self.messages.queued_packets(terminal)).sum()
            }
        }
    }

    /// Returns the terminal that identifies the port (injection point of a chip or controller) at which a message of `die` for `phase` enters the
    /// network. Commands enter at the port of their controller, other messages at the port of the chip.
    fn port(&self, die: DieId, phase: TransferPhase) -> TerminalId {
        match phase {
            TransferPhase::Command => self.controllers.terminal(self.dies[die.index()].command_controller),
            TransferPhase::DataOut | TransferPhase::Copy => self.controllers.terminal_of_chip(self.chip_of(die)),
        }
    }

    fn grant(die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        let path = PathId(die.0 * TransferPhase::ALL.len() as u32 + phase.index() as u32);
        let cause = match phase {
            TransferPhase::Command => Cause::Controller,
            TransferPhase::DataOut | TransferPhase::Copy => Cause::Channel,
        };
        outbox.grants.push(GrantRecord { grant: Grant { die, phase, path }, since: now, cause });
    }

    /// Grants the free local channels (links into the network) of the port of `terminal` at `now` to queued dies, one channel each.
    fn grant_port(&mut self, terminal: TerminalId, now: Time, outbox: &mut Outbox) {
        while let Some((die, channel)) = self.ports.grant_next(terminal, now) {
            let phase = match self.dies[die.index()].copy_destination {
                _ if self.controllers.is_controller(terminal) => TransferPhase::Command,
                Some(_) => TransferPhase::Copy,
                None => TransferPhase::DataOut,
            };
            self.dies[die.index()].local_channels[phase.index()] = channel;
            Nossd::grant(die, phase, now, outbox);
        }
    }

    /// Requests the port of `die` for a message of `phase`. With `controller-queues = "packets"`, a command is granted at once, because dies do not
    /// queue at controllers.
    fn request(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        if phase == TransferPhase::Command && self.queues == ControllerQueues::Packets {
            return Nossd::grant(die, phase, now, outbox);
        }
        let port = self.port(die, phase);
        match self.ports.request(port, die, now) {
            PortAdmission::Granted(channel) => {
                self.dies[die.index()].local_channels[phase.index()] = channel;
                Nossd::grant(die, phase, now, outbox);
            }
            PortAdmission::First(free) => outbox.events.push((free, FabricEvent::Wake(port.0))),
            PortAdmission::Waiting => {}
        }
    }

    /// Returns the destination terminal of a message with `payload` over the path of `grant`. For a command, also records the controller that will
    /// receive its reply (data or acknowledgement).
    fn destination(&mut self, grant: Grant, payload: Payload) -> TerminalId {
        let chip = self.chip_of(grant.die);
        let state = &mut self.dies[grant.die.index()];
        match payload.kind {
            TransferKind::Read => {
                state.expect_data(self.controllers.reply_controller(chip, state.command_controller), payload.planes);
                self.controllers.terminal_of_chip(chip)
            }
            TransferKind::Program | TransferKind::Erase | TransferKind::Copyback => {
                state.ack_controller = self.controllers.reply_controller(chip, state.command_controller);
                self.controllers.terminal_of_chip(chip)
            }
            TransferKind::Data | TransferKind::ChipToChipData => {
                let reads = state.dequeue_plane();
                match state.copy_destination.take() {
                    Some(to) => self.controllers.terminal_of_chip(to),
                    None => self.controllers.terminal(reads),
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
        let topology = injection::controller_selector::topology(&config.nossd, geometry).map_err(too_large)?;
        *self = Nossd::with_topology(config, geometry, network::routing::with_routing(topology, routing)?)?;
        Ok(true)
    }

    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        if phase == TransferPhase::Command {
            let chip = self.chip_of(die);
            let mut state = self.injection_state.clone();
            let chosen = self.controllers.command_controller(chip, &mut state, |controller| self.load(controller, now));
            self.injection_state = state;
            self.dies[die.index()].command_controller = chosen;
        }
        self.request(die, phase, now, outbox);
    }

    fn supports_chip_to_chip(&self, from: DieId, to: DieId) -> bool {
        self.chip_of(from) != self.chip_of(to)
    }

    fn acquire_chip_to_chip(&mut self, from: DieId, to: DieId, now: Time, outbox: &mut Outbox) {
        self.dies[from.index()].copy_destination = Some(self.chip_of(to));
        self.request(from, TransferPhase::Copy, now, outbox);
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, outbox: &mut Outbox) -> SendOutcome {
        let (packets, class) = self.packetizer.packetize(payload);
        let source = if grant.phase == TransferPhase::Command && self.queues == ControllerQueues::Packets {
            let port = self.port(grant.die, grant.phase);
            self.controllers.channel_with_min(port, |terminal| self.messages.queued_packets(terminal))
        } else {
            let channel = self.dies[grant.die.index()].local_channels[grant.phase.index()];
            self.ports.send(channel);
            channel
        };
        let destination = self.destination(grant, payload);
        let message = MessageInFlight {
            purpose: MessageContent::Transfer(grant),
            die: grant.die,
            packets,
            // The request of a Clean (chip-to-chip GC) has the kind of a read, and its page list does not count as data.
            bytes: if payload.kind == TransferKind::Read { Bytes::ZERO } else { payload.bytes },
            source,
            destination,
            created: 0,
            to_inject: packets.count,
            to_deliver: packets.count,
        };
        self.messages.inject(message, class, now, &self.controllers, outbox);
        let chip = self.chip_of(grant.die);
        let hops = match grant.phase {
            TransferPhase::Command => self.controllers.min_hops_in(chip),
            TransferPhase::DataOut => self.controllers.min_hops_out(chip),
            TransferPhase::Copy => self.messages.hops(source, destination),
        };
        SendOutcome { arrival: None, min_duration: self.messages.zero_load_latency(packets, hops) }
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        self.messages.links.report(now, outbox);
        if let Some(id) = self.dies[grant.die.index()].pending_arrivals[grant.phase.index()].take() {
            self.messages.count(id, &self.controllers);
        }
        // The local channel is still granted only if the die releases the path without a transfer. A transfer frees the channel when its message is
        // completely in the network.
        let channel = self.dies[grant.die.index()].local_channels[grant.phase.index()];
        if self.ports.is_granted(channel, grant.die) {
            self.dies[grant.die.index()].copy_destination = None;
            self.ports.schedule_free(channel, now);
            self.grant_port(channel, now, outbox);
        }
    }

    fn is_blocked_by(&self, die: DieId, phase: TransferPhase, is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        // Any message in the network can block the message of `die`, so consider the dies of all messages, and those queued at its port.
        self.messages
            .dies()
            .chain(self.ports.waiting(self.port(die, phase)))
            .any(|other| other != die && is_another(other))
    }

    fn stall_time(&self, grant: Grant) -> Time {
        self.dies[grant.die.index()].stalled[grant.phase.index()]
    }

    fn sends_acknowledgements(&self) -> bool {
        true
    }

    fn acknowledge(&mut self, die: DieId, id: AcknowledgementId, now: Time, outbox: &mut Outbox) {
        self.messages.count_acknowledgements(now, &self.controllers);
        let packets = self.packetizer.acknowledgement();
        let message = MessageInFlight {
            purpose: MessageContent::Acknowledgement(id),
            die,
            packets,
            bytes: Bytes::ZERO,
            source: self
                .controllers
                .channel_with_min(self.controllers.terminal_of_chip(self.chip_of(die)), |terminal| {
                    self.messages.queued_packets(terminal)
                }),
            destination: self.controllers.terminal(self.dies[die.index()].ack_controller),
            created: 0,
            to_inject: packets.count,
            to_deliver: packets.count,
        };
        self.messages.inject(message, PacketClass::Small, now, &self.controllers, outbox);
    }

    fn redirect_acknowledgement(&mut self, die: DieId, by: DieId) {
        self.dies[die.index()].ack_controller =
            self.controllers.reply_controller(self.chip_of(die), self.dies[by.index()].command_controller);
    }

    fn wake(&mut self, token: u32, now: Time, outbox: &mut Outbox) {
        match token {
            NETWORK => self.messages.advance(now, &mut self.ports, &mut self.dies, outbox),
            terminal => self.grant_port(TerminalId(terminal), now, outbox),
        }
        self.messages.links.report(now, outbox);
    }

    /// Reports the link uses that have ended by `now`. A network that is simulated ahead of `now` logs uses before they end.
    fn catch_up(&mut self, now: Time, outbox: &mut Outbox) {
        self.messages.links.report(now, outbox);
    }

    fn finish(&mut self, now: Time, outbox: &mut Outbox) {
        self.messages.count_acknowledgements(now, &self.controllers);
        self.messages.links.report(now, outbox);
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

    fn link_hold_times(&self) -> HoldTimes<Time> {
        HoldTimes::PacketHolds(self.messages.link_hold_times())
    }

    fn controller_busy_times(&self, now: Time) -> Vec<Time> {
        self.messages.links.controllers_busy(now)
    }

    fn hops(&self) -> u64 {
        self.messages.links.hops()
    }

    fn held_links(&self) -> Vec<(LinkId, DieId)> {
        self.messages.held_links()
    }
}
