//! Table of values in flight, indexed by typed 32-bit ids. Freed slots are reused.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use crate::engine::prefetch::prefetch;
use crate::ids::Id;

/// A table of values in flight, indexed by ids of type `I`.
///
/// The size of the table is the maximum number of values that were in flight at once.
#[derive(Clone, Debug)]
pub struct Arena<I, T> {
    slots: Vec<T>,
    free: Vec<u32>,
    id: PhantomData<I>,
}

impl<I: Id, T> Default for Arena<I, T> {
    fn default() -> Self {
        Arena { slots: Vec::new(), free: Vec::new(), id: PhantomData }
    }
}

impl<I: Id, T> Arena<I, T> {
    #[inline]
    pub fn insert(&mut self, value: T) -> I {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = value;
                I::from_u32(slot)
            }
            None => {
                let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 values are in flight");
                self.slots.push(value);
                I::from_u32(slot)
            }
        }
    }

    /// Frees the slot of `id`. No copy of the id may be used afterwards.
    #[inline]
    pub fn remove(&mut self, id: I) {
        self.free.push(id.as_u32());
    }

    #[inline]
    pub fn prefetch(&self, id: I) {
        prefetch(&self.slots, id.as_u32() as usize);
    }

    /// Returns the values of all slots, including values in free slots.
    pub fn slots(&self) -> impl Iterator<Item = &T> {
        self.slots.iter()
    }

    /// Returns the number of stored values.
    #[cfg(any(test, feature = "internals"))]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns whether no value is stored.
    #[cfg(any(test, feature = "internals"))]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<I: Id, T> Index<I> for Arena<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.slots[id.as_u32() as usize]
    }
}

impl<I: Id, T> IndexMut<I> for Arena<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.slots[id.as_u32() as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::RequestId;

    #[test]
    fn a_freed_slot_is_used_again_before_a_new_one() {
        let mut arena: Arena<RequestId, &str> = Arena::default();
        let first = arena.insert("first");
        let second = arena.insert("second");
        arena.remove(first);
        let third = arena.insert("third");
        assert_eq!(third, first);
        assert_eq!((arena[second], arena[third], arena.len()), ("second", "third", 2));
    }
}
