//! Table of the two channels of each pnSSD die, with their controllers.

use crate::config::Controllers;
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, LinkId};

use super::super::channels::shared_channels::CHANNEL_WIRES;
use super::super::layout::{Layout, Link, LinkKind};

/// One of the two routes to a die: a channel, and the controller that drives the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DieChannel {
    pub(super) link: LinkId,
    pub(super) controller: u32,
    /// Index of the die in the round-robin order of the controller, for requests of `link`.
    pub(super) position: u32,
}

/// Channels of a square array of N x N chips. Links 0 to N - 1 are horizontal, links N to 2N - 1 vertical.
#[derive(Clone, Debug)]
pub(super) struct ChannelGrid {
    /// Horizontal and vertical channel of each die, indexed by die.
    sides: Vec<[DieChannel; 2]>,
    /// Number of rows, which is the number of columns (N).
    rows: u32,
    /// Number of channels that a controller drives: 1, or 2 with `pnssd.controllers = "shared"`.
    channels_per_controller: u32,
}

impl ChannelGrid {
    pub(super) fn new(geometry: &Geometry, controllers: Controllers) -> ChannelGrid {
        let (rows, dies_per_chip) = (geometry.channels, geometry.dies_per_chip);
        let channels_per_controller = match controllers {
            Controllers::Independent => 1,
            Controllers::Shared => 2,
        };
        let sides = (0..geometry.dies()).map(|die| {
            let (chip, die_in_chip) = (die / dies_per_chip, die % dies_per_chip);
            let (row, column) = (chip / rows, chip % rows);
            let horizontal =
                DieChannel { link: LinkId(row), controller: row, position: column * dies_per_chip + die_in_chip };
            let along_column = row * dies_per_chip + die_in_chip;
            let (controller, position) = match controllers {
                Controllers::Independent => (rows + column, along_column),
                Controllers::Shared => (column, rows * dies_per_chip + along_column),
            };
            [horizontal, DieChannel { link: LinkId(rows + column), controller, position }]
        });
        ChannelGrid { sides: sides.collect(), rows, channels_per_controller }
    }

    /// Returns the horizontal and then the vertical channel of a die.
    pub(super) fn die_channels(&self, die: DieId) -> [DieChannel; 2] {
        self.sides[die.index()]
    }

    pub(super) fn controller_of(&self, link: LinkId) -> u32 {
        if self.channels_per_controller == 1 { link.0 } else { link.0 % self.rows }
    }

    pub(super) fn channels(&self) -> u32 {
        2 * self.rows
    }

    pub(super) fn controllers(&self) -> u32 {
        self.channels() / self.channels_per_controller
    }

    /// Returns the number of entries in the round-robin order of each controller: one per die, two for a die with both channels at the controller.
    pub(super) fn dies_per_controller(&self) -> u32 {
        self.sides.len() as u32 / self.rows * self.channels_per_controller
    }

    pub(super) fn layout(&self) -> Layout {
        let link = |name: String| Link { kind: LinkKind::Channel, name };
        let horizontal = (0..self.rows).map(|row| link(format!("horizontal channel {row}")));
        let vertical = (0..self.rows).map(|column| link(format!("vertical channel {column}")));
        Layout {
            links: horizontal.chain(vertical).collect(),
            wires: self.channels() * CHANNEL_WIRES,
            controllers: self.controllers(),
            routers: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn grid(controllers: Controllers) -> ChannelGrid {
        let mut config = Config::default();
        config.geometry.channels = 3;
        config.geometry.chips_per_channel = 3;
        config.geometry.dies_per_chip = 2;
        ChannelGrid::new(&Geometry::new(&config.geometry).expect("the geometry is valid"), controllers)
    }

    #[test]
    fn a_die_sits_on_the_channel_of_its_row_and_on_that_of_its_column() {
        // Second die of the chip in row 1, column 2. Four dies of the row and two of the column precede its chip, so its positions on the two
        // channels are 5 and 3.
        let die = DieId((3 + 2) * 2 + 1);
        let horizontal = DieChannel { link: LinkId(1), controller: 1, position: 5 };
        let vertical = DieChannel { link: LinkId(5), controller: 5, position: 3 };
        assert_eq!(grid(Controllers::Independent).die_channels(die), [horizontal, vertical]);
        let shared = DieChannel { link: LinkId(5), controller: 2, position: 6 + 3 };
        assert_eq!(grid(Controllers::Shared).die_channels(die), [horizontal, shared]);
    }

    #[test]
    fn the_dies_of_a_controller_have_places_of_their_own() {
        for (controllers, count, dies) in [(Controllers::Independent, 6, 6), (Controllers::Shared, 3, 12)] {
            let grid = grid(controllers);
            assert_eq!((grid.controllers(), grid.dies_per_controller()), (count, dies));
            for controller in 0..count {
                let of_controller = |side: &&DieChannel| side.controller == controller;
                let mut places: Vec<u32> =
                    grid.sides.iter().flatten().filter(of_controller).map(|side| side.position).collect();
                places.sort_unstable();
                assert_eq!(places, (0..dies).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_layout_names_the_channels_in_the_order_of_their_links() {
        let layout = grid(Controllers::Shared).layout();
        assert_eq!((layout.links.len(), layout.wires, layout.controllers), (6, 48, 3));
        assert_eq!((&*layout.links[2].name, &*layout.links[3].name), ("horizontal channel 2", "vertical channel 0"));
    }
}
