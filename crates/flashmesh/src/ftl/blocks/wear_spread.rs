//! How far apart the erase counts of a plane are.

/// Bounds of the erase counts of a plane, kept without looking at its blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct WearSpread {
    /// The highest erase count.
    most: u32,
    /// No full block has a lower erase count.
    least: u32,
    /// Whether a block was erased since the least erased one was last searched for.
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

    /// Whether the least erased full block may be more than `threshold` behind the most erased block. `false` when it was searched
    /// for and nothing has changed since.
    pub(in super::super) fn may_exceed(self, threshold: u32) -> bool {
        self.has_changed && self.most - self.least > threshold
    }

    /// The least erased full block was searched for. Returns how far it is behind the most erased.
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
