//! The history of requests, and the description of a request relative to it. Shared by fitting and generation.

use rustc_hash::{FxHashMap, FxHashSet};

use super::classes::{AGE_MAX, LocalityClass, PAGE_SECTORS, PageOverlap, Relation, USES_MAX, octave};
use super::pages::PageHistory;

/// The number of sequential runs tracked at a time, the same as in [`crate::statistics`].
const RUNS: usize = 32;
/// The number of latest requests whose distance to a fresh page is considered.
pub(super) const RECENT: usize = 32;
/// The distance in pages below which two pages are near each other.
pub(super) const NEAR_PAGES: u64 = 1024;
/// The pages of a region, 4 MiB: the range that one page of the mapping table covers.
pub(super) const REGION_PAGES: u64 = 1024;
/// The number of latest requests whose addresses are kept.
const REMEMBERED: usize = 1 << 16;

/// A run: consecutive requests, each of which begins where the previous one ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The sector after the last sector of the run.
    pub(super) end: u64,
    pub(super) requests: u64,
}

/// A page where requests began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) uses: u64,
    /// The first sector of the latest request that began on the page.
    pub(super) sector: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// The number of requests so far.
    pub(super) now: u64,
    pub(super) pages: PageHistory,
    /// The pages where requests began, by page number.
    pub(super) starts: FxHashMap<u64, Start>,
    /// The tracked runs, the latest first.
    pub(super) runs: Vec<Run>,
    /// The first sector and the number of sectors of the latest requests, as a ring buffer.
    remembered: Vec<(u64, u64)>,
    /// The regions of [`REGION_PAGES`] pages in which requests began.
    regions: FxHashSet<u64>,
}

impl History {
    /// Returns the locality class of a request that would follow the recorded requests.
    pub(super) fn classify(&self, sector: u64, sectors: u64, kind: usize) -> LocalityClass {
        let (page, last_page) = (sector / PAGE_SECTORS, (sector + sectors - 1) / PAGE_SECTORS);
        let touched_last = self.pages.last_request(page);
        let touched = if touched_last == 0 {
            PageOverlap::Never
        } else if last_page != page && self.pages.last_request(last_page) == 0 {
            PageOverlap::Partly
        } else if self.pages.is_known_to(page, kind) {
            PageOverlap::Alike
        } else {
            PageOverlap::Otherwise
        };
        let age = octave(self.now + 1 - touched_last, AGE_MAX);
        if let Some(rank) = self.runs.iter().position(|run| run.end == sector) {
            let uses = octave(self.runs[rank].requests, USES_MAX);
            return LocalityClass { relation: Relation::Next, age: u32::from(rank > 0), uses, touched };
        }
        if touched_last == 0 {
            let age = match self.closest(page) {
                Some(_) => 1,
                None => 2 * u32::from(self.regions.contains(&(page / REGION_PAGES))),
            };
            return LocalityClass { relation: Relation::Fresh, age, uses: 0, touched };
        }
        match self.starts.get(&page) {
            Some(start) => {
                LocalityClass { relation: Relation::Return, age, uses: octave(start.uses, USES_MAX), touched }
            }
            None => LocalityClass { relation: Relation::Inside, age, uses: 0, touched },
        }
    }

    /// Adds a request. Returns the number of requests that began on its first page, including this one.
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

    /// Returns the first sector and the number of sectors of an earlier request: `age` 1 is the latest request, 2 the one before. `None` unless that
    /// request is among the last [`REMEMBERED`].
    pub(super) fn before(&self, age: u64) -> Option<(u64, u64)> {
        let is_remembered = (1..=self.now.min(REMEMBERED as u64)).contains(&age);
        is_remembered.then(|| self.remembered[(self.now - age) as usize % REMEMBERED])
    }

    /// Returns the distance in pages from the nearest recent request to `page`, negative if `page` has the lower address. `None` if no recent request
    /// is near.
    pub(super) fn closest(&self, page: u64) -> Option<i64> {
        (1..=RECENT as u64)
            .map_while(|age| self.before(age))
            .map(|(sector, _)| page as i64 - (sector / PAGE_SECTORS) as i64)
            .min_by_key(|distance| distance.unsigned_abs())
            .filter(|distance| distance.unsigned_abs() < NEAR_PAGES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the 32 tracked runs after 33 requests far from each other, each the start of a run.
    #[test]
    fn the_run_continued_longest_ago_is_forgotten_when_another_begins() {
        let mut history = History::default();
        let start = |run: u64| run << 30;
        for run in 0..33 {
            history.record(start(run), 8, 0);
        }
        let follows = |run: u64| history.classify(start(run) + 8, 8, 0).relation;
        assert_eq!(follows(0), Relation::Fresh);
        assert!((1..33).all(|run| follows(run) == Relation::Next));
    }
}
