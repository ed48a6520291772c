//! Dies that wait, longest first.

use std::collections::VecDeque;

use crate::config::Service;
use crate::fabric::TransferPhase;
use crate::ids::{ChipId, DieId};

use super::free::{FreeControllers, Rows};
use super::mesh::Place;

/// A die that wants a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathRequest {
    /// Its number, in the order of asking.
    pub sequence: u64,
    /// The die.
    pub die: DieId,
    /// What it wants a path for.
    pub phase: TransferPhase,
    /// Its chip.
    pub chip: ChipId,
    /// Where that is.
    pub place: Place,
}

/// Dies that wait for the pins of a chip, in the order of asking.
#[derive(Clone, Debug, Default)]
pub(super) struct PinQueue(VecDeque<PathRequest>);

impl PinQueue {
    /// Puts `request` where it belongs by the order of asking.
    pub fn insert(&mut self, request: PathRequest) {
        let at = self.0.partition_point(|other| other.sequence < request.sequence);
        self.0.insert(at, request);
    }

    /// Takes the one that asked first.
    #[inline]
    pub fn pop(&mut self) -> Option<PathRequest> {
        self.0.pop_front()
    }

    /// The dies that wait.
    pub fn dies(&self) -> impl Iterator<Item = DieId> {
        self.0.iter().map(|request| request.die)
    }
}

/// Later than any request: of a row where none may be tried, and of a request that has not been tried.
const NONE: u64 = u64::MAX;

/// A request whose chip is not taken by another one.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    request: PathRequest,
    /// Whether a scout is under way for it.
    is_searching: bool,
    /// Circuits that had been torn down when its scout left, the first one where several controllers try in turn. It is of no use to try
    /// again before another one is.
    tried: u64,
}

impl Waiting {
    #[inline]
    fn may_be_tried(&self, torn_down: u64) -> bool {
        !self.is_searching && self.tried != torn_down
    }
}

/// Dies that wait for a controller or for a circuit to be torn down, or whose scout is under way.
#[derive(Clone, Debug)]
pub(super) struct WaitingDies {
    /// By the row of the die, each in the order of asking.
    rows: Vec<Vec<Waiting>>,
    /// The first of each row that may be tried, and its position.
    firsts: Vec<u64>,
    positions: Vec<usize>,
    /// The rows that have one, or may have, being stale.
    may_be_tried: Rows,
    /// The rows in which anyone waits.
    occupied: Rows,
    /// The rows whose first one is to be found anew before it is asked for.
    stale: Rows,
    /// Circuits torn down so far.
    torn_down: u64,
    service: Service,
}

impl WaitingDies {
    /// Nobody waits, in a mesh of `rows`.
    pub fn new(rows: u32, service: Service) -> WaitingDies {
        let rows = rows as usize;
        WaitingDies {
            rows: vec![Vec::new(); rows],
            firsts: vec![NONE; rows],
            positions: vec![0; rows],
            may_be_tried: Rows::none(rows),
            occupied: Rows::none(rows),
            stale: Rows::none(rows),
            torn_down: 0,
            service,
        }
    }

    /// `request` waits for a controller.
    #[inline]
    pub fn insert(&mut self, request: PathRequest) {
        let row = request.place.row as usize;
        let at = self.put(Waiting { request, is_searching: false, tried: NONE });
        self.consider(row, request.sequence, at);
    }

    /// The one of `row` at `position`, `sequence`, may be tried.
    #[inline]
    fn consider(&mut self, row: usize, sequence: u64, position: usize) {
        self.may_be_tried.insert(row);
        if sequence < self.firsts[row] {
            (self.firsts[row], self.positions[row]) = (sequence, position);
        }
    }

    /// A scout leaves for `request`, which has not waited.
    #[inline]
    pub fn insert_searching(&mut self, request: PathRequest) {
        self.put(Waiting { request, is_searching: true, tried: self.torn_down });
    }

    /// Puts one in its place, and gives that.
    #[inline]
    fn put(&mut self, waiting: Waiting) -> usize {
        let number = waiting.request.place.row as usize;
        let row = &mut self.rows[number];
        // Most often it is the newest.
        let newer = row.iter().rev().take_while(|other| other.request.sequence > waiting.request.sequence).count();
        let at = row.len() - newer;
        row.insert(at, waiting);
        self.occupied.insert(number);
        self.positions[number] += usize::from(at <= self.positions[number]);
        at
    }

    /// The row of the one that goes first while the controllers of `free` are.
    #[inline]
    pub fn next(&mut self, free: &FreeControllers) -> Option<usize> {
        if self.service == Service::OwnRowFirst {
            // The longest waiting one whose own controller is free.
            let own = self.first_of(|word| free.word(word));
            if own.is_some() {
                return own;
            }
        }
        self.first_of(|_| u64::MAX)
    }

    /// The row, of those that `among` has bits of in each word, whose first goes before those of the others.
    #[inline]
    fn first_of(&mut self, among: impl Fn(usize) -> u64) -> Option<usize> {
        let mut first = (NONE, 0);
        for word in 0..self.may_be_tried.words() {
            let mut stale = self.stale.word(word) & among(word);
            while stale != 0 {
                self.find_first(64 * word + stale.trailing_zeros() as usize, 0);
                stale &= stale - 1;
            }
            let mut left = self.may_be_tried.word(word) & among(word);
            while left != 0 {
                let row = 64 * word + left.trailing_zeros() as usize;
                left &= left - 1;
                if self.firsts[row] < first.0 {
                    first = (self.firsts[row], row);
                }
            }
        }
        (first.0 != NONE).then_some(first.1)
    }

    /// Finds the first of `row` anew if that has to be.
    #[inline]
    fn freshen(&mut self, row: usize) {
        if self.stale.contains(row) {
            self.find_first(row, 0);
        }
    }

    /// The row of the one that has waited longest, whether or not it is of use to try again.
    pub fn longest(&self) -> Option<usize> {
        let first = |row: usize| self.rows[row].first().map(|waiting| (waiting.request.sequence, row));
        (0..self.rows.len()).filter_map(first).min().map(|(_, row)| row)
    }

    /// The first of `row` that may be tried, with its position; of those that may not where there is none. There is one.
    #[inline]
    pub fn first(&mut self, row: usize) -> (usize, PathRequest) {
        self.freshen(row);
        let at = if self.firsts[row] == NONE { 0 } else { self.positions[row] };
        (at, self.rows[row][at].request)
    }

    /// The dies that wait, or whose scout is under way.
    pub fn dies(&self) -> impl Iterator<Item = DieId> {
        self.rows.iter().flatten().map(|waiting| waiting.request.die)
    }

    /// A scout leaves for the one of `row` that is [first](WaitingDies::first), at `position`.
    #[inline]
    pub fn search(&mut self, row: usize, position: usize) {
        let waiting = &mut self.rows[row][position];
        waiting.is_searching = true;
        waiting.tried = self.torn_down;
        self.find_first(row, position + 1);
    }

    /// The scouts sent for `request` have all failed.
    #[inline]
    pub fn failed(&mut self, request: &PathRequest) {
        let row = request.place.row as usize;
        if let Some(at) = self.position(row, request.sequence) {
            let waiting = &mut self.rows[row][at];
            waiting.is_searching = false;
            if waiting.may_be_tried(self.torn_down) {
                self.consider(row, request.sequence, at);
            }
        }
    }

    /// `request` waits no more, or for something else.
    #[inline]
    pub fn remove(&mut self, request: &PathRequest) {
        let row = request.place.row as usize;
        if let Some(at) = self.position(row, request.sequence) {
            self.remove_at(row, at);
        }
    }

    /// The one of `row` at `position` waits no more, or for something else.
    #[inline]
    pub fn remove_at(&mut self, row: usize, position: usize) {
        let Waiting { request, .. } = self.rows[row].remove(position);
        if self.rows[row].is_empty() {
            self.occupied.remove(row);
        }
        if self.firsts[row] == request.sequence {
            self.find_first(row, position);
        } else {
            self.positions[row] -= usize::from(position < self.positions[row]);
        }
    }

    /// A circuit was torn down: all that wait may be tried.
    #[inline]
    pub fn torn_down(&mut self) {
        self.torn_down += 1;
        self.stale.extend(&self.occupied);
        self.may_be_tried.extend(&self.occupied);
    }

    /// The first of `row` that may be tried is at `from` or later.
    #[inline]
    fn find_first(&mut self, row: usize, from: usize) {
        self.stale.remove(row);
        let mut at = from;
        while let Some(waiting) = self.rows[row].get(at) {
            if waiting.may_be_tried(self.torn_down) {
                (self.firsts[row], self.positions[row]) = (waiting.request.sequence, at);
                return;
            }
            at += 1;
        }
        (self.firsts[row], self.positions[row]) = (NONE, 0);
        self.may_be_tried.remove(row);
    }

    #[inline]
    fn position(&self, row: usize, sequence: u64) -> Option<usize> {
        self.rows[row].binary_search_by_key(&sequence, |waiting| waiting.request.sequence).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ChannelId;

    fn request(sequence: u64, row: u32) -> PathRequest {
        let place = Place { row, column: 0 };
        PathRequest { sequence, die: DieId(sequence as u32), phase: TransferPhase::Command, chip: ChipId(row), place }
    }

    /// The order of service while the controllers of `free` are free.
    fn served(waiting: &mut WaitingDies, free: &[u32]) -> Vec<u64> {
        let mut controllers = FreeControllers::all(3);
        (0..3).filter(|row| !free.contains(row)).for_each(|row| controllers.remove(ChannelId(row)));
        std::iter::from_fn(|| {
            let row = waiting.next(&controllers)?;
            let (position, next) = waiting.first(row);
            waiting.search(row, position);
            Some(next.sequence)
        })
        .collect()
    }

    fn five(service: Service) -> WaitingDies {
        let mut waiting = WaitingDies::new(3, service);
        for (sequence, row) in [(4, 2), (1, 0), (3, 2), (5, 1), (2, 1)] {
            waiting.insert(request(sequence, row));
        }
        waiting
    }

    #[test]
    fn who_comes_back_to_a_queue_has_the_place_of_its_first_asking() {
        let mut queue = PinQueue::default();
        [3, 5, 1, 4].into_iter().for_each(|sequence| queue.insert(request(sequence, 0)));
        let left: Vec<u64> = std::iter::from_fn(|| queue.pop()).map(|request| request.sequence).collect();
        assert_eq!(left, [1, 3, 4, 5]);
    }

    #[test]
    fn a_controller_serves_its_own_row_first_or_the_longest_waiting() {
        for (service, expected) in [(Service::OwnRowFirst, [3, 4, 1, 2, 5]), (Service::LongestFirst, [1, 2, 3, 4, 5])] {
            assert_eq!(served(&mut five(service), &[2]), expected, "{service}");
        }
    }

    #[test]
    fn who_has_failed_is_tried_again_once_a_circuit_is_torn_down() {
        let mut waiting = five(Service::LongestFirst);
        assert_eq!(served(&mut waiting, &[0]), [1, 2, 3, 4, 5]);
        [2, 4].into_iter().for_each(|sequence| waiting.failed(&request(sequence, [0, 0, 1, 0, 2][sequence as usize])));
        assert!(served(&mut waiting, &[0]).is_empty());
        waiting.torn_down();
        // The scouts of the others left before that, so they may be tried again as soon as these are back.
        assert_eq!(served(&mut waiting, &[0]), [2, 4]);
        waiting.failed(&request(3, 2));
        assert_eq!(served(&mut waiting, &[0]), [3]);
        waiting.remove(&request(1, 0));
        [2, 3].into_iter().for_each(|sequence| waiting.failed(&request(sequence, [0, 0, 1, 2][sequence as usize])));
        assert!(served(&mut waiting, &[0]).is_empty());
        assert_eq!(waiting.longest().map(|row| waiting.first(row).1.sequence), Some(2));
    }
}
