//! A link of the flit-level network: its holder, requests, state on a shared wire, and buffer.

use std::collections::VecDeque;

use crate::engine::arena::Arena;
use crate::fabric::wormhole::arbitration::round_robin::RoundRobin;
use crate::fabric::wormhole::packet::{Packet, PacketClass};
use crate::fabric::wormhole::parameters::{Arbitration, Parameters};
use crate::fabric::wormhole::topology::{RouterId, Topology};
use crate::ids::LinkId;

use super::{FlitPacket, FlitPacketId};

/// A directed link, with its output port (holder and requests) and the buffer at its end.
#[derive(Clone, Debug)]
pub(super) struct FlitLink {
    pub(super) holder: Option<Holder>,
    pub(super) arbiter: PortArbiter,
    pub(super) buffer: FlitBuffer,
    /// Cycle from which the next flit may cross.
    pub(super) flit_free: u64,
    /// Cycle from which the link may be granted to the next packet.
    pub(super) grant_free: u64,
    /// State of the link as one direction of a shared wire; `None` if the link has a wire of its own.
    pub(super) side: Option<SharedWireSide>,
    /// Router where the link ends; for an ejection link, the router where it starts.
    pub(super) end: RouterId,
    pub(super) gap_cycles: u32,
    pub(super) is_ejection: bool,
    pub(super) is_active: bool,
    /// Hold times of the wire of the link. For two links on a wire, the link with the lower number counts them, and the other has none.
    pub(super) held: HeldCycles,
}

impl FlitLink {
    pub(super) fn new(link: LinkId, topology: &Topology, parameters: &Parameters) -> FlitLink {
        let (credit_cycles, gap_cycles) = match topology.is_injection(link) {
            true => (parameters.injection_credit_cycles, 0),
            false => (parameters.credit_cycles, parameters.gap_cycles),
        };
        FlitLink {
            holder: None,
            arbiter: PortArbiter { requests: Vec::new(), turns: RoundRobin::new(link, topology), run: None },
            buffer: FlitBuffer::new(parameters.buffer_flits, credit_cycles),
            flit_free: 0,
            grant_free: 0,
            side: None,
            end: topology.router_at_end(link),
            gap_cycles,
            is_ejection: topology.is_ejection(link),
            is_active: false,
            held: HeldCycles::default(),
        }
    }

    /// Returns whether a flit that crosses at `now` finds a free slot at the end of the link. Always `true` for an ejection link, which needs none.
    pub(super) fn has_slot(&self, now: u64) -> bool {
        self.is_ejection || self.buffer.slots.front().is_some_and(|&slot| slot <= now)
    }
}

/// The packet to which a link is granted. `sent` of its flits have crossed, the head in cycle `head`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder {
    pub(super) packet: FlitPacketId,
    /// Link whose buffer the packet comes from; `None` if the packet comes from a terminal.
    pub(super) source: Option<LinkId>,
    pub(super) sent: u32,
    pub(super) head: u64,
}

/// A request for a link, by the first packet of a buffer or of a queue at a terminal. It can be granted from cycle `ready` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) packet: FlitPacketId,
    pub(super) source: Option<LinkId>,
    pub(super) input: u32,
    pub(super) ready: u64,
}

/// The requests for a link, and the arbitration state: the input served last, and the preferred run (consecutive packets of one message).
#[derive(Clone, Debug)]
pub(super) struct PortArbiter {
    requests: Vec<Request>,
    turns: RoundRobin,
    /// Token of the large packet granted last. Large packets with this token belong to the same message and are preferred. `None` before the first
    /// one.
    run: Option<u64>,
}

impl PortArbiter {
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub(super) fn request(&mut self, request: Request) {
        self.requests.push(request);
    }

    /// Returns the first cycle in which a request can be granted if the link is free; `None` without requests.
    pub(super) fn ready(&self) -> Option<u64> {
        self.requests.iter().map(|request| request.ready).min()
    }

    /// Removes and returns the best request that can be granted at `now`: by class (with `small_first`), then by whether it continues the message of
    /// the last large packet, then by the arbitration rule. `None` if there is none.
    pub(super) fn dequeue_best(
        &mut self,
        now: u64,
        parameters: &Parameters,
        packets: &Arena<FlitPacketId, FlitPacket>,
    ) -> Option<Request> {
        let key = |request: &Request| {
            let flying = &packets[request.packet];
            let Packet { class, token, .. } = flying.packet;
            let key = match parameters.arbitration {
                Arbitration::RoundRobin => (u64::from(self.turns.turns_before(request.input)), 0),
                Arbitration::Fifo => (request.ready, request.input.into()),
                Arbitration::Oldest => (flying.created, flying.order),
            };
            let breaks_run = class == PacketClass::Small || self.run != Some(token);
            (parameters.small_first.then_some(class), breaks_run, key)
        };
        let ready = self.requests.iter().enumerate().filter(|(_, request)| request.ready <= now);
        let (best, _) = ready.min_by_key(|(_, request)| key(request))?;
        let request = self.requests.swap_remove(best);
        self.turns.serve(request.input);
        let Packet { class, token, .. } = packets[request.packet].packet;
        if class == PacketClass::Large {
            self.run = Some(token);
        }
        Some(request)
    }
}

/// State of a link as one direction of a shared wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedWireSide {
    /// Link that shares the wire with this link, in the other direction.
    pub(super) reverse: LinkId,
    /// Whether this direction has the transfer token, with which it sends first.
    pub(super) has_token: bool,
}

/// A flit in a buffer: its packet, its number in the packet (0 for the head), and the cycle in which it crossed the link to the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flit {
    pub(super) packet: FlitPacketId,
    pub(super) index: u32,
    pub(super) crossed: u64,
}

/// The buffer at the end of a link: its flits, and its free slots.
#[derive(Clone, Debug)]
pub(super) struct FlitBuffer {
    flits: VecDeque<Flit>,
    /// Cycle from which each free slot can be used.
    slots: VecDeque<u64>,
    /// Next link of the first packet in the buffer; `None` if the packet does not hold that link.
    drain: Option<LinkId>,
    /// First cycle in which a head that was queued here behind another packet can be granted its next link.
    considered_from: u64,
    credit_cycles: u32,
}

impl FlitBuffer {
    fn new(slots: u32, credit_cycles: u32) -> FlitBuffer {
        let slots = std::iter::repeat_n(0, slots as usize).collect();
        FlitBuffer { flits: VecDeque::new(), slots, drain: None, considered_from: 0, credit_cycles }
    }

    pub(super) fn first(&self) -> Option<&Flit> {
        self.flits.front()
    }

    /// Returns the packet of the first flit, and the first cycle in which it can be granted its next link: `route_cycles` after the flit crossed to
    /// the buffer, or later. `None` if the buffer is empty or the first flit is not a head.
    pub(super) fn first_head(&self, route_cycles: u64) -> Option<(FlitPacketId, u64)> {
        let &Flit { packet, crossed, .. } = self.first().filter(|flit| flit.index == 0)?;
        Some((packet, (crossed + route_cycles).max(self.considered_from)))
    }

    /// Returns the next link of the first packet, if the packet holds it and the buffer has no free slot; otherwise `None`. A flit that crosses this
    /// link frees a slot.
    pub(super) fn output_if_full(&self) -> Option<LinkId> {
        self.drain.filter(|_| self.slots.is_empty())
    }

    /// Records that the first packet holds its next link, `link`.
    pub(super) fn set_output_link(&mut self, link: LinkId) {
        self.drain = Some(link);
    }

    /// Stores a flit in the first free slot. Returns whether it is the only flit in the buffer.
    pub(super) fn enter(&mut self, flit: Flit) -> bool {
        self.slots.pop_front();
        self.flits.push_back(flit);
        self.flits.len() == 1
    }

    /// Removes the first flit, which leaves at `now`, and frees its slot.
    pub(super) fn leave(&mut self, now: u64) {
        self.flits.pop_front();
        self.slots.push_back(now + u64::from(self.credit_cycles));
    }

    /// Records that the tail of the first packet left at `now`. The head of the next one can be granted its link from cycle `now` + 1 +
    /// `head_of_line_cycles` on.
    pub(super) fn tail_left(&mut self, now: u64, head_of_line_cycles: u32) {
        self.drain = None;
        self.considered_from = now + 1 + u64::from(head_of_line_cycles);
    }
}

/// Total time, in cycles, for which a wire was held.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldCycles {
    since: u64,
    /// Sum of the cycles of all holds that have ended.
    pub(super) before: u64,
}

impl HeldCycles {
    /// Starts a hold of the wire at cycle `now`.
    pub(super) fn begin(&mut self, now: u64) {
        self.since = now;
    }

    /// Ends the hold at cycle `now`, and adds its cycles.
    pub(super) fn end(&mut self, now: u64) {
        self.before += now - self.since;
    }
}
