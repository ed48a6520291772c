//! Transfer times on a channel, for bare bus signals and for packets.

use crate::config;
use crate::fabric::{Payload, TransferKind};
use crate::units::{Bytes, Rate, Time, TransferTimes};

/// Size of an entry of the page list in a Clean packet, which makes a chip move the listed pages. No paper states a size.
pub const PAGE_ADDRESS_SIZE: Bytes = Bytes::new(4);

/// Overhead of a transfer on a channel, in addition to the time of its data bytes.
#[derive(Clone, Debug)]
pub(in super::super) enum ChannelOverhead {
    /// Bare bus signals: a command takes [`Payload::command_time`], and data has no overhead.
    Signals,
    /// Packets (Venice, ISCA 2023, section 3.2, after pSSD): one control packet for each plane of a command, and a header and a CRC around the data
    /// of each plane.
    Packets {
        /// Transfer time of a control packet, for one plane of a command.
        control: Time,
        /// Header and CRC bytes of a data packet, together.
        overhead: Bytes,
    },
}

/// Calculator of transfer times on channels of one rate.
#[derive(Clone, Debug)]
pub(in super::super) struct ChannelTiming {
    framing: ChannelOverhead,
    data_times: TransferTimes,
}

impl ChannelTiming {
    /// Creates the calculator for channels with bare bus signals at `rate`.
    pub(in super::super) fn signals(rate: Rate) -> ChannelTiming {
        ChannelTiming { framing: ChannelOverhead::Signals, data_times: TransferTimes::new(rate) }
    }

    /// Creates the calculator for channels with packets at `rate`, with the packet sizes of `config`.
    pub(in super::super) fn packets(config: &config::Packets, rate: Rate) -> ChannelTiming {
        let overhead = config.data_header + config.data_crc;
        let framing = ChannelOverhead::Packets { control: rate.time_for(config.control_packet), overhead };
        ChannelTiming { framing, data_times: TransferTimes::new(rate) }
    }

    /// Returns the time for which `payload` occupies a channel, overhead included.
    #[inline(always)]
    pub(in super::super) fn duration(&mut self, payload: Payload) -> Time {
        match self.framing {
            ChannelOverhead::Signals if payload.bytes == Bytes::ZERO => payload.command_time,
            ChannelOverhead::Signals => payload.command_time + self.data_times.time_for(payload.bytes),
            ChannelOverhead::Packets { control, overhead } => self.packet_duration(payload, control, overhead),
        }
    }

    fn packet_duration(&mut self, payload: Payload, control: Time, overhead: Bytes) -> Time {
        let data = if payload.bytes == Bytes::ZERO {
            Time::ZERO
        } else {
            self.data_times.time_for(payload.bytes + overhead * u64::from(payload.planes))
        };
        match payload.kind {
            TransferKind::Data | TransferKind::ChipToChipData => data,
            TransferKind::Read | TransferKind::Program | TransferKind::Erase | TransferKind::Copyback => {
                control * u64::from(payload.planes) + data
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABYTE: Rate = Rate::from_bytes_per_second(1_000_000_000);

    fn payload(message: TransferKind, planes: u32, bytes: u64) -> Payload {
        Payload { kind: message, planes, command_time: Time::from_ns(30), bytes: Bytes::new(bytes) }
    }

    #[test]
    fn signals_take_the_time_of_the_command_and_bare_bytes() {
        let mut durations = ChannelTiming::signals(GIGABYTE);
        assert_eq!(durations.duration(payload(TransferKind::Program, 2, 8192)), Time::from_ns(30 + 8192));
        assert_eq!(durations.duration(payload(TransferKind::Read, 1, 0)), Time::from_ns(30));
    }

    #[test]
    fn packets_take_a_control_packet_and_a_framed_packet_of_data_for_each_plane() {
        let config = config::Packets {
            control_packet: Bytes::new(8),
            data_header: Bytes::new(8),
            data_crc: Bytes::new(4),
            ..Default::default()
        };
        let mut durations = ChannelTiming::packets(&config, GIGABYTE);
        assert_eq!(durations.duration(payload(TransferKind::Read, 2, 0)), Time::from_ns(16));
        assert_eq!(durations.duration(payload(TransferKind::Program, 2, 8192)), Time::from_ns(16 + 8192 + 24));
        assert_eq!(durations.duration(payload(TransferKind::Data, 1, 4096)), Time::from_ns(4096 + 12));
    }
}
