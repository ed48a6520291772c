//! Table whose size is a power of two. The low bits of a number are the index.
#![allow(
    unsafe_code,
    reason = "a read over the bus looks up some seventy records by their numbers, and events and dies that wait pass through rings: tests of bounds that are known to hold cost a tenth of all instructions"
)]

/// A table whose size is a power of two.
///
/// The low bits of any number are a valid index, so accesses need no bounds check. Invariant: the number of entries is a power of two, and `mask` is
/// this number minus one.
#[derive(Clone, Debug)]
pub struct Pow2Table<T> {
    places: Box<[T]>,
    mask: usize,
}

impl<T: Clone> Pow2Table<T> {
    /// Creates a table of at least `count` entries, each with value `value`.
    pub fn filled(value: T, count: usize) -> Pow2Table<T> {
        let count = count.next_power_of_two();
        Pow2Table { places: vec![value; count].into_boxed_slice(), mask: count - 1 }
    }

    /// Doubles the number of entries. New entries have value `value`.
    pub fn double(&mut self, value: T) {
        let mut places = std::mem::take(&mut self.places).into_vec();
        places.resize(2 * self.count(), value);
        *self = Pow2Table { mask: places.len() - 1, places: places.into_boxed_slice() };
    }
}

impl<T> Pow2Table<T> {
    /// Returns the number of entries, a power of two.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.mask + 1
    }

    /// Returns the number of entries minus one.
    #[inline(always)]
    pub fn mask(&self) -> usize {
        self.mask
    }

    /// Returns all entries in order.
    #[inline(always)]
    pub fn as_slice(&self) -> &[T] {
        &self.places
    }

    /// Returns all entries in order, as a mutable slice.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.places
    }

    /// Returns the entry whose index is the low bits of `number`.
    #[inline(always)]
    pub fn at(&self, number: usize) -> &T {
        // SAFETY: a masked number is less than the number of entries.
        unsafe { self.places.get_unchecked(number & self.mask) }
    }

    /// Returns the entry whose index is the low bits of `number`, as a mutable reference.
    #[inline(always)]
    pub fn at_mut(&mut self, number: usize) -> &mut T {
        // SAFETY: a masked number is less than the number of entries.
        unsafe { self.places.get_unchecked_mut(number & self.mask) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_selects_an_entry_by_its_low_bits() {
        let mut places = Pow2Table::filled(0, 5);
        assert_eq!((places.count(), places.mask()), (8, 7));
        for number in 0..8 {
            *places.at_mut(number) = number;
        }
        assert_eq!(places.as_slice(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!([8, 13, usize::MAX].map(|number| *places.at(number)), [0, 5, 7]);
        places.double(9);
        assert_eq!([7, 8, 16, 17].map(|number| *places.at(number)), [7, 9, 0, 1]);
        assert_eq!(Pow2Table::filled((), 0).count(), 1);
    }
}
