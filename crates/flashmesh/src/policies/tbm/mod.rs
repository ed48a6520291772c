//! TBM, twin block management (IEEE CAL 2016; a baseline of Maximizing Bandwidth Management FTL, section V): the planes of a die use, collect and
//! erase the same blocks together. [`crate::ftl`] manages these blocks; this module chooses the plane of each page.
//!
//! - A write goes to the die that the allocation selects, there to the plane with the fewest programs in its open blocks, waiting writes included
//!   \[choice\].
//! - The planes of a die are collected at once. A valid page of one of them is programmed in the plane with the fewest programs, so that valid pages
//!   are spread evenly: in the open blocks of host writes, or in open blocks for moved pages (`gc.moved-pages`). After the last move, one erase
//!   covers the blocks of all planes.

use crate::config;
use crate::ftl::FtlRules;

use super::shared_blocks::{self, SharedBlockPlacement};
use super::{AnyPolicy, PolicyInfo};

pub static INFO: PolicyInfo = PolicyInfo {
    kind: config::FirmwarePolicy::Tbm,
    build: |config, geometry| AnyPolicy::other(SharedBlockPlacement::new(config, geometry, 1)),
    ftl_rules: |_, rules| FtlRules { superblock_dies: Some(1), ..rules },
    conflicts: |config, geometry| shared_blocks::conflicts(config, geometry, 1),
};
