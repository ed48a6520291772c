//! Address patterns: one per file, with a common trait.

mod hot_cold;
mod hot_stride;
mod power;
mod runs;
mod scatter;
mod sequential;
mod uniform;
mod zipf;
mod zoned;

pub(crate) use hot_cold::HotCold;
pub(crate) use hot_stride::HotStride;
pub(crate) use power::{Normal, Pareto};
pub(crate) use runs::Runs;
pub(crate) use sequential::Sequential;
pub(crate) use uniform::Uniform;
pub(crate) use zipf::Zipf;
pub(crate) use zoned::Zoned;

use super::random::Generator;
use super::sizes::Size;

/// An address pattern: selects the block of the footprint in which a request begins.
///
/// # Contract
/// - The block is below `size.starts`: no request crosses the end of the footprint. Patterns are only built for sizes with at
///   least one such block.
/// - A pattern is constant and shared by all streams. All changing state is in the cursor and the generator of the stream.
/// - The number of draws may vary. Results must not depend on the machine: integers, or floating point through `libm`.
pub(crate) trait AddressPattern {
    /// Returns the block in which the next request, of `size`, begins.
    fn choose(&self, generator: &mut Generator, cursor: &mut Cursor, size: &Size) -> u64;
}

/// The position of a stream in its part of the footprint, from block `first` up to block `end`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    /// The block after the last request; [`Cursor::NOWHERE`] if there is no last request.
    pub(crate) next: u64,
    pub(crate) first: u64,
    pub(crate) end: u64,
}

impl Cursor {
    /// The value of `next` if there is no last request.
    pub(crate) const NOWHERE: u64 = u64::MAX;

    /// Creates a cursor for part `part` of `parts` equal parts of `blocks` blocks. Parts differ by at most one block.
    pub(crate) fn of_part(part: u32, parts: u32, blocks: u64) -> Cursor {
        let bound = |part: u64| (u128::from(blocks) * u128::from(part) / u128::from(parts)) as u64;
        Cursor { next: Self::NOWHERE, first: bound(u64::from(part)), end: bound(u64::from(part) + 1) }
    }
}

/// Any address pattern. An enum, not a trait object, so that the call per request can be inlined.
#[derive(Clone, Debug)]
pub(crate) enum AnyPattern {
    Sequential(Sequential),
    Uniform(Uniform),
    Zipf(Zipf),
    HotCold(HotCold),
    HotStride(HotStride),
    Zoned(Zoned),
    Pareto(Pareto),
    Normal(Normal),
    Runs(Runs),
}

impl AddressPattern for AnyPattern {
    fn choose(&self, generator: &mut Generator, cursor: &mut Cursor, size: &Size) -> u64 {
        match self {
            AnyPattern::Sequential(pattern) => pattern.choose(generator, cursor, size),
            AnyPattern::Uniform(pattern) => pattern.choose(generator, cursor, size),
            AnyPattern::Zipf(pattern) => pattern.choose(generator, cursor, size),
            AnyPattern::HotCold(pattern) => pattern.choose(generator, cursor, size),
            AnyPattern::HotStride(pattern) => pattern.choose(generator, cursor, size),
            AnyPattern::Zoned(pattern) => pattern.choose(generator, cursor, size),
            AnyPattern::Pareto(pattern) => pattern.choose(generator, cursor, size),
            AnyPattern::Normal(pattern) => pattern.choose(generator, cursor, size),
            AnyPattern::Runs(pattern) => pattern.choose(generator, cursor, size),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_footprint_without_overlap() {
        for (parts, blocks) in [(1, 10), (3, 10), (7, 7), (4, u64::MAX)] {
            let cursors: Vec<Cursor> = (0..parts).map(|part| Cursor::of_part(part, parts, blocks)).collect();
            assert_eq!(cursors[0].first, 0);
            assert_eq!(cursors[parts as usize - 1].end, blocks);
            assert!(cursors.windows(2).all(|pair| pair[0].end == pair[1].first));
        }
    }
}
