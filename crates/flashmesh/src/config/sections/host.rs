//! The section `[host]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::{Bytes, Rate};

choices! {
    /// The interface between host and drive.
    InterfaceKind {
        /// A link without a protocol: a command and its write data cross when the command is issued.
        Direct = "direct",
        /// Queues in the memory of the host, doorbells, and a controller that fetches commands; see `[nvme]`.
        Nvme = "nvme",
        /// One queue for all streams, behind an adapter of the host; see `[sata]`.
        Sata = "sata",
    }
}

choices! {
    /// The moment at which the data of a read is sent to the host.
    ReadData {
        /// Each page of a read is sent as soon as it is in the controller.
        Page = "page",
        /// All data of a read is sent when its last page is in the controller.
        Request = "request",
    }
}

section! {
    /// The queues and the link of the host.
    Host, "host" {
        /// Interface between host and drive.
        interface: InterfaceKind = InterfaceKind::Direct, needs plain;
        /// Maximum number of outstanding requests of each stream. Later requests wait at the host.
        queue_depth: u32 = 1024, in 1..=65_535, needs plain, step "x2";
        /// Rate of one lane of the link, in each direction.
        link_rate: Rate = Rate::from_bytes_per_second(8_000_000_000),
            in Rate::from_bytes_per_second(1_000)..=Rate::UNLIMITED, needs plain, step "x2";
        /// Number of lanes of the link. The bytes of a message are striped over the lanes.
        lanes: u32 = 1, in 1..=32, needs plain;
        /// Maximum payload of a packet on the link (PCIe: 128 B to 4 KiB).
        packet_payload: Option<Bytes> = None, unset "no packets, only bytes", in Bytes::new(1)..=Bytes::from_kib(1024), needs plain;
        /// Bytes of a packet in addition to its payload.
        packet_overhead: Bytes = Bytes::ZERO, in Bytes::ZERO..=Bytes::from_kib(4), needs plain;
        /// Bytes of a submission entry, from host to drive, per request.
        submission_size: Bytes = Bytes::new(64), in Bytes::ZERO..=Bytes::from_kib(4), needs plain;
        /// Bytes of a completion entry, from drive to host, per request.
        completion_size: Bytes = Bytes::new(16), in Bytes::ZERO..=Bytes::from_kib(4), needs plain;
        /// Moment at which the data of a read is sent to the host.
        read_data: ReadData = ReadData::Page, needs plain;
        /// Maximum size of a read or write command. The drive completes a larger command with the status Invalid Field.
        transfer_max: Option<Bytes> = None, unset "no limit", in Bytes::new(512)..=Bytes::from_kib(1 << 20), needs plain;
    }
}
