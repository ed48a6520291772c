//! Order of path requests, for schedulers that dispatch: they decide which die requests a path.
//!
//! A die that may start an operation is a candidate. After an event that added a candidate or granted a path, the scheduler names the next requesters
//! one by one. When it names no more, the grants are processed, and then the scheduler is called again.

use crate::datapath::Datapath;
use crate::flash::geometry::Geometry;
use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::{DieSet, DispatchView, Scheduler};

/// Dies that may start an operation and have not requested a path.
#[derive(Clone, Debug)]
pub(in super::super) struct DispatchCandidates {
    dies: DieSet,
    /// Die that the scheduler has named as the next to request a path, while the issue at this die is in progress.
    named: Option<DieId>,
    /// Whether the set of candidates or their paths have changed since the scheduler last declined to name a die.
    has_changed: bool,
}

impl DispatchCandidates {
    pub fn new(geometry: &Geometry) -> DispatchCandidates {
        DispatchCandidates { dies: DieSet::new(geometry), named: None, has_changed: false }
    }

    pub fn mark_changed(&mut self) {
        self.has_changed = true;
    }

    /// Adds `die` to the candidates and returns `true`. If the scheduler has just named `die`, returns `false` instead: the die may request
    /// its path.
    #[inline]
    pub(in super::super) fn add_unless_named(&mut self, die: DieId) -> bool {
        let is_added = self.named != Some(die);
        if is_added {
            self.dies.insert(die);
            self.mark_changed();
        }
        is_added
    }

    #[inline(always)]
    fn can_be_named(&self) -> bool {
        self.has_changed && !self.dies.is_empty()
    }
}

impl<M: Model> Datapath<M> {
    /// Returns whether the scheduler decides which die requests a path.
    #[inline(always)]
    pub fn dispatches(&self) -> bool {
        M::ALL_FEATURES && self.rules.scheduler_dispatches
    }

    /// Returns whether the scheduler must be called, so that it can name a die to request a path.
    #[inline(always)]
    pub fn has_candidates(&self) -> bool {
        self.dispatches() && self.scheduling.candidates.can_be_named()
    }

    /// Returns the next die named by the scheduler; `None` if no die is to request a path now. Next, call [`Datapath::try_issue`] for the die, then
    /// [`Datapath::dispatched`].
    #[inline(always)]
    pub fn dispatch(&mut self, kernel: &Kernel<M>) -> Option<DieId> {
        if self.has_candidates() { self.pick_candidate(kernel) } else { None }
    }

    #[inline(never)]
    fn pick_candidate(&mut self, kernel: &Kernel<M>) -> Option<DieId> {
        let dies = self.dies.states();
        let named = self.scheduling.scheduler.next_die(&DispatchView {
            now: kernel.now(),
            geometry: &self.geometry,
            dies: &dies,
            queues: &self.queues.by_die,
            transactions: &self.queues.transactions,
            candidates: &self.scheduling.candidates.dies,
            dies_take_turns: self.dies.take_turns(),
        });
        let Some(die) = named else {
            self.scheduling.candidates.has_changed = false;
            return None;
        };
        let was_candidate = self.scheduling.candidates.dies.remove(die);
        assert!(was_candidate, "the scheduler named a die that is not a candidate");
        self.scheduling.candidates.named = Some(die);
        Some(die)
    }

    /// Ends the issue at the die that the scheduler named last, so that the die can become a candidate again.
    pub fn dispatched(&mut self) {
        self.scheduling.candidates.named = None;
    }
}
