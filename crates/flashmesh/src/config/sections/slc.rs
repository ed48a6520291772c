//! `[slc]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::{Share, Time};

use super::flash::{ARRAY_TIME_MAX, ARRAY_TIME_MIN};

choices! {
    /// Which blocks the SLC cache uses.
    SlcRegion {
        /// The last blocks of each plane, always.
        Static = "static",
        /// Free blocks, as long as collection need not begin for them; each is given back when it was folded.
        Dynamic = "dynamic",
    }
}

choices! {
    /// What becomes of a write that finds the SLC cache full.
    SlcWhenFull {
        /// It goes to the other blocks, at their rate.
        Bypass = "bypass",
        /// It waits for a block to be folded; where none can be, it goes to the other blocks.
        Fold = "fold",
    }
}

section! {
    /// The SLC cache: blocks that hold one bit a cell, which take what the host writes ([slc-cache.md](slc-cache.md)).
    Slc, "slc", with "flash.page-types" = ["\"mlc\"", "\"tlc\"", "\"qlc\""] but for ["blocks-per-plane"] {
        /// Blocks of each plane for the cache: kept out of its spare space, or with `region = "dynamic"` at most so many of its free ones; 0
        /// turns it off. A block holds one page a word line: a half, a third or a fourth of its pages.
        blocks_per_plane: u32 = 0, in 0..=1_048_576, needs any, step "x2";
        /// Which blocks they are.
        region: SlcRegion = SlcRegion::Static, with "blocks-per-plane" != ["0"], needs any, step "static | dynamic";
        /// Array program time of a page of the cache; SLC flash takes 200 to 300 us (HP, Solid State Drive Technology: Differences between SLC,
        /// MLC and TLC NAND, table 1).
        program_time: Time = Time::from_us(200), in ARRAY_TIME_MIN..=ARRAY_TIME_MAX, with "blocks-per-plane" != ["0"], needs any;
        /// Array read time of a page of the cache; SLC flash takes 25 us (the same table).
        read_time: Time = Time::from_us(25), in ARRAY_TIME_MIN..=ARRAY_TIME_MAX, with "blocks-per-plane" != ["0"], needs any;
        /// An idle die folds a plane while more than this share of its cache blocks is full. 0 empties the cache as soon as the die is idle.
        fold_threshold: f64 as Share = 0.0, in 0.0..=0.99, with "blocks-per-plane" != ["0"], needs any;
        /// What becomes of a write that finds the cache of its plane full. With `fold` the fold that makes room begins at once and goes before
        /// reads, so that a drive whose cache is full writes each page twice at the rate at which it folds.
        when_full: SlcWhenFull = SlcWhenFull::Bypass, with "blocks-per-plane" != ["0"], needs any, step "bypass | fold";
    }
}

impl Slc {
    /// Whether the drive has an SLC cache.
    pub fn is_on(&self) -> bool {
        self.blocks_per_plane > 0
    }

    /// Whether the cache uses blocks that are free.
    pub fn is_dynamic(&self) -> bool {
        self.is_on() && self.region == SlcRegion::Dynamic
    }
}
