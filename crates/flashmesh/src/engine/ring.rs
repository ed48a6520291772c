//! FIFO queue in a ring whose size is a power of two.
use std::fmt;

use super::pow2_table::Pow2Table;

/// Number of slots after the first push.
const SLOTS_MIN: usize = 8;

/// A growing FIFO queue of small values.
///
/// Positions count up without wrapping; a position modulo the number of slots is its slot. Invariant: the values are at positions `first..end`, at
/// most one per slot. Other slots contain old values or the default.
#[derive(Clone)]
pub struct Ring<T> {
    slots: Pow2Table<T>,
    first: usize,
    end: usize,
}

impl<T: Copy + Default> Default for Ring<T> {
    fn default() -> Self {
        Ring { slots: Pow2Table::filled(T::default(), 1), first: 0, end: 0 }
    }
}

impl<T> fmt::Debug for Ring<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("first", &self.first).field("end", &self.end).finish_non_exhaustive()
    }
}

impl<T: Copy + Default> Ring<T> {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first == self.end
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.end - self.first
    }

    /// Returns the value at position `count`; an arbitrary value if `count` is not in `first..end`.
    #[inline(always)]
    fn at(&self, count: usize) -> &T {
        self.slots.at(count)
    }

    #[inline(always)]
    fn write(&mut self, count: usize, value: T) {
        *self.slots.at_mut(count) = value;
    }

    #[inline(always)]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { Some(self.at(self.first)) }
    }

    /// Returns the value at `index` from the front; `None` beyond the last value.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index < self.len() { Some(self.at(self.first + index)) } else { None }
    }

    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index >= self.len() {
            return None;
        }
        let count = self.first + index;
        Some(self.slots.at_mut(count))
    }

    #[inline(always)]
    pub fn back(&self) -> Option<&T> {
        if self.is_empty() { None } else { Some(self.at(self.end - 1)) }
    }

    /// Returns the first value; an arbitrary value if the ring is empty, which avoids a branch.
    #[inline(always)]
    pub fn front_or_any(&self) -> &T {
        self.at(self.first)
    }

    #[inline(always)]
    pub fn push_back(&mut self, value: T) {
        if self.len() > self.slots.mask() {
            self.grow();
        }
        self.write(self.end, value);
        self.end += 1;
    }

    #[inline(always)]
    pub fn pop_front(&mut self) -> Option<T> {
        let first = *self.front()?;
        self.first += 1;
        Some(first)
    }

    /// Dequeues the first value. The ring must not be empty.
    #[inline(always)]
    pub fn take_first(&mut self) -> T {
        debug_assert!(!self.is_empty(), "the ring is empty");
        let first = *self.at(self.first);
        self.first += 1;
        first
    }

    pub fn pop_back(&mut self) -> Option<T> {
        let last = *self.back()?;
        self.end -= 1;
        Some(last)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (self.first..self.end).map(|count| self.at(count))
    }

    pub fn map_in_place(&mut self, mut other: impl FnMut(T) -> T) {
        for count in self.first..self.end {
            let value = other(*self.at(count));
            self.write(count, value);
        }
    }

    /// Removes and returns the value at `index` from the front; `None` beyond the last value.
    pub fn remove(&mut self, index: usize) -> Option<T> {
        if index >= self.len() {
            return None;
        }
        let removed = *self.at(self.first + index);
        for count in (self.first..self.first + index).rev() {
            self.write(count + 1, *self.at(count));
        }
        self.first += 1;
        Some(removed)
    }

    /// Inserts a value at `index` from the front; at the end if `index` is larger than the length.
    pub fn insert(&mut self, index: usize, value: T) {
        self.push_back(value);
        let index = self.first + index.min(self.len() - 1);
        for count in (index + 1..self.end).rev() {
            self.write(count, *self.at(count - 1));
        }
        self.write(index, value);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut larger = Pow2Table::filled(T::default(), (self.slots.count() * 2).max(SLOTS_MIN));
        for (place, value) in larger.as_mut_slice().iter_mut().zip(self.iter()) {
            *place = *value;
        }
        (self.end, self.first) = (self.len(), 0);
        self.slots = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push,
        PopFront,
        PopBack,
        Remove(usize),
        Insert(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            5 => Just(Step::Push),
            3 => Just(Step::PopFront),
            1 => Just(Step::PopBack),
            1 => (0..40usize).prop_map(Step::Remove),
            1 => (0..40usize).prop_map(Step::Insert),
        ]
    }

    proptest! {
        #[test]
        fn contents_match_a_deque_of_the_standard_library(steps in prop::collection::vec(step(), 0..300)) {
            let (mut ring, mut deque) = (Ring::default(), VecDeque::new());
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Push => {
                        ring.push_back(number);
                        deque.push_back(number);
                    }
                    Step::PopFront => prop_assert_eq!(ring.pop_front(), deque.pop_front()),
                    Step::PopBack => prop_assert_eq!(ring.pop_back(), deque.pop_back()),
                    Step::Remove(index) => prop_assert_eq!(ring.remove(index), deque.remove(index)),
                    Step::Insert(index) => {
                        ring.insert(index, number);
                        deque.insert(index.min(deque.len()), number);
                    }
                }
                prop_assert_eq!((ring.front(), ring.back()), (deque.front(), deque.back()));
                prop_assert!(ring.iter().eq(&deque));
                prop_assert_eq!((ring.len(), ring.is_empty()), (deque.len(), deque.is_empty()));
            }
            ring.map_in_place(|value| value + 1);
            prop_assert!(ring.iter().copied().eq(deque.iter().map(|value| value + 1)));
            for index in 0..=deque.len() {
                prop_assert_eq!(ring.get_mut(index).copied(), deque.get(index).map(|value| value + 1));
            }
        }
    }
}
