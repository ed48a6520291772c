//! Requests that do not begin at the start of a block.

use super::layout::FootprintLayout;
use super::random::{Chance, Generator, below};
use crate::units::Bytes;

/// The share of requests that begin at a random sector of their block instead of its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unaligned {
    chance: Chance,
    sector: u64,
    sectors: u64,
}

impl Unaligned {
    /// Creates the rule for `share` of the requests. `None` if the share is 0 or a block is one sector: all requests are aligned, without a random
    /// draw.
    pub(crate) fn new(share: f64, layout: &FootprintLayout, sector_size: Bytes) -> Option<Unaligned> {
        let sector = sector_size.as_u64();
        let sectors = layout.alignment().as_u64() / sector;
        (share > 0.0 && sectors > 1).then(|| Unaligned { chance: Chance::new(share), sector, sectors })
    }

    /// Returns the offset of a request of `size` bytes: `offset`, or with the given chance a random sector of its block. Stays at
    /// `offset` if the request would cross the end of the footprint.
    pub(crate) fn misalign(
        &self,
        offset: Bytes,
        size: Bytes,
        layout: &FootprintLayout,
        generator: &mut Generator,
    ) -> Bytes {
        if !self.chance.holds(Chance::draw(generator)) {
            return offset;
        }
        let begin = offset + Bytes::new(below(generator, self.sectors) * self.sector);
        if begin + size <= layout.end() { begin } else { offset }
    }
}
