//! Flit-level simulation of the network, for links whose two directions alternate flit by flit.
//!
//! [`WormholeNetwork`](super::WormholeNetwork) computes runs of flits at once. This requires that one packet has a link until its tail has crossed.
//! On a *shared wire* this does not hold: both directions of a half-duplex link carry a packet, and the wire carries one flit of either packet at a
//! time. So this network steps through every cycle and every active link, at a cost proportional to the number of flits.
//!
//! # Semantics
//!
//! The semantics of the [parent module](super) hold, and in addition:
//!
//! - **Transfer token** (Design for Scalability in Enterprise SSDs, PACT 2014, section 5.3). One of the two sides of a wire (the links of its two
//!   directions) has a token. The side with the token sends a flit and passes the token on. A side that cannot send, for lack of a flit or a free
//!   slot, passes the token on without loss of time (\[choice\]: the paper does not state it). So two directions that both have flits alternate, and
//!   one direction alone has the whole wire. [`WireSharing`] selects whether the two links of a terminal also share a wire.
//! - **Runs** (PACT 2014, rules 1 and 2). Consecutive packets with the same token are a run. After a packet of a run, an output link is granted to
//!   the next packet of the run before other packets. With `small_first`, small packets go first even between the packets of a run.
//!
//! # Deadlock freedom
//!
//! A wire is never held: a side that cannot send leaves it to the other side in the same cycle, so a wait for a wire lasts one flit. As with
//! full-duplex links, packets hold and wait for output ports and slots, each of one direction. So the order of links in the [parent module](super)
//! applies to directions.

mod cycle;
mod flit_link;

use std::collections::VecDeque;

use crate::engine::arena::Arena;
use crate::ids::{LinkId, id};

use self::flit_link::{FlitLink, SharedWireSide};
use super::packet::{Crossing, CrossingLog, NetworkReports, Packet, PacketClass, QueueLength};
use super::parameters::{InjectError, ParameterError, Parameters};
use super::topology::{TerminalId, Topology};

id!(
    /// The id of a packet at a terminal or in the network.
    FlitPacketId
);

/// Selection of the links that share wires with the link in the other direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireSharing {
    /// No links share wires: each link has a wire of its own.
    Separate,
    /// The two links between each pair of routers share a wire. So do the two links of each terminal from `terminals_from` on.
    Shared {
        /// First terminal whose injection link and ejection link share a wire.
        terminals_from: TerminalId,
    },
}

#[derive(Clone, Copy, Debug)]
struct FlitPacket {
    packet: Packet,
    created: u64,
    order: u64,
    hops: u32,
}

#[derive(Clone, Debug, Default)]
struct Terminal {
    /// Packets in the queues for the injection link. With `small_first`, small packets are in queue 1; all other packets are in queue 0.
    queues: [VecDeque<FlitPacketId>; 2],
    waiting: QueueLength,
}

/// A network simulated flit by flit, with the semantics of the [module](self).
#[derive(Clone, Debug)]
pub struct FlitNetwork {
    topology: Topology,
    parameters: Parameters,
    ports: Vec<FlitLink>,
    packets: Arena<FlitPacketId, FlitPacket>,
    terminals: Vec<Terminal>,
    /// Links that are held or requested. Only these links are visited in a cycle.
    active: Vec<LinkId>,
    /// Copy of `active` at the start of the current cycle, because links can become active during the cycle.
    stepped: Vec<LinkId>,
    /// First cycle that has not been run.
    reached: u64,
    /// Next cycle in which an event is possible; [`u64::MAX`] if the network is empty.
    next: u64,
    injected: u64,
    log: CrossingLog,
}

impl FlitNetwork {
    /// Creates an empty network. `wires` selects the links that share wires.
    ///
    /// # Errors
    /// If a parameter is out of its bounds, or if wires are shared and slots can be reused in the cycle in which a flit leaves: the result would
    /// depend on the order of the directions.
    pub fn new(topology: Topology, parameters: Parameters, wires: WireSharing) -> Result<FlitNetwork, ParameterError> {
        parameters.check()?;
        if wires != WireSharing::Separate && (parameters.credit_cycles == 0 || parameters.injection_credit_cycles == 0)
        {
            return Err(ParameterError::SharedSlots);
        }
        let mut ports: Vec<FlitLink> =
            (0..topology.links()).map(|link| FlitLink::new(LinkId(link), &topology, &parameters)).collect();
        if let WireSharing::Shared { terminals_from } = wires {
            let between_routers = (0..topology.links()).map(LinkId);
            let pairs = between_routers.filter_map(|link| Some((link, topology.reverse(link)?)));
            let terminals = (terminals_from.0..topology.terminals()).map(TerminalId);
            let of_terminals = terminals.map(|terminal| (topology.injection(terminal), topology.ejection(terminal)));
            for (link, reverse) in pairs.chain(of_terminals) {
                ports[link.index()].side = Some(SharedWireSide { reverse, has_token: link < reverse });
                ports[reverse.index()].side = Some(SharedWireSide { reverse: link, has_token: reverse < link });
            }
        }
        Ok(FlitNetwork {
            ports,
            packets: Arena::default(),
            terminals: (0..topology.terminals()).map(|_| Terminal::default()).collect(),
            active: Vec::new(),
            stepped: Vec::new(),
            reached: 0,
            next: u64::MAX,
            injected: 0,
            log: CrossingLog::default(),
            topology,
            parameters,
        })
    }

    /// Returns the topology of the network, with links, terminals and routes.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Injects a packet created at cycle `now`, which must not precede the current cycle of the network.
    ///
    /// # Errors
    /// If a terminal does not exist, if the packet has no flits, or if `now` has passed.
    pub fn inject(&mut self, now: u64, packet: Packet) -> Result<(), InjectError> {
        let terminals = self.topology.terminals();
        if let Some(&none) = [packet.source, packet.destination].iter().find(|terminal| terminal.0 >= terminals) {
            return Err(InjectError::NoTerminal(none));
        }
        if packet.flits == 0 {
            return Err(InjectError::Empty);
        }
        if now + 1 < self.reached {
            return Err(InjectError::Past { at: now, reached: self.reached - 1 });
        }
        let hops = self.topology.hops(packet.source, packet.destination);
        let id = self.packets.insert(FlitPacket { packet, created: now, order: self.injected, hops });
        self.injected += 1;
        let terminal = &mut self.terminals[packet.source.index()];
        terminal.waiting.add(&packet);
        let queue = usize::from(self.parameters.small_first && packet.class == PacketClass::Small);
        terminal.queues[queue].push_back(id);
        if terminal.queues[queue].len() == 1 {
            self.request_injection(id, queue);
        }
        Ok(())
    }

    /// Returns the next cycle in which a packet or flit may move; `None` if the network is empty.
    pub fn next_event(&self) -> Option<u64> {
        (self.next != u64::MAX).then_some(self.next)
    }

    /// Runs all cycles up to `to`, and adds the injections and deliveries of these cycles to `outbox`.
    #[cfg(feature = "internals")]
    pub fn advance(&mut self, to: u64, outbox: &mut NetworkReports) {
        self.advance_to_report(to, to, outbox);
    }

    /// Runs all cycles up to `to`. While `outbox` has no reports, also runs further cycles up to `latest`. Adds the injections and
    /// deliveries of these cycles to `outbox`.
    pub fn advance_to_report(&mut self, to: u64, latest: u64, outbox: &mut NetworkReports) {
        while self.next <= to || (self.next <= latest && outbox.is_empty()) {
            self.run_cycle(self.next, outbox);
        }
    }

    /// Returns the number of injected packets whose delivery has not been reported, including those queued at terminals.
    #[cfg(feature = "internals")]
    pub fn in_flight(&self) -> usize {
        self.packets.len()
    }

    /// Returns the number of packets, and of their flits, that are queued at `terminal` for its injection link.
    pub fn queued(&self, terminal: TerminalId) -> QueueLength {
        self.terminals[terminal.index()].waiting
    }

    /// Returns the number of cycles for which `link` was held: from each grant until the tail has crossed. Excludes a hold in progress. If two links
    /// share a wire, the link with the lower number has the cycles in which either was held, and the other has 0.
    pub fn held_cycles(&self, link: LinkId) -> u64 {
        self.ports[link.index()].held.before
    }

    /// Starts a log of the crossings of all flits, for tests and oracles (probes that check a run).
    pub fn keep_log(&mut self) {
        self.log.keep();
    }

    /// Stops and discards the log of crossings.
    pub fn drop_log(&mut self) {
        self.log = CrossingLog::default();
    }

    /// Removes and returns the log entries since the last call, one crossing for each flit and link; empty if there is no log.
    pub fn take_log(&mut self) -> Vec<Crossing> {
        self.log.take()
    }

    /// Returns the links that packets hold, each with the token of its packet.
    pub fn held_links(&self) -> impl Iterator<Item = (LinkId, u64)> {
        let held = (0..).map(LinkId).zip(&self.ports).filter_map(|(link, port)| Some((link, port.holder?)));
        held.map(|(link, holder)| (link, self.packets[holder.packet].packet.token))
    }
}
