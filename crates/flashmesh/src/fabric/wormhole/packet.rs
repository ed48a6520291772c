//! Packets: injection, delivery, state in flight, and queues.

use crate::engine::arena::Arena;
use crate::ids::{LinkId, id};

use super::topology::{PlacedRouter, TerminalId};

id!(
    /// The id of a packet at a terminal or in the network.
    PacketId
);
id!(
    /// The index of a request entry. The network has one entry for each buffer, and one for each queue at a terminal.
    LinkRequestId
);

/// Placeholder for no packet, such as the first packet of an empty queue.
pub(super) const NO_PACKET: PacketId = PacketId(u32::MAX);

/// Class of a packet. With [`small_first`](super::Parameters::small_first), small packets are granted links before large ones.
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
    /// Number chosen by the caller, which is repeated in reports and logs. Consecutive packets with the same token belong to one message.
    pub token: u64,
    /// Terminal at which the packet enters the network.
    pub source: TerminalId,
    /// Terminal at which the packet leaves the network.
    pub destination: TerminalId,
    /// Length in flits, head included.
    pub flits: u32,
    /// Class of the packet, for priorities.
    pub class: PacketClass,
}

/// A report of when a packet leaves the network. The cycles are final, and can be later than the cycle being simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Token with which the creator of the packet recognizes it ([`Packet::token`]).
    pub token: u64,
    /// Terminal at which the packet leaves the network.
    pub destination: TerminalId,
    /// Cycle in which the head crosses the ejection link.
    pub head: u64,
    /// Cycle in which the tail crosses the ejection link.
    pub tail: u64,
    /// Number of links between routers that the packet crossed.
    pub hops: u32,
    /// Cycles from the creation of the packet to `tail`, minus its latency in an empty network.
    pub stalled: u64,
}

/// A report of when the tail of a packet enters the network, after which the terminal can send the next packet. The cycle is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    /// Token with which the creator of the packet recognizes it ([`Packet::token`]).
    pub token: u64,
    /// Terminal at which the packet enters the network.
    pub source: TerminalId,
    /// Cycle in which the tail crosses the injection link.
    pub tail: u64,
}

/// Reports of a network. Each injection and each delivery is reported once, as soon as its cycles are final, which can be before they are simulated.
#[derive(Clone, Debug, Default)]
pub struct NetworkReports {
    /// Deliveries reported since the last [`clear`](Self::clear).
    pub deliveries: Vec<Delivery>,
    /// Injections reported since the last [`clear`](Self::clear).
    pub injections: Vec<Injection>,
}

impl NetworkReports {
    /// Returns whether there are neither deliveries nor injections.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.deliveries.is_empty() && self.injections.is_empty()
    }

    /// Adds the report that the tail of `packet` crosses the injection link in cycle `tail`.
    pub(super) fn report_injection(&mut self, packet: Packet, tail: u64) {
        let Packet { token, source, .. } = packet;
        self.injections.push(Injection { token, source, tail });
    }

    /// Discards all reports, after the caller has handled them.
    #[inline]
    pub fn clear(&mut self) {
        self.deliveries.clear();
        self.injections.clear();
    }
}

/// The crossing of one link by a packet, or by a flit in the log of a [`FlitNetwork`](super::FlitNetwork).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crossing {
    /// Token with which the creator of the packet recognizes it ([`Packet::token`]).
    pub token: u64,
    /// Link that was crossed.
    pub link: LinkId,
    /// Cycle in which the head crossed the link; in a log of flits, the cycle of the flit.
    pub head: u64,
    /// Cycle in which the tail crossed the link; in a log of flits, the cycle of the flit.
    pub tail: u64,
}

/// A log of link crossings; `None` if no log is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct CrossingLog(Option<Vec<Crossing>>);

impl CrossingLog {
    /// Starts a log of link crossings, which is empty at first.
    pub(super) fn keep(&mut self) {
        self.0 = Some(Vec::new());
    }

    /// Removes and returns all entries; empty if no log is kept.
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

/// Number of packets queued at a terminal for its injection link, and number of their flits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLength {
    /// Number of queued packets.
    pub packets: u32,
    /// Number of flits of these packets.
    pub flits: u64,
}

impl QueueLength {
    /// Adds a packet to the counts when it is queued.
    pub(super) fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.flits += u64::from(packet.flits);
    }

    /// Subtracts a packet from the counts when it leaves the queue, because its injection link was granted.
    pub(super) fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.flits -= u64::from(packet.flits);
    }
}

/// Traffic of a link since the start, including crossings that are already determined for later cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg(feature = "internals")]
pub struct LinkTraffic {
    /// Number of flits that crossed the link.
    pub flits: u64,
    /// Number of cycles in which a flit occupied the link.
    pub busy_cycles: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PacketInFlight {
    pub(super) packet: Packet,
    pub(super) created: u64,
    /// Sequence number of the injection, which breaks ties between packets created in the same cycle.
    pub(super) order: u64,
    /// Cycle in which the head last crossed a link; the cycle of creation if it has crossed none.
    pub(super) head: u64,
    pub(super) hops: u32,
    /// Router to which the destination terminal is attached.
    pub(super) destination_router: PlacedRouter,
    /// Packet behind this one in each [`PacketQueue`] that contains both; meaningless for the last packet of a queue.
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
/// A packet with flits in several buffers is in the queue of each, but needs only one `next_in_queue`: as long as it is in one buffer, it is the last
/// packet of the next buffer, because the packets behind it cannot overtake it.
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

    /// Returns whether the queue, which must not be empty, has exactly one packet.
    #[inline(always)]
    pub(super) fn has_one(&self) -> bool {
        self.first == self.last
    }

    /// Appends `packet`. Returns whether it is the only packet of the queue; if so, the caller must request its next link.
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

    /// Removes the first packet. Returns the new first packet, for which the caller must request the next link; `None` if there is none.
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
