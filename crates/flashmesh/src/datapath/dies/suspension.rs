//! Suspension of programs and erases of dies and chips, so that reads need not wait for them.

use crate::config::Suspension;
use crate::flash::die::OperationKind;
use crate::ids::DieId;
use crate::kernel::Kernel;
use crate::kernel::event::{Event, array_lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::units::Time;

use super::{DieEntry, Dies};

impl<M: Model> Dies<M> {
    /// Returns whether reads can suspend operations on this drive (`flash.suspension`).
    #[inline(always)]
    pub(in super::super) fn have_suspension(&self) -> bool {
        M::ALL_FEATURES && self.rules.die.suspension != Suspension::Off
    }

    /// Returns whether the dies of a chip are suspended together (`flash.suspension-scope = "chip"`).
    #[inline(always)]
    pub(in super::super) fn are_suspended_as_chips(&self) -> bool {
        M::ALL_FEATURES && self.rules.suspend_as_chips
    }

    /// Returns whether the operation in the array of `die` may be suspended at `now`.
    #[inline]
    pub(in super::super) fn may_suspend(&self, die: DieId, now: Time) -> bool {
        self.have_suspension() && self.entries[die].may_suspend(&self.rules.die, now)
    }

    /// Returns whether `die` may start only reads, because it has a suspended operation or its chip is suspended as a whole.
    #[inline]
    pub(in super::super) fn is_limited_to_reads(&self, die: DieId) -> bool {
        self.has_suspended(die) || (self.are_suspended_as_chips() && self.is_chip_suspended(die))
    }

    /// Returns whether `die` has a suspended operation.
    #[inline]
    pub(in super::super) fn has_suspended(&self, die: DieId) -> bool {
        self.have_suspension() && self.entries[die].state.has_suspended()
    }

    /// Returns whether any die of the chip of `die` has a suspended operation.
    pub(in super::super) fn is_chip_suspended(&self, die: DieId) -> bool {
        self.dies_of_chip(die).any(|die| self.entries[die].state.has_suspended())
    }

    /// Resumes the suspended operation of `die`, and schedules its end.
    #[inline(never)]
    pub(in super::super) fn resume_suspended(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        let until = self.entries[die]
            .state
            .resume(&self.rules.die, now, self.rules.resume_time)
            .expect("a die that accepts an operation and has one suspended resumes it");
        let since = self.entries[die].state.since();
        kernel.schedule(array_lane(OperationKind::Erase), since, Event::Resumed(die));
        kernel.schedule(array_lane(OperationKind::Erase), until, Event::ArrayEnd(die));
        kernel.notify(|| Notice::Resumed(die, until));
    }

    /// Suspends the operation of `die`. Returns whether it was suspended; `false` if it cannot be suspended or is nearly complete.
    #[inline(never)]
    pub(in super::super) fn suspend(&mut self, die: DieId, kernel: &mut Kernel<M>) -> bool {
        let now = kernel.now();
        let entry = &mut self.entries[die];
        let Ok(works_on) = entry.state.suspend(&self.rules.die, now) else { return false };
        (entry.suspended_at, entry.suspension_time) = (now, works_on + self.rules.suspend_time);
        entry.work.overlapped += works_on;
        self.suspensions += 1;
        kernel.notify(|| Notice::Suspended(die));
        true
    }

    /// Suspends the operations of all busy dies of the chip of `die`, which must all be able to suspend. The slowest suspension determines the time
    /// for all.
    pub(in super::super) fn suspend_chip(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        let mut works_on = Time::ZERO;
        for die in self.dies_of_chip(die) {
            let DieEntry { state, work, .. } = &mut self.entries[die];
            if !state.is_idle() {
                let of_die = state.suspend(&self.rules.die, kernel.now());
                let of_die = of_die.expect("every operation of the chip can be suspended");
                work.overlapped += of_die;
                works_on = works_on.max(of_die);
                self.suspensions += 1;
                kernel.notify(|| Notice::Suspended(die));
            }
        }
        let first = self.first_die_of_chip(die);
        let entry = &mut self.entries[first];
        (entry.suspended_at, entry.suspension_time) = (kernel.now(), works_on + self.rules.suspend_time);
    }

    /// Resumes the suspended operation of `die`, if there is one and no plane is reading. Called if a queued operation needs the whole die, because
    /// the suspended operation must end first.
    #[inline(never)]
    pub(in super::super) fn resume_for_whole(&mut self, die: DieId, kernel: &mut Kernel<M>) {
        if self.entries[die].state.has_suspended() && self.accepts_whole(die) {
            self.resume_suspended(die, kernel);
        }
    }
}
