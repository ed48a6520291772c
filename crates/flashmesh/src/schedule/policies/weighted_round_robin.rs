//! Weighted round robin over priorities.
//!
//! The urgent priority precedes the round robin, as in NVMe (base specification, section 4.13). The others are visited in cycles of four rounds: high
//! in all four, medium in two, low in one. If all three have transactions, they are served 4 : 2 : 1. A priority without transactions is skipped.

use crate::schedule::transaction::Priority;

const WEIGHTS: [(Priority, u8); 3] = [(Priority::High, 4), (Priority::Medium, 2), (Priority::Low, 1)];

/// Number of rounds in a cycle.
const ROUNDS: u8 = WEIGHTS[0].1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedRoundRobin {
    /// Index in `WEIGHTS` of the priority visited last.
    last: usize,
    /// Number of rounds left in the cycle, including the current one. A priority is skipped while its weight is below this number.
    round: u8,
}

impl Default for WeightedRoundRobin {
    fn default() -> Self {
        WeightedRoundRobin { last: WEIGHTS.len() - 1, round: ROUNDS }
    }
}

impl WeightedRoundRobin {
    pub fn next(&mut self, waits: impl Fn(Priority) -> bool) -> Option<Priority> {
        if waits(Priority::Urgent) {
            return Some(Priority::Urgent);
        }
        for _ in 0..usize::from(ROUNDS) * WEIGHTS.len() {
            self.last = (self.last + 1) % WEIGHTS.len();
            if self.last == 0 {
                self.round = if self.round > 1 { self.round - 1 } else { ROUNDS };
            }
            let (priority, weight) = WEIGHTS[self.last];
            if weight >= self.round && waits(priority) {
                return Some(priority);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(waiting: &[Priority], count: usize) -> [usize; 4] {
        let mut turns = WeightedRoundRobin::default();
        let mut served = [0; 4];
        for _ in 0..count {
            let next = turns.next(|priority| waiting.contains(&priority)).expect("a transaction waits");
            served[next.index()] += 1;
        }
        served
    }

    #[test]
    fn those_that_wait_all_the_time_are_served_by_their_weights() {
        use Priority::{High, Low, Medium, Urgent};
        assert_eq!(served(&[High, Medium, Low], 700), [0, 400, 200, 100]);
        assert_eq!(served(&[High, Low], 500), [0, 400, 0, 100]);
        assert_eq!(served(&[Medium, Low], 300), [0, 0, 200, 100]);
        assert_eq!(served(&[Low], 10), [0, 0, 0, 10]);
        assert_eq!(served(&[Urgent, High, Low], 10), [10, 0, 0, 0]);
    }

    #[test]
    fn none_goes_when_none_waits() {
        assert_eq!(WeightedRoundRobin::default().next(|_| false), None);
    }
}
