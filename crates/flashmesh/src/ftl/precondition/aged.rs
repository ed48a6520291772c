//! Aged preconditioning: filled blocks, in which the valid pages are spread evenly among invalid pages.

use std::ops::Range;

use super::ProgressCallback;
use super::fill::{pages_of, shares_by_plane};
use crate::ftl::Ftl;
use crate::ftl::allocation::PlaneShare;
use crate::ids::{BlockId, PlaneId, Ppn};

/// Programs blocks of all planes, up to the share `written` (0 to 1) of the pages of each plane. The logical pages of `ranges` are valid; all other
/// pages in these blocks are invalid.
pub(super) fn age(ftl: &mut Ftl, ranges: &[Range<u32>], written: f64, watch: ProgressCallback<'_>) {
    let mut shares: Vec<Vec<PlaneShare>> = vec![Vec::new(); ftl.geometry.planes() as usize];
    for (plane, of_plane) in shares_by_plane(ftl, ranges) {
        shares[plane.index()] = of_plane;
    }
    let blocks: Vec<u32> =
        shares.iter().zip(0..).map(|(own, plane)| blocks_to_fill(ftl, PlaneId(plane), own, written)).collect();
    let planes = shares.len() as f64;
    for (plane, own) in (0..).map(PlaneId).zip(&shares) {
        watch(f64::from(plane.0) / planes);
        // Planes that share superblocks fill the same number of blocks: the largest number that one of the planes needs.
        let together = ftl.blocks.superblock_planes(plane).map(|twin| blocks[twin.index()]).max().unwrap_or(0);
        age_plane(ftl, plane, own, together);
    }
}

/// Returns the number of blocks of a plane to fill: the share `written` of its pages, but no more than the plane can fill before it needs a
/// collection. Always enough blocks for the pages of `shares`, the logical pages that the plane stores.
fn blocks_to_fill(ftl: &Ftl, plane: PlaneId, shares: &[PlaneShare], written: f64) -> u32 {
    let pages_per_block = ftl.geometry.pages_per_block;
    let of_plane = ftl.geometry.native_pages_per_plane();
    let free = ftl.blocks.free_pages(plane);
    let wanted = ((f64::from(of_plane) * written) as u32).saturating_sub(of_plane - free);
    let before_collection = free.saturating_sub(ftl.collector.collection_threshold());
    (wanted.min(before_collection) / pages_per_block).max(pages_of(shares).div_ceil(pages_per_block))
}

/// Fills `blocks` blocks of a plane. The logical pages of `shares` are spread over these blocks in logical order, equally many to each block up to
/// rounding. Valid pages are the last pages of each block; all other pages are invalid.
fn age_plane(ftl: &mut Ftl, plane: PlaneId, shares: &[PlaneShare], blocks: u32) {
    let Some(Ppn(first_page)) = ftl.blocks.accounts.next_fresh_page(plane).filter(|_| blocks > 0) else { return };
    let (pages_per_block, valid) = (ftl.geometry.pages_per_block, pages_of(shares));
    ftl.blocks.accounts.open_and_fill(plane, ftl.blocks.host_block_kind(plane, None), blocks * pages_per_block);
    let first_block = ftl.geometry.block_of(Ppn(first_page)).0;
    let mut pages = shares.iter().flat_map(PlaneShare::pages);
    // Number of valid pages in the first `number` blocks.
    let before = |number: u32| (u64::from(valid) * u64::from(number) / u64::from(blocks)) as u32;
    for number in 0..blocks {
        let invalid = pages_per_block - (before(number + 1) - before(number));
        let first = ftl.geometry.ppn(BlockId(first_block + number), 0).0;
        for ppn in (first..first + invalid).map(Ppn) {
            ftl.blocks.accounts.invalidate(ppn);
        }
        for (ppn, lpn) in (first + invalid..first + pages_per_block).map(Ppn).zip(pages.by_ref()) {
            ftl.mapping.set(lpn, ppn);
        }
    }
}
