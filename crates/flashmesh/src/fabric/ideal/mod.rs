//! The path-conflict-free ideal (Venice, ISCA 2023, section 3.3): a private channel for every chip, and unlimited controllers.
//!
//! The dies of a chip still share one set of pins, and a die with a cache register can request the pins for a command while its data leaves. These
//! waits for pins count as path waits. They do not occur with one die a chip and without cache registers.

use crate::config::{self, Config, Move};
use crate::flash::geometry::Geometry;

use super::{AnyFabric, FabricError, Facts, Routers, SharedChannels};

/// Properties of the ideal.
pub static FACTS: Facts = Facts {
    name: "ideal",
    caption: "Every chip has a channel of its own. Nothing is in the way of anything.",
    sections: &[],
    obeys: &["fabric.channel-rate", "fabric.arbitration"],
    ignores: &[],
    moves: &[Move::ThroughController],
    held: Some(build),
    die_controllers: false,
    routers: Routers::None,
    router_power: |power: &config::Power| power.router_power,
    check: |_| Ok(()),
    build,
};

fn build(config: &Config, geometry: &Geometry) -> Result<AnyFabric, FabricError> {
    Ok(SharedChannels::of_chips(config, geometry).into())
}
