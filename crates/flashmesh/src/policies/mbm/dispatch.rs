//! Waiting writes go to chips: how many a channel takes, which chip, which planes.

use crate::config::McsBegins;
use crate::flash::geometry::PLANES_PER_DIE_MAX;
use crate::ids::{ChannelId, ChipId, DieId, PlaneId, TransactionId};
use crate::policies::{Due, PolicyView};
use crate::schedule::transaction::Transaction;
use crate::schedule::work::Work;

use super::channel_max_subs::channel_max_subs;
use super::{Chips, Mbm};

/// Of planes with these write pointers, those that are behind: where the shortest way round a block that passes all of them begins.
///
/// Pointers are page offsets in a block of `pages`; the one after the last is 0 of the next block.
pub(super) fn behind(pointers: &[u32], pages: u32) -> Option<u32> {
    let (first, others) = pointers.split_first()?;
    if others.iter().all(|other| other == first) {
        return Some(*first);
    }
    let way = |from: u32| pointers.iter().map(|&to| (to + pages - from) % pages).max().unwrap_or(0);
    pointers.iter().copied().min_by_key(|&from| (way(from), from))
}

/// What a round of dispatching looks at and decides.
pub(super) struct Round<'a, 'b> {
    pub mbm: &'a mut Mbm,
    pub drive: &'a mut PolicyView<'b>,
    pub due: Due,
}

/// Planes of a die that are written at once, from the first on.
#[derive(Clone, Copy)]
struct Planes {
    /// The first plane of the die.
    first: u32,
    /// Those whose write pointers are behind, or all when they are equal; a bit each.
    behind: u32,
    /// Those that come after them (none with WS).
    others: u32,
}

impl Iterator for Planes {
    type Item = PlaneId;

    #[inline]
    fn next(&mut self) -> Option<PlaneId> {
        let left = if self.behind != 0 { &mut self.behind } else { &mut self.others };
        if *left == 0 {
            return None;
        }
        let plane = PlaneId(self.first + left.trailing_zeros());
        *left &= *left - 1;
        Some(plane)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.behind.count_ones() + self.others.count_ones()) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Planes {}

/// Which dies take writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takers {
    /// Those that have nothing to do.
    Idle,
    /// Those without a program under way.
    NotWriting,
}

impl Round<'_, '_> {
    /// Whether a die is free, or the whole chip where that counts.
    fn takes(&self, die: DieId, takers: Takers) -> bool {
        let is_free = |die: DieId| {
            self.mbm.programs.is_without(die) && (takers == Takers::NotWriting || self.drive.load.is_idle(die))
        };
        match self.mbm.chips {
            Chips::ByDie => is_free(die),
            Chips::AllDies | Chips::OneDie => self.dies_of(self.mbm.geometry.chip_of(die)).all(is_free),
        }
    }

    fn dies_of(&self, chip: ChipId) -> impl Iterator<Item = DieId> + use<> {
        let dies = self.mbm.geometry.dies_per_chip;
        (chip.0 * dies..(chip.0 + 1) * dies).map(DieId)
    }

    /// The planes of a die that are written at once: those with a page, and with WS only those with equal write pointers.
    fn planes(&mut self, die: DieId) -> Planes {
        let geometry = &self.mbm.geometry;
        let first = geometry.first_plane(die).0;
        let (mut offsets, mut pointers) = ([0; PLANES_PER_DIE_MAX], [0; PLANES_PER_DIE_MAX]);
        let mut open = 0;
        for offset in 0..geometry.planes_per_die {
            let plane = PlaneId(first + offset);
            match self.drive.ftl.next_page_offset(plane, self.drive.ftl.write_stream(plane, None)) {
                Some((_, page)) => {
                    (offsets[open], pointers[open]) = (offset, page);
                    open += 1;
                }
                None => self.due.full.push(plane),
            }
        }
        let pointers = &pointers[..open];
        let start = behind(pointers, geometry.pages_per_block);
        let mut planes = Planes { first, behind: 0, others: 0 };
        for (offset, page) in offsets.iter().zip(pointers) {
            let set = if start == Some(*page) { &mut planes.behind } else { &mut planes.others };
            *set |= 1 << offset;
        }
        if self.mbm.rules.ws {
            planes.others = 0;
        }
        planes
    }

    /// Sends `id` to `plane`.
    fn send(&mut self, id: TransactionId, plane: PlaneId) {
        self.drive.ftl.place_write_on(self.drive.load.transaction(id).lpn, plane);
        self.count(id, plane);
    }

    fn count(&mut self, id: TransactionId, plane: PlaneId) {
        let die = self.mbm.geometry.die_of_plane(plane);
        let channel = self.mbm.channel_of(die);
        self.mbm.programs.begin(die, channel);
        self.due.sent.push((id, plane));
    }

    /// Sends writes that have to go to their dies there.
    fn send_bound(&mut self) {
        if self.mbm.bound.is_empty() {
            return;
        }
        let dies = (0..self.mbm.geometry.dies()).map(DieId);
        let takers: Vec<DieId> =
            dies.filter(|&die| self.mbm.bound.first(die).is_some() && self.takes(die, Takers::NotWriting)).collect();
        for die in takers {
            if self.mbm.chips == Chips::OneDie && !self.takes(die, Takers::NotWriting) {
                continue;
            }
            let mut planes = self.planes(die);
            let mut next = planes.next();
            while let (Some(plane), Some(id)) = (next, self.mbm.bound.first(die)) {
                let Transaction { lpn, work, .. } = *self.drive.load.transaction(id);
                if self.drive.ftl.has_room(lpn, plane) {
                    self.mbm.bound.pop(die);
                    self.send(id, plane);
                    next = planes.next();
                } else if planes.len() > 0 {
                    next = planes.next();
                } else if work == Work::Reallocate {
                    self.mbm.bound.pop(die);
                    self.due.dropped.push(id);
                } else {
                    // The die is full of other pages: the write may go anywhere.
                    self.mbm.bound.pop(die);
                    self.mbm.writes.push_back(id);
                }
            }
        }
    }

    /// Sends the next writes to a chip, at most `most`; gives how many it took.
    fn send_to_chip(&mut self, chip: ChipId, most: u32, takers: Takers) -> u32 {
        let mut taken = 0;
        let free: Vec<DieId> = self.mbm.turns.dies(chip).filter(|&die| self.takes(die, takers)).collect();
        for die in free {
            if self.mbm.chips == Chips::OneDie && taken > 0 {
                break;
            }
            let (planes, before) = (self.planes(die), taken);
            for plane in planes {
                let Some(&id) = self.mbm.writes.front() else { break };
                if taken < most && self.drive.ftl.has_room(self.drive.load.transaction(id).lpn, plane) {
                    self.mbm.writes.pop_front();
                    self.send(id, plane);
                    taken += 1;
                }
            }
            if taken > before {
                self.mbm.turns.die_had(chip, die, taken - before >= planes.behind.count_ones());
            }
        }
        taken
    }

    /// How many pages a chip takes at once.
    fn parallelism(&mut self, chip: ChipId, takers: Takers) -> u32 {
        let (dies, chips) = (self.mbm.turns.dies(chip), self.mbm.chips);
        let mut of_dies = dies.map(|die| if self.takes(die, takers) { self.planes(die).len() as u32 } else { 0 });
        match chips {
            Chips::ByDie | Chips::AllDies => of_dies.sum(),
            Chips::OneDie => of_dies.find(|&pages| pages > 0).unwrap_or(0),
        }
    }

    /// The chip of a channel that takes writes next (MCS), with how many it takes at once.
    fn next_chip(&mut self, channel: ChannelId, takers: Takers) -> Option<(ChipId, u32)> {
        let mut first = None;
        let mut least: Option<(ChipId, u32)> = None;
        let mut most: Option<(ChipId, u32)> = None;
        for chip in self.mbm.turns.chips(channel) {
            let parallelism = self.parallelism(chip, takers);
            if parallelism == 0 {
                continue;
            }
            let found = Some((chip, parallelism));
            first = first.or(found);
            if least.is_none_or(|(_, least)| parallelism < least) {
                least = found;
            }
            if most.is_none_or(|(_, most)| parallelism > most) {
                most = found;
            }
        }
        let next = if !self.mbm.rules.mcs {
            first
        } else if std::mem::replace(&mut self.mbm.least_had_turn[channel.index()], true) {
            most
        } else {
            least
        };
        let (chip, _) = next?;
        self.mbm.turns.chip_had(channel, chip);
        next
    }

    /// Sends writes to chips, each channel as many as `Channel_Max_Subs` lets it have.
    fn send_by_channel(&mut self, takers: Takers) {
        let subrequests: Vec<u32> =
            self.mbm.reads.iter().zip(self.mbm.programs.by_channel()).map(|(reads, writes)| reads + writes).collect();
        let level = channel_max_subs(&subrequests, self.mbm.writes.len() as u32);
        let mut order: Vec<ChannelId> = self.mbm.turns.channels().collect();
        order.sort_by_key(|channel| subrequests[channel.index()]);
        for channel in order {
            let mut allowed = level.saturating_sub(subrequests[channel.index()]);
            while allowed > 0 && !self.mbm.writes.is_empty() {
                let Some((chip, parallelism)) = self.next_chip(channel, takers) else { break };
                let taken = self.send_to_chip(chip, parallelism.min(allowed), takers);
                if taken == 0 {
                    break;
                }
                self.mbm.turns.channel_had(channel);
                allowed -= taken;
            }
        }
    }

    /// Sends writes to chips, one after the other of each channel in turn.
    fn send_in_turn(&mut self, takers: Takers) {
        let mut without = 0;
        while without < self.mbm.geometry.channels && !self.mbm.writes.is_empty() {
            let Some(channel) = self.mbm.turns.channels().next() else { return };
            self.mbm.turns.channel_had(channel);
            let taken = match self.next_chip(channel, takers) {
                Some((chip, parallelism)) => self.send_to_chip(chip, parallelism, takers),
                None => 0,
            };
            without = if taken == 0 { without + 1 } else { 0 };
        }
    }

    pub fn run(mut self) -> Due {
        self.send_bound();
        if self.mbm.writes.is_empty() {
            return self.due;
        }
        let geometry = &self.mbm.geometry;
        let is_any_idle = (0..geometry.dies()).map(DieId).any(|die| self.takes(die, Takers::Idle));
        let takers = if is_any_idle { Takers::Idle } else { Takers::NotWriting };
        if self.mbm.rules.ws {
            self.send_by_channel(takers);
        } else {
            self.send_in_turn(takers);
        }
        // While a write is under way its end lets others go on. When none is, some has to, whatever the channels have.
        if !self.mbm.writes.is_empty() && self.mbm.programs.is_none() {
            self.send_in_turn(Takers::NotWriting);
        }
        // All free planes are full, or have room for no more: the write waits for its page where allocation puts it.
        if self.mbm.programs.is_none()
            && let Some(id) = self.mbm.writes.pop_front()
        {
            let plane = self.drive.ftl.place_write(self.drive.load.transaction(id).lpn, self.drive.idle);
            self.count(id, plane);
        }
        if self.mbm.writes.is_empty() || self.mbm.rules.mcs_begins == McsBegins::EachAllocation {
            self.mbm.least_had_turn.fill(false);
        }
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_that_are_behind_are_written_first() {
        assert_eq!(behind(&[5, 5], 16), Some(5));
        assert_eq!(behind(&[5, 6], 16), Some(5));
        assert_eq!(behind(&[0, 15], 16), Some(15), "the last page of a block comes before the first one of the next");
        assert_eq!(behind(&[6, 5, 6, 5], 16), Some(5));
        assert_eq!(behind(&[3, 12], 16), Some(12));
        assert_eq!(behind(&[], 16), None);
    }
}
