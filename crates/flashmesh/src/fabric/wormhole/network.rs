//! The network as a whole: its state, what callers ask of it, and the events that drive it.

use crate::engine::arena::Arena;
use crate::ids::LinkId;

use super::agenda::Agenda;
use super::link::Link;
use super::packet::{
    Class, Crossing, CrossingLog, InFlight, NO_PACKET, Outbox, Packet, PacketId, PacketQueue, Queued, RequestId,
};
use super::parameters::{GrantRule, HopTiming, InjectError, ParameterError, Parameters};
use super::stream::RunPool;
use super::topology::{TerminalId, Topology};

/// In place of a link: where there is none.
pub(super) const NO_LINK: LinkId = LinkId(u32::MAX);

/// In place of a cycle: not yet.
pub(super) const NOT_YET: u64 = u64::MAX;

/// In place of a request: where there is none.
pub(super) const NO_REQUEST: RequestId = RequestId(u32::MAX);

/// A packet that asks for a link. A buffer, or a queue of a terminal, has at most one request at a time, that of its
/// first packet: so there is a place for each, and the requests for a link are chained.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// The first cycle in which it can be granted.
    pub(super) ready: u64,
    pub(super) packet: PacketId,
    /// The next request for the same link.
    pub(super) next: RequestId,
    /// The number of the buffer among the inputs of the router.
    pub(super) input: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Terminal {
    /// Packets that wait; the small ones in a queue of their own where they go first.
    queues: [PacketQueue; 2],
    waiting: Queued,
}

impl Terminal {
    /// The first packet of a queue has been granted the injection link; gives the next one.
    pub(super) fn leave(
        &mut self,
        packet: &Packet,
        queue: usize,
        packets: &Arena<PacketId, InFlight>,
    ) -> Option<PacketId> {
        self.waiting.remove(packet);
        self.queues[queue].pop(packets)
    }
}

/// A network of routers under wormhole switching; the [module](super) tells its semantics.
#[derive(Clone, Debug)]
pub struct Network {
    pub(super) topology: Topology,
    pub(super) parameters: Parameters,
    pub(super) timing: HopTiming,
    pub(super) links: Vec<Link>,
    /// The request of each buffer by its link, then two of each terminal, one a queue.
    pub(super) requests: Vec<Request>,
    pub(super) terminals: Vec<Terminal>,
    pub(super) packets: Arena<PacketId, InFlight>,
    pub(super) runs: RunPool,
    pub(super) agenda: Agenda,
    /// Links that may be able to move flits.
    pub(super) worklist: Vec<LinkId>,
    injected: u64,
    pub(super) log: CrossingLog,
}

impl Network {
    /// An empty network.
    ///
    /// # Errors
    /// When the parameters are out of their bounds or could bring the network to a halt.
    pub fn new(topology: Topology, parameters: Parameters) -> Result<Network, ParameterError> {
        parameters.check()?;
        let links = (0..topology.links()).map(|link| Link::new(LinkId(link), &topology, &parameters)).collect();
        let request = |input| Request { ready: NOT_YET, packet: NO_PACKET, next: NO_REQUEST, input };
        let of_buffers = (0..topology.links()).map(|link| request(topology.input(LinkId(link))));
        let of_terminals = (0..topology.terminals()).flat_map(|_| [request(0), request(1)]);
        Ok(Network {
            links,
            requests: of_buffers.chain(of_terminals).collect(),
            terminals: (0..topology.terminals()).map(|_| Terminal::default()).collect(),
            packets: Arena::default(),
            runs: RunPool::new(),
            agenda: Agenda::new(topology.links()),
            worklist: Vec::new(),
            injected: 0,
            log: CrossingLog::default(),
            timing: HopTiming::new(&parameters),
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
        self.admit(now, packet)?;
        let to = self.topology.place(self.topology.router_of(packet.destination));
        let id = self.packets.insert(InFlight::new(packet, to, now, self.injected));
        self.injected += 1;
        let terminal = &mut self.terminals[packet.source.index()];
        terminal.waiting.add(&packet);
        let queue = usize::from(self.parameters.small_first && packet.class == Class::Small);
        if terminal.queues[queue].push(id, &mut self.packets) {
            self.ask_for_injection(packet.source, queue, id);
        }
        Ok(())
    }

    fn admit(&self, now: u64, packet: Packet) -> Result<(), InjectError> {
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
            _ if now < self.agenda.now() => Err(InjectError::Past { at: now, reached: self.agenda.now() }),
            _ => Ok(()),
        }
    }

    /// The cycle of the next event; none when the network is empty.
    #[inline]
    pub fn next_event(&self) -> Option<u64> {
        self.agenda.first()
    }

    /// Runs all events up to cycle `to`; what has become certain goes to `outbox`.
    #[inline]
    pub fn advance(&mut self, to: u64, outbox: &mut Outbox) {
        self.advance_to_report(to, to, outbox);
    }

    /// Runs all events up to cycle `to`, then those up to `latest` until the end of the first cycle in which something is
    /// reported.
    pub fn advance_to_report(&mut self, to: u64, latest: u64, outbox: &mut Outbox) {
        loop {
            self.agenda.run_until(if outbox.is_empty() { to.max(latest) } else { to.max(self.agenda.now()) });
            if let Some(held_back) = self.agenda.held_back() {
                self.grant_held_back(held_back, outbox);
            } else if let Some(wire) = self.agenda.next_wire() {
                self.arbitrate(wire, outbox);
            } else {
                return;
            }
        }
    }

    /// How many packets are in the network or wait for it; one whose delivery has been reported is not.
    #[cfg(feature = "internals")]
    pub fn in_flight(&self) -> usize {
        self.packets.len()
    }

    /// What waits at a terminal and has not been granted its injection link.
    #[inline]
    pub fn queued(&self, terminal: TerminalId) -> Queued {
        self.terminals[terminal.index()].waiting
    }

    /// What a link carried so far.
    #[cfg(feature = "internals")]
    pub fn carried(&self, link: LinkId) -> super::packet::Carried {
        let flits = self.links[link.index()].traffic.flits;
        super::packet::Carried { flits, busy_cycles: flits * u64::from(self.parameters.flit_cycles) }
    }

    /// For how many cycles the packets that have crossed a link held it, from the grant to the last flit.
    pub fn held_cycles(&self, link: LinkId) -> u64 {
        self.links[link.index()].traffic.held_cycles
    }

    /// Keeps a record of every crossing from now on, for tests.
    pub fn keep_log(&mut self) {
        self.log.keep();
    }

    /// Ends that, and forgets what was recorded.
    pub fn drop_log(&mut self) {
        self.log = CrossingLog::default();
    }

    /// The crossings recorded since they were last taken, in the order in which they became certain; those of one
    /// link in the order in which they happen.
    pub fn take_log(&mut self) -> Vec<Crossing> {
        self.log.take()
    }

    /// The links that are held until it is known when they will be free, each with the token of its packet.
    pub fn held(&self) -> impl Iterator<Item = (LinkId, u64)> {
        let held = self.links.iter().zip(0..).filter(|(link, _)| link.holder.is_crossing());
        held.map(|(link, number)| (LinkId(number), self.packets[link.holder.packet].packet.token))
    }
}
