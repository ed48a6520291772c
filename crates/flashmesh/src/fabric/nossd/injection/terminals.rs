//! Numbering of the terminals of the network. Each local channel (pair of links between a chip or controller and its router) has one terminal. The
//! terminals of the chips precede those of the controllers.

use crate::config;
use crate::fabric::wormhole::TerminalId;
use crate::flash::geometry::Geometry;

/// A chip or a controller, by its number. Each has one or more local channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Endpoint {
    Chip(u32),
    Controller(u32),
}

/// Numbers of chips and controllers, and of local channels of each, from which terminal numbers are computed.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct TerminalNumbering {
    chips: u32,
    controllers: u32,
    chip_channels: u32,
    controller_channels: u32,
}

impl TerminalNumbering {
    pub fn new(config: &config::Nossd, geometry: &Geometry) -> TerminalNumbering {
        TerminalNumbering {
            chips: geometry.chips(),
            controllers: geometry.channels,
            chip_channels: config.chip_channels,
            controller_channels: config.controller_channels,
        }
    }

    /// Returns all chips, then all controllers, in the order of their terminals.
    pub fn endpoints(&self) -> impl Iterator<Item = Endpoint> + use<> {
        (0..self.chips).map(Endpoint::Chip).chain((0..self.controllers).map(Endpoint::Controller))
    }

    /// Returns the terminal of the first local channel of `end`. Its other channels have the next numbers.
    pub fn first_terminal(&self, end: Endpoint) -> TerminalId {
        TerminalId(match end {
            Endpoint::Chip(chip) => chip * self.chip_channels,
            Endpoint::Controller(controller) => self.chips * self.chip_channels + controller * self.controller_channels,
        })
    }

    pub fn channels(&self, end: Endpoint) -> u32 {
        match end {
            Endpoint::Chip(_) => self.chip_channels,
            Endpoint::Controller(_) => self.controller_channels,
        }
    }

    #[inline]
    pub fn endpoint_at(&self, terminal: TerminalId) -> Endpoint {
        match terminal.0.checked_sub(self.chips * self.chip_channels) {
            None => Endpoint::Chip(terminal.0 / self.chip_channels),
            Some(beyond) => Endpoint::Controller(beyond / self.controller_channels),
        }
    }

    /// Returns the index of `end` in tables with an entry for every chip, then for every controller.
    #[inline]
    pub fn endpoint_index(&self, end: Endpoint) -> u32 {
        match end {
            Endpoint::Chip(chip) => chip,
            Endpoint::Controller(controller) => self.chips + controller,
        }
    }
}
