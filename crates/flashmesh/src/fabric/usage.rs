//! Usage counters of a link, and hold times of links, for all interconnects.

use crate::units::{Bytes, Time};

use super::{Payload, TransferPhase};

/// Traffic of one link (a channel, a link between routers, or the pins of a chip) since the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkUsage {
    /// Total transfer time since the start of the run. Each transfer counts in full when it starts; see [`LinkUsage::busy_until`].
    pub busy: Time,
    /// End of the last transfer that started; in the future while the transfer is in progress.
    pub last_end: Time,
    /// Data bytes sent from controllers to chips, with the spare area.
    pub bytes_in: Bytes,
    /// Data bytes sent from chips to controllers, with the spare area.
    pub bytes_out: Bytes,
    /// Data bytes sent directly from chip to chip, with the spare area.
    pub bytes_across: Bytes,
}

impl LinkUsage {
    /// Counts a transfer of `payload` over this link, which starts at `now` and takes `duration`. `phase` selects the byte counter.
    pub fn count(&mut self, phase: TransferPhase, payload: Payload, now: Time, duration: Time) {
        self.busy += duration;
        self.last_end = now + duration;
        match phase {
            TransferPhase::Command => self.bytes_in += payload.bytes,
            TransferPhase::DataOut => self.bytes_out += payload.bytes,
            TransferPhase::Copy => self.bytes_across += payload.bytes,
        }
    }

    /// Returns the total transfer time up to `now`, without the rest of a transfer in progress.
    pub fn busy_until(&self, now: Time) -> Time {
        // A link carries one transfer at a time, so busy time after `now` belongs to the last transfer.
        self.busy.saturating_sub(self.last_end.saturating_sub(now))
    }
}

/// Time for which each link was held since the start of the run, whether or not bytes moved, in the order of [`Layout::links`](super::Layout::links).
#[derive(Clone, Debug, PartialEq)]
pub enum HoldTimes<T> {
    /// Links are held only while bytes move, so [`LinkUsage::busy`] has the times.
    TransfersOnly,
    /// Links are held by packets that move or are blocked. A packet network saturates when blocked packets hold its links, long before its links are
    /// busy all the time.
    PacketHolds(Vec<T>),
    /// Links are held by one operation at a time, from its command to the last byte of its data or its acknowledgement (`fabric.hold-path`).
    OperationHolds(Vec<T>),
}

impl<T> HoldTimes<T> {
    /// Converts each time by `measure`, for example into seconds.
    pub fn map<U>(self, measure: impl Fn(T) -> U) -> HoldTimes<U> {
        let measured = |times: Vec<T>| times.into_iter().map(&measure).collect();
        match self {
            HoldTimes::TransfersOnly => HoldTimes::TransfersOnly,
            HoldTimes::PacketHolds(times) => HoldTimes::PacketHolds(measured(times)),
            HoldTimes::OperationHolds(times) => HoldTimes::OperationHolds(measured(times)),
        }
    }

    /// Returns the times of [`HoldTimes::PacketHolds`], indexed by link; empty for the other variants.
    pub fn by_packets(&self) -> &[T] {
        if let HoldTimes::PacketHolds(times) = self { times } else { &[] }
    }

    /// Returns the times of [`HoldTimes::OperationHolds`], indexed by link; empty for the other variants.
    pub fn by_operations(&self) -> &[T] {
        if let HoldTimes::OperationHolds(times) = self { times } else { &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::TransferKind;

    #[test]
    fn what_a_transfer_has_yet_to_move_is_not_busy_time() {
        let payload = Payload { kind: TransferKind::Data, planes: 1, command_time: Time::ZERO, bytes: Bytes::new(7) };
        let mut usage = LinkUsage::default();
        usage.count(TransferPhase::DataOut, payload, Time::from_ns(10), Time::from_ns(4));
        usage.count(TransferPhase::DataOut, payload, Time::from_ns(20), Time::from_ns(5));
        let busy = [20, 22, 25, 99].map(|now| usage.busy_until(Time::from_ns(now)));
        assert_eq!(busy, [4, 6, 9, 9].map(Time::from_ns));
        assert_eq!((usage.bytes_in, usage.bytes_out), (Bytes::ZERO, Bytes::new(14)));
    }
}
