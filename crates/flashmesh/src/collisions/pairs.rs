//! Unordered pair of logical pages whose reads collided.

use crate::ids::Lpn;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PagePair {
    pub first: Lpn,
    pub second: Lpn,
}

impl PagePair {
    pub fn new(one: Lpn, other: Lpn) -> PagePair {
        PagePair { first: one.min(other), second: one.max(other) }
    }

    pub fn has(self, lpn: Lpn) -> bool {
        self.first == lpn || self.second == lpn
    }

    pub(super) fn key(self) -> u64 {
        u64::from(self.first.0) << 32 | u64::from(self.second.0)
    }

    pub(super) fn from_key(key: u64) -> PagePair {
        PagePair { first: Lpn((key >> 32) as u32), second: Lpn(key as u32) }
    }

    /// Returns a hash in which each bit depends on all bits of the pair.
    pub(super) fn hash(self) -> u64 {
        // Finalizer of the random number generator splitmix64, which mixes all bits.
        let hash = self.key();
        let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^ (hash >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_no_order() {
        assert_eq!(PagePair::new(Lpn(4), Lpn(2)), PagePair::new(Lpn(2), Lpn(4)));
        assert!(PagePair::new(Lpn(4), Lpn(2)).has(Lpn(4)) && !PagePair::new(Lpn(4), Lpn(2)).has(Lpn(3)));
    }
}
