//! The section `[superblock]` of a configuration.

use crate::config::Config;
use crate::config::section::section;

section! {
    /// Superblocks over the planes of several dies.
    Superblock, "superblock", with "ftl.policy" = ["\"superblock\""] but for [] {
        /// Number of dies in a superblock. It must divide the number of dies of the drive. The dies of a superblock are distributed over as many
        /// channels as possible.
        dies: Option<u32> = None, unset "all dies", in 1..=1_048_576, needs any;
    }
}

impl Config {
    /// Returns the number of dies of the drive.
    pub fn dies(&self) -> u32 {
        let geometry = &self.geometry;
        geometry.channels.saturating_mul(geometry.chips_per_channel).saturating_mul(geometry.dies_per_chip)
    }

    /// Returns the number of dies in a superblock: the configured number, or all dies of the drive.
    pub fn superblock_dies(&self) -> u32 {
        self.superblock.dies.unwrap_or_else(|| self.dies())
    }
}
