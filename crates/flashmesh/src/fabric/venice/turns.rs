//! Scouts under way, which take their steps in turn.

use crate::ids::ChannelId;
use crate::units::Time;

/// When which scout takes its next step. All take the same time for a link, so their order never changes: it is a circle, in
/// which the one whose turn it is goes to the end by staying where it is.
#[derive(Debug, Default)]
pub(super) struct Turns {
    circle: Vec<(Time, ChannelId)>,
    next: usize,
}

impl Turns {
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

    /// The scouts, in any order.
    pub fn iter(&self) -> impl Iterator<Item = (Time, ChannelId)> {
        self.circle.iter().copied()
    }

    /// The scout whose turn it is, and when.
    #[inline(always)]
    pub fn first(&self) -> Option<(Time, ChannelId)> {
        self.circle.get(self.next).copied()
    }

    /// A scout leaves, and takes its first step at `at`, not before any other's next one.
    #[inline]
    pub fn add(&mut self, at: Time, controller: ChannelId) {
        debug_assert!(self.circle.iter().all(|(other, _)| *other <= at), "the steps fall due out of order");
        self.circle.insert(self.next, (at, controller));
        self.next += 1;
        if self.next == self.circle.len() {
            self.next = 0;
        }
    }

    /// The scout whose turn it is has taken its step, and takes the next one at `at`.
    #[inline(always)]
    pub fn turn(&mut self, at: Time) {
        self.circle[self.next].0 = at;
        self.next += 1;
        if self.next == self.circle.len() {
            self.next = 0;
        }
    }

    /// The scout whose turn it is has taken its last step.
    #[inline]
    pub fn remove_first(&mut self) {
        self.circle.remove(self.next);
        if self.next == self.circle.len() {
            self.next = 0;
        }
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
        let (mut turns, mut queue) = (Turns::default(), VecDeque::new());
        let mut now = Time::ZERO;
        for number in 0..3000 {
            let hop = Time::from_ns(7);
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
                    turns.turn(at + hop);
                    queue.pop_front();
                    queue.push_back((at + hop, controller));
                }
            }
        }
    }
}
