//! Static allocation: the plane follows from the logical page number.

use super::{Allocator, IdleDies};
use crate::config::Level;
use crate::flash::geometry::Geometry;
use crate::ftl::Occupancy;
use crate::ids::{Lpn, PlaneId};

/// The 24 orders of the four levels, in lexical order of [`Level`].
pub const ORDERS: [[Level; 4]; 24] = orders();

const fn orders() -> [[Level; 4]; 24] {
    const LEVELS: [Level; 4] = [Level::Channel, Level::Way, Level::Die, Level::Plane];
    let mut orders = [LEVELS; 24];
    let mut found = 0;
    let mut code = 0;
    while code < 256 {
        let digits = [code >> 6, code >> 4 & 3, code >> 2 & 3, code & 3];
        let seen = 1 << digits[0] | 1 << digits[1] | 1 << digits[2] | 1 << digits[3];
        if seen == 0b1111 {
            orders[found] = [LEVELS[digits[0]], LEVELS[digits[1]], LEVELS[digits[2]], LEVELS[digits[3]]];
            found += 1;
        }
        code += 1;
    }
    orders
}

/// Static allocation (paper 003, section 5.4; the orders are named by their initials, as CWDP in paper 002, section II.C): consecutive logical pages
/// go to different units of the first level of the order, then of the second, and so on. The page number modulo the
/// number of planes decides, by a table.
#[derive(Clone, Debug)]
pub struct StaticOrder {
    planes: Vec<PlaneId>,
}

impl StaticOrder {
    /// The table of `order`, in which the first level varies fastest.
    ///
    /// # Panics
    /// When a level is missing from `order`.
    pub fn new(geometry: &Geometry, order: [Level; 4]) -> StaticOrder {
        assert!(ORDERS.contains(&order), "{order:?} does not name each level once");
        let size = |level| match level {
            Level::Channel => geometry.channels,
            Level::Way => geometry.chips_per_channel,
            Level::Die => geometry.dies_per_chip,
            Level::Plane => geometry.planes_per_die,
        };
        let planes = (0..geometry.planes()).map(|residue| {
            let mut rest = residue;
            // Indexed by level, in the order in which a plane id is made up.
            let mut unit = [0; 4];
            for level in order {
                unit[level as usize] = rest % size(level);
                rest /= size(level);
            }
            let [channel, way, die, plane] = unit;
            let chip = channel * geometry.chips_per_channel + way;
            PlaneId((chip * geometry.dies_per_chip + die) * geometry.planes_per_die + plane)
        });
        StaticOrder { planes: planes.collect() }
    }

    /// The plane of `lpn`.
    #[inline]
    pub fn plane_of(&self, lpn: Lpn) -> PlaneId {
        self.planes[(lpn.0 % self.planes.len() as u32) as usize]
    }

    /// The planes of the logical pages 0, 1, 2 and so on, before they repeat.
    pub fn planes(&self) -> &[PlaneId] {
        &self.planes
    }
}

impl Allocator for StaticOrder {
    #[inline]
    fn place(&mut self, lpn: Lpn, _: &Occupancy<'_>, _: &IdleDies) -> PlaneId {
        self.plane_of(lpn)
    }

    #[inline]
    fn committed(&mut self, _: PlaneId) {}

    #[inline]
    fn place_unwritten(&self, lpn: Lpn, _: &Occupancy<'_>) -> PlaneId {
        self.plane_of(lpn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use crate::units::Bytes;

    fn geometry() -> Geometry {
        Geometry::new(&config::Geometry {
            channels: 3,
            chips_per_channel: 4,
            dies_per_chip: 2,
            planes_per_die: 5,
            blocks_per_plane: 8,
            pages_per_block: 4,
            capacity: Some(Bytes::from_kib(4) * 1001),
            ..config::Geometry::default()
        })
        .unwrap()
    }

    #[test]
    fn the_24_orders_differ() {
        let distinct: std::collections::BTreeSet<_> = ORDERS.iter().collect();
        assert_eq!(distinct.len(), 24);
    }

    #[test]
    fn every_order_is_a_bijection_that_spreads_logical_pages_evenly() {
        let geometry = geometry();
        for order in ORDERS {
            let order = StaticOrder::new(&geometry, order);
            let mut pages = vec![0u32; geometry.planes() as usize];
            let mut seen = std::collections::HashSet::new();
            for lpn in 0..geometry.logical_pages {
                let plane = order.plane_of(Lpn(lpn));
                pages[plane.index()] += 1;
                assert!(seen.insert((plane, lpn / geometry.planes())), "two pages have the same place");
            }
            assert!(pages.iter().max().unwrap() - pages.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn the_first_level_varies_fastest() {
        let geometry = geometry();
        for order in ORDERS {
            let table = StaticOrder::new(&geometry, order);
            let unit = |lpn: u32, level| {
                let plane = table.plane_of(Lpn(lpn));
                let die = geometry.die_of_plane(plane);
                let chip = geometry.chip_of(die);
                match level {
                    Level::Channel => (geometry.channel_of(chip).0, 3),
                    Level::Way => (chip.0 % 4, 4),
                    Level::Die => (die.0 % 2, 2),
                    Level::Plane => (geometry.plane_in_die(plane), 5),
                }
            };
            for lpn in 0..240 {
                let mut rest = lpn;
                for level in order {
                    let (position, size) = unit(lpn, level);
                    assert_eq!(position, rest % size, "{order:?} {lpn}");
                    rest /= size;
                }
            }
        }
    }
}
