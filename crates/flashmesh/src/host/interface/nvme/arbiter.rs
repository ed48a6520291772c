//! From which submission queue the controller fetches next: the arbitration of the NVM Express base specification 2.0, section 3.4.4.
//!
//! - *Round robin*: the queues take turns, each for at most `arbitration-burst` commands.
//! - *Weighted*: urgent queues go strictly before all others. Of these a round takes at most `weight-high` commands of high, then
//!   `weight-medium` of medium, then `weight-low` of low priority; a class with nothing to fetch is passed over, and a new round begins
//!   when no class with weight left has anything. Within a class the queues take turns as above.
//!
//! The admin queue is not modelled.

use crate::config::{self, Priority, QueueArbitration};
use crate::ids::StreamId;

#[derive(Clone, Debug, Default)]
struct WeightedRoundRobin {
    members: Vec<StreamId>,
    at: usize,
    left: u32,
}

impl WeightedRoundRobin {
    fn next(&mut self, burst: u32, is_ready: &impl Fn(StreamId) -> bool) -> Option<StreamId> {
        let count = self.members.len();
        // A class of one queue, and of none, is as common as any other, and has no turns.
        if let &[only] = self.members.as_slice() {
            return is_ready(only).then_some(only);
        }
        if count == 0 {
            return None;
        }
        if self.left > 0 && is_ready(self.members[self.at]) {
            self.left -= 1;
            return Some(self.members[self.at]);
        }
        let (before, from) = self.members.split_at((self.at + 1).min(count));
        let next = from.iter().chain(before).position(|&member| is_ready(member))?;
        let next = self.at + 1 + next;
        (self.at, self.left) = (if next < count { next } else { next - count }, burst - 1);
        Some(self.members[self.at])
    }
}

#[derive(Clone, Debug)]
pub(super) struct Arbiter {
    burst: u32,
    /// Queues of urgent priority.
    urgent: WeightedRoundRobin,
    /// Weighted classes in the order of a round.
    classes: Vec<Weighted>,
    /// Whether any class has had a command in this round.
    has_begun: bool,
}

#[derive(Clone, Debug)]
struct Weighted {
    turns: WeightedRoundRobin,
    weight: u32,
    /// Commands that the class may still have in this round.
    left: u32,
}

impl Arbiter {
    pub(super) fn new(config: &config::Nvme, priorities: &[Priority]) -> Arbiter {
        let of = |priority: Option<Priority>| {
            let members =
                (0..priorities.len()).filter(|&index| priority.is_none_or(|wanted| priorities[index] == wanted));
            let members: Vec<StreamId> = members.map(|index| StreamId(index as u32)).collect();
            // The first turn is that of the first queue.
            WeightedRoundRobin { at: members.len().saturating_sub(1), members, left: 0 }
        };
        let class = |priority, weight| Weighted { turns: of(priority), weight, left: weight };
        let (urgent, classes) = match config.arbitration {
            QueueArbitration::RoundRobin => (WeightedRoundRobin::default(), vec![class(None, u32::MAX)]),
            QueueArbitration::Weighted => (
                of(Some(Priority::Urgent)),
                vec![
                    class(Some(Priority::High), config.weight_high),
                    class(Some(Priority::Medium), config.weight_medium),
                    class(Some(Priority::Low), config.weight_low),
                ],
            ),
        };
        Arbiter { burst: config.arbitration_burst, urgent, classes, has_begun: false }
    }

    /// No queue has a command to fetch, which ends the round.
    #[inline]
    pub(super) fn end_round(&mut self) {
        if self.has_begun {
            self.classes.iter_mut().for_each(|class| class.left = class.weight);
            self.has_begun = false;
        }
    }

    /// The queue to fetch from, among those that are ready.
    #[inline]
    pub(super) fn choose(&mut self, is_ready: impl Fn(StreamId) -> bool) -> Option<StreamId> {
        if let Some(stream) = self.urgent.next(self.burst, &is_ready) {
            return Some(stream);
        }
        self.choose_by_weight(&is_ready).or_else(|| {
            let has_begun = self.has_begun;
            self.end_round();
            if has_begun { self.choose_by_weight(&is_ready) } else { None }
        })
    }

    #[inline]
    fn choose_by_weight(&mut self, is_ready: &impl Fn(StreamId) -> bool) -> Option<StreamId> {
        let stream = self.classes.iter_mut().filter(|class| class.left > 0).find_map(|class| {
            let stream = class.turns.next(self.burst, is_ready)?;
            class.left -= 1;
            Some(stream)
        });
        self.has_begun |= stream.is_some();
        stream
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arbiter(config: config::Nvme, priorities: &[Priority]) -> Arbiter {
        Arbiter::new(&config, priorities)
    }

    fn choices(arbiter: &mut Arbiter, count: usize, is_ready: impl Fn(StreamId) -> bool) -> Vec<u32> {
        (0..count).filter_map(|_| arbiter.choose(&is_ready)).map(|stream| stream.0).collect()
    }

    fn weighted() -> config::Nvme {
        config::Nvme {
            arbitration: QueueArbitration::Weighted,
            weight_high: 4,
            weight_medium: 2,
            weight_low: 1,
            ..config::Nvme::default()
        }
    }

    #[test]
    fn queues_take_turns_whatever_their_priority_each_for_a_burst() {
        let config = config::Nvme { arbitration_burst: 2, ..config::Nvme::default() };
        let mut arbiter = arbiter(config, &[Priority::Low, Priority::Urgent, Priority::High]);
        assert_eq!(choices(&mut arbiter, 7, |_| true), [0, 0, 1, 1, 2, 2, 0]);
        // A queue that runs empty loses the rest of its turn.
        assert_eq!(choices(&mut arbiter, 4, |stream| stream.0 != 0), [1, 1, 2, 2]);
        assert_eq!(choices(&mut arbiter, 3, |stream| stream.0 == 1), [1, 1, 1]);
        assert_eq!(choices(&mut arbiter, 3, |_| false), [0; 0]);
    }

    #[test]
    fn a_round_takes_as_many_of_each_class_as_it_weighs() {
        let mut arbiter = arbiter(weighted(), &[Priority::Low, Priority::Medium, Priority::High]);
        assert_eq!(choices(&mut arbiter, 14, |_| true), [2, 2, 2, 2, 1, 1, 0, 2, 2, 2, 2, 1, 1, 0]);
        // What an empty class leaves is taken by the others.
        assert_eq!(choices(&mut arbiter, 7, |stream| stream.0 != 2), [1, 1, 0, 1, 1, 0, 1]);
        assert_eq!(choices(&mut arbiter, 3, |stream| stream.0 == 0), [0, 0, 0]);
    }

    #[test]
    fn urgent_queues_go_before_all_others_and_take_turns() {
        let mut arbiter = arbiter(weighted(), &[Priority::High, Priority::Urgent, Priority::Urgent]);
        assert_eq!(choices(&mut arbiter, 4, |_| true), [1, 2, 1, 2]);
        assert_eq!(choices(&mut arbiter, 2, |stream| stream.0 == 0), [0, 0]);
    }

    #[test]
    fn queues_of_one_class_share_its_weight() {
        let mut arbiter = arbiter(weighted(), &[Priority::High, Priority::High, Priority::Low]);
        assert_eq!(choices(&mut arbiter, 10, |_| true), [0, 1, 0, 1, 2, 0, 1, 0, 1, 2]);
    }
}
