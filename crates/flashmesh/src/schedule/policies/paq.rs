//! Physically addressed queueing (PAQ; Jung, Wilson and Kandemir, ISCA 2012): transactions start together if they do not conflict for a channel, a
//! chip, a die or a plane.
//!
//! The paper is known here only through other papers (Venice, ISCA 2023, section 7; Design for Scalability, PACT 2014, section 4.2; Read Collisions,
//! section V). These papers describe a scheduler between translation and the flash array, which has a queue for each die, reorders the queue to join
//! planes, and picks groups of operations without contention for a shared resource. PAQ is the scheduler of figure 4 of PACT 2014, under dynamic
//! allocation.
//!
//! Choices:
//! - Dies request paths in sets (several dies together). A set has one chip of each channel: the chip with the most planes that can start to work,
//!   summed over its dies that could start an operation. Each of these dies starts the largest group of its queue that may join by
//!   `flash.multi-plane`. Channels share nothing, so this is the largest set without a conflict. Among equal chips, and among equal groups, the one
//!   with the oldest transaction is chosen. Reads have no precedence.
//! - A channel takes part in the next set when the commands of its last set have their paths: a channel is held while bytes move, not while the
//!   arrays work.
//! - A request transaction that has waited for `schedule.age-bound` precedes all others of its channel and die.
//! - Firmware work precedes or follows requests by the rules that all policies share, and counts like requests in the choice of a chip.

use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ids::DieId;
use crate::schedule::{Decision, DispatchView, QueueId, Scheduler, SchedulerView};
use crate::units::Time;

use super::group::{Group, GroupPolicy, Rank};

#[derive(Clone, Debug)]
pub struct Paq {
    groups: GroupPolicy,
    /// Cached load of each die (planes that can start to work, and oldest transaction); `None` if its queues have changed since.
    known: Vec<Option<DieLoad>>,
    /// For each channel, dies of the current set (dies chosen to request paths together) whose path may still be pending.
    requesting: Vec<Vec<DieId>>,
    set: Vec<DieId>,
}

#[derive(Clone, Copy, Debug)]
struct DieLoad {
    planes: u32,
    /// Arrival number of the oldest queued transaction, which has waited since `since`.
    oldest: u64,
    since: Time,
}

impl DieLoad {
    const NOTHING: DieLoad = DieLoad { planes: 0, oldest: u64::MAX, since: Time::MAX };
}

impl Paq {
    pub fn new(config: &Config, geometry: &Geometry) -> Paq {
        Paq {
            groups: GroupPolicy::new(config, geometry, by_planes),
            known: vec![None; geometry.dies() as usize],
            requesting: vec![Vec::new(); geometry.channels as usize],
            set: Vec::new(),
        }
    }

    fn load(&mut self, dispatch: &DispatchView<'_>, die: DieId) -> DieLoad {
        if let Some(load) = self.known[die.index()] {
            return load;
        }
        let mut load = DieLoad::NOTHING;
        let waiting = dispatch.waiting_planes(die);
        for class in waiting.classes() {
            let planes = waiting.of(class);
            if let Some(oldest) = dispatch.load().oldest(die, class)
                && oldest.order < load.oldest
            {
                (load.oldest, load.since) = (oldest.order, oldest.account.queued());
            }
            let together = if planes.is_power_of_two() {
                1
            } else {
                let queued = dispatch.load().queued_first(die, class, self.groups.grouping.lookahead);
                self.groups.best(queued).map_or(0, |group| group.planes)
            };
            load.planes = load.planes.max(together);
        }
        self.known[die.index()] = Some(load);
        load
    }

    /// Returns the load of the chip whose first die is `first`: the sum over the dies of the chip that could start an operation.
    fn load_of_chip(&mut self, dispatch: &DispatchView<'_>, first: DieId) -> DieLoad {
        let mut whole = DieLoad::NOTHING;
        for die in candidates_of_chip(dispatch, first).flat_map(|candidate| dispatch.represented_dies(candidate)) {
            let load = self.load(dispatch, die);
            whole.planes += load.planes;
            if load.oldest < whole.oldest {
                (whole.oldest, whole.since) = (load.oldest, load.since);
            }
        }
        whole
    }

    /// Selects the chip of `channel` that ranks first, and adds its dies that could start an operation to the current set (dies that request paths
    /// together).
    fn choose_chip(&mut self, dispatch: &DispatchView<'_>, channel: u32) {
        let dies_per_chip = dispatch.geometry().dies_per_chip;
        let mut best: Option<((u32, u64), DieId)> = None;
        for &candidate in dispatch.candidates().of_channel(channel) {
            let (first, load) = if dies_per_chip == 1 {
                (candidate, self.load(dispatch, candidate))
            } else {
                let first = DieId(candidate.0 - candidate.0 % dies_per_chip);
                // Evaluate each chip only once: at its first die that could start an operation (candidate).
                if candidates_of_chip(dispatch, first).next() != Some(candidate) {
                    continue;
                }
                (first, self.load_of_chip(dispatch, first))
            };
            let is_late = load.since <= dispatch.now() && dispatch.now() - load.since >= self.groups.age_bound;
            let rank = (if is_late { u32::MAX } else { load.planes }, u64::MAX - load.oldest);
            if best.is_none_or(|(known, _)| rank > known) {
                best = Some((rank, first));
            }
        }
        match best {
            Some((_, die)) if dies_per_chip == 1 => self.set.push(die),
            Some((_, first)) => self.set.extend(candidates_of_chip(dispatch, first)),
            None => {}
        }
    }
}

fn candidates_of_chip(dispatch: &DispatchView<'_>, first: DieId) -> impl Iterator<Item = DieId> {
    let dies = first.0..first.0 + dispatch.geometry().dies_per_chip;
    dies.map(DieId).filter(|&die| dispatch.candidates().contains(die))
}

fn by_planes(group: &Group) -> Rank {
    (group.planes, 0, u64::MAX - group.oldest)
}

impl Scheduler for Paq {
    fn choose(&mut self, waiting: &SchedulerView<'_>) -> Option<QueueId> {
        self.decide(waiting).map(|decision| decision.queue)
    }

    fn takes_only_queue(&self) -> bool {
        true
    }

    fn decide(&mut self, waiting: &SchedulerView<'_>) -> Option<Decision> {
        self.groups.decide(waiting)
    }

    fn dispatches(&self) -> bool {
        true
    }

    fn next_die(&mut self, dispatch: &DispatchView<'_>) -> Option<DieId> {
        if self.set.is_empty() {
            for channel in 0..dispatch.geometry().channels {
                if dispatch.candidates().of_channel(channel).is_empty() {
                    continue;
                }
                let requesting = &mut self.requesting[channel as usize];
                requesting.retain(|&die| dispatch.states().requests_path(die));
                if requesting.is_empty() {
                    self.choose_chip(dispatch, channel);
                }
            }
            // Descending order, because dies are popped from the end: the die with the lowest number requests its path first.
            self.set.sort_unstable_by(|one, other| other.cmp(one));
        }
        while let Some(die) = self.set.pop() {
            if dispatch.candidates().contains(die) {
                let Geometry { chips_per_channel, dies_per_chip, .. } = *dispatch.geometry();
                self.requesting[(die.0 / (chips_per_channel * dies_per_chip)) as usize].push(die);
                return Some(die);
            }
        }
        None
    }

    fn queue_changed(&mut self, die: DieId) {
        self.known[die.index()] = None;
    }
}
