//! Routers: their busy ports, and the marks that scouts leave at them.

use super::tie_break::Lfsr;
use crate::fabric::venice::mesh::direction::PackedCoord;
use crate::fabric::venice::mesh::ports::{Port, PortSet};
use crate::fabric::venice::mesh::{Mesh, MeshCoord};

/// Router of the mesh, with the state that scouts read and change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Router {
    /// Ports whose link is reserved or out of service, and mesh ports without a link.
    pub busy: PortSet,
    /// Shift register that draws among candidate ports.
    pub lfsr: Lfsr,
    pub position: PackedCoord,
}

/// Index scheme for tables of routers: row by row, with a border of unused entries on every side, so that even at the edge all four neighbours have
/// an index.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaddedGrid {
    /// Difference between the indices of a router and the router below it: the number of columns, plus one border entry, which is the right border of
    /// one row and the left border of the next.
    stride: usize,
    rows: usize,
    /// Hop over the link at each port, indexed by port.
    hops: [Hop; 5],
}

/// Hop over the link at one port, as a difference of table indices, which is equal for all routers. A hop through the chip port stays at the router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    /// Index of the router at the end of the hop, minus the index at its start.
    offset: i32,
    /// Set of the one port by which the hop leaves its first router.
    pub near_port: PortSet,
    /// Set that contains only `entry`.
    pub far_port: PortSet,
    /// Port by which the hop enters its last router.
    pub entry: Port,
}

impl Hop {
    /// Returns the index of the router beyond the link, for a hop from router `index`.
    #[inline(always)]
    pub const fn neighbour(self, index: usize) -> usize {
        index.wrapping_add_signed(self.offset as isize)
    }
}

impl PaddedGrid {
    pub fn new(mesh: &Mesh) -> PaddedGrid {
        let stride = mesh.columns() as usize + 1;
        let hop = |port: Port| Hop {
            offset: port.row_step() * stride as i32 + port.column_step(),
            near_port: PortSet::from_port(port),
            far_port: PortSet::from_port(port.opposite()),
            entry: port.opposite(),
        };
        let hops = [Port::North, Port::East, Port::South, Port::West, Port::Chip].map(hop);
        PaddedGrid { stride, rows: mesh.rows() as usize, hops }
    }

    /// Returns the number of entries of a table with an entry for each router and for the border.
    #[inline]
    pub const fn len(&self) -> usize {
        // The border rows above and below are included, and one entry to the right of the last row.
        (self.rows + 2) * self.stride + 1
    }

    /// Returns the number of entries of the tables that each step of a scout reads, at least [`len`](Self::len). For most meshes, one of two powers
    /// of two, with which indexing needs no bounds check.
    pub const fn table_len(&self) -> usize {
        let len = self.len();
        if len <= SMALL_TABLE_LEN {
            SMALL_TABLE_LEN
        } else if len <= LARGE_TABLE_LEN {
            LARGE_TABLE_LEN
        } else {
            len
        }
    }

    #[inline]
    pub const fn index(&self, place: MeshCoord) -> usize {
        (place.row as usize + 1) * self.stride + place.column as usize + 1
    }

    /// Returns the index of the router beyond the link at `port` of router `index`; `index` itself for the chip port.
    #[inline(always)]
    pub const fn neighbour(&self, index: usize, port: Port) -> usize {
        self.hop(port).neighbour(index)
    }

    /// Returns the hop over the link at `port` of any router.
    #[inline(always)]
    pub const fn hop(&self, port: Port) -> Hop {
        self.hops[port as usize]
    }
}

/// Number of entries of a router table for a mesh of up to 14 x 14 routers.
pub(super) const SMALL_TABLE_LEN: usize = 1 << 8;
/// Number of entries of a router table for a larger mesh of up to 43 x 43 routers.
pub(super) const LARGE_TABLE_LEN: usize = 1 << 11;
/// Number of table entries in a group: consecutive entries that are cleared together. Their marks fill a cache line of 64 bytes.
const GROUP: usize = 32;
/// Number of bits of a set of groups. In tables with more groups, several groups share a bit and are cleared together.
const GROUPS: usize = u64::BITS as usize;

/// Returns the group (table entries that are cleared together) of router `index`, as a set with one of 64 bits.
#[inline(always)]
pub(super) const fn group(index: usize) -> u64 {
    1 << (index / GROUP % GROUPS)
}

/// Sets all entries of `table` whose [`group`] is in the bit set `groups` to `cleared`.
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

/// A table indexed by router, with or without a size known at compile time.
pub(super) trait RouterTable<T> {
    fn at(&self, index: usize) -> &T;
    fn at_mut(&mut self, index: usize) -> &mut T;
}

/// A table whose size is a power of two, so that an index needs no bounds check.
impl<T, const N: usize> RouterTable<T> for [T; N] {
    #[inline(always)]
    fn at(&self, index: usize) -> &T {
        &self[index % N]
    }

    #[inline(always)]
    fn at_mut(&mut self, index: usize) -> &mut T {
        &mut self[index % N]
    }
}

impl<T> RouterTable<T> for [T] {
    #[inline(always)]
    fn at(&self, index: usize) -> &T {
        &self[index]
    }

    #[inline(always)]
    fn at_mut(&mut self, index: usize) -> &mut T {
        &mut self[index]
    }
}

/// A container of a router table, which it returns as type `T`, such as an array with a size known at compile time.
pub(super) trait RouterTableStorage<T: ?Sized> {
    fn table(&mut self) -> &mut T;
}

impl<T, const N: usize> RouterTableStorage<[T; N]> for Box<[T]> {
    #[inline(always)]
    fn table(&mut self) -> &mut [T; N] {
        self.first_chunk_mut().expect("a table has as many entries as its kind says")
    }
}

impl<T> RouterTableStorage<[T]> for Box<[T]> {
    #[inline(always)]
    fn table(&mut self) -> &mut [T] {
        self
    }
}

/// The marks of a scout at one router: the ports that it does not try again, the number of visits if visits are limited, whether it holds the router,
/// and the port of entry. Links that the scout holds are busy, so their ports need no mark. A router that must not be entered again is marked as
/// held.
///
/// In the paper (Venice, ISCA 2023, section 4.2 and Fig 7), each router has a reservation table with a row per packet: valid bit, entry port and exit
/// port. A row is valid while the scout holds the router; its exit port is opposite to the entry port of the next router. The paper requires that
/// each port be tried once, but does not say where this is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScoutMarks(
    /// From the lowest bit: the used ports (4 bits), the held flag (1 bit), the port of entry (2 bits), the number of visits.
    u16,
);

impl ScoutMarks {
    const HELD_SHIFT: u32 = 4;
    const ENTRY_SHIFT: u32 = 5;
    const SEEN_SHIFT: u32 = 7;

    /// Maximum number of visits, if visits are limited: the first one and three returns.
    pub const MAX_VISITS: u16 = 4;

    /// Marks of a router that the scout has not visited.
    pub const NONE: ScoutMarks = ScoutMarks(0);

    /// Returns the marks of a router that a scout has left by backtracking, after `seen` visits and with the used ports `used`. After the last
    /// allowed visit, marks the router as held, so that it is not entered again.
    #[inline(always)]
    pub const fn backtracked(used: PortSet, seen: u16) -> ScoutMarks {
        let is_closed = (seen >= ScoutMarks::MAX_VISITS) as u16;
        ScoutMarks(used.to_bits() as u16 | is_closed << ScoutMarks::HELD_SHIFT | seen << ScoutMarks::SEEN_SHIFT)
    }

    /// Returns the marks of a router that a scout holds, with the used ports `used`, the port of entry `entry`, and `seen` visits so far.
    #[inline(always)]
    pub const fn on_path(used: PortSet, entry: Port, seen: u16) -> ScoutMarks {
        let entry = (entry as u16) << ScoutMarks::ENTRY_SHIFT;
        ScoutMarks(used.to_bits() as u16 | 1 << ScoutMarks::HELD_SHIFT | entry | seen << ScoutMarks::SEEN_SHIFT)
    }

    /// Returns the mesh ports that the scout has used, and does not try again.
    #[inline(always)]
    pub const fn used(self) -> PortSet {
        PortSet::from_bits(self.0 as u8).intersection(PortSet::MESH)
    }

    /// Returns the number of visits; 0 if visits are not counted.
    #[inline(always)]
    pub const fn visits(self) -> u16 {
        self.0 >> ScoutMarks::SEEN_SHIFT
    }

    /// Returns the port by which the scout entered the router; meaningless unless the scout holds the router.
    #[inline(always)]
    pub const fn entry_port(self) -> Port {
        match self.0 >> ScoutMarks::ENTRY_SHIFT & 0b11 {
            0 => Port::North,
            1 => Port::East,
            2 => Port::South,
            _ => Port::West,
        }
    }

    /// Returns the set of only `port`, a mesh port, if the scout holds the router; otherwise the empty set.
    #[inline(always)]
    const fn port_if_held(self, port: Port) -> PortSet {
        PortSet::from_bits((self.0 >> (ScoutMarks::HELD_SHIFT - port as u32)) as u8)
            .intersection(PortSet::from_port(port))
    }

    /// Returns the ports of router `index` that lead to routers held by the scout with the marks `marks`.
    #[inline(always)]
    pub fn held_neighbours(
        marks: &(impl RouterTable<ScoutMarks> + ?Sized),
        frame: &PaddedGrid,
        index: usize,
    ) -> PortSet {
        let held = |index: usize, port| marks.at(index).port_if_held(port);
        let (north, south) = (held(index - frame.stride, Port::North), held(index + frame.stride, Port::South));
        held(index + 1, Port::East).union(held(index - 1, Port::West)).union(north).union(south)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_router_has_an_entry_of_its_own_between_those_of_its_neighbours() {
        for (rows, columns) in [(1, 1), (1, 4), (4, 1), (3, 5)] {
            let mesh = Mesh::new(rows, columns);
            let frame = PaddedGrid::new(&mesh);
            let mut seen = vec![false; frame.len()];
            for chip in 0..mesh.routers() {
                let place = mesh.coord_of(crate::ids::ChipId(chip));
                let index = frame.index(place);
                assert!(!std::mem::replace(&mut seen[index], true), "{place:?}");
                assert_eq!(frame.neighbour(index, Port::Chip), index);
                for port in Port::MESH {
                    let beyond = frame.neighbour(index, port);
                    assert!(beyond < frame.len());
                    if mesh.ports(place).contains(port) {
                        assert_eq!(beyond, frame.index(place.neighbour(port)));
                    }
                }
            }
            for chip in 0..mesh.routers() {
                let place = mesh.coord_of(crate::ids::ChipId(chip));
                for port in Port::MESH.into_iter().filter(|port| !mesh.ports(place).contains(*port)) {
                    assert!(
                        !seen[frame.neighbour(frame.index(place), port)],
                        "{place:?} has a neighbour to the {port:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_table_is_cleared_by_groups_and_nowhere_else() {
        for len in [SMALL_TABLE_LEN, LARGE_TABLE_LEN, 4355, 20_000] {
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
        let used = PortSet::from_port(Port::West).union(PortSet::from_port(Port::North));
        let is_held = |marks: ScoutMarks| Port::MESH.map(|port| marks.port_if_held(port) == PortSet::from_port(port));
        for port in Port::MESH {
            let held = ScoutMarks::on_path(used, port, 3);
            assert_eq!((held.used(), held.entry_port(), held.visits(), is_held(held)), (used, port, 3, [true; 4]));
        }
        for (seen, is_closed) in [(0, false), (3, false), (ScoutMarks::MAX_VISITS, true)] {
            let left = ScoutMarks::backtracked(used, seen);
            assert_eq!((left.used(), left.visits(), is_held(left)), (used, seen, [is_closed; 4]));
        }
    }
}
