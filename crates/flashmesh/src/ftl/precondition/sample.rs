//! A plane that is simulated, as a sample of others.

use super::{Watch, fill};
use crate::config::{self, Config};
use crate::engine::random::SimRng;
use crate::flash::geometry::Geometry;
use crate::ftl::{Ftl, FtlRules, IdleDies, Partition};
use crate::ids::Lpn;

/// Windows before the steady state is looked for: the plane has been overwritten several times.
pub(super) const WINDOWS_MIN: u32 = 8;
/// Windows after which the state is taken for steady, settled or not.
const WINDOWS_MAX: u32 = 40;
/// Write amplification has settled when two windows and the two before them agree within this share.
const SETTLED_WITHIN: f64 = 0.005;

/// Pages of a sample beyond which its blocks are made smaller. In the steady state the pages of a block that are valid are as good as
/// independent of each other, so a part of them tells as much as all: of a block of 2,048 pages their share is known to one percent.
const PAGES_MAX: u32 = 1 << 21;

/// By how much the blocks of a sample of so many planes are smaller than those of the drive: a block has whole programs, and whole words of
/// 64 pages, which are copied as such.
fn times_smaller(geometry: &Geometry, planes: u32) -> u32 {
    let pages = planes * geometry.pages_per_plane();
    let words = geometry.pages_per_block / u64::BITS;
    if pages <= PAGES_MAX || !geometry.pages_per_block.is_multiple_of(u64::BITS) {
        return 1;
    }
    let fits = |times: &u32| {
        words.is_multiple_of(*times) && (geometry.pages_per_block / times).is_multiple_of(geometry.units_per_program)
    };
    let usable =
        || (1..=words).filter(fits).filter(|times| planes * (geometry.pages_per_block / times) >= BLOCK_PAGES_MIN);
    usable().find(|times| pages / times <= PAGES_MAX).or_else(|| usable().next_back()).unwrap_or(1)
}

/// Pages that collection chooses by at least: those of a block, or of the blocks of a die that are used together.
const BLOCK_PAGES_MIN: u32 = 1024;

/// One plane, or a die whose planes use the same blocks, under uniform random writes.
pub(super) struct Sample {
    pub(super) ftl: Ftl,
    idle: IdleDies,
    /// Logical pages that are written, from 0.
    pub(super) pages: u32,
    /// How many times more pages the blocks of the drive have.
    pub(super) times: u32,
    random: SimRng,
}

/// How the simulation of a plane went.
pub(super) struct Settled {
    /// In the last window.
    pub(super) write_amplification: f64,
    pub(super) windows: u32,
    /// Whether it had settled when the last window ended.
    pub(super) settled: bool,
}

impl Sample {
    /// So many planes like those of `drive`, each with `translation_pages`, on which `pages` pages each are written in order.
    pub(super) fn new(drive: &Ftl, planes: u32, pages: u32, translation_pages: u32, seed: u64) -> Sample {
        let times = if translation_pages == 0 { times_smaller(&drive.geometry, planes) } else { 1 };
        let (pages, translation_pages) = (planes * pages.div_ceil(times), planes * translation_pages);
        let mut plane = drive.geometry.with_smaller_blocks(times);
        (plane.channels, plane.chips_per_channel) = (1, 1);
        (plane.dies_per_chip, plane.planes_per_die) = (1, planes);
        plane.logical_pages = planes * plane.logical_pages.div_ceil(drive.geometry.planes());
        let mut random = SimRng::new(seed);
        let config = Config {
            seed: random.next_u64(),
            gc: drive.collector.gc().clone(),
            wear: config::Wear { static_levelling: false, ..drive.collector.wear().clone() },
            ..Config::default()
        };
        let rules = FtlRules {
            moves_share_write_block: drive.blocks.are_moves_shared(),
            superblock_dies: drive.has_twins().then_some(1),
            ..FtlRules::new(&config)
        };
        // Behind them, whether they are written or not.
        let translation = drive.translation.map(|all| all.scaled(plane.logical_pages.max(pages), translation_pages));
        let end = translation.map_or(plane.logical_pages.max(pages), |translation| translation.all().end);
        let partition = Partition::undivided(&plane, &config, end);
        let mut ftl = Ftl::divided(&plane, &config, rules, partition, translation);
        let written = 0..pages;
        fill::in_order(&mut ftl, std::slice::from_ref(&written), &|_| {});
        Sample { ftl, idle: IdleDies::new(1), pages, times, random }
    }

    /// Overwrites a sixteenth of its pages, so that what is copied next is another state.
    pub(super) fn go_on(&mut self) {
        self.write(self.ftl.geometry.pages().div_ceil(16));
        if self.times > 1 {
            self.ftl.blocks.align_open_blocks(u64::BITS);
        }
    }

    /// The page of a block of the drive that is the `copy`-th, from 0, of `page` of a block of the sample.
    pub(super) fn copy_of(&self, page: u32, copy: u32) -> u32 {
        let (group, place) = (page / u64::BITS, page % u64::BITS);
        (group * self.times + copy) * u64::BITS + place
    }

    /// Overwrites `writes` random pages and returns how many pages were moved for it.
    pub(super) fn write(&mut self, writes: u32) -> u64 {
        (0..writes).map(|_| self.ftl.write_untimed(Lpn(self.random.below(self.pages)), &self.idle)).sum()
    }

    /// Overwrites random pages until write amplification has settled. `watch` receives how much of what it takes at least is done.
    pub(super) fn settle(&mut self, watch: Watch<'_>) -> Settled {
        let window = self.ftl.geometry.pages().div_ceil(2);
        // Of the last four windows, the latest last.
        let mut latest = [0.0; 4];
        let (mut windows, mut settled) = (0, false);
        while windows < WINDOWS_MAX && !settled {
            latest.rotate_left(1);
            latest[3] = 1.0 + self.write(window) as f64 / f64::from(window);
            windows += 1;
            watch((f64::from(windows) / f64::from(WINDOWS_MIN)).min(1.0));
            let (before, now) = (latest[0] + latest[1], latest[2] + latest[3]);
            settled = windows >= WINDOWS_MIN && (now - before).abs() <= SETTLED_WITHIN * now;
        }
        Settled { write_amplification: latest[3], windows, settled }
    }
}
