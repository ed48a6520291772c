//! Superblocks over the planes of several dies, as drives of today use them: one block of each plane, written in turn, collected and erased
//! together (`[superblock]`).
//!
//! - A write goes to the superblock that is open on the dies which allocation gives, and in it to the die and plane that is furthest behind,
//!   counting what waits there. Where programs gather, one die after the other gets what a program takes.
//! - All planes of a superblock are collected at once, and its valid pages go to the open one, on whichever die is furthest behind. When all
//!   have moved, all dies erase at the same time: writes find no die for as long as an erase takes, unless reads or writes may suspend it.

use crate::config::{self, Clash, Config};
use crate::flash::geometry::Geometry;
use crate::ftl::FtlRules;

use super::PolicyFacts;
use super::together::{self, Together};

pub static FACTS: PolicyFacts = PolicyFacts {
    kind: config::FirmwarePolicy::Superblock,
    build: |config, geometry| Box::new(Together::new(geometry, config.superblock_dies())),
    ftl_rules: |config, rules| FtlRules {
        moves_share_write_block: true,
        superblock_dies: Some(config.superblock_dies()),
        ..rules
    },
    clashes,
};

fn clashes(config: &Config, geometry: Option<&Geometry>) -> Vec<Clash> {
    let (dies, of_drive) = (config.superblock_dies(), config.dies());
    if of_drive.is_multiple_of(dies) {
        return together::clashes(config, geometry, dies);
    }
    let message = format!(
        "ftl.policy is `superblock`, and superblock.dies ({dies}) does not divide the {of_drive} dies of the drive"
    );
    let keys = ["superblock.dies", "geometry.channels", "geometry.chips-per-channel", "geometry.dies-per-chip"];
    vec![Clash::new(&keys, message).help("set superblock.dies to a divisor of it, or leave it away for all dies")]
}
