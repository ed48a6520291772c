//! Properties of NoSSD that the rest of the simulator relies on.

use crate::config::{self, PageMove};
use crate::fabric::{FabricInfo, RouterPlacement};

use super::settings::check;
use super::{CircuitSwitchedNossd, Nossd};

/// Properties of NoSSD that the rest of the simulator relies on, such as the keys that it reads.
pub static INFO: FabricInfo = FabricInfo {
    name: "nossd",
    caption: "Every chip has a router. Commands and data are packets that move from router to router; a packet that \
              finds its next link taken waits where it is, and holds the links behind it.",
    sections: &["nossd"],
    used_keys: &[],
    accepted_unused_keys: &["fabric.channel-rate", "fabric.channel-load", "fabric.arbitration"],
    moves: &[PageMove::ThroughController, PageMove::ChipToChip, PageMove::Clean],
    build_held: Some(|config, geometry| Ok(CircuitSwitchedNossd::new(config, geometry)?.into())),
    die_controllers: false,
    routers: RouterPlacement::Inside,
    router_power: |power: &config::Power| power.buffered_router_power,
    check,
    build: |config, geometry| Ok(Nossd::new(config, geometry)?.into()),
};
