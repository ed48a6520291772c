//! Which ports lead nearer to a destination, in a few instructions.

use super::mesh::Place;
use super::ports::Ports;

/// The most that a row or a column may be.
const MOST: u64 = 0x7fff;
/// The same in each of four parts of 16 bits, one part a mesh port, in the order of the ports.
const MOST_OF_EACH: u64 = 0x7fff_7fff_7fff_7fff;
/// The upper bit of each part.
const UPPER_BITS: u64 = !MOST_OF_EACH;

/// The place of a router as four numbers, one a mesh port, of which each is the greater the further that port leads: the row for the one
/// to the row above, and so on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position(u64);

/// The position of a destination, so that a sum with it tells what is greater.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal(u64);

impl Position {
    /// That of `place`, whose row and column are at most 32,767.
    #[inline]
    pub const fn new(place: Place) -> Position {
        let (row, column) = (place.row as u64 & MOST, place.column as u64 & MOST);
        Position(row | (MOST - column) << 16 | (MOST - row) << 32 | column << 48)
    }

    /// The place.
    #[inline(always)]
    pub const fn place(self) -> Place {
        Place { row: (self.0 & MOST) as u32, column: (self.0 >> 48) as u32 }
    }

    /// The position as a destination.
    #[inline]
    pub const fn goal(self) -> Goal {
        Goal(self.0 ^ MOST_OF_EACH)
    }

    /// The ports that lead nearer to `goal`: two, one, or none where it is reached.
    #[inline(always)]
    pub const fn towards(self, goal: Goal) -> Ports {
        // In each part, 0x7fff more than the difference: the upper bit says whether that is more than nothing. The product moves the four
        // bits side by side to the top.
        const TO_THE_TOP: u64 = 1 << 45 | 1 << 30 | 1 << 15 | 1;
        let is_greater = (self.0 + goal.0) & UPPER_BITS;
        Ports::from_bits((is_greater.wrapping_mul(TO_THE_TOP) >> 60) as u8)
    }
}

impl Goal {
    /// Where it is.
    #[inline(always)]
    pub const fn place(self) -> Place {
        Position(self.0 ^ MOST_OF_EACH).place()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_nearer_is_what_a_comparison_of_rows_and_columns_says() {
        let sides = [0, 1, 2, 6, 7, 1022, 1023, 32_766, 32_767];
        let places = || sides.into_iter().flat_map(|row| sides.map(|column| Place { row, column }));
        for here in places() {
            for target in places() {
                let (position, goal) = (Position::new(here), Position::new(target).goal());
                assert_eq!((position.place(), goal.place()), (here, target));
                assert_eq!(position.towards(goal), here.towards(target), "{here:?} {target:?}");
            }
        }
    }
}
