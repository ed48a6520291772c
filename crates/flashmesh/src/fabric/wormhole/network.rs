//! The wormhole-switched network: its state, its interface, and its event loop.

use crate::engine::arena::Arena;
use crate::ids::LinkId;

use super::arbitration::arbitration_queue::ArbitrationQueue;
use super::flit_run::RunPool;
use super::link::LinkState;
use super::packet::{
    Crossing, CrossingLog, LinkRequestId, NO_PACKET, NetworkReports, Packet, PacketClass, PacketId, PacketInFlight,
    PacketQueue, QueueLength,
};
use super::parameters::{GrantRule, HopTiming, InjectError, ParameterError, Parameters};
use super::topology::{TerminalId, Topology};

/// Placeholder for no link, such as the source of a packet that comes from a terminal.
pub(super) const NO_LINK: LinkId = LinkId(u32::MAX);

/// Value that stands for a cycle that is not known yet.
pub(super) const NOT_YET: u64 = u64::MAX;

/// Placeholder for no request, such as the end of the request chain of a link.
pub(super) const NO_REQUEST: LinkRequestId = LinkRequestId(u32::MAX);

/// A request of a packet for a link. Only the first packet of a buffer, or of a queue at a terminal, requests a link, so each buffer and queue has
/// one entry. The pending requests for a link form a chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkRequest {
    /// First cycle in which the request can be granted, if the link is free and has the required slots.
    pub(super) ready: u64,
    pub(super) packet: PacketId,
    /// Next request in the chain of the link; [`NO_REQUEST`] for the last.
    pub(super) next: LinkRequestId,
    /// Number of the requesting buffer among the inputs of its router; for a request from a terminal, number of the queue.
    pub(super) input: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Terminal {
    /// Packets in the queues for the injection link. With `small_first`, small packets are in queue 1; all other packets are in queue 0.
    queues: [PacketQueue; 2],
    waiting: QueueLength,
}

impl Terminal {
    /// Removes the first packet of queue `queue`, whose injection link was granted. Returns the new first packet, for which the caller must request
    /// the link; `None` if there is none.
    pub(super) fn leave(
        &mut self,
        packet: &Packet,
        queue: usize,
        packets: &Arena<PacketId, PacketInFlight>,
    ) -> Option<PacketId> {
        self.waiting.remove(packet);
        self.queues[queue].pop(packets)
    }
}

/// A wormhole-switched network of routers, with the semantics of the [module](super).
#[derive(Clone, Debug)]
pub struct WormholeNetwork {
    pub(super) topology: Topology,
    pub(super) parameters: Parameters,
    pub(super) timing: HopTiming,
    pub(super) links: Vec<LinkState>,
    /// Request entries: first one per buffer, indexed by the link to the buffer, then two per terminal, one for each of its queues.
    pub(super) requests: Vec<LinkRequest>,
    pub(super) terminals: Vec<Terminal>,
    pub(super) packets: Arena<PacketId, PacketInFlight>,
    pub(super) runs: RunPool,
    pub(super) events: ArbitrationQueue,
    /// Links over which [`settle`](Self::settle) must still try to move flits.
    pub(super) worklist: Vec<LinkId>,
    injected: u64,
    pub(super) log: CrossingLog,
}

impl WormholeNetwork {
    /// Creates an empty network.
    ///
    /// # Errors
    /// If a parameter is out of its bounds, or the network could deadlock.
    pub fn new(topology: Topology, parameters: Parameters) -> Result<WormholeNetwork, ParameterError> {
        parameters.check()?;
        let links = (0..topology.links()).map(|link| LinkState::new(LinkId(link), &topology, &parameters)).collect();
        let request = |input| LinkRequest { ready: NOT_YET, packet: NO_PACKET, next: NO_REQUEST, input };
        let of_buffers = (0..topology.links()).map(|link| request(topology.input(LinkId(link))));
        let of_terminals = (0..topology.terminals()).flat_map(|_| [request(0), request(1)]);
        Ok(WormholeNetwork {
            links,
            requests: of_buffers.chain(of_terminals).collect(),
            terminals: (0..topology.terminals()).map(|_| Terminal::default()).collect(),
            packets: Arena::default(),
            runs: RunPool::new(),
            events: ArbitrationQueue::new(topology.links()),
            worklist: Vec::new(),
            injected: 0,
            log: CrossingLog::default(),
            timing: HopTiming::new(&parameters),
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
    /// If a terminal does not exist, if the packet has no flits or is longer than a buffer under [`GrantRule::WholePacket`], or if `now` has passed.
    pub fn inject(&mut self, now: u64, packet: Packet) -> Result<(), InjectError> {
        self.validate(now, packet)?;
        let to = self.topology.placed_router(self.topology.router_of(packet.destination));
        let id = self.packets.insert(PacketInFlight::new(packet, to, now, self.injected));
        self.injected += 1;
        let terminal = &mut self.terminals[packet.source.index()];
        terminal.waiting.add(&packet);
        let queue = usize::from(self.parameters.small_first && packet.class == PacketClass::Small);
        if terminal.queues[queue].push(id, &mut self.packets) {
            self.request_injection(packet.source, queue, id);
        }
        Ok(())
    }

    fn validate(&self, now: u64, packet: Packet) -> Result<(), InjectError> {
        let Parameters { buffer_flits, grant_rule, .. } = self.parameters;
        let terminals = self.topology.terminals();
        if let Some(&none) = [packet.source, packet.destination].iter().find(|terminal| terminal.0 >= terminals) {
            return Err(InjectError::NoTerminal(none));
        }
        match packet.flits {
            0 => Err(InjectError::Empty),
            flits if flits > buffer_flits && grant_rule == GrantRule::WholePacket => {
                Err(InjectError::TooLong { flits, buffer_flits })
            }
            _ if now < self.events.now() => Err(InjectError::Past { at: now, reached: self.events.now() }),
            _ => Ok(()),
        }
    }

    /// Returns the cycle of the next arbitration of a link; `None` if none is pending.
    #[inline]
    pub fn next_event(&self) -> Option<u64> {
        self.events.first()
    }

    /// Runs all events up to cycle `to`. Adds to `outbox` the injections and deliveries whose cycles these events determine.
    #[inline]
    pub fn advance(&mut self, to: u64, outbox: &mut NetworkReports) {
        self.advance_to_report(to, to, outbox);
    }

    /// Runs all events up to cycle `to`. While `outbox` has no reports, also runs further events up to cycle `latest`. Adds to `outbox` the
    /// injections and deliveries whose cycles these events determine.
    pub fn advance_to_report(&mut self, to: u64, latest: u64, outbox: &mut NetworkReports) {
        loop {
            self.events.set_run_end(if outbox.is_empty() { to.max(latest) } else { to.max(self.events.now()) });
            if let Some(held_back) = self.events.deferred() {
                self.grant_deferred(held_back, outbox);
            } else if let Some(wire) = self.events.next_wire() {
                self.arbitrate(wire, outbox);
            } else {
                return;
            }
        }
    }

    /// Returns the number of injected packets whose delivery has not been reported, including those queued at terminals.
    #[cfg(feature = "internals")]
    pub fn in_flight(&self) -> usize {
        self.packets.len()
    }

    /// Returns the number of packets, and of their flits, that are queued at `terminal` for its injection link.
    #[inline]
    pub fn queued(&self, terminal: TerminalId) -> QueueLength {
        self.terminals[terminal.index()].waiting
    }

    /// Returns the traffic of `link` since the start, including crossings that are already determined for later cycles.
    #[cfg(feature = "internals")]
    pub fn traffic(&self, link: LinkId) -> super::packet::LinkTraffic {
        let flits = self.links[link.index()].traffic.flits;
        super::packet::LinkTraffic { flits, busy_cycles: flits * u64::from(self.parameters.flit_cycles) }
    }

    /// Returns the number of cycles for which `link` was held, from each grant to the end of the last flit. Excludes a hold in progress.
    pub fn held_cycles(&self, link: LinkId) -> u64 {
        self.links[link.index()].traffic.held_cycles
    }

    /// Starts a log of the crossings of links by packets, for tests and oracles (probes that check a run).
    pub fn keep_log(&mut self) {
        self.log.keep();
    }

    /// Stops and discards the log of crossings.
    pub fn drop_log(&mut self) {
        self.log = CrossingLog::default();
    }

    /// Removes and returns the log entries since the last call, in the order of their computation, which for each link is the order of time. Empty if
    /// there is no log.
    pub fn take_log(&mut self) -> Vec<Crossing> {
        self.log.take()
    }

    /// Returns the links that packets hold, each with the token of its packet. Excludes links whose release is already determined, even if it is
    /// later.
    pub fn held_links(&self) -> impl Iterator<Item = (LinkId, u64)> {
        let held = self.links.iter().zip(0..).filter(|(link, _)| link.holder.is_crossing());
        held.map(|(link, number)| (LinkId(number), self.packets[link.holder.packet].packet.token))
    }
}
