//! The path-conflict-free ideal (Venice, ISCA 2023, section 3.3): a private channel for every chip, and unlimited controllers.
//!
//! The dies of a chip still share its pins, and a die with a cache register can request the pins for a command while its data leaves. Waits for pins
//! count as path waits. They do not occur if each chip has one die without a cache register.

use crate::config::{self, Config, PageMove};
use crate::flash::geometry::Geometry;

use super::{AnyFabric, FabricError, FabricInfo, RouterPlacement, SharedChannels};

/// Properties of the ideal interconnect, for the [registry](super::registry).
pub static INFO: FabricInfo = FabricInfo {
    name: "ideal",
    caption: "Every chip has a channel of its own. Nothing is in the way of anything.",
    sections: &[],
    used_keys: &["fabric.channel-rate", "fabric.arbitration"],
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
    Ok(SharedChannels::one_per_chip(config, geometry).into())
}
