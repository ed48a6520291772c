//! Host link. Each direction is a first-come first-served resource; both directions of a half-duplex link share one resource.
//!
//! If the link has packets, a message is cut into packets with a payload of at most `packet-payload`, each with `packet-overhead`
//! more bytes (headers, checksum, framing). The bytes are striped over the lanes, so a message takes ceil(bytes / lanes) at the
//! rate of one lane.

use crate::config;
use crate::units::{Bytes, Rate, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    ToDrive = 0,
    ToHost = 1,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Bytes on the wires, including packet overhead.
    pub bytes: Bytes,
    pub time: Time,
}

/// The packets and lanes of the link, which determine the bytes and the time of a message.
#[derive(Clone, Debug)]
struct Framing {
    lane_rate: Rate,
    lanes: u64,
    packet_payload: Option<Bytes>,
    packet_overhead: Bytes,
}

impl Framing {
    fn message(&self, size: Bytes) -> Message {
        let packets = self.packet_payload.map_or(0, |payload| size.as_u64().div_ceil(payload.as_u64()));
        let bytes = size + self.packet_overhead * packets;
        Message { bytes, time: self.lane_rate.time_for(Bytes::new(bytes.as_u64().div_ceil(self.lanes))) }
    }
}

#[derive(Clone, Debug, Default)]
struct Wires {
    free_at: Time,
    busy: Time,
}

#[derive(Clone, Debug)]
pub struct Link {
    framing: Framing,
    /// The wires of each direction. A half-duplex link uses the first element for both directions.
    wires: [Wires; 2],
    /// The largest used index of `wires`: 0 if half-duplex, 1 otherwise.
    last_wires: usize,
    carried: [Bytes; 2],
    /// The last data size and its message, cached because most transfers of a run have the same size.
    last: (Bytes, Message),
}

impl Link {
    pub fn new(config: &config::Host, half_duplex: bool) -> Link {
        let framing = Framing {
            lane_rate: config.link_rate,
            lanes: u64::from(config.lanes),
            packet_payload: config.packet_payload,
            packet_overhead: config.packet_overhead,
        };
        let last = (Bytes::ZERO, Message::default());
        Link {
            framing,
            wires: Default::default(),
            last_wires: usize::from(!half_duplex),
            carried: [Bytes::ZERO; 2],
            last,
        }
    }

    pub fn message(&self, size: Bytes) -> Message {
        self.framing.message(size)
    }

    /// Returns the index in `wires` of the wires that carry `direction`.
    #[inline(always)]
    fn number(&self, direction: Direction) -> usize {
        direction as usize & self.last_wires
    }

    /// Queues a message. Returns the time at which its last byte has crossed.
    #[inline]
    pub fn send(&mut self, direction: Direction, message: Message, now: Time) -> Time {
        self.carried[direction as usize] += message.bytes;
        let number = self.number(direction);
        let wires = &mut self.wires[number];
        wires.free_at = wires.free_at.later(now) + message.time;
        wires.busy += message.time;
        wires.free_at
    }

    /// Returns the end of the transfer of `message` if `message` were sent next, at `now`. `now` may be in the future.
    #[inline]
    pub fn transfer_end(&self, direction: Direction, message: Message, now: Time) -> Time {
        self.wires[self.number(direction)].free_at.later(now) + message.time
    }

    /// Returns the message that carries `size` bytes of data.
    #[inline]
    pub fn data_message(&mut self, size: Bytes) -> Message {
        if size != self.last.0 {
            self.last = (size, self.framing.message(size));
        }
        self.last.1
    }

    /// Queues a message with `size` bytes of data. Returns the time at which its last byte has crossed.
    #[inline]
    pub fn send_data(&mut self, direction: Direction, size: Bytes, now: Time) -> Time {
        let message = self.data_message(size);
        self.send(direction, message, now)
    }

    /// Returns the busy time of a direction up to `now`. On a half-duplex link, this is the busy time of both directions together.
    pub fn busy(&self, direction: Direction, now: Time) -> Time {
        let wires = &self.wires[self.number(direction)];
        // The counter already includes messages queued beyond `now`. These messages follow each other without gaps, so their time after `now` is
        // `free_at - now`.
        wires.busy.saturating_sub(wires.free_at.saturating_sub(now))
    }

    pub fn carried(&self, direction: Direction) -> Bytes {
        self.carried[direction as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Direction::{ToDrive, ToHost};
    use super::*;

    fn link(rate: Rate, half_duplex: bool) -> Link {
        Link::new(&config::Host { link_rate: rate, ..config::Host::default() }, half_duplex)
    }

    const GIGABYTE: Rate = Rate::from_bytes_per_second(1_000_000_000);

    #[test]
    fn transfers_queue_behind_each_other_and_busy_time_counts_only_the_past() {
        let mut link = link(GIGABYTE, false);
        let entry = link.message(Bytes::new(1));
        assert_eq!(link.send_data(ToDrive, Bytes::new(100), Time::from_ns(10)), Time::from_ns(110));
        assert_eq!(link.send_data(ToDrive, Bytes::new(50), Time::from_ns(20)), Time::from_ns(160));
        assert_eq!(link.send(ToDrive, entry, Time::from_ns(200)), Time::from_ns(201));
        assert_eq!(link.busy(ToDrive, Time::from_ns(1000)), Time::from_ns(151));
        assert_eq!((link.busy(ToHost, Time::from_ns(1000)), link.carried(ToDrive)), (Time::ZERO, Bytes::new(151)));
    }

    #[test]
    fn the_directions_of_a_full_duplex_link_share_nothing_and_those_of_a_half_duplex_link_take_turns() {
        for (half_duplex, second) in [(false, 50), (true, 150)] {
            let mut link = link(GIGABYTE, half_duplex);
            assert_eq!(link.send_data(ToDrive, Bytes::new(100), Time::ZERO), Time::from_ns(100));
            assert_eq!(link.send_data(ToHost, Bytes::new(50), Time::ZERO), Time::from_ns(second));
            assert_eq!((link.carried(ToDrive), link.carried(ToHost)), (Bytes::new(100), Bytes::new(50)));
        }
    }

    #[test]
    fn an_unlimited_link_takes_no_time() {
        let mut link = link(Rate::UNLIMITED, false);
        assert_eq!(link.send_data(ToDrive, Bytes::new(1 << 30), Time::from_ns(10)), Time::from_ns(10));
    }

    /// Sends 4 KiB over eight lanes of 1 GB/s in packets of 128 B with 28 B of framing: 32 x 156 B = 4992 B, 624 B per lane.
    #[test]
    fn a_message_is_cut_into_packets_and_striped_over_the_lanes() {
        let host = config::Host {
            link_rate: GIGABYTE,
            lanes: 8,
            packet_payload: Some(Bytes::new(128)),
            packet_overhead: Bytes::new(28),
            ..config::Host::default()
        };
        let link = Link::new(&host, false);
        for (size, bytes, ns) in [(4096, 4992, 624), (2, 30, 4), (72, 100, 13), (16, 44, 6), (129, 185, 24), (0, 0, 0)]
        {
            let expected = Message { bytes: Bytes::new(bytes), time: Time::from_ns(ns) };
            assert_eq!(link.message(Bytes::new(size)), expected, "{size} B");
        }
    }
}
