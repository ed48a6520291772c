//! Fitting of trace addresses to the drive.
//!
//! - A request is widened to whole sectors: its start is rounded down, its end up.
//! - With `workload.beyond = "reject"`, a request that ends beyond the drive is rejected; with `"send"` it stays as it is.
//! - With `"wrap"`, its start is taken modulo the capacity. A request that then crosses the end of the drive is moved back, so that it ends at the
//!   end of the drive. So a request remains one request of the same size.
//! - Reads and writes above [`SIZE_MAX`] are rejected: no host transfers that much in one command, and a corrupt size must not become millions of
//!   pages. A deallocation may cover the whole drive.

use super::line_errors::LineErrorKind;
use crate::config::Beyond;
use crate::error::WorkloadError;
use crate::request::RequestKind;
use crate::units::Bytes;

/// The largest read or write that is accepted.
pub const SIZE_MAX: Bytes = Bytes::from_kib(1 << 20);

/// The address space for a trace that is read without a drive: 1 PiB, as much as the largest drive has.
pub const ADDRESSES_MAX: Bytes = Bytes::new(1 << 50);

/// The address space of the drive, to which requests are fitted.
#[derive(Clone, Copy, Debug)]
pub struct AddressSpace {
    /// The capacity in bytes, rounded down to whole sectors of the drive.
    capacity: u64,
    sector_mask: u64,
    beyond: Beyond,
}

/// A request fitted to the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FittedRequest {
    /// The offset of the first byte on the drive, a multiple of the sector size.
    pub offset: u64,
    /// The size of the request in bytes, a positive multiple of the sector size; 0 for a flush.
    pub size: u64,
    /// Whether the address was taken modulo the capacity of the drive.
    pub is_wrapped: bool,
}

impl AddressSpace {
    /// Creates the address space of a drive of `capacity` with sectors of `sector_size`.
    ///
    /// # Errors
    /// If the sector size is no power of two, or the drive has no sector.
    pub fn new(capacity: Bytes, sector_size: Bytes, beyond: Beyond) -> Result<AddressSpace, WorkloadError> {
        if !sector_size.as_u64().is_power_of_two() {
            return Err(WorkloadError::Unusable(format!("a sector size of {sector_size} is no power of two")));
        }
        let sector_mask = sector_size.as_u64() - 1;
        let capacity = capacity.as_u64() & !sector_mask;
        if capacity == 0 {
            return Err(WorkloadError::Unusable("the drive has no sector to read or write".to_owned()));
        }
        Ok(AddressSpace { capacity, sector_mask, beyond })
    }

    pub fn capacity(&self) -> Bytes {
        Bytes::new(self.capacity)
    }

    /// Fits a request to the drive.
    ///
    /// # Errors
    /// The reason for which the request is rejected.
    pub fn fit(&self, kind: RequestKind, offset: u64, size: u64) -> Result<FittedRequest, LineErrorKind> {
        if kind == RequestKind::Flush {
            return Ok(FittedRequest { offset: 0, size: 0, is_wrapped: false });
        }
        if size == 0 {
            return Err(LineErrorKind::ZeroSize);
        }
        if size > SIZE_MAX.as_u64() && kind.moves_data() {
            return Err(LineErrorKind::TooLarge);
        }
        let start = offset & !self.sector_mask;
        let end = offset
            .checked_add(size)
            .and_then(|end| end.checked_add(self.sector_mask))
            .ok_or(LineErrorKind::BeyondDrive)?
            & !self.sector_mask;
        let size = end - start;
        if end <= self.capacity || self.beyond == Beyond::Send {
            return Ok(FittedRequest { offset: start, size, is_wrapped: false });
        }
        if self.beyond == Beyond::Reject || size > self.capacity {
            return Err(LineErrorKind::BeyondDrive);
        }
        let offset = (start % self.capacity).min(self.capacity - size);
        Ok(FittedRequest { offset, size, is_wrapped: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Beyond::{Reject, Send, Wrap};
    use RequestKind::{Deallocate, Flush, Read, Write};

    fn fit(beyond: Beyond, offset: u64, size: u64) -> Result<(u64, u64, bool), LineErrorKind> {
        let fit = AddressSpace::new(Bytes::new(10_000), Bytes::new(512), beyond).unwrap();
        fit.fit(Write, offset, size).map(|fitted| (fitted.offset, fitted.size, fitted.is_wrapped))
    }

    #[test]
    fn requests_are_widened_to_whole_sectors() {
        assert_eq!(fit(Reject, 512, 512), Ok((512, 512, false)));
        assert_eq!(fit(Reject, 511, 2), Ok((0, 1024, false)));
        assert_eq!(fit(Reject, 1, 1), Ok((0, 512, false)));
    }

    #[test]
    fn the_last_sector_is_the_last() {
        // 10,000 B hold 19 whole sectors of 512 B, which end at 9,728 B.
        assert_eq!(fit(Reject, 9_216, 512), Ok((9_216, 512, false)));
        assert_eq!(fit(Reject, 9_216, 513), Err(LineErrorKind::BeyondDrive));
        assert_eq!(fit(Reject, 9_728, 1), Err(LineErrorKind::BeyondDrive));
        assert_eq!(fit(Reject, u64::MAX, 1), Err(LineErrorKind::BeyondDrive));
        assert_eq!(fit(Wrap, u64::MAX, 1), Err(LineErrorKind::BeyondDrive));
    }

    #[test]
    fn wrapped_requests_keep_their_size_and_end_on_the_drive() {
        assert_eq!(fit(Wrap, 9_728 + 1024, 512), Ok((1024, 512, true)));
        assert_eq!(fit(Wrap, 9_216, 1024), Ok((8_704, 1024, true)));
        assert_eq!(fit(Wrap, 0, 9_729), Err(LineErrorKind::BeyondDrive));
    }

    #[test]
    fn requests_that_are_sent_beyond_the_drive_keep_their_address() {
        assert_eq!(fit(Send, 1 << 40, 512), Ok((1 << 40, 512, false)));
        assert_eq!(fit(Send, u64::MAX, 1), Err(LineErrorKind::BeyondDrive));
    }

    #[test]
    fn a_flush_has_neither_address_nor_size() {
        let fit = AddressSpace::new(Bytes::new(10_000), Bytes::new(512), Reject).unwrap();
        assert_eq!(fit.fit(Flush, 1 << 40, 0), Ok(FittedRequest { offset: 0, size: 0, is_wrapped: false }));
    }

    #[test]
    fn sizes_are_bounded_for_what_moves_data() {
        let fit = AddressSpace::new(Bytes::from_kib(1 << 30), Bytes::from_kib(4), Reject).unwrap();
        for (kind, size, fits) in [
            (Read, 0, false),
            (Deallocate, 0, false),
            (Read, SIZE_MAX.as_u64(), true),
            (Write, SIZE_MAX.as_u64() + 1, false),
            (Deallocate, 1 << 40, true),
        ] {
            assert_eq!(fit.fit(kind, 0, size).is_ok(), fits, "{kind:?} of {size}");
        }
    }

    #[test]
    fn a_drive_without_sectors_is_refused() {
        assert!(AddressSpace::new(Bytes::new(511), Bytes::new(512), Reject).is_err());
        assert!(AddressSpace::new(Bytes::new(4096), Bytes::new(520), Reject).is_err());
    }
}
