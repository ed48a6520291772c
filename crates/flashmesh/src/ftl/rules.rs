//! What the firmware decides about the translation layer.

use crate::config::{Allocation, Config, MovedPages, MultiPlane};

/// How the firmware uses the translation layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtlRules {
    /// How the plane of a written page is chosen.
    pub allocation: Allocation,
    /// Pages come to other planes than [`allocation`](FtlRules::allocation) chooses, so a static order passes over planes without room.
    pub pages_leave_their_plane: bool,
    /// Moved pages go to the open block of host writes, not to one of their own.
    pub moves_share_write_block: bool,
    /// After preconditioning the planes of a die have equal write pointers.
    pub equal_write_pointers: bool,
    /// Of how many dies the planes open, collect and erase the blocks at one position together; none where each plane is by itself.
    pub superblock_dies: Option<u32>,
    /// Programs are over several planes of a die where they can be.
    pub planes_join: bool,
}

impl FtlRules {
    /// Each plane is written and collected alone, as `[ftl]` and `[gc]` say.
    pub fn new(config: &Config) -> FtlRules {
        FtlRules {
            allocation: config.ftl.allocation,
            pages_leave_their_plane: config.gc.r#move.leaves_the_chip(),
            moves_share_write_block: config.gc.moved_pages == MovedPages::WriteBlock,
            equal_write_pointers: false,
            superblock_dies: None,
            planes_join: config.flash.multi_plane != MultiPlane::Off,
        }
    }
}
