//! What may run on a die now, and asking for a path when something may.

use crate::fabric::{DataOf, Fabric, TransferPhase};
use crate::flash::die::OperationKind;
use crate::ids::{DieId, PlaneId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, array_lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::Choice;
use crate::schedule::queues::{NOTHING, PlaneMasks};
use crate::schedule::transaction::Class;

use super::{Datapath, PageSource};

impl<M: Model> Datapath<M> {
    /// Something changed for this die: it, or another die of a chip whose dies take turns, may want its next operation, or to
    /// resume one.
    #[inline]
    pub fn try_issue<S: PageSource<M>>(&mut self, die: DieId, source: &mut S, kernel: &mut Kernel<M>) {
        if M::FULL && self.rules.dies_take_turns {
            self.try_issue_of_chip(die, source, kernel);
        } else {
            self.try_issue_of_die(die, source, kernel);
        }
    }

    /// A die may want its next operation, or to resume one.
    #[inline]
    pub(super) fn try_issue_of_die<S: PageSource<M>>(&mut self, die: DieId, source: &mut S, kernel: &mut Kernel<M>) {
        if self.units[self.asker(die).index()].path.command.is_some() {
            return;
        }
        if !M::FULL && !self.units[die.index()].state.accepts(&self.rules.die) && !has_programs(&self.queues.masks(die))
        {
            return;
        }
        let ready = self.ready(die, source);
        if self.collect_held_back(die, &ready, source, kernel) {
            return;
        }
        let state = &self.units[die.index()].state;
        if state.accepts(&self.rules.die) {
            if ready != NOTHING {
                self.ask_command(die, kernel);
            } else if M::FULL && state.has_suspended() {
                self.resume(die, kernel);
            } else if !self.queues.has_work(die) {
                self.set_idle(die);
                source.die_idle(die, self, kernel);
            }
        } else if M::FULL && has_awaited_read(&ready) && self.may_suspend(die, source, kernel) {
            self.ask_command(die, kernel);
        }
    }

    /// Starts collecting the planes that hold programs back for want of a free page. Gives whether the die has asked for a path
    /// meanwhile.
    #[inline]
    pub(super) fn collect_held_back<S: PageSource<M>>(
        &mut self,
        die: DieId,
        ready: &PlaneMasks,
        source: &mut S,
        kernel: &mut Kernel<M>,
    ) -> bool {
        let waiting = self.queues.masks(die);
        if !source.holds_back(ready, &waiting) || (M::FULL && self.units[die.index()].state.has_suspended()) {
            return false;
        }
        source.collect_held_back(die, ready, &waiting, self, kernel);
        self.units[self.asker(die).index()].path.command.is_some()
    }

    /// Whether reads may suspend what the array does: not collection while that goes before requests.
    #[inline(never)]
    pub(super) fn may_suspend<S: PageSource<M>>(&self, die: DieId, source: &S, kernel: &Kernel<M>) -> bool {
        let state = &self.units[die.index()].state;
        state.may_suspend(&self.rules.die, kernel.now()) && !(state.works_internally() && source.collection_first(die))
    }

    #[inline]
    pub(super) fn ask_command(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        let (now, die) = (kernel.now(), self.asker(die));
        self.units[die.index()].path.command = Some(now);
        kernel.tell(|| Notice::PathAsked(die, TransferPhase::Command));
        self.fabric.acquire(die, TransferPhase::Command, now, &mut self.outbox);
    }

    /// Asks for a path for the data in the register.
    #[inline]
    pub(super) fn ask_data<S: PageSource<M>>(&mut self, die: DieId, source: &mut S, kernel: &mut Kernel<M>) {
        let (now, asker) = (kernel.now(), self.asker(die));
        self.units[asker.index()].path.data = Some(now);
        if M::FULL {
            let outgoing = self.units[die.index()].state.outgoing();
            if let Some(to) = outgoing.and_then(|read| source.copy_destination(read, self)) {
                kernel.tell(|| Notice::PathAsked(asker, TransferPhase::Copy));
                return self.fabric.acquire_copy(asker, to, now, &mut self.outbox);
            }
        }
        kernel.tell(|| Notice::PathAsked(asker, TransferPhase::DataOut));
        let is_internal = M::FULL && self.rules.data_has_rank && self.units[die.index()].state.sends_internally();
        let data = if is_internal { DataOf::Collection } else { DataOf::Request };
        self.fabric.acquire_for(asker, data, now, &mut self.outbox);
    }

    #[inline(never)]
    fn resume(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        let until = self.units[die.index()]
            .state
            .resume(&self.rules.die, now, self.timing.resume)
            .expect("a die that accepts an operation and has one suspended resumes it");
        kernel.schedule(array_lane(OperationKind::Erase), now + self.timing.resume, Event::Resumed(die));
        kernel.schedule(array_lane(OperationKind::Erase), until, Event::ArrayEnd(die));
        kernel.tell(|| Notice::Resumed(die, until));
    }

    /// A die has nothing to do, for the allocation that looks for such.
    #[inline]
    pub(super) fn set_idle(&mut self, die: DieId) {
        if M::FULL && self.rules.tracks_idle {
            self.idle.set(die, true);
        }
    }

    /// Which planes of a die have a transaction that may run now, for each class.
    ///
    /// A plane without a free page for the host, or the map, holds such programs back, and is collected; while an operation is
    /// suspended only reads that requests wait for run, and nothing when it is a collection that goes before them.
    #[inline(always)]
    pub(super) fn ready<S: PageSource<M>>(&self, die: DieId, source: &S) -> PlaneMasks {
        let masks = self.queues.masks(die);
        if has_programs(&masks) || (M::FULL && self.units[die.index()].state.has_suspended()) {
            self.ready_of(die, masks, source)
        } else {
            masks
        }
    }

    /// Kept out of line, like all here that few transactions need: what is inlined beside them would save registers for it.
    #[inline(never)]
    fn ready_of<S: PageSource<M>>(&self, die: DieId, mut masks: PlaneMasks, source: &S) -> PlaneMasks {
        let state = &self.units[die.index()].state;
        if M::FULL && state.has_suspended() {
            if state.has_suspended_internal() && source.collection_first(die) {
                return NOTHING;
            }
            let mut reads = NOTHING;
            for class in Class::AWAITED_READS {
                reads[class.index()] = masks[class.index()];
            }
            return reads;
        }
        for class in [Class::UserProgram, Class::MapProgram] {
            let has_pages = M::FULL && class == Class::UserProgram && self.rules.preallocates;
            let mut unchecked = if has_pages { 0 } else { masks[class.index()] };
            while unchecked != 0 {
                let plane = unchecked.trailing_zeros();
                unchecked &= unchecked - 1;
                let plane_id = PlaneId(self.geometry.first_plane(die).0 + plane);
                let head = |&priority| self.queues.head(Choice { die, class, plane: plane as u8, priority });
                let heads = self.queues.priorities().iter().filter_map(head).map(|id| &self.transactions[id]);
                if !source.has_page(class, plane_id, heads) {
                    masks[class.index()] &= !(1 << plane);
                }
            }
        }
        masks
    }
}

/// Whether programs of the host, or of the map, wait, which may be held back for want of a page.
#[inline(always)]
fn has_programs(waiting: &PlaneMasks) -> bool {
    waiting[Class::UserProgram.index()] | waiting[Class::MapProgram.index()] != 0
}

/// Whether a read that a request waits for may run.
#[inline]
pub(super) fn has_awaited_read(ready: &PlaneMasks) -> bool {
    Class::AWAITED_READS.iter().any(|class| ready[class.index()] != 0)
}
