//! A link of the flit-level network: its holder, requests, side of the wire, and buffer.

use std::collections::VecDeque;

use crate::engine::arena::Arena;
use crate::fabric::wormhole::packet::{Packet, PacketClass};
use crate::fabric::wormhole::parameters::{Arbitration, Parameters};
use crate::fabric::wormhole::round_robin::RoundRobin;
use crate::fabric::wormhole::topology::{RouterId, Topology};
use crate::ids::LinkId;

use super::{FlitPacket, FlitPacketId};

/// A link, with its output port and the buffer at its end.
#[derive(Clone, Debug)]
pub(super) struct FlitLink {
    pub(super) holder: Option<Holder>,
    pub(super) arbiter: PortArbiter,
    pub(super) buffer: FlitBuffer,
    /// Cycle from which a flit may cross.
    pub(super) flit_free: u64,
    /// Cycle from which the link may be granted.
    pub(super) grant_free: u64,
    /// Side of a shared wire; `None` if the link has a wire of its own.
    pub(super) side: Option<SharedWireSide>,
    /// Router at the end of the link.
    pub(super) end: RouterId,
    pub(super) gap_cycles: u32,
    pub(super) is_ejection: bool,
    pub(super) is_active: bool,
    /// Time for which the wire was held. Of two links that share a wire, only the one with the lower number counts.
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

    /// Returns whether a flit that crosses at `now` finds a free slot, or needs none.
    pub(super) fn has_slot(&self, now: u64) -> bool {
        self.is_ejection || self.buffer.slots.front().is_some_and(|&slot| slot <= now)
    }
}

/// The packet to which a link is granted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder {
    pub(super) packet: FlitPacketId,
    /// Link whose buffer the packet comes from; `None` for a terminal.
    pub(super) source: Option<LinkId>,
    pub(super) sent: u32,
    pub(super) head: u64,
}

/// A request for a link, from a buffer or from a queue of a terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) packet: FlitPacketId,
    pub(super) source: Option<LinkId>,
    pub(super) input: u32,
    pub(super) ready: u64,
}

/// The requests for a link, and the state of its arbitration.
#[derive(Clone, Debug)]
pub(super) struct PortArbiter {
    requests: Vec<Request>,
    turns: RoundRobin,
    /// Token of the last large packet, whose run is preferred.
    run: Option<u64>,
}

impl PortArbiter {
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub(super) fn request(&mut self, request: Request) {
        self.requests.push(request);
    }

    /// Returns the first cycle in which a request can be granted; `None` if there is no request.
    pub(super) fn ready(&self) -> Option<u64> {
        self.requests.iter().map(|request| request.ready).min()
    }

    /// Removes and returns the best of the requests that can be granted at `now`.
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

/// One direction of a shared wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedWireSide {
    /// Link in the other direction.
    pub(super) reverse: LinkId,
    /// Whether this direction has the transfer token.
    pub(super) has_token: bool,
}

/// A flit in a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flit {
    pub(super) packet: FlitPacketId,
    pub(super) index: u32,
    pub(super) crossed: u64,
}

/// The buffer at the end of a link.
#[derive(Clone, Debug)]
pub(super) struct FlitBuffer {
    flits: VecDeque<Flit>,
    /// Cycles from which the free slots can be used.
    slots: VecDeque<u64>,
    /// Next link of the first packet, if the packet holds that link.
    drain: Option<LinkId>,
    /// First cycle in which a head that was queued behind another packet can request its next link.
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

    /// Returns the packet of the first flit if that flit is a head, with the cycle from which it can request its next link: `route_cycles` after it
    /// crossed, or later.
    pub(super) fn first_head(&self, route_cycles: u64) -> Option<(FlitPacketId, u64)> {
        let &Flit { packet, crossed, .. } = self.first().filter(|flit| flit.index == 0)?;
        Some((packet, (crossed + route_cycles).max(self.considered_from)))
    }

    /// Returns the next link of the first packet if no slot is free and the packet holds that link. A flit that crosses the link first frees a slot.
    pub(super) fn output_if_full(&self) -> Option<LinkId> {
        self.drain.filter(|_| self.slots.is_empty())
    }

    /// Records that the first packet holds its next link, `link`.
    pub(super) fn set_output_link(&mut self, link: LinkId) {
        self.drain = Some(link);
    }

    /// Stores a flit in the first free slot. Returns whether it is the only flit.
    pub(super) fn enter(&mut self, flit: Flit) -> bool {
        self.slots.pop_front();
        self.flits.push_back(flit);
        self.flits.len() == 1
    }

    /// Removes the first flit at `now`.
    pub(super) fn leave(&mut self, now: u64) {
        self.flits.pop_front();
        self.slots.push_back(now + u64::from(self.credit_cycles));
    }

    /// Records that the tail of the first packet left at `now`.
    pub(super) fn tail_left(&mut self, now: u64, head_of_line_cycles: u32) {
        self.drain = None;
        self.considered_from = now + 1 + u64::from(head_of_line_cycles);
    }
}

/// Time for which a wire was held.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldCycles {
    since: u64,
    /// Held time up to the start of the current hold.
    pub(super) before: u64,
}

impl HeldCycles {
    /// Starts a hold at `now`.
    pub(super) fn begin(&mut self, now: u64) {
        self.since = now;
    }

    /// Ends the hold at `now`.
    pub(super) fn end(&mut self, now: u64) {
        self.before += now - self.since;
    }
}
