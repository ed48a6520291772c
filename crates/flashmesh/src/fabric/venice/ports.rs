//! The ports of a router, and sets of them.

/// A port of a router. Its order is that in which candidates are numbered for the tie-break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Port {
    /// To the row above.
    North,
    /// To the next column, away from the controllers.
    East,
    /// To the row below.
    South,
    /// To the column before; in the first column, to the controller of the row.
    West,
    /// Injection and ejection: the pins of the chip beside the router.
    Chip,
}

impl Port {
    /// The ports towards other routers.
    pub const MESH: [Port; 4] = [Port::North, Port::East, Port::South, Port::West];

    /// The port with this number.
    #[inline]
    pub(super) const fn numbered(number: u16) -> Port {
        match number {
            0 => Port::North,
            1 => Port::East,
            2 => Port::South,
            3 => Port::West,
            _ => Port::Chip,
        }
    }

    /// The port at the other end of a mesh link.
    #[inline]
    pub const fn opposite(self) -> Port {
        match self {
            Port::North => Port::South,
            Port::East => Port::West,
            Port::South => Port::North,
            Port::West => Port::East,
            Port::Chip => Port::Chip,
        }
    }
}

/// A set of ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ports(u8);

impl Ports {
    /// No port.
    pub const NONE: Ports = Ports(0);
    /// The four ports towards other routers.
    pub const MESH: Ports = Ports(0b1111);

    /// The set as bits, by the number of the port.
    #[inline]
    pub(super) const fn to_bits(self) -> u8 {
        self.0
    }

    /// The set of these bits.
    #[inline]
    pub(super) const fn from_bits(bits: u8) -> Ports {
        Ports(bits)
    }

    /// The set of one port.
    #[inline]
    pub const fn of(port: Port) -> Ports {
        Ports(1 << port as u8)
    }

    /// Both sets together.
    #[inline]
    pub const fn with(self, others: Ports) -> Ports {
        Ports(self.0 | others.0)
    }

    /// The ports that are not in `others`.
    #[inline]
    pub const fn without(self, others: Ports) -> Ports {
        Ports(self.0 & !others.0)
    }

    /// The ports in both sets.
    #[inline]
    pub const fn and(self, others: Ports) -> Ports {
        Ports(self.0 & others.0)
    }

    /// Whether `port` is in the set.
    #[inline]
    pub const fn contains(self, port: Port) -> bool {
        self.0 & 1 << port as u8 != 0
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    #[inline]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The mesh ports of the set, in their order.
    #[inline]
    pub fn mesh(self) -> impl Iterator<Item = Port> {
        let mut left = self.0 & Ports::MESH.0;
        std::iter::from_fn(move || {
            let port = Port::MESH.get(left.trailing_zeros() as usize).copied();
            left &= left.wrapping_sub(1);
            port
        })
    }

    /// The mesh port at `position` among those of the set, in their order.
    #[inline]
    pub fn nth(self, position: u32) -> Option<Port> {
        self.mesh().nth(position as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ports_of_a_set_are_numbered_in_their_order() {
        let set = Ports::of(Port::West).with(Ports::of(Port::East)).with(Ports::of(Port::Chip));
        assert_eq!([0, 1, 2].map(|position| set.nth(position)), [Some(Port::East), Some(Port::West), None]);
        assert_eq!(set.len(), 3);
        assert_eq!(Ports::NONE.nth(0), None);
    }

    #[test]
    fn what_leads_there_leads_back() {
        for port in Port::MESH {
            assert_ne!(port, port.opposite());
            assert_eq!(port, port.opposite().opposite());
        }
    }
}
