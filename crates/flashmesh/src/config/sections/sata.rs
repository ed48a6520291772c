//! The section `[sata]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Time;

choices! {
    /// The transport between the host adapter and the drive.
    SataTransport {
        /// A cable that carries frames in one direction at a time.
        Frames = "frames",
        /// A bus in both directions, doorbells, and a controller that fetches commands and data; message sizes as in `[nvme]`.
        Doorbells = "doorbells",
    }
}

section! {
    /// The adapter and the queue of `host.interface = "sata"`.
    Sata, "sata", with "host.interface" = ["\"sata\""] but for [] {
        /// Maximum number of commands of all streams in the queue. Native command queuing has 32 tags; some controllers allow more
        /// commands.
        ncq_depth: u32 = 32, in 1..=65_535, needs plain;
        /// Time of the adapter for each command and for each completion. The adapter processes one command and one completion at a time.
        processing_delay: Time = Time::ZERO, in Time::ZERO..=Time::from_ms(1_000), needs plain;
        /// Transport between the adapter and the drive.
        transport: SataTransport = SataTransport::Frames, needs plain;
    }
}
