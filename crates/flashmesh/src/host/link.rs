//! The link between host and drive: full duplex, each direction a first-come first-served resource.

use crate::units::{Bytes, Rate, Time, TransferTimes};

/// One direction of the link.
#[derive(Clone, Debug)]
pub struct LinkDirection {
    data_times: TransferTimes,
    entry_time: Time,
    free_at: Time,
    busy: Time,
}

impl LinkDirection {
    /// An idle direction whose queue entries have `entry_size`.
    pub fn new(rate: Rate, entry_size: Bytes) -> LinkDirection {
        LinkDirection {
            data_times: TransferTimes::new(rate),
            entry_time: rate.time_for(entry_size),
            free_at: Time::ZERO,
            busy: Time::ZERO,
        }
    }

    /// Queues data of `size` at `now`; gives the time at which the last byte has crossed.
    #[inline]
    pub fn send_data(&mut self, now: Time, size: Bytes) -> Time {
        let duration = self.data_times.time_for(size);
        self.occupy(now, duration)
    }

    /// Queues a submission or completion entry at `now`; gives the time at which its last byte has crossed.
    #[inline]
    pub fn send_entry(&mut self, now: Time) -> Time {
        self.occupy(now, self.entry_time)
    }

    #[inline]
    fn occupy(&mut self, now: Time, duration: Time) -> Time {
        self.free_at = self.free_at.later(now) + duration;
        self.busy += duration;
        self.free_at
    }

    /// Time with bytes on the move up to `now`.
    pub fn busy(&self, now: Time) -> Time {
        // What is queued beyond `now` has been counted already; the queue is contiguous, so it is all of the difference.
        self.busy.saturating_sub(self.free_at.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_queue_behind_each_other_and_busy_time_counts_only_the_past() {
        let mut link = LinkDirection::new(Rate::from_bytes_per_second(1_000_000_000), Bytes::new(1));
        assert_eq!(link.send_data(Time::from_ns(10), Bytes::new(100)), Time::from_ns(110));
        assert_eq!(link.send_data(Time::from_ns(20), Bytes::new(50)), Time::from_ns(160));
        assert_eq!(link.send_entry(Time::from_ns(200)), Time::from_ns(201));
        assert_eq!(link.busy(Time::from_ns(1000)), Time::from_ns(151));
    }

    #[test]
    fn an_unlimited_link_takes_no_time() {
        let mut link = LinkDirection::new(Rate::UNLIMITED, Bytes::new(16));
        assert_eq!(link.send_data(Time::from_ns(10), Bytes::new(1 << 30)), Time::from_ns(10));
    }
}
