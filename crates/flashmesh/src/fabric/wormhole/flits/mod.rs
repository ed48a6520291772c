//! The same network flit by flit, for links whose two directions take turns with every flit.
//!
//! [`Network`](super::Network) computes runs of flits at once, which needs a link that is granted to one packet until its tail has crossed.
//! A *shared wire* breaks that: the two directions of a half-duplex link each carry a packet, and the wire carries one flit of either
//! at a time. So here every cycle is stepped through, and every link in use looked at; it costs as much as there are flits.
//!
//! # Semantics
//!
//! Those of the [module above](super), and:
//!
//! - **Transfer token** (Design for Scalability in Enterprise SSDs, PACT 2014, section 5.3). A wire has a token at one of its two sides.
//!   The side that has it sends a flit and passes the token on. A side that has it and cannot send, since no flit is there or no
//!   slot is free, passes it on without loss of time \[choice\]. So two directions that both have flits take turns, and one
//!   alone has the whole wire. With [`Wires`] the links of a terminal into the network and out of it are such a wire as well.
//! - **Runs** (PACT 2014, rules 1 and 2). Packets of one token that follow each other are a run. After a packet of a run an output prefers the
//!   next one of it to others, but small packets come first where `small_first` says so: between the packets of a run, too.
//!
//! # Deadlock freedom
//!
//! A wire is never held: a side that cannot send leaves it to the other one in the same cycle. What is held and waited for are
//! output ports and slots, each of one direction, as with full-duplex links; the order of the links in the
//! [module above](super) is that of the directions. Who waits for a wire waits for one flit.

mod port;
mod step;

use std::collections::VecDeque;

use crate::engine::arena::Arena;
use crate::ids::{LinkId, id};

use self::port::{Port, Side};
use super::packet::{Class, Crossing, CrossingLog, Outbox, Packet, Queued};
use super::parameters::{InjectError, ParameterError, Parameters};
use super::topology::{TerminalId, Topology};

id!(
    /// A packet in flight.
    FlyingId
);

/// Which links share a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wires {
    /// None: each direction has its own.
    Own,
    /// The two between a pair of routers, and the two of each terminal from this one on.
    Shared {
        /// The first terminal whose links share a wire.
        terminals_from: TerminalId,
    },
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
struct Flying {
    packet: Packet,
    created: u64,
    order: u64,
    hops: u32,
}

#[derive(Clone, Debug, Default)]
struct Terminal {
    /// Packets that wait; the small ones in a queue of their own where they go first.
    queues: [VecDeque<FlyingId>; 2],
    waiting: Queued,
}

/// A network whose every flit is followed; the [module](self) tells its semantics.
#[derive(Clone, Debug)]
pub struct FlitNetwork {
    topology: Topology,
    parameters: Parameters,
    ports: Vec<Port>,
    packets: Arena<FlyingId, Flying>,
    terminals: Vec<Terminal>,
    /// Links that are held or asked for.
    active: Vec<LinkId>,
    /// Room for those of one cycle.
    stepped: Vec<LinkId>,
    /// The first cycle that has not been run, and the next in which anything may happen.
    reached: u64,
    next: u64,
    injected: u64,
    log: CrossingLog,
}

impl FlitNetwork {
    /// An empty network.
    ///
    /// # Errors
    /// When the parameters are out of their bounds, or shared wires are asked for with slots that are free again in the cycle in which a
    /// flit leaves: whether they are would depend on which of the two directions is looked at first.
    pub fn new(topology: Topology, parameters: Parameters, wires: Wires) -> Result<FlitNetwork, ParameterError> {
        parameters.check()?;
        if wires != Wires::Own && (parameters.credit_cycles == 0 || parameters.injection_credit_cycles == 0) {
            return Err(ParameterError::SharedSlots);
        }
        let mut ports: Vec<Port> =
            (0..topology.links()).map(|link| Port::new(LinkId(link), &topology, &parameters)).collect();
        if let Wires::Shared { terminals_from } = wires {
            let between_routers = (0..topology.links()).map(LinkId);
            let pairs = between_routers.filter_map(|link| Some((link, topology.reverse(link)?)));
            let terminals = (terminals_from.0..topology.terminals()).map(TerminalId);
            let of_terminals = terminals.map(|terminal| (topology.injection(terminal), topology.ejection(terminal)));
            for (link, reverse) in pairs.chain(of_terminals) {
                ports[link.index()].side = Some(Side { reverse, has_token: link < reverse });
                ports[reverse.index()].side = Some(Side { reverse: link, has_token: reverse < link });
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

    /// The topology this was built from.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// A packet is created at cycle `now`, not before the cycle the network has been advanced to.
    ///
    /// # Errors
    /// When the packet could never arrive, or comes too late.
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
        let id = self.packets.insert(Flying { packet, created: now, order: self.injected, hops });
        self.injected += 1;
        let terminal = &mut self.terminals[packet.source.index()];
        terminal.waiting.add(&packet);
        let queue = usize::from(self.parameters.small_first && packet.class == Class::Small);
        terminal.queues[queue].push_back(id);
        if terminal.queues[queue].len() == 1 {
            self.ask_for_injection(id, queue);
        }
        Ok(())
    }

    /// The cycle of the next event; none when the network is empty.
    pub fn next_event(&self) -> Option<u64> {
        (self.next != u64::MAX).then_some(self.next)
    }

    /// Runs all cycles up to `to`; what has become certain goes to `outbox`.
    #[cfg(feature = "internals")]
    pub fn advance(&mut self, to: u64, outbox: &mut Outbox) {
        self.advance_to_report(to, to, outbox);
    }

    /// Runs all cycles up to `to`, then those up to `latest` until the end of the first in which something is reported.
    pub fn advance_to_report(&mut self, to: u64, latest: u64, outbox: &mut Outbox) {
        while self.next <= to || (self.next <= latest && outbox.is_empty()) {
            self.run_cycle(self.next, outbox);
        }
    }

    /// How many packets are in the network or wait for it; one whose delivery has been reported is not.
    #[cfg(feature = "internals")]
    pub fn in_flight(&self) -> usize {
        self.packets.len()
    }

    /// What waits at a terminal and has not been granted its injection link.
    pub fn queued(&self, terminal: TerminalId) -> Queued {
        self.terminals[terminal.index()].waiting
    }

    /// For how many cycles packets held a link, up to the last one that let go of it; of two that share a wire the first one has the
    /// cycles in which either was held.
    pub fn held_cycles(&self, link: LinkId) -> u64 {
        self.ports[link.index()].held.before
    }

    /// Keeps a record of the crossing of every flit from now on, for tests and oracles.
    pub fn keep_log(&mut self) {
        self.log.keep();
    }

    /// Ends that, and forgets what was recorded.
    pub fn drop_log(&mut self) {
        self.log = CrossingLog::default();
    }

    /// The crossings recorded since they were last taken, a flit each.
    pub fn take_log(&mut self) -> Vec<Crossing> {
        self.log.take()
    }

    /// The links that are granted, each with the token of its packet.
    pub fn held(&self) -> impl Iterator<Item = (LinkId, u64)> {
        let held = (0..).map(LinkId).zip(&self.ports).filter_map(|(link, port)| Some((link, port.holder?)));
        held.map(|(link, holder)| (link, self.packets[holder.packet].packet.token))
    }
}
