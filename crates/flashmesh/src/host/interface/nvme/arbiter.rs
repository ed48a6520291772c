//! Queue arbitration: selects the submission queue from which the controller fetches next (NVM Express base specification 2.0, section 3.4.4).
//!
//! - *Round robin*: the queues take turns, each for at most `arbitration-burst` commands.
//! - *Weighted*: urgent queues go strictly before all others. From the other queues, a round fetches at most `weight-high` commands of high priority,
//!   then `weight-medium` of medium, then `weight-low` of low priority. A class with nothing to fetch is skipped; a new round begins when no class
//!   with remaining weight has a command. Within a class the queues take turns as in round robin.
//!
//! The admin queue is not modelled.

use crate::config::{self, Priority, QueueArbitration};
use crate::ids::{Id, StreamId};

/// A set of queues as a bit mask.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueSet(Vec<u64>);

impl QueueSet {
    pub(super) fn new(queues: usize) -> QueueSet {
        QueueSet(vec![0; queues.div_ceil(u64::BITS as usize)])
    }

    #[inline]
    pub(super) fn set(&mut self, stream: StreamId, is_in: bool) {
        let (word, bit) = (stream.index() / u64::BITS as usize, 1 << (stream.index() % u64::BITS as usize));
        if is_in { self.0[word] |= bit } else { self.0[word] &= !bit }
    }

    #[inline]
    fn contains(&self, stream: StreamId) -> bool {
        self.0[stream.index() / u64::BITS as usize] >> (stream.index() % u64::BITS as usize) & 1 != 0
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Returns the first queue after `last` that is in both sets, wrapping around; `None` if the sets share no queue.
    #[inline]
    fn next_of_both(&self, other: &QueueSet, last: StreamId) -> Option<StreamId> {
        let (mut word, bit) = (last.index() / u64::BITS as usize, last.index() % u64::BITS as usize);
        let mut bits = self.0[word] & other.0[word] & (!1 << bit);
        // Visits every word once, and the word of `last` again at the end, for the bits up to `last`.
        let mut words_left = self.0.len();
        while bits == 0 {
            words_left = words_left.checked_sub(1)?;
            word = if word + 1 < self.0.len() { word + 1 } else { 0 };
            bits = self.0[word] & other.0[word];
        }
        Some(StreamId::from_u32((word * u64::BITS as usize) as u32 + bits.trailing_zeros()))
    }
}

/// Round robin among the queues of a class, in the order of their numbers, with bursts of several commands.
#[derive(Clone, Debug, Default)]
struct BurstRoundRobin {
    members: QueueSet,
    /// The queue that has the current turn; `None` if no queue is a member.
    at: Option<StreamId>,
    left: u32,
}

impl BurstRoundRobin {
    fn of(queues: usize, members: impl Iterator<Item = usize>) -> BurstRoundRobin {
        let mut turns = BurstRoundRobin { members: QueueSet::new(queues), at: None, left: 0 };
        for member in members {
            let member = StreamId(member as u32);
            turns.members.set(member, true);
            // Starts at the last member, so that the next turn goes to the first member.
            turns.at = Some(member);
        }
        turns
    }

    /// Counts a command fetched from `stream`. The command belongs to the current turn of `stream` if commands of the burst remain;
    /// otherwise it begins a new turn.
    #[inline]
    fn take(&mut self, burst: u32, stream: StreamId) {
        if self.left > 0 && self.at == Some(stream) {
            self.left -= 1;
        } else {
            (self.at, self.left) = (Some(stream), burst - 1);
        }
    }

    #[inline]
    fn next(&mut self, burst: u32, ready: &QueueSet) -> Option<StreamId> {
        let at = self.at?;
        let next = if self.left > 0 && ready.contains(at) { at } else { self.members.next_of_both(ready, at)? };
        self.take(burst, next);
        Some(next)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Arbiter {
    burst: u32,
    /// Round robin of the queues of urgent priority; empty without weighted arbitration.
    urgent: BurstRoundRobin,
    /// The classes that share the fetches by weight, in the order of a round. With round robin, a single class of all queues.
    classes: Vec<WeightedClass>,
    /// Whether any class has used some of its weight in this round.
    has_begun: bool,
}

#[derive(Clone, Debug)]
struct WeightedClass {
    turns: BurstRoundRobin,
    weight: u32,
    /// The remaining weight: commands that the class may still fetch in this round.
    remaining_weight: u32,
}

impl Arbiter {
    pub(super) fn new(config: &config::Nvme, priorities: &[Priority]) -> Arbiter {
        let of = |priority: Option<Priority>| {
            let queues = 0..priorities.len();
            let members = queues.filter(|&index| priority.is_none_or(|wanted| priorities[index] == wanted));
            BurstRoundRobin::of(priorities.len(), members)
        };
        let class = |priority, weight| WeightedClass { turns: of(priority), weight, remaining_weight: weight };
        let (urgent, classes) = match config.arbitration {
            QueueArbitration::RoundRobin => (BurstRoundRobin::default(), vec![class(None, u32::MAX)]),
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

    /// Ends the round: restores the weight of each class.
    #[inline]
    pub(super) fn end_round(&mut self) {
        if self.has_begun {
            self.classes.iter_mut().for_each(|class| class.remaining_weight = class.weight);
            self.has_begun = false;
        }
    }

    /// Records a fetch from the only queue with a command, in a new round. If the drive has a free slot for another command (`is_room`), the round
    /// ends at once, because no command is left to fetch.
    #[inline]
    pub(super) fn take_only(&mut self, stream: StreamId, is_room: bool) {
        debug_assert!(!self.has_begun, "a round ends when no queue has a command to fetch");
        let has_it = |turns: &BurstRoundRobin| turns.at.is_some() && turns.members.contains(stream);
        if has_it(&self.urgent) {
            self.urgent.take(self.burst, stream);
        } else if let Some(class) = self.classes.iter_mut().find(|class| has_it(&class.turns)) {
            class.turns.take(self.burst, stream);
            if !is_room {
                class.remaining_weight -= 1;
                self.has_begun = true;
            }
        }
    }

    /// Selects the queue from which the next command is fetched, among the `ready` queues; `None` if no queue is ready.
    #[inline]
    pub(super) fn choose(&mut self, ready: &QueueSet) -> Option<StreamId> {
        if ready.is_empty() {
            self.end_round();
            return None;
        }
        if let Some(stream) = self.urgent.next(self.burst, ready) {
            return Some(stream);
        }
        self.choose_by_weight(ready).or_else(|| {
            let has_begun = self.has_begun;
            self.end_round();
            if has_begun { self.choose_by_weight(ready) } else { None }
        })
    }

    #[inline]
    fn choose_by_weight(&mut self, ready: &QueueSet) -> Option<StreamId> {
        let stream = self.classes.iter_mut().filter(|class| class.remaining_weight > 0).find_map(|class| {
            let stream = class.turns.next(self.burst, ready)?;
            class.remaining_weight -= 1;
            Some(stream)
        });
        self.has_begun |= stream.is_some();
        stream
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUES: usize = 200;

    fn arbiter(config: config::Nvme, priorities: &[Priority]) -> Arbiter {
        Arbiter::new(&config, priorities)
    }

    fn choices(arbiter: &mut Arbiter, count: usize, is_ready: impl Fn(StreamId) -> bool) -> Vec<u32> {
        let mut ready = QueueSet::new(QUEUES);
        (0..QUEUES as u32).map(StreamId).for_each(|stream| ready.set(stream, is_ready(stream)));
        (0..count).filter_map(|_| arbiter.choose(&ready)).map(|stream| stream.0).collect()
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

    /// Uses more queues than the 64 of one word of a [`QueueSet`]. Round robin serves the ready ones by number, one command each.
    #[test]
    fn many_queues_take_turns_and_those_that_are_not_ready_are_passed_over() {
        let mut arbiter = arbiter(config::Nvme::default(), &[Priority::Medium; QUEUES]);
        let ready = [2, 63, 64, 65, 128, 199];
        let taken = choices(&mut arbiter, 13, |stream| ready.contains(&stream.0));
        assert_eq!(taken, [2, 63, 64, 65, 128, 199, 2, 63, 64, 65, 128, 199, 2]);
        assert_eq!(choices(&mut arbiter, 2, |stream| stream.0 == 2), [2, 2]);
    }

    #[test]
    fn queues_take_turns_whatever_their_priority_each_for_a_burst() {
        let config = config::Nvme { arbitration_burst: 2, ..config::Nvme::default() };
        let mut arbiter = arbiter(config, &[Priority::Low, Priority::Urgent, Priority::High]);
        assert_eq!(choices(&mut arbiter, 7, |_| true), [0, 0, 1, 1, 2, 2, 0]);
        // A queue that is not ready forfeits the rest of its burst.
        assert_eq!(choices(&mut arbiter, 4, |stream| stream.0 != 0), [1, 1, 2, 2]);
        assert_eq!(choices(&mut arbiter, 3, |stream| stream.0 == 1), [1, 1, 1]);
        assert_eq!(choices(&mut arbiter, 3, |_| false), [0; 0]);
    }

    #[test]
    fn a_round_takes_as_many_of_each_class_as_it_weighs() {
        let mut arbiter = arbiter(weighted(), &[Priority::Low, Priority::Medium, Priority::High]);
        assert_eq!(choices(&mut arbiter, 14, |_| true), [2, 2, 2, 2, 1, 1, 0, 2, 2, 2, 2, 1, 1, 0]);
        // Without commands of high priority, a round fetches two of medium priority (queue 1) and one of low priority (queue 0).
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
