//! Table with a value for each id below a fixed count.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use crate::ids::Id;

use super::pow2_table::Pow2Table;

/// A value of type `T` for each id of type `I` below a fixed count.
///
/// Debug assertions check that an id is in range. Without debug assertions, an id out of range selects an arbitrary value.
#[derive(Clone, Debug)]
pub struct IdTable<I, T> {
    slots: Pow2Table<T>,
    count: usize,
    id: PhantomData<fn(I) -> I>,
}

impl<I: Id, T: Clone> IdTable<I, T> {
    /// Creates a table of `count` entries with value `value`.
    pub fn filled(value: T, count: usize) -> IdTable<I, T> {
        IdTable { slots: Pow2Table::filled(value, count), count, id: PhantomData }
    }
}

impl<I: Id, T> IdTable<I, T> {
    /// Returns the values in the order of the ids.
    #[inline]
    pub fn values(&self) -> &[T] {
        &self.slots.as_slice()[..self.count]
    }

    /// Returns the values in the order of the ids, as a mutable slice.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.slots.as_mut_slice()[..self.count]
    }
}

impl<I: Id, T> Index<I> for IdTable<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, id: I) -> &T {
        debug_assert!((id.as_u32() as usize) < self.count, "an id is of another table");
        self.slots.at(id.as_u32() as usize)
    }
}

impl<I: Id, T> IndexMut<I> for IdTable<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        debug_assert!((id.as_u32() as usize) < self.count, "an id is of another table");
        self.slots.at_mut(id.as_u32() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::DieId;

    #[test]
    fn a_table_has_a_value_for_each_id_and_no_more() {
        let mut table: IdTable<DieId, u32> = IdTable::filled(7, 3);
        table[DieId(1)] = 8;
        assert_eq!((table[DieId(0)], table.values()), (7, &[7, 8, 7][..]));
        table.values_mut()[2] = 9;
        assert_eq!(table[DieId(2)], 9);
    }

    #[test]
    #[should_panic(expected = "an id is of another table")]
    #[cfg(debug_assertions)]
    fn an_id_of_another_table_is_detected_by_debug_assertions() {
        let table: IdTable<DieId, u32> = IdTable::filled(7, 3);
        let _ = table[DieId(3)];
    }
}
