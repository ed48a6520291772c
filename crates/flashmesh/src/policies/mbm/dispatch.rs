//! Waiting writes go to chips: how many a channel takes, which chip, which planes.

use crate::config::McsBegins;
use crate::ids::{ChannelId, ChipId, DieId};
use crate::policies::{Due, PolicyView};
use crate::schedule::transaction::Transaction;
use crate::schedule::work::Work;

use super::channel_max_subs::channel_max_subs;
use super::gathering::Gathering;
use super::{Chips, Mbm};

/// What a round of dispatching looks at and decides.
pub(super) struct Round<'a, 'b> {
    pub mbm: &'a mut Mbm,
    pub drive: &'a mut PolicyView<'b>,
    pub due: Due,
}

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
            let (mut next, mut has_sent) = (planes.next(), false);
            while let (Some(plane), Some(id)) = (next, self.mbm.bound.first(die)) {
                let Transaction { work, .. } = *self.drive.load.transaction(id);
                let units = self.units_of(plane);
                if has_sent && self.mbm.bound.count(die) < units {
                    break;
                }
                if self.has_room(id, plane) {
                    let sent = self.fill_bound(plane, units);
                    self.mbm.gathering.set(Gathering { plane, units, room: units - sent });
                    (next, has_sent) = (planes.next(), true);
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

    /// Sends the next writes to a chip, for `most` programs at most; gives how many it took.
    fn send_to_chip(&mut self, chip: ChipId, most: u32, takers: Takers) -> u32 {
        let mut taken = 0;
        let free: Vec<DieId> = self.mbm.turns.dies(chip).filter(|&die| self.takes(die, takers)).collect();
        for die in free {
            if self.mbm.chips == Chips::OneDie && taken > 0 {
                break;
            }
            let (planes, before) = (self.planes(die), taken);
            for plane in planes {
                let units = self.units_of(plane);
                // What fills no program would begin with the others of the die, and not gather.
                let is_rest = taken > before && self.mbm.writes.len() < units as usize;
                if taken == most || is_rest {
                    break;
                }
                let sent = self.fill(plane, units);
                if sent > 0 {
                    self.mbm.gathering.set(Gathering { plane, units, room: units - sent });
                    taken += 1;
                }
            }
            if taken > before {
                self.mbm.turns.die_had(chip, die, taken - before >= planes.behind.count_ones());
            }
        }
        taken
    }

    /// How many programs a chip takes at once.
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
        let in_program = self.mbm.geometry.units_per_program;
        let programs = self.mbm.programs.by_channel().iter();
        let subrequests: Vec<u32> = self
            .mbm
            .reads
            .iter()
            .zip(programs)
            .map(|(reads, programs)| reads.div_ceil(in_program) + programs)
            .collect();
        let level = channel_max_subs(&subrequests, (self.mbm.writes.len() as u32).div_ceil(in_program));
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
        self.fill_gathering();
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
