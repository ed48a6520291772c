//! States of the dies.

use crate::flash::die::{Die, DieRules};
use crate::ftl::IdleDies;
use crate::ids::{DieId, TransactionId};
use crate::kernel::model::Model;
use crate::measure::lower_bound::DieWork;
use crate::schedule::DieStates;
use crate::schedule::load::LoadView;
use crate::units::Time;

use super::Datapath;
use super::path::DiePathState;

/// State of a die, its transfers and its path requests.
#[derive(Clone, Debug, Default)]
pub(super) struct DieEntry {
    pub state: Die,
    pub path: DiePathState,
    pub work: DieWork,
    /// Whether the path request is for a read that will suspend the chip.
    pub requests_suspension: bool,
    /// Time of the last suspension of the chip. Set only in the first die of a chip.
    pub chip_suspended_at: Time,
}

/// States of all dies, for policies.
pub struct DiesView<'a>(pub(super) &'a [DieEntry], pub(super) &'a DieRules);

impl DieStates for DiesView<'_> {
    fn accepts(&self, die: DieId) -> bool {
        self.0[die.index()].state.accepts(self.1)
    }

    fn is_idle(&self, die: DieId) -> bool {
        self.0[die.index()].state.is_idle()
    }

    fn in_progress(&self, die: DieId) -> usize {
        self.0[die.index()].state.outstanding()
    }

    fn requests_path(&self, die: DieId) -> bool {
        self.0[die.index()].path.requests_command()
    }

    fn uses_path(&self, die: DieId) -> bool {
        let DieEntry { state, path, .. } = &self.0[die.index()];
        path.requests_command() || path.requests_data() || state.is_moving()
    }
}

impl<M: Model> Datapath<M> {
    pub fn dies(&self) -> impl ExactSizeIterator<Item = &Die> {
        self.dies.values().iter().map(|entry| &entry.state)
    }

    pub fn states(&self) -> DiesView<'_> {
        DiesView(self.dies.values(), &self.rules.die)
    }

    /// Returns queue lengths and states of the dies, for policies that balance load.
    pub fn load<'a>(&'a self, states: &'a DiesView<'a>) -> LoadView<'a> {
        LoadView::new(states, &self.queues, &self.transactions)
    }

    /// Returns the idle dies, if they are [tracked](Self::track_idle).
    #[inline]
    pub fn idle_dies(&self) -> &IdleDies {
        &self.idle
    }

    /// Returns the total time that `die` has worked for the firmware up to `now`.
    #[inline]
    pub fn internal_busy(&self, die: DieId, now: Time) -> Time {
        self.dies[die].state.internal_busy(now)
    }

    /// Returns whether the page of `id`, a read of `die`, has been sensed: its data is in the register or in transfer.
    pub fn is_in_register(&self, die: DieId, id: TransactionId) -> bool {
        self.dies[die].state.sensed().any(|&lead| self.with_companions(lead).any(|held| held == id))
    }

    /// Returns whether `id`, a read of `die`, is being sensed or its command is in transfer.
    pub fn is_sensed_now(&self, die: DieId, id: TransactionId) -> bool {
        let mut leads = self.dies[die].state.in_progress().flat_map(|operation| operation.transactions());
        leads.any(|&lead| self.with_companions(lead).any(|sensed| sensed == id))
    }

    /// Returns whether `die` is idle and has no queued transactions.
    pub fn is_idle(&self, die: DieId) -> bool {
        !self.queues.has_work(die) && self.dies[die].state.is_idle()
    }

    /// Records that `die` is idle, for allocation policies.
    #[inline]
    pub(super) fn mark_idle(&mut self, die: DieId) {
        if M::ALL_FEATURES && self.rules.tracks_idle {
            self.idle.set(die, true);
        }
    }
}
