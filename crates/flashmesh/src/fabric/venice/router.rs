//! The routers: which of their ports are busy, and what they remember of the scouts that pass.

use super::mesh::{Mesh, Place};
use super::ports::{Port, Ports};
use super::tie_break::Lfsr;

/// A router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Router {
    /// Ports whose link is reserved, or which lead nowhere.
    pub busy: Ports,
    /// The tie-break.
    pub register: Lfsr,
    /// Where it is.
    pub place: Place,
}

/// Where a router is in a table of all of them: row by row, with a border that no link leads to on every side, so that all four neighbours
/// of a router are in the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// From one row to the next. The border on the left of a row is that on the right of the one above.
    stride: usize,
    rows: usize,
    /// Where the link at each port leads to.
    ways: [Way; 5],
}

/// Where the link at a port leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// From the index of the router to that of the one at the other end.
    offset: i32,
    /// The port, as a set of one.
    pub here: Ports,
    /// That at the other end.
    pub there: Ports,
}

impl Way {
    /// The router at the other end of the link of router `index`.
    #[inline(always)]
    pub const fn from(self, index: usize) -> usize {
        index.wrapping_add_signed(self.offset as isize)
    }

    /// The router at this end of the link that leads to router `index`.
    #[inline(always)]
    pub const fn back_from(self, index: usize) -> usize {
        index.wrapping_add_signed(-(self.offset as isize))
    }
}

impl Frame {
    /// The frame around `mesh`.
    pub fn new(mesh: &Mesh) -> Frame {
        let stride = mesh.columns() as usize + 1;
        let way = |port: Port| Way {
            offset: port.down() * stride as i32 + port.right(),
            here: Ports::of(port),
            there: Ports::of(port.opposite()),
        };
        let ways = [Port::North, Port::East, Port::South, Port::West, Port::Chip].map(way);
        Frame { stride, rows: mesh.rows() as usize, ways }
    }

    /// Entries of a table.
    #[inline]
    pub const fn len(&self) -> usize {
        // The last row of the border, and one more entry on its right.
        (self.rows + 2) * self.stride + 1
    }

    /// The router at `place`.
    #[inline]
    pub const fn index(&self, place: Place) -> usize {
        (place.row as usize + 1) * self.stride + place.column as usize + 1
    }

    /// The router behind `port` of router `index`, which is the router itself for that of the chip.
    #[inline(always)]
    pub const fn beyond(&self, index: usize, port: Port) -> usize {
        self.way(port).from(index)
    }

    /// Where the link at `port` of any router leads to.
    #[inline(always)]
    pub const fn way(&self, port: Port) -> Way {
        self.ways[port as usize]
    }
}

/// What a router remembers of a scout under way: the ports by which the scout has come in or gone out, and whether the scout holds it.
///
/// The paper (Venice, ISCA 2023, section 4.2 and Fig 7) has a reservation table in each router, with a row for each packet: a valid bit,
/// entry and exit port. A row is valid where the scout holds the router; the exits of these routers are kept with the
/// [`super::scout::Packet`], and the entry is the port opposite to the exit of the router before. The paper demands that a port be tried
/// once and does not say where that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks(
    /// The ports used; and a bit for each mesh port above them where the router is held, so that any of these tells it.
    u8,
);

impl Marks {
    const HELD: u8 = 0b1111 << 4;

    /// A router that the scout has not been at.
    pub const NONE: Marks = Marks(0);

    /// The ports that the scout has used.
    #[inline(always)]
    pub const fn used(self) -> Ports {
        Ports::from_bits(self.0)
    }

    /// The same after the scout has used the port of which `set` is made.
    #[inline(always)]
    pub const fn using(self, set: Ports) -> Marks {
        Marks(self.0 | set.to_bits())
    }

    /// The same after the scout has come back: it holds the router no longer.
    #[inline(always)]
    pub const fn let_go(self) -> Marks {
        Marks(self.0 & !Marks::HELD)
    }

    /// The same, held by the scout: it goes on from here.
    #[inline(always)]
    pub const fn held(self) -> Marks {
        Marks(self.0 | Marks::HELD)
    }

    /// The set of `port`, a mesh port, if the scout holds the router.
    #[inline(always)]
    const fn port_if_held(self, port: Port) -> Ports {
        Ports::from_bits(self.0 >> 4).and(Ports::of(port))
    }

    /// The ports of router `index` behind which there is a router that the scout holds, by the marks of all routers.
    #[inline(always)]
    pub fn held_around(marks: &[Marks], frame: &Frame, index: usize) -> Ports {
        let held = |index: usize, port| marks[index].port_if_held(port);
        let (north, south) = (held(index - frame.stride, Port::North), held(index + frame.stride, Port::South));
        held(index + 1, Port::East).with(held(index - 1, Port::West)).with(north).with(south)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_router_has_an_entry_of_its_own_between_those_of_its_neighbours() {
        for (rows, columns) in [(1, 1), (1, 4), (4, 1), (3, 5)] {
            let mesh = Mesh::new(rows, columns);
            let frame = Frame::new(&mesh);
            let mut seen = vec![false; frame.len()];
            for chip in 0..mesh.routers() {
                let place = mesh.place(crate::ids::ChipId(chip));
                let index = frame.index(place);
                assert!(!std::mem::replace(&mut seen[index], true), "{place:?}");
                assert_eq!(frame.beyond(index, Port::Chip), index);
                for port in Port::MESH {
                    let beyond = frame.beyond(index, port);
                    assert!(beyond < frame.len());
                    if mesh.ports(place).contains(port) {
                        assert_eq!(beyond, frame.index(place.beyond(port)));
                    }
                }
            }
            for chip in 0..mesh.routers() {
                let place = mesh.place(crate::ids::ChipId(chip));
                for port in Port::MESH.into_iter().filter(|port| !mesh.ports(place).contains(*port)) {
                    assert!(!seen[frame.beyond(frame.index(place), port)], "{place:?} has a neighbour to the {port:?}");
                }
            }
        }
    }

    #[test]
    fn a_router_remembers_the_ports_used_after_the_scout_has_left() {
        let entered = Marks::NONE.using(Ports::of(Port::West));
        let is_held = |marks: Marks| Port::MESH.map(|port| marks.port_if_held(port) == Ports::of(port));
        let gone = entered.using(Ports::of(Port::North)).held();
        assert_eq!((is_held(entered), is_held(gone)), ([false; 4], [true; 4]));
        assert_eq!(is_held(gone.let_go()), [false; 4]);
        for marks in [gone, gone.let_go()] {
            assert_eq!(marks.used().and(Ports::MESH), Ports::of(Port::West).with(Ports::of(Port::North)));
        }
    }
}
