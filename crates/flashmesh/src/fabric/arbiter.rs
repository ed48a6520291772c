//! Who is served next of those that wait for a channel, or for a controller.

use std::collections::VecDeque;

use crate::config::Arbitration;
use crate::ids::DieId;

use super::{Cause, Leg};

/// A die that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) die: DieId,
    pub(super) leg: Leg,
    /// What was in its way when it asked.
    pub(super) cause: Cause,
    /// Its place in the cyclic order of round-robin.
    pub(super) position: u32,
    /// Grows with every asking, in the order of time.
    pub(super) order: u64,
}

/// The dies that wait for one channel or controller, and the rule by which they are served.
#[derive(Debug)]
pub(super) struct Arbiter {
    arbitration: Arbitration,
    /// The places of round-robin.
    positions: u32,
    /// The place served last.
    last: u32,
    commands: VecDeque<Waiting>,
    data: VecDeque<Waiting>,
}

/// Takes the first of `queue` that `fits`.
#[inline]
fn take_first(queue: &mut VecDeque<Waiting>, fits: impl Fn(&Waiting) -> bool) -> Option<Waiting> {
    let at = queue.iter().position(fits)?;
    queue.remove(at)
}

impl Arbiter {
    /// Nobody waits for what `positions` dies may want.
    pub(super) fn new(arbitration: Arbitration, positions: u32) -> Arbiter {
        Arbiter { arbitration, positions, last: 0, commands: VecDeque::new(), data: VecDeque::new() }
    }

    /// A die begins to wait.
    #[inline]
    pub(super) fn wait(&mut self, waiting: Waiting) {
        self.queue(waiting.leg).push_back(waiting);
    }

    /// The die at `position` was served without having waited here.
    #[inline]
    pub(super) fn served(&mut self, position: u32) {
        self.last = position;
    }

    /// A die that was served elsewhere waits no more.
    #[inline]
    pub(super) fn forget(&mut self, die: DieId, leg: Leg) {
        take_first(self.queue(leg), |waiting| waiting.die == die);
    }

    /// Takes the die that is served next, among those that `fits`.
    #[inline]
    pub(super) fn next(&mut self, fits: impl Fn(&Waiting) -> bool) -> Option<Waiting> {
        let Arbiter { commands, data, .. } = self;
        let next = match self.arbitration {
            Arbitration::CommandFirst => take_first(commands, &fits).or_else(|| take_first(data, &fits)),
            Arbitration::DataFirst => take_first(data, &fits).or_else(|| take_first(commands, &fits)),
            Arbitration::OldestFirst => {
                let oldest = |queue: &VecDeque<Waiting>| queue.iter().find(|&waiting| fits(waiting)).map(|w| w.order);
                match (oldest(commands), oldest(data)) {
                    (Some(command), data) if data.is_none_or(|data| command < data) => take_first(commands, &fits),
                    _ => take_first(data, &fits),
                }
            }
            Arbitration::RoundRobin => {
                // Distance from the place served last; a die that waits for both sends its data first, to become free.
                let (last, positions) = (self.last, self.positions);
                let distance = |waiting: &Waiting| (waiting.position + positions - last - 1) % positions;
                let nearest = |queue: &VecDeque<Waiting>| {
                    let fitting = queue.iter().enumerate().filter(|(_, waiting)| fits(waiting));
                    fitting.map(|(at, waiting)| (distance(waiting), at)).min()
                };
                match (nearest(data), nearest(commands)) {
                    (Some((data_distance, at)), command) if command.is_none_or(|(d, _)| data_distance <= d) => {
                        data.remove(at)
                    }
                    (_, Some((_, at))) => commands.remove(at),
                    _ => None,
                }
            }
        }?;
        self.last = next.position;
        Some(next)
    }

    #[inline]
    fn queue(&mut self, leg: Leg) -> &mut VecDeque<Waiting> {
        match leg {
            Leg::Command => &mut self.commands,
            Leg::DataOut | Leg::Copy => &mut self.data,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Die 1 was served last when dies 0, 3, 2 and again 0 began to wait, in this order.
    fn arbiter(arbitration: Arbitration) -> Arbiter {
        let mut arbiter = Arbiter::new(arbitration, 4);
        arbiter.served(1);
        let asked = [(0, Leg::DataOut), (3, Leg::Command), (2, Leg::DataOut), (0, Leg::Command)];
        for (order, (die, leg)) in asked.into_iter().enumerate() {
            let (die, order) = (DieId(die), order as u64);
            arbiter.wait(Waiting { die, leg, cause: Cause::Channel, position: die.0, order });
        }
        arbiter
    }

    fn order_of_service(arbitration: Arbitration) -> Vec<(u32, Leg)> {
        let mut arbiter = arbiter(arbitration);
        std::iter::from_fn(|| arbiter.next(|_| true)).map(|waiting| (waiting.die.0, waiting.leg)).collect()
    }

    #[test]
    fn command_first_serves_commands_in_their_order_and_then_data() {
        let expected = [(3, Leg::Command), (0, Leg::Command), (0, Leg::DataOut), (2, Leg::DataOut)];
        assert_eq!(order_of_service(Arbitration::CommandFirst), expected);
    }

    #[test]
    fn data_first_serves_data_in_its_order_and_then_commands() {
        let expected = [(0, Leg::DataOut), (2, Leg::DataOut), (3, Leg::Command), (0, Leg::Command)];
        assert_eq!(order_of_service(Arbitration::DataFirst), expected);
    }

    #[test]
    fn oldest_first_serves_in_the_order_of_asking() {
        let expected = [(0, Leg::DataOut), (3, Leg::Command), (2, Leg::DataOut), (0, Leg::Command)];
        assert_eq!(order_of_service(Arbitration::OldestFirst), expected);
    }

    #[test]
    fn round_robin_serves_the_next_die_after_the_last_one() {
        let expected = [(2, Leg::DataOut), (3, Leg::Command), (0, Leg::DataOut), (0, Leg::Command)];
        assert_eq!(order_of_service(Arbitration::RoundRobin), expected);
    }

    #[test]
    fn every_rule_passes_over_dies_that_do_not_fit_and_those_that_wait_no_more() {
        for &arbitration in Arbitration::ALL {
            let mut arbiter = arbiter(arbitration);
            arbiter.forget(DieId(0), Leg::DataOut);
            let even = |waiting: &Waiting| waiting.die.0.is_multiple_of(2);
            let mut served: Vec<_> = std::iter::from_fn(|| arbiter.next(even)).map(|w| (w.die.0, w.leg)).collect();
            served.sort_by_key(|(die, _)| *die);
            assert_eq!(served, [(0, Leg::Command), (2, Leg::DataOut)], "{arbitration}");
            assert_eq!(arbiter.next(|_| true).map(|waiting| waiting.die), Some(DieId(3)), "{arbitration}");
        }
    }
}
