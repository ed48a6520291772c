//! What goes into a network, what comes out, and what is known of it in between.

use crate::engine::arena::Arena;
use crate::ids::{LinkId, id};

use super::topology::{Place, TerminalId};

id!(
    /// A packet in flight.
    PacketId
);
id!(
    /// The place of a request.
    RequestId
);

/// In place of a packet: where there is none.
pub(super) const NO_PACKET: PacketId = PacketId(u32::MAX);

/// The class of a packet, for [`small_first`](super::Parameters::small_first).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Requests and acknowledgements.
    Small,
    /// What carries data.
    Large,
}

/// A packet to be injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// What the caller knows it by.
    pub token: u64,
    /// Where it enters the network.
    pub source: TerminalId,
    /// Where it leaves the network.
    pub destination: TerminalId,
    /// Its length, head included.
    pub flits: u32,
    /// Its class.
    pub class: Class,
}

/// A packet whose way out of the network is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The token of the packet.
    pub token: u64,
    /// Where it leaves the network.
    pub destination: TerminalId,
    /// The cycle in which its head crosses the ejection link.
    pub head: u64,
    /// The cycle in which its tail does.
    pub tail: u64,
    /// Links between routers it took.
    pub hops: u32,
    /// Cycles from its creation until its tail leaves, less those it would have needed in an empty network.
    pub stalled: u64,
}

/// A packet whose way into the network is settled: its terminal can send the next one from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    /// The token of the packet.
    pub token: u64,
    /// Where it enters the network.
    pub source: TerminalId,
    /// The cycle in which its tail crosses the injection link.
    pub tail: u64,
}

/// What a network reports: each fact once, as soon as nothing can change it any more. That is at or before its cycle.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    /// Packets on their way out.
    pub deliveries: Vec<Delivery>,
    /// Packets on their way in.
    pub injections: Vec<Injection>,
}

impl Outbox {
    /// Whether there is nothing to report.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.deliveries.is_empty() && self.injections.is_empty()
    }

    /// A packet is in the network as a whole from cycle `tail` on.
    pub(super) fn report_injection(&mut self, packet: Packet, tail: u64) {
        let Packet { token, source, .. } = packet;
        self.injections.push(Injection { token, source, tail });
    }

    /// Forgets what was reported.
    #[inline]
    pub fn clear(&mut self) {
        self.deliveries.clear();
        self.injections.clear();
    }
}

/// How a packet crossed one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crossing {
    /// The token of the packet.
    pub token: u64,
    /// The link.
    pub link: LinkId,
    /// The cycle in which the head crossed it.
    pub head: u64,
    /// The cycle in which the tail did.
    pub tail: u64,
}

/// The crossings since they were last taken, where somebody wants them.
#[derive(Clone, Debug, Default)]
pub(super) struct CrossingLog(Option<Vec<Crossing>>);

impl CrossingLog {
    /// Keeps what happens from now on.
    pub(super) fn keep(&mut self) {
        self.0 = Some(Vec::new());
    }

    /// What happened since this was last called.
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

/// What waits at a terminal for its injection link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    /// Packets.
    pub packets: u32,
    /// Their flits.
    pub flits: u64,
}

impl Queued {
    /// A packet comes.
    pub(super) fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.flits += u64::from(packet.flits);
    }

    /// A packet goes.
    pub(super) fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.flits -= u64::from(packet.flits);
    }
}

/// What one link carried; what is settled for cycles to come is counted already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg(feature = "internals")]
pub struct Carried {
    /// Flits.
    pub flits: u64,
    /// Cycles in which they moved.
    pub busy_cycles: u64,
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub(super) packet: Packet,
    pub(super) created: u64,
    /// Counts packets, so that no two are equally old.
    pub(super) order: u64,
    /// The last crossing of its head.
    pub(super) head: u64,
    pub(super) hops: u32,
    /// The router of its destination.
    pub(super) to: Place,
    /// The one behind it, when it is not the last of its queue.
    behind: PacketId,
}

impl InFlight {
    pub(super) fn new(packet: Packet, to: Place, created: u64, order: u64) -> InFlight {
        InFlight { packet, created, order, head: created, hops: 0, to, behind: NO_PACKET }
    }
}

/// Packets in the order in which they came, chained through [`InFlight::behind`].
///
/// A packet whose head and tail are in different buffers stands in the queues of all of them, yet one chain is enough:
/// it is the last of the later queue as long as it is in the earlier one, since whoever follows crosses the same link.
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

    /// Whether the first packet, if there is one, is the only one.
    #[inline(always)]
    pub(super) fn has_one(&self) -> bool {
        self.first == self.last
    }

    /// Puts `packet` at the end; tells whether it is the first.
    #[inline]
    pub(super) fn push(&mut self, packet: PacketId, packets: &mut Arena<PacketId, InFlight>) -> bool {
        let last = std::mem::replace(&mut self.last, packet);
        let is_first = self.first == NO_PACKET;
        if is_first {
            self.first = packet;
        } else {
            packets[last].behind = packet;
        }
        is_first
    }

    /// Takes the first packet away and gives the next.
    #[inline]
    pub(super) fn pop(&mut self, packets: &Arena<PacketId, InFlight>) -> Option<PacketId> {
        if self.first == self.last {
            self.first = NO_PACKET;
            return None;
        }
        self.first = packets[self.first].behind;
        Some(self.first)
    }
}
