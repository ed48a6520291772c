//! Mesh of routers: coordinates, neighbours and link numbers.

pub(super) mod direction;
pub(super) mod layout;
pub(super) mod ports;

use crate::ids::{ChannelId, ChipId, LinkId};

use ports::{Port, PortSet};

/// Coordinates of a router in the mesh. The controllers are to the left of column 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeshCoord {
    /// Row, counted from 0 at the top.
    pub row: u32,
    /// Column, counted from 0 at the left.
    pub column: u32,
}

impl MeshCoord {
    /// Returns the coordinates of the neighbour beyond the mesh port `port`. A router must exist there.
    #[inline]
    pub const fn neighbour(self, port: Port) -> MeshCoord {
        let MeshCoord { row, column } = self;
        MeshCoord {
            row: row.wrapping_add_signed(port.row_step()),
            column: column.wrapping_add_signed(port.column_step()),
        }
    }

    /// Returns the mesh ports that lead nearer to `target`: at most two, none if this router is the target.
    #[inline]
    pub fn productive_ports(self, target: MeshCoord) -> PortSet {
        PortSet::from_port_if(Port::North, self.row > target.row)
            .union(PortSet::from_port_if(Port::East, self.column < target.column))
            .union(PortSet::from_port_if(Port::South, self.row < target.row))
            .union(PortSet::from_port_if(Port::West, self.column > target.column))
    }

    /// Returns the number of mesh links of a minimal path from this router to `target`.
    #[inline]
    pub const fn distance(self, target: MeshCoord) -> u32 {
        self.row.abs_diff(target.row) + self.column.abs_diff(target.column)
    }
}

/// A grid of routers, one for each chip, with a controller left of each row.
///
/// Links are numbered in this order: controller links from the top; horizontal mesh links, row by row; vertical mesh links, row by row; chip links in
/// the order of the chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mesh {
    rows: u32,
    columns: u32,
}

impl Mesh {
    /// Maximum number of rows and of columns.
    pub const SIDE_MAX: u32 = 1 << 15;

    /// Creates a mesh of `rows` x `columns` routers, each clamped to the range from 1 to [`SIDE_MAX`](Mesh::SIDE_MAX).
    pub fn new(rows: u32, columns: u32) -> Mesh {
        Mesh { rows: rows.clamp(1, Mesh::SIDE_MAX), columns: columns.clamp(1, Mesh::SIDE_MAX) }
    }

    /// Returns the number of rows, which is the number of controllers.
    #[inline]
    pub const fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns the number of columns, which is the number of chips in a row.
    #[inline]
    pub const fn columns(&self) -> u32 {
        self.columns
    }

    /// Returns the number of routers, which is the number of chips.
    #[inline]
    pub const fn routers(&self) -> u32 {
        self.rows * self.columns
    }

    /// Returns the number of links: controller, mesh and chip links.
    pub const fn links(&self) -> u32 {
        self.first_chip_link() + self.routers()
    }

    /// Returns the number of flits of a scout packet. Header flits carry the destination, tail flits the controller. A flit has 8 bits, of
    /// which 2 are its type (Venice, ISCA 2023, section 4.2 and Fig 6, where 8 x 8 chips need one header flit and one tail flit).
    pub fn scout_flits(&self) -> u32 {
        const ID_BITS: u32 = 6;
        let flits = |ids: u32| {
            let bits = (ids.max(2) - 1).ilog2() + 1;
            bits.div_ceil(ID_BITS)
        };
        flits(self.routers()) + flits(self.rows)
    }

    /// Returns the coordinates of the router of `chip`.
    #[inline]
    pub const fn coord_of(&self, chip: ChipId) -> MeshCoord {
        MeshCoord { row: chip.0 / self.columns, column: chip.0 % self.columns }
    }

    /// Returns the chip whose router is at `place`.
    #[inline]
    pub const fn chip(&self, place: MeshCoord) -> ChipId {
        ChipId(place.row * self.columns + place.column)
    }

    /// Returns the coordinates of the router at the link of `controller`: the first router of its row.
    #[inline]
    pub const fn entry_coord(&self, controller: ChannelId) -> MeshCoord {
        MeshCoord { row: controller.0, column: 0 }
    }

    /// Returns the ports of the router at `place` that lead to other routers: four, or fewer at an edge.
    #[inline]
    pub fn ports(&self, place: MeshCoord) -> PortSet {
        let mut missing = PortSet::NONE;
        for (port, is_edge) in [
            (Port::North, place.row == 0),
            (Port::East, place.column == self.columns - 1),
            (Port::South, place.row == self.rows - 1),
            (Port::West, place.column == 0),
        ] {
            if is_edge {
                missing = missing.union(PortSet::from_port(port));
            }
        }
        PortSet::MESH.difference(missing)
    }

    /// Returns the link between `controller` and the first router of its row.
    pub const fn controller_link(&self, controller: ChannelId) -> LinkId {
        LinkId(controller.0)
    }

    /// Returns the link at `port` of the router at `place`, which must have a link there. The west port of column 0 has the controller
    /// link.
    #[inline]
    pub const fn link(&self, place: MeshCoord, port: Port) -> LinkId {
        let MeshCoord { row, column } = place;
        LinkId(match port {
            Port::East => self.first_horizontal_link() + row * (self.columns - 1) + column,
            Port::West if column == 0 => row,
            Port::West => self.first_horizontal_link() + row * (self.columns - 1) + column - 1,
            Port::South => self.first_vertical_link() + row * self.columns + column,
            Port::North => self.first_vertical_link() + (row - 1) * self.columns + column,
            Port::Chip => self.first_chip_link() + row * self.columns + column,
        })
    }

    /// Returns the router at the left or upper end of `link`, as coordinates, and its port to `link`. A controller or chip link has only one router.
    pub const fn link_end(&self, link: LinkId) -> (MeshCoord, Port) {
        let number = link.0;
        if number >= self.first_chip_link() {
            return (self.coord_of(ChipId(number - self.first_chip_link())), Port::Chip);
        }
        if number >= self.first_vertical_link() {
            return (self.coord_of(ChipId(number - self.first_vertical_link())), Port::South);
        }
        if number >= self.first_horizontal_link() {
            let number = number - self.first_horizontal_link();
            let columns = self.columns - 1;
            return (MeshCoord { row: number / columns, column: number % columns }, Port::East);
        }
        (MeshCoord { row: number, column: 0 }, Port::West)
    }

    /// Returns all links between routers, in order of their ids.
    #[cfg(feature = "internals")]
    pub fn mesh_links(&self) -> impl Iterator<Item = LinkId> + use<> {
        (self.first_horizontal_link()..self.first_chip_link()).map(LinkId)
    }

    const fn first_horizontal_link(&self) -> u32 {
        self.rows
    }

    const fn first_vertical_link(&self) -> u32 {
        self.first_horizontal_link() + self.rows * (self.columns - 1)
    }

    const fn first_chip_link(&self) -> u32 {
        self.first_vertical_link() + (self.rows - 1) * self.columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_has_one_number_seen_from_both_its_ends() {
        for (rows, columns) in [(1, 1), (1, 5), (5, 1), (3, 4), (4, 3)] {
            let mesh = Mesh::new(rows, columns);
            let mut ends = vec![0; mesh.links() as usize];
            for chip in 0..mesh.routers() {
                let place = mesh.coord_of(ChipId(chip));
                assert_eq!(mesh.chip(place), ChipId(chip));
                for port in [Port::North, Port::East, Port::South, Port::West, Port::Chip] {
                    let is_controller_link = port == Port::West && place.column == 0;
                    if !(mesh.ports(place).contains(port) || is_controller_link || port == Port::Chip) {
                        continue;
                    }
                    let link = mesh.link(place, port);
                    ends[link.index()] += 1;
                    if mesh.ports(place).contains(port) {
                        assert_eq!(mesh.link(place.neighbour(port), port.opposite()), link);
                        assert_eq!(place.distance(place.neighbour(port)), 1);
                    }
                    let end = mesh.link_end(link);
                    assert!(end == (place, port) || end == (place.neighbour(port), port.opposite()));
                }
            }
            let mesh_links: Vec<LinkId> = mesh.mesh_links().collect();
            assert_eq!(mesh_links.len() as u32, rows * (columns - 1) + (rows - 1) * columns);
            for (number, ends) in (0..).zip(ends) {
                assert_eq!(ends, if mesh_links.contains(&LinkId(number)) { 2 } else { 1 }, "{mesh:?} link {number}");
            }
        }
    }

    #[test]
    fn a_scout_has_as_many_flits_as_the_ids_of_chips_and_controllers_need() {
        let shapes = [(1, 1, 2), (8, 8, 2), (4, 16, 2), (64, 1, 2), (5, 13, 3), (32, 32, 3), (65, 1, 4), (128, 64, 5)];
        for (rows, columns, flits) in shapes {
            assert_eq!(Mesh::new(rows, columns).scout_flits(), flits, "{rows} x {columns}");
        }
    }

    #[test]
    fn what_leads_towards_a_target_is_nearer_to_it() {
        let mesh = Mesh::new(4, 5);
        for from in 0..mesh.routers() {
            for to in 0..mesh.routers() {
                let (here, target) = (mesh.coord_of(ChipId(from)), mesh.coord_of(ChipId(to)));
                for port in Port::MESH {
                    let nearer = mesh.ports(here).contains(port)
                        && here.neighbour(port).distance(target) < here.distance(target);
                    assert_eq!(here.productive_ports(target).contains(port), nearer, "{here:?} {target:?} {port:?}");
                }
            }
        }
    }
}
