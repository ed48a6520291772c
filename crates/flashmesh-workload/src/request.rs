//! The requests of a workload.

use crate::names;
use crate::units::{Bytes, Time};

names! {
    /// The kind of a request.
    #[derive(Hash)]
    RequestKind {
        /// Reads the bytes, whose data is sent to the host.
        Read = "read",
        /// Writes the bytes with data from the host.
        Write = "write",
        /// Deallocates the bytes (NVMe Deallocate, ATA TRIM).
        Deallocate = "deallocate",
        /// Completes when all data written before is in flash. Covers no bytes.
        Flush = "flush",
        /// Sets the bytes to zero, without data over the link.
        WriteZeroes = "write_zeroes",
    }
}

impl RequestKind {
    /// Returns whether the request transfers data over the link, in either direction.
    pub const fn moves_data(self) -> bool {
        matches!(self, RequestKind::Read | RequestKind::Write)
    }
}

/// One request of a workload, before its issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoRequest {
    /// The arrival time, from the start of the workload.
    pub arrival: Time,
    /// The operation: read, write, deallocation, flush or write zeroes.
    pub kind: RequestKind,
    /// The offset in the namespace, a multiple of the sector size.
    pub offset: Bytes,
    /// The size, a positive multiple of the sector size; zero for a flush.
    pub size: Bytes,
    /// The number of the device in the trace, of the thread of a synthetic workload or a profile, or of the member of a mix.
    pub stream: u32,
}
