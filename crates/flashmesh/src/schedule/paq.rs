//! Physically addressed queueing (PAQ; Jung, Wilson and Kandemir, ISCA 2012): the transactions that go next are those that can be
//! executed at once without a conflict for a channel, a chip, a die or a plane.
//!
//! Its source is known here by what others say of it (Venice, ISCA 2023, section 7; Design for Scalability, PACT 2014, section 4.2; Read
//! Collisions, section V): a scheduler between translation and the flash array, with a queue for each die whose order it may change to
//! fuse planes, which picks groups of operations that run without contention for a shared resource. It is the scheduler of figure 4 of
//! PACT 2014, under dynamic allocation.
//!
//! Decided here:
//! - A set holds, for each channel, one chip: that for which most planes can begin to work, over all of its dies that could
//!   begin something. Each of these dies takes the largest group of its queue that may join by `flash.multi-plane`. As
//!   channels share nothing, this is the largest set without a conflict. Of equal chips, and of equal groups, the one with the oldest
//!   transaction goes; reads have no precedence.
//! - A channel is free for the next set as soon as the commands of the last one have their paths: it is held while bytes move, not
//!   while the arrays work.
//! - A transaction of a request that has waited for `schedule.age-bound` goes before all others of its channel, and its die.
//! - Work of the firmware goes before or after requests as with the other policies, and counts like theirs in the choice of a chip.

use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ids::DieId;
use crate::units::Time;

use super::group::{ByGroup, Group, Rank};
use super::transaction::Class;
use super::{Choice, Decision, Dispatch, Scheduler, Waiting};

/// The largest set without a conflict.
#[derive(Debug)]
pub struct Paq {
    groups: ByGroup,
    /// By die: what could begin there, until its queues change.
    known: Vec<Option<Load>>,
    /// By channel: the dies of the set that asked for a path, and may still wait for it.
    asked: Vec<Vec<DieId>>,
    /// The rest of the set.
    set: Vec<DieId>,
    /// The chips of a channel that could begin something, while one of them is chosen.
    chips: Vec<(u32, Load)>,
}

/// What could begin on a die.
#[derive(Clone, Copy, Debug)]
struct Load {
    planes: u32,
    /// The place of the oldest transaction in the order of arrival, and since when it waits.
    oldest: u64,
    since: Time,
}

impl Load {
    const NOTHING: Load = Load { planes: 0, oldest: u64::MAX, since: Time::MAX };
}

impl Paq {
    /// The policy with the options of `config`.
    pub fn new(config: &Config, geometry: &Geometry) -> Paq {
        Paq {
            groups: ByGroup::new(config, geometry, by_planes),
            known: vec![None; geometry.dies() as usize],
            asked: vec![Vec::new(); geometry.channels as usize],
            set: Vec::new(),
            chips: Vec::new(),
        }
    }

    /// What could begin on a die, by all that waits for it.
    fn load(&mut self, dispatch: &Dispatch<'_>, die: DieId) -> Load {
        if let Some(load) = self.known[die.index()] {
            return load;
        }
        let mut load = Load::NOTHING;
        let waiting = dispatch.waiting_planes(die);
        for class in Class::ALL {
            let planes = waiting.of(class);
            if planes == 0 {
                continue;
            }
            let heads = dispatch.load().queued_first(die, class, 1);
            if let Some((_, _, oldest)) = heads.min_by_key(|(_, _, transaction)| transaction.order)
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

    /// Puts into the set the dies of the chip of a channel that goes next.
    fn choose_chip(&mut self, dispatch: &Dispatch<'_>, channel: u32) {
        let mut best: Option<((bool, u32, u64), u32)> = None;
        let candidates = dispatch.candidates().of_channel(channel);
        let chip_of = |die: DieId| dispatch.geometry().chip_of(die).0;
        let mut chips = std::mem::take(&mut self.chips);
        chips.clear();
        for &candidate in candidates {
            let chip = chip_of(candidate);
            let at = chips.iter().position(|(known, _)| *known == chip).unwrap_or_else(|| {
                chips.push((chip, Load::NOTHING));
                chips.len() - 1
            });
            for die in dispatch.speaks_for(candidate) {
                let load = self.load(dispatch, die);
                let whole = &mut chips[at].1;
                whole.planes += load.planes;
                if load.oldest < whole.oldest {
                    (whole.oldest, whole.since) = (load.oldest, load.since);
                }
            }
        }
        for &(chip, whole) in &chips {
            let is_late = whole.since <= dispatch.now() && dispatch.now() - whole.since >= self.groups.age_bound;
            let rank = (is_late, if is_late { 0 } else { whole.planes }, u64::MAX - whole.oldest);
            if best.is_none_or(|(known, _)| rank > known) {
                best = Some((rank, chip));
            }
        }
        self.chips = chips;
        if let Some((_, chip)) = best {
            self.set.extend(candidates.iter().copied().filter(|&die| chip_of(die) == chip));
        }
    }
}

/// More planes, then the older one.
fn by_planes(group: &Group) -> Rank {
    (group.planes, 0, u64::MAX - group.oldest)
}

impl Scheduler for Paq {
    fn choose(&mut self, waiting: &Waiting<'_>) -> Option<Choice> {
        self.decide(waiting).map(|decision| decision.queue)
    }

    fn decide(&mut self, waiting: &Waiting<'_>) -> Option<Decision> {
        self.groups.decide(waiting)
    }

    fn dispatches(&self) -> bool {
        true
    }

    fn next_die(&mut self, dispatch: &Dispatch<'_>) -> Option<DieId> {
        if self.set.is_empty() {
            for channel in 0..dispatch.geometry().channels {
                if dispatch.candidates().of_channel(channel).is_empty() {
                    continue;
                }
                let asked = &mut self.asked[channel as usize];
                asked.retain(|&die| dispatch.states().asks(die));
                if asked.is_empty() {
                    self.choose_chip(dispatch, channel);
                }
            }
            // They are taken from the end.
            self.set.sort_unstable_by(|one, other| other.cmp(one));
        }
        while let Some(die) = self.set.pop() {
            if dispatch.candidates().contains(die) {
                let Geometry { chips_per_channel, dies_per_chip, .. } = *dispatch.geometry();
                self.asked[(die.0 / (chips_per_channel * dies_per_chip)) as usize].push(die);
                return Some(die);
            }
        }
        None
    }

    fn queue_changed(&mut self, die: DieId) {
        self.known[die.index()] = None;
    }
}
