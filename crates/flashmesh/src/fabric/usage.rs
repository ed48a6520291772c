//! What a link carried: the counters every interconnect keeps alike.

use crate::units::{Bytes, Time};

use super::{Payload, TransferPhase};

/// What one link (a channel, a wire bundle between routers, the pins of a chip) carried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkUsage {
    /// Time with bytes on the move, that of the transfer under way as a whole; see [`LinkUsage::busy_by`].
    pub busy: Time,
    /// When the last transfer is over.
    pub until: Time,
    /// Bytes towards the chips.
    pub bytes_in: Bytes,
    /// Bytes from the chips to controllers.
    pub bytes_out: Bytes,
    /// Bytes from chip to chip.
    pub bytes_across: Bytes,
}

impl LinkUsage {
    /// Counts one transfer of `duration`, which begins at `now`.
    #[inline]
    pub fn count(&mut self, phase: TransferPhase, payload: Payload, now: Time, duration: Time) {
        self.busy += duration;
        self.until = now + duration;
        match phase {
            TransferPhase::Command => self.bytes_in += payload.bytes,
            TransferPhase::DataOut => self.bytes_out += payload.bytes,
            TransferPhase::Copy => self.bytes_across += payload.bytes,
        }
    }

    /// Time with bytes on the move up to `now`.
    pub fn busy_by(&self, now: Time) -> Time {
        // A link carries one transfer at a time, so all that lies beyond `now` belongs to the last one.
        self.busy.saturating_sub(self.until.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Message;

    #[test]
    fn what_a_transfer_has_yet_to_move_is_not_busy_time() {
        let payload = Payload { message: Message::Data, planes: 1, command: Time::ZERO, bytes: Bytes::new(7) };
        let mut usage = LinkUsage::default();
        usage.count(TransferPhase::DataOut, payload, Time::from_ns(10), Time::from_ns(4));
        usage.count(TransferPhase::DataOut, payload, Time::from_ns(20), Time::from_ns(5));
        let busy = [20, 22, 25, 99].map(|now| usage.busy_by(Time::from_ns(now)));
        assert_eq!(busy, [4, 6, 9, 9].map(Time::from_ns));
        assert_eq!((usage.bytes_in, usage.bytes_out), (Bytes::ZERO, Bytes::new(14)));
    }
}
