//! A request of a workload.

use crate::names;
use crate::units::{Bytes, Time};

names! {
    /// What a request asks of the drive.
    #[derive(Hash)]
    RequestKind {
        /// Read the bytes.
        Read = "read",
        /// Write the bytes.
        Write = "write",
        /// Forget the bytes (NVMe Deallocate, ATA TRIM).
        Deallocate = "deallocate",
        /// Complete when all that was written before is in the flash; it covers no bytes.
        Flush = "flush",
        /// Make the bytes zeros, without data over the link.
        WriteZeroes = "write_zeroes",
    }
}

impl RequestKind {
    /// Whether data crosses the link for it, in one direction or the other.
    #[inline]
    pub const fn moves_data(self) -> bool {
        matches!(self, RequestKind::Read | RequestKind::Write)
    }
}

/// One request of a workload, before the drive has seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoRequest {
    /// When it arrives, from the start of the workload.
    pub arrival: Time,
    /// What it asks.
    pub kind: RequestKind,
    /// Where it begins on the drive, a multiple of the sector size.
    pub offset: Bytes,
    /// How much it covers, a positive multiple of the sector size; nothing for a flush.
    pub size: Bytes,
    /// The device number a trace gives, the thread of a synthetic workload or a profile, the member of a mix.
    pub stream: u32,
}
