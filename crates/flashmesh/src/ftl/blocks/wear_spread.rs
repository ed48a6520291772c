//! Spread of the erase counts of a plane.

/// Bounds of the erase counts of a plane, updated without a scan of its blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct WearSpread {
    /// Highest erase count.
    most: u32,
    /// Lower bound of the erase counts of full blocks.
    least: u32,
    /// Whether erase counts have changed since the last search for the least erased block.
    has_changed: bool,
}

impl WearSpread {
    pub(in super::super) fn most(self) -> u32 {
        self.most
    }

    pub(in super::super) fn least(self) -> u32 {
        self.least
    }

    pub(in super::super) fn erased(&mut self, erase_count: u32) {
        self.most = self.most.max(erase_count);
        self.has_changed = true;
    }

    pub(in super::super) fn filled(&mut self, erase_count: u32) {
        if erase_count < self.least {
            self.least = erase_count;
            self.has_changed = true;
        }
    }

    /// Returns whether the erase counts of the most erased block and of the least erased full block may differ by more than `threshold`. Returns
    /// false if no erase count has changed since the last search.
    pub(in super::super) fn may_exceed(self, threshold: u32) -> bool {
        self.has_changed && self.most - self.least > threshold
    }

    /// Records the erase count of the least erased full block, found by a search. Returns the difference from the highest erase count.
    pub(in super::super) fn found_least(&mut self, erase_count: u32) -> u32 {
        (self.least, self.has_changed) = (erase_count, false);
        self.most - self.least
    }
}

#[cfg(test)]
impl WearSpread {
    /// Injects a fault.
    pub(in super::super) fn set(&mut self, most: u32, least: u32) {
        (self.most, self.least) = (most, least);
    }
}
