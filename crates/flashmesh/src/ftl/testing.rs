//! Drives for the tests of the translation layer.

use super::{Ftl, FtlRules};
use crate::config::{self, Config};
use crate::flash::geometry::Geometry;
use crate::units::Bytes;

/// Creates a drive of one plane with 16 blocks of 8 pages, and a capacity of 10 blocks.
pub(super) fn one_plane(mut config: Config) -> Ftl {
    config.geometry = config::Geometry {
        channels: 1,
        chips_per_channel: 1,
        planes_per_die: 1,
        blocks_per_plane: 16,
        pages_per_block: 8,
        capacity: Some(Bytes::from_kib(4) * 80),
        ..config::Geometry::default()
    };
    let rules = FtlRules::new(&config);
    Ftl::new(&Geometry::new(&config.geometry).expect("the geometry is possible"), &config, rules)
}

/// Configuration of four dies with two planes of 24 blocks each, and an over-provisioning of 45 %.
pub(super) const DRIVE: &str = "
[geometry]
channels = 2
chips-per-channel = 2
planes-per-die = 2
blocks-per-plane = 24
pages-per-block = 16
page-size = '16KiB'
over-provisioning = 0.45
";

/// Returns the configuration `text` with some keys overridden, each given as `key=value`.
pub(super) fn config_of(text: &str, overrides: &[&str]) -> Config {
    let overrides: Vec<String> = overrides.iter().copied().map(str::to_owned).collect();
    Config::from_str(text, "drive.toml", &overrides).unwrap_or_else(|error| panic!("{error}"))
}
