//! Order in which dies request command paths, if the scheduler decides this order (if the scheduler *dispatches*).
//!
//! A die with a transaction that may run becomes a candidate. After a candidate was added or a path was granted, the scheduler chooses candidates one
//! by one, and each requests its path. When the scheduler chooses no more candidates, the pending grants are handled; then the scheduler is called
//! again.

use crate::datapath::{Dies, TransactionQueues};
use crate::flash::geometry::Geometry;
use crate::ids::DieId;
use crate::kernel::model::Model;
use crate::schedule::{DieSet, DispatchView, Scheduler};
use crate::units::Time;

use super::SchedulingState;

#[cfg(doc)]
use crate::datapath::Datapath;

/// Candidates: dies that may start an operation and have not requested a path.
#[derive(Clone, Debug)]
pub(super) struct DispatchCandidates {
    dies: DieSet,
    /// Die that the scheduler chose last to request a path, until the issue at this die has ended; `None` at other times.
    named: Option<DieId>,
    /// Whether a candidate was added or a command path was granted since the scheduler last declined to choose a die.
    has_changed: bool,
}

impl DispatchCandidates {
    pub(super) fn new(geometry: &Geometry) -> DispatchCandidates {
        DispatchCandidates { dies: DieSet::new(geometry), named: None, has_changed: false }
    }

    /// Adds `die` to the candidates (dies that the scheduler may choose to request a path), unless the scheduler has just chosen `die`. Returns
    /// `true` if `die` was added, and `false` if `die` may request its path now.
    #[inline]
    fn add_unless_named(&mut self, die: DieId) -> bool {
        let is_added = self.named != Some(die);
        if is_added {
            self.dies.insert(die);
            self.has_changed = true;
        }
        is_added
    }

    #[inline(always)]
    fn can_be_named(&self) -> bool {
        self.has_changed && !self.dies.is_empty()
    }
}

impl<M: Model> SchedulingState<M> {
    /// Returns whether the scheduler decides which die requests a path.
    #[inline(always)]
    pub fn dispatches(&self) -> bool {
        M::ALL_FEATURES && self.dispatches
    }

    /// Returns whether the scheduler must be called to choose a die that requests a path: there are candidates, and a candidate was added or a path
    /// was granted since the scheduler last declined to choose a die.
    #[inline(always)]
    pub fn has_candidates(&self) -> bool {
        self.dispatches() && self.candidates.can_be_named()
    }

    /// Returns whether `requester` must wait until the scheduler chooses this die to request a path; if so, makes the die a candidate. Returns
    /// `false` if `requester` may request its path now: the scheduler has just chosen this die, or does not decide which die requests a path.
    #[inline(always)]
    pub(in super::super) fn awaits_dispatch(&mut self, requester: DieId) -> bool {
        self.dispatches() && self.candidates.add_unless_named(requester)
    }

    /// Records that a command path was granted. After a grant, the scheduler may choose a candidate that it did not choose before.
    #[inline(always)]
    pub(in super::super) fn path_granted(&mut self) {
        if self.dispatches() {
            self.candidates.has_changed = true;
        }
    }

    /// Clears the record of the die that the scheduler chose last, so that the die can become a candidate again. Call this after
    /// [`Datapath::try_issue`] for that die.
    pub fn dispatched(&mut self) {
        self.candidates.named = None;
    }

    /// Returns the die that the scheduler chooses to request the next path, and removes this die from the candidates; `None` if the scheduler chooses
    /// no die now.
    #[inline(never)]
    pub(in super::super) fn name_die(
        &mut self,
        queues: &TransactionQueues<M>,
        dies: &Dies<M>,
        now: Time,
    ) -> Option<DieId> {
        let states = dies.states();
        let (waiting, transactions) = queues.views();
        let named = self.scheduler.next_die(&DispatchView {
            now,
            geometry: queues.geometry(),
            dies: &states,
            queues: waiting,
            transactions,
            candidates: &self.candidates.dies,
            dies_take_turns: dies.take_turns(),
        });
        let Some(die) = named else {
            self.candidates.has_changed = false;
            return None;
        };
        let was_candidate = self.candidates.dies.remove(die);
        assert!(was_candidate, "the scheduler named a die that is not a candidate");
        self.candidates.named = Some(die);
        Some(die)
    }
}
