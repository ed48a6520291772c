//! Requests that begin within a block of the alignment.

use super::layout::Layout;
use super::random::{Chance, Generator, below};
use crate::units::Bytes;

/// A share of requests begins at any sector of its block, not at the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unaligned {
    chance: Chance,
    sector: u64,
    sectors: u64,
}

impl Unaligned {
    /// Of `share` of the requests; `None` where that is none, or a block is a sector: then nothing is drawn.
    pub(crate) fn new(share: f64, layout: &Layout, sector_size: Bytes) -> Option<Unaligned> {
        let sector = sector_size.as_u64();
        let sectors = layout.alignment().as_u64() / sector;
        (share > 0.0 && sectors > 1).then(|| Unaligned { chance: Chance::new(share), sector, sectors })
    }

    /// Where a request of `size` bytes begins that was to begin at `offset`; there where it would pass the end of the footprint.
    pub(crate) fn moved(&self, offset: Bytes, size: Bytes, layout: &Layout, generator: &mut Generator) -> Bytes {
        if !self.chance.holds(Chance::draw(generator)) {
            return offset;
        }
        let begin = offset + Bytes::new(below(generator, self.sectors) * self.sector);
        if begin + size <= layout.end() { begin } else { offset }
    }
}
