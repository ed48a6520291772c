//! The bus (Venice, ISCA 2023, section 2): one half-duplex channel for each row of chips.

use crate::config::{self, Config, PageMove};
use crate::flash::geometry::Geometry;

use super::channels::channel_timing::ChannelTiming;
use super::channels::shared_channels::CHANNEL_WIRES;
use super::{AnyFabric, FabricError, FabricInfo, RouterPlacement, SharedChannels};

/// Properties of the bus, for the [registry](super::registry).
pub static INFO: FabricInfo = FabricInfo {
    name: "bus",
    caption: "Each row of chips shares one channel. A die asks for the channel to get a command or to send data, and waits \
              while another transfer holds it. The array of a die works without the channel.",
    sections: &[],
    used_keys: &["fabric.channel-rate", "fabric.channel-load", "fabric.arbitration"],
    accepted_unused_keys: &[],
    moves: &[PageMove::ThroughController],
    build_held: Some(build),
    die_controllers: false,
    routers: RouterPlacement::None,
    router_power: |power: &config::Power| power.router_power,
    check: |_| Ok(()),
    build,
};

fn build(config: &Config, geometry: &Geometry) -> Result<AnyFabric, FabricError> {
    let durations = ChannelTiming::signals(config.fabric.rate_of_channel(geometry.chips_per_channel));
    Ok(SharedChannels::one_per_row(config, geometry, durations, CHANNEL_WIRES).into())
}
