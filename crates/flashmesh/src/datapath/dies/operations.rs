//! Steps of an operation at a die: its start, its array work, and the transfer of its read data.

use crate::flash::die::{Extent, Operation, OperationKind};
use crate::ids::{DieId, PlaneId, TransactionId};
use crate::kernel::model::Model;
use crate::units::Time;

use super::{DieEntry, Dies};

const SENDS: &str = "data of a register is being sent";

impl<M: Model> Dies<M> {
    /// Begins `operation` at `die`. Returns the part of the die that it occupies: for a read, if planes read independently, the plane `lead_plane` of
    /// its lead; otherwise the whole die.
    ///
    /// # Panics
    ///
    /// If the die, or the plane for an independent read, cannot begin the operation.
    #[inline(always)]
    pub(in super::super) fn begin(
        &mut self,
        die: DieId,
        lead_plane: impl FnOnce() -> PlaneId,
        operation: Operation,
        now: Time,
    ) -> Extent {
        let DieEntry { state, plane_reads, .. } = &mut self.entries[die];
        let (begun, extent) = match Self::supported_reads(plane_reads) {
            Some(reads) if operation.kind == OperationKind::Read => {
                let plane = self.geometry.plane_in_die(lead_plane()) as u8;
                (reads.state.begin(&self.rules.die, plane, operation, now), Extent::Plane(plane))
            }
            _ => (state.begin(&self.rules.die, operation, now), Extent::Die),
        };
        begun.expect("a die for which a lead was chosen accepts an operation");
        extent
    }

    /// Starts the array of `die`, after its command and data have arrived. Returns the part of the die that the operation occupies, the operation,
    /// and its end time.
    #[inline(always)]
    pub(in super::super) fn start_array(&mut self, die: DieId, now: Time) -> (Extent, &Operation, Time) {
        let DieEntry { state, plane_reads, .. } = &mut self.entries[die];
        match Self::supported_reads(plane_reads) {
            Some(reads) if reads.state.incoming().is_some() => {
                let (plane, read, until) = reads.state.start_array(now).expect("the command of a plane is in transfer");
                (Extent::Plane(plane), read, until)
            }
            _ => {
                let started = state.start_array(now);
                let (operation, until) = started.expect("the die whose command is delivered has an operation");
                (Extent::Die, operation, until)
            }
        }
    }

    /// Ends the operation in the array of `die` and counts its array time. Returns the part of the die that the operation occupied, and the
    /// operation; `None` for an outdated end event, whose operation has been suspended.
    #[inline(always)]
    pub(in super::super) fn finish_array(&mut self, die: DieId, now: Time) -> Option<(Extent, &Operation)> {
        let plane = if self.planes_read_alone() { self.entries[die].plane_read_ending(now) } else { None };
        if M::ALL_FEATURES && plane.is_none() {
            if !self.entries[die].state.ends_at(now) {
                return None;
            }
            // A pending path request was made by a read, to suspend the operation that ends here. Until now, the read waited for the die, so count
            // its path wait from now on.
            let requester = self.requester(die);
            if self.entries[requester].path.requests_command() {
                self.entries[requester].path.request_command(now);
            }
        }
        let DieEntry { state, work, plane_reads, .. } = &mut self.entries[die];
        let (extent, operation, work) = match (plane, Self::supported_reads(plane_reads)) {
            (Some(plane), Some(reads)) => {
                let read = reads.state.finish_array(plane, now).expect("the end of the read has come");
                (Extent::Plane(plane), read, &mut reads.work[usize::from(plane)])
            }
            _ => (Extent::Die, state.finish_array(now).expect("the end of the operation has come"), work),
        };
        work.array += operation.array_time;
        Some((extent, operation))
    }

    /// Marks the data in the register of `die` as requesting a path. Returns `true` if data was newly marked; next, call
    /// [`Datapath::request_data_path`](crate::datapath::Datapath::request_data_path). Returns `false` if the register is empty or its data was
    /// already marked.
    #[inline(always)]
    pub fn mark_sending(&mut self, die: DieId) -> bool {
        match Self::supported_reads(&mut self.entries[die].plane_reads) {
            Some(reads) => reads.state.mark_sending(),
            _ => self.entries[die].state.mark_sending(),
        }
    }

    /// Returns the read whose data leaves the register of `die` next; `None` if no data is ready.
    #[inline]
    pub fn outgoing(&self, die: DieId) -> Option<TransactionId> {
        if self.planes_read_alone() { self.entries[die].outgoing() } else { self.entries[die].state.outgoing() }
    }

    /// Adds `waited` to the path wait of the data that `die` sends next. Returns the time at which the page register was filled, and the path wait
    /// already charged to the planes of the operation that sent before.
    #[inline(always)]
    pub(in super::super) fn count_path_wait(&mut self, die: DieId, waited: Time) -> (Time, Time) {
        let DieEntry { state, plane_reads, .. } = &mut self.entries[die];
        let counted = match Self::supported_reads(plane_reads) {
            Some(reads) => reads.state.count_path_wait(waited),
            _ => state.count_path_wait(waited),
        };
        counted.expect(SENDS)
    }

    /// Removes the data of the last transfer from the page register. Returns the part of the die that the operation occupied, and the read that the
    /// data belongs to; further reads of the page may be chained to it.
    #[inline(always)]
    pub(in super::super) fn finish_sending(&mut self, die: DieId, now: Time) -> (Extent, TransactionId) {
        let DieEntry { state, plane_reads, .. } = &mut self.entries[die];
        match Self::supported_reads(plane_reads) {
            Some(reads) => {
                let (plane, sent) = reads.state.finish_sending(now).expect(SENDS);
                reads.settle(&self.rules.die);
                (Extent::Plane(plane), sent)
            }
            _ => (Extent::Die, state.finish_sending(now).expect(SENDS)),
        }
    }

    /// Removes the part of the register data that was just sent. `rest` is the first read whose data stays in the register. Returns the first read
    /// whose data was sent.
    #[inline(always)]
    pub(in super::super) fn finish_sending_part(&mut self, die: DieId, rest: TransactionId) -> TransactionId {
        let DieEntry { state, plane_reads, .. } = &mut self.entries[die];
        let sent = match Self::supported_reads(plane_reads) {
            Some(reads) => reads.state.finish_sending_part(rest),
            _ => state.finish_sending_part(rest),
        };
        sent.expect(SENDS)
    }

    #[inline]
    pub(in super::super) fn first_in_progress(&self, die: DieId) -> Option<TransactionId> {
        let entry = &self.entries[die];
        if self.planes_read_alone() { entry.first_in_progress() } else { entry.state.first_in_progress() }
    }
}
