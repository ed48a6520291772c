//! Sample: one or more simulated planes, whose states are copied to all similar planes of the drive.

use std::ops::Range;

use super::phase::CollectionInProgress;
use super::sample_inputs::SampleInputs;
use super::stored_sample::{StateStore, StoredSample};
use super::{ProgressCallback, fill};
use crate::engine::random::SimRng;
use crate::flash::geometry::Geometry;
use crate::ftl::interleaving::Interleaving;
use crate::ftl::map::initial_map::PlaneImage;
use crate::ftl::map::mapping::PREFETCHED;
use crate::ftl::{Ftl, IdleDies};
use crate::ids::Lpn;

/// Minimum number of windows before write amplification can count as settled. A window is as many writes as half of the pages of the
/// sample, so the sample has then been overwritten several times.
pub(super) const WINDOWS_MIN: u32 = 8;
/// Number of windows after which simulation stops, settled or not.
const WINDOWS_MAX: u32 = 40;
/// Relative tolerance within which write amplification counts as settled, between the last two windows and the two windows before them. After
/// [`WINDOWS_MAX`] windows, the last quarter of the windows is compared with the quarter before it instead, since two windows of a small plane are
/// too noisy.
const SETTLE_TOLERANCE: f64 = 0.005;

/// Planes under uniform random writes: one plane, or all planes of a die if they collect together. Their states are simulated, or read from the
/// folder of saved states.
pub(super) struct PlaneSample<'a> {
    pub(super) ftl: Ftl,
    inputs: SampleInputs,
    pub(super) idle: IdleDies,
    pub(super) random: SimRng,
    /// Number, from 1, of the current state in the sequence of states copied to the drive; 0 before the first call of [`advance`](Self::advance).
    instant: u32,
    /// Phases of collection at which the states are copied, in the order of the states.
    phases: Vec<u32>,
    /// Collection in progress in the current state; without victims if there is none.
    pub(super) begun: CollectionInProgress,
    kept: Option<StoredSample<'a>>,
}

/// Result of the simulation of a sample until its write amplification settles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SteadyStateResult {
    /// Programmed pages per written page in the last window.
    pub(super) write_amplification: f64,
    pub(super) windows: u32,
    /// Whether write amplification had settled at the end of the last window. False if [`WINDOWS_MAX`] windows were not enough.
    pub(super) settled: bool,
}

impl<'a> PlaneSample<'a> {
    /// Creates the sample for `inputs`. Reads its states from the folder in `keeping` if they are saved there; otherwise simulates them, and saves
    /// them if that is worth their size. If `keeping` is `None`, states are neither read nor saved.
    pub(super) fn new(inputs: SampleInputs, keeping: Option<StateStore<'a>>) -> PlaneSample<'a> {
        let ftl = inputs.fresh();
        let kept = keeping.and_then(|keeping| StoredSample::find(&inputs, &ftl, keeping));
        let random = inputs.random();
        let phases = inputs.phases();
        let begun = CollectionInProgress::default();
        let mut sample = PlaneSample { ftl, idle: IdleDies::new(1), random, instant: 0, phases, begun, kept, inputs };
        if !sample.is_read() {
            sample.begin();
        }
        sample
    }

    fn is_read(&self) -> bool {
        self.kept.as_ref().is_some_and(StoredSample::is_stored)
    }

    /// Writes all host pages of the sample once, in order.
    fn begin(&mut self) {
        let written = 0..self.inputs.pages;
        fill::fill_in_order(&mut self.ftl, std::slice::from_ref(&written), None, &|_| {});
    }

    pub(super) fn interleaving(&self) -> &Interleaving {
        &self.inputs.interleaving
    }

    /// Returns the number of pages in a block of the drive divided by the number of pages in a block of the sample.
    pub(super) fn block_scale(&self) -> u32 {
        self.inputs.interleaving.copies()
    }

    /// Returns the number of logical pages of the host that are written: pages 0 to the result - 1.
    pub(super) fn pages(&self) -> u32 {
        self.inputs.pages
    }

    /// Returns the number of consecutive logical pages that the permutation of each copy keeps together.
    pub(super) fn pages_moved_together(&self) -> u32 {
        self.inputs.runs.pages_together()
    }

    /// Returns the next page to overwrite, drawn at random.
    pub(super) fn next_page(&mut self) -> Lpn {
        self.inputs.runs.next(self.inputs.pages, &mut self.random)
    }

    /// Advances to the next state. If that state is not saved, overwrites a sixteenth of the pages, then more until collection reaches the phase of
    /// that state.
    pub(super) fn advance(&mut self) {
        self.instant += 1;
        if let Some(kept) = &mut self.kept
            && let Some(begun) = kept.read_state(&mut self.ftl, &self.inputs)
        {
            self.begun = begun;
            return;
        }
        if self.is_read() {
            // The saved state is invalid: simulate from the beginning.
            self.kept = None;
            (self.ftl, self.random) = (self.inputs.fresh(), self.inputs.random());
            self.inputs.runs.restart();
            self.begin();
            self.begun = CollectionInProgress::default();
            self.simulate(&|_| {});
            (1..self.instant).for_each(|instant| self.overwrite_part(instant));
        }
        self.overwrite_part(self.instant);
        if let Some(kept) = &mut self.kept {
            kept.write_state(&self.ftl, &self.begun, self.instant);
        }
    }

    fn overwrite_part(&mut self, instant: u32) {
        self.end_collection();
        self.write(self.ftl.geometry.pages().div_ceil(16));
        self.advance_to_phase(self.phases[instant as usize - 1]);
        if !self.inputs.collects {
            self.end_collection();
        }
        // Copies alternate in groups of pages, so open blocks must end with a whole group.
        if self.block_scale() > 1 {
            self.ftl.blocks.accounts.align_open_blocks(self.inputs.interleaving.group());
        }
    }

    /// Returns the locations of the host pages in the current state, for copies to `drive`.
    pub(super) fn state(&self, drive: &Geometry) -> PlaneImage {
        let offsets = self.offsets(0..self.pages(), drive).collect();
        let own = &self.ftl.geometry;
        PlaneImage::new(offsets, own.pages(), self.inputs.interleaving, own.pages_per_block)
    }

    /// Returns the offset of each translation page, in order, from the first physical page of a copy on `drive`.
    pub(super) fn translation_offsets(&self, drive: &Geometry) -> impl Iterator<Item = u32> {
        self.offsets(self.inputs.translation.map_or(0..0, |translation| translation.all()), drive)
    }

    fn offsets(&self, lpns: Range<u32>, drive: &Geometry) -> impl Iterator<Item = u32> {
        let (own, interleaving) = (&self.ftl.geometry, self.inputs.interleaving);
        let pages_per_block = drive.pages_per_block;
        self.ftl.mapping.physical_pages(lpns).map(move |ppn| {
            let (block, page) = (own.block_of(ppn), own.page_in_block(ppn));
            block.0 * pages_per_block + interleaving.in_first_copy(page)
        })
    }

    /// Overwrites `writes` random pages. Returns the number of pages that collection moved meanwhile.
    pub(super) fn write(&mut self, writes: u32) -> u64 {
        let mut moved = 0;
        let mut left = writes;
        while left > 0 {
            let batch = &mut [Lpn(0); PREFETCHED][..PREFETCHED.min(left as usize)];
            batch.fill_with(|| self.next_page());
            batch.iter().for_each(|&lpn| self.ftl.mapping.prefetch(lpn));
            moved += self.ftl.untimed().write_all(batch, &self.idle);
            left -= batch.len() as u32;
        }
        moved
    }

    /// Overwrites random pages until write amplification settles, or reads the saved result. Reports the progress towards [`WINDOWS_MIN`] windows,
    /// from 0 to 1, to `watch`.
    pub(super) fn settle(&mut self, watch: ProgressCallback<'_>) -> SteadyStateResult {
        if let Some(settled) = self.kept.as_mut().and_then(StoredSample::read_result) {
            watch(1.0);
            return settled;
        }
        let settled = self.simulate(watch);
        if let Some(kept) = &mut self.kept {
            kept.write_result(settled);
        }
        settled
    }

    fn simulate(&mut self, watch: ProgressCallback<'_>) -> SteadyStateResult {
        let window = self.ftl.geometry.pages().div_ceil(2);
        let mut found: Vec<f64> = Vec::new();
        let mut settled = false;
        while found.len() < WINDOWS_MAX as usize && !settled {
            found.push(1.0 + self.write(window) as f64 / f64::from(window));
            watch((found.len() as f64 / f64::from(WINDOWS_MIN)).min(1.0));
            settled = found.len() >= WINDOWS_MIN as usize && agree(&found, 2);
        }
        settled = settled || agree(&found, found.len() / 4);
        let write_amplification = found.last().copied().unwrap_or(1.0);
        SteadyStateResult { write_amplification, windows: found.len() as u32, settled }
    }
}

/// Returns whether the sum of the last `count` values and the sum of the `count` values before them agree within [`SETTLE_TOLERANCE`]. There must be
/// 2 x `count` values.
fn agree(values: &[f64], count: usize) -> bool {
    let sum = |end: usize| values[end - count..end].iter().sum::<f64>();
    let (before, now) = (sum(values.len() - count), sum(values.len()));
    (now - before).abs() <= SETTLE_TOLERANCE * now
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ExpectedWrites;
    use crate::ftl::FtlRules;
    use crate::ftl::precondition::phase::PHASE_BITS;
    use crate::ftl::testing::config_of;
    use crate::ids::PlaneId;

    /// Configuration of a die of four planes that are written in word lines of 12 mapping units a plane, with blocks of 1,536 units.
    const DIE: &str = "
[geometry]
channels = 1
chips-per-channel = 1
planes-per-die = 4
blocks-per-plane = 40
pages-per-block = 384
page-size = '16KiB'
over-provisioning = 0.3
[flash]
page-types = 'tlc'
program-unit = 'word-line'
[ftl]
mapping-unit = '4KiB'
[gc]
preemptible = true
paced = true
";

    #[test]
    fn states_with_smaller_blocks_have_the_free_pages_of_their_phase() {
        const TIMES: u32 = 8;
        const STATES: u32 = 32;
        let config = config_of(DIE, &[]);
        let geometry = Geometry::from_config(&config).expect("the geometry is valid");
        // Open blocks of a plane, each of which may be two programs ahead of those of the other planes.
        for (moves_share_write_block, open_blocks) in [(true, 1.0), (false, 2.0)] {
            let rules = FtlRules { superblock_dies: Some(1), moves_share_write_block, ..FtlRules::new(&config) };
            let drive = Ftl::new(&geometry, &config, rules);
            let each = [geometry.logical_pages / 4, 0];
            let writes = ExpectedWrites { may_write: true, ..ExpectedWrites::default() };
            let inputs = SampleInputs::new(TIMES, &drive, 4, each, 7, STATES, &writes);
            let mut sample = PlaneSample::new(inputs, None);
            assert!(sample.settle(&|_| {}).settled);
            let pages_per_block = sample.ftl.geometry.pages_per_block;
            assert_eq!(pages_per_block, geometry.pages_per_block / TIMES);
            let program = f64::from(geometry.units_per_program);
            let mut mean = 0.0;
            for state in 0..STATES as usize {
                sample.advance();
                let phase = f64::from(sample.phases[state]) / f64::from(1 << PHASE_BITS);
                let expected =
                    f64::from(sample.ftl.collector.collection_threshold()) - phase * f64::from(pages_per_block);
                for plane in (0..4).map(PlaneId) {
                    let off = f64::from(sample.ftl.blocks.accounts.plane(plane).free_pages) - expected;
                    assert!(off.abs() <= 2.0 * program * open_blocks, "{off} pages more than at phase {phase}");
                    mean += off / f64::from(4 * STATES);
                }
            }
            assert!(mean.abs() <= program, "{mean} pages more than expected, in the mean over the states");
        }
    }
}
