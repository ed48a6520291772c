//! Superblocks over the planes of several dies, as in current drives (`[superblock]`). A superblock has one block of each plane of these dies. The
//! blocks of a superblock are written in turn, and collected and erased together.
//!
//! - A write goes to the open superblock on the dies that the allocation selects. There the write goes to the die and plane with the fewest programs,
//!   including those of waiting writes. If programs gather several mapping units, each plane in turn gets the units of a whole program, die by die.
//! - All planes of a superblock are collected at once. Its valid pages go to the open superblock of host writes, or to a superblock for moved pages
//!   (`gc.moved-pages`), there to the die with the fewest programs. After the last move all dies erase at the same time: every die of the superblock
//!   is busy for the duration of an erase, unless the erase can be suspended.

use crate::config::{self, Config, ConfigConflict};
use crate::flash::geometry::Geometry;
use crate::ftl::FtlRules;

use super::shared_blocks::{self, SharedBlockPlacement};
use super::{AnyPolicy, PolicyInfo};

pub static INFO: PolicyInfo = PolicyInfo {
    kind: config::FirmwarePolicy::Superblock,
    build: |config, geometry| AnyPolicy::other(SharedBlockPlacement::new(config, geometry, config.superblock_dies())),
    ftl_rules: |config, rules| FtlRules { superblock_dies: Some(config.superblock_dies()), ..rules },
    conflicts,
};

fn conflicts(config: &Config, geometry: Option<&Geometry>) -> Vec<ConfigConflict> {
    let (dies, of_drive) = (config.superblock_dies(), config.dies());
    if of_drive.is_multiple_of(dies) {
        let mut clashes = shared_blocks::conflicts(config, geometry, dies);
        clashes.extend(parity_conflict(config, dies));
        return clashes;
    }
    let message = format!(
        "ftl.policy is `superblock`, and superblock.dies ({dies}) does not divide the {of_drive} dies of the drive"
    );
    let keys = ["superblock.dies", "geometry.channels", "geometry.chips-per-channel", "geometry.dies-per-chip"];
    vec![
        ConfigConflict::new(&keys, message)
            .with_help("set superblock.dies to a divisor of it, or leave it away for all dies"),
    ]
}

/// Returns the conflict between parity and superblocks of `dies` dies; `None` if there is none, or without parity.
fn parity_conflict(config: &Config, dies: u32) -> Option<ConfigConflict> {
    let programs = config.parity_stripe()?;
    let share = config::ParityShare(programs);
    let of_superblock = if dies == 1 { "has one die".to_owned() } else { format!("has {dies} dies") };
    let in_block =
        config.geometry.pages_per_block / (config.pages_per_program() * config.pages_per_unit().max(1)).max(1);
    if in_block < 2 {
        let message = format!(
            "ftl.parity is {share}, and a block of geometry.pages-per-block is one program: none is left for data"
        );
        let clash = ConfigConflict::new(&["ftl.parity", "geometry.pages-per-block"], message);
        return Some(clash.with_help("set geometry.pages-per-block to a larger number, or leave ftl.parity away"));
    }
    let message = match programs {
        programs if programs > dies => {
            format!("ftl.parity is {share}, which is over {programs} dies, and a superblock {of_superblock}")
        }
        programs if !dies.is_multiple_of(programs) => {
            format!("ftl.parity is {share}, and {programs} does not divide the {dies} dies of a superblock")
        }
        _ => return None,
    };
    let divisor = (2..programs).rev().find(|programs| dies.is_multiple_of(*programs));
    let remedy = match divisor {
        Some(divisor) => format!("set ftl.parity to \"1/{divisor}\", or superblock.dies to a multiple of {programs}"),
        None => format!("set superblock.dies to a multiple of {programs}, or leave ftl.parity away"),
    };
    Some(ConfigConflict::new(&["ftl.parity", "superblock.dies"], message).with_help(&remedy))
}
