//! What was in the way of a transfer that could not start at once.

/// What was in the way of a transfer that could not start at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// The channel, or the pins of the chip, carried something else.
    Channel,
    /// No controller that may serve it was free.
    Controller,
    /// A link between routers carried something else.
    Link,
}

impl Cause {
    /// All causes, by their index.
    pub const ALL: [Cause; 3] = [Cause::Channel, Cause::Controller, Cause::Link];

    /// The position in a table by cause.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// What was in the way of the transfers of a transaction, or of a request; empty when nothing ever was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes(u8);

impl Causes {
    const ANOTHER: u8 = 1 << 7;

    /// What was in the way was there for another request.
    #[inline]
    pub fn insert_another(&mut self) {
        self.0 |= Causes::ANOTHER;
    }

    /// Whether what was in the way was there for another request: a path conflict as Venice, ISCA 2023, section 3.1 has it.
    #[inline]
    pub const fn is_another(self) -> bool {
        self.0 & Causes::ANOTHER != 0
    }

    /// Adds `cause`.
    #[inline]
    pub fn insert(&mut self, cause: Cause) {
        self.0 |= 1 << cause as u8;
    }

    /// Adds all of `others`.
    #[inline]
    pub fn join(&mut self, others: Causes) {
        self.0 |= others.0;
    }

    /// Whether nothing was in the way.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `cause` was in the way.
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
