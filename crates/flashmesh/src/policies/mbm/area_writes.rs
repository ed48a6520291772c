//! Writes to read-intensive areas: distribution over the free dies (section IV.B: "into all corresponding dies of the area averagely").
//!
//! Each waiting write is pinned to the die with the fewest pages of its area, among the dies that can take it now \[choice: the paper does not say
//! whether a write waits for a busy die\]. Of dies with equally many pages, the one with the fewest pages of the area on its channel takes the write,
//! and of these the first from the die of the static order on.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::engine::round_robin::cyclic;
use crate::ids::{DieId, Lpn, TransactionId};

use super::dispatch::{DispatchRound, Eligibility};
use super::{ChipDispatch, Mbm};

/// Writes to read-intensive areas that are not programmed yet.
#[derive(Clone, Debug, Default)]
pub(super) struct AreaWrites {
    /// Writes without a die, in order of arrival.
    waiting: VecDeque<TransactionId>,
    /// Writes with a die, by logical page.
    placed: FxHashMap<Lpn, (TransactionId, DieId)>,
}

impl AreaWrites {
    /// Returns whether no write waits for a die.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Enqueues a write.
    pub(super) fn push(&mut self, id: TransactionId) {
        self.waiting.push_back(id);
    }

    /// Records that the write of `lpn` goes to `die`.
    fn place(&mut self, lpn: Lpn, id: TransactionId, die: DieId) {
        self.placed.insert(lpn, (id, die));
    }

    /// Updates the die of the write of `lpn`, if it is one of these writes.
    pub(super) fn dispatch(&mut self, lpn: Lpn, die: DieId) {
        if let Some((_, placed)) = self.placed.get_mut(&lpn) {
            *placed = die;
        }
    }

    /// Removes the write of `lpn`, which was programmed or cancelled.
    pub(super) fn end(&mut self, lpn: Lpn) {
        self.placed.remove(&lpn);
    }

    /// Moves the waiting writes for which `is_taken` holds to `taken`, and removes such writes from those with a die.
    pub(super) fn remove_where(&mut self, is_taken: impl Fn(&TransactionId) -> bool, taken: &mut Vec<TransactionId>) {
        taken.extend(self.waiting.iter().copied().filter(&is_taken));
        self.waiting.retain(|id| !is_taken(id));
        self.placed.retain(|_, (id, _)| !is_taken(id));
    }
}

impl DispatchRound<'_, '_> {
    /// Pins the waiting writes of read-intensive areas to dies that can take them. A write that no die can take waits for the end of a program. If
    /// none is in flight or pinned, the write joins the writes to other areas.
    pub(super) fn pin_area_writes(&mut self) {
        if self.mbm.area_writes.is_empty() {
            return;
        }
        let mut room: Vec<u32> = (0..self.mbm.geometry.dies()).map(|die| self.room_on(DieId(die))).collect();
        for id in std::mem::take(&mut self.mbm.area_writes.waiting) {
            let lpn = self.drive.load.transaction(id).lpn;
            match self.die_for(lpn, id, &room) {
                Some(die) => {
                    self.use_room(die, &mut room);
                    self.mbm.area_writes.place(lpn, id, die);
                    self.mbm.pinned.push(die, id);
                }
                None if self.mbm.programs.is_empty() && self.mbm.pinned.is_empty() => self.mbm.writes.push_back(id),
                None => self.mbm.area_writes.push(id),
            }
        }
    }

    /// Returns the number of pages that `die` can take now, beyond the writes pinned to it: in partly filled programs, or on all its planes.
    fn room_on(&mut self, die: DieId) -> u32 {
        let geometry = &self.mbm.geometry;
        let gathering = self.mbm.gathering.all().into_iter();
        let gathered: u32 =
            gathering.filter(|open| geometry.die_of_plane(open.plane) == die).map(|open| open.free_units).sum();
        let on_planes = if self.takes(die, Eligibility::WithoutProgram) {
            self.planes(die).map(|plane| self.units_of(plane)).sum()
        } else {
            0
        };
        (gathered + on_planes).saturating_sub(self.mbm.pinned.count(die))
    }

    /// Removes a page from the room of `die`. If dies take turns, removes the room of the other dies of the chip.
    fn use_room(&self, die: DieId, room: &mut [u32]) {
        room[die.index()] -= 1;
        if self.mbm.chips == ChipDispatch::OneDie {
            self.dies_of(self.mbm.geometry.chip_of(die)).filter(|&other| other != die).for_each(|other| {
                room[other.index()] = 0;
            });
        }
    }

    /// Returns the die with the fewest pages of the area of `lpn`, among the dies with room for the page.
    fn die_for(&self, lpn: Lpn, id: TransactionId, room: &[u32]) -> Option<DieId> {
        let pages = self.pages_by_die(lpn)?;
        let home = self.mbm.geometry.die_of_plane(self.drive.ftl.static_plane(lpn));
        let on_channel = |mbm: &Mbm, die: DieId| {
            let channel = mbm.channel_of(die);
            (0..)
                .map(DieId)
                .zip(&pages)
                .filter(|&(die, _)| mbm.channel_of(die) == channel)
                .map(|(_, count)| count)
                .sum()
        };
        let mut best: Option<((u32, u32), DieId)> = None;
        for die in cyclic(home.0, room.len() as u32).map(DieId) {
            if room[die.index()] == 0 || !self.mbm.planes_of(die).any(|plane| self.has_room(id, plane)) {
                continue;
            }
            let key = (pages[die.index()], on_channel(self.mbm, die));
            if best.is_none_or(|(least, _)| key < least) {
                best = Some((key, die));
            }
        }
        best.map(|(_, die)| die)
    }

    /// Returns the number of pages of the area of `lpn` on each die, without `lpn`. Pages with a write that has a die count there.
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
