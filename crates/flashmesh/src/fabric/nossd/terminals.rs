//! The terminals of the network: those of the chips, then those of the controllers, each with one for each of its local channels.

use crate::config;
use crate::fabric::wormhole::TerminalId;
use crate::flash::geometry::Geometry;

/// A part with local channels: a chip or a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Chip(u32),
    Controller(u32),
}

/// Which terminals belong to which part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terminals {
    chips: u32,
    controllers: u32,
    chip_channels: u32,
    controller_channels: u32,
}

impl Terminals {
    pub fn new(config: &config::Nossd, geometry: &Geometry) -> Terminals {
        Terminals {
            chips: geometry.chips(),
            controllers: geometry.channels,
            chip_channels: config.chip_channels,
            controller_channels: config.controller_channels,
        }
    }

    /// Chips and controllers.
    pub fn ends(&self) -> impl Iterator<Item = End> + use<> {
        (0..self.chips).map(End::Chip).chain((0..self.controllers).map(End::Controller))
    }

    /// The terminal of the first local channel of a part.
    pub fn first(&self, end: End) -> TerminalId {
        TerminalId(match end {
            End::Chip(chip) => chip * self.chip_channels,
            End::Controller(controller) => self.chips * self.chip_channels + controller * self.controller_channels,
        })
    }

    /// How many local channels a part has.
    pub fn channels(&self, end: End) -> u32 {
        match end {
            End::Chip(_) => self.chip_channels,
            End::Controller(_) => self.controller_channels,
        }
    }

    /// The part at a terminal.
    #[inline]
    pub fn at(&self, terminal: TerminalId) -> End {
        match terminal.0.checked_sub(self.chips * self.chip_channels) {
            None => End::Chip(terminal.0 / self.chip_channels),
            Some(beyond) => End::Controller(beyond / self.controller_channels),
        }
    }

    /// The number of a part among all: chips first.
    #[inline]
    pub fn number(&self, end: End) -> u32 {
        match end {
            End::Chip(chip) => chip,
            End::Controller(controller) => self.chips + controller,
        }
    }
}
