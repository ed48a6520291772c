//! A few ids by key, of many keys.

use rustc_hash::FxHashMap;

use crate::ids::Id;

use super::places::Places;

/// Places for keys by their last bits: 8 KiB, of which only those are touched that are used.
const PLACES: usize = 1024;

/// An id of a kind that is never given out.
const NONE: u32 = u32::MAX;

/// One id for each of a few keys, which is found without a hash table as long as keys differ in their last bits.
///
/// A key whose place another one has is in the hash table, and stays there. No id is [`NONE`].
#[derive(Clone, Debug)]
pub struct Few<K, V> {
    /// Key and id.
    places: Places<(u32, u32)>,
    others: FxHashMap<u32, u32>,
    kinds: std::marker::PhantomData<fn(K) -> V>,
}

impl<K: Id, V: Id> Default for Few<K, V> {
    fn default() -> Self {
        Few { places: Places::of((0, NONE), PLACES), others: FxHashMap::default(), kinds: std::marker::PhantomData }
    }
}

impl<K: Id, V: Id> Few<K, V> {
    /// Sets the id of `key`; gives the one that it had.
    #[inline(always)]
    pub fn insert(&mut self, key: K, id: V) -> Option<V> {
        let (key, id) = (key.as_u32(), id.as_u32());
        debug_assert_ne!(id, NONE, "this number is that of no id");
        let place = self.places.at_mut(key as usize);
        if place.1 != NONE && place.0 == key {
            return Some(V::from_u32(std::mem::replace(&mut place.1, id)));
        }
        if place.1 != NONE || !self.others.is_empty() {
            return self.insert_apart(key, id);
        }
        *place = (key, id);
        None
    }

    /// As [`Few::insert`], for a key that may be in the hash table, or have to go there.
    #[inline(never)]
    fn insert_apart(&mut self, key: u32, id: u32) -> Option<V> {
        if let Some(other) = self.others.get_mut(&key) {
            return Some(V::from_u32(std::mem::replace(other, id)));
        }
        let place = self.places.at_mut(key as usize);
        if place.1 == NONE {
            *place = (key, id);
        } else {
            self.others.insert(key, id);
        }
        None
    }

    /// Forgets the id of `key`, if it has one.
    #[inline(always)]
    pub fn remove(&mut self, key: K) {
        let key = key.as_u32();
        let place = self.places.at_mut(key as usize);
        if place.1 != NONE && place.0 == key {
            place.1 = NONE;
        } else {
            self.remove_apart(key);
        }
    }

    #[inline(never)]
    fn remove_apart(&mut self, key: u32) {
        self.others.remove(&key);
    }

    /// Whether `key` has an id.
    #[inline]
    pub fn contains(&self, key: K) -> bool {
        let key = key.as_u32();
        let &(found, id) = self.places.at(key as usize);
        (id != NONE && found == key) || self.others.contains_key(&key)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::ids::{Lpn, TransactionId};

    proptest! {
        /// Keys of few places.
        #[test]
        fn it_holds_what_a_map_of_the_standard_library_does(steps in prop::collection::vec((0..4u32, 0..3u32, any::<bool>()), 0..200)) {
            let (mut few, mut map) = (Few::<Lpn, TransactionId>::default(), BTreeMap::new());
            for (number, (place, round, is_removed)) in (0..).zip(steps) {
                let key = place + round * PLACES as u32;
                if is_removed {
                    few.remove(Lpn(key));
                    map.remove(&key);
                } else {
                    let before = few.insert(Lpn(key), TransactionId(number)).map(|id| id.0);
                    prop_assert_eq!(before, map.insert(key, number));
                }
                for key in (0..3).flat_map(|round| (0..4).map(move |place| place + round * PLACES as u32)) {
                    prop_assert_eq!(few.contains(Lpn(key)), map.contains_key(&key));
                }
            }
        }
    }
}
