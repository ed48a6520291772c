//! Independent reads of the planes of a die (`flash.multi-plane = "independent"`).
//!
//! A read begins as soon as its plane is free, even while other planes read. Programs, erases and copybacks occupy the whole die. If the scheduler
//! chooses one of these while planes read, the die *drains*: the path is released, and no read begins until all planes have ended their reads. Then
//! the scheduler chooses again. A Clean occupies the whole die as well, since it reserves the die from its first read on.

use crate::fabric::TransferPhase;
use crate::flash::die::DieRules;
use crate::ids::DieId;
use crate::kernel::model::Model;
use crate::measure::lower_bound::DieWork;
use crate::schedule::QueueId;
use crate::schedule::queues::{PlaneMasks, planes};
use crate::schedule::transaction::TransactionClass;
use crate::units::Time;

use super::Dies;
use super::entry::{DieEntry, PlaneReadEntry};

impl PlaneReadEntry {
    /// Ends the draining of the die if all planes are free now. While a die drains, no read begins, because an operation needs all planes.
    pub(super) fn settle(&mut self, rules: &DieRules) {
        self.is_draining &= !self.state.leave_die_free(rules);
    }
}

impl DieEntry {
    /// Returns a plane whose independent read ends at `now`, by its index in the die; `None` if no read ends now.
    pub(super) fn plane_read_ending(&self, now: Time) -> Option<u8> {
        self.plane_reads.as_ref()?.state.ending(now)
    }

    /// Returns the counters of array and transfer time for a transfer in `phase`: those of the plane for an independent read, otherwise those of the
    /// die.
    pub(in super::super) fn work_of_transfer(&mut self, phase: TransferPhase) -> &mut DieWork {
        let Some(reads) = &mut self.plane_reads else { return &mut self.work };
        let plane = match phase {
            TransferPhase::Command => reads.state.incoming(),
            TransferPhase::DataOut | TransferPhase::Copy => reads.state.sending(),
        };
        plane.map_or(&mut self.work, |plane| &mut reads.work[usize::from(plane)])
    }
}

impl<M: Model> Dies<M> {
    /// Returns the state of the independent plane reads of a die; `None` in models (compiled variants of the simulation) that do not support them.
    #[inline(always)]
    pub(super) fn supported_reads(plane_reads: &mut Option<Box<PlaneReadEntry>>) -> Option<&mut PlaneReadEntry> {
        if M::ALL_FEATURES { plane_reads.as_deref_mut() } else { None }
    }

    /// Returns whether an operation of the queue `chosen` may begin. If the operation needs the whole die while planes still read, returns `false`
    /// and drains the die: no read begins until the reads of all planes have ended.
    #[inline(never)]
    pub(in super::super) fn may_begin(&mut self, chosen: QueueId) -> bool {
        let entry = &mut self.entries[chosen.die];
        if self.rules.independent_reads.of(chosen.class) != 0 || entry.accepts_whole(&self.rules.die) {
            return true;
        }
        if let Some(reads) = &mut entry.plane_reads {
            reads.is_draining = true;
        }
        false
    }

    /// Returns `ready` (planes with transactions that may run, by class) without the reads of planes that cannot begin a read now. If the planes do
    /// not read independently, returns `ready`.
    #[inline(never)]
    pub(in super::super) fn without_busy_planes(&self, die: DieId, mut ready: PlaneMasks) -> PlaneMasks {
        let Some(reads) = &self.entries[die].plane_reads else { return ready };
        let free = reads.state.free(&self.rules.die);
        for class in TransactionClass::READS {
            planes(ready.of(class) & !free).for_each(|plane| ready.remove(class, plane));
        }
        ready
    }

    /// Returns whether planes read independently and the suspension of `die` is still in progress at `now`. A read that begins now then takes longer
    /// by the suspension time. For whole chips, see [`chip_suspension`](crate::datapath::issue).
    #[inline]
    pub(in super::super) fn is_suspending(&self, die: DieId, now: Time) -> bool {
        let entry = &self.entries[die];
        self.rules.planes_read_alone && entry.state.has_suspended() && now < entry.suspended_at + entry.suspension_time
    }

    /// Ends the draining of `die` if all planes are free now. While a die drains, no read begins, because an operation needs all planes.
    #[inline]
    pub(in super::super) fn settle_draining(&mut self, die: DieId) {
        if let Some(reads) = &mut self.entries[die].plane_reads {
            reads.settle(&self.rules.die);
        }
    }
}
