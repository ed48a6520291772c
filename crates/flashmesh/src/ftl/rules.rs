//! Settings of the translation layer that depend on the firmware policy (`ftl.policy`).

use crate::config::{Allocation, Config, MovedPages, MultiPlane};

/// Settings of the translation layer that a firmware policy may override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtlRules {
    /// Policy that chooses the plane of a written page.
    pub allocation: Allocation,
    /// Whether collection may move pages, or a policy may place pages, to other planes than [`allocation`](FtlRules::allocation) chooses. A static
    /// order then has to skip planes without room.
    pub allows_other_planes: bool,
    /// Whether moved pages go to the open block of host writes, instead of an open block of their own.
    pub moves_share_write_block: bool,
    /// Whether preconditioning advances the open blocks of the planes of a die to the same next page, so that the planes can be programmed
    /// together.
    pub equal_write_pointers: bool,
    /// Number of dies of a superblock; `None` without superblocks. The planes of these dies open, collect and erase the blocks with the same index
    /// together.
    pub superblock_dies: Option<u32>,
    /// Whether multi-plane programs are used: a program joins several planes of a die if possible.
    pub joins_planes: bool,
}

impl FtlRules {
    /// Returns the settings in `[ftl]` and `[gc]`, for a policy without superblocks and without equal write pointers.
    pub fn new(config: &Config) -> FtlRules {
        FtlRules {
            allocation: config.ftl.allocation,
            allows_other_planes: config.gc.r#move.crosses_chips(),
            moves_share_write_block: config.moved_pages() == MovedPages::WriteBlock,
            equal_write_pointers: false,
            superblock_dies: None,
            joins_planes: config.flash.multi_plane != MultiPlane::Off,
        }
    }
}
