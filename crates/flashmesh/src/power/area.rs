//! How much room an interconnect takes, after Venice, ISCA 2023, section 6.6.
//!
//! Areas of links are relative to the channels of the bus, one for each row. A link between routers takes 0.04 of a channel, since it
//! is shorter and thinner; links to a controller or to the pins of a chip are not counted, since the connectors of the bus take as
//! much; more wires take as much more [choice].

use super::Constant;
use crate::fabric::layout::LinkKind;
use crate::fabric::{Addition, Layout};
use crate::quantities;

/// Area of a link between routers, relative to a channel of the bus.
const MESH_LINK: f64 = 0.04;
/// Area of a chip on the board.
const CHIP_MM2: f64 = 100.0;
/// Area of a router beside its chip.
const ROUTER_BESIDE_MM2: f64 = 8.0;
/// Area of a router inside a chip: buffers, crossbar, arbitration and routing, 0.17 + 0.03 + 0.002 mm2.
const ROUTER_INSIDE_MM2: f64 = 0.202;
/// What a controller on every die adds to it.
const DIE_CONTROLLER: f64 = 0.2;

quantities! {
    /// What the interconnect is made of, and its area.
    AreaReport as "DriveArea" {
        /// Links by what they connect.
        links: LinkCounts;
        /// Wires that carry data, over all links.
        wires: u32, in "wires";
        /// Flash controllers.
        controllers: u32, in "controllers";
        /// Routers.
        routers: u32, in "routers";
        /// Share of the area of the channels of the bus that the links save, negative when they take more; links of controllers
        /// and chips do not count (Venice, ISCA 2023, section 6.6).
        links_saved_share: Option<f64>, in "share", null "for private channels to every chip, whose area nobody states";
        /// Area of the chips, without what the interconnect adds to them.
        chips_mm2: f64, in "mm2";
        /// Area that the interconnect adds inside the chips: controllers on the dies, routers of NoSSD.
        added_inside_mm2: f64, in "mm2";
        /// Area that the interconnect adds on the board beside the chips, without links: routers of Venice.
        added_beside_mm2: f64, in "mm2";
        /// The areas behind these figures.
        constants: Vec<Constant>;
    }
}

quantities! {
    /// Links of the interconnect, by what they connect.
    #[derive(Eq)]
    LinkCounts as "LinkCounts" {
        /// Channels that several chips share.
        channel: usize, in "links";
        /// Links between a controller and one chip, or one router.
        controller: usize, in "links";
        /// Links between routers.
        mesh: usize, in "links";
        /// Links between a router and its chip.
        chip: usize, in "links";
    }
}

/// The room that an interconnect takes in a drive with a row of chips for each of `rows` channels of the bus.
pub fn report(layout: &Layout, addition: Addition, rows: u32, chips: u32) -> AreaReport {
    let links = LinkCounts {
        channel: layout.count(LinkKind::Channel),
        controller: layout.count(LinkKind::Controller),
        mesh: layout.count(LinkKind::Mesh),
        chip: layout.count(LinkKind::Chip),
    };
    let is_stated = links.channel > 0 || layout.routers > 0;
    let taken = (links.channel as f64 + links.mesh as f64 * MESH_LINK) * layout.width() / f64::from(rows);
    let routers = f64::from(layout.routers);
    let chips_mm2 = f64::from(chips) * CHIP_MM2;
    let (added_inside_mm2, added_beside_mm2) = match addition {
        Addition::Nothing => (0.0, 0.0),
        Addition::DieControllers => (chips_mm2 * DIE_CONTROLLER, 0.0),
        Addition::RoutersBeside => (0.0, routers * ROUTER_BESIDE_MM2),
        Addition::RoutersInside => (routers * ROUTER_INSIDE_MM2, 0.0),
    };
    AreaReport {
        links,
        wires: layout.wires,
        controllers: layout.controllers,
        routers: layout.routers,
        links_saved_share: is_stated.then_some(1.0 - taken),
        chips_mm2,
        added_inside_mm2,
        added_beside_mm2,
        constants: constants(),
    }
}

/// The areas with their sources.
fn constants() -> Vec<Constant> {
    let of = |name, value, unit, source| Constant { name, value, unit, source };
    vec![
        of("link between routers, of 8 wires", MESH_LINK, "channels of the bus", "Venice, ISCA 2023, section 6.6"),
        of("chip", CHIP_MM2, "mm2", "Venice, ISCA 2023, section 6.6"),
        of("router beside its chip", ROUTER_BESIDE_MM2, "mm2", "Venice, ISCA 2023, section 6.6"),
        of("router inside its chip", ROUTER_INSIDE_MM2, "mm2", "Design for Scalability, PACT 2014, section 5.5"),
        of("controller on a die", DIE_CONTROLLER, "share of the die", "Venice, ISCA 2023, section 3.2"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::layout::Link;

    /// `counts` are the links of each kind, in the order of [`LinkKind::ALL`].
    fn layout(counts: [usize; 4], wires_each: u32, routers: u32) -> Layout {
        let kinds = LinkKind::ALL.into_iter().zip(counts).flat_map(|(kind, count)| vec![kind; count]);
        let links: Vec<Link> = kinds.map(|kind| Link { kind, name: String::new() }).collect();
        Layout { wires: links.len() as u32 * wires_each, links, controllers: 8, routers }
    }

    /// Venice, ISCA 2023, section 6.6: 112 links in a mesh of 8 x 8, and 44 % of the area saved.
    #[test]
    fn the_mesh_links_of_8_x_8_routers_take_44_percent_less_than_8_channels() {
        let (rows, columns) = (8, 8);
        let mesh = rows * (columns - 1) + columns * (rows - 1);
        let report = report(&layout([0, 8, mesh, 64], 8, 64), Addition::RoutersBeside, 8, 64);
        assert_eq!(report.links, LinkCounts { channel: 0, controller: 8, mesh: 112, chip: 64 });
        let saved = report.links_saved_share.expect("the area of mesh links is stated");
        assert!((saved - 0.44).abs() < 1e-12, "{saved}");
        assert_eq!((report.added_beside_mm2 / report.chips_mm2, report.added_inside_mm2), (0.08, 0.0));
    }

    #[test]
    fn the_bus_saves_nothing_and_channels_twice_as_wide_or_as_many_take_twice_as_much() {
        let saved = |counts, wires, addition| report(&layout(counts, wires, 0), addition, 8, 64).links_saved_share;
        assert_eq!(saved([8, 0, 0, 0], 8, Addition::Nothing), Some(0.0));
        assert_eq!(saved([8, 0, 0, 0], 16, Addition::DieControllers), Some(-1.0));
        assert_eq!(saved([16, 0, 0, 0], 8, Addition::DieControllers), Some(-1.0));
        assert_eq!(saved([0, 64, 0, 0], 8, Addition::Nothing), None);
    }

    #[test]
    fn what_is_added_to_the_chips_is_told_apart_from_what_stands_beside_them() {
        let added = |addition| {
            let report = report(&layout([8, 0, 0, 0], 8, 64), addition, 8, 64);
            (report.added_inside_mm2, report.added_beside_mm2)
        };
        assert_eq!(added(Addition::Nothing), (0.0, 0.0));
        assert_eq!(added(Addition::DieControllers), (1280.0, 0.0));
        assert_eq!(added(Addition::RoutersBeside), (0.0, 512.0));
        let (inside, beside) = added(Addition::RoutersInside);
        // Four dies of 72 mm2 a chip: less than 0.1 % (Design for Scalability, PACT 2014, section 5.5).
        assert!(inside / (64.0 * 288.0) < 1e-3 && inside > 0.0 && beside == 0.0, "{inside}");
    }
}
