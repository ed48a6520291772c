//! Writes to read-intensive areas (ranges of logical pages that long requests read): distribution over the free dies (section IV.B: "into all
//! corresponding dies of the area averagely").
//!
//! Each waiting write is pinned to the die with the fewest pages of its area, among the dies that can take it at once. Pages are counted in whole
//! programs, so that the mapping units of one program go to one die.
//!
//! Choices where the paper is silent \[choice\]: a write does not wait for a die without room; a die that reads counts as free. If dies have equally
//! many pages of the area, the die whose channel holds the fewest pages of the area takes the write; on a further tie, the first such die, beginning
//! with the die of the static order. Pinned writes are dispatched before other writes, outside the limits of `Channel_Max_Subs` and MCS (Minimizing
//! Chip consumption Strategy). If no die can take a write and no program is in flight, the write joins the queue of writes to other areas.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::engine::round_robin::cyclic;
use crate::ids::{DieId, Lpn, TransactionId};

use super::dispatch::{DispatchRound, Eligibility};
use super::{ChipDispatch, Mbm};

/// Writes to read-intensive areas that are not programmed yet.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingAreaWrites {
    /// Writes that are not assigned to a die, in order of arrival.
    waiting: VecDeque<TransactionId>,
    /// Writes that are assigned to a die, by logical page.
    placed: FxHashMap<Lpn, (TransactionId, DieId)>,
}

impl PendingAreaWrites {
    /// Returns whether no write to a read-intensive area waits for a die to be assigned.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn push(&mut self, id: TransactionId) {
        self.waiting.push_back(id);
    }

    fn place(&mut self, lpn: Lpn, id: TransactionId, die: DieId) {
        self.placed.insert(lpn, (id, die));
    }

    /// Records that the write `id` of `lpn` was dispatched to `die`, which may not be the die assigned to it. No-op if no die was assigned.
    pub(super) fn dispatch(&mut self, id: TransactionId, lpn: Lpn, die: DieId) {
        if let Some((_, placed)) = self.placed.get_mut(&lpn).filter(|(write, _)| *write == id) {
            *placed = die;
        }
    }

    /// Removes the host write of `lpn` from the writes with an assigned die, after it was programmed or cancelled. No-op if it is not one of them.
    pub(super) fn end(&mut self, lpn: Lpn) {
        self.placed.remove(&lpn);
    }

    /// Removes the writes for which `is_taken` holds. Appends only those without an assigned die to `taken`: the queues of the dies append the
    /// others.
    pub(super) fn remove_where(&mut self, is_taken: impl Fn(&TransactionId) -> bool, taken: &mut Vec<TransactionId>) {
        taken.extend(self.waiting.iter().copied().filter(&is_taken));
        self.waiting.retain(|id| !is_taken(id));
        self.placed.retain(|_, (id, _)| !is_taken(id));
    }
}

impl DispatchRound<'_, '_> {
    /// Pins the waiting writes to read-intensive areas to dies that can take them. The other writes keep waiting.
    pub(super) fn pin_area_writes(&mut self) {
        if self.mbm.area_writes.is_empty() {
            return;
        }
        let mut room = self.room_by_die();
        for id in std::mem::take(&mut self.mbm.area_writes.waiting) {
            let lpn = self.drive.load.transaction(id).lpn;
            match self.die_for(lpn, id, &room) {
                Some(die) => {
                    self.use_room(die, &mut room);
                    self.mbm.area_writes.place(lpn, id, die);
                    self.mbm.pinned.push(die, id);
                }
                None => self.mbm.area_writes.push(id),
            }
        }
    }

    /// Moves the waiting writes to the queue of writes to other areas if no program is in flight. Otherwise they would wait forever, because only the
    /// end of a program starts another round of dispatch.
    pub(super) fn release_area_writes(&mut self) {
        if self.mbm.programs.is_empty() {
            let Mbm { area_writes, writes, .. } = &mut *self.mbm;
            writes.extend(area_writes.waiting.drain(..));
        }
    }

    /// Returns the number of pages (mapping units) that each die can take at once, indexed by die: the free units of its partly filled programs, and
    /// if it has no program in flight, one program for each plane that is written at once. Writes already pinned to the die are subtracted.
    fn room_by_die(&mut self) -> Vec<u32> {
        let geometry = self.mbm.geometry.clone();
        let mut room = vec![0; geometry.dies() as usize];
        for program in self.mbm.filling_programs.all() {
            room[geometry.die_of_plane(program.plane).index()] += program.free_units;
        }
        for (room, die) in room.iter_mut().zip(0..).map(|(room, die)| (room, DieId(die))) {
            if self.takes(die, Eligibility::WithoutProgram) {
                *room += self.planes(die).map(|plane| self.units_of(plane)).sum::<u32>();
            }
            *room = room.saturating_sub(self.mbm.pinned.count(die));
        }
        room
    }

    /// Reserves a page of `die` in `room`, the number of pages that each die can take. If only one die of a chip takes writes at a time, sets the
    /// numbers of the other dies of its chip to 0.
    fn use_room(&self, die: DieId, room: &mut [u32]) {
        room[die.index()] -= 1;
        if self.mbm.chips == ChipDispatch::OneDie {
            self.dies_of(self.mbm.geometry.chip_of(die)).filter(|&other| other != die).for_each(|other| {
                room[other.index()] = 0;
            });
        }
    }

    /// Returns the die that holds the fewest pages, counted in whole programs, of the area of `lpn`, among the dies with room for the page; `None` if
    /// no die has room. `room` is indexed by die.
    fn die_for(&self, lpn: Lpn, id: TransactionId, room: &[u32]) -> Option<DieId> {
        let mbm = &*self.mbm;
        let can_take = |die: DieId| room[die.index()] > 0 && mbm.planes_of(die).any(|plane| self.has_room(id, plane));
        if room.iter().all(|&room| room == 0) {
            return None;
        }
        let on_die = self.pages_by_die(lpn)?;
        let mut on_channel = vec![0; mbm.geometry.channels as usize];
        for (die, pages) in (0..).map(DieId).zip(&on_die) {
            on_channel[mbm.channel_of(die).index()] += pages;
        }
        let in_programs = |pages: u32| pages / mbm.geometry.units_per_program;
        let home = mbm.geometry.die_of_plane(self.drive.ftl.static_order().plane_of(lpn));
        cyclic(home.0, room.len() as u32)
            .map(DieId)
            .filter(|&die| can_take(die))
            .min_by_key(|&die| (in_programs(on_die[die.index()]), in_programs(on_channel[mbm.channel_of(die).index()])))
    }

    /// Returns how many pages of the area of `lpn` are on each die, without `lpn` itself. A page with a pending write counts on the die assigned to
    /// the write. Returns `None` if RS (the read strategy of MBM) is off.
    fn pages_by_die(&self, lpn: Lpn) -> Option<Vec<u32>> {
        let Mbm { geometry, areas, area_writes, .. } = &*self.mbm;
        let area = areas.as_ref()?.pages_around(lpn);
        let die_of = |lpn: Lpn| match area_writes.placed.get(&lpn) {
            Some(&(_, die)) => Some(die),
            None => self.drive.ftl.lookup(lpn).map(|ppn| geometry.die_of_plane(geometry.plane_of(ppn))),
        };
        let mut pages = vec![0; geometry.dies() as usize];
        for die in area.map(Lpn).filter(|&other| other != lpn).filter_map(die_of) {
            pages[die.index()] += 1;
        }
        Some(pages)
    }
}
