//! Table of values in flight that are looked up often, indexed by typed 32-bit ids.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use crate::engine::prefetch::prefetch;
use crate::ids::Id;

use super::pow2_table::Pow2Table;

/// Initial number of slots.
const SLOTS_MIN: usize = 8;

/// An [arena](super::arena) for values with a default. Free slots contain values too, so lookups need no check.
///
/// Debug assertions check that an id was allocated. The number of slots is at most twice the maximum number of values in flight, but at
/// least 8.
#[derive(Clone, Debug)]
pub struct Pool<I, T> {
    slots: Pow2Table<T>,
    /// Number of slots that were ever allocated.
    allocated: usize,
    /// Stack of free slots. The first `free_count` entries are valid.
    free: Pow2Table<u32>,
    free_count: usize,
    id: PhantomData<fn(I) -> I>,
}

impl<I: Id, T: Clone + Default> Default for Pool<I, T> {
    fn default() -> Self {
        let (slots, free) = (Pow2Table::filled(T::default(), SLOTS_MIN), Pow2Table::filled(0, SLOTS_MIN));
        Pool { slots, allocated: 0, free, free_count: 0, id: PhantomData }
    }
}

impl<I: Id, T: Clone + Default> Pool<I, T> {
    /// Stores a value and returns its id. The value is constructed in its slot, without a move.
    #[inline(always)]
    pub fn insert(&mut self, value: T) -> I {
        let id = self.insert_stale();
        *self.slots.at_mut(id.as_u32() as usize) = value;
        id
    }

    /// Allocates a slot without setting its value. The slot contains the default, or a value stored under an earlier id.
    #[inline(always)]
    pub fn insert_stale(&mut self) -> I {
        I::from_u32(if self.free_count == 0 { self.allocate() } else { self.take_free() })
    }

    #[inline(always)]
    fn take_free(&mut self) -> u32 {
        self.free_count -= 1;
        *self.free.at(self.free_count)
    }

    #[cold]
    #[inline(never)]
    fn allocate(&mut self) -> u32 {
        let place = u32::try_from(self.allocated).expect("fewer than 2^32 values are in flight");
        if self.allocated == self.slots.count() {
            self.slots.double(T::default());
            self.free.double(0);
        }
        self.allocated += 1;
        place
    }
}

impl<I: Id, T> Pool<I, T> {
    /// Frees the slot of `id`. No copy of the id may be used afterwards.
    #[inline(always)]
    pub fn remove(&mut self, id: I) {
        debug_assert!(self.free_count < self.allocated, "a value is removed twice");
        *self.free.at_mut(self.free_count) = id.as_u32();
        self.free_count += 1;
    }

    /// Prefetches the value of `id` into the CPU cache.
    #[inline]
    pub fn prefetch(&self, id: I) {
        prefetch(self.slots.as_slice(), id.as_u32() as usize);
    }

    /// Returns the maximum number of values that were stored at once.
    #[inline(always)]
    pub fn peak_len(&self) -> usize {
        self.allocated
    }

    /// Returns the number of stored values.
    pub fn len(&self) -> usize {
        self.allocated - self.free_count
    }

    /// Returns whether no value is stored.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.allocated == self.free_count
    }

    #[inline(always)]
    fn slot_of(&self, id: I) -> usize {
        debug_assert!((id.as_u32() as usize) < self.allocated, "an id was never allocated");
        id.as_u32() as usize
    }
}

impl<I: Id, T> Index<I> for Pool<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, id: I) -> &T {
        self.slots.at(self.slot_of(id))
    }
}

impl<I: Id, T> IndexMut<I> for Pool<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        let place = self.slot_of(id);
        self.slots.at_mut(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::RequestId;

    #[test]
    fn values_keep_their_ids_as_the_table_grows() {
        let mut pool: Pool<RequestId, usize> = Pool::default();
        let ids: Vec<RequestId> = (0..100).map(|value| pool.insert(value)).collect();
        assert!(ids.iter().enumerate().all(|(value, &id)| pool[id] == value));
        assert_eq!((pool.peak_len(), pool.is_empty()), (100, false));
        ids.iter().for_each(|&id| pool.remove(id));
        assert!(pool.is_empty());
    }

    #[test]
    fn a_freed_slot_is_used_again_before_a_new_one() {
        let mut pool: Pool<RequestId, &str> = Pool::default();
        let first = pool.insert("first");
        let second = pool.insert("second");
        pool.remove(first);
        let third = pool.insert("third");
        assert_eq!(third, first);
        assert_eq!((pool[second], pool[third], pool.peak_len()), ("second", "third", 2));
    }
}
