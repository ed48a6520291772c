//! Dispatch of writes to a plane, up to the mapping units of one program.

use crate::ids::{PlaneId, TransactionId};

use super::dispatch::DispatchRound;
use super::filling_programs::FillingProgram;

impl DispatchRound<'_, '_> {
    /// Places the page of the write `id` on `plane` and dispatches the write.
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

    /// Returns the number of mapping units in the next program of `plane`. A program in the SLC cache may have fewer units than a native one.
    pub(super) fn units_of(&self, plane: PlaneId) -> u32 {
        let geometry = &self.mbm.geometry;
        if !geometry.has_slc() {
            return geometry.units_per_program;
        }
        let next = self.drive.ftl.blocks().next_page_offset(plane, self.drive.ftl.write_block_kind(plane, None));
        next.map_or(geometry.units_per_program, |(block, _)| geometry.units_per_program_of(block))
    }

    pub(super) fn has_room(&self, id: TransactionId, plane: PlaneId) -> bool {
        self.drive.ftl.has_room(self.drive.load.transaction(id).lpn, plane)
    }

    /// Dispatches the first waiting writes, at most `units`, to `plane`. Stops at the first write for which the plane has no room. Returns the number
    /// of writes dispatched.
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

    /// Like [`fill`](Self::fill), but dispatches writes pinned to the die of `plane`.
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

    /// Dispatches writes to the partly filled programs, pinned writes first, until the programs are full or no write is left.
    pub(super) fn top_up_programs(&mut self) {
        for program in self.mbm.filling_programs.all() {
            let FillingProgram { plane, free_units: room, .. } = program;
            let pinned = self.fill_pinned(plane, room);
            let sent = pinned + self.fill(plane, room - pinned);
            self.mbm.filling_programs.set(FillingProgram { free_units: room - sent, ..program });
        }
    }
}
