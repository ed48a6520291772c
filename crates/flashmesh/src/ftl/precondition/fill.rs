//! Pages laid out in their order, none invalid.

use std::ops::Range;

use super::Watch;
use crate::ftl::allocation::Share;
use crate::ftl::filled::Filled;
use crate::ftl::{Ftl, Stream};
use crate::ids::{PlaneId, Ppn};

/// Pages of a plane that are copied at a time, few enough for the entries they touch to stay in the cache.
const TILE_PAGES: u32 = 64;

/// Which of the pages of `ranges`, each of one part, static allocation gives each plane; planes in the order in which it first
/// comes to them.
pub(super) fn shares_by_plane(ftl: &Ftl, ranges: &[Range<u32>]) -> Vec<(PlaneId, Vec<Share>)> {
    let mut places = vec![None; ftl.geometry.planes() as usize];
    let mut by_plane: Vec<(PlaneId, Vec<Share>)> = Vec::new();
    for share in ranges.iter().flat_map(|range| ftl.allocation.static_order().shares(range)) {
        let at = *places[share.plane.index()].get_or_insert(by_plane.len());
        if at == by_plane.len() {
            by_plane.push((share.plane, Vec::new()));
        }
        by_plane[at].1.push(share);
    }
    by_plane
}

pub(super) fn pages_of(shares: &[Share]) -> u32 {
    shares.iter().map(|share| share.count).sum()
}

/// Lays all translation pages out on a drive that was never used.
pub(in super::super) fn lay_out_translation(ftl: &mut Ftl) {
    let Some(translation) = ftl.translation else { return };
    for (plane, shares) in shares_by_plane(ftl, &ftl.partition.within(translation.all())) {
        let Some(Ppn(first_page)) = ftl.blocks.next_fresh_page(plane) else { continue };
        ftl.blocks.open_and_fill(plane, Stream::Translation, pages_of(&shares));
        for (local, lpn) in shares.iter().flat_map(Share::pages).enumerate() {
            ftl.mapping.set(lpn, Ppn(first_page + local as u32));
        }
    }
    ftl.blocks.level_twins(Stream::Translation);
}

/// Fills the planes with the pages of `ranges`. Where they are goes into `filled` where there is one, else into the tables of the map.
pub(super) fn in_order(ftl: &mut Ftl, ranges: &[Range<u32>], mut filled: Option<Filled>, watch: Watch<'_>) {
    let all = ranges.iter().map(|range| f64::from(range.end - range.start)).sum::<f64>().max(1.0);
    let mut mapped = 0.0;
    watch(0.0);
    let mut next_page = vec![0; ftl.geometry.planes() as usize];
    for (plane, shares) in shares_by_plane(ftl, ranges) {
        next_page[plane.index()] = ftl.blocks.next_fresh_page(plane).map_or(0, |Ppn(first)| first);
        ftl.blocks.open_and_fill(plane, ftl.host_stream(plane, None), pages_of(&shares));
        if let Some(filled) = &mut filled {
            filled.add_in_order(Ppn(next_page[plane.index()]), shares);
        }
    }
    ftl.blocks.level_twins(Stream::SHARED);
    if let Some(filled) = filled {
        return ftl.mapping.begin_with(filled);
    }
    for range in ranges {
        let shares = ftl.allocation.static_order().shares(range);
        let most = shares.iter().map(|share| share.count).max().unwrap_or(0);
        // Tiles of all planes in turn: the map is written in its order, each plane in its own.
        for tile in (0..most).step_by(TILE_PAGES as usize) {
            watch(mapped / all + f64::from(range.end - range.start) / all * f64::from(tile) / f64::from(most));
            for share in &shares {
                let first_page = next_page[share.plane.index()];
                for number in tile..share.count.min(tile + TILE_PAGES) {
                    ftl.mapping.set(share.page(number), Ppn(first_page + number));
                }
            }
        }
        mapped += f64::from(range.end - range.start);
        for share in shares {
            next_page[share.plane.index()] += share.count;
        }
    }
}
