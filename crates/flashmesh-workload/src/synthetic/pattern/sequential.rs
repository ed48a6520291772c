//! The sequential pattern.

use super::{AddressPattern, Cursor};
use crate::error::WorkloadError;
use crate::synthetic::random::Generator;
use crate::synthetic::sizes::{Size, SizeTable};
use crate::synthetic::unusable;

/// The sequential pattern: each request begins in the block after the previous one, and wraps at the end of its stream's part of the footprint.
///
/// A request whose size is no multiple of the alignment leaves the rest of its last block unused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sequential;

impl Sequential {
    /// Creates a sequential pattern in `parts` equal parts of a footprint of `blocks` blocks. An error if some part is too small for the largest
    /// size.
    pub(crate) fn new(parts: u32, blocks: u64, sizes: &SizeTable) -> Result<Sequential, WorkloadError> {
        let largest = sizes.largest();
        let fits = (0..parts).all(|part| fits(&Cursor::of_part(part, parts, blocks), largest));
        if !fits {
            return Err(unusable(
                "replay.threads",
                format!("cuts the footprint into {parts} parts, some too small for requests of {}", largest.bytes),
            ));
        }
        Ok(Sequential)
    }
}

fn fits(part: &Cursor, size: &Size) -> bool {
    part.first < size.starts && size.blocks <= part.end - part.first
}

impl AddressPattern for Sequential {
    fn choose(&self, _generator: &mut Generator, cursor: &mut Cursor, size: &Size) -> u64 {
        let fits = cursor.next < size.starts && cursor.next + size.blocks <= cursor.end;
        let block = if fits { cursor.next } else { cursor.first };
        cursor.next = block + size.blocks;
        block
    }
}
