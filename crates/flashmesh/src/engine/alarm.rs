//! An event that is put off and brought forward, such as the next thing that a network does by itself.

use super::entry::Entry;

/// One alarm: it rings once after each time it is set.
///
/// An alarm that is set to a time for which it was set before has the turn it was given then among the events of that time, even if it was
/// set to others in between. So it rings in the order in which an event for each of those times would have come.
#[derive(Debug, Default)]
pub(super) struct Alarm {
    /// What it was set to and did not ring for yet, the latest first; at most one of a time.
    entries: Vec<Entry>,
}

impl Alarm {
    /// Sets it to the time of `entry`, which is that of `is_same` keys; gives the key it has.
    #[inline]
    pub fn set(&mut self, entry: Entry, is_same: impl Fn(u64) -> bool) -> u64 {
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

    /// It rings, set to `key`: no time before matters any more. Gives the number of the event.
    #[inline]
    pub fn ring(&mut self, key: u64) -> u32 {
        let place = self.entries.iter().rposition(|entry| entry.key == key).expect("it was set to this key");
        let number = self.entries[place].number;
        self.entries.truncate(place);
        number
    }

    /// All that it was set to.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Forgets the times before those of `key`.
    pub fn forget_before(&mut self, key: u64) {
        self.entries.retain(|entry| entry.key >= key);
    }

    /// Puts other entries, in the same order, in place of all.
    pub fn replace(&mut self, other: impl Fn(Entry) -> Entry) {
        self.entries.iter_mut().for_each(|entry| *entry = other(*entry));
    }
}
