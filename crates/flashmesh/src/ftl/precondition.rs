//! The state of the drive before the first request, reached without simulating how it was filled.

use std::ops::Range;

use super::allocation::Share;
use super::open_blocks::OpenBlock;
use super::plane::Frontier;
use super::{Ftl, IdleDies, Partition};
use crate::config::{self, Config, FirmwarePolicy, PreconditionKind};
use crate::engine::random::SimRng;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};

/// What preconditioning has done.
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

/// Is told how much of the preconditioning is done, from 0 to 1: at its beginning, now and then, and at its end. The share is an
/// estimate; it does not fall.
pub type Watch<'a> = &'a dyn Fn(f64);

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
    /// *Sequential*: the first `fill` of the pages of each namespace lie in their order in the blocks of the planes that static
    /// allocation gives them, none invalid.
    ///
    /// *Random*: the steady state of uniform random writes to the first `fill` of the pages of each namespace. Under such writes
    /// the planes do not influence each other, and each of those that hold pages of the same namespaces is as good a sample of the
    /// steady state as any other. So of each kind one
    /// plane is simulated, by the code and the policies of the run, until its write amplification has settled. From
    /// then on its state is copied to one plane of its kind after the other (when there are very many, to several),
    /// after a sixteenth of the plane was written over again each time. Each copy renames the logical pages by another
    /// bijection of its own, an affine one, so that no two planes hold the same pages at the same places.
    ///
    /// Where each stream of the host writes to open blocks of its own, all that lies here was written by the first that uses the
    /// plane \[choice\].
    ///
    /// `seed` decides all random choices.
    ///
    /// Translation pages stay as they were laid out, in either case: how many of them are invalid in the steady state depends on
    /// what the cache of the map catches \[choice\].
    ///
    /// # Panics
    /// When something was written already.
    pub fn precondition(&mut self, config: &config::Precondition, seed: u64) -> PreconditionReport {
        self.precondition_watched(config, seed, &|_| {})
    }

    /// As [`Ftl::precondition`]; `watch` is told how far it is.
    pub(super) fn precondition_watched(
        &mut self,
        config: &config::Precondition,
        seed: u64,
        watch: Watch<'_>,
    ) -> PreconditionReport {
        let translation_pages = self.translation.map_or(0, |translation| u64::from(translation.count()));
        assert_eq!(self.mapped_pages(), translation_pages, "only a fresh drive can be preconditioned");
        let ranges = self.partition.beginnings(config.fill);
        let mut report = PreconditionReport { pages_mapped: 0, write_amplification: 1.0, windows: 0, settled: true };
        match config.kind {
            PreconditionKind::None => {}
            PreconditionKind::Sequential => self.fill_sequentially(&ranges, watch),
            PreconditionKind::Random => self.fill_randomly(&ranges, seed, &mut report, watch),
        }
        if config.kind != PreconditionKind::None {
            watch(1.0);
        }
        if self.rules.keeps_equal_pointers {
            self.level_write_pointers();
        }
        if config.kind != PreconditionKind::None {
            self.count_parts(0..self.geometry.logical_pages);
        }
        report.pages_mapped = self.mapped_pages() - translation_pages;
        report
    }

    /// Which of the pages of `ranges`, each of one part, static allocation gives each plane; planes in the order in which it first
    /// comes to them.
    pub(super) fn shares_by_plane(&self, ranges: &[Range<u32>]) -> Vec<(PlaneId, Vec<Share>)> {
        let mut places = vec![None; self.planes.len()];
        let mut by_plane: Vec<(PlaneId, Vec<Share>)> = Vec::new();
        for share in ranges.iter().flat_map(|range| self.allocation.static_order().shares(range)) {
            let at = *places[share.plane.index()].get_or_insert(by_plane.len());
            if at == by_plane.len() {
                by_plane.push((share.plane, Vec::new()));
            }
            by_plane[at].1.push(share);
        }
        by_plane
    }

    fn fill_sequentially(&mut self, ranges: &[Range<u32>], watch: Watch<'_>) {
        let all = ranges.iter().map(|range| f64::from(range.end - range.start)).sum::<f64>().max(1.0);
        let mut mapped = 0.0;
        watch(0.0);
        let mut next_page = vec![0; self.planes.len()];
        for (plane, shares) in self.shares_by_plane(ranges) {
            next_page[plane.index()] = self.next_fresh_page(plane).unwrap_or(0);
            let writer = self.planes[plane.index()].open.writer(None);
            self.open_and_fill(plane, Frontier::Host(writer), pages_of(&shares));
        }
        self.level_twins(Frontier::SHARED);
        for range in ranges {
            let shares = self.allocation.static_order().shares(range);
            let most = shares.iter().map(|share| share.count).max().unwrap_or(0);
            // Tiles of all planes in turn: the map is written in its order, each plane in its own.
            for tile in (0..most).step_by(TILE_PAGES as usize) {
                watch(mapped / all + f64::from(range.end - range.start) / all * f64::from(tile) / f64::from(most));
                for &Share { plane, first, step, count } in &shares {
                    let first_page = next_page[plane.index()];
                    for number in tile..count.min(tile + TILE_PAGES) {
                        self.mapping.set(Lpn(first + number * step), Ppn(first_page + number));
                    }
                }
            }
            mapped += f64::from(range.end - range.start);
            for share in shares {
                next_page[share.plane.index()] += share.count;
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
            *account.open.get_mut(frontier) = OpenBlock { block, next_page: programmed };
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

    fn fill_randomly(&mut self, ranges: &[Range<u32>], seed: u64, report: &mut PreconditionReport, watch: Watch<'_>) {
        let mut random = SimRng::new(seed);
        let mut kinds = self.kinds(ranges);
        // A small part of a small namespace may be less than a page: there is nothing to write.
        kinds.retain(|kind| kind.pages > 0);
        if kinds.is_empty() {
            return;
        }
        let planes: usize = kinds.iter().map(|kind| kind.planes.len()).sum();
        report.settled = true;
        report.write_amplification = 0.0;
        // In planes copied: a sample is worth about as many as the windows it is simulated for.
        let all = (planes + kinds.len() * WINDOWS_MIN as usize) as f64;
        let mut done = 0.0;
        watch(0.0);
        // The planes of a die that use the same blocks are simulated together.
        let together = if self.has_twins() { self.geometry.planes_per_die } else { 1 };
        for Kind { planes: of_kind, pages, translation_pages, .. } in &mut kinds {
            if together > 1 {
                of_kind.sort_by_key(|filled| filled.plane);
            }
            let groups: Vec<&[Filled]> = of_kind.chunks(together as usize).collect();
            let mut sample = Sample::new(self, together, *pages, *translation_pages, random.next_u64());
            let settled = sample.settle(&|share| watch((done + share * f64::from(WINDOWS_MIN)) / all));
            done += f64::from(WINDOWS_MIN);
            report.windows = report.windows.max(settled.windows);
            report.settled &= settled.settled;
            report.write_amplification += settled.write_amplification * of_kind.len() as f64 / planes as f64;
            let instants = (groups.len() as u32).min(INSTANTS_MAX);
            for instant in 0..instants {
                sample.write((together * self.geometry.pages_per_plane()).div_ceil(16));
                for group in groups.iter().skip(instant as usize).step_by(instants as usize) {
                    self.copy_planes(group, &sample, &mut random);
                    done += group.len() as f64;
                    watch(done / all);
                }
            }
        }
    }

    /// The planes that hold pages of `ranges`, by which of these they hold.
    fn kinds(&self, ranges: &[Range<u32>]) -> Vec<Kind> {
        let translation = self.translation.map_or(Vec::new(), |pages| self.partition.within(pages.all()));
        let mut of_map: Vec<Vec<Share>> = vec![Vec::new(); self.planes.len()];
        for (plane, shares) in self.shares_by_plane(&translation) {
            of_map[plane.index()] = shares;
        }
        let order = self.allocation.static_order();
        let members: Vec<&[PlaneId]> =
            ranges.iter().map(|range| order.members(order.part_of(Lpn(range.start)))).collect();
        let mut kinds: Vec<Kind> = Vec::new();
        for (plane, shares) in self.shares_by_plane(ranges) {
            let holds: Vec<bool> = members.iter().map(|planes| planes.binary_search(&plane).is_ok()).collect();
            let at = kinds.iter().position(|kind| kind.holds == holds).unwrap_or(kinds.len());
            if at == kinds.len() {
                kinds.push(Kind { holds, planes: Vec::new(), pages: 0, translation_pages: 0 });
            }
            let kind = &mut kinds[at];
            let translation = std::mem::take(&mut of_map[plane.index()]);
            kind.pages = kind.pages.max(pages_of(&shares));
            kind.translation_pages = kind.translation_pages.max(pages_of(&translation));
            kind.planes.push(Filled { plane, shares, translation });
        }
        kinds
    }

    /// Copies the simulated planes, one or those of a die, to others, with the logical pages of these.
    fn copy_planes(&mut self, group: &[Filled], sample: &Sample, random: &mut SimRng) {
        let Some(Filled { plane: first, .. }) = group.first() else { return };
        let first_block = self.geometry.first_block(*first).0;
        for (source, filled) in sample.ftl.planes.iter().zip(group) {
            self.planes[filled.plane.index()].copy_from(source, first_block);
        }
        for source in (0..group.len() as u32).map(PlaneId) {
            for block in sample.ftl.blocks.of_plane(source) {
                self.blocks.copy_from(BlockId(first_block + block.0), &sample.ftl.blocks, block);
            }
        }

        let first_page = self.first_page(*first);
        let mut own = group.iter().flat_map(|filled| &filled.shares).flat_map(Share::pages);
        for renamed in Renaming::new(sample.pages, random) {
            self.rename(sample, renamed, own.next(), first_page);
        }
        let mut own = group.iter().flat_map(|filled| &filled.translation).flat_map(Share::pages);
        for simulated in sample.ftl.translation.map_or(0..0, |translation| translation.all()) {
            self.rename(sample, simulated, own.next(), first_page);
        }
    }

    /// Maps `own` to where the simulated plane has the page `simulated`; the page is invalid where the plane, whose first page is
    /// `first_page`, holds one page fewer than that.
    #[inline]
    fn rename(&mut self, sample: &Sample, simulated: u32, own: Option<Lpn>, first_page: u32) {
        let Some(ppn) = sample.ftl.lookup(Lpn(simulated)) else { return };
        let ppn = Ppn(first_page + ppn.0);
        match own {
            Some(lpn) => {
                self.mapping.set(lpn, ppn);
            }
            None => {
                self.invalidate(ppn);
            }
        }
    }

    fn first_page(&self, plane: PlaneId) -> u32 {
        self.geometry.ppn(self.geometry.first_block(plane), 0).0
    }
}

/// Planes that hold pages of the same ranges, as many each but for the rounding.
struct Kind {
    /// By range, whether they do.
    holds: Vec<bool>,
    planes: Vec<Filled>,
    /// The most pages of the host on one of them.
    pages: u32,
    /// The most translation pages on one of them.
    translation_pages: u32,
}

/// A plane and the logical pages it is given.
struct Filled {
    plane: PlaneId,
    shares: Vec<Share>,
    translation: Vec<Share>,
}

fn pages_of(shares: &[Share]) -> u32 {
    shares.iter().map(|share| share.count).sum()
}

/// One plane, or a die whose planes use the same blocks, under uniform random writes.
struct Sample {
    ftl: Ftl,
    idle: IdleDies,
    /// Logical pages that are written, from 0.
    pages: u32,
    random: SimRng,
}

impl Sample {
    /// So many planes like those of `drive`, each with `translation_pages`, on which `pages` pages each are written in order.
    fn new(drive: &Ftl, planes: u32, pages: u32, translation_pages: u32, seed: u64) -> Sample {
        let (pages, translation_pages) = (planes * pages, planes * translation_pages);
        let geometry = &drive.geometry;
        let mut plane = geometry.clone();
        (plane.channels, plane.chips_per_channel) = (1, 1);
        (plane.dies_per_chip, plane.planes_per_die) = (1, planes);
        plane.logical_pages = planes * geometry.logical_pages.div_ceil(geometry.planes());
        let mut random = SimRng::new(seed);
        let config = Config {
            seed: random.next_u64(),
            gc: drive.collection.gc().clone(),
            wear: config::Wear { static_levelling: false, ..drive.collection.wear().clone() },
            ftl: config::Ftl {
                policy: if drive.has_twins() { FirmwarePolicy::Tbm } else { FirmwarePolicy::Page },
                ..Default::default()
            },
            ..Config::default()
        };
        // Behind them, whether they are written or not.
        let translation = drive.translation.map(|all| all.scaled(plane.logical_pages.max(pages), translation_pages));
        let end = translation.map_or(plane.logical_pages.max(pages), |translation| translation.all().end);
        let partition = Partition::undivided(&plane, &config, end);
        let mut ftl = Ftl::divided(&plane, &config, partition, translation);
        ftl.rules.shares_moves = drive.rules.shares_moves;
        let written = 0..pages;
        ftl.fill_sequentially(std::slice::from_ref(&written), &|_| {});
        Sample { ftl, idle: IdleDies::new(1), pages, random }
    }

    /// Overwrites `writes` random pages and returns how many pages were moved for it.
    fn write(&mut self, writes: u32) -> u64 {
        (0..writes).map(|_| self.ftl.write_untimed(Lpn(self.random.below(self.pages)), &self.idle)).sum()
    }

    /// Overwrites random pages until write amplification has settled. `watch` is told how much of what it takes at least is done.
    fn settle(&mut self, watch: Watch<'_>) -> Settled {
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

/// How the simulation of a plane went.
struct Settled {
    /// In the last window.
    write_amplification: f64,
    windows: u32,
    /// Whether it had settled when the last window ended.
    settled: bool,
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
