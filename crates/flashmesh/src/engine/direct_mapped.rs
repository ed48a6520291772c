//! Direct-mapped table from keys to ids, with a hash table for conflicts.

use rustc_hash::FxHashMap;

use crate::ids::Id;

use super::pow2_table::Pow2Table;

/// Number of slots, 8 KiB in total. The low bits of a key select its slot.
const SLOTS: usize = 1024;

/// Marker of an empty slot, in place of an id.
const NONE: u32 = u32::MAX;

/// A map from keys to ids, for few of many possible keys at a time. Most lookups access only one slot.
///
/// A key whose slot is occupied by another key is stored in the hash table until the key is removed. [`NONE`] is not a valid id.
#[derive(Clone, Debug)]
pub struct DirectMapped<K, V> {
    /// Key and id of each slot.
    slots: Pow2Table<(u32, u32)>,
    overflow: FxHashMap<u32, u32>,
    kinds: std::marker::PhantomData<fn(K) -> V>,
}

impl<K: Id, V: Id> Default for DirectMapped<K, V> {
    fn default() -> Self {
        DirectMapped {
            slots: Pow2Table::filled((0, NONE), SLOTS),
            overflow: FxHashMap::default(),
            kinds: std::marker::PhantomData,
        }
    }
}

impl<K: Id, V: Id> DirectMapped<K, V> {
    /// Sets the id of `key`. Returns the previous id; `None` if `key` had no id.
    #[inline(always)]
    pub fn insert(&mut self, key: K, id: V) -> Option<V> {
        let (key, id) = (key.as_u32(), id.as_u32());
        debug_assert_ne!(id, NONE, "this number marks an empty slot");
        let slot = self.slots.at_mut(key as usize);
        if slot.1 != NONE && slot.0 == key {
            return Some(V::from_u32(std::mem::replace(&mut slot.1, id)));
        }
        if slot.1 != NONE || !self.overflow.is_empty() {
            return self.insert_slowly(key, id);
        }
        *slot = (key, id);
        None
    }

    /// Handles the cases of [`DirectMapped::insert`] that involve an occupied slot or a hash table with entries.
    #[inline(never)]
    fn insert_slowly(&mut self, key: u32, id: u32) -> Option<V> {
        if let Some(other) = self.overflow.get_mut(&key) {
            return Some(V::from_u32(std::mem::replace(other, id)));
        }
        let slot = self.slots.at_mut(key as usize);
        if slot.1 == NONE {
            *slot = (key, id);
        } else {
            self.overflow.insert(key, id);
        }
        None
    }

    /// Removes the id of `key`, if any.
    #[inline(always)]
    pub fn remove(&mut self, key: K) {
        let key = key.as_u32();
        let slot = self.slots.at_mut(key as usize);
        if slot.1 != NONE && slot.0 == key {
            slot.1 = NONE;
        } else {
            self.remove_slowly(key);
        }
    }

    #[inline(never)]
    fn remove_slowly(&mut self, key: u32) {
        self.overflow.remove(&key);
    }

    /// Returns whether `key` has an id.
    #[inline]
    pub fn contains(&self, key: K) -> bool {
        let key = key.as_u32();
        let &(found, id) = self.slots.at(key as usize);
        (id != NONE && found == key) || self.overflow.contains_key(&key)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::ids::{Lpn, TransactionId};

    proptest! {
        /// Uses keys of only four slots, so that most keys conflict.
        #[test]
        fn contents_match_a_map_of_the_standard_library(steps in prop::collection::vec((0..4u32, 0..3u32, any::<bool>()), 0..200)) {
            let (mut table, mut map) = (DirectMapped::<Lpn, TransactionId>::default(), BTreeMap::new());
            for (number, (slot, round, is_removed)) in (0..).zip(steps) {
                let key = slot + round * SLOTS as u32;
                if is_removed {
                    table.remove(Lpn(key));
                    map.remove(&key);
                } else {
                    let before = table.insert(Lpn(key), TransactionId(number)).map(|id| id.0);
                    prop_assert_eq!(before, map.insert(key, number));
                }
                for key in (0..3).flat_map(|round| (0..4).map(move |slot| slot + round * SLOTS as u32)) {
                    prop_assert_eq!(table.contains(Lpn(key)), map.contains_key(&key));
                }
            }
        }
    }
}
