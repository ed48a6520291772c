//! What is known of pnSSD before it is built.

use crate::config::{self, Config, Move};
use crate::fabric::held_paths::HeldPaths;
use crate::fabric::{FabricError, Facts, Pnssd, Routers};

/// pnSSD.
pub static FACTS: Facts = Facts {
    name: "pnssd",
    caption: "Each chip is on two channels: one along its row, one along its column. A transfer takes whichever is free.",
    sections: &["packets", "pnssd"],
    obeys: &["fabric.channel-rate", "fabric.arbitration"],
    ignores: &[],
    moves: &[Move::ThroughController, Move::ChipToChip],
    held: Some(|config, geometry| Ok(HeldPaths::pnssd(config, geometry).into())),
    die_controllers: true,
    routers: Routers::None,
    router_power: |power: &config::Power| power.router_power,
    check,
    build: |config, geometry| Ok(Pnssd::new(config, geometry).into()),
};

fn check(config: &Config) -> Result<(), FabricError> {
    if config.fabric.hold_path {
        check_held(config)?;
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

fn check_held(config: &Config) -> Result<(), FabricError> {
    if config.pnssd.split_page {
        return Err(FabricError {
            keys: vec!["pnssd.split-page", "fabric.hold-path"],
            message: "fabric.hold-path keeps one channel for a die, and pnssd.split-page moves its data over two"
                .to_owned(),
            help: "set pnssd.split-page or fabric.hold-path to false".to_owned(),
        });
    }
    let arbitration = config.fabric.arbitration;
    if matches!(arbitration, config::Arbitration::RoundRobin | config::Arbitration::DataFirstRoundRobin) {
        return Err(FabricError {
            keys: vec!["fabric.arbitration", "fabric.hold-path"],
            message: format!(
                "dies wait for held channels of pnssd in the order of asking, and fabric.arbitration is `{arbitration}`"
            ),
            help: "leave fabric.arbitration away, or set fabric.hold-path to false".to_owned(),
        });
    }
    Ok(())
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
