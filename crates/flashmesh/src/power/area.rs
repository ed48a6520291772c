//! Area of an interconnect, after Venice, ISCA 2023, section 6.6.
//!
//! Areas of links are relative to the channels of the bus, one for each row of chips. A link between routers is 8 times shorter than a channel of 8
//! chips, and thinner: it takes 0.04 of the area of that channel, and proportionally less of a longer channel \[choice\]. Links to a controller or to
//! the pins of a chip are not counted, because the bus needs the same area for their counterparts. Area is proportional to the number of wires
//! \[choice\].

use super::Constant;
use crate::config::{self, Config};
use crate::fabric::layout::LinkKind;
use crate::fabric::{FabricInfo, Layout, RouterPlacement};
use crate::quantities;

/// Area of a link between routers, relative to a bus channel of 8 chips.
const MESH_LINK_AREA: f64 = 0.04;
const CHIPS_PER_CHANNEL: f64 = 8.0;
const ROUTER_BESIDE_MM2: f64 = 8.0;
/// Area in mm2 of the buffers of a router inside a chip (NoSSD), for `BUFFER_FLITS` flits. [`SWITCH_MM2`] is the rest of the router: 0.03 mm2 for the
/// crossbar, 0.002 mm2 for arbitration and routing.
const BUFFERS_MM2: f64 = 0.17;
const BUFFER_FLITS: f64 = 512.0;
const SWITCH_MM2: f64 = 0.032;
/// Area of an on-die controller (pSSD, pnSSD), as a share of the area of the die.
const DIE_CONTROLLER_SHARE: f64 = 0.2;

quantities! {
    /// Parts of the interconnect, and their area.
    AreaReport as "DriveArea" {
        /// Number of links, by what they connect.
        links: LinkCounts;
        /// Number of wires that carry data, over all links.
        wires: u32, in "wires";
        /// Number of flash channel controllers.
        controllers: u32, in "controllers";
        /// Number of routers, in the chips or beside them.
        routers: u32, in "routers";
        /// Share of the area of the bus's channels that the links save; negative if they take more area. Links to controllers and to chips are not
        /// counted (Venice, ISCA 2023, section 6.6).
        links_saved_share: Option<f64>, in "share", null "for private channels to every chip, whose area nobody states";
        /// Area of the chips, without the area that the interconnect adds to them.
        chips_mm2: f64, in "mm2";
        /// Area that the interconnect adds inside the chips: controllers on the dies, routers of NoSSD.
        added_inside_mm2: f64, in "mm2";
        /// Area that the interconnect adds on the board beside the chips, without links: routers of Venice.
        added_beside_mm2: f64, in "mm2";
        /// Areas of single parts, from which the figures are computed.
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

/// Returns the area of the interconnect in the drive of `config`. The bus has one channel for each row of chips.
pub fn report(layout: &Layout, info: &FabricInfo, config: &Config) -> AreaReport {
    let config::Geometry { channels: rows, chips_per_channel, dies_per_chip, .. } = config.geometry;
    let chips = rows * chips_per_channel;
    let links = LinkCounts {
        channel: layout.count(LinkKind::Channel),
        controller: layout.count(LinkKind::Controller),
        mesh: layout.count(LinkKind::Mesh),
        chip: layout.count(LinkKind::Chip),
    };
    let mesh_link = MESH_LINK_AREA * CHIPS_PER_CHANNEL / f64::from(chips_per_channel);
    let router_inside = BUFFERS_MM2 * f64::from(config.nossd.buffer_flits) / BUFFER_FLITS + SWITCH_MM2;
    let is_stated = links.channel > 0 || layout.routers > 0;
    let taken = (links.channel as f64 + links.mesh as f64 * mesh_link) * layout.width() / f64::from(rows);
    let routers = f64::from(layout.routers);
    let chips_mm2 = f64::from(chips) * f64::from(dies_per_chip) * config.area.die_mm2;
    let on_dies = if info.die_controllers { chips_mm2 * DIE_CONTROLLER_SHARE } else { 0.0 };
    let (inside, added_beside_mm2) = match info.routers {
        RouterPlacement::None => (0.0, 0.0),
        RouterPlacement::Beside => (0.0, routers * ROUTER_BESIDE_MM2),
        RouterPlacement::Inside => (routers * router_inside, 0.0),
    };
    AreaReport {
        links,
        wires: layout.wires,
        controllers: layout.controllers,
        routers: layout.routers,
        links_saved_share: is_stated.then_some(1.0 - taken),
        chips_mm2,
        added_inside_mm2: on_dies + inside,
        added_beside_mm2,
        constants: constants(config),
    }
}

fn constants(config: &Config) -> Vec<Constant> {
    let of = |name, value, unit, source| Constant { name, value, unit, source };
    let die_mm2 = config.area.die_mm2;
    let is_standard = die_mm2 == config::Area::default().die_mm2;
    vec![
        of("link between routers, of 8 wires", MESH_LINK_AREA, "channels of 8 chips", "Venice, ISCA 2023, section 6.6"),
        of("die", die_mm2, "mm2", if is_standard { "Venice, ISCA 2023, section 6.6" } else { "configuration" }),
        of("router beside its chip", ROUTER_BESIDE_MM2, "mm2", "Venice, ISCA 2023, section 6.6"),
        of(
            "buffers of 512 flits of a router inside its chip",
            BUFFERS_MM2,
            "mm2",
            "Design for Scalability, PACT 2014, section 5.5",
        ),
        of("the rest of a router inside its chip", SWITCH_MM2, "mm2", "Design for Scalability, PACT 2014, section 5.5"),
        of("controller on a die", DIE_CONTROLLER_SHARE, "share of the die", "Venice, ISCA 2023, section 3.2"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::layout::Link;
    use crate::fabric::{bus, nossd, pssd, venice};

    fn drive(rows: u32, columns: u32, dies: u32) -> Config {
        let mut config = Config::default();
        (config.geometry.channels, config.geometry.chips_per_channel) = (rows, columns);
        config.geometry.dies_per_chip = dies;
        config
    }

    /// Creates a layout with `counts` links of each kind, in the order of [`LinkKind::ALL`].
    fn layout(counts: [usize; 4], wires_each: u32, routers: u32) -> Layout {
        let kinds = LinkKind::ALL.into_iter().zip(counts).flat_map(|(kind, count)| vec![kind; count]);
        let links: Vec<Link> = kinds.map(|kind| Link { kind, name: String::new() }).collect();
        Layout { wires: links.len() as u32 * wires_each, links, controllers: 8, routers }
    }

    /// Checks Venice, ISCA 2023, section 6.6: the 112 links of an 8 x 8 mesh take 112 x 0.04 = 4.48 channel areas, 44 % less than 8 channels.
    #[test]
    fn the_mesh_links_of_8_x_8_routers_take_44_percent_less_than_8_channels() {
        let (rows, columns) = (8, 8);
        let mesh = rows * (columns - 1) + columns * (rows - 1);
        let report = report(&layout([0, 8, mesh, 64], 8, 64), &venice::INFO, &drive(8, 8, 1));
        assert_eq!(report.links, LinkCounts { channel: 0, controller: 8, mesh: 112, chip: 64 });
        let saved = report.links_saved_share.expect("the area of mesh links is stated");
        assert!((saved - 0.44).abs() < 1e-12, "{saved}");
        assert_eq!((report.added_beside_mm2 / report.chips_mm2, report.added_inside_mm2), (0.08, 0.0));
    }

    #[test]
    fn the_bus_saves_nothing_and_channels_twice_as_wide_or_as_many_take_twice_as_much() {
        let saved = |counts, wires, info| report(&layout(counts, wires, 0), info, &drive(8, 8, 1)).links_saved_share;
        assert_eq!(saved([8, 0, 0, 0], 8, &bus::INFO), Some(0.0));
        assert_eq!(saved([8, 0, 0, 0], 16, &pssd::INFO), Some(-1.0));
        assert_eq!(saved([16, 0, 0, 0], 8, &pssd::INFO), Some(-1.0));
        assert_eq!(saved([0, 64, 0, 0], 8, &bus::INFO), None);
    }

    #[test]
    fn what_is_added_to_the_chips_is_told_apart_from_what_stands_beside_them() {
        let added = |info| {
            let report = report(&layout([8, 0, 0, 0], 8, 64), info, &drive(8, 8, 1));
            (report.added_inside_mm2, report.added_beside_mm2)
        };
        assert_eq!(added(&bus::INFO), (0.0, 0.0));
        assert_eq!(added(&pssd::INFO), (1280.0, 0.0));
        assert_eq!(added(&venice::INFO), (0.0, 512.0));
    }

    /// Checks Design for Scalability, PACT 2014, section 5.5: a router takes less than 0.1 % of a chip of 4 or 8 dies of 72 mm2, and is mostly
    /// buffers.
    #[test]
    fn a_router_inside_a_chip_is_as_large_as_its_buffers_and_small_beside_the_dies() {
        let share = |dies, buffer_flits| {
            let mut config = drive(8, 8, dies);
            config.area.die_mm2 = 72.0;
            config.nossd.buffer_flits = buffer_flits;
            let report = report(&layout([0, 8, 112, 64], 8, 64), &nossd::INFO, &config);
            assert_eq!(report.added_beside_mm2, 0.0);
            report.added_inside_mm2 / report.chips_mm2
        };
        assert!((share(8, 512) - 0.202 / 576.0).abs() < 1e-12);
        assert!((share(4, 512) - 0.202 / 288.0).abs() < 1e-12);
        assert!((share(8, 1) - (0.17 / 512.0 + 0.032) / 576.0).abs() < 1e-12);
    }

    /// Checks that the area of a mesh link relative to a channel halves with 16 chips per channel instead of 8: 108 links of 0.02 replace 4 channels
    /// of 16 chips, 108 links of 0.08 replace 16 channels of 4. Both save 46 %.
    #[test]
    fn a_mesh_link_is_measured_by_the_length_of_the_channel_it_replaces() {
        for (rows, columns) in [(4, 16), (16, 4)] {
            let mesh = (rows * (columns - 1) + columns * (rows - 1)) as usize;
            let layout = layout([0, rows as usize, mesh, 64], 8, 64);
            let saved = report(&layout, &venice::INFO, &drive(rows, columns, 1)).links_saved_share;
            assert!((saved.expect("the area of mesh links is stated") - 0.46).abs() < 1e-12, "{saved:?}");
        }
    }
}
