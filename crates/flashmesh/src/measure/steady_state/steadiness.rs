//! Verdict on the steady state: whether the figures of a run are those of its steady state, and the reasons if not.
//!
//! Completed requests do not show a transient that begins after the end of the run, but the fill levels of the stores do. Stores are the free blocks,
//! the device cache, the SLC cache and the queues. While a store absorbs a surplus, the drive is not in steady state.

use super::batches::{BATCH_REQUESTS_MIN, Batches, CumulativeSamples, DriveSample, FillLevels, RequestSample};
use super::stationarity::RANGE_MAX;
use super::window_drift::WindowDrift;
use crate::measure::stream::MeasuredKind;
use crate::names;
use crate::quantities;
use crate::units::Time;

/// Maximum change of the fill level of a balanced store (free pages, device cache, SLC cache, queues) in the window, as a share of the flow
/// through the store. \[choice\]
const IMBALANCE_MAX: f64 = 0.05;

/// Minimum number of batches in a window for a verdict on its steadiness. \[choice\]
const BATCHES_MIN: usize = 10;

/// Minimum number of turnovers in a window: the number of its requests, divided by the mean number of requests in flight. \[choice\]
const TURNOVERS_MIN: f64 = 10.0;

/// Minimum number of rounds of GC in a window. In a round, every set of planes that are collected together is collected once. For a run
/// that begins with its sets at random phases of collection, [`COLLECTIONS_MIN`] and [`SETS_MIN`] lower this minimum. \[choice\]
const ROUNDS_MIN: f64 = 2.0;

/// Number of sets of planes from which on a window needs no minimum of collections, if the run begins with its sets at random phases of
/// collection. \[choice\]
const SETS_MIN: f64 = 8.0;

/// Minimum number of collections in a window, for a run with fewer than [`SETS_MIN`] sets of planes that begins with them at random phases
/// of collection. \[choice\]
const COLLECTIONS_MIN: f64 = 4.0;

/// Number of overwrites of the drive after which the valid pages of its blocks are distributed as in steady state. Follows the workload independent
/// preconditioning of the SNIA (Solid State Storage Performance Test Specification 2.0.2, WIPC). Not required if the run begins in steady state.
const OVERWRITES: f64 = 2.0;

/// Maximum half-width of the 95 % intervals of IOPS and of mean latencies of a steady window, as a share of the measure. A wider interval would hide a
/// drift over [`RANGE_MAX`]. \[choice\]
const NOISE_MAX: f64 = RANGE_MAX / 2.0;

names! {
    /// Why the figures of a run are not those of its steady state.
    Unsteady {
        /// Writes take free blocks, and no collection has begun.
        CollectionAhead = "collection-ahead",
        /// Writes take more free pages than collection gives back.
        FreePagesFall = "free-pages-fall",
        /// Collection gives back more free pages than writes take.
        FreePagesRise = "free-pages-rise",
        /// The window is shorter than two rounds of collection, or than four collections if the run began with collections at random phases.
        Rounds = "rounds",
        /// The run did not begin in the steady state of its workload, and has overwritten the drive less than twice.
        Overwrites = "overwrites",
        /// The device cache fills or empties.
        CacheFills = "cache-fills",
        /// The SLC cache fills or empties.
        SlcFills = "slc-fills",
        /// Requests arrive faster than the drive completes them.
        Backlog = "backlog",
        /// No end of the warm-up was found.
        WarmUp = "warm-up",
        /// IOPS, or the mean latency of all requests, reads or writes, drift by more than the SNIA allows, and by more than their noise explains.
        Drift = "drift",
        /// There are too few requests to tell: fewer than ten batches, fewer than ten times those in flight, or so few that a 95 % interval of
        /// IOPS, or of the mean latency of all requests, reads or writes, is wider than 10 % on either side.
        Short = "short",
    }
}

quantities! {
    /// Verdict on the steady state ([steady-state.md](steady-state.md)). Judged over the measured window, or over the whole run without one.
    SteadinessReport as "Steadiness" {
        /// Whether the figures are those of the steady state.
        steady: bool;
        /// Reasons against a steady state, the most important first; empty when `steady`.
        reasons: Vec<Unsteady>;
        /// Estimated number of requests of a run that is long enough.
        requests_needed: Option<u64>, in "requests", null "when `steady`, or when no length would be enough";
    }
}

/// Properties of a drive that determine how long it takes to reach its steady state.
#[derive(Clone, Copy, Debug)]
pub struct DriveScale {
    /// Number of sets of planes. All planes of a set are collected at the same time.
    pub sets: u64,
    /// Number of planes in a set. A collection erases one block in each of these planes.
    pub planes_of_set: u64,
    pub block_pages: u64,
    /// Pages of the SLC cache; 0 without an SLC cache.
    pub slc_pages: u64,
    /// Logical pages of the host that hold data.
    pub mapped_pages: u64,
    /// Whether preconditioning drew the initial state from the steady state of the run's own writes.
    pub starts_steady: bool,
}

impl DriveScale {
    /// Returns the mean number of free pages that a collection of a set of planes gains. Uses the counts of the whole run, because most
    /// moves of a short window belong to collections that began earlier.
    fn gained_of_victim(&self, last: &DriveSample) -> f64 {
        let gc = &last.counts.gc;
        let moved = gc.pages_moved as f64 / gc.collections.max(1) as f64;
        self.planes_of_set as f64 * (self.block_pages as f64 - moved).max(1.0)
    }

    /// Returns two standard deviations of the change of all free pages without a trend. The free pages of a set of planes follow a sawtooth, which
    /// rises by one block per plane at an erase and falls until the next erase. If each sawtooth begins and ends at a random phase, the variance of
    /// its change is 1/6 of its squared height.
    fn change_by_chance(&self) -> f64 {
        2.0 * (self.sets as f64 / 6.0).sqrt() * (self.planes_of_set * self.block_pages) as f64
    }
}

/// Window of a run to which the verdict applies.
#[derive(Clone, Copy, Debug)]
pub struct WindowSummary {
    pub start: Time,
    /// Completed requests of the window.
    pub requests: u64,
    pub requests_of_run: u64,
    /// Whether the warm-up ended because it met its condition; `None` without a warm-up.
    pub warm_up_ended: Option<bool>,
}

/// Change of the fill level of a store (cache, free pages, queue) over the window, and the flow through the store. Both are in pages; for
/// queues, in requests.
struct FillTrend {
    rise: f64,
    through: f64,
}

impl FillTrend {
    fn is_unbalanced(&self) -> bool {
        self.rise.abs() > IMBALANCE_MAX * self.through
    }

    /// Returns the number of pages that a store of `filled` pages, at most `full`, gains or loses until it is full or empty.
    fn pages_left(&self, filled: u64, full: u64) -> f64 {
        (if self.rise > 0.0 { full.saturating_sub(filled) } else { filled }) as f64
    }
}

impl SteadinessReport {
    /// Returns the verdict on the steady state over `window`. If the run is not steady, the verdict includes the reasons, and an estimate
    /// of the number of requests that a run needs to be steady.
    pub fn new(batches: &Batches, stores: &DriveScale, window: &WindowSummary) -> SteadinessReport {
        let marks = batches.drive();
        let steps = marks.batch_indices(window.start);
        if steps.len() < BATCHES_MIN {
            let needed = window.requests_of_run.saturating_mul(4).max(1_000);
            return SteadinessReport { steady: false, reasons: vec![Unsteady::Short], requests_needed: Some(needed) };
        }
        let drift = WindowDrift::new(batches.requests(), window.start);
        let in_flight = in_flight(batches.requests(), window.start);
        let judged = WindowAnalysis { marks, first: steps.start, stores, window, drift, in_flight };
        let mut found: Vec<(Unsteady, Option<u64>)> = judged.storage_findings();
        found.extend(judged.request_findings());
        let longest = |needed: Vec<Option<u64>>| needed.into_iter().collect::<Option<Vec<u64>>>()?.into_iter().max();
        SteadinessReport {
            steady: found.is_empty(),
            requests_needed: longest(found.iter().map(|&(_, needed)| needed).collect()),
            reasons: found.into_iter().map(|(reason, _)| reason).collect(),
        }
    }
}

/// Minimum number of marks (samples of the drive) since the start of a run for its device cache and SLC cache to count as balanced. \[choice\]
const MARKS_OF_BALANCE: usize = 32;

/// Returns whether the device cache and the SLC cache were in balance over the second half of the run, that is, as much data left them as entered.
/// False with too few marks (samples of the drive) or requests to tell, and if the run has written some pages, but fewer than may be dirty in the
/// device cache.
pub fn are_stores_balanced(batches: &Batches) -> bool {
    let marks = batches.drive().values();
    if marks.len() < MARKS_OF_BALANCE || batches.count(None) < BATCH_REQUESTS_MIN * MARKS_OF_BALANCE as u64 {
        return false;
    }
    let (before, half) = (&marks[marks.len() / 2 - 1], &marks[marks.len() / 2..]);
    let DriveSample { counts, levels } = &marks[marks.len() - 1];
    // Without any writes, the device cache is balanced.
    if (1..levels.dirty_limit).contains(&counts.flash.pages_written) {
        return false;
    }
    let flow = |level: fn(&FillLevels) -> u64, count: fn(&DriveSample) -> u64| FillTrend {
        rise: growth(before, half, 0.0, level),
        through: (count(&half[half.len() - 1]) - count(before)) as f64,
    };
    let cache = flow(|levels| levels.dirty_pages, |mark| mark.counts.flash.pages_written);
    let slc = flow(|levels| levels.slc_pages, |mark| mark.counts.flash.user_programs);
    !cache.is_unbalanced() && !slc.is_unbalanced()
}

/// Threshold of the change of the reserve of free pages, in standard deviations. The change of a balanced reserve exceeds this threshold
/// with 1 % probability.
const DEVIATIONS_OF_RESERVE: f64 = 2.576;

/// Upper limit of the share of collecting sets of planes in the noise estimate of the reserve (free pages plus pages reclaimed by
/// collections in progress). Below 1, because at 1 the estimate would be zero, although the gains of victims differ even if all sets
/// collect. \[choice\]
const COLLECTING_MAX: f64 = 0.9;

/// Reserve of free pages: the free pages of the drive, plus the pages that GC in progress has reclaimed. A write takes one page from the
/// reserve. A move of GC adds the gain of its victim block divided by the number of valid pages of the block.
struct Reserve {
    flow: FillTrend,
    /// Standard deviation of the change of the reserve of free pages, in pages, if the collections of different sets of planes are at
    /// independent phases.
    deviation: f64,
}

impl Reserve {
    /// Measures the change of the reserve of free pages from the first of `marks` (samples of the drive at equal intervals) to the last.
    fn new(scale: &DriveScale, marks: &[DriveSample]) -> Reserve {
        let before = &marks[0];
        let (sets, last) = (scale.sets as f64, &marks[marks.len() - 1]);
        let through = (last.counts.flash.user_programs - before.counts.flash.user_programs) as f64;
        let rise = growth(before, marks, BACK_WITHIN * through, |levels| levels.reserve_pages);
        // Long windows: the reserve of a collecting set of planes is a saw-tooth as high as the gain of a victim, and the phases at both
        // ends are independent. The difference of two uniform phases has a variance of 1/6.
        let long = (sets / 6.0).sqrt() * scale.gained_of_victim(last);
        // Short windows: each set of planes either collects all the time or not at all. Only the collecting sets reclaim pages, while all
        // sets receive writes.
        let victims: u64 = marks.iter().map(|mark| mark.levels.victims).sum();
        let planes = sets * scale.planes_of_set as f64 * marks.len() as f64;
        let collecting = (victims as f64 / planes).clamp(1.0 / planes, COLLECTING_MAX);
        let reclaimed = (rise + through).max(0.0);
        let short = ((1.0 - collecting) / collecting / sets).sqrt() * (reclaimed + collecting * through);
        Reserve { flow: FillTrend { rise, through }, deviation: long.min(short) }
    }

    fn is_unbalanced(&self) -> bool {
        self.flow.is_unbalanced() && self.flow.rise.abs() > DEVIATIONS_OF_RESERVE * self.deviation
    }
}

/// Maximum distance between a fill level of a store and its level at the start of the window at which the level counts as returned to the
/// start; as a share of the flow through the store. \[choice\]
const BACK_WITHIN: f64 = IMBALANCE_MAX / 2.0;

/// Returns the growth of a store's fill level over `marks`: the rise of the least-squares line, or the difference between the last mark and
/// `before`, whichever is larger in magnitude. The line alone misses most of the growth of a store that fills early. Returns 0 if the level
/// comes back within `slack` of its start in the second half of `marks`, because it then only fluctuates.
fn growth(before: &DriveSample, marks: &[DriveSample], slack: f64, level: impl Fn(&FillLevels) -> u64) -> f64 {
    let at = |mark: &DriveSample| level(&mark.levels) as f64;
    let start = at(before);
    let later = || marks[marks.len() / 2..].iter().map(at);
    if later().any(|level| level <= start + slack) && later().any(|level| level >= start - slack) {
        return 0.0;
    }
    let difference = at(&marks[marks.len() - 1]) - start;
    let rise = rise(marks, &level);
    if difference.abs() > rise.abs() { difference } else { rise }
}

/// Returns the rise of the least-squares line through the fill levels at `marks` (samples of the drive), from the first mark to the last.
fn rise(marks: &[DriveSample], level: impl Fn(&FillLevels) -> u64) -> f64 {
    let levels: Vec<f64> = marks.iter().map(|mark| level(&mark.levels) as f64).collect();
    let count = levels.len() as f64;
    let middle = (count - 1.0) / 2.0;
    let mean = levels.iter().sum::<f64>() / count;
    let place = |index: usize| index as f64 - middle;
    let products: f64 = levels.iter().enumerate().map(|(index, level)| place(index) * (level - mean)).sum();
    let squares: f64 = (0..levels.len()).map(|index| place(index) * place(index)).sum();
    products / squares * (count - 1.0)
}

struct WindowAnalysis<'a> {
    marks: &'a CumulativeSamples<DriveSample>,
    /// Index in `marks` of the mark (sample of the drive) that ends the first batch of the window.
    first: usize,
    stores: &'a DriveScale,
    window: &'a WindowSummary,
    drift: WindowDrift,
    /// Mean number of requests in flight in the window.
    in_flight: f64,
}

/// Returns the mean number of requests in flight in the batches that begin at `start` or later: by Little's law, the sum of the latencies
/// divided by the length of these batches.
fn in_flight(marks: &CumulativeSamples<RequestSample>, start: Time) -> f64 {
    let steps = marks.batch_indices(start);
    let latency_ps = |mark: &RequestSample| mark.all.sums(&MeasuredKind::ALL).1;
    let length = marks.spacing().as_ps() as f64 * steps.len() as f64;
    (latency_ps(marks.batch_start(steps.end)) - latency_ps(marks.batch_start(steps.start))) as f64 / length
}

impl WindowAnalysis<'_> {
    /// Returns the increase of a count of the drive from the start of the window to the last mark.
    fn count(&self, count: impl Fn(&DriveSample) -> u64) -> f64 {
        (count(self.last()) - count(self.marks.batch_start(self.first))) as f64
    }

    /// Returns the rise of a fill level over the window, by the least-squares line through the marks (samples of the drive) of the window.
    fn rise(&self, level: impl Fn(&FillLevels) -> u64) -> f64 {
        rise(&self.marks.values()[self.first..], level)
    }

    /// Returns the growth of a store's fill level over the window, as the function [`growth`] defines it. `through` is the flow through the
    /// store.
    fn growth(&self, through: f64, level: impl Fn(&FillLevels) -> u64) -> f64 {
        growth(self.marks.batch_start(self.first), &self.marks.values()[self.first..], BACK_WITHIN * through, level)
    }

    /// Returns the marks (samples of the drive) of the window, up to the last mark with a request in flight; all marks of the window if none has.
    /// Excludes later marks, because collections in progress continue after the last request.
    fn busy_marks(&self) -> &[DriveSample] {
        let marks = &self.marks.values()[self.first..];
        let busy = marks.iter().rposition(|mark| mark.levels.outstanding > 0);
        &marks[..busy.map_or(marks.len(), |last| last + 1)]
    }

    /// Returns the last mark (sample of the drive) of the run.
    fn last(&self) -> &DriveSample {
        self.marks.batch_start(self.marks.values().len())
    }

    /// Returns the total number of requests of a run whose window has `times` as many requests as this window (at least 1.1 times). Never
    /// `None`, but an `Option` like the numbers in the findings.
    fn requests_needed(&self, times: f64) -> Option<u64> {
        let before = self.window.requests_of_run - self.window.requests;
        Some(before + (self.window.requests as f64 * times.max(1.1)).ceil() as u64)
    }

    /// Returns the reasons against a steady state that the fill levels of free pages and caches show. Each comes with the number of
    /// requests that a run needs to remove the reason.
    fn storage_findings(&self) -> Vec<(Unsteady, Option<u64>)> {
        let DriveScale { sets, slc_pages, mapped_pages, starts_steady: is_drawn, .. } = *self.stores;
        let mut found = Vec::new();
        let written = self.count(|mark| mark.counts.flash.pages_written);
        let programmed = self.count(|mark| mark.counts.flash.user_programs);
        let last = self.last().levels;
        // Before the first destage, no page of a write has been programmed. Until then, estimate the programs by the pages written to the
        // device cache.
        let programmed = if programmed > 0.0 { programmed } else { written };
        if programmed > 0.0 {
            let gained = self.stores.gained_of_victim(self.last());
            let round = sets as f64 * gained;
            let rounds = ROUNDS_MIN * round;
            let wanted_of_window = match is_drawn {
                true if sets as f64 >= SETS_MIN => 0.0,
                true => rounds.min(COLLECTIONS_MIN * gained),
                false => rounds,
            };
            let fallen = -self.growth(programmed, |levels| levels.free_pages);
            let reserve = Reserve::new(self.stores, self.busy_marks());
            if self.last().counts.gc.collections == 0 && !is_drawn {
                let ahead = (last.pages_before_gc as f64 + ROUNDS_MIN * round) / programmed;
                found.push((Unsteady::CollectionAhead, self.requests_needed(1.0 + ahead)));
            } else if fallen > IMBALANCE_MAX * programmed && fallen > self.stores.change_by_chance() {
                let ahead = (last.pages_before_gc as f64 + ROUNDS_MIN * round) / programmed;
                found.push((Unsteady::FreePagesFall, self.requests_needed(1.0 + ahead)));
            } else if is_drawn && slc_pages == 0 && reserve.is_unbalanced() {
                let reason = if reserve.flow.rise > 0.0 { Unsteady::FreePagesRise } else { Unsteady::FreePagesFall };
                found.push((reason, self.requests_needed(1.0 + rounds / programmed)));
            } else if programmed < wanted_of_window {
                found.push((Unsteady::Rounds, self.requests_needed(wanted_of_window / programmed)));
            }
            let of_run = self.last().counts.flash.user_programs as f64;
            let wanted = OVERWRITES * mapped_pages as f64;
            if !is_drawn && of_run < wanted {
                found.push((Unsteady::Overwrites, self.requests_needed(1.0 + (wanted - of_run) / programmed)));
            }
        }
        let cache = FillTrend { rise: self.growth(written, |levels| levels.dirty_pages), through: written };
        if last.dirty_limit > 0 && cache.is_unbalanced() {
            let left = cache.pages_left(last.dirty_pages, last.dirty_limit);
            found.push((Unsteady::CacheFills, self.requests_needed(self.length_to_balance(&cache, left))));
        }
        let slc = FillTrend { rise: self.growth(programmed, |levels| levels.slc_pages), through: programmed };
        if slc_pages > 0 && slc.is_unbalanced() {
            let left = slc.pages_left(last.slc_pages, slc_pages);
            found.push((Unsteady::SlcFills, self.requests_needed(self.length_to_balance(&slc, left))));
        }
        found
    }

    /// Returns how many times as long as this run a run must be for a cache whose fill level still rises or falls to count as balanced. `left` is the
    /// number of pages by which the level can change further. Without a warm-up the window includes the whole change of the level, and is long enough
    /// once this change is small compared to the pages written.
    fn length_to_balance(&self, store: &FillTrend, left: f64) -> f64 {
        let until_full = 2.0 + left / store.rise.abs();
        if self.window.warm_up_ended.is_some() || store.through <= 0.0 {
            return until_full;
        }
        until_full.max((store.rise.abs() + left) / (IMBALANCE_MAX * store.through))
    }

    /// Returns the reasons against a steady state that the requests show. Each comes with the number of requests that a run needs to remove
    /// the reason; `None` for a backlog, which no number of requests removes.
    fn request_findings(&self) -> Vec<(Unsteady, Option<u64>)> {
        let WindowSummary { requests, warm_up_ended, .. } = *self.window;
        let mut found = Vec::new();
        // The width of an interval falls with the square root of the number of requests.
        let of_noise = (self.drift.noise / NOISE_MAX).powi(2);
        let wanted = of_noise.max(TURNOVERS_MIN * self.in_flight / requests as f64);
        if wanted > 1.0 {
            found.push((Unsteady::Short, self.requests_needed(wanted)));
        }
        let queue = FillTrend { rise: self.rise(|levels| levels.outstanding), through: requests as f64 };
        let length = self.marks.spacing().as_ps() as f64 * (self.marks.values().len() - self.first) as f64;
        let lags = self.rise(|levels| levels.replay_lag_ps) > IMBALANCE_MAX * length;
        if lags || (queue.rise > 0.0 && queue.is_unbalanced()) {
            found.push((Unsteady::Backlog, None));
        }
        if warm_up_ended == Some(false) {
            found.push((Unsteady::WarmUp, self.requests_needed(2.0)));
        }
        if self.drift.is_significant {
            found.push((Unsteady::Drift, self.requests_needed(2.0)));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_fills_has_its_free_pages_left_and_one_that_empties_its_filled_pages() {
        let left = |rise| FillTrend { rise, through: 10.0 }.pages_left(30, 100);
        assert_eq!((left(2.0), left(-2.0)), (70.0, 30.0));
    }

    /// Checks that the sawteeth of 24 sets, each as high as 20 pages, change their sum by a standard deviation of 20 x sqrt(24 / 6) pages.
    #[test]
    fn free_pages_change_by_chance_as_sawteeth_at_random_phases_do() {
        let scale = DriveScale {
            sets: 24,
            planes_of_set: 2,
            block_pages: 10,
            slc_pages: 0,
            mapped_pages: 0,
            starts_steady: true,
        };
        assert_eq!(scale.change_by_chance(), 2.0 * 40.0);
    }
}
