//! The section `[geometry]` of a configuration.

use crate::config::section::section;
use crate::units::{Bytes, Share};

/// The largest capacity that page numbers can address, with the largest pages.
const CAPACITY_MAX: Bytes = Bytes::new(1 << 50);

/// The maximum number of planes in a die.
pub const PLANES_PER_DIE_MAX: usize = 8;

section! {
    /// The flash array: channels, chips, dies, planes, blocks and pages.
    Geometry, "geometry" {
        /// Number of channels of the bus; rows of chips in any interconnect.
        channels: u32 = 8, in 1..=1024, needs plain, step "x2";
        /// Chips on a channel; columns of chips in any interconnect.
        chips_per_channel: u32 = 8, in 1..=1024, needs plain, step "x2";
        /// Dies in a chip.
        dies_per_chip: u32 = 1, in 1..=64, needs plain, step "x2";
        /// Planes in a die.
        planes_per_die: u32 = 2, in 1..=PLANES_PER_DIE_MAX as u32, needs plain, step "x2";
        /// Blocks in a plane.
        blocks_per_plane: u32 = 1024, in 4..=1_048_576, needs plain;
        /// Pages in a block.
        pages_per_block: u32 = 768, in 1..=65_535, needs plain;
        /// Size of the user data of a page; a power of two.
        page_size: Bytes = Bytes::from_kib(4), in Bytes::new(512)..=Bytes::from_kib(256), needs plain;
        /// Metadata and parity that are transferred with a whole page. A part of a page is transferred with a proportional part of the metadata and
        /// parity.
        page_spare: Bytes = Bytes::ZERO, in Bytes::ZERO..=Bytes::from_kib(64), needs plain;
        /// Addressing unit of the host. It must divide the page size.
        sector_size: Bytes = Bytes::new(512), in [Bytes::new(512), Bytes::from_kib(4)], needs plain;
        /// Space that the host sees, rounded down to whole pages. Replaces the over-provisioning, unless a later layer sets that: a file replaces the
        /// capacity of its preset, and `--set` that of the file.
        capacity: Option<Bytes> = None, unset "all pages less the over-provisioning", in Bytes::new(512)..=CAPACITY_MAX, needs plain;
        /// Share of all pages that the host does not see.
        over_provisioning: f64 as Share = 0.07, in 0.01..=0.9, needs plain, step "+5%";
    }
}
