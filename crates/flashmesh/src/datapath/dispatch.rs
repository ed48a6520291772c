//! Who asks for a path next, where the scheduling policy says it.
//!
//! A die that could begin something is a candidate. After an event through which a die became one, or got its path, the policy names those
//! that ask, one after the other until it names none; then the grants of the moment are taken, and it is asked again.

use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::{Dispatch, Scheduler};

use super::grant::Units;
use super::{Datapath, PageSource};

impl<M: Model> Datapath<M> {
    /// Whether the policy says who asks for a path.
    #[inline(always)]
    pub fn dispatches(&self) -> bool {
        M::FULL && self.rules.dispatches
    }

    /// A die could begin something: it asks for a path, or is one of those that the policy may name.
    #[inline(always)]
    pub(super) fn ask_or_wait(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        let asker = self.asker(die);
        if self.dispatches() && self.named != Some(asker) {
            self.candidates.insert(asker);
            self.is_due = true;
        } else {
            self.ask_command(die, kernel);
        }
    }

    /// Lets the policy name one more die; gives whether it did.
    pub fn dispatch<S: PageSource<M>>(&mut self, source: &mut S, kernel: &mut Kernel<M>) -> bool {
        if !self.is_due || self.candidates.is_empty() {
            return false;
        }
        let dies = Units(&self.units, &self.rules.die);
        let named = self.scheduler.next_die(&Dispatch {
            now: kernel.now(),
            geometry: &self.geometry,
            dies: &dies,
            queues: &self.queues,
            transactions: &self.transactions,
            candidates: &self.candidates,
            dies_take_turns: self.rules.dies_take_turns,
        });
        let Some(die) = named else {
            self.is_due = false;
            return false;
        };
        let was_candidate = self.candidates.remove(die);
        assert!(was_candidate, "a policy named a die that is no candidate");
        // What made it one may be gone by now.
        self.named = Some(die);
        self.try_issue(die, source, kernel);
        self.named = None;
        true
    }
}
