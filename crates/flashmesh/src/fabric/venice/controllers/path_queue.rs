//! Queues of path requests: for chip pins, and for controllers. The oldest request is first.

use std::collections::VecDeque;

use crate::config::Service;
use crate::fabric::TransferPhase;
use crate::fabric::venice::mesh::MeshCoord;
use crate::ids::{ChipId, DieId};

use super::free_controllers::{FreeControllers, RowSet};

/// A request of a die for a path, with the chip and router of the die.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct PathRequest {
    /// Sequence number of the request, in order of arrival.
    pub sequence: u64,
    pub die: DieId,
    pub phase: TransferPhase,
    pub chip: ChipId,
    /// Coordinates of the router of the chip.
    pub coord: MeshCoord,
}

/// Requests that wait for the pins of one chip, in order of arrival.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct PinQueue(VecDeque<PathRequest>);

impl PinQueue {
    /// Inserts `request` in the order of sequence numbers. The request is not always the newest, because a request can return from the
    /// controller queue.
    pub fn insert(&mut self, request: PathRequest) {
        let at = self.0.partition_point(|other| other.sequence < request.sequence);
        self.0.insert(at, request);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<PathRequest> {
        self.0.pop_front()
    }

    pub fn dies(&self) -> impl Iterator<Item = DieId> {
        self.0.iter().map(|request| request.die)
    }
}

/// Number above all sequence numbers: in `firsts`, a row without a request that may launch a scout; in `tried`, a request that has not launched one
/// since it entered its queue.
const NONE: u64 = u64::MAX;

/// A request in a [`PathQueue`], with the state of its search for a path.
#[derive(Clone, Copy, Debug)]
struct PathQueueEntry {
    request: PathRequest,
    /// Whether a scout for the request is in flight. If so, no other scout is launched for it.
    is_searching: bool,
    /// Value of `torn_down` (number of circuits torn down) when a scout was last launched from the queue; [`NONE`] before the first. Without another
    /// teardown, a retry would be useless. A relaunch right after a failure (`venice.retry`) does not change it.
    tried: u64,
}

impl PathQueueEntry {
    /// Returns whether a scout for the request may be launched: none is in flight, and either it is the first from the queue, or a circuit was torn
    /// down since the last launch. `torn_down` is the number of circuits torn down so far.
    #[inline]
    fn may_be_tried(&self, torn_down: u64) -> bool {
        !self.is_searching && self.tried != torn_down
    }
}

/// Path requests in three states: waiting for a controller; waiting for a teardown after a failed scout; with a scout in flight.
#[derive(Clone, Debug)]
pub(in super::super) struct PathQueue {
    /// Requests of each row in order of arrival, indexed by the row of the chip.
    rows: Vec<Vec<PathQueueEntry>>,
    /// Sequence number of the oldest request that may launch a scout, indexed by row; [`NONE`] if there is none.
    firsts: Vec<u64>,
    /// Index in its row of the oldest request that may launch a scout, indexed by row.
    positions: Vec<usize>,
    /// Rows with a request that may launch a scout. Rows in `stale` may have none.
    may_be_tried: RowSet,
    /// Rows that are not empty.
    occupied: RowSet,
    /// Rows whose entries in `firsts` and `positions` must be recomputed before use.
    stale: RowSet,
    /// Number of circuits torn down so far.
    torn_down: u64,
    service: Service,
}

impl PathQueue {
    pub fn new(rows: u32, service: Service) -> PathQueue {
        let rows = rows as usize;
        PathQueue {
            rows: vec![Vec::new(); rows],
            firsts: vec![NONE; rows],
            positions: vec![0; rows],
            may_be_tried: RowSet::empty(rows),
            occupied: RowSet::empty(rows),
            stale: RowSet::empty(rows),
            torn_down: 0,
            service,
        }
    }

    /// Enqueues `request`, which waits for a controller and may launch a scout.
    #[inline]
    pub fn insert(&mut self, request: PathRequest) {
        let row = request.coord.row as usize;
        let at = self.insert_sorted(PathQueueEntry { request, is_searching: false, tried: NONE });
        self.consider(row, request.sequence, at);
    }

    /// Records that request `sequence`, at index `position` of `row`, may launch a scout. If it is the oldest of them in `row`, it becomes the first.
    #[inline]
    fn consider(&mut self, row: usize, sequence: u64, position: usize) {
        self.may_be_tried.insert(row);
        if sequence < self.firsts[row] {
            (self.firsts[row], self.positions[row]) = (sequence, position);
        }
    }

    /// Enqueues `request`, whose scout the caller launches at once.
    #[inline]
    pub fn insert_searching(&mut self, request: PathRequest) {
        self.insert_sorted(PathQueueEntry { request, is_searching: true, tried: self.torn_down });
    }

    /// Inserts a request in order of arrival into its row. Returns its index in the row.
    #[inline]
    fn insert_sorted(&mut self, waiting: PathQueueEntry) -> usize {
        let number = waiting.request.coord.row as usize;
        let row = &mut self.rows[number];
        // Search from the end, because the request is usually the newest of its row.
        let newer = row.iter().rev().take_while(|other| other.request.sequence > waiting.request.sequence).count();
        let at = row.len() - newer;
        row.insert(at, waiting);
        self.occupied.insert(number);
        self.positions[number] += usize::from(at <= self.positions[number]);
        at
    }

    /// Returns the row to serve next if the controllers of `free` are free; `None` if no request may launch a scout.
    #[inline]
    pub fn next_row(&mut self, free: &FreeControllers) -> Option<usize> {
        if self.service == Service::OwnRowFirst {
            // The oldest request in a row with a free controller goes first.
            let own = self.first_of(|word| free.word(word));
            if own.is_some() {
                return own;
            }
        }
        self.first_of(|_| u64::MAX)
    }

    /// Returns the row with the oldest request that may launch a scout, in a bitmap of rows; `None` if there is none. `among` returns one 64-bit word
    /// of this bitmap, by its index.
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

    /// Recomputes the first request of `row` that may launch a scout, if a teardown has made the stored one stale.
    #[inline]
    fn refresh_first(&mut self, row: usize) {
        if self.stale.contains(row) {
            self.find_first(row, 0);
        }
    }

    /// Returns the row of the oldest of all requests, whether or not it may launch a scout; `None` if the queue is empty.
    pub fn oldest_row(&self) -> Option<usize> {
        let first = |row: usize| self.rows[row].first().map(|waiting| (waiting.request.sequence, row));
        (0..self.rows.len()).filter_map(first).min().map(|(_, row)| row)
    }

    /// Returns the first request of `row` that may launch a scout, otherwise the oldest request of `row`, with its index. The row must not be empty.
    #[inline]
    pub fn first_request(&mut self, row: usize) -> (usize, PathRequest) {
        self.refresh_first(row);
        let at = if self.firsts[row] == NONE { 0 } else { self.positions[row] };
        (at, self.rows[row][at].request)
    }

    /// Returns the die of each request of all rows, including requests with a scout in flight.
    pub fn dies(&self) -> impl Iterator<Item = DieId> {
        self.rows.iter().flatten().map(|waiting| waiting.request.die)
    }

    /// Records the launch of a scout for the request at index `position` of `row`, which must be the result of
    /// [`first_request`](PathQueue::first_request).
    #[inline]
    pub fn mark_searching(&mut self, row: usize, position: usize) {
        let waiting = &mut self.rows[row][position];
        waiting.is_searching = true;
        waiting.tried = self.torn_down;
        self.find_first(row, position + 1);
    }

    /// Records that the scouts of `request` have failed. It may launch another one after a teardown; at once, if one occurred since the launch.
    #[inline]
    pub fn mark_failed(&mut self, request: &PathRequest) {
        let row = request.coord.row as usize;
        if let Some(at) = self.position(row, request.sequence) {
            let waiting = &mut self.rows[row][at];
            waiting.is_searching = false;
            if waiting.may_be_tried(self.torn_down) {
                self.consider(row, request.sequence, at);
            }
        }
    }

    #[inline]
    pub fn remove(&mut self, request: &PathRequest) {
        let row = request.coord.row as usize;
        if let Some(at) = self.position(row, request.sequence) {
            self.remove_at(row, at);
        }
    }

    #[inline]
    pub fn remove_at(&mut self, row: usize, position: usize) {
        let PathQueueEntry { request, .. } = self.rows[row].remove(position);
        if self.rows[row].is_empty() {
            self.occupied.remove(row);
        }
        if self.firsts[row] == request.sequence {
            self.find_first(row, position);
        } else {
            self.positions[row] -= usize::from(position < self.positions[row]);
        }
    }

    /// Counts the teardown of a circuit, after which all requests without a scout in flight may launch one.
    #[inline]
    pub fn count_teardown(&mut self) {
        self.torn_down += 1;
        self.stale.extend(&self.occupied);
        self.may_be_tried.extend(&self.occupied);
    }

    /// Finds and stores the first request of `row` that may launch a scout, at index `from` or later. No earlier request may qualify.
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
        let place = MeshCoord { row, column: 0 };
        PathRequest {
            sequence,
            die: DieId(sequence as u32),
            phase: TransferPhase::Command,
            chip: ChipId(row),
            coord: place,
        }
    }

    /// Marks all requests that can launch a scout over the controllers in `free` as searching, and returns their sequence numbers in order of
    /// service.
    fn served(waiting: &mut PathQueue, free: &[u32]) -> Vec<u64> {
        let mut controllers = FreeControllers::all(3);
        (0..3).filter(|row| !free.contains(row)).for_each(|row| controllers.remove(ChannelId(row)));
        std::iter::from_fn(|| {
            let row = waiting.next_row(&controllers)?;
            let (position, next) = waiting.first_request(row);
            waiting.mark_searching(row, position);
            Some(next.sequence)
        })
        .collect()
    }

    fn five(service: Service) -> PathQueue {
        let mut waiting = PathQueue::new(3, service);
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
        [2, 4]
            .into_iter()
            .for_each(|sequence| waiting.mark_failed(&request(sequence, [0, 0, 1, 0, 2][sequence as usize])));
        assert!(served(&mut waiting, &[0]).is_empty());
        waiting.count_teardown();
        // The scouts of requests 1, 3 and 5 left before the teardown too, so they may retry as soon as they fail.
        assert_eq!(served(&mut waiting, &[0]), [2, 4]);
        waiting.mark_failed(&request(3, 2));
        assert_eq!(served(&mut waiting, &[0]), [3]);
        waiting.remove(&request(1, 0));
        [2, 3]
            .into_iter()
            .for_each(|sequence| waiting.mark_failed(&request(sequence, [0, 0, 1, 2][sequence as usize])));
        assert!(served(&mut waiting, &[0]).is_empty());
        assert_eq!(waiting.oldest_row().map(|row| waiting.first_request(row).1.sequence), Some(2));
    }
}
