//! Static allocation: the logical page number determines the plane.

use std::ops::Range;

use super::{Allocator, DriveView, PageWrite};
use crate::config::ArrayLevel;
use crate::flash::divisor::Divisor;
use crate::flash::geometry::Geometry;
use crate::ftl::division::partition::{Part, Partition};
use crate::ids::{Lpn, PlaneId, Ppn};

/// All 24 orders of the four array levels (channel, way, die, plane), sorted lexically.
pub const ORDERS: [[ArrayLevel; 4]; 24] = orders();

const fn orders() -> [[ArrayLevel; 4]; 24] {
    const LEVELS: [ArrayLevel; 4] = [ArrayLevel::Channel, ArrayLevel::Way, ArrayLevel::Die, ArrayLevel::Plane];
    let mut orders = [LEVELS; 24];
    let mut found = 0;
    let mut code = 0;
    while code < 256 {
        let digits = [code >> 6, code >> 4 & 3, code >> 2 & 3, code & 3];
        let seen = 1 << digits[0] | 1 << digits[1] | 1 << digits[2] | 1 << digits[3];
        if seen == 0b1111 {
            orders[found] = [LEVELS[digits[0]], LEVELS[digits[1]], LEVELS[digits[2]], LEVELS[digits[3]]];
            found += 1;
        }
        code += 1;
    }
    orders
}

/// Static allocation (Design for Scalability, PACT 2014, section 5.4). Orders are named by the initials of their levels, such as CWDP (Patterned Read
/// Collisions, IEEE Access, section II.C): the first level varies fastest. Under CWDP, consecutive logical pages go to different channels; after one
/// page on each channel, to the next way, and so on.
///
/// A table maps the page number, modulo the number of planes, to the plane. If namespaces are bound to sets of planes, each set has its own table,
/// indexed by the page number in the namespace. Mapping units that share a page of the array count as one page \[choice\].
#[derive(Clone, Debug)]
pub struct StaticOrder {
    parts: Vec<PartOrder>,
}

/// Static order of one part of the [`Partition`]: the logical pages `first..end`, which are placed on the same set of planes.
#[derive(Clone, Debug)]
struct PartOrder {
    first: u32,
    end: u32,
    /// Planes in cyclic order: each takes `run` consecutive pages, then the next plane follows.
    planes: Vec<PlaneId>,
    /// Home (address at which an unmapped page is read) of the first page of the part on each plane, in the order of `planes`.
    first_homes: Vec<Ppn>,
    /// Number of consecutive pages on the same plane: the mapping units in a page of the array.
    run: u32,
    /// Divisor for fast division by the number of logical pages in one cycle over all planes (the number of planes times `run`).
    by_round: Divisor,
    /// `planes` in ascending order.
    members: Vec<PlaneId>,
}

impl PartOrder {
    /// Creates the static order that assigns the logical pages `pages` to `planes`, in cyclic order. On each plane of the drive, the first
    /// `taken[plane]` physical pages are already homes (addresses at which unmapped pages are read) of earlier parts.
    fn new(geometry: &Geometry, pages: Range<u32>, planes: Vec<PlaneId>, taken: &[u32]) -> PartOrder {
        let mut members = planes.clone();
        members.sort_unstable();
        let first_home = |plane: &PlaneId| Ppn(plane.0 * geometry.pages_per_plane() + taken[plane.index()]);
        let first_homes = planes.iter().map(first_home).collect();
        let run = geometry.units_per_page;
        let by_round = Divisor::new(planes.len() as u32 * run);
        PartOrder { first: pages.start, end: pages.end, planes, first_homes, run, by_round, members }
    }

    /// Returns how many earlier pages of the part are on the plane of `lpn`, and the index of this plane in `planes`.
    #[inline]
    fn place(&self, lpn: Lpn) -> (u32, usize) {
        let number = lpn.0 - self.first;
        let round = self.by_round.divide(number);
        let in_round = number - round * (self.planes.len() as u32 * self.run);
        if self.run == 1 {
            return (round, in_round as usize);
        }
        (round * self.run + in_round % self.run, (in_round / self.run) as usize)
    }

    /// Returns how many of the first `number` pages of the part are on the plane with index `place` in `planes`.
    fn before(&self, number: u32, place: u32) -> u32 {
        let round = self.by_round.divide(number);
        let in_round = number - round * (self.planes.len() as u32 * self.run);
        round * self.run + in_round.saturating_sub(place * self.run).min(self.run)
    }
}

/// Pages of a range of logical pages that the static order assigns to one plane: evenly spaced runs of consecutive pages.
#[derive(Clone, Debug)]
pub(in super::super) struct PlaneShare {
    pub(in super::super) plane: PlaneId,
    pub(in super::super) count: u32,
    /// First logical page on this plane in the whole part (range of logical pages with the same set of planes), not only in the range.
    base: u32,
    /// Number of pages of the part on this plane that come before the range.
    before: u32,
    run: u32,
    /// Number of logical pages from the start of one run (consecutive pages on the plane) to the start of the next.
    step: u32,
}

impl PlaneShare {
    /// Returns the logical page with index `number`, from 0, among the pages of this share.
    #[inline]
    pub(in super::super) fn page(&self, number: u32) -> Lpn {
        let number = self.before + number;
        if self.run == 1 {
            return Lpn(self.base + number * self.step);
        }
        Lpn(self.base + number / self.run * self.step + number % self.run)
    }

    /// Returns the index of `lpn`, from 0, among the pages of this share; `None` if `lpn` is not one of them.
    pub(in super::super) fn index_of(&self, lpn: Lpn) -> Option<u32> {
        let offset = lpn.0.checked_sub(self.base)?;
        let (round, in_run) = (offset / self.step, offset % self.step);
        let number = (round * self.run + in_run).checked_sub(self.before)?;
        (in_run < self.run && number < self.count).then_some(number)
    }

    pub(in super::super) fn pages(&self) -> impl Iterator<Item = Lpn> + use<> {
        let share = self.clone();
        (0..share.count).map(move |number| share.page(number))
    }
}

impl StaticOrder {
    /// Creates a static order over all planes of the drive, in which the first level of `order` varies fastest.
    ///
    /// # Panics
    /// If a level is missing from `order`.
    #[cfg(feature = "internals")]
    pub fn new(geometry: &Geometry, order: [ArrayLevel; 4]) -> StaticOrder {
        assert!(ORDERS.contains(&order), "{order:?} does not name each level once");
        let planes = crate::ftl::division::partition::PlaneSet::whole(geometry).in_order(geometry, order);
        let taken = vec![0; planes.len()];
        StaticOrder { parts: vec![PartOrder::new(geometry, 0..u32::MAX, planes, &taken)] }
    }

    /// Creates the static order of a drive whose namespaces `partition` assigns to planes.
    ///
    /// # Panics
    /// If a level is missing from the order of `partition`.
    pub(crate) fn with_partition(geometry: &Geometry, partition: &Partition) -> StaticOrder {
        let order = partition.order();
        assert!(ORDERS.contains(&order), "{order:?} does not name each level once");
        let starts = partition.parts.iter().map(|part| part.pages.start);
        // Extend each part to the start of the next part: pages between two parts belong to no namespace and are never looked up.
        let ends = starts.clone().skip(1).chain([u32::MAX]);
        let mut taken = vec![0; geometry.planes() as usize];
        let table = |((start, end), part): ((u32, u32), &Part)| {
            let planes = partition.sets[part.set].in_order(geometry, order);
            let table = PartOrder::new(geometry, start..end, planes, &taken);
            table.planes.iter().for_each(|plane| taken[plane.index()] += partition.max_even_pages(part));
            table
        };
        StaticOrder { parts: starts.zip(ends).zip(&partition.parts).map(table).collect() }
    }

    /// Returns the index of the part (range of logical pages with the same set of planes) that contains `lpn`. Returns the last index for a
    /// page beyond all parts.
    #[inline]
    pub(in super::super) fn part_of(&self, lpn: Lpn) -> usize {
        if self.parts.len() == 1 {
            return 0;
        }
        self.parts.partition_point(|part| part.end <= lpn.0).min(self.parts.len() - 1)
    }

    /// Returns the planes of the part with index `part` in ascending order.
    #[inline]
    pub(in super::super) fn members(&self, part: usize) -> &[PlaneId] {
        &self.parts[part].members
    }

    /// Returns the plane to which the static order assigns `lpn`.
    #[inline]
    pub fn plane_of(&self, lpn: Lpn) -> PlaneId {
        let part = &self.parts[self.part_of(lpn)];
        let (_, at) = part.place(lpn);
        part.planes[at]
    }

    /// Returns the home of `lpn`: the address at which the page is read while it is unmapped. Each page has a home of its own. On each plane, the
    /// homes are sorted by page number.
    #[inline(always)]
    pub fn default_location_of(&self, lpn: Lpn) -> Ppn {
        let part = &self.parts[self.part_of(lpn)];
        let (round, at) = part.place(lpn);
        Ppn(part.first_homes[at].0 + round)
    }

    /// Divides the logical pages `pages`, which must all be in one part of the [`Partition`], among the planes of the part. Returns one share per
    /// plane, which may be empty, in static order.
    pub(in super::super) fn shares(&self, pages: &Range<u32>) -> Vec<PlaneShare> {
        let part = &self.parts[self.part_of(Lpn(pages.start))];
        let (run, step) = (part.run, part.planes.len() as u32 * part.run);
        let share = |(place, &plane): (usize, &PlaneId)| {
            let place = place as u32;
            let before = part.before(pages.start - part.first, place);
            let count = part.before(pages.end.max(pages.start) - part.first, place) - before;
            PlaneShare { plane, count, base: part.first + place * run, before, run, step }
        };
        part.planes.iter().enumerate().map(share).collect()
    }
}

impl Allocator for StaticOrder {
    #[inline]
    fn place(&mut self, write: &PageWrite, _: &DriveView<'_>) -> PlaneId {
        self.plane_of(write.lpn)
    }

    #[inline]
    fn on_committed(&mut self, _: Lpn, _: PlaneId) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use crate::units::Bytes;

    fn geometry() -> Geometry {
        Geometry::new(&config::Geometry {
            channels: 3,
            chips_per_channel: 4,
            dies_per_chip: 2,
            planes_per_die: 5,
            blocks_per_plane: 8,
            pages_per_block: 4,
            capacity: Some(Bytes::from_kib(4) * 1001),
            ..config::Geometry::default()
        })
        .unwrap()
    }

    #[test]
    fn the_24_orders_differ() {
        let distinct: std::collections::BTreeSet<_> = ORDERS.iter().collect();
        assert_eq!(distinct.len(), 24);
    }

    #[test]
    fn every_order_is_a_bijection_that_spreads_logical_pages_evenly() {
        let geometry = geometry();
        for order in ORDERS {
            let order = StaticOrder::new(&geometry, order);
            let mut pages = vec![0u32; geometry.planes() as usize];
            let mut seen = std::collections::HashSet::new();
            for lpn in 0..geometry.logical_pages {
                let plane = order.plane_of(Lpn(lpn));
                pages[plane.index()] += 1;
                assert!(seen.insert((plane, lpn / geometry.planes())), "two pages share a location");
            }
            assert!(pages.iter().max().unwrap() - pages.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn the_first_level_varies_fastest() {
        let geometry = geometry();
        for order in ORDERS {
            let table = StaticOrder::new(&geometry, order);
            let unit = |lpn: u32, level| {
                let plane = table.plane_of(Lpn(lpn));
                let die = geometry.die_of_plane(plane);
                let chip = geometry.chip_of(die);
                match level {
                    ArrayLevel::Channel => (geometry.channel_of(chip).0, 3),
                    ArrayLevel::Way => (chip.0 % 4, 4),
                    ArrayLevel::Die => (die.0 % 2, 2),
                    ArrayLevel::Plane => (geometry.plane_in_die(plane), 5),
                }
            };
            for lpn in 0..240 {
                let mut rest = lpn;
                for level in order {
                    let (position, size) = unit(lpn, level);
                    assert_eq!(position, rest % size, "{order:?} {lpn}");
                    rest /= size;
                }
            }
        }
    }
}
