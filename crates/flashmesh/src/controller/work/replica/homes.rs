//! Choice of the location that serves a read of a replicated page: the extension point, and the rule of the paper.

use crate::ids::{DieId, Lpn, Ppn};

/// A location from which a page can be read: its original or its replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// Physical page.
    pub ppn: Ppn,
    /// Die of the physical page.
    pub die: DieId,
    /// Outstanding reads on that die.
    pub outstanding: u32,
}

/// The home that serves a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// The page as it was written.
    Original,
    /// The replica on another die.
    Replica,
}

/// The choice of the home that serves a read of a replicated page.
///
/// # Contract
/// - Called each time a read is dispatched to the queue of a die.
/// - Sees both homes, with the load of their dies at that moment.
/// - Deterministic: equal calls in equal order return equal results.
pub trait HomeSelector {
    /// Returns the home that serves a read of `lpn`.
    fn choose(&mut self, lpn: Lpn, original: Home, replica: Home) -> Served;

    /// Returns a clone of the selector in its current state, for a snapshot of the drive; `None` if the selector cannot be cloned.
    fn copied(&self) -> Option<Box<dyn HomeSelector + Send>> {
        None
    }
}

impl Clone for Box<dyn HomeSelector + Send> {
    fn clone(&self) -> Self {
        self.copied().expect("only drives with selectors that can be copied are copied")
    }
}

/// The home on the die with fewer outstanding reads; the original if they are equal \[choice\] (section III.B of the paper).
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
