//! The section `[slc]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::{Share, Time};

use super::flash::{ARRAY_TIME_MAX, ARRAY_TIME_MIN};

choices! {
    /// The blocks that the SLC cache uses.
    SlcRegion {
        /// The cache uses the last blocks of each plane, permanently.
        Static = "static",
        /// The cache uses free blocks, unless taking a block would trigger collection. A block is returned when it has been folded (its
        /// pages moved out of the cache).
        Dynamic = "dynamic",
    }
}

choices! {
    /// The treatment of a write that finds the SLC cache full.
    SlcWhenFull {
        /// The write goes to the blocks outside the cache, at their speed.
        Bypass = "bypass",
        /// The write waits until a block has been folded (its pages moved out of the cache). If no block can be folded, it goes to the
        /// blocks outside the cache.
        Fold = "fold",
    }
}

section! {
    /// The SLC cache: blocks with one bit per cell that take host writes ([slc-cache.md](slc-cache.md)).
    Slc, "slc", with "flash.page-types" = ["\"mlc\"", "\"tlc\"", "\"qlc\""] but for ["blocks-per-plane"] {
        /// Blocks of each plane for the cache, taken from its spare space; with `region = "dynamic"`, the maximum number of free blocks that the
        /// cache takes. 0 turns the cache off. A block holds one page per word line: a half, a third or a quarter of its pages.
        blocks_per_plane: u32 = 0, in 0..=1_048_576, needs any, step "x2";
        /// Blocks that the cache uses.
        region: SlcRegion = SlcRegion::Static, with "blocks-per-plane" != ["0"], needs any, step "static | dynamic";
        /// Array program time of a page of the cache. SLC flash takes 200 to 300 us (HP, Solid State Drive Technology: Differences between SLC,
        /// MLC and TLC NAND, table 1).
        program_time: Time = Time::from_us(200), in ARRAY_TIME_MIN..=ARRAY_TIME_MAX, with "blocks-per-plane" != ["0"], needs any;
        /// Array read time of a page of the cache. SLC flash takes 25 us (HP, Solid State Drive Technology: Differences between SLC, MLC
        /// and TLC NAND, table 1).
        read_time: Time = Time::from_us(25), in ARRAY_TIME_MIN..=ARRAY_TIME_MAX, with "blocks-per-plane" != ["0"], needs any;
        /// Share of full cache blocks above which an idle die folds a plane. 0 empties the cache as soon as the die is idle.
        fold_threshold: f64 as Share = 0.0, in 0.0..=0.99, with "blocks-per-plane" != ["0"], needs any;
        /// Treatment of a write that finds the cache of its plane full. With `fold`, the fold that frees space starts at once and precedes
        /// reads, so that a drive with a full cache writes each page twice, at the speed of folding.
        when_full: SlcWhenFull = SlcWhenFull::Bypass, with "blocks-per-plane" != ["0"], needs any, step "bypass | fold";
    }
}

impl Slc {
    /// Returns whether the drive has an SLC cache.
    pub fn is_on(&self) -> bool {
        self.blocks_per_plane > 0
    }

    /// Returns whether the cache takes free blocks of a plane instead of a fixed set of blocks.
    pub fn is_dynamic(&self) -> bool {
        self.is_on() && self.region == SlcRegion::Dynamic
    }
}
