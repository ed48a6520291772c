//! Phase of garbage collection in which each plane is when a run begins.
//!
//! A collection cycle lasts from the start of one collection of a plane to the start of the next. During a cycle, the plane takes as many writes as
//! the victim has invalid pages. Samples (simulated planes) are copied at all phases of this cycle, some in the middle of a collection. So a drive
//! with several planes begins in its steady state, not with all planes at one phase.
//!
//! - With `gc.paced`, moves and writes of a plane progress together: at phase x, the share x of each is done.
//! - Otherwise, the moves come first. Each move and each write takes an equal part of the cycle \[choice\].
//! - If requests preempt collections and collections are not paced, a busy plane moves pages only when its free pages are nearly used up. Its cycle
//!   begins at that point; the victim was selected before \[choice\].

use super::sample::PlaneSample;
use crate::config;
use crate::engine::random::SimRng;
use crate::ftl::Ftl;
use crate::ids::{BlockId, PlaneId};

/// Number of steps in which a collection cycle advances to its phase. Each step does an equal part of the moves, then an equal part of the host
/// writes.
const STEPS: u32 = 16;

/// Number of fraction bits of a phase, a fixed-point number from 0 (start of the cycle) to 1.
pub(super) const PHASE_BITS: u32 = 24;

/// Collection in progress: the victims, one in each plane that collects together, and the number of valid pages of each victim when the collection
/// began. Without victims if no collection is in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct CollectionInProgress {
    pub victims: Vec<BlockId>,
    pub valid_at_begin: Vec<u32>,
}

/// Number of pages moved by a collection, and of host pages written, since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CollectionProgress {
    moved: u64,
    written: u64,
}

/// Returns the progress at `phase` (in units of 2^-[`PHASE_BITS`] of the cycle) of a collection cycle that consists of `valid` moves and `gained`
/// writes.
fn progress(gc: &config::Gc, phase: u32, valid: u64, gained: u64) -> CollectionProgress {
    let (phase, whole) = (u64::from(phase), 1 << PHASE_BITS);
    if gc.paced {
        return CollectionProgress { moved: valid * phase / whole, written: gained * phase / whole };
    }
    // All moves come first, then the writes. Each takes an equal part of the cycle.
    let done = (valid + gained) * phase / whole;
    CollectionProgress { moved: done.min(valid), written: done.saturating_sub(valid) }
}

/// Draws `count` phases of the collection cycle in units of 2^-[`PHASE_BITS`], one from each of `count` equal parts of the cycle, in random
/// order.
pub(super) fn phases(count: u32, random: &mut SimRng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last as u32 + 1) as usize);
    }
    let part = (1 << PHASE_BITS) / count.max(1);
    order.into_iter().map(|number| number * part + random.below(part.max(1))).collect()
}

impl PlaneSample<'_> {
    /// Completes the collection in progress of the sample, if any.
    pub(super) fn end_collection(&mut self) {
        let CollectionInProgress { victims, .. } = std::mem::take(&mut self.begun);
        self.ftl.untimed().empty(&victims);
    }

    /// Overwrites pages until the next collection begins, and then until its collection cycle reaches `phase` (in units of
    /// 2^-[`PHASE_BITS`]). If no collection begins, stops after as many writes as the sample has pages.
    pub(super) fn advance_to_phase(&mut self, phase: u32) {
        let plane = PlaneId(0);
        let pages = self.ftl.geometry.pages();
        let mut left = pages;
        while !self.ftl.needs_collection(plane) {
            let step = self.pages_until_collection().clamp(1, left.max(1));
            self.write(step);
            left = left.saturating_sub(step);
            if left == 0 {
                // Collection never begins, because too many pages are free.
                return;
            }
        }
        let Some(victims) = self.ftl.begin_collection(plane) else { return };
        let gc = self.ftl.collector.gc().clone();
        let waits = gc.preemptible && !gc.paced;
        while waits && !self.is_urgent() && self.ftl.untimed().can_write(plane) {
            self.write_one();
        }
        let valid_at_begin: Vec<u32> = victims.iter().map(|&victim| self.ftl.blocks.valid_pages(victim)).collect();
        let valid: u64 = valid_at_begin.iter().map(|&pages| u64::from(pages)).sum();
        let gained = victims.len() as u64 * u64::from(self.ftl.geometry.pages_per_block) - valid;
        let goal = progress(&gc, phase, valid, gained);
        let is_over = goal.moved >= valid;
        let moves = if is_over { 0 } else { goal.moved };
        if is_over {
            self.ftl.untimed().empty(&victims);
        } else {
            self.begun = CollectionInProgress { victims: victims.clone(), valid_at_begin };
        }
        if is_over && waits {
            self.begin_waiting(plane);
        }
        let of_step = |total: u64, step: u32| {
            let until = |step: u32| total * u64::from(step) / u64::from(STEPS);
            until(step + 1) - until(step)
        };
        for step in 0..STEPS {
            for _ in 0..of_step(moves, step) {
                self.ftl.untimed().move_next(&victims);
            }
            for _ in 0..of_step(goal.written, step) {
                if !self.ftl.untimed().can_write(plane) {
                    break;
                }
                self.write_one();
            }
        }
    }

    /// Begins the next collection of `plane`, and of the planes that collect together with it, if one is due. No page is moved.
    fn begin_waiting(&mut self, plane: PlaneId) {
        if self.ftl.needs_collection(plane)
            && let Some(victims) = self.ftl.begin_collection(plane)
        {
            let valid_at_begin = victims.iter().map(|&victim| self.ftl.blocks.valid_pages(victim)).collect();
            self.begun = CollectionInProgress { victims, valid_at_begin };
        }
    }

    /// Returns whether collection of a plane of the sample has priority over user requests.
    fn is_urgent(&self) -> bool {
        let Ftl { blocks, collector, .. } = &self.ftl;
        blocks.superblock_planes(PlaneId(0)).any(|twin| collector.is_urgent(blocks, twin))
    }

    /// Returns the smallest number of page writes after which the free pages of a plane of the sample fall below the threshold of collection; 0 if
    /// they are below the threshold already.
    fn pages_until_collection(&self) -> u32 {
        let Ftl { blocks, collector, .. } = &self.ftl;
        let until = |twin| collector.pages_until_short(blocks, twin);
        blocks.superblock_planes(PlaneId(0)).map(until).min().unwrap_or(0)
    }

    /// Overwrites one random host page of the sample.
    fn write_one(&mut self) {
        let lpn = self.next_page();
        self.ftl.untimed().write(lpn, &self.idle);
    }
}

impl Ftl {
    /// Completes all collections in progress at the start of the run, without simulated time.
    #[cfg(test)]
    pub(crate) fn end_initial_collections(&mut self) {
        for CollectionInProgress { victims, .. } in self.take_initial_collections() {
            self.untimed().empty(&victims);
        }
    }

    /// Removes and returns the collections in progress at the start of the run, which the run has to complete.
    pub(crate) fn take_initial_collections(&mut self) -> Vec<CollectionInProgress> {
        std::mem::take(&mut self.initial_collections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_spread_over_the_whole_cycle() {
        for count in [1, 2, 7, 256] {
            let mut found = phases(count, &mut SimRng::new(5));
            found.sort_unstable();
            let part = (1 << PHASE_BITS) / count;
            assert!(found.iter().zip(0..).all(|(&phase, number)| phase / part == number), "{found:?}");
        }
        assert_ne!(phases(16, &mut SimRng::new(1)), phases(16, &mut SimRng::new(2)));
    }

    #[test]
    fn paced_collections_keep_step_with_writes_and_others_come_before_them() {
        let half = 1 << (PHASE_BITS - 1);
        let gc = |paced| config::Gc { paced, ..config::Gc::default() };
        assert_eq!(progress(&gc(true), half, 600, 200), CollectionProgress { moved: 300, written: 100 });
        assert_eq!(progress(&gc(false), half, 600, 200), CollectionProgress { moved: 400, written: 0 });
        assert_eq!(progress(&gc(false), 2 * half - 1, 600, 200), CollectionProgress { moved: 600, written: 199 });
    }
}
