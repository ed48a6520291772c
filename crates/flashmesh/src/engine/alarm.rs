//! An event that is put off and brought forward, such as the next thing that a network does by itself.

use super::scheduled::Scheduled;

/// One alarm: it rings once after each time it is set.
///
/// An alarm that is set to a time for which it was set before has the turn it was given then among the events of that time, even if it was
/// set to others in between. So it rings in the order in which an event for each of those times would have come.
#[derive(Clone, Debug, Default)]
pub(super) struct Alarm {
    /// Pending settings, latest first, at most one for each time.
    entries: Vec<Scheduled>,
}

impl Alarm {
    /// Sets it to the time of `entry`, that of the keys for which `is_same`; returns its key.
    #[inline]
    pub fn set(&mut self, entry: Scheduled, is_same: impl Fn(u64) -> bool) -> u64 {
        let mut place = self.entries.len();
        while let Some(before) = place.checked_sub(1).map(|place| self.entries[place].key)
            && before <= entry.key
        {
            if is_same(before) {
                return before;
            }
            place -= 1;
        }
        self.entries.insert(place, entry);
        entry.key
    }

    /// Rings at `key`, which cancels earlier settings. Returns the number of the event.
    #[inline]
    pub fn ring(&mut self, key: u64) -> u32 {
        let place = self.entries.iter().rposition(|entry| entry.key == key).expect("it was set to this key");
        let number = self.entries[place].number;
        self.entries.truncate(place);
        number
    }

    pub fn iter(&self) -> impl Iterator<Item = &Scheduled> {
        self.entries.iter()
    }

    pub fn forget_before(&mut self, key: u64) {
        self.entries.retain(|entry| entry.key >= key);
    }

    /// Replaces the entries in the same order.
    pub fn replace(&mut self, other: impl Fn(Scheduled) -> Scheduled) {
        self.entries.iter_mut().for_each(|entry| *entry = other(*entry));
    }
}
