//! Properties of Venice that the rest of the simulator relies on.

use crate::config::{self, Config, PageMove};
use crate::fabric::{AnyFabric, FabricError, FabricInfo, RouterPlacement};
use crate::flash::geometry::Geometry;

use super::Venice;

/// Properties of Venice that the rest of the simulator relies on, such as the keys that it reads.
pub static INFO: FabricInfo = FabricInfo {
    name: "venice",
    caption: "Every chip has a router, and every row a controller. Before anything is sent, a controller sends a scout. \
              The scout reserves links one after the other on its way to the chip. Where all links that lead nearer are \
              taken it goes another way; where there is none it steps back, gives the link free and tries again from \
              there. When it has reached the chip, the reserved links are a circuit: the scout returns over it, and \
              command or data cross it without meeting anybody. A scout that is back without a path is sent again later.",
    sections: &["venice"],
    used_keys: &[],
    accepted_unused_keys: &["fabric.channel-rate", "fabric.channel-load", "fabric.arbitration"],
    moves: &[PageMove::ThroughController],
    build_held: Some(build),
    die_controllers: false,
    routers: RouterPlacement::Beside,
    router_power: |power: &config::Power| power.router_power,
    check: |_| Ok(()),
    build,
};

fn build(config: &Config, geometry: &Geometry) -> Result<AnyFabric, FabricError> {
    Ok(Venice::new(config, geometry).into())
}
