//! A link: who holds it, who asks for it, the wire it drives and the buffer at its end.

use crate::ids::LinkId;

use super::buffer::Buffer;
use super::network::{NO_LINK, NO_REQUEST, NOT_YET};
use super::packet::{NO_PACKET, PacketId, RequestId};
use super::parameters::Parameters;
use super::round_robin::RoundRobin;
use super::stream::{Run, RunPool};
use super::topology::{Place, Topology};

/// A directed link, the output port in front of it and the buffer behind it.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) holder: Holder,
    pub(super) buffer: Buffer,
    /// The first of those who ask for it, and whose turn it is.
    pub(super) requests: RequestId,
    pub(super) turns: RoundRobin,
    /// The wire it drives, named by the first of its links.
    pub(super) wire: LinkId,
    /// The wire named by this link.
    pub(super) driven: Wire,
    /// The router at its end.
    pub(super) end: Place,
    pub(super) gap_cycles: u32,
    pub(super) is_ejection: bool,
    pub(super) traffic: Traffic,
}

/// The packet that crosses a link, or crossed it last.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    pub(super) packet: PacketId,
    /// The link that feeds the buffer it comes from.
    pub(super) source: LinkId,
    /// How many of its flits have yet to move.
    pub(super) left: u32,
    /// From when the next flit may cross.
    pub(super) free: u64,
    /// When its head crossed, or [`NOT_YET`].
    pub(super) head: u64,
    /// When it was granted the link.
    granted: u64,
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

/// What a link has carried, as it is reported.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traffic {
    pub(super) flits: u64,
    /// For how long the packets that have crossed it held it.
    pub(super) held_cycles: u64,
}

impl Link {
    pub(super) fn new(link: LinkId, topology: &Topology, parameters: &Parameters) -> Link {
        let reverse = topology.reverse(link).filter(|_| parameters.half_duplex);
        let (credit_cycles, gap_cycles) = match topology.is_injection(link) {
            true => (parameters.injection_credit_cycles, 0),
            false => (parameters.credit_cycles, parameters.gap_cycles),
        };
        Link {
            holder: Holder { packet: NO_PACKET, source: NO_LINK, left: 0, free: 0, head: NOT_YET, granted: 0 },
            buffer: Buffer::new(parameters.buffer_flits, credit_cycles),
            requests: NO_REQUEST,
            turns: RoundRobin::new(link, topology),
            wire: reverse.map_or(link, |reverse| reverse.min(link)),
            driven: Wire { is_held: false, served_first: false, backward: reverse.unwrap_or(NO_LINK), free: 0 },
            end: topology.place_at_end(link),
            gap_cycles,
            is_ejection: topology.is_ejection(link),
            traffic: Traffic::default(),
        }
    }

    /// Whether nobody asks for it, nor for the wire back.
    #[inline(always)]
    pub(super) fn is_asked_by_nobody(&self) -> bool {
        self.requests == NO_REQUEST && self.driven.backward == NO_LINK
    }

    /// The flits of `run` come into the buffer at its end, if there is one.
    #[inline(always)]
    pub(super) fn take_in(&mut self, run: Run, runs: &mut RunPool) {
        if !self.is_ejection {
            self.buffer.arrive(run, runs);
        }
    }

    /// A packet as a whole crosses in `run`, which starts with its grant.
    #[inline(always)]
    pub(super) fn carry_packet(&mut self, run: Run) {
        let end = run.last() + u64::from(run.stride);
        self.driven.free = end + u64::from(self.gap_cycles);
        self.traffic.flits += u64::from(run.count);
        self.traffic.held_cycles += end - run.start;
    }

    /// The first flits of a packet cross in `run`, which starts with its grant, and `left` are left.
    #[inline(always)]
    pub(super) fn start_packet(&mut self, packet: PacketId, run: Run, left: u32) {
        let Holder { source, .. } = self.holder;
        let free = run.last() + u64::from(run.stride);
        self.holder = Holder { packet, source, left, free, head: run.start, granted: run.start };
        self.driven.is_held = true;
        self.traffic.flits += u64::from(run.count);
    }

    /// The tail of its packet has crossed; gives from when its wire is free again.
    #[inline(always)]
    pub(super) fn let_go(&mut self) -> u64 {
        self.traffic.held_cycles += self.holder.free - self.holder.granted;
        self.holder.free + u64::from(self.gap_cycles)
    }

    /// Flits of its packet have crossed until `left` are left, and the next one may from `free` on.
    #[inline(always)]
    pub(super) fn carry_until(&mut self, left: u32, free: u64) {
        self.traffic.flits += u64::from(self.holder.left - left);
        (self.holder.left, self.holder.free) = (left, free);
    }
}

impl Holder {
    /// A packet from the buffer behind `source` holds the link from `now` on, and all of its flits have yet to move.
    #[inline(always)]
    pub(super) fn grant(&mut self, packet: PacketId, source: LinkId, flits: u32, now: u64) {
        *self = Holder { packet, source, left: flits, free: now, head: NOT_YET, granted: now };
    }

    /// Whether flits of a packet have yet to cross.
    #[inline(always)]
    pub(super) fn is_crossing(&self) -> bool {
        self.left > 0
    }

    /// Whether flits of `packet` have yet to cross.
    #[inline(always)]
    pub(super) fn is_crossing_of(&self, packet: PacketId) -> bool {
        self.is_crossing() && self.packet == packet
    }
}

impl Wire {
    /// A packet holds it; with two links, `is_first` tells whether it is on the one that names the wire.
    #[inline(always)]
    pub(super) fn hold(&mut self, is_first: bool) {
        (self.is_held, self.served_first) = (true, is_first);
    }

    /// Nobody holds it any more; it is free from `cycle` on.
    #[inline(always)]
    pub(super) fn let_go(&mut self, cycle: u64) {
        (self.is_held, self.free) = (false, cycle);
    }
}
