//! A link of a network of flits: who holds it, who asks for it, its side of the wire and the buffer at its end.

use std::collections::VecDeque;

use crate::engine::arena::Arena;
use crate::fabric::wormhole::packet::{Class, Packet};
use crate::fabric::wormhole::parameters::{Arbitration, Parameters};
use crate::fabric::wormhole::round_robin::RoundRobin;
use crate::fabric::wormhole::topology::{RouterId, Topology};
use crate::ids::LinkId;

use super::{Flying, FlyingId};

/// A link, the output port in front of it and the buffer behind it.
#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) holder: Option<Holder>,
    pub(super) arbiter: PortArbiter,
    pub(super) buffer: Buffer,
    /// From when a flit may cross, and from when the link may be granted.
    pub(super) flit_free: u64,
    pub(super) grant_free: u64,
    /// Where its wire is shared.
    pub(super) side: Option<Side>,
    /// The router at its end.
    pub(super) end: RouterId,
    pub(super) gap_cycles: u32,
    pub(super) is_ejection: bool,
    pub(super) is_active: bool,
    /// Of the first of two links that share a wire for both.
    pub(super) held: HeldCycles,
}

impl Port {
    pub(super) fn new(link: LinkId, topology: &Topology, parameters: &Parameters) -> Port {
        let (credit_cycles, gap_cycles) = match topology.is_injection(link) {
            true => (parameters.injection_credit_cycles, 0),
            false => (parameters.credit_cycles, parameters.gap_cycles),
        };
        Port {
            holder: None,
            arbiter: PortArbiter { requests: Vec::new(), turns: RoundRobin::new(link, topology), run: None },
            buffer: Buffer::new(parameters.buffer_flits, credit_cycles),
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

    /// Whether a flit that crosses at `now` finds a slot, or needs none.
    pub(super) fn has_slot(&self, now: u64) -> bool {
        self.is_ejection || self.buffer.slots.front().is_some_and(|&slot| slot <= now)
    }
}

/// The packet that a link is granted to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder {
    pub(super) packet: FlyingId,
    /// The link whose buffer it comes from; none at a terminal.
    pub(super) source: Option<LinkId>,
    pub(super) sent: u32,
    pub(super) head: u64,
}

/// A packet that asks for a link, from the buffer behind another link or from a queue of a terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) packet: FlyingId,
    pub(super) source: Option<LinkId>,
    pub(super) input: u32,
    pub(super) ready: u64,
}

/// Who asks for a link, and what decides among them.
#[derive(Clone, Debug)]
pub(super) struct PortArbiter {
    requests: Vec<Request>,
    turns: RoundRobin,
    /// The run of the last packet.
    run: Option<u64>,
}

impl PortArbiter {
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub(super) fn ask(&mut self, request: Request) {
        self.requests.push(request);
    }

    /// The first cycle in which one of the requests may be granted.
    pub(super) fn ready(&self) -> Option<u64> {
        self.requests.iter().map(|request| request.ready).min()
    }

    /// Takes out the best of the requests that may be granted at `now`.
    pub(super) fn take_best(
        &mut self,
        now: u64,
        parameters: &Parameters,
        packets: &Arena<FlyingId, Flying>,
    ) -> Option<Request> {
        let key = |request: &Request| {
            let flying = &packets[request.packet];
            let Packet { class, token, .. } = flying.packet;
            let key = match parameters.arbitration {
                Arbitration::RoundRobin => (u64::from(self.turns.turns_before(request.input)), 0),
                Arbitration::Fifo => (request.ready, request.input.into()),
                Arbitration::Oldest => (flying.created, flying.order),
            };
            let breaks_run = class == Class::Small || self.run != Some(token);
            (parameters.small_first.then_some(class), breaks_run, key)
        };
        let ready = self.requests.iter().enumerate().filter(|(_, request)| request.ready <= now);
        let (best, _) = ready.min_by_key(|(_, request)| key(request))?;
        let request = self.requests.swap_remove(best);
        self.turns.serve(request.input);
        let Packet { class, token, .. } = packets[request.packet].packet;
        if class == Class::Large {
            self.run = Some(token);
        }
        Some(request)
    }
}

/// One of the two sides of a wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// The link in the other direction.
    pub(super) reverse: LinkId,
    pub(super) has_token: bool,
}

/// A flit in a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flit {
    pub(super) packet: FlyingId,
    pub(super) index: u32,
    pub(super) crossed: u64,
}

/// The buffer at the end of a link.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    flits: VecDeque<Flit>,
    /// From when each free slot may be used.
    slots: VecDeque<u64>,
    /// The link that the first packet holds.
    drain: Option<LinkId>,
    /// From when a head that stood behind another packet may ask for its output.
    looked_at: u64,
    credit_cycles: u32,
}

impl Buffer {
    fn new(slots: u32, credit_cycles: u32) -> Buffer {
        let slots = std::iter::repeat_n(0, slots as usize).collect();
        Buffer { flits: VecDeque::new(), slots, drain: None, looked_at: 0, credit_cycles }
    }

    /// The first flit.
    pub(super) fn first(&self) -> Option<&Flit> {
        self.flits.front()
    }

    /// The head that is the first flit, and from when it may ask for its output, with `route_cycles` from its crossing on.
    pub(super) fn first_head(&self, route_cycles: u64) -> Option<(FlyingId, u64)> {
        let &Flit { packet, crossed, .. } = self.first().filter(|flit| flit.index == 0)?;
        Some((packet, (crossed + route_cycles).max(self.looked_at)))
    }

    /// The link over which flits leave that is to be looked at first when no slot is free.
    pub(super) fn drain_if_full(&self) -> Option<LinkId> {
        self.drain.filter(|_| self.slots.is_empty())
    }

    /// The first packet is granted `link`.
    pub(super) fn drains_over(&mut self, link: LinkId) {
        self.drain = Some(link);
    }

    /// A flit takes the first free slot; tells whether it is the only flit.
    pub(super) fn enter(&mut self, flit: Flit) -> bool {
        self.slots.pop_front();
        self.flits.push_back(flit);
        self.flits.len() == 1
    }

    /// The first flit leaves at `now`.
    pub(super) fn leave(&mut self, now: u64) {
        self.flits.pop_front();
        self.slots.push_back(now + u64::from(self.credit_cycles));
    }

    /// The tail of the first packet has left at `now`.
    pub(super) fn tail_left(&mut self, now: u64, head_of_line_cycles: u32) {
        self.drain = None;
        self.looked_at = now + 1 + u64::from(head_of_line_cycles);
    }
}

/// For how long a wire was held.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldCycles {
    since: u64,
    /// Before it was held last.
    pub(super) before: u64,
}

impl HeldCycles {
    /// It is held from `now` on.
    pub(super) fn begin(&mut self, now: u64) {
        self.since = now;
    }

    /// It is free from `now` on.
    pub(super) fn end(&mut self, now: u64) {
        self.before += now - self.since;
    }
}
