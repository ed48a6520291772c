//! Dispatch of waiting writes: how many writes each channel takes, and the choice of chip, die and planes.

use crate::config::McsBegins;
use crate::ids::{ChannelId, ChipId, DieId};
use crate::policies::{DispatchedWrites, PolicyView};
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::Transaction;

use super::channel_max_subs::channel_max_subs;
use super::filling_programs::FillingProgram;
use super::{ChipDispatch, Mbm};

/// State of one round of dispatch (one call of [`dispatch_held`](crate::policies::FirmwarePolicy::dispatch_held)). Writes that leave the queues of
/// MBM in this round are collected in `due`.
pub(super) struct DispatchRound<'a, 'b> {
    pub mbm: &'a mut Mbm,
    pub drive: &'a mut PolicyView<'b>,
    pub due: DispatchedWrites,
}

/// Condition under which a die takes writes in a round of dispatch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Eligibility {
    /// A die takes writes if it executes nothing and has no pending transactions.
    Idle,
    /// A die takes writes if it has no program in flight; it may be reading.
    WithoutProgram,
}

impl DispatchRound<'_, '_> {
    /// Returns whether `die` takes writes under the condition `eligibility`. Unless each die takes writes on its own ([`ChipDispatch::ByDie`]), all
    /// dies of the chip must meet the condition.
    pub(super) fn takes(&self, die: DieId, eligibility: Eligibility) -> bool {
        let is_free = |die: DieId| {
            self.mbm.programs.has_none_on(die)
                && (eligibility == Eligibility::WithoutProgram || self.drive.load.is_idle(die))
        };
        match self.mbm.chips {
            ChipDispatch::ByDie => is_free(die),
            ChipDispatch::AllDies | ChipDispatch::OneDie => self.dies_of(self.mbm.geometry.chip_of(die)).all(is_free),
        }
    }

    pub(super) fn dies_of(&self, chip: ChipId) -> impl Iterator<Item = DieId> + use<> {
        let dies = self.mbm.geometry.dies_per_chip;
        (chip.0 * dies..(chip.0 + 1) * dies).map(DieId)
    }

    /// Dispatches pinned writes (writes that may go to one die only) to their dies, except to dies with a program in flight.
    fn dispatch_pinned(&mut self) {
        if self.mbm.pinned.is_empty() {
            return;
        }
        let dies = (0..self.mbm.geometry.dies()).map(DieId);
        let eligible: Vec<DieId> = dies
            .filter(|&die| self.mbm.pinned.first(die).is_some() && self.takes(die, Eligibility::WithoutProgram))
            .collect();
        for die in eligible {
            if self.mbm.chips == ChipDispatch::OneDie && !self.takes(die, Eligibility::WithoutProgram) {
                continue;
            }
            let mut planes = self.planes(die);
            let (mut next, mut has_sent) = (planes.next(), false);
            while let (Some(plane), Some(id)) = (next, self.mbm.pinned.first(die)) {
                let Transaction { purpose: work, .. } = *self.drive.load.transaction(id);
                let units = self.units_of(plane);
                if has_sent && self.mbm.pinned.count(die) < units {
                    break;
                }
                if self.has_room(id, plane) {
                    let sent = self.fill_pinned(plane, units);
                    self.mbm.filling_programs.set(FillingProgram { plane, units, free_units: units - sent });
                    (next, has_sent) = (planes.next(), true);
                } else if planes.len() > 0 {
                    next = planes.next();
                } else if work == Purpose::Reallocate {
                    self.mbm.pinned.pop(die);
                    self.due.dropped.push(id);
                } else {
                    // No plane of the die has space for the page, so unpin the write: it may go to any die.
                    self.mbm.pinned.pop(die);
                    self.mbm.writes.push_back(id);
                }
            }
        }
    }

    /// Dispatches the next writes to free dies of `chip`, in at most `most` programs. Returns the number of programs.
    fn dispatch_to_chip(&mut self, chip: ChipId, most: u32, eligibility: Eligibility) -> u32 {
        let mut taken = 0;
        let free: Vec<DieId> = self.mbm.round_robin.dies(chip).filter(|&die| self.takes(die, eligibility)).collect();
        for die in free {
            if self.mbm.chips == ChipDispatch::OneDie && taken > 0 {
                break;
            }
            let (planes, before) = (self.planes(die), taken);
            for plane in planes {
                let units = self.units_of(plane);
                // Stop if the waiting writes do not fill a program. A partly filled program would start together with the full programs on the other
                // planes of the die, before further writes can fill it.
                let is_rest = taken > before && self.mbm.writes.len() < units as usize;
                if taken == most || is_rest {
                    break;
                }
                let sent = self.fill(plane, units);
                if sent > 0 {
                    self.mbm.filling_programs.set(FillingProgram { plane, units, free_units: units - sent });
                    taken += 1;
                }
            }
            if taken > before {
                self.mbm.round_robin.advance_die(chip, die, taken - before >= planes.behind.count_ones());
            }
        }
        taken
    }

    /// Returns the number of programs that `chip` can start at once: the sum over its free dies, or only those of one die if one die of a chip takes
    /// writes at a time.
    fn parallelism(&mut self, chip: ChipId, eligibility: Eligibility) -> u32 {
        let (dies, chips) = (self.mbm.round_robin.dies(chip), self.mbm.chips);
        let mut of_dies = dies.map(|die| if self.takes(die, eligibility) { self.planes(die).len() as u32 } else { 0 });
        match chips {
            ChipDispatch::ByDie | ChipDispatch::AllDies => of_dies.sum(),
            ChipDispatch::OneDie => of_dies.find(|&pages| pages > 0).unwrap_or(0),
        }
    }

    /// Returns the chip of `channel` that takes writes next, and the number of programs that it can start at once; `None` if no chip of the channel
    /// can start a program. By MCS (Minimizing Chip consumption Strategy), the first chip is the one with the fewest such programs, and all later
    /// ones are those with the most, until MCS begins anew (`mbm.mcs-begins`). Without MCS, chips are selected round robin.
    fn next_chip(&mut self, channel: ChannelId, eligibility: Eligibility) -> Option<(ChipId, u32)> {
        let mut first = None;
        let mut least: Option<(ChipId, u32)> = None;
        let mut most: Option<(ChipId, u32)> = None;
        for chip in self.mbm.round_robin.chips(channel) {
            let parallelism = self.parallelism(chip, eligibility);
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
        self.mbm.round_robin.advance_chip(channel, chip);
        next
    }

    /// Dispatches writes channel by channel, the least loaded channel first. Fills no channel beyond `Channel_Max_Subs`, the limit that MBM computes
    /// for the subrequests of a channel.
    fn dispatch_by_channel(&mut self, eligibility: Eligibility) {
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
        let mut order: Vec<ChannelId> = self.mbm.round_robin.channels().collect();
        order.sort_by_key(|channel| subrequests[channel.index()]);
        for channel in order {
            let mut allowed = level.saturating_sub(subrequests[channel.index()]);
            while allowed > 0 && !self.mbm.writes.is_empty() {
                let Some((chip, parallelism)) = self.next_chip(channel, eligibility) else { break };
                let taken = self.dispatch_to_chip(chip, parallelism.min(allowed), eligibility);
                if taken == 0 {
                    break;
                }
                self.mbm.round_robin.advance_channel(channel);
                allowed -= taken;
            }
        }
    }

    /// Dispatches writes to one chip of each channel, in round-robin order of the channels. Ends when no write is left, or when a whole round over
    /// the channels takes none.
    fn dispatch_round_robin(&mut self, eligibility: Eligibility) {
        let mut without = 0;
        while without < self.mbm.geometry.channels && !self.mbm.writes.is_empty() {
            let Some(channel) = self.mbm.round_robin.channels().next() else { return };
            self.mbm.round_robin.advance_channel(channel);
            let taken = match self.next_chip(channel, eligibility) {
                Some((chip, parallelism)) => self.dispatch_to_chip(chip, parallelism, eligibility),
                None => 0,
            };
            without = if taken == 0 { without + 1 } else { 0 };
        }
    }

    pub fn run(mut self) -> DispatchedWrites {
        self.pin_area_writes();
        self.top_up_programs();
        self.dispatch_pinned();
        self.release_area_writes();
        if self.mbm.writes.is_empty() {
            return self.due;
        }
        let geometry = &self.mbm.geometry;
        let is_any_idle = (0..geometry.dies()).map(DieId).any(|die| self.takes(die, Eligibility::Idle));
        let eligibility = if is_any_idle { Eligibility::Idle } else { Eligibility::WithoutProgram };
        if self.mbm.rules.ws {
            self.dispatch_by_channel(eligibility);
        } else {
            self.dispatch_round_robin(eligibility);
        }
        // The end of a program in flight starts the next round of dispatch. If none is in flight, dispatch at once, without `Channel_Max_Subs`, and
        // to dies that are reading as well.
        if !self.mbm.writes.is_empty() && self.mbm.programs.is_empty() {
            self.dispatch_round_robin(Eligibility::WithoutProgram);
        }
        // If still no write is in flight, no plane has space. Let the allocator place one write, which then waits on its plane for a page.
        if self.mbm.programs.is_empty()
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
