//! Computed map of a preconditioned drive, for pages not written or moved since the preconditioning.
//!
//! Sequential data is stored in order. The random steady state consists of copies of a simulated sample (a few planes), each with permuted logical
//! pages ([`Ftl::precondition`](crate::ftl::Ftl::precondition)). Two tables of the sample and a permutation for each copy replace the tables of the
//! whole drive. So a drive of terabytes is ready as soon as its sample is. The tables of [`Mapping`](super::mapping::Mapping) hold everything written
//! later.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::mapping::PREFETCHED;
use crate::engine::prefetch::prefetch;
use crate::flash::divisor::Divisor;
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::{PlaneShare, StaticOrder};
use crate::ftl::interleaving::Interleaving;
use crate::ftl::precondition::{Permutation, Scatter};
use crate::ids::{Lpn, PlaneId, Ppn};

/// Entry of `group_of` for a plane that preconditioning has not filled.
const NO_GROUP: u32 = u32::MAX;

/// Computed map of all planes that preconditioning has filled.
#[derive(Clone, Debug)]
pub(in super::super) struct InitialMap {
    order: StaticOrder,
    /// Logical pages that are mapped, as ranges of page numbers.
    ranges: Vec<Range<u32>>,
    pages_per_plane: Divisor,
    groups: Vec<PlaneGroup>,
    /// Index in `groups` of each plane of the drive; [`NO_GROUP`] for a plane that preconditioning has not filled.
    group_of: Vec<u32>,
    /// Random permutation of the logical pages, applied before the lookup in `groups`; `None` if pages are not permuted.
    scatter: Option<Scatter>,
}

/// State of a sample (simulated planes) at one moment: the locations of its logical pages. Planes of the drive are filled with copies of it. With
/// several copies, each block of the drive interleaves one block of every copy.
#[derive(Clone, Debug)]
pub(in super::super) struct PlaneImage {
    /// For each logical page of the sample, its location in the first copy, as an offset in pages from the first page of a [`PlaneGroup`].
    offsets: Vec<u32>,
    by_pages: Divisor,
    /// Logical page of each valid physical page of the sample; 0 for invalid pages. Computed at the first lookup of a physical page.
    logical: OnceLock<Vec<u32>>,
    /// Number of physical pages of the sample.
    physical_pages: u32,
    interleaving: Interleaving,
    /// Number of pages in a block of the sample.
    pages_per_block: u32,
    /// Divisor for fast division by the number of pages in a block of the drive.
    by_block: Divisor,
}

/// Planes that were filled together, in order or from copies of one sample.
#[derive(Clone, Debug)]
pub(in super::super) struct PlaneGroup {
    first_page: Ppn,
    /// Logical pages of the group, one share per plane and range, each after the total number of logical pages in the shares before it.
    shares: Vec<(u32, PlaneShare)>,
    content: GroupContent,
}

#[derive(Clone, Debug)]
enum GroupContent {
    InOrder,
    /// Copies of a sample, each with a permutation of its logical pages.
    Copies(Arc<PlaneImage>, Vec<Permutation>),
}

impl InitialMap {
    /// Creates a map in which no plane is filled yet. `ranges` are the logical pages that the groups added later will map.
    pub fn empty(geometry: &Geometry, order: &StaticOrder, ranges: &[Range<u32>]) -> InitialMap {
        InitialMap {
            order: order.clone(),
            ranges: ranges.to_vec(),
            pages_per_plane: Divisor::new(geometry.pages_per_plane()),
            groups: Vec::new(),
            group_of: vec![NO_GROUP; geometry.planes() as usize],
            scatter: None,
        }
    }

    /// Adds a group of filled planes. Each plane may be in one group only.
    pub fn add(&mut self, group: PlaneGroup) {
        for (_, share) in &group.shares {
            self.group_of[share.plane.index()] = self.groups.len() as u32;
        }
        self.groups.push(group);
    }

    pub fn set_scatter(&mut self, scatter: Scatter) {
        self.scatter = Some(scatter);
    }

    /// Passes all (logical, physical) page pairs to `take`, in batches of at most [`PREFETCHED`] pairs.
    pub fn in_batches(&self, mut take: impl FnMut(&mut Vec<(Lpn, Ppn)>)) {
        self.groups.iter().for_each(|group| group.in_batches(self.scatter.as_ref(), &mut take));
    }

    /// Returns whether `lpn` is in the mapped ranges, without computing its location.
    pub fn contains(&self, lpn: Lpn) -> bool {
        self.ranges.iter().any(|range| range.contains(&lpn.0))
    }

    /// Returns the physical page of `lpn`; `None` if `lpn` is outside the mapped ranges.
    #[inline(never)]
    pub fn get(&self, lpn: Lpn) -> Option<Ppn> {
        if !self.contains(lpn) {
            return None;
        }
        let slot = self.scatter.as_ref().map_or(lpn, |scatter| scatter.slot_of(lpn));
        let plane = self.order.plane_of(slot);
        self.group(plane)?.get(slot, plane)
    }

    /// Returns the logical page stored at `ppn`, which must be valid. Returns `None` if preconditioning stored no page there.
    pub fn lpn_at(&self, ppn: Ppn) -> Option<Lpn> {
        let slot = self.group(PlaneId(self.pages_per_plane.divide(ppn.0)))?.lpn_at(ppn)?;
        Some(self.scatter.as_ref().map_or(slot, |scatter| scatter.page_at(slot)))
    }

    fn group(&self, plane: PlaneId) -> Option<&PlaneGroup> {
        self.groups.get(self.group_of[plane.index()] as usize)
    }
}

impl PlaneGroup {
    /// Creates a group whose logical pages, those of each of `shares` in turn, are stored in order from `first_page` on.
    pub fn in_order(first_page: Ppn, shares: impl IntoIterator<Item = PlaneShare>) -> PlaneGroup {
        PlaneGroup::new(first_page, shares, GroupContent::InOrder)
    }

    /// Creates a group whose logical pages are stored in copies of the sample `state` from `first_page` on, one copy for each of `permutations`.
    pub fn copies(
        state: Arc<PlaneImage>,
        first_page: Ppn,
        shares: impl IntoIterator<Item = PlaneShare>,
        permutations: Vec<Permutation>,
    ) -> PlaneGroup {
        PlaneGroup::new(first_page, shares, GroupContent::Copies(state, permutations))
    }

    fn new(first_page: Ppn, shares: impl IntoIterator<Item = PlaneShare>, content: GroupContent) -> PlaneGroup {
        let mut pages = 0;
        let numbered = shares.into_iter().map(|share| {
            pages += share.count;
            (pages - share.count, share)
        });
        PlaneGroup { first_page, shares: numbered.collect(), content }
    }

    /// Passes all (logical, physical) page pairs of the group to `take`, in batches of at most [`PREFETCHED`] pairs. If `scatter` is given, applies
    /// its permutation to the logical pages.
    pub fn in_batches(&self, scatter: Option<&Scatter>, mut take: impl FnMut(&mut Vec<(Lpn, Ppn)>)) {
        let (mut offsets, mut batch) = ([0; PREFETCHED], Vec::with_capacity(PREFETCHED));
        for (before, share) in &self.shares {
            let mut number = 0;
            while number < share.count {
                let wanted = PREFETCHED.min((share.count - number) as usize);
                let offsets = self.content.offsets(before + number, &mut offsets[..wanted]);
                batch.clear();
                batch.extend(
                    offsets
                        .iter()
                        .zip(number..)
                        .map(|(offset, number)| (share.page(number), Ppn(self.first_page.0 + offset))),
                );
                if let Some(scatter) = scatter {
                    batch.iter_mut().for_each(|(lpn, _)| *lpn = scatter.page_at(*lpn));
                }
                number += offsets.len() as u32;
                take(&mut batch);
            }
        }
    }

    /// Returns the physical pages that are valid in the copies but store no logical page of the group, because the last copy is not used up. Empty if
    /// the pages are stored in order.
    pub fn unused(&self) -> impl Iterator<Item = Ppn> {
        let used = self.shares.last().map_or(0, |(before, share)| before + share.count);
        let copied = match &self.content {
            GroupContent::InOrder => 0,
            GroupContent::Copies(state, permutations) => state.pages() * permutations.len() as u32,
        };
        (used..copied).map(|index| self.ppn_of(index))
    }

    /// Returns the physical page of `lpn`, whose plane in the static order is `plane`; `None` if `lpn` is not in the group.
    fn get(&self, lpn: Lpn, plane: PlaneId) -> Option<Ppn> {
        let mut of_plane = self.shares.iter().filter(|(_, share)| share.plane == plane);
        of_plane.find_map(|(before, share)| Some(self.ppn_of(before + share.index_of(lpn)?)))
    }

    /// Returns the physical page of the logical page at `index`, counted from 0 over all logical pages of the group.
    fn ppn_of(&self, index: u32) -> Ppn {
        let offset = match &self.content {
            GroupContent::InOrder => index,
            GroupContent::Copies(state, permutations) => state.offset_of(index, permutations),
        };
        Ppn(self.first_page.0 + offset)
    }

    fn lpn_at(&self, ppn: Ppn) -> Option<Lpn> {
        let offset = ppn.0 - self.first_page.0;
        let index = match &self.content {
            GroupContent::InOrder => offset,
            GroupContent::Copies(state, permutations) => state.index_at(offset, permutations)?,
        };
        let after = self.shares.partition_point(|(before, _)| *before <= index);
        let (before, share) = self.shares.get(after.checked_sub(1)?)?;
        Some(share.page(index - before))
    }
}

impl GroupContent {
    /// Computes, for the logical pages from `index` on, the offsets from the first page of the group. Stops at the end of `offsets` or of
    /// the copy. Returns the computed part of `offsets`.
    fn offsets<'a>(&self, index: u32, offsets: &'a mut [u32]) -> &'a [u32] {
        match self {
            GroupContent::InOrder => {
                offsets.iter_mut().zip(index..).for_each(|(offset, index)| *offset = index);
                offsets
            }
            GroupContent::Copies(state, permutations) => {
                let copy = state.by_pages.divide(index);
                let page = index - copy * state.pages();
                let pages = offsets.len().min((state.pages() - page) as usize);
                let offsets = &mut offsets[..pages];
                let distance = state.interleaving.distance(copy);
                permutations[copy as usize].images(page, offsets);
                offsets.iter().for_each(|&page| prefetch(&state.offsets, page as usize));
                offsets.iter_mut().for_each(|page| *page = distance + state.offsets[*page as usize]);
                offsets
            }
        }
    }
}

impl PlaneImage {
    /// Creates the image (locations of the logical pages) of a sample. `offsets` lists the location of each logical page in the first copy,
    /// as an offset from the first page of a group. `pages_per_block` is the number of pages in a block of the sample.
    pub fn new(offsets: Vec<u32>, physical_pages: u32, interleaving: Interleaving, pages_per_block: u32) -> PlaneImage {
        let by_pages = Divisor::new(offsets.len() as u32);
        PlaneImage {
            offsets,
            by_pages,
            logical: OnceLock::new(),
            physical_pages,
            interleaving,
            pages_per_block,
            by_block: Divisor::new(interleaving.copies() * pages_per_block),
        }
    }

    /// Returns the number of logical pages of the sample.
    fn pages(&self) -> u32 {
        self.offsets.len() as u32
    }

    /// Returns the offset of a logical page from the first page of a group. `index` counts the logical pages of all copies, copy after copy.
    fn offset_of(&self, index: u32, permutations: &[Permutation]) -> u32 {
        let copy = self.by_pages.divide(index);
        let page = permutations[copy as usize].image(index - copy * self.pages());
        self.interleaving.distance(copy) + self.offsets[page as usize]
    }

    /// Returns the index of the logical page stored at `offset`: the inverse of `offset_of`. Returns `None` if `offset` is beyond the sample.
    fn index_at(&self, offset: u32, permutations: &[Permutation]) -> Option<u32> {
        let (copy, page) = self.physical(offset);
        let logical = *self.logical.get_or_init(|| self.inverted()).get(page as usize)?;
        Some(copy * self.pages() + permutations[copy as usize].preimage(logical))
    }

    /// Returns the index of the copy that contains the page at `offset`, and the physical page of the sample from which this page was copied.
    fn physical(&self, offset: u32) -> (u32, u32) {
        let copies = self.interleaving.copies();
        if copies == 1 {
            return (0, offset);
        }
        let block = self.by_block.divide(offset);
        let (copy, page) = self.interleaving.source_of(offset - block * copies * self.pages_per_block);
        (copy, block * self.pages_per_block + page)
    }

    fn inverted(&self) -> Vec<u32> {
        let mut logical = vec![0; self.physical_pages as usize];
        for (page, &offset) in (0..).zip(&self.offsets) {
            logical[self.physical(offset).1 as usize] = page;
        }
        logical
    }
}

#[cfg(test)]
mod tests;
