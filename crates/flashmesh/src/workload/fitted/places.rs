//! Which pages were touched when, and where runs stand: what a fit and a source both keep.

use rustc_hash::FxHashMap;

/// The page of a profile, in bytes and in sectors of 512 B.
pub(super) const PAGE_BYTES: u64 = 4096;
/// Sectors of 512 B in a page.
pub(super) const PAGE_SECTORS: u64 = 8;
/// Addresses keep their place modulo a stripe of so many pages.
pub(super) const STRIPE_PAGES: u64 = 256;

const CHUNK_PAGES: u64 = 16;

/// The request that touched each page last; memory grows with the footprint.
#[derive(Clone, Debug, Default)]
pub(super) struct PageTimes {
    chunks: FxHashMap<u64, [u32; CHUNK_PAGES as usize]>,
}

impl PageTimes {
    /// Touches the pages from `first` to `last` by request `now`, which is not 0.
    #[inline]
    pub(super) fn touch(&mut self, first: u64, last: u64, now: u32) {
        let mut page = first;
        while page <= last {
            let chunk = self.chunks.entry(page / CHUNK_PAGES).or_insert([0; CHUNK_PAGES as usize]);
            let end = last.min(page | (CHUNK_PAGES - 1));
            chunk[(page % CHUNK_PAGES) as usize..=(end % CHUNK_PAGES) as usize].fill(now);
            page = end + 1;
        }
    }

    /// The request that touched `page` last; 0 when none did.
    #[inline]
    pub(super) fn of(&self, page: u64) -> u32 {
        self.chunks.get(&(page / CHUNK_PAGES)).map_or(0, |chunk| chunk[(page % CHUNK_PAGES) as usize])
    }

    /// How many pages from `first` on were not touched, up to `most`.
    pub(super) fn untouched_from(&self, first: u64, most: u64) -> u64 {
        let mut page = first;
        while page < first + most {
            let end = (page | (CHUNK_PAGES - 1)) + 1;
            if let Some(chunk) = self.chunks.get(&(page / CHUNK_PAGES)) {
                let rest = &chunk[(page % CHUNK_PAGES) as usize..];
                if let Some(touched) = rest.iter().position(|&time| time != 0) {
                    page += touched as u64;
                    break;
                }
            }
            page = end;
        }
        (page - first).min(most)
    }
}

/// A run of requests, each next to the one before, in sectors of 512 B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Where its latest request begins.
    pub(super) first: u64,
    /// Where its latest request ends.
    pub(super) end: u64,
    /// Its requests: in a fit those so far, in a source those to come.
    pub(super) requests: u32,
    /// The operation of its first request.
    pub(super) operation: u32,
}

/// The latest runs, the latest first.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenRuns {
    runs: Vec<Run>,
}

/// Runs that are remembered.
pub(super) const RUNS_OPEN: usize = 32;

impl OpenRuns {
    /// The run at whose end a request begins, counted from the latest.
    #[inline]
    pub(super) fn ending_at(&self, sector: u64) -> Option<usize> {
        self.runs.iter().position(|run| run.end == sector)
    }

    /// The run before which a request ends.
    #[inline]
    pub(super) fn beginning_at(&self, sector: u64) -> Option<usize> {
        self.runs.iter().position(|run| run.first == sector)
    }

    /// The run at `rank`, or the oldest one.
    #[inline]
    pub(super) fn at(&self, rank: usize) -> Option<(usize, Run)> {
        let rank = rank.min(self.runs.len().checked_sub(1)?);
        Some((rank, self.runs[rank]))
    }

    /// The run at `rank` if requests of it are still to come, or else the nearest of which there are; the run at `rank` when
    /// there is none at all.
    #[inline]
    pub(super) fn unfinished(&self, rank: usize) -> Option<(usize, Run)> {
        let (rank, run) = self.at(rank)?;
        let is_unfinished = |rank: &usize| self.runs[*rank].requests > 0;
        let nearest = (rank..self.runs.len()).find(is_unfinished).or_else(|| (0..rank).rev().find(is_unfinished));
        Some(nearest.map_or((rank, run), |rank| (rank, self.runs[rank])))
    }

    /// Names the latest run, when `relation` begins one.
    #[inline]
    pub(super) fn name_latest(&mut self, operation: u32, relation: Relation) {
        if let (false, Some(run)) = (relation.goes_on(), self.runs.first_mut()) {
            run.operation = operation;
        }
    }

    /// All runs.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter()
    }

    /// A request goes on with the run at `rank`, or begins one; the run that is forgotten for it.
    #[inline]
    pub(super) fn advance(&mut self, rank: Option<usize>, run: Run) -> Option<Run> {
        match rank {
            Some(rank) => {
                self.runs[..=rank].rotate_right(1);
                self.runs[0] = run;
                None
            }
            None => {
                let forgotten = if self.runs.len() == RUNS_OPEN { self.runs.pop() } else { None };
                self.runs.insert(0, run);
                forgotten
            }
        }
    }
}

/// How a request lies to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// At the end of the latest run of its kind.
    Forward,
    /// At the end of another run of its kind.
    ForwardOther,
    /// Right before a run of its kind.
    Backward,
    /// At a place where no request jumped to, on a page that was never touched.
    Fresh,
    /// At a place where no request jumped to, on a page that was touched.
    Overlap,
    /// At a place where a request jumped to before.
    Reuse,
    /// As fresh, but close to one of the latest requests.
    NearFresh,
    /// As overlap, but close to one of the latest requests.
    NearOverlap,
    /// As reuse, after a few requests.
    Again,
}

impl Relation {
    pub(super) const ALL: [Relation; 9] = [
        Relation::Forward,
        Relation::ForwardOther,
        Relation::Backward,
        Relation::Fresh,
        Relation::Overlap,
        Relation::Reuse,
        Relation::NearFresh,
        Relation::NearOverlap,
        Relation::Again,
    ];

    /// Whether a request goes on with a run; others jump.
    #[inline]
    pub(super) fn goes_on(self) -> bool {
        matches!(self, Relation::Forward | Relation::ForwardOther | Relation::Backward)
    }

    /// Its number in a profile.
    pub(super) fn number(self) -> u32 {
        self as u32
    }
}

/// Requests that another one can be close to.
pub(super) const RECENT: usize = 32;
/// Requests are close to one another when they begin fewer pages apart.
pub(super) const NEAR_PAGES: u64 = 1024;

/// Dies of the reference drive: pages so many apart lie on one die.
const DIES: usize = 64;

/// Where the latest requests lie, and how they load the dies.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    /// First page, and how many.
    requests: [(u64, u64); RECENT],
    count: usize,
    /// How many of them touch each die; those that touch all are left out.
    loads: [u8; DIES],
}

impl Default for Recent {
    fn default() -> Recent {
        Recent { requests: [(0, 0); RECENT], count: 0, loads: [0; DIES] }
    }
}

impl Recent {
    #[inline]
    pub(super) fn push(&mut self, first: u64, pages: u64) {
        let (old_first, old_pages) = std::mem::replace(&mut self.requests[self.count % RECENT], (first, pages));
        if old_pages < DIES as u64 {
            (old_first..old_first + old_pages).for_each(|page| self.loads[page as usize % DIES] -= 1);
        }
        if pages < DIES as u64 {
            (first..first + pages).for_each(|page| self.loads[page as usize % DIES] += 1);
        }
        self.count += 1;
    }

    /// How many of the latest requests touch the die of `page`.
    #[inline]
    pub(super) fn load(&self, page: u64) -> u32 {
        u32::from(self.loads[page as usize % DIES])
    }

    /// The first page of the request so many before the latest.
    #[inline]
    pub(super) fn at(&self, rank: usize) -> Option<u64> {
        (rank < self.count.min(RECENT)).then(|| self.requests[(self.count - 1 - rank) % RECENT].0)
    }

    /// The request that begins closest to `page`, the latest of them, and how many pages `page` lies behind its own.
    #[inline]
    pub(super) fn closest(&self, page: u64) -> Option<(usize, i64)> {
        (0..self.count.min(RECENT))
            .filter_map(|rank| Some((rank, page as i64 - self.at(rank)? as i64)))
            .min_by_key(|(_, distance)| distance.unsigned_abs())
            .filter(|(_, distance)| distance.unsigned_abs() < NEAR_PAGES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_know_who_touched_them_last() {
        let mut times = PageTimes::default();
        times.touch(14, 40, 1);
        times.touch(30, 30, 2);
        assert_eq!([13, 14, 29, 30, 31, 40, 41].map(|page| times.of(page)), [0, 1, 1, 2, 1, 1, 0]);
        assert_eq!(
            (times.untouched_from(41, 1000), times.untouched_from(0, 100), times.untouched_from(3, 5)),
            (1000, 14, 5)
        );
        assert_eq!((times.untouched_from(40, 2), times.untouched_from(13, 2), times.untouched_from(13, 0)), (0, 1, 0));
    }

    #[test]
    fn runs_are_found_by_their_ends_and_the_oldest_is_forgotten() {
        let mut runs = OpenRuns::default();
        for start in 0..RUNS_OPEN as u64 + 1 {
            runs.advance(None, Run { first: start * 100, end: start * 100 + 8, requests: 0, operation: 0 });
        }
        assert_eq!((runs.ending_at(8), runs.ending_at(108)), (None, Some(RUNS_OPEN - 1)));
        runs.advance(Some(RUNS_OPEN - 1), Run { first: 108, end: 116, requests: 1, operation: 0 });
        assert_eq!(runs.unfinished(7).map(|(rank, _)| rank), Some(0));
        assert_eq!((runs.ending_at(116), runs.beginning_at(108)), (Some(0), Some(0)));
        assert_eq!(runs.at(99).map(|(rank, run)| (rank, run.first)), Some((RUNS_OPEN - 1, 200)));
    }
}
