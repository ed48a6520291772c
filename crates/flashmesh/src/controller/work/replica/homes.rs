//! Which copy of a page serves a read: the seam, and what the paper does.

use crate::ids::{DieId, Lpn, Ppn};

/// Where a page can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The page.
    pub ppn: Ppn,
    /// Its die.
    pub die: DieId,
    /// Reads outstanding on that die.
    pub outstanding: u32,
}

/// Which of its two homes serves a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// The page as it was written.
    Original,
    /// Its copy on another die.
    Replica,
}

/// Chooses which home of a replicated page serves a read.
///
/// # Contract
/// - Asked when a read is dispatched to the queue of a die, once for each time that it is.
/// - It sees both homes, with the load of their dies at that moment.
/// - It is deterministic: the same calls in the same order give the same answers.
pub trait HomeSelector {
    /// The home that serves a read of `lpn`.
    fn choose(&mut self, lpn: Lpn, original: Home, replica: Home) -> Served;

    /// The same selector in the same state, for a snapshot of the drive; none where it cannot be copied.
    fn copied(&self) -> Option<Box<dyn HomeSelector + Send>> {
        None
    }
}

impl Clone for Box<dyn HomeSelector + Send> {
    fn clone(&self) -> Self {
        self.copied().expect("only drives with selectors that can be copied are copied")
    }
}

/// The die with fewer reads outstanding, of equals that of the original \[choice\] (section III.B of the paper).
#[derive(Clone, Copy, Debug, Default)]
pub struct FewestOutstanding;

impl HomeSelector for FewestOutstanding {
    #[inline]
    fn choose(&mut self, _lpn: Lpn, original: Home, replica: Home) -> Served {
        if replica.outstanding < original.outstanding { Served::Replica } else { Served::Original }
    }

    fn copied(&self) -> Option<Box<dyn HomeSelector + Send>> {
        Some(Box::new(*self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_less_loaded_die_serves() {
        let home = |outstanding| Home { ppn: Ppn(0), die: DieId(0), outstanding };
        let chosen = |original, replica| FewestOutstanding.choose(Lpn(0), home(original), home(replica));
        assert_eq!((chosen(2, 1), chosen(1, 2), chosen(1, 1)), (Served::Replica, Served::Original, Served::Original));
    }
}
