//! Independent reads of the planes of a die (`flash.multi-plane = "independent"`).
//!
//! A read begins as soon as its plane is free, beside the reads of other planes. Programs, erases and copybacks occupy the whole die: when the
//! scheduler chooses one of these while planes read, the path is released, and no read begins until all planes have ended their reads (the die
//! *drains*). Then the scheduler chooses again. A Clean occupies the whole die as well, since it reserves the die from its first read on.

use crate::fabric::TransferPhase;
use crate::flash::die::{DieRules, Extent, Operation, OperationKind};
use crate::ids::{DieId, PlaneId, TransactionId};
use crate::kernel::model::Model;
use crate::measure::lower_bound::DieWork;
use crate::schedule::QueueId;
use crate::schedule::queues::{PlaneMasks, planes};
use crate::schedule::transaction::TransactionClass;
use crate::units::Time;

use super::Dies;
use super::entry::{DieEntry, PlaneReadEntry};

const SENDS: &str = "data of a register is being sent";

impl PlaneReadEntry {
    /// Lets reads begin again if the die is draining and all of its planes are free.
    fn settle(&mut self, rules: &DieRules) {
        self.is_draining &= !self.state.leave_die_free(rules);
    }
}

impl DieEntry {
    /// Returns a plane whose independent read ends at `now`, by its index in the die; `None` if there is none.
    pub(in super::super) fn plane_read_ending(&self, now: Time) -> Option<u8> {
        self.plane_reads.as_ref()?.state.ending(now)
    }

    /// Returns the account of array and transfer times to which the transfer in `phase` counts: of a plane that reads independently, or of
    /// the die.
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
    /// Begins an operation at `die`: an independent read on `lead_plane`, the plane of its lead, and any other operation on the whole die. Returns this extent, the plane
    /// or the whole die.
    ///
    /// # Panics
    /// If the die, or the plane, is busy.
    #[inline(always)]
    pub(in super::super) fn begin(
        &mut self,
        die: DieId,
        lead_plane: PlaneId,
        operation: Operation,
        now: Time,
    ) -> Extent {
        let DieEntry { state, plane_reads, .. } = &mut self.entries[die];
        let (begun, extent) = match plane_reads {
            Some(reads) if M::ALL_FEATURES && operation.kind == OperationKind::Read => {
                let plane = self.geometry.plane_in_die(lead_plane) as u8;
                (reads.state.begin(&self.rules.die, plane, operation, now), Extent::Plane(plane))
            }
            _ => (state.begin(&self.rules.die, operation, now), Extent::Die),
        };
        begun.expect("a die for which a lead was chosen accepts an operation");
        extent
    }

    /// Returns whether an operation of the queue `chosen` may begin. If the operation needs the whole die, and the die is not free as a
    /// whole, returns `false` and lets the die drain: no read begins until the reads of all planes have ended.
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

    /// Returns `ready` without the reads of planes that are busy.
    #[inline(never)]
    pub(in super::super) fn without_busy_planes(&self, die: DieId, mut ready: PlaneMasks) -> PlaneMasks {
        let Some(reads) = &self.entries[die].plane_reads else { return ready };
        let free = reads.state.free(&self.rules.die);
        for class in TransactionClass::READS {
            planes(ready.of(class) & !free).for_each(|plane| ready.remove(class, plane));
        }
        ready
    }

    /// Returns whether planes read independently and the suspension of `die` is still in progress at `now`. A read that begins now on any
    /// plane then pays the suspension time. Whole chips have the same rule ([`chip_suspension`](super::issue)).
    #[inline]
    pub(in super::super) fn is_suspending(&self, die: DieId, now: Time) -> bool {
        let entry = &self.entries[die];
        self.rules.planes_read_alone && entry.state.has_suspended() && now < entry.suspended_at + entry.suspension_time
    }

    /// Lets reads begin again at `die` if it is draining and all of its planes are free.
    #[inline]
    pub(in super::super) fn settle_draining(&mut self, die: DieId) {
        if let Some(reads) = &mut self.entries[die].plane_reads {
            reads.settle(&self.rules.die);
        }
    }

    /// Adds `waited` to the path waits of the data that `die` sends next. Returns the time at which its register was filled, and the path
    /// wait already charged to earlier planes of the operation.
    #[inline(always)]
    pub(in super::super) fn count_path_wait(&mut self, die: DieId, waited: Time) -> (Time, Time) {
        let DieEntry { state, plane_reads, .. } = &mut self.entries[die];
        let counted = match plane_reads {
            Some(reads) if M::ALL_FEATURES => reads.state.count_path_wait(waited),
            _ => state.count_path_wait(waited),
        };
        counted.expect(SENDS)
    }

    /// Removes the data that was just sent from its register. Returns the extent of the operation (one plane or the whole die), and the
    /// read of the data, to which other reads of the same page are chained.
    #[inline(always)]
    pub(in super::super) fn finish_sending(&mut self, die: DieId, now: Time) -> (Extent, TransactionId) {
        let DieEntry { state, plane_reads, .. } = &mut self.entries[die];
        match plane_reads {
            Some(reads) if M::ALL_FEATURES => {
                let (plane, sent) = reads.state.finish_sending(now).expect(SENDS);
                reads.settle(&self.rules.die);
                (Extent::Plane(plane), sent)
            }
            _ => (Extent::Die, state.finish_sending(now).expect(SENDS)),
        }
    }

    /// Removes the part of the register data that was just sent. `rest` is the first read of the data that stays in the register. Returns
    /// the first read of the part that was sent.
    #[inline(always)]
    pub(in super::super) fn finish_sending_part(&mut self, die: DieId, rest: TransactionId) -> TransactionId {
        let DieEntry { state, plane_reads, .. } = &mut self.entries[die];
        let sent = match plane_reads {
            Some(reads) if M::ALL_FEATURES => reads.state.finish_sending_part(rest),
            _ => state.finish_sending_part(rest),
        };
        sent.expect(SENDS)
    }
}
