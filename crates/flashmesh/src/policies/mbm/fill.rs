//! Dispatch of writes to a plane, up to the mapping units of one program.

use crate::ids::{PlaneId, TransactionId};

use super::dispatch::DispatchRound;
use super::filling_programs::FillingProgram;

impl DispatchRound<'_, '_> {
    /// Places the page of `id` on `plane` and dispatches the write.
    pub(super) fn send(&mut self, id: TransactionId, plane: PlaneId) {
        self.drive.ftl.record_placement(self.drive.load.transaction(id).lpn, plane);
        self.count(id, plane);
    }

    pub(super) fn count(&mut self, id: TransactionId, plane: PlaneId) {
        let place = self.mbm.location_of(plane);
        self.mbm.programs.begin(place);
        self.mbm.area_writes.dispatch(id, self.drive.load.transaction(id).lpn, place.die);
        self.due.dispatched.push((id, plane));
    }

    /// Returns the number of mapping units in the next program of a plane.
    pub(super) fn units_of(&self, plane: PlaneId) -> u32 {
        let geometry = &self.mbm.geometry;
        if !geometry.has_slc() {
            return geometry.units_per_program;
        }
        let next = self.drive.ftl.next_page_offset(plane, self.drive.ftl.write_block_kind(plane, None));
        next.map_or(geometry.units_per_program, |(block, _)| geometry.units_per_program_of(block))
    }

    pub(super) fn has_room(&self, id: TransactionId, plane: PlaneId) -> bool {
        self.drive.ftl.has_room(self.drive.load.transaction(id).lpn, plane)
    }

    /// Dispatches at most `units` waiting writes to a plane. Returns their number.
    pub(super) fn fill(&mut self, plane: PlaneId, units: u32) -> u32 {
        let mut sent = 0;
        while sent < units
            && let Some(&id) = self.mbm.writes.front()
            && self.has_room(id, plane)
        {
            self.mbm.writes.pop_front();
            self.send(id, plane);
            sent += 1;
        }
        sent
    }

    /// Like [`fill`](Self::fill), but takes writes pinned to the die of the plane.
    pub(super) fn fill_pinned(&mut self, plane: PlaneId, units: u32) -> u32 {
        let die = self.mbm.geometry.die_of_plane(plane);
        let mut sent = 0;
        while sent < units
            && let Some(id) = self.mbm.pinned.first(die)
            && self.has_room(id, plane)
        {
            self.mbm.pinned.pop(die);
            self.send(id, plane);
            sent += 1;
        }
        sent
    }

    /// Dispatches writes to partly filled programs, pinned writes first.
    pub(super) fn top_up_programs(&mut self) {
        for program in self.mbm.filling_programs.all() {
            let FillingProgram { plane, free_units: room, .. } = program;
            let pinned = self.fill_pinned(plane, room);
            let sent = pinned + self.fill(plane, room - pinned);
            self.mbm.filling_programs.set(FillingProgram { free_units: room - sent, ..program });
        }
    }
}
