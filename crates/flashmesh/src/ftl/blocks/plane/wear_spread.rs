//! Spread of the erase counts of the blocks of a plane, for static wear levelling.

/// Bounds of the erase counts of a plane, updated without a scan of its blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::rooms::ftl) struct WearSpread {
    /// Highest erase count of the plane.
    max_erases: u32,
    /// Lower bound of the erase counts of full blocks. May be too low after the least erased block was erased.
    min_erases: u32,
    /// Whether a block was erased, or a block with fewer erases than `min_erases` was filled, since the last search for the least erased
    /// block.
    has_changed: bool,
}

impl WearSpread {
    pub(in crate::rooms::ftl) fn max_erases(self) -> u32 {
        self.max_erases
    }

    pub(in crate::rooms::ftl) fn min_erases(self) -> u32 {
        self.min_erases
    }

    pub(in crate::rooms::ftl) fn erased(&mut self, erase_count: u32) {
        self.max_erases = self.max_erases.max(erase_count);
        self.has_changed = true;
    }

    pub(in crate::rooms::ftl) fn filled(&mut self, erase_count: u32) {
        if erase_count < self.min_erases {
            self.min_erases = erase_count;
            self.has_changed = true;
        }
    }

    /// Returns whether the erase counts of the most erased block and of the least erased full block may differ by more than `threshold`. If so, the
    /// caller searches for the least erased block. Returns false if the bounds have not changed since the last search.
    pub(in crate::rooms::ftl) fn may_exceed(self, threshold: u32) -> bool {
        self.has_changed && self.max_erases - self.min_erases > threshold
    }

    /// Sets the erase count of the least erased full block, found by a search. Returns its difference from the highest erase count of the plane.
    pub(in crate::rooms::ftl) fn set_min_erases(&mut self, erase_count: u32) -> u32 {
        (self.min_erases, self.has_changed) = (erase_count, false);
        self.max_erases - self.min_erases
    }
}

#[cfg(test)]
impl WearSpread {
    /// Sets the highest erase count and the lower bound to wrong values, to inject a fault.
    pub(in crate::rooms::ftl) fn set(&mut self, most: u32, least: u32) {
        (self.max_erases, self.min_erases) = (most, least);
    }
}
