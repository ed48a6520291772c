//! Productive ports, which lead nearer to a destination, computed in a few instructions (SIMD within a register).

use super::MeshCoord;
use super::ports::PortSet;

/// Maximum row or column number, 32,767.
const MAX_SIDE: u64 = 0x7fff;
/// [`MAX_SIDE`] in each of four lanes of 16 bits. There is a lane for each mesh port, in port order; the lowest lane is north.
const MAX_SIDES: u64 = 0x7fff_7fff_7fff_7fff;
/// Highest bit of each lane of 16 bits.
const SIGN_BITS: u64 = !MAX_SIDES;

/// Coordinates of a router, in one lane per mesh port: the distance to the edge of a mesh of maximum size in the direction of the port. A hop through
/// the port decreases it by one.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct PackedCoord(u64);

/// Coordinates of a destination, complemented so that an addition compares them with the coordinates of a router.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct PackedDestination(u64);

impl PackedCoord {
    /// Packs the coordinates `place`, whose row and column are at most 32,767.
    #[inline]
    pub const fn new(place: MeshCoord) -> PackedCoord {
        let (row, column) = (place.row as u64 & MAX_SIDE, place.column as u64 & MAX_SIDE);
        PackedCoord(row | (MAX_SIDE - column) << 16 | (MAX_SIDE - row) << 32 | column << 48)
    }

    #[inline(always)]
    pub const fn coord(self) -> MeshCoord {
        MeshCoord { row: (self.0 & MAX_SIDE) as u32, column: (self.0 >> 48) as u32 }
    }

    /// Returns the coordinates as a destination, for comparison with the coordinates of routers.
    #[inline]
    pub const fn destination(self) -> PackedDestination {
        PackedDestination(self.0 ^ MAX_SIDES)
    }

    /// Returns the mesh ports that lead nearer to `goal`: at most two, none if this router is the destination.
    #[inline(always)]
    pub const fn productive_ports(self, goal: PackedDestination) -> PortSet {
        // Each lane of the sum holds 0x7fff + (own distance - distance of the destination). Its highest bit is set if the own distance is greater:
        // the port leads nearer. The product gathers the four bits at the top of the word, from where they are shifted down.
        const TO_THE_TOP: u64 = 1 << 45 | 1 << 30 | 1 << 15 | 1;
        let is_greater = (self.0 + goal.0) & SIGN_BITS;
        PortSet::from_bits((is_greater.wrapping_mul(TO_THE_TOP) >> 60) as u8)
    }
}

impl PackedDestination {
    #[inline(always)]
    pub const fn coord(self) -> MeshCoord {
        PackedCoord(self.0 ^ MAX_SIDES).coord()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_nearer_is_what_a_comparison_of_rows_and_columns_says() {
        let sides = [0, 1, 2, 6, 7, 1022, 1023, 32_766, 32_767];
        let places = || sides.into_iter().flat_map(|row| sides.map(|column| MeshCoord { row, column }));
        for here in places() {
            for target in places() {
                let (position, goal) = (PackedCoord::new(here), PackedCoord::new(target).destination());
                assert_eq!((position.coord(), goal.coord()), (here, target));
                assert_eq!(position.productive_ports(goal), here.productive_ports(target), "{here:?} {target:?}");
            }
        }
    }
}
