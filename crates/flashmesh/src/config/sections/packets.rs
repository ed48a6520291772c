//! The section `[packets]` of a configuration.

use crate::config::section::section;
use crate::units::{Bytes, Time};

const PACKET_MAX: Bytes = Bytes::from_kib(4);

section! {
    /// The packets of pSSD and pnSSD, whose chips have a controller on the die.
    Packets, "packets", with "fabric.kind" = ["\"pssd\"", "\"pnssd\""] but for [] {
        /// Bytes of a control packet: command and address of one plane.
        control_packet: Bytes = Bytes::new(8), in Bytes::ZERO..=PACKET_MAX, needs plain;
        /// Bytes of the header of a data packet.
        data_header: Bytes = Bytes::new(8), in Bytes::ZERO..=PACKET_MAX, needs plain;
        /// Bytes of the checksum of a data packet.
        data_crc: Bytes = Bytes::new(4), in Bytes::ZERO..=PACKET_MAX, needs plain;
        /// Time of the controller on the die to decode a command, and again to frame the data of a read.
        on_die_controller_time: Time = Time::from_ns(20), in Time::ZERO..=Time::from_ms(1), needs plain;
    }
}
