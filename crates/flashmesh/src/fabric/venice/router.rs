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
}

/// Where a router is in a table of all of them: row by row, with a border that no link leads to on every side, so that all four neighbours
/// of a router are in the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// From one row to the next. The border on the left of a row is that on the right of the one above.
    stride: usize,
    rows: usize,
}

impl Frame {
    /// The frame around `mesh`.
    pub fn new(mesh: &Mesh) -> Frame {
        Frame { stride: mesh.columns() as usize + 1, rows: mesh.rows() as usize }
    }

    /// Entries of a table.
    #[inline]
    pub const fn len(self) -> usize {
        // The last row of the border, and one more entry on its right.
        (self.rows + 2) * self.stride + 1
    }

    /// The router at `place`.
    #[inline]
    pub const fn index(self, place: Place) -> usize {
        (place.row as usize + 1) * self.stride + place.column as usize + 1
    }

    /// The router behind `port` of router `index`, which is the router itself for that of the chip.
    #[inline(always)]
    pub const fn beyond(self, index: usize, port: Port) -> usize {
        index.wrapping_add_signed(port.down() as isize * self.stride as isize + port.right() as isize)
    }

    /// The part of a table that holds the rows from `first` to `last`.
    #[inline]
    pub const fn rows(self, first: u32, last: u32) -> std::ops::Range<usize> {
        (first as usize + 1) * self.stride..(last as usize + 2) * self.stride + 1
    }
}

/// What a router remembers of a scout under way: the ports the scout has come in or gone out by, and whether the scout holds it.
///
/// The paper (Venice, ISCA 2023, section 4.2 and Fig 7) has a reservation table in each router, with a row for each packet: a valid bit,
/// entry and exit port. A row is valid where the scout holds the router; entries and exits are kept with the
/// scout, in the order of its path. The paper demands that a port be tried once and does not say where that is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(u8);

impl Marks {
    const HELD: u8 = 1 << 4;

    /// A router that the scout has not been at.
    pub const NONE: Marks = Marks(0);

    /// The ports that the scout has used.
    #[inline]
    pub const fn used(self) -> Ports {
        Ports::from_bits(self.0).and(Ports::MESH)
    }

    /// The same with `port` used.
    #[inline]
    pub const fn with_used(self, port: Port) -> Marks {
        Marks(self.0 | Ports::of(port).and(Ports::MESH).to_bits())
    }

    /// The same, held by the scout: it has gone on from here.
    #[inline]
    pub const fn held(self) -> Marks {
        Marks(self.0 | Marks::HELD)
    }

    /// The same, no longer held: the scout has come back.
    #[inline]
    pub const fn let_go(self) -> Marks {
        Marks(self.0 & !Marks::HELD)
    }

    /// Whether the scout holds the router.
    #[inline]
    const fn is_held(self) -> bool {
        self.0 & Marks::HELD != 0
    }

    /// The ports of router `index` behind which there is a router that the scout holds, by the marks of all routers.
    #[inline(always)]
    pub fn held_around(marks: &[Marks], frame: Frame, index: usize) -> Ports {
        let is_held = |port| Ports::of_if(port, marks[frame.beyond(index, port)].is_held());
        is_held(Port::North).with(is_held(Port::East)).with(is_held(Port::South)).with(is_held(Port::West))
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
                assert!(frame.rows(place.row, place.row).contains(&index));
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
        let marks = Marks::NONE.with_used(Port::West).with_used(Port::Chip).with_used(Port::North).held();
        assert!(marks.is_held());
        assert_eq!(marks.used(), Ports::of(Port::West).with(Ports::of(Port::North)));
        assert_eq!((marks.let_go().is_held(), marks.let_go().used()), (false, marks.used()));
    }
}
