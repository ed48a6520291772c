//! What may run on a die now, and asking for a path when something may.

use crate::config::WriteStreams;
use crate::fabric::{DataOf, Fabric, Leg};
use crate::flash::die::OperationKind;
use crate::ids::{DieId, PlaneId, StreamId};
use crate::schedule::Choice;
use crate::schedule::queues::{NOTHING, PlaneMasks};
use crate::schedule::transaction::Class;

use crate::ftl::Stream;

use super::Simulation;
use super::event::{Event, array_lane};

impl Simulation {
    /// Something changed for this die: it, or another die of a chip whose dies take turns, may want its next operation, or to
    /// resume one.
    #[inline]
    pub(super) fn kick(&mut self, die: DieId) {
        if self.dies_take_turns {
            self.kick_chip(die);
        } else {
            self.kick_die(die);
        }
    }

    /// A die may want its next operation, or to resume one.
    pub(super) fn kick_die(&mut self, die: DieId) {
        if self.asked[self.asker(die).index()].command.is_some() {
            return;
        }
        let ready = self.ready(die);
        if self.collect_held_back(die, &ready) {
            return;
        }
        let state = &self.dies[die.index()];
        if state.accepts(&self.rules) {
            if ready != NOTHING {
                self.ask_command(die);
            } else if state.has_suspended() {
                self.resume(die);
            } else if !self.queues.has_work(die) {
                self.went_idle(die);
            }
        } else if has_awaited_read(&ready) && self.may_suspend(die) {
            self.ask_command(die);
        }
    }

    /// Starts collecting the planes that hold programs back for want of a free page: what made something collectable there may
    /// have been no program of theirs. Gives whether the die has asked for a path meanwhile.
    #[inline]
    pub(super) fn collect_held_back(&mut self, die: DieId, ready: &PlaneMasks) -> bool {
        let is_held_back = *ready != self.queues.masks(die) || !self.held_back.is_empty();
        is_held_back && self.collect_planes_held_back(die, ready)
    }

    #[inline(never)]
    fn collect_planes_held_back(&mut self, die: DieId, ready: &PlaneMasks) -> bool {
        let waiting = self.queues.masks(die);
        let held_back = |class: Class| waiting[class.index()] & !ready[class.index()];
        let mut planes = held_back(Class::UserProgram) | held_back(Class::MapProgram);
        planes |= self.held_back.planes(self.geometry.first_plane(die), self.geometry.planes_per_die);
        if planes == 0 || self.dies[die.index()].has_suspended() {
            return false;
        }
        while planes != 0 {
            let plane = planes.trailing_zeros();
            planes &= planes - 1;
            self.collect_if_needed(PlaneId(self.geometry.first_plane(die).0 + plane));
        }
        self.asked[self.asker(die).index()].command.is_some()
    }

    /// Whether reads may suspend what the array does: not collection while that goes before requests.
    #[inline(never)]
    pub(super) fn may_suspend(&self, die: DieId) -> bool {
        let state = &self.dies[die.index()];
        state.may_suspend(&self.rules, self.now()) && !(state.works_internally() && self.collection_first(die))
    }

    pub(super) fn ask_command(&mut self, die: DieId) {
        let (now, die) = (self.now(), self.asker(die));
        self.asked[die.index()].command = Some(now);
        self.witness(|oracles, now| oracles.path_asked(die, Leg::Command, now));
        self.fabric.acquire(die, Leg::Command, now, &mut self.outbox);
    }

    /// Asks for a path for the data in the register.
    pub(super) fn ask_data(&mut self, die: DieId) {
        let (now, asker) = (self.now(), self.asker(die));
        self.asked[asker.index()].data = Some(now);
        match self.copy_destination(die) {
            Some(to) => {
                self.witness(|oracles, now| oracles.path_asked(asker, Leg::Copy, now));
                self.fabric.acquire_copy(asker, to, now, &mut self.outbox);
            }
            None => {
                self.witness(|oracles, now| oracles.path_asked(asker, Leg::DataOut, now));
                let is_internal = self.data_has_rank && self.dies[die.index()].sends_internally();
                let data = if is_internal { DataOf::Collection } else { DataOf::Request };
                self.fabric.acquire_for(asker, data, now, &mut self.outbox);
            }
        }
    }

    #[inline(never)]
    fn resume(&mut self, die: DieId) {
        let now = self.now();
        let until = self.dies[die.index()]
            .resume(&self.rules, now, self.timing.resume)
            .expect("a die that accepts an operation and has one suspended resumes it");
        self.queue.schedule(array_lane(OperationKind::Erase), now + self.timing.resume, Event::Resumed(die));
        self.queue.schedule(array_lane(OperationKind::Erase), until, Event::ArrayEnd(die));
        self.witness(|oracles, now| oracles.resumed(die, now, until));
    }

    #[inline]
    pub(super) fn went_idle(&mut self, die: DieId) {
        self.set_idle(die);
        self.collect_in_background(die);
    }

    /// A die has nothing to do, for the allocation that looks for such.
    #[inline]
    pub(super) fn set_idle(&mut self, die: DieId) {
        if self.tracks_idle {
            self.idle.set(die, true);
        }
    }

    /// Which planes of a die have a transaction that may run now, for each class.
    ///
    /// A plane without a free page for the host, or the map, holds such programs back, and is collected; while an operation is
    /// suspended only reads that requests wait for run, and nothing when it is a collection that goes before them.
    #[inline(always)]
    pub(super) fn ready(&self, die: DieId) -> PlaneMasks {
        let masks = self.queues.masks(die);
        let has_programs = masks[Class::UserProgram.index()] | masks[Class::MapProgram.index()] != 0;
        if has_programs || self.dies[die.index()].has_suspended() { self.ready_of(die, masks) } else { masks }
    }

    /// Kept out of line, like all here that few transactions need: what is inlined beside them would save registers for it.
    #[inline(never)]
    fn ready_of(&self, die: DieId, mut masks: PlaneMasks) -> PlaneMasks {
        let state = &self.dies[die.index()];
        if state.has_suspended() {
            if state.has_suspended_internal() && self.collection_first(die) {
                return NOTHING;
            }
            let mut reads = NOTHING;
            for class in Class::AWAITED_READS {
                reads[class.index()] = masks[class.index()];
            }
            return reads;
        }
        for class in [Class::UserProgram, Class::MapProgram] {
            let has_pages = class == Class::UserProgram && self.binds_early;
            let mut unchecked = if has_pages { 0 } else { masks[class.index()] };
            while unchecked != 0 {
                let plane = unchecked.trailing_zeros();
                unchecked &= unchecked - 1;
                if !self.has_page_for(die, plane, class) {
                    masks[class.index()] &= !(1 << plane);
                }
            }
        }
        masks
    }

    /// Whether a plane has a free page for the programs of `class` that wait for it: where streams of the host have open blocks of
    /// their own, for the first of each queue, whichever the scheduler may choose.
    #[inline]
    fn has_page_for(&self, die: DieId, plane: u32, class: Class) -> bool {
        let plane_id = PlaneId(self.geometry.first_plane(die).0 + plane);
        let has_page = |stream| self.ftl.next_page_offset(plane_id, stream).is_some();
        if class == Class::MapProgram {
            return has_page(Stream::Translation);
        }
        if self.config.ftl.write_streams == WriteStreams::Shared {
            return has_page(Stream::Host(StreamId(0)));
        }
        let head = |&priority| self.queues.head(Choice { die, class, plane: plane as u8, priority });
        let heads = self.queues.priorities().iter().filter_map(head);
        heads.filter_map(|head| self.stream_of(head)).all(has_page)
    }
}

/// Whether a read that a request waits for may run.
#[inline]
pub(super) fn has_awaited_read(ready: &PlaneMasks) -> bool {
    Class::AWAITED_READS.iter().any(|class| ready[class.index()] != 0)
}
