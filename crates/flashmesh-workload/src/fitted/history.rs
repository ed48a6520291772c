//! The history that a fit and a source share, and the description of a request by it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::classes::{AGE_MAX, PAGE_SECTORS, Relation, Target, Touched, USES_MAX, octave};
use super::pages::Pages;

/// Runs that are remembered, the same number as [`crate::statistics`] has.
const RUNS: usize = 32;
/// Requests to which a fresh page can be close.
pub(super) const RECENT: usize = 32;
/// Pages are close to one another when they are fewer pages apart.
pub(super) const NEAR_PAGES: u64 = 1024;
/// Pages of a region, the reach of a page of the map: 4 MiB.
pub(super) const REGION_PAGES: u64 = 1024;
/// Requests whose addresses are remembered.
const REMEMBERED: usize = 1 << 16;

/// A run of requests, each beginning where the one before ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The sector after its last one.
    pub(super) end: u64,
    pub(super) requests: u64,
}

/// A page on which requests began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) uses: u64,
    /// The sector at which the latest began.
    pub(super) sector: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// How many there were.
    pub(super) now: u64,
    pub(super) pages: Pages,
    /// By page.
    pub(super) starts: FxHashMap<u64, Start>,
    /// The latest first.
    pub(super) runs: Vec<Run>,
    /// The first sector and the number of sectors of the latest requests, as a ring.
    remembered: Vec<(u64, u64)>,
    /// Regions of [`REGION_PAGES`] in which requests began.
    regions: FxHashSet<u64>,
}

impl History {
    /// Describes a request that comes next.
    #[inline]
    pub(super) fn describe(&self, sector: u64, sectors: u64, kind: usize) -> Target {
        let (page, last_page) = (sector / PAGE_SECTORS, (sector + sectors - 1) / PAGE_SECTORS);
        let touched_last = self.pages.last(page);
        let touched = if touched_last == 0 {
            Touched::Never
        } else if last_page != page && self.pages.last(last_page) == 0 {
            Touched::Partly
        } else if self.pages.is_known_to(page, kind) {
            Touched::Alike
        } else {
            Touched::Otherwise
        };
        let age = octave(self.now + 1 - touched_last, AGE_MAX);
        if let Some(rank) = self.runs.iter().position(|run| run.end == sector) {
            let uses = octave(self.runs[rank].requests, USES_MAX);
            return Target { relation: Relation::Next, age: u32::from(rank > 0), uses, touched };
        }
        if touched_last == 0 {
            let age = match self.closest(page) {
                Some(_) => 1,
                None => 2 * u32::from(self.regions.contains(&(page / REGION_PAGES))),
            };
            return Target { relation: Relation::Fresh, age, uses: 0, touched };
        }
        match self.starts.get(&page) {
            Some(start) => Target { relation: Relation::Return, age, uses: octave(start.uses, USES_MAX), touched },
            None => Target { relation: Relation::Inside, age, uses: 0, touched },
        }
    }

    /// Adds the request. Returns how many requests began on its first page, this one included.
    #[inline]
    pub(super) fn record(&mut self, sector: u64, sectors: u64, kind: usize) -> u64 {
        let (page, last_page) = (sector / PAGE_SECTORS, (sector + sectors - 1) / PAGE_SECTORS);
        if self.remembered.len() < REMEMBERED {
            self.remembered.push((sector, sectors));
        } else {
            self.remembered[self.now as usize % REMEMBERED] = (sector, sectors);
        }
        self.now += 1;
        self.regions.insert(page / REGION_PAGES);
        self.pages.touch(page, last_page, self.now, kind);
        let start = self.starts.entry(page).or_insert(Start { uses: 0, sector });
        (start.uses, start.sector) = (start.uses + 1, sector);
        let uses = start.uses;
        let end = sector + sectors;
        match self.runs.iter().position(|run| run.end == sector) {
            Some(rank) => {
                self.runs[..=rank].rotate_right(1);
                self.runs[0] = Run { end, requests: self.runs[0].requests + 1 };
            }
            None => {
                self.runs.truncate(RUNS - 1);
                self.runs.insert(0, Run { end, requests: 1 });
            }
        }
        uses
    }

    /// First sector and size of the request `age` before the next one, from 1; `None` when it is forgotten.
    #[inline]
    pub(super) fn before(&self, age: u64) -> Option<(u64, u64)> {
        let is_remembered = (1..=self.now.min(REMEMBERED as u64)).contains(&age);
        is_remembered.then(|| self.remembered[(self.now - age) as usize % REMEMBERED])
    }

    /// How many pages `page` lies behind the first page of the closest recent request.
    #[inline]
    pub(super) fn closest(&self, page: u64) -> Option<i64> {
        (1..=RECENT as u64)
            .map_while(|age| self.before(age))
            .map(|(sector, _)| page as i64 - (sector / PAGE_SECTORS) as i64)
            .min_by_key(|distance| distance.unsigned_abs())
            .filter(|distance| distance.unsigned_abs() < NEAR_PAGES)
    }
}
