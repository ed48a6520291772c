//! A power of two of places for values, of which a number selects one by its last bits.
#![allow(
    unsafe_code,
    reason = "a read over the bus looks up some seventy records by their numbers, and events and dies that wait pass through rings: tests of bounds that are known to hold cost a tenth of all instructions"
)]

/// Values in a power of two of places.
///
/// Every number is that of a place: its last bits are. So no access has to be tested, and none leaves the table. It holds always that `mask` is one
/// less than the number of places, which is a power of two and not 0.
#[derive(Clone, Debug)]
pub struct Places<T> {
    places: Box<[T]>,
    mask: usize,
}

impl<T: Clone> Places<T> {
    /// At least `count` places that all hold `value`.
    pub fn of(value: T, count: usize) -> Places<T> {
        let count = count.next_power_of_two();
        Places { places: vec![value; count].into_boxed_slice(), mask: count - 1 }
    }

    /// Twice as many places, of which the new ones hold `value`.
    pub fn double(&mut self, value: T) {
        let mut places = std::mem::take(&mut self.places).into_vec();
        places.resize(2 * self.count(), value);
        *self = Places { mask: places.len() - 1, places: places.into_boxed_slice() };
    }
}

impl<T> Places<T> {
    /// How many there are.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.mask + 1
    }

    /// One less than there are.
    #[inline(always)]
    pub fn mask(&self) -> usize {
        self.mask
    }

    /// All of them in order.
    #[inline(always)]
    pub fn as_slice(&self) -> &[T] {
        &self.places
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.places
    }

    /// The value at the last bits of `number`.
    #[inline(always)]
    pub fn at(&self, number: usize) -> &T {
        // SAFETY: what the mask leaves of a number is less than the number of places.
        unsafe { self.places.get_unchecked(number & self.mask) }
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn at_mut(&mut self, number: usize) -> &mut T {
        // SAFETY: what the mask leaves of a number is less than the number of places.
        unsafe { self.places.get_unchecked_mut(number & self.mask) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_place_for_every_number_by_its_last_bits() {
        let mut places = Places::of(0, 5);
        assert_eq!((places.count(), places.mask()), (8, 7));
        for number in 0..8 {
            *places.at_mut(number) = number;
        }
        assert_eq!(places.as_slice(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!([8, 13, usize::MAX].map(|number| *places.at(number)), [0, 5, 7]);
        places.double(9);
        assert_eq!([7, 8, 16, 17].map(|number| *places.at(number)), [7, 9, 0, 1]);
        assert_eq!(Places::of((), 0).count(), 1);
    }
}
