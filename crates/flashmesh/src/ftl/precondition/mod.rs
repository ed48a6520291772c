//! The state of the drive before the first request, reached without simulating how it was filled.

mod fill;
mod kept;
mod permutation;
mod phase;
mod runs;
mod sample;
mod steady_state;

pub(super) use fill::lay_out_translation;
pub(super) use kept::Keeping;
pub(super) use permutation::Permutation;
pub(crate) use phase::BegunCollection;

use steady_state::Copies;

use super::initial_map::{InitialMap, PlaneGroup};
use super::{Ftl, FtlRules, Partition, allocation};
use crate::config::{self, ExpectedWrites, PreconditionKind};
use crate::flash::geometry::Geometry;

/// Logical pages from which on the map is computed. The tables of a smaller drive are filled in a fifth of a second, and are faster.
const COMPUTED_FROM: u32 = 1 << 23;

/// Result of preconditioning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreconditionReport {
    /// Logical pages of the host that are mapped now.
    pub pages_mapped: u64,
    /// Pages programmed for each page the host wrote, in the last window simulated; 1 when none was. Over all planes.
    pub write_amplification: f64,
    /// The most windows simulated until the steady state was reached, each of half as many writes as a plane has pages.
    pub windows: u32,
    /// Whether write amplification had settled everywhere when the last window ended.
    pub settled: bool,
}

/// Receives how much of the preconditioning is done, from 0 to 1: at its beginning, now and then, and at its end. The share is an
/// estimate; it does not fall.
pub type Watch<'a> = &'a dyn Fn(f64);

/// The initial size of the map of a preconditioned drive, in bytes, if it is computed; `None` if it is in tables. It is in tables for small drives, and where
/// a journal or the allocator looks at all pages at the start.
pub fn computed_map_bytes(geometry: &Geometry, config: &config::Config, rules: FtlRules) -> Option<u64> {
    if geometry.logical_pages < COMPUTED_FROM || config.persistence.has_journal() {
        return None;
    }
    let partition = Partition::new(geometry, config).ok()?;
    if allocation::Policy::new(geometry, &partition, &rules).counts_parts() {
        return None;
    }
    match config.precondition.kind {
        PreconditionKind::None => None,
        PreconditionKind::Sequential => Some(0),
        PreconditionKind::Random => Some(steady_state::bytes_of_states(geometry, rules.superblock_dies)),
    }
}

/// Initial conditions of a preconditioned drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start<'a> {
    /// Whether its map is computed; it is the same as in tables.
    pub is_computed: bool,
    /// Writes of the run. Without any, no collection is in progress.
    pub writes: &'a ExpectedWrites,
}

impl Ftl {
    /// Brings a drive on which nothing was written yet to the state that `config` describes. Erase counts stay 0.
    ///
    /// *Sequential*: the first `fill` of the pages of each namespace lie in their order in the blocks of the planes that static
    /// allocation gives them, none invalid.
    ///
    /// *Random*: the steady state of uniform random writes to the first `fill` of the pages of each namespace. Under such writes
    /// the planes do not influence each other, and each of those that hold pages of the same namespaces is as good a sample of the
    /// steady state as any other. So of each kind one plane is simulated, by the code and the policies of the run, until its write
    /// amplification has settled. From then on its state is copied to one plane of its kind after the other (when there are very
    /// many, to several), after a sixteenth of the plane was written over again each time. The copies are spread over all phases of
    /// garbage collection ([`phase`]); a run continues the collections in progress, and this function completes them. Each copy renames the logical pages by
    /// another bijection of its own, an affine one, so that no two planes hold the same pages at the same places. Where a plane, or a die
    /// whose planes are simulated together, has more than two million pages, the blocks of the simulated one are smaller, and each of its
    /// pages is copied several times.
    ///
    /// Where each stream of the host writes to open blocks of its own, all that lies here was written by the first that uses the
    /// plane \[choice\].
    ///
    /// `seed` determines all random choices.
    ///
    /// Translation pages stay as they were laid out, in either case: how many of them are invalid in the steady state depends on
    /// what the cache of the map catches \[choice\].
    ///
    /// # Panics
    /// When something was written already.
    pub fn precondition(&mut self, config: &config::Precondition, seed: u64) -> PreconditionReport {
        self.precondition_watched(
            config,
            seed,
            Start { is_computed: false, writes: &ExpectedWrites::default() },
            None,
            &|_| {},
        )
    }

    /// As [`Ftl::precondition`] from `start`, with progress, and simulated planes from `keeping` where they are kept.
    pub(super) fn precondition_watched(
        &mut self,
        config: &config::Precondition,
        seed: u64,
        start: Start<'_>,
        keeping: Option<Keeping<'_>>,
        watch: Watch<'_>,
    ) -> PreconditionReport {
        let translation_pages = self.translation.map_or(0, |translation| u64::from(translation.count()));
        assert_eq!(self.mapped_pages(), translation_pages, "only a fresh drive can be preconditioned");
        let ranges = self.partition.beginnings(config.fill);
        let mut report = PreconditionReport { pages_mapped: 0, write_amplification: 1.0, windows: 0, settled: true };
        let mut initial =
            start.is_computed.then(|| InitialMap::empty(&self.geometry, self.allocation.static_order(), &ranges));
        match config.kind {
            PreconditionKind::None => {}
            PreconditionKind::Sequential => fill::in_order(self, &ranges, initial.as_mut(), watch),
            PreconditionKind::Random => {
                let copies = Copies { initial: initial.as_mut(), writes: start.writes };
                steady_state::fill(self, &ranges, seed, copies, &mut report, keeping, watch);
            }
        }
        if let Some(initial) = initial {
            self.mapping.begin_with(initial);
        }
        if config.kind != PreconditionKind::None {
            watch(1.0);
        }
        if self.rules.equal_write_pointers {
            self.blocks.level_write_pointers();
        }
        if config.kind != PreconditionKind::None {
            self.count_parts(0..self.geometry.logical_pages);
        }
        report.pages_mapped = self.mapped_pages() - translation_pages;
        report
    }

    /// Maps the pages of planes that have been filled, in `initial` or in tables.
    fn map_group(&mut self, group: PlaneGroup, initial: Option<&mut InitialMap>) {
        for ppn in group.unused() {
            self.blocks.invalidate(ppn);
        }
        match initial {
            Some(initial) => initial.add(group),
            None => group.in_batches(|pages| self.mapping.set_all(pages)),
        }
    }
}
