//! A link: its holder, requests, wire, and buffer.

use crate::ids::LinkId;

use super::buffer::Buffer;
use super::flit_run::{FlitRun, RunPool};
use super::network::{NO_LINK, NO_REQUEST, NOT_YET};
use super::packet::{LinkRequestId, NO_PACKET, PacketId};
use super::parameters::Parameters;
use super::round_robin::RoundRobin;
use super::topology::{PlacedRouter, Topology};

/// A directed link, with its output port and the buffer at its end.
#[derive(Clone, Debug)]
pub(super) struct LinkState {
    pub(super) holder: Holder,
    pub(super) buffer: Buffer,
    /// First request in the chain for the link; [`NO_REQUEST`] if there is none.
    pub(super) requests: LinkRequestId,
    /// Round-robin state of the arbitration of the link.
    pub(super) round_robin: RoundRobin,
    /// Wire that the link uses. A wire has the number of its link; of two links, the lower number.
    pub(super) wire: LinkId,
    /// State of the wire with the number of this link.
    pub(super) wire_state: Wire,
    /// Router at the end of the link.
    pub(super) end: PlacedRouter,
    pub(super) gap_cycles: u32,
    pub(super) is_ejection: bool,
    pub(super) traffic: LinkCounters,
}

/// The current or last packet on a link.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    pub(super) packet: PacketId,
    /// Link whose buffer the packet comes from; [`NO_LINK`] for a terminal.
    pub(super) source: LinkId,
    /// Number of flits that have not crossed yet.
    pub(super) remaining_flits: u32,
    /// Cycle from which the next flit may cross.
    pub(super) free: u64,
    /// Cycle in which the head crossed; [`NOT_YET`] before.
    pub(super) head: u64,
    /// Cycle of the grant.
    granted: u64,
}

/// The wire of one link, or with half-duplex links of the two links between a pair of routers. A wire carries one packet at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    pub(super) is_held: bool,
    /// Whether the link with the wire's number was served last.
    pub(super) served_first: bool,
    /// Link of the other direction; [`NO_LINK`] with full-duplex links.
    pub(super) backward: LinkId,
    pub(super) free: u64,
}

/// Traffic counters of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkCounters {
    pub(super) flits: u64,
    /// Time for which completed packets held the link.
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

    /// Returns whether the link has no requests and does not share its wire.
    #[inline(always)]
    pub(super) fn is_uncontended(&self) -> bool {
        self.requests == NO_REQUEST && self.wire_state.backward == NO_LINK
    }

    /// Adds the flits of `run` to the buffer at the end, except on an ejection link.
    #[inline(always)]
    pub(super) fn accept_flits(&mut self, run: FlitRun, runs: &mut RunPool) {
        if !self.is_ejection {
            self.buffer.arrive(run, runs);
        }
    }

    /// Moves a whole packet over the link in the cycles of `run`, which starts at the grant.
    #[inline(always)]
    pub(super) fn carry_packet(&mut self, run: FlitRun) {
        let end = run.last() + u64::from(run.stride);
        self.wire_state.free = end + u64::from(self.gap_cycles);
        self.traffic.flits += u64::from(run.count);
        self.traffic.held_cycles += end - run.start;
    }

    /// Moves the first flits of a packet in the cycles of `run`, which starts at the grant. `left` flits remain.
    #[inline(always)]
    pub(super) fn start_packet(&mut self, packet: PacketId, run: FlitRun, left: u32) {
        let Holder { source, .. } = self.holder;
        let free = run.last() + u64::from(run.stride);
        self.holder = Holder { packet, source, remaining_flits: left, free, head: run.start, granted: run.start };
        self.wire_state.is_held = true;
        self.traffic.flits += u64::from(run.count);
    }

    /// Releases the link after the tail has crossed. Returns the cycle from which its wire is free.
    #[inline(always)]
    pub(super) fn release(&mut self) -> u64 {
        self.traffic.held_cycles += self.holder.free - self.holder.granted;
        self.holder.free + u64::from(self.gap_cycles)
    }

    /// Records that flits have crossed: `left` remain, and the next one may cross from `free` on.
    #[inline(always)]
    pub(super) fn carry_until(&mut self, left: u32, free: u64) {
        self.traffic.flits += u64::from(self.holder.remaining_flits - left);
        (self.holder.remaining_flits, self.holder.free) = (left, free);
    }
}

impl Holder {
    /// Makes `packet` the holder at `now`, with all its `flits` flits still to cross. The packet comes from the buffer at the end of link `source`,
    /// or from a terminal if `source` is [`NO_LINK`].
    #[inline(always)]
    pub(super) fn grant(&mut self, packet: PacketId, source: LinkId, flits: u32, now: u64) {
        *self = Holder { packet, source, remaining_flits: flits, free: now, head: NOT_YET, granted: now };
    }

    /// Returns whether flits still have to cross.
    #[inline(always)]
    pub(super) fn is_crossing(&self) -> bool {
        self.remaining_flits > 0
    }

    /// Returns whether flits of `packet` still have to cross.
    #[inline(always)]
    pub(super) fn is_crossing_of(&self, packet: PacketId) -> bool {
        self.is_crossing() && self.packet == packet
    }
}

impl Wire {
    /// Marks the wire as held. `is_first` tells whether the holder is the link with the wire's number.
    #[inline(always)]
    pub(super) fn hold(&mut self, is_first: bool) {
        (self.is_held, self.served_first) = (true, is_first);
    }

    /// Releases the wire, which is free from `cycle` on.
    #[inline(always)]
    pub(super) fn release(&mut self, cycle: u64) {
        (self.is_held, self.free) = (false, cycle);
    }
}
