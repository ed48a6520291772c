//! Rules of multi-plane operations: which transactions of other planes may run together with the first transaction (lead).

use crate::config::MultiPlane;

/// The location of a page in its plane: index of the block, and of the page within the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneAddress {
    pub block: u32,
    pub page: u32,
}

/// Returns whether operations at `lead` and `other`, on two planes of a die, may run as one multi-plane operation. For erases, `page` is 0.
#[inline]
pub fn may_join(rule: MultiPlane, lead: PlaneAddress, other: PlaneAddress) -> bool {
    match rule {
        MultiPlane::Off => false,
        MultiPlane::SameOffset | MultiPlane::Independent => lead.page == other.page,
        MultiPlane::SameBlockAndOffset => lead == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAD: PlaneAddress = PlaneAddress { block: 3, page: 7 };

    #[test]
    fn same_offset_ignores_the_block() {
        assert!(may_join(MultiPlane::SameOffset, LEAD, PlaneAddress { block: 9, page: 7 }));
        assert!(!may_join(MultiPlane::SameOffset, LEAD, PlaneAddress { block: 3, page: 8 }));
    }

    #[test]
    fn same_block_and_offset_wants_both() {
        assert!(may_join(MultiPlane::SameBlockAndOffset, LEAD, LEAD));
        assert!(!may_join(MultiPlane::SameBlockAndOffset, LEAD, PlaneAddress { block: 9, page: 7 }));
    }

    #[test]
    fn off_joins_nothing() {
        assert!(!may_join(MultiPlane::Off, LEAD, LEAD));
    }
}
