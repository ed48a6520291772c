//! Messages on their way through the network, from their injection until they have been counted.

use crate::config;
use crate::engine::arena::Arena;
use crate::fabric::wormhole::{self, Class, Packet, ParameterError, TerminalId, Topology};
use crate::fabric::{FabricEvent, Outbox, TransferPhase};
use crate::ids::{DieId, LinkId};
use crate::units::Time;

use super::NETWORK;
use super::controllers::Controllers;
use super::link_accounting::LinkAccounting;
use super::packets::Packets;
use super::ports::Ports;
use super::settings::parameters;
use super::state::{DieState, InFlight, MessageId, Purpose};
use super::transport::Transport;
use super::zero_load_latency::ZeroLoadLatency;

/// The network, with the messages in it.
#[derive(Clone, Debug)]
pub(super) struct Messages {
    network: Transport,
    reported: wormhole::Outbox,
    flit_time: Time,
    zero_load: ZeroLoadLatency,
    in_flight: Arena<MessageId, InFlight>,
    /// Acknowledgements whose arrival is known, with its time.
    acknowledging: Vec<(Time, MessageId)>,
    /// Messages on their way to each terminal.
    arriving_at: Vec<u32>,
    pub links: LinkAccounting,
    /// The cycle to which the alarm is set, or later than any.
    wakes_at: u64,
}

impl Messages {
    /// An empty network, whose links are those of `links`.
    ///
    /// # Errors
    /// When there cannot be such a network.
    pub fn new(
        config: &config::Nossd,
        topology: Topology,
        controllers: &Controllers,
        links: LinkAccounting,
    ) -> Result<Messages, ParameterError> {
        Ok(Messages {
            reported: wormhole::Outbox::default(),
            flit_time: config.flit_time,
            zero_load: ZeroLoadLatency::new(parameters(config)),
            in_flight: Arena::default(),
            acknowledging: Vec::new(),
            arriving_at: vec![0; topology.terminals() as usize],
            links,
            wakes_at: u64::MAX,
            network: Transport::new(config, topology, controllers.terminal(0))?,
        })
    }

    /// Packets that wait at a terminal for its link into the network.
    pub fn queued_packets(&self, terminal: TerminalId) -> u32 {
        self.network.queued_packets(terminal)
    }

    /// Links between two terminals.
    pub fn hops(&self, source: TerminalId, destination: TerminalId) -> u32 {
        self.network.topology().hops(source, destination)
    }

    /// How long `packets` take over so many links when they meet no others.
    pub fn least(&mut self, packets: Packets, hops: u32) -> Time {
        self.flit_time * (self.zero_load.cycles(packets, hops) + 1)
    }

    /// The dies of the messages that have not arrived.
    pub fn dies(&self) -> impl Iterator<Item = DieId> {
        self.in_flight.slots().filter(|message| message.to_deliver > 0).map(|message| message.die)
    }

    /// Puts a message into the network, from the next cycle on.
    pub fn inject(
        &mut self,
        message: InFlight,
        class: Class,
        now: Time,
        controllers: &Controllers,
        outbox: &mut Outbox,
    ) {
        if outbox.uses.is_some() {
            self.links.keep_log(&mut self.network);
        }
        let InFlight { packets, source, destination, .. } = message;
        let created = now.as_ps().div_ceil(self.flit_time.as_ps());
        let destination = controllers.least_of(destination, |terminal| self.arriving_at[terminal.index()]);
        self.arriving_at[destination.index()] += 1;
        let id = self.in_flight.insert(InFlight { created, destination, ..message });
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
            // Uses of links are told when something happens here, and in the order of their ends only if that is often.
            let wake = if outbox.uses.is_some() { FabricEvent::Wake } else { FabricEvent::Alarm };
            outbox.events.push((self.flit_time * next, wake(NETWORK)));
        }
    }

    /// Runs the network up to `now`, and on as long as nothing in the drive can interfere.
    pub fn advance(&mut self, now: Time, ports: &mut Ports, dies: &mut [DieState], outbox: &mut Outbox) {
        let cycle_of = |time: Time| time.as_ps() / self.flit_time.as_ps();
        let cycle = cycle_of(now);
        // What comes at the end of the quiet may inject a packet in the cycle in which it comes.
        let mut quiet_until = cycle_of(outbox.lookahead_until);
        if self.wakes_at <= cycle {
            self.wakes_at = u64::MAX;
        }
        loop {
            self.network.advance_to_report(cycle, quiet_until.saturating_sub(1), &mut self.reported);
            if outbox.uses.is_some() {
                let messages = &self.in_flight;
                let die_of = |token: u64| messages[MessageId(token as u32)].die;
                self.links.watch(&mut self.network, self.flit_time, die_of);
            } else {
                self.links.drop_log(&mut self.network);
            }
            if self.reported.is_empty() {
                break;
            }
            // What follows from a report ends the quiet when it happens.
            for place in 0..self.reported.injections.len() {
                let injection = self.reported.injections[place];
                if self.is_injected(MessageId(injection.token as u32)) {
                    let from = injection.tail + 1;
                    if ports.free_from(injection.source, self.flit_time * from) {
                        quiet_until = quiet_until.min(from);
                        outbox.events.push((self.flit_time * from, FabricEvent::Wake(injection.source.0)));
                    }
                }
            }
            for place in 0..self.reported.deliveries.len() {
                let delivery = self.reported.deliveries[place];
                let id = MessageId(delivery.token as u32);
                let message = &mut self.in_flight[id];
                message.to_deliver -= 1;
                if message.to_deliver == 0 {
                    quiet_until = quiet_until.min(delivery.tail + 1);
                    self.arrives(id, delivery.hops, delivery.tail, dies, outbox);
                }
            }
            self.reported.clear();
        }
        self.ask_to_wake(outbox);
    }

    /// A packet of a message is in the network; tells whether that frees the port of the message.
    fn is_injected(&mut self, id: MessageId) -> bool {
        let message = &mut self.in_flight[id];
        message.to_inject -= 1;
        message.to_inject == 0 && matches!(message.purpose, Purpose::Transfer(_))
    }

    /// The last flit of a message reaches its destination in cycle `tail`.
    fn arrives(&mut self, id: MessageId, hops: u32, tail: u64, dies: &mut [DieState], outbox: &mut Outbox) {
        let InFlight { purpose, packets, created, destination, .. } = self.in_flight[id];
        self.arriving_at[destination.index()] -= 1;
        let at = self.flit_time * (tail + 1);
        match purpose {
            Purpose::Transfer(grant) => {
                let alone = self.zero_load.cycles(packets, hops);
                let stalled = (tail - created).saturating_sub(alone);
                let state = &mut dies[grant.die.index()];
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
    pub fn count(&mut self, id: MessageId, controllers: &Controllers) {
        let InFlight { packets, bytes, source, destination, .. } = self.in_flight[id];
        self.in_flight.remove(id);
        let phase = match [source, destination].map(|terminal| controllers.has(terminal)) {
            [true, _] => TransferPhase::Command,
            [false, true] => TransferPhase::DataOut,
            [false, false] => TransferPhase::Copy,
        };
        let busy = self.flit_time * (u64::from(packets.count) * u64::from(packets.flits));
        self.links.count(self.network.topology(), [source, destination], (busy, Time::ZERO), bytes, phase);
    }

    /// Counts the acknowledgements that have arrived by `now`.
    pub fn count_acknowledgements(&mut self, now: Time, controllers: &Controllers) {
        while let Some(at) = self.acknowledging.iter().position(|(at, _)| *at <= now) {
            let (_, id) = self.acknowledging.swap_remove(at);
            self.count(id, controllers);
        }
    }

    /// How long each link was held.
    pub fn links_held(&self) -> Vec<Time> {
        self.links.held(&self.network, self.flit_time)
    }

    /// The links that are held, each with the die it is held for.
    pub fn held(&self) -> Vec<(LinkId, DieId)> {
        let held = self.network.held().into_iter();
        held.map(|(link, token)| (self.links.number(link), self.in_flight[MessageId(token as u32)].die)).collect()
    }
}
