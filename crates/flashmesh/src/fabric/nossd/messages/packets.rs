//! Division of messages into packets (Design for Scalability in Enterprise SSDs, PACT 2014, section 5.2 and Table 4).

use crate::config::{self, Interleave, PagePackets};
use crate::fabric::wormhole::PacketClass;
use crate::fabric::{Payload, TransferKind};
use crate::units::Bytes;

/// The packets of a message: their number, and the length of each in flits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) struct Packets {
    pub(in super::super) count: u32,
    pub(in super::super) flits: u32,
}

impl Packets {
    /// Merges the packets into one of their total length, as a model of `nossd.keep-runs`: packets of a message stay together.
    fn merged(self) -> Packets {
        Packets { count: 1, flits: self.count * self.flits }
    }
}

/// Divider of messages into packets, with the packet lengths of `[nossd]` in flits.
#[derive(Clone, Debug)]
pub(in super::super) struct Packetizer {
    read_request: u32,
    erase_request: u32,
    acknowledgement: u32,
    data_packet: u32,
    data_header: u32,
    pages: PagePackets,
    /// Number of data bytes in a data packet: its flits after the header. A flit has 8 bit.
    data_payload: u64,
    /// Metadata bytes sent with each 4 KiB of data; 0 if pages have a spare area, which includes the metadata.
    metadata: u64,
    keeps_runs: bool,
}

impl Packetizer {
    /// Creates a packetizer for `config`. Pages have `page_spare` spare bytes.
    pub(in super::super) fn new(config: &config::Nossd, page_spare: Bytes) -> Packetizer {
        Packetizer {
            read_request: config.read_request_flits,
            erase_request: config.erase_request_flits,
            acknowledgement: config.acknowledgement_flits,
            data_packet: config.data_packet_flits,
            data_header: config.data_header_flits,
            pages: config.page_packets,
            data_payload: u64::from(config.data_packet_flits.saturating_sub(config.data_header_flits).max(1)),
            metadata: if page_spare == Bytes::ZERO { config.metadata.as_u64() } else { 0 },
            // With flit interleaving, the network itself keeps the packets of a message together.
            keeps_runs: config.keep_runs && config.interleave == Interleave::Packets,
        }
    }

    /// Divides `payload` into packets. Returns the packets and their class: small for requests, large for data.
    pub(in super::super) fn packetize(&self, payload: Payload) -> (Packets, PacketClass) {
        let requests = |flits| (Packets { count: payload.planes, flits }, PacketClass::Small);
        match payload.kind {
            // The page list of a Clean (chip-to-chip GC) lengthens the read request, by one flit per byte.
            TransferKind::Read => requests(self.read_request + payload.bytes.as_u64() as u32),
            TransferKind::Erase | TransferKind::Copyback => requests(self.erase_request),
            // Without data, the program writes a page that another chip has sent. The message is as long as an erase request.
            TransferKind::Program if payload.bytes == Bytes::ZERO => requests(self.erase_request),
            TransferKind::Program | TransferKind::Data | TransferKind::ChipToChipData => {
                // The page of each plane gets its own packets.
                let planes = u64::from(payload.planes.max(1));
                let bytes = payload.bytes.as_u64().div_ceil(planes);
                let bytes = bytes + (bytes * self.metadata).div_ceil(4096);
                if self.pages == PagePackets::One {
                    let flits = self.data_header + bytes as u32;
                    return (Packets { count: planes as u32, flits }, PacketClass::Large);
                }
                let count = bytes.div_ceil(self.data_payload).max(1) * planes;
                let packets = Packets { count: count as u32, flits: self.data_packet };
                (if self.keeps_runs { packets.merged() } else { packets }, PacketClass::Large)
            }
        }
    }

    /// Returns the number and length of the packets of an acknowledgement: one packet.
    pub(in super::super) fn acknowledgement(&self) -> Packets {
        Packets { count: 1, flits: self.acknowledgement }
    }

    /// Returns the length in flits of the longest packet of a drive, without the page list of a Clean (GC from chip to chip). A program writes
    /// `pages_per_program` pages in a plane. Buffers that accept only whole packets need this many slots.
    pub(in super::super) fn longest_packet(
        config: &config::Nossd,
        geometry: &config::Geometry,
        pages_per_program: u32,
    ) -> u32 {
        let requests = config.read_request_flits.max(config.erase_request_flits).max(config.acknowledgement_flits);
        let page = (geometry.page_size + geometry.page_spare).as_u64() * u64::from(pages_per_program);
        let metadata = if geometry.page_spare == Bytes::ZERO { config.metadata.as_u64() } else { 0 };
        requests.max(match config.page_packets {
            PagePackets::Fixed => config.data_packet_flits,
            PagePackets::One => config.data_header_flits + (page + (page * metadata).div_ceil(4096)) as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    fn cut(config: &config::Nossd, spare: u64, message: TransferKind, planes: u32, bytes: u64) -> (u32, u32) {
        let payload = Payload { kind: message, planes, command_time: Time::ZERO, bytes: Bytes::new(bytes) };
        let packets = Packetizer::new(config, Bytes::new(spare)).packetize(payload).0;
        (packets.count, packets.flits)
    }

    #[test]
    fn a_page_of_4_kib_and_224_b_is_nine_packets_of_512_flits() {
        let config = config::Nossd { keep_runs: false, ..Default::default() };
        assert_eq!(cut(&config, 0, TransferKind::Data, 1, 4096), (9, 512));
        assert_eq!(cut(&config, 224, TransferKind::Data, 1, 4320), (9, 512));
        assert_eq!(cut(&config, 224, TransferKind::Data, 1, 4321), (10, 512));
        assert_eq!(cut(&config, 0, TransferKind::Program, 2, 8192), (18, 512));
        assert_eq!(cut(&config, 0, TransferKind::Data, 1, 512), (2, 512));
        assert_eq!(cut(&config, 0, TransferKind::Data, 1, 16384), (36, 512));
    }

    /// Checks that a page in one packet (Network-on-SSD, CAL 2012, section 3.2) has the flits of the header (4), of the page, and of its spare area
    /// (64).
    #[test]
    fn a_page_in_one_packet_is_as_long_as_its_header_and_its_bytes() {
        let config = config::Nossd { page_packets: PagePackets::One, data_header_flits: 4, ..Default::default() };
        assert_eq!(cut(&config, 64, TransferKind::Data, 1, 4160), (1, 4164));
        assert_eq!(cut(&config, 64, TransferKind::Program, 2, 8320), (2, 4164));
        let bare = config::Nossd { metadata: Bytes::ZERO, ..config.clone() };
        assert_eq!(cut(&bare, 0, TransferKind::Data, 1, 512), (1, 516));
        let geometry =
            config::Geometry { page_size: Bytes::from_kib(4), page_spare: Bytes::new(64), ..Default::default() };
        assert_eq!(Packetizer::longest_packet(&config, &geometry, 1), 4164);
    }

    #[test]
    fn packets_that_are_kept_together_are_one() {
        let config = config::Nossd::default();
        assert_eq!(cut(&config, 0, TransferKind::Data, 1, 4096), (1, 9 * 512));
        assert_eq!(cut(&config, 0, TransferKind::Read, 2, 0), (2, 8));
    }

    #[test]
    fn requests_and_acknowledgements_have_the_lengths_of_the_configuration() {
        let config = config::Nossd { erase_request_flits: 6, acknowledgement_flits: 3, ..Default::default() };
        assert_eq!(cut(&config, 0, TransferKind::Read, 1, 0), (1, 8));
        assert_eq!(cut(&config, 0, TransferKind::Erase, 1, 0), (1, 6));
        assert_eq!(cut(&config, 0, TransferKind::Copyback, 1, 0), (1, 6));
        assert_eq!(cut(&config, 0, TransferKind::Program, 1, 0), (1, 6));
        let acknowledgement = Packetizer::new(&config, Bytes::ZERO).acknowledgement();
        assert_eq!(acknowledgement, Packets { count: 1, flits: 3 });
    }
}
