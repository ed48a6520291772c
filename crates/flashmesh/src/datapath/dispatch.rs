//! Who asks for a path next, where the scheduling policy says it.
//!
//! A die that could begin something is a candidate. After an event through which a die became one, or got its path, the policy names those
//! that ask, one after the other until it names none; then the grants of the moment are taken, and it is asked again.

use crate::flash::geometry::Geometry;
use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::{DieSet, Dispatch, Scheduler};

use super::Datapath;
use super::grant::Units;

/// The dies that could begin something, where the policy says which of them asks for a path.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    dies: DieSet,
    /// The one that the policy has just named.
    named: Option<DieId>,
    /// Whether it may name another one: something has changed for it since it named none.
    is_due: bool,
}

impl Candidates {
    pub fn new(geometry: &Geometry) -> Candidates {
        Candidates { dies: DieSet::new(geometry), named: None, is_due: false }
    }

    /// Something has changed for the policy.
    pub fn changed(&mut self) {
        self.is_due = true;
    }

    /// A die could begin something; gives whether it is to wait until the policy names it, which it has not just done.
    #[inline]
    pub(super) fn waits(&mut self, die: DieId) -> bool {
        let waits = self.named != Some(die);
        if waits {
            self.dies.insert(die);
            self.changed();
        }
        waits
    }

    /// Whether the policy may name one.
    #[inline(always)]
    fn are_due(&self) -> bool {
        self.is_due && !self.dies.is_empty()
    }
}

impl<M: Model> Datapath<M> {
    /// Whether the policy says who asks for a path.
    #[inline(always)]
    pub fn dispatches(&self) -> bool {
        M::ALL_FEATURES && self.rules.dispatches
    }

    /// Whether the policy may name a die now.
    #[inline(always)]
    pub fn has_candidates(&self) -> bool {
        self.dispatches() && self.scheduling.candidates.are_due()
    }

    /// The next die that the policy names. [`Datapath::try_issue`] follows for it, then [`Datapath::dispatched`].
    #[inline(always)]
    pub fn dispatch(&mut self, kernel: &Kernel<M>) -> Option<DieId> {
        if self.has_candidates() { self.name_die(kernel) } else { None }
    }

    #[inline(never)]
    fn name_die(&mut self, kernel: &Kernel<M>) -> Option<DieId> {
        let dies = Units(self.units.values(), &self.rules.die);
        let named = self.scheduling.scheduler.next_die(&Dispatch {
            now: kernel.now(),
            geometry: &self.geometry,
            dies: &dies,
            queues: &self.queues,
            transactions: &self.transactions,
            candidates: &self.scheduling.candidates.dies,
            dies_take_turns: self.rules.dies_take_turns,
        });
        let Some(die) = named else {
            self.scheduling.candidates.is_due = false;
            return None;
        };
        let was_candidate = self.scheduling.candidates.dies.remove(die);
        assert!(was_candidate, "a policy named a die that is no candidate");
        // What made it one may be gone by now.
        self.scheduling.candidates.named = Some(die);
        Some(die)
    }

    /// The die that the policy named has been looked at.
    pub fn dispatched(&mut self) {
        self.scheduling.candidates.named = None;
    }
}
