//! What waits in the event queue, and which of two comes first.

/// An event with its key, in the order of the keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry<E> {
    pub(super) key: u64,
    pub(super) event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// An event that lies too far ahead for a key, in the order of time and then of scheduling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Far<E> {
    pub(super) at: u64,
    /// Its place among the events that were ever too far ahead.
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
