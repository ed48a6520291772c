//! Chips whose dies do not go each its own way.
//!
//! *Dies take turns*: `flash.die-interleaving = false`.
//!
//! Such a chip takes an operation only when none of its dies works, holds data or has one suspended; then the scheduler chooses
//! among all that waits for its dies. As at most one die has business with the interconnect, the first die of a chip speaks for
//! all of them there. While an operation is suspended the chip serves reads of that die only \[choice\].

//!
//! *Dies start together*: `flash.die-start = "together"` (Design for Scalability, PACT 2014, section 4.3: an interleaved command is issued
//! when all dies of the chip are idle, and its transfers go one after the other). A die asks for a path only while all dies of its chip are
//! idle; those that ask before the first command leaves go together, each with an operation of its own kind \[choice\]. The others wait
//! until all of them are done. Reads may suspend what their own die does, or
//! what the chip does ([`suspended_chips`](super::suspended_chips)).

use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::queues::NOTHING;

use super::{Datapath, HeldDie, PageSource, Wants};

/// What has been seen of a chip whose dies are looked at one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChipLook {
    /// Whether something may run on a die.
    is_ready: bool,
    /// Whether something waits for a die.
    has_work: bool,
}

impl<M: Model> Datapath<M> {
    /// Something changed for a die of a chip: one of its dies may want its next operation, or to resume one.
    #[inline(never)]
    pub(super) fn try_issue_of_chip<S: PageSource<M>>(
        &mut self,
        die: DieId,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Wants {
        if let Some(die) = self.taker(die) {
            return self.try_issue_of_die(die, source, kernel);
        }
        let asker = self.asker(die);
        if self.units[asker].path.wants_command() {
            return Wants::Nothing;
        }
        self.look_at_chip(asker, self.first_of_chip(asker), ChipLook::default(), source, kernel)
    }

    /// Looks at the dies of the chip for which `asker` speaks, from `next` on, which may be the first of the chip behind it.
    pub(super) fn look_at_chip<S: PageSource<M>>(
        &mut self,
        asker: DieId,
        next: DieId,
        mut look: ChipLook,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Wants {
        let first = self.first_of_chip(asker);
        for die in (next.0..first.0 + self.geometry.dies_per_chip).map(DieId) {
            let ready = self.ready(die, source);
            look.is_ready |= ready != NOTHING;
            look.has_work |= self.queues.has_work(die);
            if self.holds_back(die, ready, source) {
                return Wants::Pages(HeldDie { die, chip: Some(look) });
            }
        }
        if look.is_ready && !self.units[asker].path.wants_command() {
            self.ask_or_wait(asker, kernel);
        } else if !look.has_work {
            self.dies_of_chip(asker).for_each(|die| self.set_idle(die));
            return Wants::Idle(first, self.geometry.dies_per_chip);
        }
        Wants::Nothing
    }

    /// Something changed for a die of a chip whose dies start together.
    #[inline(never)]
    pub(super) fn try_issue_together<S: PageSource<M>>(
        &mut self,
        die: DieId,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Wants {
        let are_all_idle = self.dies_of_chip(die).all(|die| self.units[die].state.is_idle());
        if self.rules.suspends_chips && !are_all_idle {
            return self.try_issue_of_busy_chip(die, source, kernel);
        }
        let state = &self.units[die].state;
        if state.has_suspended() || !state.accepts(&self.rules.die) {
            self.try_issue_of_die(die, source, kernel)
        } else if are_all_idle {
            Wants::Each(self.first_of_chip(die), self.geometry.dies_per_chip)
        } else {
            Wants::Nothing
        }
    }
}
