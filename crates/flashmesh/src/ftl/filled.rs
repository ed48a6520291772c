//! Where the pages of a large drive are that preconditioning filled, for those that have not changed since: computed, not stored.
//!
//! Pages written in their order lie behind each other. The random steady state is that of simulated planes, copied to all planes with other names for
//! their pages ([`Ftl::precondition`](super::Ftl::precondition)): two tables of a sample and the names of each copy say what tables of the whole drive
//! would. So a full drive of terabytes is ready as soon as its sample is, and its map takes no memory. What is written later is in the tables of the map,
//! over this.

use std::ops::Range;
use std::sync::Arc;

use super::allocation::{Share, StaticOrder};
use super::precondition::Renaming;
use crate::flash::divisor::Divisor;
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, PlaneId, Ppn};

/// The group of a plane that holds no copy.
const NO_GROUP: u32 = u32::MAX;

/// All pages that preconditioning has filled.
#[derive(Clone, Debug)]
pub(super) struct Filled {
    order: StaticOrder,
    /// The logical pages, of all groups.
    ranges: Vec<Range<u32>>,
    block_pages: u32,
    by_block: Divisor,
    by_plane: Divisor,
    groups: Vec<Group>,
    /// By plane.
    group_of: Vec<u32>,
}

/// How a sample differs from the planes that it is copied to.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleShape {
    /// Logical pages, from 0.
    pub pages: u32,
    /// How many times as many pages as its blocks those of the drive have.
    pub times: u32,
    pub pages_per_block: u32,
}

/// A sample at one instant.
#[derive(Clone, Debug)]
pub(super) struct SampleState {
    /// By page of the sample: its place behind the first page of a group, in the first copy.
    pub places: Vec<u32>,
    /// By physical page of the sample: the page that it holds, where it is valid.
    pub pages: Vec<u32>,
}

/// Planes that were filled together.
#[derive(Clone, Debug)]
struct Group {
    first_page: Ppn,
    /// The logical pages, each share with the number of those before it.
    shares: Vec<(u32, Share)>,
    layout: Layout,
}

/// How the pages of a group lie behind its first one.
#[derive(Clone, Debug)]
enum Layout {
    InOrder,
    Sample(Sample),
}

/// Copies of a sample.
#[derive(Clone, Debug)]
struct Sample {
    shape: SampleShape,
    by_pages: Divisor,
    state: Arc<SampleState>,
    /// One for each copy.
    names: Vec<Renaming>,
}

impl Filled {
    /// Nothing is filled yet; what is to be are the logical pages `ranges`.
    pub fn none(geometry: &Geometry, order: &StaticOrder, ranges: &[Range<u32>]) -> Filled {
        Filled {
            order: order.clone(),
            ranges: ranges.to_vec(),
            block_pages: geometry.pages_per_block,
            by_block: Divisor::new(geometry.pages_per_block),
            by_plane: Divisor::new(geometry.pages_per_plane()),
            groups: Vec::new(),
            group_of: vec![NO_GROUP; geometry.planes() as usize],
        }
    }

    /// The logical pages `shares` lie in their order from `first_page` on.
    pub fn add_in_order(&mut self, first_page: Ppn, shares: Vec<Share>) {
        self.add(first_page, shares, Layout::InOrder);
    }

    /// A sample is copied behind `first_page`, to planes that hold the logical pages `shares`, as often as there are `names`. Gives the places of
    /// pages of the sample that no logical page is left for.
    pub fn add_copies(
        &mut self,
        (shape, state): (SampleShape, Arc<SampleState>),
        first_page: Ppn,
        shares: Vec<Share>,
        names: Vec<Renaming>,
    ) -> Vec<Ppn> {
        let all = shape.pages * names.len() as u32;
        let layout = Layout::Sample(Sample { shape, by_pages: Divisor::new(shape.pages), state, names });
        let (group, count) = self.add(first_page, shares, layout);
        (count..all).filter_map(|index| group.place_at(index)).collect()
    }

    /// Gives the group that is added, and how many logical pages it has.
    fn add(&mut self, first_page: Ppn, shares: Vec<Share>, layout: Layout) -> (&Group, u32) {
        let (number, mut count, mut numbered) = (self.groups.len(), 0, Vec::with_capacity(shares.len()));
        for share in shares {
            self.group_of[share.plane.index()] = number as u32;
            numbered.push((count, share));
            count += numbered[numbered.len() - 1].1.count;
        }
        self.groups.push(Group { first_page, shares: numbered, layout });
        (&self.groups[number], count)
    }

    /// All pages, each with its place.
    pub fn all(&self) -> impl Iterator<Item = (Lpn, Ppn)> {
        self.groups.iter().flat_map(|group| {
            let own = group.shares.iter().flat_map(|(_, share)| share.pages());
            own.zip(group.places())
        })
    }

    /// Whether `lpn` was filled: no access to a table, for whoever asks for all.
    pub fn covers(&self, lpn: Lpn) -> bool {
        self.ranges.iter().any(|range| range.contains(&lpn.0))
    }

    /// Where `lpn` is.
    #[inline(never)]
    pub fn place_of(&self, lpn: Lpn) -> Option<Ppn> {
        if !self.covers(lpn) {
            return None;
        }
        let plane = self.order.plane_of(lpn);
        let group = self.groups.get(self.group_of[plane.index()] as usize)?;
        let mut of_plane = group.shares.iter().filter(|(_, share)| share.plane == plane);
        group.place_at(of_plane.find_map(|(before, share)| Some(before + share.number_of(lpn)?))?)
    }

    /// The logical page at `ppn`; of no meaning where none is.
    pub fn page_at(&self, ppn: Ppn) -> Option<Lpn> {
        let plane = PlaneId(self.by_plane.divide(ppn.0));
        let group = self.groups.get(self.group_of[plane.index()] as usize)?;
        let offset = ppn.0 - group.first_page.0;
        let block = self.by_block.divide(offset);
        group.page_at(block, offset - block * self.block_pages, self.block_pages)
    }
}

impl Group {
    /// The place of the logical page at `index` among those of the group.
    fn place_at(&self, index: u32) -> Option<Ppn> {
        let behind = match &self.layout {
            Layout::InOrder => index,
            Layout::Sample(sample) => sample.place_at(index)?,
        };
        Some(Ppn(self.first_page.0 + behind))
    }

    /// The places of the logical pages in their order.
    fn places(&self) -> Box<dyn Iterator<Item = Ppn> + '_> {
        let first_page = self.first_page.0;
        match &self.layout {
            Layout::InOrder => Box::new((first_page..).map(Ppn)),
            Layout::Sample(Sample { state, names, .. }) => Box::new((0..).zip(names).flat_map(move |(copy, names)| {
                let first = first_page + copy * u64::BITS;
                names.images().map(move |simulated| Ppn(first + state.places[simulated as usize]))
            })),
        }
    }

    /// The logical page at `page` of a block, both counted from the first of the group; a block has `block_pages`.
    fn page_at(&self, block: u32, page: u32, block_pages: u32) -> Option<Lpn> {
        let index = match &self.layout {
            Layout::InOrder => block * block_pages + page,
            Layout::Sample(sample) => sample.index_at(block, page)?,
        };
        let after = self.shares.partition_point(|(before, _)| *before <= index);
        let (before, share) = self.shares.get(after.checked_sub(1)?)?;
        Some(share.page(index - before))
    }
}

impl Sample {
    /// Where the page at `index` lies behind the first.
    fn place_at(&self, index: u32) -> Option<u32> {
        let copy = self.by_pages.divide(index);
        let simulated = self.names.get(copy as usize)?.image(index - copy * self.shape.pages);
        Some(copy * u64::BITS + self.state.places.get(simulated as usize)?)
    }

    /// The index of what lies at `page` of a block.
    fn index_at(&self, block: u32, page: u32) -> Option<u32> {
        let (copy, page) = self.shape.page_of(page);
        let simulated = *self.state.pages.get((block * self.shape.pages_per_block + page) as usize)?;
        Some(copy * self.shape.pages + self.names.get(copy as usize)?.original(simulated))
    }
}

impl SampleShape {
    /// Of a page in a block of the drive: which copy it is of, and the page in the block of the sample. Where there are several copies, 64 pages each come
    /// as often in a row.
    fn page_of(self, page: u32) -> (u32, u32) {
        if self.times == 1 {
            return (0, page);
        }
        let word = page / u64::BITS;
        (word % self.times, word / self.times * u64::BITS + page % u64::BITS)
    }
}

#[cfg(test)]
mod tests;
