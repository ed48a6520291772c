//! State of a link: its holder, requests, wire, and buffer.

use crate::ids::LinkId;

use super::arbitration::round_robin::RoundRobin;
use super::buffer::Buffer;
use super::flit_run::{FlitRun, RunPool};
use super::network::{NO_LINK, NO_REQUEST, NOT_YET};
use super::packet::{LinkRequestId, NO_PACKET, PacketId};
use super::parameters::Parameters;
use super::topology::{PlacedRouter, Topology};

/// A directed link, with its output port and the buffer at its end.
#[derive(Clone, Debug)]
pub(super) struct LinkState {
    pub(super) holder: Holder,
    pub(super) buffer: Buffer,
    /// First request in the chain of pending requests for the link; [`NO_REQUEST`] if there is none.
    pub(super) requests: LinkRequestId,
    /// Number of inputs that can request the link, and the input served last, for round-robin arbitration.
    pub(super) round_robin: RoundRobin,
    /// Wire of the link: it has the number of the link or, if two links share it, the lower of their numbers.
    pub(super) wire: LinkId,
    /// State of the wire, if the wire has the number of this link. Otherwise, the link shares a wire of a lower number, and only `backward` is used.
    pub(super) wire_state: Wire,
    /// Router where the link ends; for an ejection link, the router where it starts.
    pub(super) end: PlacedRouter,
    pub(super) gap_cycles: u32,
    pub(super) is_ejection: bool,
    pub(super) traffic: LinkCounters,
}

/// The packet that holds a link, and its progress; meaningless while the link is free.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    pub(super) packet: PacketId,
    /// Link whose buffer the packet comes from; [`NO_LINK`] if the packet comes from a terminal.
    pub(super) source: LinkId,
    /// Number of flits of the packet that have not crossed the link yet; 0 if the link is free.
    pub(super) remaining_flits: u32,
    /// Cycle from which the next flit may cross.
    pub(super) free: u64,
    /// Cycle in which the head of the packet crossed; [`NOT_YET`] until it has crossed.
    pub(super) head: u64,
    /// Cycle in which the link was granted to the packet.
    granted: u64,
}

/// The wire of a link, which carries one packet at a time. On a half-duplex connection, the two links between a pair of routers share a wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    pub(super) is_held: bool,
    /// Whether the link with the number of the wire was granted last, not its reverse.
    pub(super) served_first: bool,
    /// The second link on the wire, in the other direction; [`NO_LINK`] if the wire has one link.
    pub(super) backward: LinkId,
    pub(super) free: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkCounters {
    pub(super) flits: u64,
    /// Cycles for which the link was held by packets whose tail has crossed it.
    pub(super) held_cycles: u64,
}

impl LinkState {
    pub(super) fn new(link: LinkId, topology: &Topology, parameters: &Parameters) -> LinkState {
        let reverse = topology.reverse(link).filter(|_| parameters.half_duplex);
        let (credit_cycles, gap_cycles) = match topology.is_injection(link) {
            true => (parameters.injection_credit_cycles, 0),
            false => (parameters.credit_cycles, parameters.gap_cycles),
        };
        LinkState {
            holder: Holder {
                packet: NO_PACKET,
                source: NO_LINK,
                remaining_flits: 0,
                free: 0,
                head: NOT_YET,
                granted: 0,
            },
            buffer: Buffer::new(parameters.buffer_flits, credit_cycles),
            requests: NO_REQUEST,
            round_robin: RoundRobin::new(link, topology),
            wire: reverse.map_or(link, |reverse| reverse.min(link)),
            wire_state: Wire { is_held: false, served_first: false, backward: reverse.unwrap_or(NO_LINK), free: 0 },
            end: topology.placed_router_at_end(link),
            gap_cycles,
            is_ejection: topology.is_ejection(link),
            traffic: LinkCounters::default(),
        }
    }

    /// Returns whether no request for the link is pending and the link does not share its wire.
    #[inline(always)]
    pub(super) fn is_uncontended(&self) -> bool {
        self.requests == NO_REQUEST && self.wire_state.backward == NO_LINK
    }

    /// Adds flits to the buffer at the end of the link; does nothing on an ejection link. `run` has the first cycle in which each added flit can
    /// leave the buffer.
    #[inline(always)]
    pub(super) fn accept_flits(&mut self, run: FlitRun, runs: &mut RunPool) {
        if !self.is_ejection {
            self.buffer.arrive(run, runs);
        }
    }

    /// Records that a whole packet crosses the link in the cycles of `run`, the first of which is also the cycle of the grant.
    #[inline(always)]
    pub(super) fn carry_packet(&mut self, run: FlitRun) {
        let end = run.last() + u64::from(run.stride);
        self.wire_state.free = end + u64::from(self.gap_cycles);
        self.traffic.flits += u64::from(run.count);
        self.traffic.held_cycles += end - run.start;
    }

    /// Records that the first flits of `packet` cross the link in the cycles of `run`, the first of which is also the cycle of the grant. `left`
    /// flits remain.
    #[inline(always)]
    pub(super) fn start_packet(&mut self, packet: PacketId, run: FlitRun, left: u32) {
        let Holder { source, .. } = self.holder;
        let free = run.last() + u64::from(run.stride);
        self.holder = Holder { packet, source, remaining_flits: left, free, head: run.start, granted: run.start };
        self.wire_state.is_held = true;
        self.traffic.flits += u64::from(run.count);
    }

    /// Adds the hold to the counters, after the tail has crossed. Returns the cycle from which the wire is free for the next packet.
    #[inline(always)]
    pub(super) fn release(&mut self) -> u64 {
        self.traffic.held_cycles += self.holder.free - self.holder.granted;
        self.holder.free + u64::from(self.gap_cycles)
    }

    /// Records that flits of the holder have crossed. `left` flits remain, the next one not before cycle `free`.
    #[inline(always)]
    pub(super) fn carry_until(&mut self, left: u32, free: u64) {
        self.traffic.flits += u64::from(self.holder.remaining_flits - left);
        (self.holder.remaining_flits, self.holder.free) = (left, free);
    }
}

impl Holder {
    /// Makes `packet`, with `flits` flits, the holder of the link from cycle `now` on. It comes from the buffer at the end of link `source`, or from
    /// a terminal if this is [`NO_LINK`].
    #[inline(always)]
    pub(super) fn grant(&mut self, packet: PacketId, source: LinkId, flits: u32, now: u64) {
        *self = Holder { packet, source, remaining_flits: flits, free: now, head: NOT_YET, granted: now };
    }

    /// Returns whether some flit of the holder has not crossed the link yet. If not, the link is free.
    #[inline(always)]
    pub(super) fn is_crossing(&self) -> bool {
        self.remaining_flits > 0
    }

    /// Returns whether `packet` holds the link, with flits that have not crossed yet.
    #[inline(always)]
    pub(super) fn is_crossing_of(&self, packet: PacketId) -> bool {
        self.is_crossing() && self.packet == packet
    }
}

impl Wire {
    /// Marks the wire as held. `is_first` is whether the granted link has the number of the wire, not its reverse.
    #[inline(always)]
    pub(super) fn hold(&mut self, is_first: bool) {
        (self.is_held, self.served_first) = (true, is_first);
    }

    /// Releases the wire, which can be granted again from `cycle` on.
    #[inline(always)]
    pub(super) fn release(&mut self, cycle: u64) {
        (self.is_held, self.free) = (false, cycle);
    }
}
