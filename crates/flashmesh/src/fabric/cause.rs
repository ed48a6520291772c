//! Causes of path waits.

/// The resource whose occupation delayed a path request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// The channel of the die, or the pins of its chip, were occupied.
    Channel,
    /// All controllers that can serve the chip were occupied.
    Controller,
    /// A link between routers was occupied, or the search for a path over such links failed.
    Link,
}

impl Cause {
    /// All causes, in the order of [`Cause::index`].
    pub const ALL: [Cause; 3] = [Cause::Channel, Cause::Controller, Cause::Link];

    /// Returns the index of this cause in [`Cause::ALL`], and in arrays with an entry per cause.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Set of the causes that delayed the transfers of a transaction or host request. Also records path conflicts: waits for a path in use for another
/// host request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes(u8);

impl Causes {
    const PATH_CONFLICT: u8 = 1 << 7;

    /// Records a path conflict: a transfer waited for a path in use for another host request.
    pub fn insert_path_conflict(&mut self) {
        self.0 |= Causes::PATH_CONFLICT;
    }

    /// Returns whether a path conflict is recorded: a transfer waited for a path in use for another host request (Venice, ISCA 2023, section 3.1).
    pub const fn has_path_conflict(self) -> bool {
        self.0 & Causes::PATH_CONFLICT != 0
    }

    /// Records that `cause` delayed a transfer.
    pub fn insert(&mut self, cause: Cause) {
        self.0 |= 1 << cause as u8;
    }

    /// Adds every cause of `others` to the set, and the path conflict if `others` has one.
    pub fn join(&mut self, others: Causes) {
        self.0 |= others.0;
    }

    /// Returns whether no transfer was delayed: no cause and no path conflict is recorded.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether `cause` delayed any of the transfers.
    pub const fn contains(self, cause: Cause) -> bool {
        self.0 & 1 << cause as u8 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_add_up_and_are_told_apart() {
        let mut causes = Causes::default();
        assert!(causes.is_empty());
        causes.insert(Cause::Link);
        let mut others = Causes::default();
        others.insert(Cause::Channel);
        causes.join(others);
        let seen = Cause::ALL.map(|cause| causes.contains(cause));
        assert_eq!(seen, [true, false, true]);
        assert!(!causes.is_empty());
    }
}
