//! Random preconditioning: the steady state of uniform random writes, as copies of simulated planes (samples).

use std::ops::Range;
use std::sync::Arc;

use super::fill::{pages_of, shares_by_plane};
use super::permutation::Permutation;
use super::sample::{PlaneSample, WINDOWS_MIN};
use super::sample_inputs::{SampleInputs, block_scale, pages_of_sample};
use super::scatter::Scatter;
use super::write_runs::WriteRuns;
use super::{CollectionInProgress, PreconditionReport, ProgressCallback, StateStore, map_group, scatters};
use crate::config::ExpectedWrites;
use crate::engine::random::SimRng;
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::PlaneShare;
use crate::ftl::map::initial_map::{InitialMap, PlaneGroup, PlaneImage};
use crate::ftl::{Ftl, Superblocks};
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};

/// Size in bytes of an entry of [`PlaneImage`], the location of one page of a sample.
const BYTES_PER_PAGE: u64 = 4;

/// Maximum number of states of a sample (simulated planes) that are copied to planes of the drive.
const INSTANTS_MAX: u32 = 256;

/// Returns the size in bytes of all states of a sample (simulated planes), from which the map is computed. `superblock_dies` is the number of dies of
/// a superblock; `None` without superblocks.
pub(super) fn sample_map_bytes(geometry: &Geometry, superblock_dies: Option<u32>) -> u64 {
    let of_set = superblock_dies.map_or(1, |dies| Superblocks::new(geometry, dies).planes());
    let together = superblock_dies.map_or(1, |_| geometry.planes_per_die);
    let states = (geometry.planes() / of_set).min(INSTANTS_MAX);
    // Add two for the simulated sample itself, which has a map in both directions.
    u64::from(states + 2) * u64::from(pages_of_sample(geometry, together)) * BYTES_PER_PAGE
}

/// Class of planes with equally many pages, up to rounding, of the same ranges of logical pages. One sample (simulated planes) represents the class.
struct PlaneClass {
    /// Whether the planes of the class may hold pages of each filled range of logical pages.
    holds: Vec<bool>,
    planes: Vec<PlaneFill>,
    /// Maximum number of host pages on a plane of the class.
    pages: u32,
    /// Maximum number of translation pages on a plane of the class.
    translation_pages: u32,
}

/// A plane, with the host pages (`shares`) and the translation pages that it stores.
struct PlaneFill {
    plane: PlaneId,
    shares: Vec<PlaneShare>,
    translation: Vec<PlaneShare>,
}

/// Options for the copies of simulated planes.
pub(super) struct CopyOptions<'a> {
    /// Computed map to which the copies are added; `None` if the map is stored in tables.
    pub initial: Option<&'a mut InitialMap>,
    /// Writes that the run is expected to issue. If there are none, no collection is in progress in the copies.
    pub writes: &'a ExpectedWrites,
}

pub(super) fn fill(
    ftl: &mut Ftl,
    ranges: &[Range<u32>],
    seed: u64,
    copies: CopyOptions<'_>,
    report: &mut PreconditionReport,
    keeping: Option<StateStore<'_>>,
    watch: ProgressCallback<'_>,
) {
    let CopyOptions { mut initial, writes } = copies;
    let mut random = SimRng::new(seed);
    let scatter = scatters(ftl).then(|| {
        let together = WriteRuns::new(&ftl.geometry, writes).pages_of_longest();
        Scatter::new(ranges, together, &mut SimRng::new(!seed))
    });
    let mut kinds = plane_classes(ftl, ranges);
    // Skip classes without pages: the filled share of a small namespace may be less than a page.
    kinds.retain(|kind| kind.pages > 0);
    if kinds.is_empty() {
        return;
    }
    let planes: usize = kinds.iter().map(|kind| kind.planes.len()).sum();
    report.settled = true;
    report.write_amplification = 0.0;
    // Count progress in copied planes. The simulation of a sample counts as `WINDOWS_MIN` planes.
    let all = (planes + kinds.len() * WINDOWS_MIN as usize) as f64;
    let mut done = 0.0;
    watch(0.0);
    // Planes of a die that collect together are simulated together. All dies of a superblock collect the same blocks, so they get copies of the same
    // state.
    let superblocks = ftl.blocks.superblocks();
    let (together, of_set) =
        if ftl.blocks.has_twins() { (ftl.geometry.planes_per_die, superblocks.planes()) } else { (1, 1) };
    for PlaneClass { planes: of_kind, pages, translation_pages, .. } in &mut kinds {
        if of_set > 1 {
            of_kind.sort_by_key(|filled| (superblocks.index_of(filled.plane), filled.plane));
        }
        let sets: Vec<&[PlaneFill]> = of_kind.chunks(of_set as usize).collect();
        let instants = (sets.len() as u32).min(INSTANTS_MAX);
        let each = [*pages, *translation_pages];
        let times = if *translation_pages == 0 { block_scale(&ftl.geometry, together) } else { 1 };
        let inputs = SampleInputs::new(times, ftl, together, each, random.next_u64(), instants, writes);
        let mut sample = PlaneSample::new(inputs, keeping);
        let settled = sample.settle(&|share| watch((done + share * f64::from(WINDOWS_MIN)) / all));
        done += f64::from(WINDOWS_MIN);
        report.windows = report.windows.max(settled.windows);
        report.settled &= settled.settled;
        report.write_amplification += settled.write_amplification * of_kind.len() as f64 / planes as f64;
        for instant in 0..instants {
            sample.advance();
            let state = Arc::new(sample.state(&ftl.geometry));
            for set in sets.iter().skip(instant as usize).step_by(instants as usize) {
                for group in set.chunks(together as usize) {
                    copy_planes(ftl, group, &sample, &state, initial.as_deref_mut(), scatter.as_ref(), &mut random);
                    done += group.len() as f64;
                    watch(done / all);
                }
                ftl.initial_collections.extend(copied_collection(ftl, set, &sample));
            }
        }
    }
    if let (Some(initial), Some(scatter)) = (initial, scatter) {
        initial.set_scatter(scatter);
    }
    ftl.is_stationary = report.settled;
}

/// Returns the collection in progress of the sample, with the victims of the planes of `set`, to which the sample was copied; `None` if no collection
/// is in progress.
fn copied_collection(ftl: &Ftl, set: &[PlaneFill], sample: &PlaneSample) -> Option<CollectionInProgress> {
    let CollectionInProgress { victims, valid_at_begin } = &sample.begun;
    let first = |plane: PlaneId| ftl.geometry.first_block(plane).0;
    let of_sample = victims.iter().map(|victim| victim.0 % sample.ftl.geometry.blocks_per_plane).zip(valid_at_begin);
    let copied = set.iter().zip(of_sample.cycle());
    let (victims, valid_at_begin): (Vec<BlockId>, Vec<u32>) = copied
        .map(|(filled, (position, valid))| (BlockId(first(filled.plane) + position), valid * sample.block_scale()))
        .unzip();
    (!victims.is_empty()).then_some(CollectionInProgress { victims, valid_at_begin })
}

/// Groups the planes by the ranges whose pages they may hold. Planes that may hold no page of `ranges` are in no class.
fn plane_classes(ftl: &Ftl, ranges: &[Range<u32>]) -> Vec<PlaneClass> {
    let translation = ftl.translation.map_or(Vec::new(), |pages| ftl.partition.split_at_parts(pages.all()));
    let mut of_map: Vec<Vec<PlaneShare>> = vec![Vec::new(); ftl.geometry.planes() as usize];
    for (plane, shares) in shares_by_plane(ftl, &translation) {
        of_map[plane.index()] = shares;
    }
    let order = ftl.allocation.static_order();
    let members: Vec<&[PlaneId]> = ranges.iter().map(|range| order.members(order.part_of(Lpn(range.start)))).collect();
    let mut kinds: Vec<PlaneClass> = Vec::new();
    for (plane, shares) in shares_by_plane(ftl, ranges) {
        let holds: Vec<bool> = members.iter().map(|planes| planes.binary_search(&plane).is_ok()).collect();
        let at = kinds.iter().position(|kind| kind.holds == holds).unwrap_or(kinds.len());
        if at == kinds.len() {
            kinds.push(PlaneClass { holds, planes: Vec::new(), pages: 0, translation_pages: 0 });
        }
        let kind = &mut kinds[at];
        let translation = std::mem::take(&mut of_map[plane.index()]);
        kind.pages = kind.pages.max(pages_of(&shares));
        kind.translation_pages = kind.translation_pages.max(pages_of(&translation));
        kind.planes.push(PlaneFill { plane, shares, translation });
    }
    kinds
}

/// Fills the planes of `group` with a copy of the sample, and maps the logical pages of these planes to the copied pages.
fn copy_planes(
    ftl: &mut Ftl,
    group: &[PlaneFill],
    sample: &PlaneSample,
    state: &Arc<PlaneImage>,
    initial: Option<&mut InitialMap>,
    scatter: Option<&Scatter>,
    random: &mut SimRng,
) {
    let planes: Vec<PlaneId> = group.iter().map(|filled| filled.plane).collect();
    let first_page = ftl.blocks.accounts.copy_planes(&planes, &sample.ftl.blocks.accounts, sample.interleaving());
    let permutations = (0..sample.block_scale())
        .map(|_| Permutation::new(sample.pages(), sample.pages_moved_together(), random))
        .collect();
    let shares = group.iter().flat_map(|filled| &filled.shares).cloned();
    map_group(ftl, PlaneGroup::copies(Arc::clone(state), first_page, shares, permutations), initial, scatter);
    // Translation pages keep their order; host pages are permuted.
    let mut own = group.iter().flat_map(|filled| &filled.translation).flat_map(PlaneShare::pages);
    let offsets: Vec<u32> = sample.translation_offsets(&ftl.geometry).collect();
    let mut copied = offsets.into_iter().map(|offset| Ppn(first_page.0 + offset));
    own.by_ref().zip(copied.by_ref()).for_each(|(lpn, ppn)| {
        // A translation page can move to another plane of its superblock, which changes the page counts of both planes.
        let laid_out = ftl.mapping.set(lpn, ppn);
        ftl.notify_move(lpn, laid_out, Some(ppn));
    });
    copied.for_each(|ppn| {
        ftl.blocks.accounts.invalidate(ppn);
    });
}
