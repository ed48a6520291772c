//! Arbitration of the path requests that are queued for one channel, or for one controller of pnSSD.

use crate::config::Arbitration;
use crate::engine::ring::Ring;
use crate::engine::round_robin::round_robin_rank;
use crate::fabric::{Cause, DataOwner, TransferPhase};
use crate::flash::divisor::Divisor;
use crate::ids::DieId;

use super::arbitration_policy::{Contender, SharedPolicy};

/// A queued request of a die for a channel, or for a controller of pnSSD.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct QueuedRequest {
    pub(in super::super) die: DieId,
    pub(in super::super) phase: TransferPhase,
    /// Owner class (mapping cache, host request or GC) of the data to send; ignored for commands.
    pub(in super::super) data_owner: DataOwner,
    /// Whether the die requests the channel while it still holds the channel for the same phase, such as for the data of its next page. Always
    /// `false` for pnSSD.
    pub(in super::super) continues_operation: bool,
    /// Resource that was busy when the request arrived. The grant of the request reports it as the cause of the wait.
    pub(in super::super) cause: Cause,
    /// Index of the die in the round-robin order of the channel or controller. The dies of one chip have consecutive indices.
    pub(in super::super) position: u32,
    /// Sequence number of the request, in order of arrival. The two requests of a pnSSD die, one at each controller, have the same number.
    pub(in super::super) order: u64,
}

impl Default for QueuedRequest {
    /// Returns a placeholder for the empty slots of a [`Ring`].
    fn default() -> QueuedRequest {
        let (phase, data, cause) = (TransferPhase::Command, DataOwner::Request, Cause::Channel);
        QueuedRequest {
            die: DieId(0),
            phase,
            data_owner: data,
            continues_operation: false,
            cause,
            position: 0,
            order: 0,
        }
    }
}

/// Queues of the requests for one channel or controller, with its arbitration rule and round-robin state.
#[derive(Clone, Debug)]
pub(in super::super) struct Arbiter {
    arbitration: Arbitration,
    /// Number of dies that share the channel or controller. A pnSSD die with both channels at one controller counts twice.
    positions: u32,
    /// Number of consecutive positions that belong to the dies of one chip.
    positions_per_chip: Divisor,
    /// Position of the die granted last. Under the two data-first round-robin rules (see `is_data_first_by_chip`), only grants of commands
    /// change this position.
    last: u32,
    /// Value that `last` had before the latest grant that changed it.
    before_last: u32,
    commands: Ring<QueuedRequest>,
    data: Ring<QueuedRequest>,
    /// Number of this channel or controller, and the custom policy that arbitrates it; `None` without a custom policy.
    custom: Option<(u32, SharedPolicy)>,
}

/// Removes and returns the first request of `queue` that matches `fits`; `None` if none matches.
#[inline(always)]
fn remove_first(queue: &mut Ring<QueuedRequest>, fits: impl Fn(&QueuedRequest) -> bool) -> Option<QueuedRequest> {
    if fits(queue.front()?) { queue.pop_front() } else { remove_later(queue, fits) }
}

#[inline(never)]
fn remove_later(queue: &mut Ring<QueuedRequest>, fits: impl Fn(&QueuedRequest) -> bool) -> Option<QueuedRequest> {
    let at = queue.iter().position(fits)?;
    queue.remove(at)
}

/// Returns the smallest `distance` of the requests that match `fits`, and the index in `queue` of the first request at that distance; `None` if none
/// matches.
#[inline(always)]
fn nearest(
    queue: &Ring<QueuedRequest>,
    fits: impl Fn(&QueuedRequest) -> bool,
    distance: impl Fn(&QueuedRequest) -> u32,
) -> Option<(u32, usize)> {
    let fitting = queue.iter().zip(0u32..).filter(|(waiting, _)| fits(waiting));
    // Distance and index are packed in one integer: a minimum of two values would need a branch, which would often be mispredicted.
    let nearest = fitting.map(|(waiting, at)| u64::from(distance(waiting)) << u32::BITS | u64::from(at)).min()?;
    Some(((nearest >> u32::BITS) as u32, nearest as u32 as usize))
}

/// Returns whether the queued request `other` stays ahead of a new data request of the class `data`. Requests are ordered by owner class. Within its
/// class, the new request goes first if its die still holds the channel for data (`goes_on`), otherwise last.
fn precedes(other: &QueuedRequest, data: DataOwner, goes_on: bool) -> bool {
    other.data_owner < data || (other.data_owner == data && !goes_on)
}

/// Moves the last request of `queue` forward to its place in the order of [`precedes`]. The other requests are already sorted.
#[inline(never)]
fn sort_in_last(queue: &mut Ring<QueuedRequest>) {
    if let Some(last) = queue.pop_back() {
        let at = queue.iter().take_while(|other| precedes(other, last.data_owner, last.continues_operation)).count();
        queue.insert(at, last);
    }
}

impl Arbiter {
    /// Creates an arbiter with empty queues for `positions` dies, with `positions_per_chip` dies on each chip.
    pub(in super::super) fn new(arbitration: Arbitration, positions: u32, positions_per_chip: u32) -> Arbiter {
        // Round robin starts after `last`. Under the data-first round-robin rules, start after the last die, so that commands of chip 0 are first.
        let last = if arbitration.is_data_first_by_chip() { positions.saturating_sub(1) } else { 0 };
        let (positions_per_chip, commands, data) = (Divisor::new(positions_per_chip), Ring::default(), Ring::default());
        Arbiter { arbitration, positions, positions_per_chip, last, before_last: last, commands, data, custom: None }
    }

    /// Replaces the arbitration rule with the custom `policy`, to which `resource`, the number of this channel or controller, is passed. Call before
    /// the first request.
    pub(in super::super) fn set_policy(&mut self, resource: u32, policy: SharedPolicy) {
        // The policy needs both queues in order of arrival, and the last granted die in `last`, as the oldest-first rule keeps them.
        self.arbitration = Arbitration::OldestFirst;
        self.custom = Some((resource, policy));
    }

    /// Dequeues the request that the custom `policy` chooses among those that match `fits`; `None` if none matches.
    #[cold]
    fn dequeue_custom(
        &mut self,
        resource: u32,
        policy: &SharedPolicy,
        fits: impl Fn(&QueuedRequest) -> bool,
    ) -> Option<QueuedRequest> {
        let fitting = self.commands.iter().chain(self.data.iter()).filter(|&waiting| fits(waiting));
        let contender = |&QueuedRequest {
                             die,
                             phase,
                             data_owner: data,
                             continues_operation: goes_on,
                             position,
                             order,
                             ..
                         }: &QueuedRequest| {
            Contender { die, phase, data_owner: data, continues_operation: goes_on, position, order }
        };
        let mut waiting: Vec<Contender> = fitting.map(contender).collect();
        if waiting.is_empty() {
            return None;
        }
        waiting.sort_unstable_by_key(|waiting| waiting.order);
        let chosen = policy.choose(resource, self.last, &waiting);
        remove_first(self.queue(chosen.phase), |waiting| waiting.order == chosen.order)
    }

    /// Enqueues a request in order of arrival. Under the data-first round-robin rules, data requests are in the order of [`precedes`] instead.
    #[inline(always)]
    pub(in super::super) fn enqueue(&mut self, waiting: QueuedRequest) {
        let is_sorted = waiting.phase != TransferPhase::Command && self.arbitration.is_data_first_by_chip();
        let QueuedRequest { data_owner: data, continues_operation: goes_on, .. } = waiting;
        let queue = self.queue(waiting.phase);
        let is_last = !is_sorted || queue.back().is_none_or(|last| precedes(last, data, goes_on));
        queue.push_back(waiting);
        if !is_last {
            sort_in_last(queue);
        }
    }

    /// Records a grant to the die at `position` for `phase` that bypassed the queues. The dequeue functions record all other grants.
    pub(in super::super) fn record_grant(&mut self, position: u32, phase: TransferPhase) {
        if phase == TransferPhase::Command || !self.arbitration.is_data_first_by_chip() {
            self.before_last = self.last;
            self.last = position;
        }
    }

    /// Returns whether the chip of the die at `position` would have been served before the chip of the latest command grant, in round-robin order.
    /// `false` for all rules except [`Arbitration::DataFirstTogether`].
    pub(super) fn precedes_grant(&self, position: u32) -> bool {
        self.arbitration == Arbitration::DataFirstTogether && self.chips_behind(position) < self.chips_behind(self.last)
    }

    fn chips_behind(&self, position: u32) -> u32 {
        let by_chip = self.positions_per_chip;
        round_robin_rank(by_chip.divide(position), by_chip.divide(self.before_last), by_chip.divide(self.positions))
    }

    /// Moves the latest command grant to the die at `position`. Returns the position of the die that had the grant.
    pub(super) fn replace_grant(&mut self, position: u32) -> u32 {
        std::mem::replace(&mut self.last, position)
    }

    /// Removes the queued request of `die` for `phase`, if there is one, because another arbiter has granted a path for it.
    pub(in super::super) fn cancel(&mut self, die: DieId, phase: TransferPhase) {
        remove_first(self.queue(phase), |waiting| waiting.die == die);
    }

    /// Returns the die of each queued request, first for commands, then for data. A die can occur several times.
    #[inline(always)]
    pub(in super::super) fn queued_dies(&self) -> impl Iterator<Item = DieId> {
        self.commands.iter().chain(self.data.iter()).map(|waiting| waiting.die)
    }

    /// Dequeues the request to grant next under the arbitration rule. Returns its die and phase; `None` if no request is queued.
    #[inline(always)]
    pub(super) fn dequeue_any(&mut self) -> Option<(DieId, TransferPhase)> {
        if self.arbitration != Arbitration::CommandFirst {
            return if self.is_empty() { None } else { self.dequeue_die() };
        }
        // The command-first rule does not use `last`, so do not record the grant.
        match self.commands.pop_front() {
            Some(next) => Some((next.die, TransferPhase::Command)),
            None => self.data.pop_front().map(|next| (next.die, next.phase)),
        }
    }

    /// Dequeues the request to grant next among those that match `fits`; `None` if none matches.
    #[inline(always)]
    pub(in super::super) fn dequeue(&mut self, fits: impl Fn(&QueuedRequest) -> bool) -> Option<QueuedRequest> {
        if self.is_empty() { None } else { self.dequeue_fitting(fits) }
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.data.is_empty()
    }

    /// Like [`Arbiter::dequeue`] of any request, but returns only die and phase, which fit into CPU registers.
    #[inline(never)]
    fn dequeue_die(&mut self) -> Option<(DieId, TransferPhase)> {
        self.dequeue_fitting(|_| true).map(|next| (next.die, next.phase))
    }

    #[inline(always)]
    fn dequeue_fitting(&mut self, fits: impl Fn(&QueuedRequest) -> bool) -> Option<QueuedRequest> {
        let Arbiter { commands, data, .. } = self;
        let next = match self.arbitration {
            Arbitration::CommandFirst | Arbitration::NextCommandFirst => {
                remove_first(commands, &fits).or_else(|| remove_first(data, &fits))
            }
            Arbitration::DataFirst => remove_first(data, &fits).or_else(|| remove_first(commands, &fits)),
            Arbitration::OldestFirst if self.custom.is_some() => {
                let (resource, policy) = self.custom.clone()?;
                self.dequeue_custom(resource, &policy, fits)
            }
            Arbitration::OldestFirst => {
                let oldest = |queue: &Ring<QueuedRequest>| queue.iter().find(|&waiting| fits(waiting)).map(|w| w.order);
                match (oldest(commands), oldest(data)) {
                    (Some(command), data) if data.is_none_or(|data| command < data) => remove_first(commands, &fits),
                    _ => remove_first(data, &fits),
                }
            }
            Arbitration::RoundRobin => {
                // If one die is first in both queues, its data goes first, which frees the page register.
                let (last, positions) = (self.last, self.positions);
                let distance = |waiting: &QueuedRequest| round_robin_rank(waiting.position, last, positions);
                match (nearest(data, &fits, distance), nearest(commands, &fits, distance)) {
                    (Some((data_distance, at)), command) if command.is_none_or(|(d, _)| data_distance <= d) => {
                        data.remove(at)
                    }
                    (_, Some((_, at))) => commands.remove(at),
                    _ => None,
                }
            }
            Arbitration::DataFirstRoundRobin | Arbitration::DataFirstTogether => {
                remove_first(data, &fits).or_else(|| {
                    let by_chip = self.positions_per_chip;
                    let (chips, last) = (by_chip.divide(self.positions), by_chip.divide(self.last));
                    let distance =
                        |waiting: &QueuedRequest| round_robin_rank(by_chip.divide(waiting.position), last, chips);
                    let (_, at) = nearest(commands, &fits, distance)?;
                    commands.remove(at)
                })
            }
        }?;
        self.record_grant(next.position, next.phase);
        Some(next)
    }

    fn queue(&mut self, phase: TransferPhase) -> &mut Ring<QueuedRequest> {
        match phase {
            TransferPhase::Command => &mut self.commands,
            TransferPhase::DataOut | TransferPhase::Copy => &mut self.data,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an arbiter of four single-die chips, last granted to die 1, with these requests queued: data of die 0, command of die 3, data of die
    /// 2, command of die 0.
    fn arbiter(arbitration: Arbitration) -> Arbiter {
        let mut arbiter = Arbiter::new(arbitration, 4, 1);
        arbiter.record_grant(1, TransferPhase::Command);
        let asked = [
            (0, TransferPhase::DataOut),
            (3, TransferPhase::Command),
            (2, TransferPhase::DataOut),
            (0, TransferPhase::Command),
        ];
        for (order, (die, phase)) in asked.into_iter().enumerate() {
            let (die, order) = (DieId(die), order as u64);
            let (data, cause) = (DataOwner::Request, Cause::Channel);
            arbiter.enqueue(QueuedRequest {
                die,
                phase,
                data_owner: data,
                continues_operation: false,
                cause,
                position: die.0,
                order,
            });
        }
        arbiter
    }

    fn order_of_service(arbitration: Arbitration) -> Vec<(u32, TransferPhase)> {
        let mut arbiter = arbiter(arbitration);
        std::iter::from_fn(|| arbiter.dequeue(|_| true)).map(|waiting| (waiting.die.0, waiting.phase)).collect()
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
            arbiter.enqueue(QueuedRequest {
                die: DieId(die),
                phase,
                data_owner: data,
                continues_operation: goes_on,
                cause: Cause::Channel,
                position: die,
                order: 0,
            });
        };
        for die in [4, 1, 2, 0] {
            wait(&mut commands, die, TransferPhase::Command, DataOwner::Request, false);
        }
        wait(&mut commands, 3, TransferPhase::DataOut, DataOwner::Collection, false);
        wait(&mut commands, 5, TransferPhase::DataOut, DataOwner::Request, false);
        wait(&mut commands, 1, TransferPhase::DataOut, DataOwner::Request, false);
        wait(&mut commands, 2, TransferPhase::DataOut, DataOwner::Request, true);
        wait(&mut commands, 0, TransferPhase::DataOut, DataOwner::Mapping, false);
        let served: Vec<u32> = std::iter::from_fn(|| commands.dequeue(|_| true)).map(|waiting| waiting.die.0).collect();
        // Data goes first: map data of die 0, host data of dies 2 (which continues an operation), 5 and 1, GC data of die 3. Commands follow in
        // round-robin order of chips from chip 0 (dies 0 and 1), unaffected by the data grants.
        assert_eq!(served, [0, 2, 5, 1, 3, 1, 2, 4, 0]);
    }

    #[test]
    fn every_rule_passes_over_dies_that_do_not_fit_and_those_that_wait_no_more() {
        for &arbitration in Arbitration::ALL {
            let mut arbiter = arbiter(arbitration);
            arbiter.cancel(DieId(0), TransferPhase::DataOut);
            let even = |waiting: &QueuedRequest| waiting.die.0.is_multiple_of(2);
            let mut served: Vec<_> = std::iter::from_fn(|| arbiter.dequeue(even)).map(|w| (w.die.0, w.phase)).collect();
            served.sort_by_key(|(die, _)| *die);
            assert_eq!(served, [(0, TransferPhase::Command), (2, TransferPhase::DataOut)], "{arbitration}");
            assert_eq!(arbiter.dequeue(|_| true).map(|waiting| waiting.die), Some(DieId(3)), "{arbitration}");
        }
    }
}
