//! Properties of pnSSD that the rest of the simulator relies on.

use crate::config::{self, Config, PageMove};
use crate::fabric::{AnyFabric, FabricError, FabricInfo, Pnssd, RouterPlacement};
use crate::flash::geometry::Geometry;

/// Properties of pnSSD that the rest of the simulator relies on, such as the keys that it reads.
pub static INFO: FabricInfo = FabricInfo {
    name: "pnssd",
    caption: "Each chip is on two channels: one along its row, one along its column. A transfer takes whichever is free.",
    sections: &["packets", "pnssd"],
    used_keys: &["fabric.channel-rate", "fabric.arbitration"],
    accepted_unused_keys: &[],
    moves: &[PageMove::ThroughController, PageMove::ChipToChip],
    build_held: Some(build),
    die_controllers: true,
    routers: RouterPlacement::None,
    router_power: |power: &config::Power| power.router_power,
    check,
    build,
};

fn build(config: &Config, geometry: &Geometry) -> Result<AnyFabric, FabricError> {
    Ok(Pnssd::new(config, geometry).into())
}

fn check(config: &Config) -> Result<(), FabricError> {
    if config.fabric.hold_path != config::HoldPath::Never && config.pnssd.split_page {
        return Err(FabricError {
            keys: vec!["pnssd.split-page", "fabric.hold-path"],
            message: "fabric.hold-path holds one channel for a die, and pnssd.split-page moves its data over two"
                .to_owned(),
            help: "set pnssd.split-page or fabric.hold-path to false".to_owned(),
        });
    }
    let config::Geometry { channels, chips_per_channel, .. } = config.geometry;
    if channels == chips_per_channel {
        return Ok(());
    }
    Err(FabricError {
        keys: vec!["geometry.chips-per-channel", "geometry.channels", "fabric.kind"],
        message: format!(
            "fabric.kind `pnssd` needs as many chips a channel as channels, found {chips_per_channel} and {channels}"
        ),
        help: "set geometry.chips-per-channel and geometry.channels to the same number".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_that_is_not_square_is_refused() {
        let mut config = Config::default();
        assert_eq!(check(&config), Ok(()));
        config.geometry.chips_per_channel = 16;
        let error = check(&config).expect_err("8 x 16 is not square");
        assert_eq!(error.keys[0], "geometry.chips-per-channel");
        assert!(error.message.contains("found 16 and 8"), "{error}");
    }
}
