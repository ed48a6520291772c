//! Sets of sectors of a page.

/// A set of sectors of one page, stored as a bit mask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sectors(u64);

impl Sectors {
    /// Maximum number of sectors of a page.
    pub const MAX: u32 = 64;
    /// The empty set of sectors.
    pub const NONE: Sectors = Sectors(0);

    /// Returns the sectors `first..end`.
    pub const fn range(first: u32, end: u32) -> Sectors {
        Sectors(below(end) & !below(first))
    }

    /// Returns the sectors that are in both sets.
    pub const fn and(self, other: Sectors) -> Sectors {
        Sectors(self.0 & other.0)
    }

    /// Returns the sectors that are in either set.
    pub const fn or(self, other: Sectors) -> Sectors {
        Sectors(self.0 | other.0)
    }

    /// Returns the sectors that are not in `other`.
    pub const fn without(self, other: Sectors) -> Sectors {
        Sectors(self.0 & !other.0)
    }

    /// Returns whether the set has no sector.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of sectors in the set.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the lowest sector; [`Sectors::MAX`] if the set is empty.
    pub const fn first(self) -> u32 {
        self.0.trailing_zeros()
    }

    /// Returns the sectors in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..Sectors::MAX).filter(move |sector| self.0 >> sector & 1 == 1)
    }
}

const fn below(count: u32) -> u64 {
    if count >= Sectors::MAX { u64::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests {
    use super::Sectors;

    #[test]
    fn ranges_reach_from_none_to_all() {
        assert_eq!(Sectors::range(3, 3), Sectors::NONE);
        assert_eq!(Sectors::range(0, 64).count(), 64);
        let some = Sectors::range(60, 64);
        assert_eq!((some.first(), some.count()), (60, 4));
        assert_eq!(some.iter().collect::<Vec<_>>(), [60, 61, 62, 63]);
        assert_eq!(Sectors::range(0, 62).and(some), Sectors::range(60, 62));
        assert_eq!(Sectors::range(0, 62).or(some), Sectors::range(0, 64));
        assert_eq!(some.without(Sectors::range(0, 62)), Sectors::range(62, 64));
        assert_eq!(Sectors::NONE.first(), Sectors::MAX);
    }
}
