//! Packets: injection, delivery, and state in flight.

use crate::engine::arena::Arena;
use crate::ids::{LinkId, id};

use super::topology::{PlacedRouter, TerminalId};

id!(
    /// The id of a packet in flight.
    PacketId
);
id!(
    /// The index of a request.
    LinkRequestId
);

/// Value for no packet.
pub(super) const NO_PACKET: PacketId = PacketId(u32::MAX);

/// Class of a packet, for [`small_first`](super::Parameters::small_first).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PacketClass {
    /// Requests and acknowledgements.
    Small,
    /// Packets with data.
    Large,
}

/// A packet to inject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Identifier chosen by the caller.
    pub token: u64,
    /// Terminal at which the packet is injected.
    pub source: TerminalId,
    /// Terminal at which the packet is ejected.
    pub destination: TerminalId,
    /// Length in flits, head included.
    pub flits: u32,
    /// Class of the packet.
    pub class: PacketClass,
}

/// A report that the delivery time of a packet is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Token of the packet.
    pub token: u64,
    /// Terminal at which the packet is ejected.
    pub destination: TerminalId,
    /// Cycle in which the head crosses the ejection link.
    pub head: u64,
    /// Cycle in which the tail crosses the ejection link.
    pub tail: u64,
    /// Number of links between routers on the path.
    pub hops: u32,
    /// Cycles from the creation of the packet to the crossing of its tail, minus the zero-load latency.
    pub stalled: u64,
}

/// A report that the injection time of a packet is final. From that time on its terminal can send the next packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    /// Token of the packet.
    pub token: u64,
    /// Terminal at which the packet is injected.
    pub source: TerminalId,
    /// Cycle in which the tail crosses the injection link.
    pub tail: u64,
}

/// Reports of a network. Each injection and each delivery is reported once, as soon as its cycles are final: in the reported cycle or earlier.
#[derive(Clone, Debug, Default)]
pub struct NetworkReports {
    /// Deliveries that became final.
    pub deliveries: Vec<Delivery>,
    /// Injections that became final.
    pub injections: Vec<Injection>,
}

impl NetworkReports {
    /// Returns whether there are no reports.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.deliveries.is_empty() && self.injections.is_empty()
    }

    /// Reports that the whole packet has entered the network by cycle `tail`.
    pub(super) fn report_injection(&mut self, packet: Packet, tail: u64) {
        let Packet { token, source, .. } = packet;
        self.injections.push(Injection { token, source, tail });
    }

    /// Discards the reports.
    #[inline]
    pub fn clear(&mut self) {
        self.deliveries.clear();
        self.injections.clear();
    }
}

/// The crossing of one link by a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crossing {
    /// Token of the packet.
    pub token: u64,
    /// Link that was crossed.
    pub link: LinkId,
    /// Cycle in which the head crossed.
    pub head: u64,
    /// Cycle in which the tail crossed.
    pub tail: u64,
}

/// A log of crossings; `None` if it is not kept.
#[derive(Clone, Debug, Default)]
pub(super) struct CrossingLog(Option<Vec<Crossing>>);

impl CrossingLog {
    /// Starts the log.
    pub(super) fn keep(&mut self) {
        self.0 = Some(Vec::new());
    }

    /// Removes and returns the log.
    pub(super) fn take(&mut self) -> Vec<Crossing> {
        self.0.as_mut().map(std::mem::take).unwrap_or_default()
    }

    #[inline(always)]
    pub(super) fn record(&mut self, crossing: impl FnOnce() -> Crossing) {
        if let Some(log) = &mut self.0 {
            log.push(crossing());
        }
    }
}

/// The packets queued at a terminal for its injection link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLength {
    /// Number of queued packets.
    pub packets: u32,
    /// Number of flits of these packets.
    pub flits: u64,
}

impl QueueLength {
    /// Adds a packet to the counts.
    pub(super) fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.flits += u64::from(packet.flits);
    }

    /// Removes a packet from the counts.
    pub(super) fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.flits -= u64::from(packet.flits);
    }
}

/// Traffic of a link, including crossings in later cycles that are already determined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg(feature = "internals")]
pub struct LinkTraffic {
    /// Number of flits carried.
    pub flits: u64,
    /// Cycles with a flit on the link.
    pub busy_cycles: u64,
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketInFlight {
    pub(super) packet: Packet,
    pub(super) created: u64,
    /// Sequence number, which breaks ties of age.
    pub(super) order: u64,
    /// Cycle in which the head last crossed a link.
    pub(super) head: u64,
    pub(super) hops: u32,
    /// Router of the destination.
    pub(super) destination_router: PlacedRouter,
    /// Next packet in the queue; meaningless for the last packet of the queue.
    next_in_queue: PacketId,
}

impl PacketInFlight {
    pub(super) fn new(packet: Packet, to: PlacedRouter, created: u64, order: u64) -> PacketInFlight {
        PacketInFlight {
            packet,
            created,
            order,
            head: created,
            hops: 0,
            destination_router: to,
            next_in_queue: NO_PACKET,
        }
    }
}

/// A queue of packets, chained through [`PacketInFlight::next_in_queue`].
///
/// A packet whose flits are in several buffers is in the queues of all of them. One chain suffices: while the packet is in an earlier queue, it is
/// the last one of the later queue, because every packet behind it has to cross the same link.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketQueue {
    first: PacketId,
    last: PacketId,
}

impl Default for PacketQueue {
    fn default() -> PacketQueue {
        PacketQueue { first: NO_PACKET, last: NO_PACKET }
    }
}

impl PacketQueue {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.first == NO_PACKET
    }

    /// Returns whether the queue has exactly one packet. The queue must not be empty.
    #[inline(always)]
    pub(super) fn has_one(&self) -> bool {
        self.first == self.last
    }

    /// Appends `packet`. Returns whether it is the only packet.
    #[inline]
    pub(super) fn push(&mut self, packet: PacketId, packets: &mut Arena<PacketId, PacketInFlight>) -> bool {
        let last = std::mem::replace(&mut self.last, packet);
        let is_first = self.first == NO_PACKET;
        if is_first {
            self.first = packet;
        } else {
            packets[last].next_in_queue = packet;
        }
        is_first
    }

    /// Removes the first packet. Returns the next packet; `None` if there is none.
    #[inline]
    pub(super) fn pop(&mut self, packets: &Arena<PacketId, PacketInFlight>) -> Option<PacketId> {
        if self.first == self.last {
            self.first = NO_PACKET;
            return None;
        }
        self.first = packets[self.first].next_in_queue;
        Some(self.first)
    }
}
