//! Order in which dies request command paths, if the scheduler decides this order (if the scheduler *dispatches*).
//!
//! A die with a transaction that may run becomes a candidate. After a candidate was added or a path was granted, the scheduler names candidates one
//! by one, and each requests its path. When the scheduler names no more, the pending grants are handled; then the scheduler is called again.

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
    /// Die that the scheduler has named as the next to request a path, while the issue at this die is in progress.
    named: Option<DieId>,
    /// Whether a candidate was added or a command path was granted since the scheduler last declined to name a die.
    has_changed: bool,
}

impl DispatchCandidates {
    pub(super) fn new(geometry: &Geometry) -> DispatchCandidates {
        DispatchCandidates { dies: DieSet::new(geometry), named: None, has_changed: false }
    }

    /// Adds `die` to the candidates, the dies that the scheduler may name to request a path, and returns `true`. If the scheduler has just named
    /// `die`, returns `false` instead: the die may request its path.
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

    /// Returns whether the scheduler must be called to name a die that requests a path: there are candidates, and one was added or a path was granted
    /// since the scheduler last named none.
    #[inline(always)]
    pub fn has_candidates(&self) -> bool {
        self.dispatches() && self.candidates.can_be_named()
    }

    /// Makes `requester` a candidate (a die that the scheduler may name to request a path) and returns `true`, if the scheduler decides which die
    /// requests a path and has not just named this die. Otherwise returns `false`: the die may request its path.
    #[inline(always)]
    pub(in super::super) fn awaits_dispatch(&mut self, requester: DieId) -> bool {
        self.dispatches() && self.candidates.add_unless_named(requester)
    }

    /// Records that a command path was granted. After a grant, the scheduler may name a candidate that it has declined before.
    #[inline(always)]
    pub(in super::super) fn path_granted(&mut self) {
        if self.dispatches() {
            self.candidates.has_changed = true;
        }
    }

    /// Clears the record of the die that the scheduler named last, so that the die can become a candidate again. Call this after
    /// [`Datapath::try_issue`] for that die.
    pub fn dispatched(&mut self) {
        self.candidates.named = None;
    }

    /// Returns the die that the scheduler names to request a path next, and removes this die from the candidates; `None` if the scheduler names no
    /// die now.
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
