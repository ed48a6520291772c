//! Choice between the original and the replica for a read of a replicated page: the trait for user-supplied choices, and the rule of the paper
//! (Patterned Read Collisions, IEEE Access 2023).

use crate::ids::{DieId, Lpn, Ppn};

/// A location of a page: of the original or of the replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLocation {
    /// Physical page of this copy (original or replica).
    pub ppn: Ppn,
    /// Die of this copy.
    pub die: DieId,
    /// Number of outstanding reads on the die of this copy.
    pub outstanding: u32,
}

/// The location chosen for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicaChoice {
    /// The original page.
    Original,
    /// The replica on another die.
    Replica,
}

/// A rule that chooses the location for a read of a replicated page.
///
/// # Contract
/// - The selector is called each time a read is dispatched to the queue of a die.
/// - The selector receives both locations, with the load of their dies at that moment.
/// - The selector is deterministic: equal calls in equal order return equal results.
pub trait ReplicaSelector {
    /// Returns whether the original or the replica of `lpn` serves the read.
    fn choose(&mut self, lpn: Lpn, original: ReadLocation, replica: ReadLocation) -> ReplicaChoice;

    /// Returns a clone of the selector in its current state, for a snapshot of the drive; `None` if the selector cannot be cloned.
    fn snapshot(&self) -> Option<Box<dyn ReplicaSelector + Send>> {
        None
    }
}

impl Clone for Box<dyn ReplicaSelector + Send> {
    fn clone(&self) -> Self {
        self.snapshot().expect("only drives with selectors that can be copied are copied")
    }
}

/// The rule that chooses the location on the die with fewer outstanding reads (section III.B of the paper); the original if both dies have
/// equally many \[choice\].
#[derive(Clone, Copy, Debug, Default)]
pub struct FewestOutstanding;

impl ReplicaSelector for FewestOutstanding {
    #[inline]
    fn choose(&mut self, _lpn: Lpn, original: ReadLocation, replica: ReadLocation) -> ReplicaChoice {
        if replica.outstanding < original.outstanding { ReplicaChoice::Replica } else { ReplicaChoice::Original }
    }

    fn snapshot(&self) -> Option<Box<dyn ReplicaSelector + Send>> {
        Some(Box::new(*self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_less_loaded_die_serves() {
        let home = |outstanding| ReadLocation { ppn: Ppn(0), die: DieId(0), outstanding };
        let chosen = |original, replica| FewestOutstanding.choose(Lpn(0), home(original), home(replica));
        assert_eq!(
            (chosen(2, 1), chosen(1, 2), chosen(1, 1)),
            (ReplicaChoice::Replica, ReplicaChoice::Original, ReplicaChoice::Original)
        );
    }
}
