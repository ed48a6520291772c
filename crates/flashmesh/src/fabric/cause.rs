//! Causes of path waits.

/// The resource whose occupation delayed a path request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// A channel, or the pins of the chip.
    Channel,
    /// All controllers that can serve the chip.
    Controller,
    /// A link between routers.
    Link,
}

impl Cause {
    /// All causes, in index order.
    pub const ALL: [Cause; 3] = [Cause::Channel, Cause::Controller, Cause::Link];

    /// Returns the index of this cause in tables by cause.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// The set of causes that delayed the transfers of a transaction or of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes(u8);

impl Causes {
    const PATH_CONFLICT: u8 = 1 << 7;

    /// Records that another request caused a delay.
    #[inline]
    pub fn insert_path_conflict(&mut self) {
        self.0 |= Causes::PATH_CONFLICT;
    }

    /// Returns whether another request caused a delay: a path conflict as defined in Venice, ISCA 2023, section 3.1.
    #[inline]
    pub const fn has_path_conflict(self) -> bool {
        self.0 & Causes::PATH_CONFLICT != 0
    }

    /// Adds `cause` to the set.
    #[inline]
    pub fn insert(&mut self, cause: Cause) {
        self.0 |= 1 << cause as u8;
    }

    /// Adds every member of `others` to the set.
    #[inline]
    pub fn join(&mut self, others: Causes) {
        self.0 |= others.0;
    }

    /// Returns whether no transfer was delayed.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether `cause` delayed a transfer.
    #[inline]
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
