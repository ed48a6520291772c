//! `[host]`

use crate::config::section::section;
use crate::units::{Bytes, Rate};

section! {
    /// The queue pairs and the link to the host.
    Host, "host" {
        /// Requests of each stream that the drive holds at once; later ones wait on the host.
        queue_depth: u32 = 1024, in 1..=65_535;
        /// Rate of the link, in each direction.
        link_rate: Rate = Rate::from_bytes_per_second(8_000_000_000),
            in Rate::from_bytes_per_second(1_000)..=Rate::UNLIMITED;
        /// Bytes of a submission entry, host to drive, for each request.
        submission_size: Bytes = Bytes::new(64), in Bytes::ZERO..=Bytes::from_kib(4);
        /// Bytes of a completion entry, drive to host, for each request.
        completion_size: Bytes = Bytes::new(16), in Bytes::ZERO..=Bytes::from_kib(4);
    }
}
