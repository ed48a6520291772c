//! Preconditioning: the state of the drive before the first request, without a simulation of all writes that lead to it. Runs that
//! begin in the same state share it.

mod aged;
mod fill;
mod permutation;
mod phase;
mod prepared;
mod sample;
mod sample_inputs;
mod scatter;
mod steady_state;
mod stored_sample;
mod write_runs;

pub(super) use fill::lay_out_translation;
pub(super) use permutation::Permutation;
pub(crate) use phase::CollectionInProgress;
pub use prepared::PreparedDrives;
pub(super) use scatter::Scatter;
pub(super) use stored_sample::StateStore;

use steady_state::CopyOptions;

use super::map::initial_map::{InitialMap, PlaneGroup};
use super::{Ftl, FtlRules, Partition, allocation};
use crate::config::{self, Allocation, ExpectedWrites, PreconditionKind};
use crate::flash::geometry::Geometry;

/// Number of logical pages of the smallest drive with a computed map. Smaller drives use tables, which are filled in 0.2 s and are faster
/// to look up.
const COMPUTED_MAP_PAGES_MIN: u32 = 1 << 23;

/// Result of preconditioning a drive: mapped pages and, after random preconditioning, the steady state reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreconditionReport {
    /// Number of mapped logical pages of the host.
    pub pages_mapped: u64,
    /// Programmed pages per page that the host wrote, in the last simulated window, as a mean over all planes; 1 if no window was simulated.
    pub write_amplification: f64,
    /// Number of windows simulated until the steady state; the maximum over the samples (simulated planes). A window is as many writes as
    /// half of the pages of a sample.
    pub windows: u32,
    /// Whether the write amplification of every sample (simulated planes) had settled at the end of its last window.
    pub settled: bool,
}

/// Callback for the progress of preconditioning, an estimate from 0 to 1 that never decreases. Called at the start, at intervals, and at the end.
pub type ProgressCallback<'a> = &'a dyn Fn(f64);

/// Returns the size in bytes of the computed map of a preconditioned drive at the start of the run; 0 if pages lie in order, because nothing is
/// stored then. Returns `None` if the map is stored in tables: on a small drive, without sequential or random preconditioning, or if a journal or an
/// allocator visits all pages at the start.
pub fn computed_map_bytes(geometry: &Geometry, config: &config::Config, rules: FtlRules) -> Option<u64> {
    if geometry.logical_pages < COMPUTED_MAP_PAGES_MIN || config.persistence.has_journal() {
        return None;
    }
    let partition = Partition::new(geometry, config).ok()?;
    if allocation::AnyAllocator::new(geometry, &partition, &rules).counts_parts() {
        return None;
    }
    match config.precondition.kind {
        PreconditionKind::None | PreconditionKind::Aged => None,
        PreconditionKind::Sequential => Some(0),
        PreconditionKind::Random => Some(steady_state::sample_map_bytes(geometry, rules.superblock_dies)),
    }
}

/// Initial conditions of a preconditioned drive beyond its `[precondition]` section.
#[derive(Clone, Copy, Debug)]
pub(super) struct InitialConditions<'a> {
    /// Whether the map is computed where possible, instead of stored in tables.
    pub is_computed: bool,
    /// Writes that the run is expected to issue. If there are none, no collection is in progress at the start.
    pub writes: &'a ExpectedWrites,
}

impl Ftl {
    /// Brings a fresh drive to the state that `config` describes. Erase counts stay 0.
    ///
    /// *Sequential*: the first `fill` (a share from 0 to 1) of the pages of each namespace lie in order in the blocks of their planes of the static
    /// order, without invalid pages.
    ///
    /// *Aged*: the share `written` of the pages of each plane are programmed, in whole blocks, but not so many that a plane needs garbage collection
    /// yet. The first `fill` of the pages of each namespace are valid and spread evenly over these blocks; all other pages of the blocks are invalid.
    ///
    /// *Random*: the steady state of uniform random writes to the first `fill` of the pages of each namespace. Under such writes the planes are
    /// independent, and all planes with pages of the same namespaces are statistically alike. So one plane of each class of such planes (the sample)
    /// is simulated, with the code and the policies of the run, until its write amplification has settled. Its state is then copied to the other
    /// planes of its class, one after the other; before each copy, a sixteenth of its pages is overwritten. On a drive with very many planes, several
    /// planes get the same state. The copies cover all phases of garbage collection ([`phase`]). A run continues the collections in progress; this
    /// function completes them. Each copy permutes the logical pages by an affine permutation of its own. If a sample has more than two million
    /// pages, its blocks are smaller than those of the drive, and each of its pages is copied several times.
    ///
    /// If each host stream has an open block of its own, the first stream of a plane counts as the writer of all pages there \[choice\].
    ///
    /// `seed` determines all random choices.
    ///
    /// All translation pages are valid afterwards, because the share of invalid ones in the steady state depends on the hit rate of the mapping cache
    /// \[choice\]. *Random* can place a translation page in another plane of its superblock.
    ///
    /// # Panics
    /// If the drive is not fresh.
    pub fn precondition(&mut self, config: &config::Precondition, seed: u64) -> PreconditionReport {
        let start = InitialConditions { is_computed: false, writes: &ExpectedWrites::default() };
        apply(self, config, seed, start, None, &|_| {})
    }
}

/// Like [`Ftl::precondition`], but begins with the initial conditions `start`, and reports the progress to `watch`. Reuses the states saved in
/// `keeping`; with `None`, simulates all states.
pub(super) fn apply(
    ftl: &mut Ftl,
    config: &config::Precondition,
    seed: u64,
    start: InitialConditions<'_>,
    keeping: Option<StateStore<'_>>,
    watch: ProgressCallback<'_>,
) -> PreconditionReport {
    let translation_pages = ftl.translation.map_or(0, |translation| u64::from(translation.count()));
    assert_eq!(ftl.blocks.valid_pages_of_drive(), translation_pages, "only a fresh drive can be preconditioned");
    let ranges = ftl.partition.filled_ranges(config.fill);
    let mut report = PreconditionReport { pages_mapped: 0, write_amplification: 1.0, windows: 0, settled: true };
    let mut initial =
        start.is_computed.then(|| InitialMap::empty(&ftl.geometry, ftl.allocation.static_order(), &ranges));
    match config.kind {
        PreconditionKind::None => {}
        PreconditionKind::Sequential => fill::fill_in_order(ftl, &ranges, initial.as_mut(), watch),
        PreconditionKind::Aged => aged::age(ftl, &ranges, config.written, watch),
        PreconditionKind::Random => {
            let copies = CopyOptions { initial: initial.as_mut(), writes: start.writes };
            steady_state::fill(ftl, &ranges, seed, copies, &mut report, keeping, watch);
        }
    }
    if let Some(initial) = initial {
        ftl.mapping.set_initial(initial);
    }
    if config.kind != PreconditionKind::None {
        watch(1.0);
    }
    if ftl.rules.equal_write_pointers {
        ftl.blocks.level_write_pointers();
    }
    if config.kind != PreconditionKind::None {
        ftl.notify_filled(0..ftl.geometry.logical_pages);
    }
    report.pages_mapped = ftl.blocks.valid_pages_of_drive() - translation_pages;
    report
}

/// Returns whether random writes scatter the mapping units of a flash page over all planes, because the plane of a write does not depend on its
/// address.
fn scatters(ftl: &Ftl) -> bool {
    ftl.geometry.units_per_page > 1 && !matches!(ftl.rules.allocation, Allocation::Static(_))
}

/// Maps the logical pages of `group`, whose planes are filled, in `initial`, or in the mapping tables if `initial` is `None`. Invalidates the
/// copied physical pages that no logical page uses.
fn map_group(ftl: &mut Ftl, group: PlaneGroup, initial: Option<&mut InitialMap>, scatter: Option<&Scatter>) {
    for ppn in group.unused() {
        ftl.blocks.accounts.invalidate(ppn);
    }
    match initial {
        Some(initial) => initial.add(group),
        None => group.in_batches(scatter, |pages| ftl.mapping.set_all(pages)),
    }
}
