//! pSSD (Venice, ISCA 2023, section 3.2): a bus of twice the channel rate, because packets use the control pins in addition to the data pins. A
//! controller on each die decodes or frames every packet, which adds to the array time.

use crate::config::{self, Config, PageMove};
use crate::flash::geometry::Geometry;
use crate::units::Rate;

use super::channels::channel_timing::ChannelTiming;
use super::channels::shared_channels::CHANNEL_WIRES;
use super::{AnyFabric, FabricError, FabricInfo, RouterPlacement, SharedChannels};

/// Properties of pSSD, for the [registry](super::registry).
pub static INFO: FabricInfo = FabricInfo {
    name: "pssd",
    caption: "Each row of chips shares one channel, as on a bus; commands and data are packets, and a controller on every \
              die decodes them.",
    sections: &["packets"],
    used_keys: &["fabric.channel-rate", "fabric.channel-load", "fabric.arbitration"],
    accepted_unused_keys: &[],
    moves: &[PageMove::ThroughController],
    build_held: Some(build),
    die_controllers: true,
    routers: RouterPlacement::None,
    router_power: |power: &config::Power| power.router_power,
    check: |_| Ok(()),
    build,
};

fn build(config: &Config, geometry: &Geometry) -> Result<AnyFabric, FabricError> {
    let rate = config.fabric.rate_of_channel(geometry.chips_per_channel).as_bytes_per_second();
    let doubled = rate.checked_mul(2).map_or(Rate::UNLIMITED, Rate::from_bytes_per_second);
    let durations = ChannelTiming::packets(&config.packets, doubled);
    Ok(SharedChannels::one_per_row(config, geometry, durations, 2 * CHANNEL_WIRES).into())
}
