//! Layout of a mesh: names and kinds of links, and numbers of wires, controllers and routers.

use crate::fabric::layout::{Layout, Link, LinkKind};
use crate::ids::LinkId;

use super::Mesh;
use super::ports::Port;

/// Returns the layout of `mesh`, with links in the order of their ids and `wires_per_link` data wires per link.
pub(in super::super) fn layout(mesh: &Mesh, wires_per_link: u32) -> Layout {
    let link = |number| {
        let (place, port) = mesh.link_end(LinkId(number));
        let name = |place: super::MeshCoord| format!("({}, {})", place.row, place.column);
        match port {
            Port::West => Link { kind: LinkKind::Controller, name: format!("controller {}", place.row) },
            Port::Chip => Link { kind: LinkKind::Chip, name: format!("chip {}", mesh.chip(place).0) },
            Port::North | Port::East | Port::South => {
                let name = format!("router {} to {}", name(place), name(place.neighbour(port)));
                Link { kind: LinkKind::Mesh, name }
            }
        }
    };
    Layout {
        links: (0..mesh.links()).map(link).collect(),
        wires: mesh.links().saturating_mul(wires_per_link),
        controllers: mesh.rows(),
        routers: mesh.routers(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_named_by_what_they_connect() {
        let layout = layout(&Mesh::new(2, 2), 8);
        let names: Vec<&str> = layout.links.iter().map(|link| link.name.as_str()).collect();
        let controllers = ["controller 0", "controller 1"];
        let mesh = [
            "router (0, 0) to (0, 1)",
            "router (1, 0) to (1, 1)",
            "router (0, 0) to (1, 0)",
            "router (0, 1) to (1, 1)",
        ];
        let chips = ["chip 0", "chip 1", "chip 2", "chip 3"];
        assert_eq!(names, [&controllers[..], &mesh[..], &chips[..]].concat());
        assert_eq!((layout.wires, layout.controllers, layout.routers), (80, 2, 4));
    }
}
