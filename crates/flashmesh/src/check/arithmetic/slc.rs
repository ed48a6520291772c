//! Location and capacity of the blocks of the SLC cache.

use super::array_tree::ArrayTree;
use super::mapping_units::{bits, data_programs, in_units, pages_per_unit, units_per_page};
use crate::config::Config;
use crate::ids::{BlockId, Ppn};

/// Location of a page, as far as its array times depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum PageAt {
    /// Index of the page in a native block, which uses all bits of its cells.
    Native(u32),
    /// Any page of the SLC cache, because all of them have the same times.
    Slc,
}

impl PageAt {
    /// Returns the location that is `pages` pages later in the same block.
    pub(in super::super) fn plus(self, pages: u32) -> PageAt {
        match self {
            PageAt::Native(page) => PageAt::Native(page + pages),
            PageAt::Slc => PageAt::Slc,
        }
    }
}

/// Blocks of the SLC cache, which are the last blocks of each plane.
#[derive(Clone, Debug)]
pub(in super::super) struct SlcArea {
    homes: ArrayTree,
    blocks_per_plane: u32,
    /// Number of blocks of a plane outside the SLC cache.
    others: u32,
    /// Number of mapping units in a block of the SLC cache.
    units: u32,
}

impl SlcArea {
    pub(in super::super) fn new(config: &Config) -> SlcArea {
        let shape = in_units(config);
        let blocks_per_plane = config.slc.blocks_per_plane;
        let others = shape.blocks_per_plane - blocks_per_plane.min(shape.blocks_per_plane);
        let word_lines = config.geometry.pages_per_block / bits(config);
        let units = data_programs(config, word_lines / pages_per_unit(config)) * units_per_page(config);
        SlcArea { homes: ArrayTree::new(&shape), blocks_per_plane, others, units }
    }

    pub(in super::super) fn has_block(&self, block: BlockId) -> bool {
        self.blocks_per_plane > 0 && self.homes.block_in_plane(block) >= self.others
    }

    pub(in super::super) fn holds(&self, ppn: Ppn) -> bool {
        self.has_block(self.homes.block_of(ppn))
    }

    /// Returns whether the page `ppn` exists. A block of the SLC cache has fewer pages than page numbers, because each of its cells stores
    /// one bit.
    pub(in super::super) fn is_a_page(&self, ppn: Ppn) -> bool {
        !self.holds(ppn) || self.homes.page_in_block(ppn) < self.units
    }
}
