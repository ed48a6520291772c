//! Serialization of all blocks of a sample (simulated planes) for preconditioning. Each plane has at most one open block of each kind, and
//! no flash operation is in progress.

use super::BlockAccounts;
use crate::ftl::blocks::plane::open_blocks::OpenBlock;
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ids::BlockId;
use crate::states::{BitReader, BitWriter};

fn streams() -> impl Iterator<Item = OpenBlockKind> {
    std::iter::once(OpenBlockKind::SHARED).chain(OpenBlockKind::NON_HOST)
}

impl BlockAccounts {
    pub(in crate::rooms::ftl) fn write_image(&self, to: &mut BitWriter) {
        self.table.write_image(to);
        for plane in &self.planes {
            for pages in [plane.free_pages, plane.valid_pages, plane.invalid_pages, plane.blocks_filled] {
                to.put(pages.into(), u32::BITS);
            }
            for OpenBlock { block, next_page } in streams().map(|stream| plane.open.get(stream)) {
                to.put(block.0.into(), u32::BITS);
                to.put((*next_page).into(), u32::BITS);
            }
            // Write the free blocks in the order in which they would be opened. Pad the list with zeroes to the number of blocks of a
            // plane, so that all images have the same size.
            let mut free = plane.free.clone();
            to.put(free.len().into(), u32::BITS);
            for _ in 0..self.geometry.blocks_per_plane {
                to.put(free.pop().map_or(0, |block| block.0.into()), u32::BITS);
            }
        }
    }

    /// Reads an image written for a drive of the same geometry. Returns `None` if the image is invalid; the state is then partly overwritten.
    pub(in crate::rooms::ftl) fn read_image(&mut self, from: &mut BitReader) -> Option<()> {
        self.table.read_image(from)?;
        let (blocks, pages_per_block) = (u64::from(self.geometry.blocks()), u64::from(self.geometry.pages_per_block));
        let blocks_per_plane = self.geometry.blocks_per_plane;
        let pages_per_plane = u64::from(self.geometry.pages_per_plane());
        let block = |from: &mut BitReader| Some(BlockId(from.read(u32::BITS).filter(|&block| block < blocks)? as u32));
        for plane in &mut self.planes {
            for pages in [&mut plane.free_pages, &mut plane.valid_pages, &mut plane.invalid_pages] {
                *pages = from.read(u32::BITS).filter(|&pages| pages <= pages_per_plane)? as u32;
            }
            plane.blocks_filled = from.read(u32::BITS)? as u32;
            for stream in streams() {
                let block = block(from)?;
                let next_page = from.read(u32::BITS).filter(|&page| page <= pages_per_block)? as u32;
                // Ignore the saved open block of the SLC cache, because the SLC cache of a saved sample was never written.
                if stream != OpenBlockKind::Slc {
                    *plane.open.get_mut(stream) = OpenBlock { block, next_page };
                }
            }
            while plane.free.pop().is_some() {}
            let free = from.read(u32::BITS).filter(|&free| free <= blocks_per_plane.into())? as u32;
            for number in 0..blocks_per_plane {
                let block = block(from)?;
                if number < free {
                    plane.free.push(block, 0);
                }
            }
        }
        Some(())
    }

    /// Sets the number of blocks being collected in each plane (0 or 1), the same for all planes.
    pub(in crate::rooms::ftl) fn set_collecting(&mut self, collecting: u32) {
        self.planes.iter_mut().for_each(|plane| plane.collecting = collecting);
    }

    /// Returns the size in bits of the image that [`BlockAccounts::write_image`] writes.
    pub(in crate::rooms::ftl) fn image_bits(&self) -> u64 {
        let of_plane = 4 + 2 * streams().count() as u64 + 1 + u64::from(self.geometry.blocks_per_plane);
        self.table.image_bits() + self.planes.len() as u64 * of_plane * u64::from(u32::BITS)
    }
}
