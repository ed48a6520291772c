//! Who is served next of those that wait for a channel, or for a controller.

use crate::config::Arbitration;
use crate::engine::circular::behind;
use crate::engine::ring::Ring;
use crate::flash::divisor::Divisor;
use crate::ids::DieId;

use super::arbitration_policy::{Contender, SharedPolicy};
use super::{Cause, DataOf, TransferPhase};

/// A die that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) die: DieId,
    pub(super) phase: TransferPhase,
    /// Whose data it wants to send, when it is data.
    pub(super) data: DataOf,
    /// Whether it sends data now, and wants to send the next page of the same operation.
    pub(super) goes_on: bool,
    /// What was in its way when it asked.
    pub(super) cause: Cause,
    /// Its place in the cyclic order of round-robin.
    pub(super) position: u32,
    /// Grows with every asking, in the order of time.
    pub(super) order: u64,
}

impl Default for Waiting {
    /// What stands in places that hold nothing.
    fn default() -> Waiting {
        let (phase, data, cause) = (TransferPhase::Command, DataOf::Request, Cause::Channel);
        Waiting { die: DieId(0), phase, data, goes_on: false, cause, position: 0, order: 0 }
    }
}

/// The dies that wait for one channel or controller, and the rule by which they are served.
#[derive(Clone, Debug)]
pub(super) struct Arbiter {
    arbitration: Arbitration,
    /// The places of round-robin, and how many of them a chip has.
    positions: u32,
    positions_per_chip: Divisor,
    /// The place served last; with data first, sent a command last.
    last: u32,
    commands: Ring<Waiting>,
    data: Ring<Waiting>,
    /// The rule of the caller's own, with the number of the channel or controller.
    own: Option<(u32, SharedPolicy)>,
}

/// Takes the first of `queue` that `fits`.
#[inline(always)]
fn take_first(queue: &mut Ring<Waiting>, fits: impl Fn(&Waiting) -> bool) -> Option<Waiting> {
    if fits(queue.front()?) { queue.pop_front() } else { take_later(queue, fits) }
}

#[inline(never)]
fn take_later(queue: &mut Ring<Waiting>, fits: impl Fn(&Waiting) -> bool) -> Option<Waiting> {
    let at = queue.iter().position(fits)?;
    queue.remove(at)
}

/// The smallest `distance` of those that `fits`, and the first place in the queue that has it.
#[inline(always)]
fn nearest(
    queue: &Ring<Waiting>,
    fits: impl Fn(&Waiting) -> bool,
    distance: impl Fn(&Waiting) -> u32,
) -> Option<(u32, usize)> {
    let fitting = queue.iter().zip(0u32..).filter(|(waiting, _)| fits(waiting));
    // In one number, compared without branches, which would often be mispredicted.
    let nearest = fitting.map(|(waiting, at)| u64::from(distance(waiting)) << u32::BITS | u64::from(at)).min()?;
    Some(((nearest >> u32::BITS) as u32, nearest as u32 as usize))
}

/// With data first: whether `other` is served before what has `data` to send, and may go on with an operation.
#[inline]
fn goes_before(other: &Waiting, data: DataOf, goes_on: bool) -> bool {
    other.data < data || (other.data == data && !goes_on)
}

/// Moves the last of `queue` before those that it is served before.
#[inline(never)]
fn rank_last(queue: &mut Ring<Waiting>) {
    if let Some(last) = queue.pop_back() {
        let at = queue.iter().take_while(|other| goes_before(other, last.data, last.goes_on)).count();
        queue.insert(at, last);
    }
}

impl Arbiter {
    /// Nobody waits for what `positions` dies may want, `positions_per_chip` of each chip.
    pub(super) fn new(arbitration: Arbitration, positions: u32, positions_per_chip: u32) -> Arbiter {
        // With data first the chip before the first one was sent a command last, so that the first one is next.
        let last = if arbitration == Arbitration::DataFirstRoundRobin { positions.saturating_sub(1) } else { 0 };
        let (positions_per_chip, commands, data) = (Divisor::new(positions_per_chip), Ring::default(), Ring::default());
        Arbiter { arbitration, positions, positions_per_chip, last, commands, data, own: None }
    }

    /// Serves by a rule of the caller's own from now on, as the arbiter of `resource`; before anybody waits.
    pub(super) fn set_policy(&mut self, resource: u32, policy: SharedPolicy) {
        // The rule that keeps both queues in the order of asking, and the die served last.
        self.arbitration = Arbitration::OldestFirst;
        self.own = Some((resource, policy));
    }

    /// Takes the die that the rule of the caller's own names.
    #[cold]
    fn next_of_own(
        &mut self,
        resource: u32,
        policy: &SharedPolicy,
        fits: impl Fn(&Waiting) -> bool,
    ) -> Option<Waiting> {
        let fitting = self.commands.iter().chain(self.data.iter()).filter(|&waiting| fits(waiting));
        let contender = |&Waiting { die, phase, data, goes_on, position, order, .. }: &Waiting| Contender {
            die,
            phase,
            data,
            goes_on,
            position,
            order,
        };
        let mut waiting: Vec<Contender> = fitting.map(contender).collect();
        if waiting.is_empty() {
            return None;
        }
        waiting.sort_unstable_by_key(|waiting| waiting.order);
        let chosen = policy.choose(resource, self.last, &waiting);
        take_first(self.queue(chosen.phase), |waiting| waiting.order == chosen.order)
    }

    /// A die begins to wait.
    #[inline(always)]
    pub(super) fn wait(&mut self, waiting: Waiting) {
        let has_rank = waiting.phase != TransferPhase::Command && self.arbitration == Arbitration::DataFirstRoundRobin;
        let Waiting { data, goes_on, .. } = waiting;
        let queue = self.queue(waiting.phase);
        let is_last = !has_rank || queue.back().is_none_or(|last| goes_before(last, data, goes_on));
        queue.push_back(waiting);
        if !is_last {
            rank_last(queue);
        }
    }

    /// The die at `position` was served without having waited here.
    #[inline]
    pub(super) fn served(&mut self, position: u32, phase: TransferPhase) {
        if phase == TransferPhase::Command || self.arbitration != Arbitration::DataFirstRoundRobin {
            self.last = position;
        }
    }

    /// A die that was served elsewhere waits no more.
    #[inline]
    pub(super) fn forget(&mut self, die: DieId, phase: TransferPhase) {
        take_first(self.queue(phase), |waiting| waiting.die == die);
    }

    /// The dies that wait.
    #[inline(always)]
    pub(super) fn waiting(&self) -> impl Iterator<Item = DieId> {
        self.commands.iter().chain(self.data.iter()).map(|waiting| waiting.die)
    }

    /// Takes the die that is served next, whichever that is, with what it waits for.
    #[inline(always)]
    pub(super) fn next_of_all(&mut self) -> Option<(DieId, TransferPhase)> {
        if self.arbitration != Arbitration::CommandFirst {
            return if self.is_empty() { None } else { self.next_die() };
        }
        // The place served last means nothing to this rule.
        match self.commands.pop_front() {
            Some(next) => Some((next.die, TransferPhase::Command)),
            None => self.data.pop_front().map(|next| (next.die, next.phase)),
        }
    }

    /// Takes the die that is served next, among those that `fits`.
    #[inline(always)]
    pub(super) fn next(&mut self, fits: impl Fn(&Waiting) -> bool) -> Option<Waiting> {
        if self.is_empty() { None } else { self.next_of_some(fits) }
    }

    /// Whether no die waits.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.data.is_empty()
    }

    /// As [`Arbiter::next`] for all: a die and a phase are returned in registers, all of [`Waiting`] is not.
    #[inline(never)]
    fn next_die(&mut self) -> Option<(DieId, TransferPhase)> {
        self.next_of_some(|_| true).map(|next| (next.die, next.phase))
    }

    #[inline(always)]
    fn next_of_some(&mut self, fits: impl Fn(&Waiting) -> bool) -> Option<Waiting> {
        let Arbiter { commands, data, .. } = self;
        let next = match self.arbitration {
            Arbitration::CommandFirst | Arbitration::NextCommandFirst => {
                take_first(commands, &fits).or_else(|| take_first(data, &fits))
            }
            Arbitration::DataFirst => take_first(data, &fits).or_else(|| take_first(commands, &fits)),
            Arbitration::OldestFirst if self.own.is_some() => {
                let (resource, policy) = self.own.clone()?;
                self.next_of_own(resource, &policy, fits)
            }
            Arbitration::OldestFirst => {
                let oldest = |queue: &Ring<Waiting>| queue.iter().find(|&waiting| fits(waiting)).map(|w| w.order);
                match (oldest(commands), oldest(data)) {
                    (Some(command), data) if data.is_none_or(|data| command < data) => take_first(commands, &fits),
                    _ => take_first(data, &fits),
                }
            }
            Arbitration::RoundRobin => {
                // Distance from the place served last; a die that waits for both sends its data first, to become free.
                let (last, positions) = (self.last, self.positions);
                let distance = |waiting: &Waiting| behind(waiting.position, last, positions);
                match (nearest(data, &fits, distance), nearest(commands, &fits, distance)) {
                    (Some((data_distance, at)), command) if command.is_none_or(|(d, _)| data_distance <= d) => {
                        data.remove(at)
                    }
                    (_, Some((_, at))) => commands.remove(at),
                    _ => None,
                }
            }
            Arbitration::DataFirstRoundRobin => take_first(data, &fits).or_else(|| {
                let by_chip = self.positions_per_chip;
                let (chips, last) = (by_chip.divide(self.positions), by_chip.divide(self.last));
                let distance = |waiting: &Waiting| behind(by_chip.divide(waiting.position), last, chips);
                let (_, at) = nearest(commands, &fits, distance)?;
                commands.remove(at)
            }),
        }?;
        self.served(next.position, next.phase);
        Some(next)
    }

    #[inline]
    fn queue(&mut self, phase: TransferPhase) -> &mut Ring<Waiting> {
        match phase {
            TransferPhase::Command => &mut self.commands,
            TransferPhase::DataOut | TransferPhase::Copy => &mut self.data,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Die 1 was served last when dies 0, 3, 2 and again 0 began to wait, in this order.
    fn arbiter(arbitration: Arbitration) -> Arbiter {
        let mut arbiter = Arbiter::new(arbitration, 4, 1);
        arbiter.served(1, TransferPhase::Command);
        let asked = [
            (0, TransferPhase::DataOut),
            (3, TransferPhase::Command),
            (2, TransferPhase::DataOut),
            (0, TransferPhase::Command),
        ];
        for (order, (die, phase)) in asked.into_iter().enumerate() {
            let (die, order) = (DieId(die), order as u64);
            let (data, cause) = (DataOf::Request, Cause::Channel);
            arbiter.wait(Waiting { die, phase, data, goes_on: false, cause, position: die.0, order });
        }
        arbiter
    }

    fn order_of_service(arbitration: Arbitration) -> Vec<(u32, TransferPhase)> {
        let mut arbiter = arbiter(arbitration);
        std::iter::from_fn(|| arbiter.next(|_| true)).map(|waiting| (waiting.die.0, waiting.phase)).collect()
    }

    #[test]
    fn command_first_serves_commands_in_their_order_and_then_data() {
        let expected = [
            (3, TransferPhase::Command),
            (0, TransferPhase::Command),
            (0, TransferPhase::DataOut),
            (2, TransferPhase::DataOut),
        ];
        assert_eq!(order_of_service(Arbitration::CommandFirst), expected);
    }

    #[test]
    fn data_first_serves_data_in_its_order_and_then_commands() {
        let expected = [
            (0, TransferPhase::DataOut),
            (2, TransferPhase::DataOut),
            (3, TransferPhase::Command),
            (0, TransferPhase::Command),
        ];
        assert_eq!(order_of_service(Arbitration::DataFirst), expected);
    }

    #[test]
    fn oldest_first_serves_in_the_order_of_asking() {
        let expected = [
            (0, TransferPhase::DataOut),
            (3, TransferPhase::Command),
            (2, TransferPhase::DataOut),
            (0, TransferPhase::Command),
        ];
        assert_eq!(order_of_service(Arbitration::OldestFirst), expected);
    }

    #[test]
    fn round_robin_serves_the_next_die_after_the_last_one() {
        let expected = [
            (2, TransferPhase::DataOut),
            (3, TransferPhase::Command),
            (0, TransferPhase::DataOut),
            (0, TransferPhase::Command),
        ];
        assert_eq!(order_of_service(Arbitration::RoundRobin), expected);
    }

    #[test]
    fn data_first_round_robin_serves_data_in_its_order_and_then_the_chips_after_the_last_one() {
        let expected = [
            (0, TransferPhase::DataOut),
            (2, TransferPhase::DataOut),
            (3, TransferPhase::Command),
            (0, TransferPhase::Command),
        ];
        assert_eq!(order_of_service(Arbitration::DataFirstRoundRobin), expected);
        let mut commands = Arbiter::new(Arbitration::DataFirstRoundRobin, 6, 2);
        let wait = |arbiter: &mut Arbiter, die: u32, phase, data, goes_on| {
            arbiter.wait(Waiting {
                die: DieId(die),
                phase,
                data,
                goes_on,
                cause: Cause::Channel,
                position: die,
                order: 0,
            });
        };
        for die in [4, 1, 2, 0] {
            wait(&mut commands, die, TransferPhase::Command, DataOf::Request, false);
        }
        wait(&mut commands, 3, TransferPhase::DataOut, DataOf::Collection, false);
        wait(&mut commands, 5, TransferPhase::DataOut, DataOf::Request, false);
        wait(&mut commands, 1, TransferPhase::DataOut, DataOf::Request, false);
        wait(&mut commands, 2, TransferPhase::DataOut, DataOf::Request, true);
        wait(&mut commands, 0, TransferPhase::DataOut, DataOf::Mapping, false);
        let served: Vec<u32> = std::iter::from_fn(|| commands.next(|_| true)).map(|waiting| waiting.die.0).collect();
        // Data by whose it is, whoever goes on first; then chips 0, 1, 2 and again 0, whatever their data did.
        assert_eq!(served, [0, 2, 5, 1, 3, 1, 2, 4, 0]);
    }

    #[test]
    fn every_rule_passes_over_dies_that_do_not_fit_and_those_that_wait_no_more() {
        for &arbitration in Arbitration::ALL {
            let mut arbiter = arbiter(arbitration);
            arbiter.forget(DieId(0), TransferPhase::DataOut);
            let even = |waiting: &Waiting| waiting.die.0.is_multiple_of(2);
            let mut served: Vec<_> = std::iter::from_fn(|| arbiter.next(even)).map(|w| (w.die.0, w.phase)).collect();
            served.sort_by_key(|(die, _)| *die);
            assert_eq!(served, [(0, TransferPhase::Command), (2, TransferPhase::DataOut)], "{arbitration}");
            assert_eq!(arbiter.next(|_| true).map(|waiting| waiting.die), Some(DieId(3)), "{arbitration}");
        }
    }
}
