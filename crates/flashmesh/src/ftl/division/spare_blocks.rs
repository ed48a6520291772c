//! Spare blocks: blocks that a plane needs beyond the blocks that its pages fill.

use crate::config::{self, Config, WriteBinding};
use crate::flash::geometry::SPARE_BLOCKS_PER_PLANE_MIN;
use crate::ftl::map::translation::is_map_on_flash;

/// Spare blocks of a plane for its open block for pages that arrive from other chips.
pub const INCOMING_BLOCKS: u32 = 1;

/// Spare blocks of a plane for its open block for replicas. A replica that finds no page there is dropped.
pub const REPLICA_BLOCKS: u32 = 1;

/// Number of blocks of a plane whose pages may be allocated to early-bound writes that are not programmed yet.
pub const PREALLOCATED_BLOCKS: u32 = 1;

/// Blocks reserved in each plane as open blocks of translation pages: one for written pages, one for moved pages.
pub const TRANSLATION_BLOCKS: u32 = 2;

/// Spare blocks of a plane for pages folded out of the SLC cache: the open block, and the block in which a fold continues if the open block is full.
pub const FOLD_BLOCKS: u32 = 2;

/// Spare blocks of a plane for the open block of a dynamic SLC cache. This block uses the cells of a native block, which is returned only after the
/// SLC block was filled and folded.
pub const LENT_BLOCKS: u32 = 1;

/// Returns the number of spare blocks that each plane needs. Not included are the open blocks of host streams beyond the first, which
/// [`Partition::spare_blocks_needed`](crate::ftl::Partition::spare_blocks_needed) adds.
pub fn spare_blocks_min(config: &Config) -> u32 {
    let needs = [
        (config.gc.r#move.crosses_chips(), INCOMING_BLOCKS),
        (is_map_on_flash(config), TRANSLATION_BLOCKS),
        (config.ftl.write_binding == WriteBinding::Early, PREALLOCATED_BLOCKS),
        (config.replication.enabled, REPLICA_BLOCKS),
        (config.slc.is_on(), FOLD_BLOCKS),
        (config.slc.is_dynamic(), LENT_BLOCKS),
    ];
    let gathering = blocks_for_gathering(config);
    let needed = needs.into_iter().filter(|(is_used, _)| *is_used);
    gathering + SPARE_BLOCKS_PER_PLANE_MIN as u32 + needed.map(|(_, blocks)| blocks).sum::<u32>()
}

/// Returns the number of spare blocks of each plane for invalid mapping units that stay unreclaimed if programs write several units; 0 otherwise.
/// Every full block may keep fewer invalid units than one program, because such a block is not a victim. One more block covers units skipped by
/// programs.
pub fn blocks_for_gathering(config: &Config) -> u32 {
    let program = u64::from(config.units_per_program());
    if program == 1 {
        return 0;
    }
    // Use `unit_geometry`, which excludes parity, because parity takes a part of every block.
    let config::Geometry { blocks_per_plane, pages_per_block, .. } = config.unit_geometry();
    (u64::from(blocks_per_plane) * program).div_ceil(u64::from(pages_per_block.max(1))) as u32 + 1
}
