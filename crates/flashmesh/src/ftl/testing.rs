//! A drive for the tests of the translation layer.

use super::{Ftl, FtlRules};
use crate::config::{self, Config};
use crate::flash::geometry::Geometry;
use crate::units::Bytes;

/// One plane of 16 blocks of 8 pages, of which the host sees 10 blocks.
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
