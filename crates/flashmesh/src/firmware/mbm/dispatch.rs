//! Waiting writes go to chips: how many a channel takes, which chip, which planes.

use crate::datapath::Datapath;
use crate::firmware::Firmware;
use crate::firmware::policy::AnyPolicy;
use crate::flash::geometry::PLANES_PER_DIE_MAX;
use crate::ftl::Ftl;
use crate::ids::{ChipId, DieId, PlaneId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::transaction::Transaction;

use super::Mbm;
use super::channel_max_subs::channel_max_subs;

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
struct Round<'a, M: Model> {
    mbm: &'a mut Mbm,
    ftl: &'a mut Ftl,
    datapath: &'a Datapath<M>,
    /// Writes with their planes.
    sent: Vec<(TransactionId, PlaneId)>,
    /// Reallocated pages that find no room where they were to go.
    dropped: Vec<TransactionId>,
    /// Planes without a page for the host.
    full: Vec<PlaneId>,
}

/// Planes of a die, taken from the first on.
#[derive(Clone, Copy)]
struct Planes {
    /// The first plane of the die.
    first: u32,
    /// A bit each.
    mask: u32,
}

impl Iterator for Planes {
    type Item = PlaneId;

    #[inline]
    fn next(&mut self) -> Option<PlaneId> {
        if self.mask == 0 {
            return None;
        }
        let plane = PlaneId(self.first + self.mask.trailing_zeros());
        self.mask &= self.mask - 1;
        Some(plane)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.mask.count_ones() as usize;
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

impl<M: Model> Round<'_, M> {
    fn takes(&self, die: DieId, takers: Takers) -> bool {
        self.mbm.programs[die.index()] == 0 && (takers == Takers::NotWriting || self.datapath.is_idle(die))
    }

    /// The planes of a die that are written at once: those with a page, and with equal write pointers (WS).
    fn planes(&mut self, die: DieId) -> Planes {
        let geometry = &self.mbm.geometry;
        let first = geometry.first_plane(die).0;
        let (mut offsets, mut pointers) = ([0; PLANES_PER_DIE_MAX], [0; PLANES_PER_DIE_MAX]);
        let mut open = 0;
        for offset in 0..geometry.planes_per_die {
            let plane = PlaneId(first + offset);
            match self.ftl.next_page_offset(plane, self.ftl.host_stream(plane, None)) {
                Some((_, page)) => {
                    (offsets[open], pointers[open]) = (offset, page);
                    open += 1;
                }
                None => self.full.push(plane),
            }
        }
        let pointers = &pointers[..open];
        let start = if self.mbm.rules.ws { behind(pointers, geometry.pages_per_block) } else { None };
        let written = offsets.iter().zip(pointers).filter(|&(_, page)| start.is_none_or(|start| *page == start));
        Planes { first, mask: written.fold(0, |mask, (offset, _)| mask | 1 << offset) }
    }

    /// Sends `id` to `plane`.
    fn send(&mut self, id: TransactionId, plane: PlaneId) {
        self.ftl.place_write_on(self.datapath.transaction(id).lpn, plane);
        self.count(id, plane);
    }

    fn count(&mut self, id: TransactionId, plane: PlaneId) {
        let die = self.mbm.geometry.die_of_plane(plane);
        let channel = self.mbm.channel_of(die);
        self.mbm.programs[die.index()] += 1;
        self.mbm.executing[channel.index()] += 1;
        self.sent.push((id, plane));
    }

    /// Sends writes that have to go to their dies there.
    fn send_bound(&mut self) {
        if self.mbm.bound_count == 0 {
            return;
        }
        for die in (0..self.mbm.geometry.dies()).map(DieId) {
            if self.mbm.bound[die.index()].is_empty() || !self.takes(die, Takers::NotWriting) {
                continue;
            }
            let mut planes = self.planes(die);
            let mut next = planes.next();
            while let (Some(plane), Some(&id)) = (next, self.mbm.bound[die.index()].front()) {
                let Transaction { lpn, is_reallocated, .. } = *self.datapath.transaction(id);
                if self.ftl.has_room(lpn, plane) {
                    self.pop_bound(die);
                    self.send(id, plane);
                    next = planes.next();
                } else if planes.len() > 0 {
                    next = planes.next();
                } else if is_reallocated {
                    self.pop_bound(die);
                    self.dropped.push(id);
                } else {
                    // The die is full of other pages: the write may go anywhere.
                    self.pop_bound(die);
                    self.mbm.writes.push_back(id);
                }
            }
        }
    }

    fn pop_bound(&mut self, die: DieId) {
        self.mbm.bound[die.index()].pop_front();
        self.mbm.bound_count -= 1;
    }

    /// Sends the next writes to a chip, at most `most`; gives how many it took.
    fn send_to_chip(&mut self, chip: ChipId, most: u32, takers: Takers) -> u32 {
        let mut taken = 0;
        for die in self.dies_of(chip) {
            if !self.takes(die, takers) {
                continue;
            }
            for plane in self.planes(die) {
                let Some(&id) = self.mbm.writes.front() else { return taken };
                if taken < most && self.ftl.has_room(self.datapath.transaction(id).lpn, plane) {
                    self.mbm.writes.pop_front();
                    self.send(id, plane);
                    taken += 1;
                }
            }
        }
        taken
    }

    fn dies_of(&self, chip: ChipId) -> impl Iterator<Item = DieId> + use<M> {
        let dies = self.mbm.geometry.dies_per_chip;
        (chip.0 * dies..(chip.0 + 1) * dies).map(DieId)
    }

    /// How many pages a chip takes at once.
    fn parallelism(&mut self, chip: ChipId, takers: Takers) -> u32 {
        self.dies_of(chip).map(|die| if self.takes(die, takers) { self.planes(die).len() as u32 } else { 0 }).sum()
    }

    /// The chip of a channel that takes writes next (MCS), with how many it takes at once.
    fn next_chip(&mut self, channel: u32, takers: Takers) -> Option<(ChipId, u32)> {
        let ways = self.mbm.geometry.chips_per_channel;
        let start = if self.mbm.rules.mcs { 0 } else { self.mbm.next_way[channel as usize] };
        let mut first = None;
        let mut least: Option<(ChipId, u32)> = None;
        let mut most: Option<(ChipId, u32)> = None;
        for chip in (start..ways).chain(0..start).map(|way| ChipId(channel * ways + way)) {
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
        if !self.mbm.rules.mcs {
            let (chip, _) = first?;
            self.mbm.next_way[channel as usize] = (chip.0 % ways + 1) % ways;
            return first;
        }
        let had_turn = std::mem::replace(&mut self.mbm.least_had_turn[channel as usize], true);
        if had_turn { most } else { least }
    }

    /// Sends writes to chips, each channel as many as `Channel_Max_Subs` lets it have.
    fn send_by_channel(&mut self, takers: Takers) {
        let channels = self.mbm.geometry.channels;
        let subrequests: Vec<u32> =
            self.mbm.reads.iter().zip(&self.mbm.executing).map(|(reads, writes)| reads + writes).collect();
        let level = channel_max_subs(&subrequests, self.mbm.writes.len() as u32);
        let mut order: Vec<u32> = (0..channels).collect();
        order.sort_by_key(|&channel| subrequests[channel as usize]);
        for channel in order {
            let mut allowed = level.saturating_sub(subrequests[channel as usize]);
            while allowed > 0 && !self.mbm.writes.is_empty() {
                let Some((chip, parallelism)) = self.next_chip(channel, takers) else { break };
                let taken = self.send_to_chip(chip, parallelism.min(allowed), takers);
                if taken == 0 {
                    break;
                }
                allowed -= taken;
            }
        }
    }

    /// Sends writes to chips, one after the other of each channel in turn.
    fn send_in_turn(&mut self, takers: Takers) {
        let channels = self.mbm.geometry.channels;
        let mut without = 0;
        while without < channels && !self.mbm.writes.is_empty() {
            let channel = self.mbm.next_channel;
            self.mbm.next_channel = (channel + 1) % channels;
            let taken = match self.next_chip(channel, takers) {
                Some((chip, parallelism)) => self.send_to_chip(chip, parallelism, takers),
                None => 0,
            };
            without = if taken == 0 { without + 1 } else { 0 };
        }
    }

    fn run(&mut self) {
        self.send_bound();
        if self.mbm.writes.is_empty() {
            return;
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
        let none_executes = |mbm: &Mbm| mbm.executing.iter().all(|&writes| writes == 0);
        if !self.mbm.writes.is_empty() && none_executes(self.mbm) {
            self.send_in_turn(Takers::NotWriting);
        }
        // All free planes are full, or have room for no more: the write waits for its page where allocation puts it.
        if none_executes(self.mbm)
            && let Some(id) = self.mbm.writes.pop_front()
        {
            let plane = self.ftl.place_write(self.datapath.transaction(id).lpn, self.datapath.idle_dies());
            self.count(id, plane);
        }
        if self.mbm.writes.is_empty() {
            self.mbm.least_had_turn.fill(false);
        }
    }
}

impl Firmware {
    /// Whether writes wait, and something has happened that lets them go on.
    #[inline]
    pub fn has_due_writes(&self) -> bool {
        matches!(&self.policy, AnyPolicy::Mbm(mbm) if mbm.is_due && mbm.has_waiting())
    }

    /// Sends waiting writes to chips, when something has happened that lets them go on.
    #[inline]
    pub(in crate::firmware) fn dispatch_if_due<M: Model>(
        &mut self,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        if let AnyPolicy::Mbm(mbm) = &mut self.policy
            && std::mem::take(&mut mbm.is_due)
            && mbm.has_waiting()
        {
            self.dispatch(datapath, kernel);
        }
    }

    #[inline(never)]
    fn dispatch<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let AnyPolicy::Mbm(mbm) = &mut self.policy else { return };
        let mut round =
            Round { mbm, ftl: &mut self.ftl, datapath, sent: Vec::new(), dropped: Vec::new(), full: Vec::new() };
        round.run();
        let Round { mbm, sent, dropped, full, .. } = round;
        mbm.reallocations -= dropped.len() as u32;
        dropped.into_iter().for_each(|id| datapath.remove(id));
        for (id, plane) in sent {
            let transaction = datapath.transaction_mut(id);
            transaction.plane = plane;
            transaction.account.waited_for_turn(kernel.now());
            datapath.enqueue(id, self, kernel);
        }
        for plane in full {
            self.collect_if_needed(plane, datapath, kernel);
        }
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
