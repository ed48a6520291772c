//! Ports of a router, and sets of ports.

/// A port of a router. The tie-break numbers candidate ports in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Port {
    /// Port to the router in the row above.
    North,
    /// Port to the router in the next column, away from the controllers.
    East,
    /// Port to the router in the row below.
    South,
    /// Port to the router in the previous column; in column 0, to the controller of the row.
    West,
    /// Port to the pins of the chip at the router.
    Chip,
}

impl Port {
    /// The ports to other routers, in the order of the variants.
    pub const MESH: [Port; 4] = [Port::North, Port::East, Port::South, Port::West];

    /// Returns the port at the other end of a mesh link: North for South, East for West, and vice versa. The chip port is its own opposite.
    #[inline]
    pub const fn opposite(self) -> Port {
        const OPPOSITE: [Port; 5] = [Port::South, Port::West, Port::North, Port::East, Port::Chip];
        OPPOSITE[self as usize]
    }

    /// Returns the change of the row, -1 to 1, by a hop through this port.
    #[inline]
    pub(in super::super) const fn row_step(self) -> i32 {
        const DOWN: [i32; 5] = [-1, 0, 1, 0, 0];
        DOWN[self as usize]
    }

    /// Returns the change of the column, -1 to 1, by a hop through this port.
    #[inline]
    pub(in super::super) const fn column_step(self) -> i32 {
        const RIGHT: [i32; 5] = [0, 1, 0, -1, 0];
        RIGHT[self as usize]
    }
}

/// A set of ports of one router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortSet(u8);

impl PortSet {
    /// The empty set.
    pub const NONE: PortSet = PortSet(0);
    /// The four ports to other routers.
    pub const MESH: PortSet = PortSet(0b1111);

    /// Returns the set as a bit mask. The lowest bit is [`Port::North`], and the other ports follow in the order of the variants.
    #[inline]
    pub const fn to_bits(self) -> u8 {
        self.0
    }

    /// Creates a set from a bit mask as returned by [`to_bits`](Self::to_bits). Bits that belong to no port are ignored.
    #[inline]
    pub const fn from_bits(bits: u8) -> PortSet {
        PortSet(bits & 0b1_1111)
    }

    /// Returns the set of only `port`.
    #[inline]
    pub const fn from_port(port: Port) -> PortSet {
        PortSet(1 << port as u8)
    }

    /// Returns the set of only `port` if `is_in`, otherwise the empty set.
    #[inline]
    pub const fn from_port_if(port: Port, is_in: bool) -> PortSet {
        PortSet((is_in as u8) << port as u8)
    }

    /// Returns the ports that are in this set or in `others`.
    #[inline]
    pub const fn union(self, others: PortSet) -> PortSet {
        PortSet(self.0 | others.0)
    }

    /// Returns the ports of this set that are not in `others`.
    #[inline]
    pub const fn difference(self, others: PortSet) -> PortSet {
        PortSet(self.0 & !others.0)
    }

    /// Returns the ports that are in this set and in `others`.
    #[inline]
    pub const fn intersection(self, others: PortSet) -> PortSet {
        PortSet(self.0 & others.0)
    }

    /// Returns whether `port` is in the set.
    #[inline]
    pub const fn contains(self, port: Port) -> bool {
        self.0 & 1 << port as u8 != 0
    }

    /// Returns whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of ports in the set, 0 to 5.
    #[inline]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns mesh port number `position` of the set, from 0 in the order of the variants; `None` if the set has fewer mesh ports.
    pub const fn nth(self, position: u32) -> Option<Port> {
        let (mut number, mut left) = (0, position);
        while number < Port::MESH.len() {
            let port = Port::MESH[number];
            if self.contains(port) {
                if left == 0 {
                    return Some(port);
                }
                left -= 1;
            }
            number += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ports_of_a_set_are_numbered_in_their_order() {
        let set =
            PortSet::from_port(Port::West).union(PortSet::from_port(Port::East)).union(PortSet::from_port(Port::Chip));
        assert_eq!([0, 1, 2].map(|position| set.nth(position)), [Some(Port::East), Some(Port::West), None]);
        assert_eq!(set.len(), 3);
        assert_eq!(PortSet::NONE.nth(0), None);
    }

    #[test]
    fn what_leads_there_leads_back() {
        for port in Port::MESH {
            assert_ne!(port, port.opposite());
            assert_eq!(port, port.opposite().opposite());
        }
    }
}
