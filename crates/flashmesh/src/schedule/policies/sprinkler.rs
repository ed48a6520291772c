//! Sprinkler (Jung and Kandemir, HPCA 2014): requests are scheduled by the layout of the chips, not by order of arrival.
//!
//! The paper has two parts. *Resource-driven scheduling* visits the chips by their offset in the channels: the first chip of every channel, then the
//! second of every channel, and so on. *Over-commitment* gives a chip more transactions than it can execute, so that it can choose the group with the
//! largest overlap: the group that uses most dies and planes at once. Among equal groups, the group with most pages of one request is chosen.
//! Neither part depends on the order of arrival.
//!
//! Choices:
//! - Hardware queues are not modelled. Late binding takes the place of over-commitment, without a limit: all transactions queued at a die are visible
//!   when a path is granted. The first `schedule.lookahead` transactions of each queue are considered.
//! - Channels do not wait for each other. Each channel visits its own chips by their offset, one at a time, and skips chips that can start no
//!   operation. All dies of the visited chip that can start an operation request a path.
//! - The overlap of reads counts planes that may join by `flash.multi-plane`. The overlap of programs counts planes with a queued program: whether
//!   these may join is known only when their pages are assigned (MBM, section V.B: Sprinkler "neglects the strict restriction of the plane-level
//!   parallelism").
//! - Reads have no precedence over writes. Among groups with equal overlap and equally many pages of one request, the group with the oldest
//!   transaction is chosen.
//! - A transaction that has waited for `schedule.age-bound` precedes all others of its die. The paper has no such rule.
//! - Firmware work precedes or follows requests by the rules that all policies share.

use crate::config::Config;
use crate::engine::round_robin::round_robin_rank;
use crate::flash::divisor::Divisor;
use crate::flash::geometry::Geometry;
use crate::ids::DieId;
use crate::schedule::{Decision, DispatchView, QueueId, Scheduler, SchedulerView};

use super::group::{Group, GroupPolicy, Rank};

#[derive(Clone, Debug)]
pub struct Sprinkler {
    dies_per_chip: Divisor,
    groups: GroupPolicy,
    visits: Vec<Visit>,
}

/// Round-robin visits to the chips of one channel: the visited chip, and its dies that wait for a path.
#[derive(Clone, Debug, Default)]
struct Visit {
    chip: u32,
    /// Dies of the visited chip that requested a path and may still wait for it.
    requesting: Vec<DieId>,
}

impl Sprinkler {
    pub fn new(config: &Config, geometry: &Geometry) -> Sprinkler {
        let last = geometry.chips_per_channel - 1;
        Sprinkler {
            dies_per_chip: Divisor::new(geometry.dies_per_chip),
            groups: GroupPolicy::new(config, geometry, by_overlap),
            visits: vec![Visit { chip: last, requesting: Vec::new() }; geometry.channels as usize],
        }
    }
}

/// Ranks groups by number of planes, then by number of pages of one request, then by age (older first).
fn by_overlap(group: &Group) -> Rank {
    (group.planes, group.of_one_request, u64::MAX - group.oldest)
}

impl Scheduler for Sprinkler {
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
        let Geometry { chips_per_channel, dies_per_chip, .. } = *dispatch.geometry();
        for (channel, visit) in (0..).zip(&mut self.visits) {
            let candidates = dispatch.candidates().of_channel(channel);
            if candidates.is_empty() {
                continue;
            }
            let first = channel * chips_per_channel * dies_per_chip;
            let offset = |die: DieId| self.dies_per_chip.divide(die.0 - first);
            // While a die of the visited chip waits for its path, only dies of that chip may request one.
            visit.requesting.retain(|&die| dispatch.states().requests_path(die));
            let named = if visit.requesting.is_empty() {
                let distance = |die: DieId| round_robin_rank(offset(die), visit.chip, chips_per_channel);
                candidates.iter().copied().min_by_key(|&die| (distance(die), die))
            } else {
                candidates.iter().copied().filter(|&die| offset(die) == visit.chip).min()
            };
            if let Some(die) = named {
                visit.chip = offset(die);
                visit.requesting.push(die);
                return Some(die);
            }
        }
        None
    }
}
