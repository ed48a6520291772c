//! The network as a whole: its state, what callers ask of it, and the events that drive it.

use crate::engine::arena::Arena;
use crate::ids::LinkId;

use super::calendar::CalendarQueue;
use super::packet::{
    Carried, Class, Crossing, InFlight, Injection, NO_PACKET, Outbox, Packet, PacketId, PacketQueue, Queued, RequestId,
};
use super::parameters::{GrantRule, InjectError, ParameterError, Parameters};
use super::stream::{Run, RunPool, Stream};
use super::topology::{Place, TerminalId, Topology};

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

/// A request for a link that nobody else wants, of a packet that has just moved; it is not among the others yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldBack {
    /// When it will be granted, if nothing comes first.
    pub(super) at: u64,
    pub(super) ready: u64,
    pub(super) link: LinkId,
    /// The link that feeds the buffer where the packet waits.
    pub(super) buffer: LinkId,
    pub(super) packet: PacketId,
}

/// A directed link, the output port in front of it and the buffer behind it.
#[derive(Debug)]
pub(super) struct Link {
    /// The packet that crosses, the link that feeds the buffer it comes from, and how many of its flits have yet to
    /// move.
    pub(super) packet: PacketId,
    pub(super) source: LinkId,
    pub(super) left: u32,
    /// The output that the first packet in the buffer holds.
    pub(super) drain: LinkId,
    /// From when the next flit may cross.
    pub(super) free: u64,
    /// When the head of this packet crossed, or [`NOT_YET`].
    pub(super) head: u64,
    /// The slots of the buffer that are free or will be, each from its cycle on.
    pub(super) slots: Stream,
    /// The flits in the buffer, each from when it may leave, and their packets.
    pub(super) arrivals: Stream,
    pub(super) queue: PacketQueue,
    /// From when a head that stood behind another packet may ask for its output.
    pub(super) looked_at: u64,
    /// How many of the slots were foretold, and are not to be counted again when the flits in them leave.
    pub(super) lent: u32,
    /// The port: who asks, and which of how many inputs was served last.
    pub(super) requests: RequestId,
    pub(super) inputs: u32,
    pub(super) input_served: u32,
    /// The wire it drives, named by the first of its links.
    pub(super) wire: LinkId,
    /// The wire named by this link.
    pub(super) driven: Wire,
    /// The router at its end.
    pub(super) end: Place,
    pub(super) credit_cycles: u32,
    pub(super) gap_cycles: u32,
    pub(super) is_ejection: bool,
    /// Flits carried.
    pub(super) carried: u64,
    /// When the packet on it was granted it, and for how long packets before it held it.
    pub(super) granted: u64,
    pub(super) held_cycles: u64,
}

/// What carries one packet at a time: a link, or with half-duplex links both between a pair of routers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    pub(super) is_held: bool,
    /// Of two links, whether the one that names it was served last.
    pub(super) served_first: bool,
    /// The other link; [`NO_LINK`] with full-duplex links.
    pub(super) backward: LinkId,
    pub(super) free: u64,
}

#[derive(Debug, Default)]
struct Terminal {
    /// Packets that wait; the small ones in a queue of their own where they go first.
    queues: [PacketQueue; 2],
    waiting: Queued,
}

/// A network of routers under wormhole switching; the [module](super) tells its semantics.
#[derive(Debug)]
pub struct Network {
    pub(super) topology: Topology,
    pub(super) parameters: Parameters,
    pub(super) links: Vec<Link>,
    /// The request of each buffer by its link, then two of each terminal, one a queue.
    pub(super) requests: Vec<Request>,
    /// Within a cycle only: at its end it is granted, or among the other requests.
    pub(super) held_back: Option<HeldBack>,
    terminals: Vec<Terminal>,
    pub(super) packets: Arena<PacketId, InFlight>,
    pub(super) runs: RunPool,
    pub(super) calendar: CalendarQueue,
    /// Links that may be able to move flits.
    pub(super) worklist: Vec<LinkId>,
    /// The last cycle that is run now, if nothing is reported before.
    pub(super) until: u64,
    /// The cycle of the last event.
    pub(super) now: u64,
    injected: u64,
    /// Whether a link has its slots back before it has filled the buffer, and so need not wait for them while flits
    /// flow.
    pub(super) buffers_cover_the_round_trip: bool,
    /// Cycles from the crossing of a head to its request for the next link.
    pub(super) route_cycles: u64,
    pub(super) log: Option<Vec<Crossing>>,
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
            held_back: None,
            terminals: (0..topology.terminals()).map(|_| Terminal::default()).collect(),
            packets: Arena::default(),
            runs: RunPool::new(),
            calendar: CalendarQueue::new(topology.links()),
            worklist: Vec::new(),
            until: 0,
            now: 0,
            injected: 0,
            buffers_cover_the_round_trip: parameters.buffers_cover_the_round_trip(),
            route_cycles: u64::from(parameters.hop_cycles + parameters.head_cycles),
            log: None,
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
        terminal.waiting.packets += 1;
        terminal.waiting.flits += u64::from(packet.flits);
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
            _ if now < self.now => Err(InjectError::Past { at: now, reached: self.now }),
            _ => Ok(()),
        }
    }

    /// The cycle of the next event; none when the network is empty.
    #[inline]
    pub fn next_event(&self) -> Option<u64> {
        self.calendar.first()
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
            self.until = if outbox.is_empty() { to.max(latest) } else { to.max(self.now) };
            if let Some(held_back) = self.held_back {
                self.grant_held_back(held_back, outbox);
            } else if let Some((at, wire)) = self.calendar.take(self.until) {
                self.now = at;
                self.arbitrate(wire, outbox);
            } else {
                return;
            }
        }
    }

    /// How many packets are in the network or wait for it; one whose delivery has been reported is not.
    pub fn in_flight(&self) -> usize {
        self.packets.len()
    }

    /// What waits at a terminal and has not been granted its injection link.
    #[inline]
    pub fn queued(&self, terminal: TerminalId) -> Queued {
        self.terminals[terminal.index()].waiting
    }

    /// What a link carried so far.
    pub fn carried(&self, link: LinkId) -> Carried {
        let flits = self.links[link.index()].carried;
        Carried { flits, busy_cycles: flits * u64::from(self.parameters.flit_cycles) }
    }

    /// For how many cycles the packets that have crossed a link held it, from the grant to the last flit.
    pub fn held_cycles(&self, link: LinkId) -> u64 {
        self.links[link.index()].held_cycles
    }

    /// Keeps a record of every crossing from now on, for tests.
    pub fn keep_log(&mut self) {
        self.log = Some(Vec::new());
    }

    /// The crossings recorded since they were last taken, in the order in which they became certain; those of one
    /// link in the order in which they happen.
    pub fn take_log(&mut self) -> Vec<Crossing> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The links that are held until it is known when they will be free, each with the token of its packet.
    pub fn held(&self) -> impl Iterator<Item = (LinkId, u64)> {
        let held = self.links.iter().zip(0..).filter(|(link, _)| link.left > 0);
        held.map(|(link, number)| (LinkId(number), self.packets[link.packet].packet.token))
    }

    fn ask_for_injection(&mut self, terminal: TerminalId, queue: usize, packet: PacketId) {
        let ready = self.packets[packet].created + u64::from(self.parameters.interface_cycles);
        let request = RequestId(self.topology.links() + 2 * terminal.0 + queue as u32);
        self.ask(self.topology.injection(terminal), request, packet, ready);
    }

    /// The packet that is granted an injection link leaves the queue of its terminal; the next one asks.
    pub(super) fn leave_terminal(&mut self, packet: PacketId, queue: u32) {
        let Packet { source, flits, .. } = self.packets[packet].packet;
        let terminal = &mut self.terminals[source.index()];
        terminal.waiting.packets -= 1;
        terminal.waiting.flits -= u64::from(flits);
        let queue = queue as usize;
        if let Some(next) = terminal.queues[queue].pop(&self.packets) {
            self.ask_for_injection(source, queue, next);
        }
    }

    /// Reports that a packet is in the network as a whole from cycle `tail` on.
    pub(super) fn report_injection(&self, packet: PacketId, tail: u64, outbox: &mut Outbox) {
        let Packet { token, source, .. } = self.packets[packet].packet;
        outbox.injections.push(Injection { token, source, tail });
    }
}

impl Link {
    fn new(link: LinkId, topology: &Topology, parameters: &Parameters) -> Link {
        let is_ejection = topology.is_ejection(link);
        let is_injection = !is_ejection && link >= topology.injection(TerminalId(0));
        let reverse = topology.reverse(link).filter(|_| parameters.half_duplex);
        let inputs = match topology.reverse(link) {
            // The router where a link starts is the one where its reverse ends.
            Some(reverse) => topology.inputs(topology.router_at_end(reverse)),
            None if is_injection => 2,
            None => topology.inputs(topology.router_at_end(link)),
        };
        Link {
            requests: NO_REQUEST,
            inputs,
            input_served: inputs - 1,
            wire: reverse.map_or(link, |reverse| reverse.min(link)),
            driven: Wire { is_held: false, served_first: false, backward: reverse.unwrap_or(NO_LINK), free: 0 },
            end: topology.place(topology.router_at_end(link)),
            packet: NO_PACKET,
            source: NO_LINK,
            left: 0,
            free: 0,
            head: NOT_YET,
            slots: Stream::new(Run { start: 0, count: parameters.buffer_flits, stride: 0 }),
            lent: 0,
            credit_cycles: if is_injection { parameters.injection_credit_cycles } else { parameters.credit_cycles },
            gap_cycles: if is_injection { 0 } else { parameters.gap_cycles },
            is_ejection,
            arrivals: Stream::new(Run::NONE),
            queue: PacketQueue::default(),
            drain: NO_LINK,
            looked_at: 0,
            carried: 0,
            granted: 0,
            held_cycles: 0,
        }
    }
}
