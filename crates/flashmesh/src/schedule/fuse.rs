//! Multi-plane operations: which waiting transactions of other planes join the one that leads.

use crate::config::MultiPlane;

/// Place of a page in its plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPlane {
    pub block: u32,
    pub page: u32,
}

/// Whether planes may join for pages, or for blocks when both are erased (`page` is 0).
#[inline]
pub fn may_join(rule: MultiPlane, lead: InPlane, other: InPlane) -> bool {
    match rule {
        MultiPlane::Off => false,
        MultiPlane::SameOffset => lead.page == other.page,
        MultiPlane::SameBlockAndOffset => lead == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAD: InPlane = InPlane { block: 3, page: 7 };

    #[test]
    fn same_offset_ignores_the_block() {
        assert!(may_join(MultiPlane::SameOffset, LEAD, InPlane { block: 9, page: 7 }));
        assert!(!may_join(MultiPlane::SameOffset, LEAD, InPlane { block: 3, page: 8 }));
    }

    #[test]
    fn same_block_and_offset_wants_both() {
        assert!(may_join(MultiPlane::SameBlockAndOffset, LEAD, LEAD));
        assert!(!may_join(MultiPlane::SameBlockAndOffset, LEAD, InPlane { block: 9, page: 7 }));
    }

    #[test]
    fn off_joins_nothing() {
        assert!(!may_join(MultiPlane::Off, LEAD, LEAD));
    }
}
