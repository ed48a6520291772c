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
//! until all of them are done. Reads may suspend what their own die does.

use crate::fabric::Grant;
use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::queues::NOTHING;

use super::grant::Chosen;
use super::{Datapath, PageSource};

impl<M: Model> Datapath<M> {
    /// The die that asks the interconnect for paths on behalf of `die`: the die itself, unless dies take turns.
    #[inline(always)]
    pub(super) fn asker(&self, die: DieId) -> DieId {
        if M::FULL && self.rules.dies_take_turns { self.first_of_chip(die) } else { die }
    }

    /// The die that a granted path is for, once that is known: where dies take turns, after the choice of an operation.
    #[inline(always)]
    pub(super) fn die_of(&self, grant: Grant) -> DieId {
        self.taker(grant.die).expect("a chip whose dies take turns holds a path for the die that works")
    }

    /// The die that takes what `asker` asked a path for: where dies take turns, the one that has begun something, if one has.
    #[inline(always)]
    pub(super) fn taker(&self, asker: DieId) -> Option<DieId> {
        if !M::FULL || !self.rules.dies_take_turns {
            return Some(asker);
        }
        self.dies_of_chip(asker).find(|die| !self.units[die.index()].state.is_idle())
    }

    /// The dies that may take what `asker` asked a path for, as the first and their number.
    #[inline(always)]
    pub(super) fn takers(&self, asker: DieId) -> (DieId, u32) {
        match self.taker(asker) {
            Some(die) => (die, 1),
            None => (self.first_of_chip(asker), self.geometry.dies_per_chip),
        }
    }

    fn first_of_chip(&self, die: DieId) -> DieId {
        DieId(self.geometry.chip_of(die).0 * self.geometry.dies_per_chip)
    }

    /// The dies of the chip of `die`.
    pub(super) fn dies_of_chip(&self, die: DieId) -> impl Iterator<Item = DieId> + use<M> {
        let first = self.first_of_chip(die).0;
        (first..first + self.geometry.dies_per_chip).map(DieId)
    }

    /// Something changed for a die of a chip: one of its dies may want its next operation, or to resume one.
    #[inline(never)]
    pub(super) fn try_issue_of_chip<S: PageSource<M>>(&mut self, die: DieId, source: &mut S, kernel: &mut Kernel<M>) {
        if let Some(die) = self.taker(die) {
            self.try_issue_of_die(die, source, kernel);
            return;
        }
        let asker = self.asker(die);
        if self.units[asker.index()].path.wants_command() {
            return;
        }
        let (mut is_ready, mut has_work) = (false, false);
        for die in self.dies_of_chip(asker) {
            let ready = self.ready(die, source);
            is_ready |= ready != NOTHING;
            has_work |= self.queues.has_work(die);
            self.collect_held_back(die, &ready, source, kernel);
        }
        if is_ready && !self.units[asker.index()].path.wants_command() {
            self.ask_or_wait(asker, kernel);
        } else if !has_work {
            self.dies_of_chip(asker).for_each(|die| self.set_idle(die));
            self.dies_of_chip(asker).for_each(|die| source.die_idle(die, self, kernel));
        }
    }

    /// Something changed for a die of a chip whose dies start together.
    #[inline(never)]
    pub(super) fn try_issue_together<S: PageSource<M>>(&mut self, die: DieId, source: &mut S, kernel: &mut Kernel<M>) {
        let state = &self.units[die.index()].state;
        if state.has_suspended() || !state.accepts(&self.rules.die) {
            self.try_issue_of_die(die, source, kernel);
        } else if self.dies_of_chip(die).all(|die| self.units[die.index()].state.is_idle()) {
            self.dies_of_chip(die).for_each(|die| self.try_issue_of_die(die, source, kernel));
        }
    }

    /// Asks the scheduler which transaction goes next on the `count` dies from `first` on.
    pub(super) fn choose_of_chip<S: PageSource<M>>(
        &mut self,
        first: DieId,
        count: u32,
        source: &S,
        kernel: &Kernel<M>,
    ) -> Option<Chosen> {
        let mut ready = std::mem::take(&mut self.scheduling.ready_of_chip);
        ready.clear();
        for die in (first.0..first.0 + count).map(DieId) {
            ready.push(self.ready(die, source));
        }
        let choice = self.choose_among(first, &ready, source, kernel);
        self.scheduling.ready_of_chip = ready;
        choice
    }
}
