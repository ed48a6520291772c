//! What waits in the event queue, and which of two comes first.

/// The key and number of an event, ordered by key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scheduled {
    pub(super) key: u64,
    pub(super) number: u32,
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// An event too far ahead for a key, ordered by time and then by scheduling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Far<E> {
    pub(super) at: u64,
    /// Sequence number among such events.
    pub(super) order: u64,
    pub(super) event: E,
}

impl<E> PartialEq for Far<E> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}

impl<E> Eq for Far<E> {}

impl<E> PartialOrd for Far<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Far<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}
