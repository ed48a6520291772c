//! Places with typed 32-bit ids for what is in flight and is looked up many times.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use crate::engine::prefetch::prefetch;
use crate::ids::Id;

use super::places::Places;

/// Places at first.
const PLACES_MIN: usize = 8;

/// As an [arena](super::arena), for values that have a default: looked up without a test, since free places hold values, too.
///
/// That an id is one that was given out is tested in builds with debug assertions. Its memory is at most twice that of the most values ever in flight
/// at once.
#[derive(Clone, Debug)]
pub struct Pool<I, T> {
    places: Places<T>,
    /// Places that were ever given out.
    made: usize,
    /// Those of them that are free: the first `free_count` of these.
    free: Places<u32>,
    free_count: usize,
    id: PhantomData<fn(I) -> I>,
}

impl<I: Id, T: Clone + Default> Default for Pool<I, T> {
    fn default() -> Self {
        let (places, free) = (Places::of(T::default(), PLACES_MIN), Places::of(0, PLACES_MIN));
        Pool { places, made: 0, free, free_count: 0, id: PhantomData }
    }
}

impl<I: Id, T: Clone + Default> Pool<I, T> {
    /// Stores a value, which is built in its place and not moved there.
    #[inline(always)]
    pub fn insert(&mut self, value: T) -> I {
        let id = self.reuse();
        *self.places.at_mut(id.as_u32() as usize) = value;
        id
    }

    /// Allocates a place without setting its value, which is the default or that of an earlier id.
    #[inline(always)]
    pub fn reuse(&mut self) -> I {
        I::from_u32(if self.free_count == 0 { self.make() } else { self.take_free() })
    }

    #[inline(always)]
    fn take_free(&mut self) -> u32 {
        self.free_count -= 1;
        *self.free.at(self.free_count)
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self) -> u32 {
        let place = u32::try_from(self.made).expect("fewer than 2^32 values are in flight");
        if self.made == self.places.count() {
            self.places.double(T::default());
            self.free.double(0);
        }
        self.made += 1;
        place
    }
}

impl<I: Id, T> Pool<I, T> {
    /// The caller keeps no copy of the id.
    #[inline(always)]
    pub fn remove(&mut self, id: I) {
        debug_assert!(self.free_count < self.made, "a value is removed once");
        *self.free.at_mut(self.free_count) = id.as_u32();
        self.free_count += 1;
    }

    /// Prefetches a value.
    #[inline]
    pub fn prefetch(&self, id: I) {
        prefetch(self.places.as_slice(), id.as_u32() as usize);
    }

    /// The most values that were in flight at once.
    #[inline(always)]
    pub fn most(&self) -> usize {
        self.made
    }

    /// How many values are in flight.
    pub fn len(&self) -> usize {
        self.made - self.free_count
    }

    /// Whether nothing is in flight.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.made == self.free_count
    }

    #[inline(always)]
    fn place_of(&self, id: I) -> usize {
        debug_assert!((id.as_u32() as usize) < self.made, "an id was never given out");
        id.as_u32() as usize
    }
}

impl<I: Id, T> Index<I> for Pool<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, id: I) -> &T {
        self.places.at(self.place_of(id))
    }
}

impl<I: Id, T> IndexMut<I> for Pool<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        let place = self.place_of(id);
        self.places.at_mut(place)
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
        assert_eq!((pool.most(), pool.is_empty()), (100, false));
        ids.iter().for_each(|&id| pool.remove(id));
        assert!(pool.is_empty());
    }

    #[test]
    fn a_freed_place_is_used_again_before_a_new_one() {
        let mut pool: Pool<RequestId, &str> = Pool::default();
        let first = pool.insert("first");
        let second = pool.insert("second");
        pool.remove(first);
        let third = pool.insert("third");
        assert_eq!(third, first);
        assert_eq!((pool[second], pool[third], pool.most()), ("second", "third", 2));
    }
}
