//! Messages in the network, from injection to arrival. They are added to the link counters when they arrive.

pub(super) mod packets;
pub(super) mod state;

use crate::config;
use crate::engine::arena::Arena;
use crate::fabric::wormhole::{self, Packet, PacketClass, ParameterError, TerminalId, Topology};
use crate::fabric::{FabricEvent, Outbox, TransferPhase};
use crate::ids::{DieId, LinkId};
use crate::units::Time;

use super::NETWORK;
use super::injection::controller_selector::ControllerSelector;
use super::injection::injection_ports::InjectionPorts;
use super::network::link_accounting::LinkAccounting;
use super::network::packet_network::PacketNetwork;
use super::network::zero_load_latency::ZeroLoadLatency;
use super::settings::parameters;
use packets::Packets;
use state::{DieState, MessageContent, MessageId, MessageInFlight};

/// The packet network, with the messages in it and the traffic of its links.
#[derive(Clone, Debug)]
pub(super) struct MessageNetwork {
    network: PacketNetwork,
    reported: wormhole::NetworkReports,
    flit_time: Time,
    zero_load: ZeroLoadLatency,
    in_flight: Arena<MessageId, MessageInFlight>,
    /// Acknowledgements that have still to be added to the link counters, each with its arrival time.
    acknowledging: Vec<(Time, MessageId)>,
    /// Number of messages in flight to each terminal, indexed by terminal.
    arriving_at: Vec<u32>,
    pub links: LinkAccounting,
    /// Cycle of the pending wake-up of the network; `u64::MAX` if there is none.
    alarm_at: u64,
}

impl MessageNetwork {
    /// Builds an empty network. `links` counts the traffic of its links.
    ///
    /// # Errors
    /// If a parameter of the network is out of its bounds, or if the network could deadlock.
    pub fn new(
        config: &config::Nossd,
        topology: Topology,
        controllers: &ControllerSelector,
        links: LinkAccounting,
    ) -> Result<MessageNetwork, ParameterError> {
        Ok(MessageNetwork {
            reported: wormhole::NetworkReports::default(),
            flit_time: config.flit_time,
            zero_load: ZeroLoadLatency::new(parameters(config)),
            in_flight: Arena::default(),
            acknowledging: Vec::new(),
            arriving_at: vec![0; topology.terminals() as usize],
            links,
            alarm_at: u64::MAX,
            network: PacketNetwork::new(config, topology, controllers.terminal(0))?,
        })
    }

    /// Returns the number of packets that are queued at `terminal` for its link into the network.
    pub fn queued_packets(&self, terminal: TerminalId) -> u32 {
        self.network.queued_packets(terminal)
    }

    /// Returns the number of links between routers on the route from `source` to `destination`.
    pub fn hops(&self, source: TerminalId, destination: TerminalId) -> u32 {
        self.network.topology().hops(source, destination)
    }

    /// Returns the time from the creation of a message of `packets` to the arrival of its last flit over `hops` links between routers, in an empty
    /// network.
    pub fn zero_load_latency(&mut self, packets: Packets, hops: u32) -> Time {
        self.flit_time * (self.zero_load.cycles(packets, hops) + 1)
    }

    /// Returns the die of each message in flight. A message is in flight until the network has reported the delivery of its last packet.
    pub fn dies(&self) -> impl Iterator<Item = DieId> {
        self.in_flight.slots().filter(|message| message.to_deliver > 0).map(|message| message.die)
    }

    /// Injects `message` at `now`, or at the start of the next cycle if `now` is within a cycle. The message goes to the local channel of its
    /// destination with the fewest messages in flight.
    pub fn inject(
        &mut self,
        message: MessageInFlight,
        class: PacketClass,
        now: Time,
        controllers: &ControllerSelector,
        outbox: &mut Outbox,
    ) {
        if outbox.link_uses.is_some() {
            self.links.start_log(&mut self.network);
        }
        let MessageInFlight { packets, source, destination, .. } = message;
        let created = now.as_ps().div_ceil(self.flit_time.as_ps());
        let destination = controllers.channel_with_min(destination, |terminal| self.arriving_at[terminal.index()]);
        self.arriving_at[destination.index()] += 1;
        let id = self.in_flight.insert(MessageInFlight { created, destination, ..message });
        let packet = Packet { token: id.0.into(), source, destination, flits: packets.flits, class };
        for _ in 0..packets.count {
            self.network.inject(created, packet).expect("packets of a checked configuration fit the network");
        }
        self.schedule_wake(outbox);
    }

    /// Schedules a wake-up for the next event of the network, unless one is pending at that cycle or earlier.
    fn schedule_wake(&mut self, outbox: &mut Outbox) {
        if let Some(next) = self.network.next_event()
            && next < self.alarm_at
        {
            self.alarm_at = next;
            // Link uses are reported only at wake-ups, and an oracle (a probe that checks the run) needs them in the order of their ends. So with an
            // oracle no wake-up may be dropped, as an alarm would be when a new one replaces it.
            let wake = if outbox.link_uses.is_some() { FabricEvent::Wake } else { FabricEvent::Alarm };
            outbox.events.push((self.flit_time * next, wake(NETWORK)));
        }
    }

    /// Simulates the network up to `now`, and ahead to the cycle before the next event of the drive ([`Outbox::lookahead_until`]). Schedules the
    /// events of the drive that follow from injected and delivered packets; the lookahead ends before these too.
    pub fn advance(&mut self, now: Time, ports: &mut InjectionPorts, dies: &mut [DieState], outbox: &mut Outbox) {
        let cycle_of = |time: Time| time.as_ps() / self.flit_time.as_ps();
        let cycle = cycle_of(now);
        // The event at the end of the lookahead can inject a packet in its own cycle, so stop one cycle earlier.
        let mut lookahead_until = cycle_of(outbox.lookahead_until);
        if self.alarm_at <= cycle {
            self.alarm_at = u64::MAX;
        }
        loop {
            self.network.advance_to_report(cycle, lookahead_until.saturating_sub(1), &mut self.reported);
            if outbox.link_uses.is_some() {
                let messages = &self.in_flight;
                let die_of = |token: u64| messages[MessageId(token as u32)].die;
                self.links.record_uses(&mut self.network, self.flit_time, die_of);
            } else {
                self.links.stop_log(&mut self.network);
            }
            if self.reported.is_empty() {
                break;
            }
            // A report can schedule an event of the drive, which can inject packets. So shorten the lookahead to that event.
            for place in 0..self.reported.injections.len() {
                let injection = self.reported.injections[place];
                if self.count_injected(MessageId(injection.token as u32)) {
                    let from = injection.tail + 1;
                    if ports.schedule_free(injection.source, self.flit_time * from) {
                        lookahead_until = lookahead_until.min(from);
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
                    lookahead_until = lookahead_until.min(delivery.tail + 1);
                    self.schedule_arrival(id, delivery.hops, delivery.tail, dies, outbox);
                }
            }
            self.reported.clear();
        }
        self.schedule_wake(outbox);
    }

    /// Counts a packet of message `id` as injected. Returns whether this frees a local channel: it was the last packet of a transfer. `false` for
    /// acknowledgements, which hold no channel.
    fn count_injected(&mut self, id: MessageId) -> bool {
        let message = &mut self.in_flight[id];
        message.to_inject -= 1;
        message.to_inject == 0 && matches!(message.purpose, MessageContent::Transfer(_))
    }

    /// Schedules the arrival of message `id`, which has crossed `hops` links between routers, and whose last flit reaches its destination in cycle
    /// `tail`.
    fn schedule_arrival(&mut self, id: MessageId, hops: u32, tail: u64, dies: &mut [DieState], outbox: &mut Outbox) {
        let MessageInFlight { purpose, packets, created, destination, .. } = self.in_flight[id];
        self.arriving_at[destination.index()] -= 1;
        let at = self.flit_time * (tail + 1);
        match purpose {
            MessageContent::Transfer(grant) => {
                let alone = self.zero_load.cycles(packets, hops);
                let stalled = (tail - created).saturating_sub(alone);
                let state = &mut dies[grant.die.index()];
                state.stalled[grant.phase.index()] = self.flit_time * stalled;
                state.pending_arrivals[grant.phase.index()] = Some(id);
                outbox.events.push((at, FabricEvent::Delivered(grant)));
            }
            MessageContent::Acknowledgement(acknowledgement) => {
                self.acknowledging.push((at, id));
                outbox.events.push((at, FabricEvent::Acknowledged(acknowledgement)));
            }
        }
    }

    /// Removes message `id`, which has arrived, and adds it to the counters of the links on its route. Counting at the arrival keeps future traffic
    /// out of the counters.
    pub fn count(&mut self, id: MessageId, controllers: &ControllerSelector) {
        let MessageInFlight { packets, bytes, source, destination, .. } = self.in_flight[id];
        self.in_flight.remove(id);
        let phase = match [source, destination].map(|terminal| controllers.is_controller(terminal)) {
            [true, _] => TransferPhase::Command,
            [false, true] => TransferPhase::DataOut,
            [false, false] => TransferPhase::Copy,
        };
        let busy = self.flit_time * (u64::from(packets.count) * u64::from(packets.flits));
        self.links.count(self.network.topology(), [source, destination], (busy, Time::ZERO), bytes, phase);
    }

    /// Adds the acknowledgements that have arrived by `now` to the link counters.
    pub fn count_acknowledgements(&mut self, now: Time, controllers: &ControllerSelector) {
        while let Some(at) = self.acknowledging.iter().position(|(at, _)| *at <= now) {
            let (_, id) = self.acknowledging.swap_remove(at);
            self.count(id, controllers);
        }
    }

    /// Returns the time for which packets held each link of the layout.
    pub fn link_hold_times(&self) -> Vec<Time> {
        self.links.hold_times(&self.network, self.flit_time)
    }

    /// Returns the links of the layout that packets hold, each with the die of the packet.
    pub fn held_links(&self) -> Vec<(LinkId, DieId)> {
        let held = self.network.held_links().into_iter();
        held.map(|(link, token)| (self.links.layout_link(link), self.in_flight[MessageId(token as u32)].die)).collect()
    }
}
