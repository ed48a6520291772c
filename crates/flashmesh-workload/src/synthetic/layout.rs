//! The footprint: the range of the drive that requests address.

use super::unusable;
use crate::error::WorkloadError;
use crate::units::Bytes;

/// The footprint, divided into blocks of the alignment. The last block may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FootprintLayout {
    start: u64,
    length: u64,
    alignment: u64,
}

impl FootprintLayout {
    /// Creates the layout of `length` bytes (`None`: the rest of the drive) from `start`, in blocks of `alignment`. The error names the key whose
    /// value does not fit.
    pub(crate) fn new(
        start: Bytes,
        length: Option<Bytes>,
        alignment: Bytes,
        capacity: Bytes,
        sector_size: Bytes,
    ) -> Result<FootprintLayout, WorkloadError> {
        if sector_size == Bytes::ZERO {
            return Err(unusable("geometry.sector-size", "is zero"));
        }
        if alignment == Bytes::ZERO || !alignment.as_u64().is_multiple_of(sector_size.as_u64()) {
            return Err(unusable(
                "workload.alignment",
                format!("{alignment} is not a positive multiple of the sector size {sector_size}"),
            ));
        }
        if start >= capacity {
            return Err(unusable("workload.footprint-start", format!("{start} is beyond the drive of {capacity:#}")));
        }
        if !start.as_u64().is_multiple_of(alignment.as_u64()) {
            return Err(unusable(
                "workload.footprint-start",
                format!("{start} is not a multiple of the alignment {alignment}"),
            ));
        }
        let room = capacity - start;
        let length = length.unwrap_or(room);
        if length > room {
            return Err(unusable(
                "workload.footprint",
                format!("{length} from {start} does not fit the drive of {capacity:#}: at most {room:#}"),
            ));
        }
        Ok(FootprintLayout { start: start.as_u64(), length: length.as_u64(), alignment: alignment.as_u64() })
    }

    /// Returns the number of blocks of the footprint, including a shorter last one.
    pub(crate) fn blocks(&self) -> u64 {
        self.length.div_ceil(self.alignment)
    }

    /// Returns the number of blocks that a request of `size` bytes covers.
    pub(crate) fn blocks_of(&self, size: u64) -> u64 {
        size.div_ceil(self.alignment)
    }

    /// Returns the number of blocks in which a request of `size` bytes can begin without crossing the end of the footprint. These are always the
    /// first blocks.
    pub(crate) fn starts_of(&self, size: u64) -> u64 {
        match self.length.checked_sub(size) {
            Some(spare) => spare / self.alignment + 1,
            None => 0,
        }
    }

    /// Returns the offset of `block` on the drive, in bytes.
    pub(crate) fn offset_of(&self, block: u64) -> Bytes {
        Bytes::new(self.start + block * self.alignment)
    }

    /// Returns the size of a block.
    pub(crate) fn alignment(&self) -> Bytes {
        Bytes::new(self.alignment)
    }

    /// Returns the offset of the end of the footprint.
    pub(crate) fn end(&self) -> Bytes {
        Bytes::new(self.start + self.length)
    }

    pub(crate) fn length(&self) -> Bytes {
        Bytes::new(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(start: u64, length: Option<u64>, alignment: u64) -> Result<FootprintLayout, WorkloadError> {
        FootprintLayout::new(
            Bytes::new(start),
            length.map(Bytes::new),
            Bytes::new(alignment),
            Bytes::from_kib(64),
            Bytes::new(512),
        )
    }

    #[test]
    fn counts_blocks_and_starts_with_a_short_last_block() {
        let layout = layout(4096, Some(10 * 1024), 4096).unwrap();
        assert_eq!(layout.blocks(), 3);
        assert_eq!(layout.starts_of(512), 3);
        assert_eq!(layout.starts_of(4096), 2);
        assert_eq!(layout.starts_of(10 * 1024), 1);
        assert_eq!(layout.starts_of(12 * 1024), 0);
        assert_eq!(layout.offset_of(2), Bytes::from_kib(12));
    }

    #[test]
    fn takes_the_rest_of_the_drive_by_default() {
        assert_eq!(layout(16 * 1024, None, 4096).unwrap().length(), Bytes::from_kib(48));
    }

    #[test]
    fn refuses_what_does_not_fit_and_names_the_key() {
        for (made, key) in [
            (layout(0, Some(65 * 1024), 4096), "workload.footprint:"),
            (layout(64 * 1024, None, 4096), "workload.footprint-start:"),
            (layout(512, None, 4096), "workload.footprint-start:"),
            (layout(0, None, 100), "workload.alignment:"),
            (layout(0, None, 0), "workload.alignment:"),
        ] {
            let message = made.unwrap_err().to_string();
            assert!(message.starts_with(key), "{message}");
        }
    }
}
