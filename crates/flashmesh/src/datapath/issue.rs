//! What may run on a die now, and asking for a path when something may.

use crate::config::Suspension;
use crate::fabric::{DataOf, Fabric, TransferPhase};
use crate::flash::die::OperationKind;
use crate::ids::{DieId, PlaneId, RequestId};
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
    #[inline(always)]
    pub fn try_issue<S: PageSource<M>>(&mut self, die: DieId, source: &mut S, kernel: &mut Kernel<M>) {
        if M::FULL && self.rules.dies_take_turns {
            self.try_issue_of_chip(die, source, kernel);
        } else if M::FULL && self.rules.dies_start_together {
            self.try_issue_together(die, source, kernel);
        } else {
            self.try_issue_of_die(die, source, kernel);
        }
    }

    /// A die may want its next operation, or to resume one.
    #[inline(always)]
    pub(super) fn try_issue_of_die<S: PageSource<M>>(&mut self, die: DieId, source: &mut S, kernel: &mut Kernel<M>) {
        let waiting = self.queues.masks(die);
        let may_need_collection = has_programs(&waiting) || source.holds_back(&waiting, &waiting);
        if !M::FULL && !may_need_collection {
            self.try_issue_without_programs(die, waiting, source, kernel);
        } else if !M::FULL || self.may_issue(die, may_need_collection) {
            self.try_issue_of_any(die, waiting, source, kernel);
        }
    }

    /// A quick test ahead of [`Datapath::try_issue_of_any`], which is not inlined: `false` when that would do nothing. The die has a path
    /// request for a command already, or it is busy and may neither suspend its operation nor have to collect a plane for a program.
    #[inline(always)]
    fn may_issue(&self, die: DieId, may_need_collection: bool) -> bool {
        if self.alone.is_in_use() {
            return true;
        }
        let may_suspend = self.rules.die.suspension != Suspension::Off;
        let accepts = || self.units[die.index()].state.accepts(&self.rules.die);
        !self.units[self.asker(die).index()].path.wants_command() && (may_need_collection || may_suspend || accepts())
    }

    #[inline(never)]
    fn try_issue_of_any<S: PageSource<M>>(
        &mut self,
        die: DieId,
        waiting: PlaneMasks,
        source: &mut S,
        kernel: &mut Kernel<M>,
    ) {
        if M::FULL && self.alone.is_in_use() && self.goes_alone(die, source, kernel) {
            return;
        }
        if self.units[self.asker(die).index()].path.wants_command() {
            return;
        }
        let ready = self.ready_among(die, waiting, source);
        if source.holds_back(&ready, &waiting) && self.collect_held_back(die, &ready, source, kernel) {
            return;
        }
        let state = &self.units[die.index()].state;
        if state.accepts(&self.rules.die) {
            if ready != NOTHING {
                // Reads beside what is suspended do not wait to be named.
                if M::FULL && state.has_suspended() {
                    self.ask_command(die, kernel);
                } else {
                    self.ask_or_wait(die, kernel);
                }
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

    /// The same for a die of a plain drive where nothing waits that may be held back: all that waits may run.
    #[inline(always)]
    fn try_issue_without_programs<S: PageSource<M>>(
        &mut self,
        die: DieId,
        waiting: PlaneMasks,
        source: &mut S,
        kernel: &mut Kernel<M>,
    ) {
        let unit = &self.units[die.index()];
        if unit.path.wants_command() || !unit.state.accepts(&self.rules.die) {
            return;
        }
        if waiting != NOTHING {
            self.ask_or_wait(die, kernel);
        } else {
            source.die_idle(die, self, kernel);
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
        self.units[self.asker(die).index()].path.wants_command()
    }

    /// Whether reads may suspend what the array does: not collection while that goes before requests.
    #[inline(never)]
    pub(super) fn may_suspend<S: PageSource<M>>(&self, die: DieId, source: &S, kernel: &Kernel<M>) -> bool {
        let state = &self.units[die.index()].state;
        state.may_suspend(&self.rules.die, kernel.now()) && !(state.works_internally() && source.collection_first(die))
    }

    #[inline(always)]
    pub(super) fn ask_command(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        let (now, die) = (kernel.now(), self.asker(die));
        self.units[die.index()].path.ask_command(now);
        kernel.tell(|| Notice::PathAsked(die, TransferPhase::Command));
        self.interconnect.fabric.acquire(die, TransferPhase::Command, now, &mut self.interconnect.outbox);
        self.look_ahead(die, TransferPhase::Command);
    }

    /// Asks for a path for the data in the register.
    #[inline(always)]
    pub(super) fn ask_data<S: PageSource<M>>(&mut self, die: DieId, source: &mut S, kernel: &mut Kernel<M>) {
        let (now, asker) = (kernel.now(), self.asker(die));
        self.units[asker.index()].path.ask_data(now);
        if M::FULL {
            let outgoing = self.units[die.index()].state.outgoing();
            if let Some(to) = outgoing.and_then(|read| source.copy_destination(read, self)) {
                kernel.tell(|| Notice::PathAsked(asker, TransferPhase::Copy));
                return self.interconnect.fabric.acquire_copy(asker, to, now, &mut self.interconnect.outbox);
            }
        }
        kernel.tell(|| Notice::PathAsked(asker, TransferPhase::DataOut));
        let data = if M::RANKS_DATA && self.rules.ranks_data() { self.owner_of_data(die) } else { DataOf::Request };
        self.interconnect.fabric.acquire_for(asker, data, now, &mut self.interconnect.outbox);
        self.look_ahead(asker, TransferPhase::DataOut);
    }

    /// Whose data leaves the register of a die, for an arbitration that tells.
    #[inline(never)]
    fn owner_of_data(&self, die: DieId) -> DataOf {
        let state = &self.units[die.index()].state;
        if state.outgoing().is_some_and(|read| self.transactions[read].class == Class::MapRead) {
            DataOf::Mapping
        } else if state.sends_internally() {
            DataOf::Collection
        } else {
            DataOf::Request
        }
    }

    /// Notes whether another request is in the way of the path that a die has just asked for.
    #[inline(always)]
    fn look_ahead(&mut self, die: DieId, phase: TransferPhase) {
        // Where no request has more than one page, all that is in the way is there for another one.
        if !self.arrivals.has_siblings() {
            return;
        }
        if self.was_behind_another(die, phase) {
            self.units[die.index()].path.behind_itself[phase.index()] = false;
        } else {
            self.look_ahead_of_some(die, phase);
        }
    }

    #[inline(never)]
    fn look_ahead_of_some(&mut self, die: DieId, phase: TransferPhase) {
        let is_granted = self
            .interconnect
            .outbox
            .grants
            .last()
            .is_some_and(|last| (last.grant.die, last.grant.phase) == (die, phase));
        // A packet may be blocked on its way, too.
        if !is_granted || self.interconnect.fabric.acknowledges() {
            self.units[die.index()].path.behind_itself[phase.index()] = !self.is_behind_another(die, phase);
        }
    }

    /// Whether the path is for one transaction, and another request has blocked that before: it counts once. Where a die may ask on behalf of
    /// another one, this is not known.
    #[inline(always)]
    fn was_behind_another(&self, die: DieId, phase: TransferPhase) -> bool {
        let is_for_one = !M::FULL && phase == TransferPhase::DataOut;
        let outgoing = if is_for_one { self.units[die.index()].state.last_outgoing() } else { None };
        outgoing.is_some_and(|id| self.transactions[id].account.conflict().is_another())
    }

    #[inline]
    fn is_behind_another(&self, die: DieId, phase: TransferPhase) -> bool {
        let own = match phase {
            TransferPhase::Command => self.first_waiting(die),
            TransferPhase::DataOut | TransferPhase::Copy => self.request_at(die),
        };
        own.is_none() || self.interconnect.fabric.is_behind(die, phase, &mut |other| self.request_at(other) != own)
    }

    /// The request that a die works for, or will.
    #[inline]
    fn request_at(&self, die: DieId) -> Option<RequestId> {
        match self.units[die.index()].state.first_under_way() {
            Some(id) => self.transactions[id].request,
            None => self.first_waiting(die),
        }
    }

    /// The request of the first transaction that waits for a die, reads before programs.
    fn first_waiting(&self, die: DieId) -> Option<RequestId> {
        let masks = self.queues.masks(die);
        if masks == NOTHING {
            return None;
        }
        let class = masks.first_class();
        let plane = masks.of(class).trailing_zeros() as u8;
        let head = |&priority: &_| self.queues.head(Choice { die, class, plane, priority });
        self.transactions[self.queues.priorities().iter().find_map(head)?].request
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
        self.ready_among(die, self.queues.masks(die), source)
    }

    /// The same, where `masks` is what waits for the die.
    #[inline(always)]
    fn ready_among<S: PageSource<M>>(&self, die: DieId, masks: PlaneMasks, source: &S) -> PlaneMasks {
        let is_limited = has_programs(&masks) || (M::FULL && self.units[die.index()].state.has_suspended());
        if !is_limited {
            masks
        } else if !M::FULL && source.shares_open_block() && !(M::CACHES && has_programs_of_map(&masks)) {
            self.ready_of_plain(die, masks, source)
        } else {
            self.ready_of(die, masks, source)
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
            return masks.and(AWAITED_READS);
        }
        for class in Class::WAITING_PROGRAMS {
            let has_pages = M::PREALLOCATES && class == Class::UserProgram && self.rules.preallocates;
            let mut unchecked = if has_pages { 0 } else { masks.of(class) };
            while unchecked != 0 {
                let plane = unchecked.trailing_zeros();
                unchecked &= unchecked - 1;
                let plane_id = PlaneId(self.geometry.first_plane(die).0 + plane);
                let head = |&priority| self.queues.head(Choice { die, class, plane: plane as u8, priority });
                let heads = self.queues.priorities().iter().filter_map(head).map(|id| &self.transactions[id]);
                if !source.has_page(class, plane_id, heads) {
                    masks.remove(class, plane as u8);
                }
            }
        }
        masks
    }

    /// The same in a plain drive all of whose writes share an open block of each plane, where no program waits but those of the host.
    #[inline(always)]
    fn ready_of_plain<S: PageSource<M>>(&self, die: DieId, masks: PlaneMasks, source: &S) -> PlaneMasks {
        if M::PREALLOCATES && self.rules.preallocates {
            return masks;
        }
        let first = self.geometry.first_plane(die).0;
        let mut ready = masks;
        let mut unchecked = masks.of(Class::UserProgram);
        while unchecked != 0 {
            let plane = unchecked.trailing_zeros();
            unchecked &= unchecked - 1;
            if !source.has_shared_page(PlaneId(first + plane)) {
                ready.remove(Class::UserProgram, plane as u8);
            }
        }
        ready
    }
}

const WAITING_PROGRAMS: PlaneMasks = PlaneMasks::all_of(&Class::WAITING_PROGRAMS);
const AWAITED_READS: PlaneMasks = PlaneMasks::all_of(&Class::AWAITED_READS);

/// Whether programs of the host, or of the map, wait, which may be held back for want of a page.
#[inline(always)]
fn has_programs(waiting: &PlaneMasks) -> bool {
    waiting.and(WAITING_PROGRAMS) != NOTHING
}

/// Whether programs of the map wait.
#[inline(always)]
fn has_programs_of_map(waiting: &PlaneMasks) -> bool {
    waiting.of(Class::MapProgram) != 0
}

/// Whether a read that a request waits for may run.
#[inline]
pub(super) fn has_awaited_read(ready: &PlaneMasks) -> bool {
    ready.and(AWAITED_READS) != NOTHING
}
