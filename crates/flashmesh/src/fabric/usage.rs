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

/// How long each link was held, moving or not, in the order of [`Layout::links`](super::Layout::links).
#[derive(Clone, Debug, PartialEq)]
pub enum Held<T> {
    /// Only to move something.
    ToMove,
    /// By packets that move or wait to move on: a packet network saturates when those that wait hold its links, long before bytes move all
    /// the time.
    ByPackets(Vec<T>),
    /// By one operation at a time, from its command to the last byte of its data (`fabric.hold-path`): all of it is work.
    ByOperations(Vec<T>),
}

impl<T> Held<T> {
    /// The same in another measure.
    pub fn map<U>(self, measure: impl Fn(T) -> U) -> Held<U> {
        let measured = |times: Vec<T>| times.into_iter().map(&measure).collect();
        match self {
            Held::ToMove => Held::ToMove,
            Held::ByPackets(times) => Held::ByPackets(measured(times)),
            Held::ByOperations(times) => Held::ByOperations(measured(times)),
        }
    }

    /// What packets held each link for; nothing where they do not.
    pub fn by_packets(&self) -> &[T] {
        if let Held::ByPackets(times) = self { times } else { &[] }
    }

    /// What operations held each link for; nothing where they do not.
    pub fn by_operations(&self) -> &[T] {
        if let Held::ByOperations(times) = self { times } else { &[] }
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
