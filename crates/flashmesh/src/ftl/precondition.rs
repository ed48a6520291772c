//! The state of the drive before the first request, reached without simulating how it was filled.

use super::plane::{Frontier, OpenBlock};
use super::{Ftl, IdleDies};
use crate::config::{self, Config, PreconditionKind};
use crate::engine::random::SimRng;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};

/// What preconditioning has done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreconditionReport {
    /// Logical pages of the host that are mapped now.
    pub pages_mapped: u64,
    /// Pages programmed for each page the host wrote, in the last window simulated; 1 when none was.
    pub write_amplification: f64,
    /// Windows simulated until the steady state was reached, each of half as many writes as a plane has pages.
    pub windows: u32,
    /// Whether write amplification had settled when the last window ended.
    pub settled: bool,
}

/// Windows before the steady state is looked for: the plane has been overwritten several times.
const WINDOWS_MIN: u32 = 8;
/// Windows after which the state is taken for steady, settled or not.
const WINDOWS_MAX: u32 = 40;
/// Write amplification has settled when two windows and the two before them agree within this share.
const SETTLED_WITHIN: f64 = 0.005;
/// Different instants at which the simulated plane is copied.
const INSTANTS_MAX: u32 = 256;
/// Pages of a plane that are copied at a time, few enough for the entries they touch to stay in the cache.
const TILE_PAGES: u32 = 64;

impl Ftl {
    /// Brings a drive on which nothing was written yet to the state that `config` describes. Erase counts stay 0.
    ///
    /// *Sequential*: the first `fill` of the logical pages lie in their order in the blocks of the planes that static
    /// allocation gives them, none invalid.
    ///
    /// *Random*: the steady state of uniform random writes to the first `fill` of the logical pages. Under such writes
    /// the planes do not influence each other, and each is as good a sample of the steady state as any other. So one
    /// plane is simulated, by the code and the policies of the run, until its write amplification has settled. From
    /// then on its state is copied to one plane of the drive after the other (when there are very many, to several),
    /// after a sixteenth of the plane was written over again each time. Each copy renames the logical pages by another
    /// bijection of its own, an affine one, so that no two planes hold the same pages at the same places.
    ///
    /// `seed` decides all random choices.
    ///
    /// Translation pages stay as they were laid out, in either case: how many of them are invalid in the steady state depends on
    /// what the cache of the map catches \[choice\].
    ///
    /// # Panics
    /// When something was written already.
    pub fn precondition(&mut self, config: &config::Precondition, seed: u64) -> PreconditionReport {
        let translation_pages = self.translation.map_or(0, |translation| u64::from(translation.count()));
        assert_eq!(self.mapped_pages(), translation_pages, "only a fresh drive can be preconditioned");
        let pages = (f64::from(self.geometry.logical_pages) * config.fill) as u32;
        let pages = pages.min(self.geometry.logical_pages);
        let mut report = PreconditionReport { pages_mapped: 0, write_amplification: 1.0, windows: 0, settled: true };
        match config.kind {
            PreconditionKind::None => {}
            _ if pages == 0 => {}
            PreconditionKind::Sequential => self.fill_sequentially(pages),
            PreconditionKind::Random => self.fill_randomly(pages, seed, &mut report),
        }
        report.pages_mapped = self.mapped_pages() - translation_pages;
        report
    }

    /// The logical pages below `pages` that lie on the plane of `residue`: residue, residue + planes, and so on.
    fn share(&self, pages: u32, residue: u32) -> u32 {
        let planes = self.geometry.planes();
        pages / planes + u32::from(residue < pages % planes)
    }

    fn fill_sequentially(&mut self, pages: u32) {
        let planes = self.planes_by_residue();
        let first_pages: Vec<u32> = planes.iter().map(|&plane| self.next_fresh_page(plane).unwrap_or(0)).collect();
        for (residue, &plane) in planes.iter().enumerate() {
            let share = self.share(pages, residue as u32);
            self.open_and_fill(plane, Frontier::Host, share);
        }
        // Tiles of all planes in turn: the map is written in its order, each plane in its own.
        for tile in (0..self.share(pages, 0)).step_by(TILE_PAGES as usize) {
            for (residue, first_page) in first_pages.iter().enumerate() {
                let end = self.share(pages, residue as u32).min(tile + TILE_PAGES);
                for local in tile..end {
                    let lpn = Lpn(local * planes.len() as u32 + residue as u32);
                    self.mapping.set(lpn, Ppn(first_page + local));
                }
            }
        }
    }

    /// The page that [`Ftl::open_and_fill`] of a plane without recycled blocks begins with.
    pub(super) fn next_fresh_page(&self, plane: PlaneId) -> Option<u32> {
        self.planes[plane.index()].free.peek().map(|block| self.geometry.ppn(block, 0).0)
    }

    /// Opens blocks of `plane` for `frontier`, one after the other, until `pages` pages are programmed and valid.
    pub(super) fn open_and_fill(&mut self, plane: PlaneId, frontier: Frontier, pages: u32) {
        let pages_per_block = self.geometry.pages_per_block;
        let mut left = pages;
        while left > 0 {
            let account = &mut self.planes[plane.index()];
            let Some(block) = account.free.pop() else { break };
            let programmed = left.min(pages_per_block);
            account.open[frontier as usize] = OpenBlock { block, next_page: programmed };
            self.blocks.open(block, frontier.is_translation());
            self.blocks.program_valid(block, programmed);
            if programmed == pages_per_block {
                self.fill(block);
            }
            left -= programmed;
        }
        let account = &mut self.planes[plane.index()];
        account.free_pages -= pages;
        account.valid_pages += pages;
    }

    fn fill_randomly(&mut self, pages: u32, seed: u64, report: &mut PreconditionReport) {
        let mut random = SimRng::new(seed);
        let mut sample = Sample::new(self, self.share(pages, 0), random.next_u64());
        sample.settle(report);
        let planes = self.planes_by_residue();
        let instants = (planes.len() as u32).min(INSTANTS_MAX);
        for instant in 0..instants {
            sample.write(self.geometry.pages_per_plane().div_ceil(16));
            for residue in (instant..planes.len() as u32).step_by(instants as usize) {
                let share = self.share(pages, residue);
                self.copy_plane(planes[residue as usize], residue, share, &sample, &mut random);
            }
        }
    }

    /// Copies the simulated plane to `plane`, which holds the first `share` logical pages of `residue`.
    fn copy_plane(&mut self, plane: PlaneId, residue: u32, share: u32, sample: &Sample, random: &mut SimRng) {
        let first_block = self.geometry.first_block(plane).0;
        for block in sample.ftl.blocks.of_plane(PlaneId(0)) {
            self.blocks.copy_from(BlockId(first_block + block.0), &sample.ftl.blocks, block);
        }
        self.planes[plane.index()].copy_from(&sample.ftl.planes[0], first_block);

        let planes = self.geometry.planes();
        let first_page = self.first_page(plane);
        let renaming = Renaming::new(sample.pages, random);
        for (local, renamed) in renaming.enumerate() {
            let Some(ppn) = sample.ftl.lookup(Lpn(renamed)) else { continue };
            let ppn = Ppn(first_page + ppn.0);
            let local = local as u32;
            if local < share {
                self.mapping.set(Lpn(local * planes + residue), ppn);
            } else {
                // The plane holds one page fewer than the simulated one.
                self.invalidate(ppn);
            }
        }
        self.copy_translation(first_page, residue, sample);
    }

    /// Maps the translation pages of the plane of `residue`, whose first page is `first_page`, to where they are on the
    /// simulated one.
    fn copy_translation(&mut self, first_page: u32, residue: u32, sample: &Sample) {
        let (Some(own), Some(simulated)) = (self.translation, sample.ftl.translation) else { return };
        let mut own = own.of_residue(residue, self.geometry.planes());
        for lpn in simulated.all() {
            let Some(ppn) = sample.ftl.lookup(Lpn(lpn)) else { continue };
            let ppn = Ppn(first_page + ppn.0);
            match own.next() {
                Some(lpn) => {
                    self.mapping.set(Lpn(lpn), ppn);
                }
                None => self.invalidate(ppn),
            }
        }
    }

    pub(super) fn planes_by_residue(&self) -> Vec<PlaneId> {
        self.allocation.static_order().planes().to_vec()
    }

    fn first_page(&self, plane: PlaneId) -> u32 {
        self.geometry.ppn(self.geometry.first_block(plane), 0).0
    }
}

/// One plane under uniform random writes.
struct Sample {
    ftl: Ftl,
    idle: IdleDies,
    /// Logical pages that are written, from 0.
    pages: u32,
    random: SimRng,
}

impl Sample {
    /// A plane like those of `drive` on which `pages` pages are written in order.
    fn new(drive: &Ftl, pages: u32, seed: u64) -> Sample {
        let geometry = &drive.geometry;
        let mut plane = geometry.clone();
        (plane.channels, plane.chips_per_channel) = (1, 1);
        (plane.dies_per_chip, plane.planes_per_die) = (1, 1);
        plane.logical_pages = geometry.logical_pages.div_ceil(geometry.planes());
        let mut random = SimRng::new(seed);
        let config = Config {
            seed: random.next_u64(),
            gc: drive.gc.clone(),
            wear: config::Wear { static_levelling: false, ..drive.wear.clone() },
            mapping: drive.mapping_cache.clone(),
            ..Config::default()
        };
        let mut ftl = Ftl::new(&plane, &config);
        ftl.fill_sequentially(pages);
        Sample { ftl, idle: IdleDies::new(1), pages, random }
    }

    /// Overwrites `writes` random pages and returns how many pages were moved for it.
    fn write(&mut self, writes: u32) -> u64 {
        (0..writes).map(|_| self.ftl.write_untimed(Lpn(self.random.below(self.pages)), &self.idle)).sum()
    }

    /// Overwrites random pages until write amplification has settled.
    fn settle(&mut self, report: &mut PreconditionReport) {
        let window = self.ftl.geometry.pages_per_plane().div_ceil(2);
        // Of the last four windows, the latest last.
        let mut latest = [0.0; 4];
        report.settled = false;
        while report.windows < WINDOWS_MAX && !report.settled {
            latest.rotate_left(1);
            latest[3] = 1.0 + self.write(window) as f64 / f64::from(window);
            report.windows += 1;
            let (before, now) = (latest[0] + latest[1], latest[2] + latest[3]);
            report.settled = report.windows >= WINDOWS_MIN && (now - before).abs() <= SETTLED_WITHIN * now;
        }
        report.write_amplification = latest[3];
    }
}

/// A random bijection of the numbers below n: i goes to (a i + b) mod n, with a coprime to n. Iterates over the images
/// of 0, 1, 2 and so on.
struct Renaming {
    step: u32,
    next: u32,
    left: u32,
    n: u32,
}

impl Renaming {
    fn new(n: u32, random: &mut SimRng) -> Renaming {
        let step = loop {
            let step = random.below(n);
            if gcd(step, n) == 1 {
                break step;
            }
        };
        Renaming { step, next: random.below(n), left: n, n }
    }
}

impl Iterator for Renaming {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let image = self.next;
        let gap = self.n - self.step;
        self.next = if image >= gap { image - gap } else { image + self.step };
        Some(image)
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
