//! The steady state of uniform random writes, copied from simulated planes.

use std::ops::Range;
use std::sync::Arc;

use super::fill::{pages_of, shares_by_plane};
use super::renaming::Renaming;
use super::sample::{Places, Sample, SampleInputs, WINDOWS_MIN, pages_of_sample};
use super::{Keeping, PreconditionReport, Watch};
use crate::engine::prefetch::prefetch;
use crate::engine::random::SimRng;
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::Share;
use crate::ftl::filled::{Filled, SampleState};
use crate::ftl::{Ftl, Superblocks};
use crate::ids::{Lpn, PlaneId, Ppn};

/// Of a state: a page by its place, and its place by the page.
const BYTES_PER_PAGE: u64 = 8;

/// Different instants at which the simulated plane is copied.
const INSTANTS_MAX: u32 = 256;

/// What the states of samples take, where places are computed from them.
pub(super) fn bytes_of_states(geometry: &Geometry, superblock_dies: Option<u32>) -> u64 {
    let of_set = superblock_dies.map_or(1, |dies| Superblocks::new(geometry, dies).planes());
    let together = superblock_dies.map_or(1, |_| geometry.planes_per_die);
    let states = (geometry.planes() / of_set).min(INSTANTS_MAX);
    // Those of the sample that is simulated as well.
    u64::from(states + 1) * u64::from(pages_of_sample(geometry, together)) * BYTES_PER_PAGE
}

/// Planes that hold pages of the same ranges, as many each but for the rounding.
struct Kind {
    /// By range, whether they do.
    holds: Vec<bool>,
    planes: Vec<FilledPlane>,
    /// The most pages of the host on one of them.
    pages: u32,
    /// The most translation pages on one of them.
    translation_pages: u32,
}

/// A plane and the logical pages it is given.
struct FilledPlane {
    plane: PlaneId,
    shares: Vec<Share>,
    translation: Vec<Share>,
}

/// A drive that is being filled.
pub(super) struct Filling<'a> {
    pub(super) ftl: &'a mut Ftl,
    /// Where pages are, when that is computed; else it goes into the tables of the map.
    pub(super) filled: Option<Filled>,
    pub(super) report: &'a mut PreconditionReport,
    pub(super) watch: Watch<'a>,
}

impl Filling<'_> {
    pub(super) fn fill(mut self, ranges: &[Range<u32>], seed: u64, keeping: Option<Keeping<'_>>) {
        let mut random = SimRng::new(seed);
        let mut kinds = kinds(self.ftl, ranges);
        // A small part of a small namespace may be less than a page: there is nothing to write.
        kinds.retain(|kind| kind.pages > 0);
        if kinds.is_empty() {
            return;
        }
        let planes: usize = kinds.iter().map(|kind| kind.planes.len()).sum();
        self.report.settled = true;
        self.report.write_amplification = 0.0;
        // In planes copied: a sample is worth about as many as the windows it is simulated for.
        let all = (planes + kinds.len() * WINDOWS_MIN as usize) as f64;
        let mut done = 0.0;
        (self.watch)(0.0);
        // The planes of a die that use the same blocks are simulated together, and all dies of a superblock are alike: they use the same blocks.
        let superblocks = self.ftl.superblocks();
        let has_twins = self.ftl.has_twins();
        let (together, of_set) =
            if has_twins { (self.ftl.geometry.planes_per_die, superblocks.planes()) } else { (1, 1) };
        for Kind { planes: of_kind, pages, translation_pages, .. } in &mut kinds {
            if of_set > 1 {
                of_kind.sort_by_key(|filled| (superblocks.index_of(filled.plane), filled.plane));
            }
            let sets: Vec<&[FilledPlane]> = of_kind.chunks(of_set as usize).collect();
            let instants = (sets.len() as u32).min(INSTANTS_MAX);
            let inputs =
                SampleInputs::new(self.ftl, together, [*pages, *translation_pages], random.next_u64(), instants);
            let mut sample = Sample::new(inputs, keeping);
            let settled = sample.settle(&|share| (self.watch)((done + share * f64::from(WINDOWS_MIN)) / all));
            done += f64::from(WINDOWS_MIN);
            self.report.windows = self.report.windows.max(settled.windows);
            self.report.settled &= settled.settled;
            self.report.write_amplification += settled.write_amplification * of_kind.len() as f64 / planes as f64;
            for instant in 0..instants {
                sample.go_on();
                let places = sample.places(&self.ftl.geometry);
                let state = self.filled.is_some().then(|| sample.state(&places)).map(Arc::new);
                let sets = sets.iter().skip(instant as usize).step_by(instants as usize);
                for group in sets.flat_map(|set| set.chunks(together as usize)) {
                    self.copy_planes(group, &sample, &places, state.as_ref(), &mut random);
                    done += group.len() as f64;
                    (self.watch)(done / all);
                }
            }
        }
        if let Some(filled) = self.filled {
            self.ftl.mapping.begin_with(filled);
        }
    }

    /// Copies the simulated planes, one or those of a die, to others, with the logical pages of these.
    fn copy_planes(
        &mut self,
        group: &[FilledPlane],
        sample: &Sample,
        places: &Places,
        state: Option<&Arc<SampleState>>,
        random: &mut SimRng,
    ) {
        let Filling { ftl, filled, .. } = self;
        let planes: Vec<PlaneId> = group.iter().map(|filled| filled.plane).collect();
        let first_page = ftl.blocks.copy_planes(&planes, &sample.ftl.blocks, sample.times());
        let shares = group.iter().flat_map(|plane| &plane.shares);
        let names: Vec<Renaming> = (0..sample.times()).map(|_| Renaming::new(sample.pages(), random)).collect();
        if let (Some(filled), Some(state)) = (filled, state) {
            let sample = (sample.shape(), Arc::clone(state));
            for ppn in filled.add_copies(sample, first_page, shares.cloned().collect(), names) {
                ftl.blocks.invalidate(ppn);
            }
        } else {
            let mut own = shares.flat_map(Share::pages);
            for (copy, names) in (0..).zip(names) {
                let first_page = Ppn(first_page.0 + places.offset_of(copy));
                rename(ftl, &places.host, names.images(), &mut own, first_page);
            }
        }
        let mut own = group.iter().flat_map(|filled| &filled.translation).flat_map(Share::pages);
        rename(ftl, &places.translation, 0..places.translation.len() as u32, &mut own, first_page);
    }
}

/// The planes that hold pages of `ranges`, by which of these they hold.
fn kinds(ftl: &Ftl, ranges: &[Range<u32>]) -> Vec<Kind> {
    let translation = ftl.translation.map_or(Vec::new(), |pages| ftl.partition.within(pages.all()));
    let mut of_map: Vec<Vec<Share>> = vec![Vec::new(); ftl.geometry.planes() as usize];
    for (plane, shares) in shares_by_plane(ftl, &translation) {
        of_map[plane.index()] = shares;
    }
    let order = ftl.allocation.static_order();
    let members: Vec<&[PlaneId]> = ranges.iter().map(|range| order.members(order.part_of(Lpn(range.start)))).collect();
    let mut kinds: Vec<Kind> = Vec::new();
    for (plane, shares) in shares_by_plane(ftl, ranges) {
        let holds: Vec<bool> = members.iter().map(|planes| planes.binary_search(&plane).is_ok()).collect();
        let at = kinds.iter().position(|kind| kind.holds == holds).unwrap_or(kinds.len());
        if at == kinds.len() {
            kinds.push(Kind { holds, planes: Vec::new(), pages: 0, translation_pages: 0 });
        }
        let kind = &mut kinds[at];
        let translation = std::mem::take(&mut of_map[plane.index()]);
        kind.pages = kind.pages.max(pages_of(&shares));
        kind.translation_pages = kind.translation_pages.max(pages_of(&translation));
        kind.planes.push(FilledPlane { plane, shares, translation });
    }
    kinds
}

/// Pages that are renamed at a time: their entries of three tables fit into the first-level cache.
const BATCH: usize = 128;

/// Maps each of `own`, in their order, to the place of the page of the sample that `simulated` gives with it, behind `first_page`. A page of the
/// sample is invalid where the planes hold fewer pages than it.
fn rename(
    ftl: &mut Ftl,
    places: &[u32],
    mut simulated: impl Iterator<Item = u32>,
    own: &mut impl Iterator<Item = Lpn>,
    first_page: Ppn,
) {
    let mut batch = Vec::with_capacity(BATCH);
    let mut pages = Vec::with_capacity(BATCH);
    loop {
        batch.clear();
        batch.extend(simulated.by_ref().take(BATCH));
        if batch.is_empty() {
            return;
        }
        batch.iter().for_each(|&simulated| prefetch(places, simulated as usize));
        pages.clear();
        for &simulated in &batch {
            let (own, place) = (own.next(), places[simulated as usize]);
            match own {
                _ if place == Places::NOWHERE => {}
                Some(lpn) => pages.push((lpn, Ppn(first_page.0 + place))),
                None => {
                    ftl.blocks.invalidate(Ppn(first_page.0 + place));
                }
            }
        }
        ftl.mapping.set_all(&pages);
    }
}
