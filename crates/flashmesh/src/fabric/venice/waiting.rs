//! Dies that wait, longest first.

use std::collections::VecDeque;

use crate::config::Service;
use crate::fabric::{Cause, Leg};
use crate::ids::{ChannelId, ChipId, DieId};

use super::mesh::Place;

/// A die that wants a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker {
    /// The how-manieth to ask.
    pub order: u64,
    /// The die.
    pub die: DieId,
    /// What it wants a path for.
    pub leg: Leg,
    /// Its chip.
    pub chip: ChipId,
    /// Where that is.
    pub place: Place,
    /// What was in the way first; `None` as long as nothing was.
    pub cause: Option<Cause>,
}

impl Asker {
    /// The same, with `cause` in the way unless something else was before.
    #[inline]
    pub fn blocked(self, cause: Cause) -> Asker {
        Asker { cause: self.cause.or(Some(cause)), ..self }
    }
}

/// A queue in the order of asking.
#[derive(Clone, Debug, Default)]
pub(super) struct Line(VecDeque<Asker>);

impl Line {
    /// Puts `asker` where it belongs by the order of asking.
    #[inline]
    pub fn insert(&mut self, asker: Asker) {
        if self.0.back().is_none_or(|last| last.order < asker.order) {
            self.0.push_back(asker);
        } else {
            let at = self.0.partition_point(|other| other.order < asker.order);
            self.0.insert(at, asker);
        }
    }

    /// Takes the one that asked first.
    #[inline]
    pub fn pop(&mut self) -> Option<Asker> {
        self.0.pop_front()
    }

    /// Takes what `die` asked for.
    pub fn take(&mut self, die: DieId) -> Option<Asker> {
        let at = self.0.iter().position(|asker| asker.die == die)?;
        self.0.remove(at)
    }
}

/// Dies that wait for a controller, and for nothing else.
#[derive(Debug)]
pub(super) struct ControllerQueue {
    /// By the row of the die.
    rows: Vec<Line>,
    /// The order of the first of each row; later than any for a row without.
    firsts: Vec<u64>,
    count: usize,
    service: Service,
}

impl ControllerQueue {
    /// An empty queue for a mesh of `rows`.
    pub fn new(rows: u32, service: Service) -> ControllerQueue {
        let rows = rows as usize;
        ControllerQueue { rows: vec![Line::default(); rows], firsts: vec![u64::MAX; rows], count: 0, service }
    }

    /// Puts `asker` where it belongs by the order of asking.
    #[inline]
    pub fn insert(&mut self, asker: Asker) {
        let row = asker.place.row as usize;
        self.firsts[row] = self.firsts[row].min(asker.order);
        self.rows[row].insert(asker);
        self.count += 1;
    }

    /// Takes the one that goes first while the controllers are free of which `is_free` says so.
    #[inline]
    pub fn pop(&mut self, is_free: impl Fn(ChannelId) -> bool) -> Option<Asker> {
        if self.count == 0 {
            return None;
        }
        // The longest waiting of all, and the longest waiting one whose own controller is free.
        let mut longest = (u64::MAX, 0);
        let mut own = longest;
        for ((row, &first), controller) in self.firsts.iter().enumerate().zip((0..).map(ChannelId)) {
            if first < longest.0 {
                longest = (first, row);
            }
            if first < own.0 && is_free(controller) {
                own = (first, row);
            }
        }
        let (_, row) = if self.service == Service::OwnRowFirst && own.0 < u64::MAX { own } else { longest };
        self.count -= 1;
        let asker = self.rows[row].pop();
        self.firsts[row] = self.rows[row].0.front().map_or(u64::MAX, |next| next.order);
        asker
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(order: u64, row: u32) -> Asker {
        let place = Place { row, column: 0 };
        Asker { order, die: DieId(order as u32), leg: Leg::Command, chip: ChipId(row), place, cause: None }
    }

    /// The order of service while the controllers of `free` are free.
    fn served(queue: &mut ControllerQueue, free: &[u32]) -> Vec<u64> {
        std::iter::from_fn(|| queue.pop(|controller| free.contains(&controller.0))).map(|asker| asker.order).collect()
    }

    #[test]
    fn who_comes_back_to_a_line_has_the_place_of_its_first_asking() {
        let mut line = Line::default();
        [3, 5, 1, 4].into_iter().for_each(|order| line.insert(asker(order, 0)));
        assert_eq!(line.take(DieId(4)).map(|asker| asker.order), Some(4));
        assert_eq!(line.take(DieId(4)).map(|asker| asker.order), None);
        let left: Vec<u64> = std::iter::from_fn(|| line.pop()).map(|asker| asker.order).collect();
        assert_eq!(left, [1, 3, 5]);
    }

    #[test]
    fn a_controller_serves_its_own_row_first_or_the_longest_waiting() {
        for (service, expected) in [(Service::OwnRowFirst, [3, 4, 1, 2, 5]), (Service::LongestFirst, [1, 2, 3, 4, 5])] {
            let mut queue = ControllerQueue::new(3, service);
            for (order, row) in [(4, 2), (1, 0), (3, 2), (5, 1), (2, 1)] {
                queue.insert(asker(order, row));
            }
            assert_eq!(served(&mut queue, &[2]), expected, "{service}");
            assert!(queue.pop(|_| true).is_none());
        }
    }

    #[test]
    fn the_first_cause_is_kept() {
        assert_eq!(asker(0, 0).blocked(Cause::Controller).blocked(Cause::Link).cause, Some(Cause::Controller));
    }
}
