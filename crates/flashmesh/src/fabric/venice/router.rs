//! The routers: which of their ports are busy, and what they remember of the scouts that pass.

use super::bearing::Position;
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
    pub position: Position,
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
    /// The same port, as the one by which who takes this way comes.
    pub entry: Port,
}

impl Way {
    /// The router at the other end of the link of router `index`.
    #[inline(always)]
    pub const fn from(self, index: usize) -> usize {
        index.wrapping_add_signed(self.offset as isize)
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
            entry: port.opposite(),
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

    /// Entries of the tables that a step looks into: for most meshes one of two powers of two, so that no index has to be checked.
    pub const fn table_len(&self) -> usize {
        let len = self.len();
        if len <= SMALL {
            SMALL
        } else if len <= LARGE {
            LARGE
        } else {
            len
        }
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

/// Entries of a table for a mesh of up to 14 x 14.
pub(super) const SMALL: usize = 1 << 8;
/// Entries of a table for a larger mesh of up to 43 x 43.
pub(super) const LARGE: usize = 1 << 11;
/// Entries of a group of a table, which is cleared by groups: those of a line of the processor's cache, for what is kept of scouts.
const GROUP: usize = 32;
/// Groups that have a number of their own. In a table of more, several have one number.
const GROUPS: usize = u64::BITS as usize;

/// The group that router `index` belongs to, as a set of one.
#[inline(always)]
pub(super) const fn group(index: usize) -> u64 {
    1 << (index / GROUP % GROUPS)
}

/// Clears the entries of `table` of the routers in `groups`.
#[inline]
pub(super) fn clear<T: Copy>(table: &mut [T], groups: u64, cleared: T) {
    let mut left = groups;
    while left != 0 {
        let mut first = left.trailing_zeros() as usize * GROUP;
        left &= left - 1;
        while let Some(entries) = table.get_mut(first..) {
            match entries.first_chunk_mut::<GROUP>() {
                Some(group) => *group = [cleared; GROUP],
                None => entries.fill(cleared),
            }
            first += GROUPS * GROUP;
        }
    }
}

/// A table by the index of the router.
pub(super) trait Table<T> {
    /// The entry of router `index`.
    fn at(&self, index: usize) -> &T;
    /// The same, to be changed.
    fn at_mut(&mut self, index: usize) -> &mut T;
}

/// Of a power of two of entries, so that no index has to be compared with their number.
impl<T, const N: usize> Table<T> for [T; N] {
    #[inline(always)]
    fn at(&self, index: usize) -> &T {
        &self[index % N]
    }

    #[inline(always)]
    fn at_mut(&mut self, index: usize) -> &mut T {
        &mut self[index % N]
    }
}

impl<T> Table<T> for [T] {
    #[inline(always)]
    fn at(&self, index: usize) -> &T {
        &self[index]
    }

    #[inline(always)]
    fn at_mut(&mut self, index: usize) -> &mut T {
        &mut self[index]
    }
}

/// What holds a table.
pub(super) trait Holds<T: ?Sized> {
    /// The table.
    fn held(&mut self) -> &mut T;
}

impl<T, const N: usize> Holds<[T; N]> for Box<[T]> {
    #[inline(always)]
    fn held(&mut self) -> &mut [T; N] {
        self.first_chunk_mut().expect("a table has as many entries as its kind says")
    }
}

impl<T> Holds<[T]> for Box<[T]> {
    #[inline(always)]
    fn held(&mut self) -> &mut [T] {
        self
    }
}

/// What a router remembers of a scout under way: the ports that are not tried any more, how often it has seen the scout where that is
/// bounded, and, where the scout holds the router, that it does and the port by which it came. The links that the scout holds are busy, so
/// they are not tried either. A router that is not to see the scout again counts as held.
///
/// The paper (Venice, ISCA 2023, section 4.2 and Fig 7) has a reservation table in each router, with a row for each packet: a valid bit,
/// entry and exit port. A row is valid where the scout holds the router; the exit port is the one opposite to the entry port of the next
/// router. The paper demands that a port be tried once and does not say where that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks(
    /// The ports used in the lower four bits, then whether the router is held, then the port of entry, then how often it was seen.
    u16,
);

impl Marks {
    const HELD_SHIFT: u32 = 4;
    const ENTRY_SHIFT: u32 = 5;
    const SEEN_SHIFT: u32 = 7;

    /// How often a router sees a scout at most, where that is bounded: when it first comes, and three more times.
    pub const SEEN_MOST: u16 = 4;

    /// A router that the scout has not been at.
    pub const NONE: Marks = Marks(0);

    /// A router that the scout has left backwards, after it has used these ports and was seen `seen` times.
    #[inline(always)]
    pub const fn left(used: Ports, seen: u16) -> Marks {
        let is_closed = (seen >= Marks::SEEN_MOST) as u16;
        Marks(used.to_bits() as u16 | is_closed << Marks::HELD_SHIFT | seen << Marks::SEEN_SHIFT)
    }

    /// A router that the scout holds, having used the ports `used`, come by `entry`, a mesh port, and been seen `seen` times.
    #[inline(always)]
    pub const fn held(used: Ports, entry: Port, seen: u16) -> Marks {
        let entry = (entry as u16) << Marks::ENTRY_SHIFT;
        Marks(used.to_bits() as u16 | 1 << Marks::HELD_SHIFT | entry | seen << Marks::SEEN_SHIFT)
    }

    /// The ports that are not tried any more; of the set only mesh ports have a meaning.
    #[inline(always)]
    pub const fn used(self) -> Ports {
        Ports::from_bits(self.0 as u8).and(Ports::MESH)
    }

    /// How often the router has seen the scout, where that is counted.
    #[inline(always)]
    pub const fn seen(self) -> u16 {
        self.0 >> Marks::SEEN_SHIFT
    }

    /// The port by which the scout came that holds the router.
    #[inline(always)]
    pub const fn entered_by(self) -> Port {
        match self.0 >> Marks::ENTRY_SHIFT & 0b11 {
            0 => Port::North,
            1 => Port::East,
            2 => Port::South,
            _ => Port::West,
        }
    }

    /// The set of `port`, a mesh port, if the scout holds the router.
    #[inline(always)]
    const fn port_if_held(self, port: Port) -> Ports {
        Ports::from_bits((self.0 >> (Marks::HELD_SHIFT - port as u32)) as u8).and(Ports::of(port))
    }

    /// The ports of router `index` behind which there is a router that the scout holds, by the marks of all routers.
    #[inline(always)]
    pub fn held_around(marks: &(impl Table<Marks> + ?Sized), frame: &Frame, index: usize) -> Ports {
        let held = |index: usize, port| marks.at(index).port_if_held(port);
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
    fn a_table_is_cleared_by_groups_and_nowhere_else() {
        for len in [SMALL, LARGE, 4355, 20_000] {
            for set in [0, 1, 1 << 63, 0x8000_1002_0000_0081, u64::MAX] {
                let mut table = vec![1u8; len];
                clear(&mut table, set, 0);
                for (index, entry) in table.into_iter().enumerate() {
                    assert_eq!(entry == 0, group(index) & set != 0, "{len}, {index}");
                }
            }
        }
    }

    #[test]
    fn a_router_remembers_the_ports_used_after_the_scout_has_left() {
        let used = Ports::of(Port::West).with(Ports::of(Port::North));
        let is_held = |marks: Marks| Port::MESH.map(|port| marks.port_if_held(port) == Ports::of(port));
        for port in Port::MESH {
            let held = Marks::held(used, port, 3);
            assert_eq!((held.used(), held.entered_by(), held.seen(), is_held(held)), (used, port, 3, [true; 4]));
        }
        for (seen, is_closed) in [(0, false), (3, false), (Marks::SEEN_MOST, true)] {
            let left = Marks::left(used, seen);
            assert_eq!((left.used(), left.seen(), is_held(left)), (used, seen, [is_closed; 4]));
        }
    }
}
