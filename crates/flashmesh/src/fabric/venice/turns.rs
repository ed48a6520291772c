//! Scouts under way, which take their steps in turn.

use crate::ids::ChannelId;
use crate::units::Time;

/// When which scout takes its next step. All take the same time for a link, so their order never changes: it is a circle, in
/// which the one whose turn it is goes to the end by staying where it is. In a lap each of them takes one step.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// Each scout, and how long after `lap` its step of this lap falls due.
    circle: Vec<(Time, ChannelId)>,
    /// Whose turn it is; those before have taken their steps of this lap.
    next: usize,
    /// When this lap began.
    lap: Time,
    /// How long a scout takes for a link.
    hop: Time,
}

impl Turns {
    /// No scout is under way; one takes `hop` for a link.
    pub fn new(hop: Time) -> Turns {
        Turns { circle: Vec::new(), next: 0, lap: Time::ZERO, hop }
    }

    /// Whether no scout is under way.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.circle.is_empty()
    }

    /// Whether one scout is.
    #[inline]
    pub fn is_one(&self) -> bool {
        self.circle.len() == 1
    }

    /// Looks at the scouts, in any order, each with when it takes its next step. Loops, since iterators would be functions of their own.
    #[inline(always)]
    pub fn each(&self, mut look: impl FnMut(Time, ChannelId)) {
        let (before, after) = self.circle.split_at(self.next);
        for (lap, scouts) in [(self.lap + self.hop, before), (self.lap, after)] {
            for &(after, controller) in scouts {
                look(lap + after, controller);
            }
        }
    }

    /// The scout whose turn it is, and when.
    #[inline(always)]
    pub fn first(&self) -> Option<(Time, ChannelId)> {
        self.circle.get(self.next).map(|&(after, controller)| (self.lap + after, controller))
    }

    /// A scout leaves, and takes its first step at `at`, not before any other's next one.
    #[inline]
    pub fn add(&mut self, at: Time, controller: ChannelId) {
        self.each(|other, _| debug_assert!(other <= at, "the steps fall due out of order"));
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

    /// When this lap began, and the scouts that have yet to take their step of it, in their order, each with how long after that it
    /// falls due.
    #[inline(always)]
    pub fn rest_of_lap(&self) -> (Time, &[(Time, ChannelId)]) {
        (self.lap, &self.circle[self.next..])
    }

    /// So many scouts have taken their steps of this lap, and go on. Whether the lap is over.
    #[inline(always)]
    pub fn turn(&mut self, scouts: usize) -> bool {
        self.next += scouts;
        self.lap_if_over()
    }

    /// The only scout under way has taken steps, and takes the next one at `at`.
    #[inline]
    pub fn turn_alone(&mut self, at: Time) {
        self.lap = at - self.circle[self.next].0;
    }

    /// The scout whose turn it is has taken its last step.
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
        let (mut turns, mut queue) = (Turns::new(hop), VecDeque::new());
        let mut now = Time::ZERO;
        for number in 0..3000 {
            assert_eq!(turns.first(), queue.front().copied());
            assert_eq!((turns.is_empty(), turns.is_one()), (queue.is_empty(), queue.len() == 1));
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
                    turns.turn(1);
                    queue.pop_front();
                    queue.push_back((at + hop, controller));
                }
            }
        }
    }
}
