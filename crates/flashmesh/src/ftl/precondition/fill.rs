//! Sequential layout of logical pages in the blocks of each plane: in order, without invalid pages between them.

use std::ops::Range;

use super::{ProgressCallback, map_group};
use crate::ftl::allocation::PlaneShare;
use crate::ftl::map::initial_map::{InitialMap, PlaneGroup};
use crate::ftl::{Ftl, OpenBlockKind};
use crate::ids::{PlaneId, Ppn};

/// Returns the planes to which the static order assigns pages of `ranges`, each with its share of every range. Planes are in the order in which the
/// static order first reaches them. Each range must lie in one part of the partition (pages with the same set of planes).
pub(super) fn shares_by_plane(ftl: &Ftl, ranges: &[Range<u32>]) -> Vec<(PlaneId, Vec<PlaneShare>)> {
    let mut places = vec![None; ftl.geometry.planes() as usize];
    let mut by_plane: Vec<(PlaneId, Vec<PlaneShare>)> = Vec::new();
    for share in ranges.iter().flat_map(|range| ftl.allocation.static_order().shares(range)) {
        let at = *places[share.plane.index()].get_or_insert(by_plane.len());
        if at == by_plane.len() {
            by_plane.push((share.plane, Vec::new()));
        }
        by_plane[at].1.push(share);
    }
    by_plane
}

pub(super) fn pages_of(shares: &[PlaneShare]) -> u32 {
    shares.iter().map(|share| share.count).sum()
}

/// Stores all translation pages on a fresh drive, in sequential order, in the first blocks of their planes. Does nothing if the map is not
/// stored on flash.
pub(in super::super) fn lay_out_translation(ftl: &mut Ftl) {
    let Some(translation) = ftl.translation else { return };
    for (plane, shares) in shares_by_plane(ftl, &ftl.partition.split_at_parts(translation.all())) {
        let Some(Ppn(first_page)) = ftl.blocks.accounts.next_fresh_page(plane) else { continue };
        ftl.blocks.accounts.open_and_fill(plane, OpenBlockKind::Translation, pages_of(&shares));
        for (local, lpn) in shares.iter().flat_map(PlaneShare::pages).enumerate() {
            ftl.mapping.set(lpn, Ppn(first_page + local as u32));
        }
    }
    ftl.blocks.level_twins(OpenBlockKind::Translation);
}

/// Stores the pages of `ranges` in sequential order on their planes of the static order, and maps them in `initial`, or in the mapping tables if
/// `initial` is `None`. `watch` receives the progress.
pub(super) fn fill_in_order(
    ftl: &mut Ftl,
    ranges: &[Range<u32>],
    mut initial: Option<&mut InitialMap>,
    watch: ProgressCallback<'_>,
) {
    let by_plane = shares_by_plane(ftl, ranges);
    let planes = by_plane.len() as f64;
    for (done, (plane, shares)) in by_plane.into_iter().enumerate() {
        watch(done as f64 / planes);
        let first_page = ftl.blocks.accounts.next_fresh_page(plane).unwrap_or(Ppn(0));
        ftl.blocks.accounts.open_and_fill(plane, ftl.blocks.host_block_kind(plane, None), pages_of(&shares));
        map_group(ftl, PlaneGroup::in_order(first_page, shares), initial.as_deref_mut(), None);
    }
    ftl.blocks.level_twins(OpenBlockKind::SHARED);
}
