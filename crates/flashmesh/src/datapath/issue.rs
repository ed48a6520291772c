//! What may run on a die now, and asking for a path when something may.

use crate::config::Suspension;

use crate::flash::die::OperationKind;
use crate::ids::{DieId, PlaneId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, array_lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::Choice;
use crate::schedule::queues::{NOTHING, PlaneMasks, planes};
use crate::schedule::transaction::Class;
use crate::units::Time;

use super::{Datapath, HeldDie, PageSource, Wants};

impl<M: Model> Datapath<M> {
    /// Something changed for this die: it, or another die of a chip whose dies take turns, may want its next operation, or to
    /// resume one.
    #[inline(always)]
    pub fn try_issue<S: PageSource<M>>(&mut self, die: DieId, source: &S, kernel: &mut Kernel<M>) -> Wants {
        if M::ALL_FEATURES && self.rules.dies_take_turns {
            self.try_issue_of_chip(die, source, kernel)
        } else if M::ALL_FEATURES && self.rules.dies_start_together {
            self.try_issue_together(die, source, kernel)
        } else {
            self.try_issue_of_die(die, source, kernel)
        }
    }

    /// A die may want its next operation, or to resume one.
    #[inline(always)]
    pub fn try_issue_of_die<S: PageSource<M>>(&mut self, die: DieId, source: &S, kernel: &mut Kernel<M>) -> Wants {
        let waiting = self.queues.masks(die);
        let may_need_collection = has_programs(&waiting) || source.holds_back(&waiting, &waiting);
        if self.decides_alone(die) && !may_need_collection {
            self.try_issue_without_programs(die, waiting, kernel)
        } else if self.may_issue(die, waiting, may_need_collection, kernel.now()) {
            self.try_issue_of_any(die, waiting, source, kernel)
        } else {
            Wants::Nothing
        }
    }

    /// Whether a die that accepts an operation may begin whatever waits for it, programs apart, and one that does not may begin nothing.
    #[inline(always)]
    fn decides_alone(&self, die: DieId) -> bool {
        if !M::ALL_FEATURES {
            return true;
        }
        let state = &self.units[die].state;
        let may_suspend = || self.rules.die.suspension != Suspension::Off && !state.is_free(&self.rules.die);
        self.rules.dies_decide_alone && !may_suspend()
    }

    /// A quick test ahead of [`Datapath::try_issue_of_any`], which is not inlined: `false` when that would do nothing. The die has a path
    /// request for a command already, or it is busy, has no plane to collect for a program, and may not be suspended for reads in `waiting`.
    #[inline(always)]
    fn may_issue(&self, die: DieId, waiting: PlaneMasks, may_need_collection: bool, now: Time) -> bool {
        if M::ALL_FEATURES && self.alone.is_in_use() {
            return true;
        }
        let (state, rules) = (&self.units[die].state, &self.rules.die);
        let may_suspend = || M::ALL_FEATURES && has_awaited_read(&waiting) && state.may_suspend(rules, now);
        !self.units[self.asker(die)].path.wants_command()
            && (may_need_collection || state.accepts(rules) || may_suspend())
    }

    #[inline(never)]
    fn try_issue_of_any<S: PageSource<M>>(
        &mut self,
        die: DieId,
        waiting: PlaneMasks,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Wants {
        if M::ALL_FEATURES && self.alone.is_in_use() {
            let state = &self.units[die].state;
            let is_free = state.accepts(&self.rules.die) && !state.has_suspended();
            match if is_free { self.alone.take_next(die) } else { None } {
                Some(id) => return Wants::Alone(die, id),
                None if self.alone.keeps(die) || self.units[self.asker(die)].path.wants_command() => {
                    return Wants::Nothing;
                }
                None => {}
            }
        }
        let ready = self.ready_among(die, waiting, source);
        if self.holds_back(die, ready, source) {
            return Wants::Pages(HeldDie { die, chip: None });
        }
        self.issue_ready(die, ready, source, kernel)
    }

    /// The planes that hold programs back for want of pages have been looked at: goes on from there.
    #[inline(never)]
    pub fn go_on<S: PageSource<M>>(&mut self, held: HeldDie, source: &S, kernel: &mut Kernel<M>) -> Wants {
        let (HeldDie { die, chip }, asker) = (held, self.asker(held.die));
        if let Some(look) = chip {
            return self.look_at_chip(asker, DieId(die.0 + 1), look, source, kernel);
        }
        if self.units[asker].path.wants_command() {
            return Wants::Nothing;
        }
        self.issue_ready(die, self.ready(die, source), source, kernel)
    }

    /// The planes of a die of which programs wait for pages, a bit a plane.
    pub fn held_planes<S: PageSource<M>>(&self, die: DieId, source: &S) -> u8 {
        let (waiting, ready) = (self.queues.masks(die), self.ready(die, source));
        let held = |class: Class| waiting.of(class) & !ready.of(class);
        Class::WAITING_PROGRAMS.iter().fold(0, |planes, &class| planes | held(class))
    }

    /// Asks for a path for what is `ready`, or resumes what is suspended.
    #[inline(always)]
    fn issue_ready<S: PageSource<M>>(
        &mut self,
        die: DieId,
        ready: PlaneMasks,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Wants {
        let state = &self.units[die].state;
        if state.accepts(&self.rules.die) {
            if ready != NOTHING {
                // Reads beside what is suspended do not wait to be named.
                if M::ALL_FEATURES && state.has_suspended() {
                    self.ask_command(die, kernel);
                } else {
                    self.ask_or_wait(die, kernel);
                }
            } else if M::ALL_FEATURES && state.has_suspended() {
                self.resume(die, kernel);
            } else if !self.queues.has_work(die) {
                self.set_idle(die);
                return Wants::Idle(die, 1);
            }
        } else if M::ALL_FEATURES && has_awaited_read(&ready) && self.may_suspend(die, source, kernel) {
            self.ask_command(die, kernel);
        }
        Wants::Nothing
    }

    /// The same for a die that decides alone where nothing waits that may be held back: all that waits may run.
    #[inline(always)]
    fn try_issue_without_programs(&mut self, die: DieId, waiting: PlaneMasks, kernel: &mut Kernel<M>) -> Wants {
        let unit = &self.units[die];
        if unit.path.wants_command() || !unit.state.accepts(&self.rules.die) {
            return Wants::Nothing;
        }
        if waiting == NOTHING {
            self.set_idle(die);
            return Wants::Idle(die, 1);
        }
        self.ask_or_wait(die, kernel);
        Wants::Nothing
    }

    /// Whether a die, of which `ready` may run, holds programs back for want of pages.
    #[inline]
    pub(super) fn holds_back<S: PageSource<M>>(&self, die: DieId, ready: PlaneMasks, source: &S) -> bool {
        let waiting = self.queues.masks(die);
        source.holds_back(&ready, &waiting) && !(M::ALL_FEATURES && self.is_limited_to_reads(die))
    }

    /// Reads may have come while the command of what the array does now was on its way: they may suspend it.
    #[inline(always)]
    pub fn issue_beside_array<S: PageSource<M>>(&mut self, die: DieId, source: &S, kernel: &mut Kernel<M>) -> Wants {
        if M::ALL_FEATURES && self.rules.die.suspension != Suspension::Off {
            self.try_issue(die, source, kernel)
        } else {
            Wants::Nothing
        }
    }

    /// Whether reads may suspend what the array does: not collection while that goes before requests, and nothing while writes come first.
    #[inline(never)]
    pub(super) fn may_suspend<S: PageSource<M>>(&self, die: DieId, source: &S, kernel: &Kernel<M>) -> bool {
        let state = &self.units[die].state;
        state.may_suspend(&self.rules.die, kernel.now())
            && source.suspends()
            && !(state.works_internally() && self.collection_first(die, source))
    }

    /// Whether collection goes before requests on a die, or before those but reads.
    pub(super) fn collection_first<S: PageSource<M>>(&self, die: DieId, source: &S) -> bool {
        let yields = M::ALL_FEATURES && self.rules.reads_before_collection && has_awaited_read(&self.queues.masks(die));
        source.collection_first(die) && !yields
    }

    /// Whether reads wait for a die, and may suspend what it does.
    pub fn has_waiting_reads(&self, die: DieId) -> bool {
        self.rules.die.suspension != Suspension::Off && has_awaited_read(&self.queues.masks(die))
    }

    #[inline(never)]
    pub(super) fn resume(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        let until = self.units[die]
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
        if M::ALL_FEATURES && self.rules.tracks_idle {
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
        let is_limited = has_programs(&masks)
            || (M::ALL_FEATURES && self.is_limited_to_reads(die))
            || (self.gathers() && masks.of(Class::CollectProgram) != 0)
            || (M::ALL_FEATURES && masks.and(self.rules.waits_for_turn) != NOTHING);
        if !is_limited {
            masks
        } else if self.is_limited_by_pages(die, masks, source) {
            self.ready_of_plain(die, masks, source)
        } else {
            self.ready_of(die, masks, source)
        }
    }

    /// Whether nothing is in the way of what waits for a die, unless planes lack pages in the block to which all writes go.
    #[inline(always)]
    fn is_limited_by_pages<S: PageSource<M>>(&self, die: DieId, masks: PlaneMasks, source: &S) -> bool {
        let is_alone = || self.rules.dies_decide_alone && !self.is_limited_to_reads(die) && !source.writes_wait(die);
        source.shares_open_block() && masks.and(OWN_PROGRAMS) == NOTHING && (!M::ALL_FEATURES || is_alone())
    }

    /// Kept out of line, like all here that few transactions need: what is inlined beside them would save registers for it.
    #[inline(never)]
    fn ready_of<S: PageSource<M>>(&self, die: DieId, mut masks: PlaneMasks, source: &S) -> PlaneMasks {
        if M::ALL_FEATURES && self.is_limited_to_reads(die) {
            if self.has_suspended_what_goes_first(die, source) {
                return NOTHING;
            }
            return masks.and(AWAITED_READS);
        }
        if self.rules.has_parity
            && let Some(ready) = self.beside_parity(die, masks)
        {
            return ready;
        }
        for class in Class::WAITING_PROGRAMS {
            let has_pages = class == Class::UserProgram && self.rules.preallocates;
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
        if M::ALL_FEATURES && masks.of(Class::UserProgram) != 0 && source.writes_wait(die) {
            planes(masks.of(Class::UserProgram)).for_each(|plane| masks.remove(Class::UserProgram, plane));
        }
        if M::ALL_FEATURES && masks.and(self.rules.waits_for_turn) != NOTHING && source.collection_waits(die) {
            masks = masks.without(self.rules.waits_for_turn);
        }
        if self.gathers() {
            for class in GATHERING {
                let waiting = masks.of(class);
                let held = waiting & !self.gathered(die, class, waiting, source);
                planes(held).for_each(|plane| masks.remove(class, plane));
            }
        }
        masks
    }

    /// The same for a die that decides alone, where all writes share an open block of each plane and no program waits but those of the host.
    #[inline(always)]
    fn ready_of_plain<S: PageSource<M>>(&self, die: DieId, masks: PlaneMasks, source: &S) -> PlaneMasks {
        if self.rules.preallocates {
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

/// Programs of mapping units that gather before they run.
const GATHERING: [Class; 4] = [Class::UserProgram, Class::MapProgram, Class::ReplicaProgram, Class::CollectProgram];

const WAITING_PROGRAMS: PlaneMasks = PlaneMasks::all_of(&Class::WAITING_PROGRAMS);
/// Programs that may be held back, and go to blocks of their own.
const OWN_PROGRAMS: PlaneMasks = PlaneMasks::all_of(&[Class::MapProgram, Class::ReplicaProgram]);
const AWAITED_READS: PlaneMasks = PlaneMasks::all_of(&Class::AWAITED_READS);

/// Whether programs of the host, or of the map, wait, which may be held back for want of a page.
#[inline(always)]
fn has_programs(waiting: &PlaneMasks) -> bool {
    waiting.and(WAITING_PROGRAMS) != NOTHING
}

/// Whether a read that a request waits for may run.
#[inline]
pub(super) fn has_awaited_read(ready: &PlaneMasks) -> bool {
    ready.and(AWAITED_READS) != NOTHING
}
