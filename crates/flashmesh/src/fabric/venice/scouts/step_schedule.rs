//! Schedule of the next step of each scout in flight.

use crate::ids::ChannelId;
use crate::units::Time;

/// Schedule of the next step of each scout: a circular list with a moving index. All scouts take equally long for a link, so their order never
/// changes. In a *lap*, one pass through the list, each scout takes one step.
#[derive(Clone, Debug)]
pub(in super::super) struct StepSchedule {
    /// Controllers of the scouts, each with the time of its step relative to the start of a lap.
    circle: Vec<(Time, ChannelId)>,
    /// Index in `circle` of the scout that steps next. The scouts before it have taken their step of the current lap.
    next: usize,
    lap: Time,
    /// Time that a scout takes to cross a link.
    hop: Time,
}

impl StepSchedule {
    pub fn new(hop: Time) -> StepSchedule {
        StepSchedule { circle: Vec::new(), next: 0, lap: Time::ZERO, hop }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.circle.is_empty()
    }

    #[inline]
    pub fn has_one(&self) -> bool {
        self.circle.len() == 1
    }

    /// Calls `look` with the time of the next step and the controller of each scout, in any order. A callback, because iterator adaptors would not be
    /// inlined.
    #[inline(always)]
    pub fn for_each(&self, mut look: impl FnMut(Time, ChannelId)) {
        let (before, after) = self.circle.split_at(self.next);
        for (lap, scouts) in [(self.lap + self.hop, before), (self.lap, after)] {
            for &(after, controller) in scouts {
                look(lap + after, controller);
            }
        }
    }

    /// Returns the time and controller of the next step; `None` if no scout is in flight.
    #[inline(always)]
    pub fn first(&self) -> Option<(Time, ChannelId)> {
        self.circle.get(self.next).map(|&(after, controller)| (self.lap + after, controller))
    }

    /// Adds the scout of `controller`, whose first step is at `at`. No other scout may have its next step after `at`.
    #[inline]
    pub fn add(&mut self, at: Time, controller: ChannelId) {
        self.for_each(|other, _| debug_assert!(other <= at, "the steps fall due out of order"));
        if self.circle.is_empty() {
            self.lap = at;
        }
        if self.next == 0 {
            self.circle.push((at - self.lap, controller));
        } else {
            self.circle.insert(self.next, (at - self.hop - self.lap, controller));
            self.next += 1;
        }
    }

    /// Returns the start of the current lap, and the scouts that have not yet taken their step in it, in the order of their steps. Each has the time
    /// of its step, relative to the start of the lap, and its controller.
    #[inline(always)]
    pub fn rest_of_lap(&self) -> (Time, &[(Time, ChannelId)]) {
        (self.lap, &self.circle[self.next..])
    }

    /// Records that the next `scouts` scouts took their step and stay in flight. Returns whether this completed the lap (one step of each scout).
    #[inline(always)]
    pub fn advance(&mut self, scouts: usize) -> bool {
        self.next += scouts;
        self.lap_if_over()
    }

    /// Sets the time of the next step of the only scout in flight to `at`.
    #[inline]
    pub fn reschedule_only(&mut self, at: Time) {
        self.lap = at - self.circle[self.next].0;
    }

    /// Removes the scout that steps next, because its search has ended.
    #[inline]
    pub fn remove_first(&mut self) {
        self.circle.remove(self.next);
        self.lap_if_over();
    }

    #[inline(always)]
    fn lap_if_over(&mut self) -> bool {
        let is_over = self.next == self.circle.len();
        if is_over {
            self.next = 0;
            self.lap += self.hop;
        }
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::SimRng;
    use std::collections::VecDeque;

    #[test]
    fn turns_are_those_of_a_queue_that_each_goes_to_the_end_of() {
        let mut random = SimRng::new(5);
        let hop = Time::from_ns(7);
        let (mut turns, mut queue) = (StepSchedule::new(hop), VecDeque::new());
        let mut now = Time::ZERO;
        for number in 0..3000 {
            assert_eq!(turns.first(), queue.front().copied());
            assert_eq!((turns.is_empty(), turns.has_one()), (queue.is_empty(), queue.len() == 1));
            match (random.below(3), queue.front().copied()) {
                (0, _) | (_, None) => {
                    turns.add(now + hop, ChannelId(number));
                    queue.push_back((now + hop, ChannelId(number)));
                }
                (1, Some((at, _))) => {
                    now = at;
                    turns.remove_first();
                    queue.pop_front();
                }
                (_, Some((at, controller))) => {
                    now = at;
                    turns.advance(1);
                    queue.pop_front();
                    queue.push_back((at + hop, controller));
                }
            }
        }
    }
}
