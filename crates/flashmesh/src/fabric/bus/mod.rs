//! The bus (Venice, ISCA 2023, section 2): one half-duplex channel for each row of chips.

use crate::config::{self, Config, Move};
use crate::flash::geometry::Geometry;

use super::framing::Durations;
use super::held_channels::HeldChannels;
use super::shared_channels::CHANNEL_WIRES;
use super::{Facts, Routers, SharedChannels};

/// The bus.
pub static FACTS: Facts = Facts {
    name: "bus",
    caption: "Each row of chips shares one channel. A die asks for the channel to get a command or to send data, and waits \
              while another transfer holds it. The array of a die works without the channel.",
    sections: &[],
    obeys: &["fabric.channel-rate", "fabric.arbitration"],
    ignores: &[],
    moves: &[Move::ThroughController],
    held: Some(|config, geometry| Ok(HeldChannels::new(channels(config, geometry), config, geometry).into())),
    die_controllers: false,
    routers: Routers::None,
    router_power: |power: &config::Power| power.router_power,
    check: |_| Ok(()),
    build: |config, geometry| Ok(channels(config, geometry).into()),
};

fn channels(config: &Config, geometry: &Geometry) -> SharedChannels {
    SharedChannels::of_rows(config, geometry, Durations::signals(config.fabric.channel_rate), CHANNEL_WIRES)
}
