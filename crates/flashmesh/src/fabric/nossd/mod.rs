//! NoSSD: the chips carry routers, and commands and data move between them as packets (Network-on-SSD, CAL 2012;
//! Design for Scalability in Enterprise SSDs, PACT 2014).
//!
//! Two papers, and two readings: the presets `nossd12` and `enterprise-slc` have what each says, of which the defaults here are a mixture that
//! no paper has, kept for comparisons with the other interconnects.
//!
//! - *Network* (PACT 2014, section 5.3 and Table 5): a router in each chip, wormhole switching, XY routing, no virtual
//!   channels. A flit of 8 bit takes `flit-time` on a link and as long in each of the three stages of a router; the
//!   flits behind a head follow one by one. That is exact to the flit, see [`wormhole`], which argues
//!   as well why it is free of deadlock: requests, data and acknowledgements share the buffers, all of them go XY, and
//!   whoever receives them takes them at once.
//! - *Flow control* (PACT 2014, section 5.3): the on/off signal of a buffer is modelled as the return of each slot, one cycle
//!   \[choice\]: with the four cycles of a hop this is the round trip of five of which the paper's least buffer of 10
//!   flits is the double.
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
//!   lists the pages of a block, and the chips do the rest by themselves ([`Fabric::answers_for`]). With `gc.copyback` the
//!   request to move pages inside a chip is of the same length. What goes from chip to chip goes XY as well, and is
//!   taken at once, so the network stays free of deadlock.
//! - *Half-duplex links* (PACT 2014, section 5.3) take turns with every flit with `interleave = "flits"`, those of the controllers as well: see
//!   [`wormhole::FlitNetwork`], which follows every flit and argues why it is free of deadlock. With `interleave = "packets"` they
//!   carry a packet only into a buffer that has room for all of it, without the long packets of `keep-runs`.
//! - *Lockstep* (CAL 2012, Table 1): with `pipeline-stages = 0` and `slot-reuse = "same-cycle"` a flit passes a router in a cycle, and a slot is
//!   filled in the cycle in which its flit leaves, so that buffers of one flit let a flit pass in every cycle.
//! - *Local channels* (PACT 2014, section 5.1): each chip, and each controller, has `local-channels` links into the network and as many out
//!   of it. A message enters over one that is free, and leaves over the one that the fewest others are on their way to \[choice\].
//! - *Controller queues*: with `controller-queues = "packets"` no die waits for a controller. Its command is chosen when it is ready, and waits as
//!   packets, small ones first; the wait is time in the network, and `least-loaded` counts packets, as PACT 2014, section 5.4 has it.

mod controllers;
pub(super) mod held;
mod link_accounting;
mod packets;
mod ports;
mod settings;
mod state;
mod transport;
mod zero_load_latency;

use crate::config::{Config, ControllerQueues};
use crate::engine::arena::Arena;
use crate::flash::geometry::Geometry;
use crate::ids::{AcknowledgementId, ChipId, DieId, LinkId, PathId};
use crate::units::{Bytes, Time};

use super::layout::{Addition, Layout, Passage};
use super::wormhole::{self, Class, Packet, TerminalId};
use super::{
    Cause, Fabric, FabricError, FabricEvent, Grant, Granted, LinkUsage, Message, Outbox, Payload, Sent, TransferPhase,
};

use controllers::Controllers;
use link_accounting::LinkAccounting;
use packets::Packetizer;
use ports::{Entry, Ports};
pub(super) use settings::check;
use settings::parameters;
use state::{DieState, Hearing, InFlight, MessageId, Purpose};
use transport::Transport;
use zero_load_latency::ZeroLoadLatency;

/// The token of the wake-up for the network; those of ports are the numbers of their terminals.
const NETWORK: u32 = u32::MAX;

/// A network of routers, one in each chip.
#[derive(Debug)]
pub struct Nossd {
    network: Transport,
    reported: wormhole::Outbox,
    flit_time: Time,
    packetizer: Packetizer,
    zero_load: ZeroLoadLatency,
    controllers: Controllers,
    ports: Ports,
    messages: Arena<MessageId, InFlight>,
    /// Acknowledgements whose arrival is known, with its time.
    acknowledging: Vec<(Time, MessageId)>,
    dies: Vec<DieState>,
    /// Messages on their way to each terminal.
    arriving_at: Vec<u32>,
    queues: ControllerQueues,
    /// The controller whose turn it is to send a command.
    turn: u32,
    dies_per_chip: u32,
    links: LinkAccounting,
    /// The cycle of the earliest wake-up asked for, or later than any.
    wakes_at: u64,
}

impl Nossd {
    /// The network of the drive that `config` describes.
    ///
    /// # Errors
    /// When there cannot be such a network.
    pub fn new(config: &Config, geometry: &Geometry) -> Result<Nossd, FabricError> {
        check(config)?;
        let nossd = &config.nossd;
        let impossible = |message: String| FabricError {
            keys: vec!["fabric.kind", "geometry.channels", "geometry.chips-per-channel"],
            message,
            help: "use a smaller array".to_owned(),
        };
        let topology = controllers::topology(nossd, geometry.channels, geometry.chips_per_channel)
            .map_err(|error| impossible(error.to_string()))?;
        let controllers = Controllers::new(nossd, geometry, &topology);
        let links = LinkAccounting::new(&topology, &controllers, geometry, nossd);
        let terminals = topology.terminals();
        let network =
            Transport::new(nossd, topology, controllers.terminal(0)).map_err(|error| impossible(error.to_string()))?;
        Ok(Nossd {
            network,
            reported: wormhole::Outbox::default(),
            flit_time: nossd.flit_time,
            packetizer: Packetizer::new(nossd, geometry.page_spare),
            zero_load: ZeroLoadLatency::new(parameters(nossd)),
            controllers,
            ports: Ports::new(terminals, nossd.local_channels),
            messages: Arena::default(),
            acknowledging: Vec::new(),
            dies: vec![DieState::default(); geometry.dies() as usize],
            arriving_at: vec![0; terminals as usize],
            queues: nossd.controller_queues,
            turn: 0,
            dies_per_chip: geometry.dies_per_chip,
            links,
            wakes_at: u64::MAX,
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
                self.controllers.local_channels(port).map(|terminal| self.network.queued_packets(terminal)).sum()
            }
        }
    }

    /// Of the local channels of a part, the one that `key` is least for.
    fn least_of(&self, part: TerminalId, key: impl Fn(TerminalId) -> u32) -> TerminalId {
        self.controllers.local_channels(part).min_by_key(|terminal| key(*terminal)).unwrap_or(part)
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

    /// Puts a message into the network, from the next cycle on.
    fn inject(&mut self, message: InFlight, class: Class, now: Time, outbox: &mut Outbox) {
        if outbox.uses.is_some() {
            self.links.keep_log(&mut self.network);
        }
        let InFlight { packets, source, destination, .. } = message;
        let created = now.as_ps().div_ceil(self.flit_time.as_ps());
        let destination = self.least_of(destination, |terminal| self.arriving_at[terminal.index()]);
        self.arriving_at[destination.index()] += 1;
        let id = self.messages.insert(InFlight { created, destination, ..message });
        let packet = Packet { token: id.0.into(), source, destination, flits: packets.flits, class };
        for _ in 0..packets.count {
            self.network.inject(created, packet).expect("packets of a checked configuration fit the network");
        }
        self.ask_to_wake(outbox);
    }

    /// Asks to be called when the network has its next event.
    fn ask_to_wake(&mut self, outbox: &mut Outbox) {
        if let Some(next) = self.network.next_event()
            && next < self.wakes_at
        {
            self.wakes_at = next;
            outbox.events.push((self.flit_time * next, FabricEvent::Wake(NETWORK)));
        }
    }

    /// Runs the network up to `now`, and on as long as nothing in the drive can interfere.
    fn advance(&mut self, now: Time, outbox: &mut Outbox) {
        let cycle_of = |time: Time| time.as_ps() / self.flit_time.as_ps();
        let cycle = cycle_of(now);
        // What comes at the end of the quiet may inject a packet in the cycle in which it comes.
        let mut quiet_until = cycle_of(outbox.quiet_until);
        if self.wakes_at <= cycle {
            self.wakes_at = u64::MAX;
        }
        let mut reported = std::mem::take(&mut self.reported);
        loop {
            self.network.advance_to_report(cycle, quiet_until.saturating_sub(1), &mut reported);
            if outbox.uses.is_some() {
                let messages = &self.messages;
                let die_of = |token: u64| messages[MessageId(token as u32)].die;
                self.links.watch(&mut self.network, self.flit_time, die_of);
            }
            if reported.is_empty() {
                break;
            }
            // What follows from a report ends the quiet when it happens.
            for injection in reported.injections.drain(..) {
                if self.is_injected(MessageId(injection.token as u32)) {
                    let from = injection.tail + 1;
                    if self.ports.free_from(injection.source, self.flit_time * from) {
                        quiet_until = quiet_until.min(from);
                        outbox.events.push((self.flit_time * from, FabricEvent::Wake(injection.source.0)));
                    }
                }
            }
            for delivery in reported.deliveries.drain(..) {
                let id = MessageId(delivery.token as u32);
                let message = &mut self.messages[id];
                message.to_deliver -= 1;
                if message.to_deliver == 0 {
                    quiet_until = quiet_until.min(delivery.tail + 1);
                    self.arrives(id, delivery.hops, delivery.tail, outbox);
                }
            }
        }
        self.reported = reported;
        self.ask_to_wake(outbox);
    }

    /// A packet of a message is in the network; tells whether that frees the port of the message.
    fn is_injected(&mut self, id: MessageId) -> bool {
        let message = &mut self.messages[id];
        message.to_inject -= 1;
        message.to_inject == 0 && matches!(message.purpose, Purpose::Transfer(_))
    }

    /// The last flit of a message reaches its destination in cycle `tail`.
    fn arrives(&mut self, id: MessageId, hops: u32, tail: u64, outbox: &mut Outbox) {
        let InFlight { purpose, packets, created, destination, .. } = self.messages[id];
        self.arriving_at[destination.index()] -= 1;
        let at = self.flit_time * (tail + 1);
        match purpose {
            Purpose::Transfer(grant) => {
                let alone = self.zero_load.cycles(packets, hops);
                let stalled = (tail - created).saturating_sub(alone);
                let state = &mut self.dies[grant.die.index()];
                state.stalled[grant.phase.index()] = self.flit_time * stalled;
                state.arriving[grant.phase.index()] = Some(id);
                outbox.events.push((at, FabricEvent::Delivered(grant)));
            }
            Purpose::Acknowledgement(acknowledgement) => {
                self.acknowledging.push((at, id));
                outbox.events.push((at, FabricEvent::Acknowledged(acknowledgement)));
            }
        }
    }

    /// A message has arrived: it counts now, so that what the links are said to have carried is not ahead of time.
    fn count(&mut self, id: MessageId) {
        let InFlight { packets, bytes, source, destination, .. } = self.messages[id];
        self.messages.remove(id);
        let phase = match [source, destination].map(|terminal| self.controllers.has(terminal)) {
            [true, _] => TransferPhase::Command,
            [false, true] => TransferPhase::DataOut,
            [false, false] => TransferPhase::Copy,
        };
        let busy = self.flit_time * (u64::from(packets.count) * u64::from(packets.flits));
        self.links.count(self.network.topology(), [source, destination], busy, bytes, phase);
    }

    /// Counts the acknowledgements that have arrived by `now`.
    fn count_acknowledgements(&mut self, now: Time) {
        while let Some(at) = self.acknowledging.iter().position(|(at, _)| *at <= now) {
            let (_, id) = self.acknowledging.swap_remove(at);
            self.count(id);
        }
    }

    /// The terminal that a message of a granted die goes to, noting who hears what follows from it.
    fn destination(&mut self, grant: Grant, payload: Payload) -> TerminalId {
        let chip = self.chip_of(grant.die);
        let state = &mut self.dies[grant.die.index()];
        match payload.message {
            Message::Read => {
                let controller = self.controllers.hears(chip, state.commanding);
                let hearing = usize::from(state.hearing[0].planes > 0);
                state.hearing[hearing] = Hearing { controller, planes: payload.planes };
                self.controllers.terminal_of_chip(chip)
            }
            Message::Program | Message::Erase | Message::Copyback => {
                state.acknowledged = self.controllers.hears(chip, state.commanding);
                self.controllers.terminal_of_chip(chip)
            }
            Message::Data | Message::Copy => {
                let [first, second] = state.hearing;
                let planes = first.planes.saturating_sub(1);
                state.hearing =
                    if planes == 0 { [second, Hearing::default()] } else { [Hearing { planes, ..first }, second] };
                match state.copies_to.take() {
                    Some(to) => self.controllers.terminal_of_chip(to),
                    None => self.controllers.terminal(first.controller),
                }
            }
        }
    }
}

impl Fabric for Nossd {
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
            self.least_of(port, |terminal| self.network.queued_packets(terminal))
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
        self.inject(message, class, now, outbox);
        let chip = self.chip_of(grant.die);
        let hops = match grant.phase {
            TransferPhase::Command => self.controllers.least_hops_in(chip),
            TransferPhase::DataOut => self.controllers.least_hops_out(chip),
            TransferPhase::Copy => self.network.topology().hops(source, destination),
        };
        Sent { delivered: None, least: self.flit_time * (self.zero_load.cycles(packets, hops) + 1) }
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        self.links.tell(now, outbox);
        if let Some(id) = self.dies[grant.die.index()].arriving[grant.phase.index()].take() {
            self.count(id);
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
        let in_flight = self.messages.slots().filter(|message| message.to_deliver > 0).map(|message| message.die);
        in_flight.chain(self.ports.waiting(self.port(die, phase))).any(|other| other != die && is_another(other))
    }

    fn stalled(&self, grant: Grant) -> Time {
        self.dies[grant.die.index()].stalled[grant.phase.index()]
    }

    fn acknowledges(&self) -> bool {
        true
    }

    fn acknowledge(&mut self, die: DieId, id: AcknowledgementId, now: Time, outbox: &mut Outbox) {
        self.count_acknowledgements(now);
        let packets = self.packetizer.acknowledgement();
        let message = InFlight {
            purpose: Purpose::Acknowledgement(id),
            die,
            packets,
            bytes: Bytes::ZERO,
            source: self.least_of(self.controllers.terminal_of_chip(self.chip_of(die)), |terminal| {
                self.network.queued_packets(terminal)
            }),
            destination: self.controllers.terminal(self.dies[die.index()].acknowledged),
            created: 0,
            to_inject: packets.count,
            to_deliver: packets.count,
        };
        self.inject(message, Class::Small, now, outbox);
    }

    fn answers_for(&mut self, die: DieId, by: DieId) {
        self.dies[die.index()].acknowledged =
            self.controllers.hears(self.chip_of(die), self.dies[by.index()].commanding);
    }

    fn wake(&mut self, token: u32, now: Time, outbox: &mut Outbox) {
        match token {
            NETWORK => self.advance(now, outbox),
            terminal => self.port_is_free(TerminalId(terminal), now, outbox),
        }
        self.links.tell(now, outbox);
    }

    fn finish(&mut self, now: Time, outbox: &mut Outbox) {
        self.count_acknowledgements(now);
        self.links.tell(now, outbox);
    }

    fn layout(&self) -> &Layout {
        self.links.layout()
    }

    fn passages(&self) -> Vec<Passage> {
        self.links.passages()
    }

    fn addition(&self) -> Addition {
        Addition::RoutersInside
    }

    fn usage(&self) -> &[LinkUsage] {
        self.links.usage()
    }

    fn links_held(&self) -> Vec<Time> {
        self.links.held(&self.network, self.flit_time)
    }

    fn controllers_busy(&self, _now: Time) -> Vec<Time> {
        self.links.controllers_busy()
    }

    fn hops(&self) -> u64 {
        self.links.hops()
    }

    fn held(&self) -> Vec<(LinkId, DieId)> {
        let held = self.network.held();
        let held = held.into_iter();
        held.map(|(link, token)| (self.links.number(link), self.messages[MessageId(token as u32)].die)).collect()
    }
}
