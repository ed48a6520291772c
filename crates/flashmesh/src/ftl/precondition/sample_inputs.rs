//! Inputs of a sample (simulated planes), which determine its states.

use super::phase;
use super::sample::WINDOWS_MIN;
use super::write_runs::WriteRuns;
use crate::config::{self, Config, ExpectedWrites};
use crate::engine::random::SimRng;
use crate::flash::geometry::Geometry;
use crate::ftl::interleaving::Interleaving;
use crate::ftl::{Ftl, FtlRules, Partition, TranslationPages};
use crate::ids::Lpn;

/// Largest number of pages (mapping units) in a sample with blocks of full size; larger samples get smaller blocks. In the steady state the pages of a
/// block are valid nearly independently of each other, so a part of a block represents the whole block: over parts of 2,048 pages, the share of valid
/// pages has a standard deviation of about one percentage point.
const PAGES_MAX: u32 = 1 << 21;

/// Returns the factor (at least 1) by which the blocks of a sample of `planes` planes are smaller than the blocks of the drive. A smaller block still
/// consists of whole programs.
pub(super) fn block_scale(geometry: &Geometry, planes: u32) -> u32 {
    let pages = planes * geometry.pages_per_plane();
    if pages <= PAGES_MAX {
        return 1;
    }
    debug_assert!(
        geometry.pages_per_block.is_multiple_of(geometry.units_per_program),
        "a block consists of whole programs"
    );
    let programs = geometry.pages_per_block / geometry.units_per_program;
    let fits = |times: &u32| programs.is_multiple_of(*times);
    let usable =
        || (1..=programs).filter(fits).filter(|times| planes * (geometry.pages_per_block / times) >= BLOCK_PAGES_MIN);
    usable().find(|times| pages / times <= PAGES_MAX).or_else(|| usable().next_back()).unwrap_or(1)
}

/// Returns the number of physical pages of a sample of `planes` planes.
pub(super) fn pages_of_sample(geometry: &Geometry, planes: u32) -> u32 {
    planes * geometry.pages_per_plane() / block_scale(geometry, planes)
}

/// Modifier XORed to the seed of a sample, so that its phases of collection are independent of its other random choices.
const SEED_OF_PHASES: u64 = 0x7068_6173_655f_6763;

/// Version of the layout of saved states, part of their key. Must change whenever the layout changes.
const STORED_FORMAT: &str = "copies in groups of a program";

/// Minimum number of pages in a block of a sample with smaller blocks, counted over all planes that are collected together.
const BLOCK_PAGES_MIN: u32 = 1024;

/// Complete inputs of the simulation of a sample: they alone determine its states.
#[derive(Clone, Debug)]
pub(super) struct SampleInputs {
    /// Dimensions of the simulated planes.
    geometry: Geometry,
    /// Number of logical pages of the host that are written: pages 0 to `pages` - 1.
    pub(super) pages: u32,
    pub(super) translation: Option<TranslationPages>,
    /// Interleaving of the copies of a sample block that make up a block of the drive.
    pub(super) interleaving: Interleaving,
    /// Configuration of the simulation: `[gc]` and `[wear]` of the drive, but without static levelling; a seed drawn from `seed`; defaults elsewhere.
    config: Config,
    rules: FtlRules,
    /// Seed of the random generator. Its first number seeds `config`, the others choose the pages to overwrite.
    seed: u64,
    /// Number of states of the sample that are copied to the drive, taken one after the other.
    instants: u32,
    /// Whether a collection may be in progress in a copied state; false if the run issues no writes.
    pub(super) collects: bool,
    pub(super) runs: WriteRuns,
}

impl SampleInputs {
    /// Returns the inputs for a sample of `planes` planes of `drive`, in which blocks are smaller by the factor `times`. `each` is the number of host
    /// pages and of translation pages per plane, `instants` the number of states to copy, and `writes` the expected writes of the run.
    pub(super) fn new(
        times: u32,
        drive: &Ftl,
        planes: u32,
        each: [u32; 2],
        seed: u64,
        instants: u32,
        writes: &ExpectedWrites,
    ) -> SampleInputs {
        let [pages, translation_pages] = each;
        let runs = WriteRuns::new(&drive.geometry, writes);
        let pages = planes * pages.div_ceil(times).next_multiple_of(runs.pages_together());
        let translation_pages = planes * translation_pages;
        let mut geometry = drive.geometry.with_smaller_blocks(times);
        (geometry.channels, geometry.chips_per_channel) = (1, 1);
        (geometry.dies_per_chip, geometry.planes_per_die) = (1, planes);
        geometry.logical_pages = planes * geometry.logical_pages.div_ceil(drive.geometry.planes());
        let config = Config {
            seed: SimRng::new(seed).next_u64(),
            // `rules` decide where moved pages go.
            gc: config::Gc { moved_pages: None, ..drive.collector.gc().clone() },
            wear: config::Wear { static_levelling: false, ..drive.collector.wear().clone() },
            ..Config::default()
        };
        let rules = FtlRules {
            moves_share_write_block: drive.blocks.are_moves_shared(),
            superblock_dies: drive.blocks.has_twins().then_some(1),
            ..FtlRules::new(&config)
        };
        // The logical numbers of translation pages follow those of all host pages, written or not.
        let translation = drive.translation.map(|all| all.scaled(geometry.logical_pages.max(pages), translation_pages));
        SampleInputs {
            geometry,
            pages,
            translation,
            interleaving: Interleaving::new(times, drive.geometry.units_per_program),
            config,
            rules,
            seed,
            instants,
            collects: writes.may_write,
            runs,
        }
    }

    /// Returns the approximate number of host writes needed to simulate all states.
    pub(super) fn writes(&self) -> u64 {
        u64::from(self.geometry.pages()) * u64::from(8 * WINDOWS_MIN + self.instants) / 16
    }

    /// Returns whether `lpn` is mapped in every state: a written host page or a translation page.
    pub(super) fn writes_page(&self, lpn: Lpn) -> bool {
        lpn.0 < self.pages || self.translation.is_some_and(|translation| translation.contains(lpn))
    }

    pub(super) fn instants(&self) -> u32 {
        self.instants
    }

    /// Returns a new random generator for the choice of the pages to overwrite.
    pub(super) fn random(&self) -> SimRng {
        let mut random = SimRng::new(self.seed);
        random.next_u64();
        random
    }

    /// Draws the phases of collection (see [`phase`]) at which the states are copied, one for each state.
    pub(super) fn phases(&self) -> Vec<u32> {
        let mut random = SimRng::new(self.seed ^ SEED_OF_PHASES);
        phase::phases(self.instants, &mut random)
    }

    /// Returns a text that identifies these inputs and the layout of saved states.
    pub(super) fn store_key(&self) -> String {
        format!("{STORED_FORMAT} {self:?}")
    }

    /// Creates the simulated planes, on which only translation pages are stored.
    pub(super) fn fresh(&self) -> Ftl {
        let end = self.geometry.logical_pages.max(self.pages);
        let end = self.translation.map_or(end, |translation| translation.all().end);
        let partition = Partition::undivided(&self.geometry, &self.config, end);
        Ftl::with_partition(&self.geometry, &self.config, self.rules, partition, self.translation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::testing::{DRIVE, config_of};
    use crate::units::Bytes;

    /// Checks samples of a drive with 200 logical pages for each of its eight planes.
    #[test]
    fn the_planes_of_a_sample_have_their_share_of_the_logical_pages() {
        let mut config = config_of(DRIVE, &[]);
        config.geometry.capacity = Some(Bytes::from_kib(16) * 1_600);
        let geometry = Geometry::from_config(&config).expect("the geometry is valid");
        let drive = Ftl::new(&geometry, &config, FtlRules::new(&config));
        let inputs = |times| SampleInputs::new(times, &drive, 2, [150, 0], 7, 1, &ExpectedWrites::default());
        let [whole, half] = [1, 2].map(inputs);
        assert_eq!((whole.geometry.logical_pages, whole.pages), (400, 300));
        assert_eq!((half.geometry.logical_pages, half.pages), (200, 150), "blocks half as large hold half as much");
    }
}
