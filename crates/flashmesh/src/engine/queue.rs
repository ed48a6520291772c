//! The event queue, the only place where time moves.
//!
//! Nearly every event of a drive comes a constant delay after its cause: tR, tPROG, the transfer of a page. Events of one
//! delay are scheduled in the order in which they fall due, so each kind of delay has a *lane*, a plain FIFO; an event that
//! does not fit its lane (a shorter transfer, a resumed program) goes to a binary heap. The next event is the smallest
//! among the heads of the lanes and of the heap. The order is total: by time, then by the order of scheduling.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

use crate::units::Time;

/// The number of lanes of an [`EventQueue`].
pub const LANES: usize = 7;

// The next event is looked for in pairs of pairs of pairs.
const _: () = assert!(LANES + 1 == 8, "the lanes and the heap are eight places");

/// In place of a lane: for events that do not come a constant delay after their cause.
pub const NO_LANE: usize = LANES;

/// The time of an empty lane: later than any event.
const EMPTY: u64 = u64::MAX;

/// An event, ordered by time and then by the order of scheduling.
#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    at_ps: u64,
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    fn key(&self) -> (u64, u64) {
        (self.at_ps, self.sequence)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// Events in the order in which they fall due, in a ring of a power of two places.
#[derive(Debug)]
struct Lane<E> {
    ring: Vec<Entry<E>>,
    first: usize,
    count: usize,
    /// When the newest is due.
    last_ps: u64,
}

impl<E: Copy> Lane<E> {
    /// No entries; `filler` is what empty places hold.
    fn new(filler: E) -> Lane<E> {
        let ring = vec![Entry { at_ps: 0, sequence: 0, event: filler }; 64];
        Lane { ring, first: 0, count: 0, last_ps: 0 }
    }

    /// The first entry.
    #[inline]
    fn front(&self) -> Option<&Entry<E>> {
        if self.count == 0 { None } else { self.ring.get(self.first) }
    }

    #[inline(always)]
    fn push(&mut self, at_ps: u64, sequence: u64, event: E) {
        if self.count == self.ring.len() {
            self.grow();
        }
        let at = (self.first + self.count) & (self.ring.len() - 1);
        self.ring[at] = Entry { at_ps, sequence, event };
        self.count += 1;
        self.last_ps = at_ps;
    }

    #[cold]
    fn grow(&mut self) {
        self.ring.rotate_left(self.first);
        self.first = 0;
        self.ring.extend_from_within(..);
    }

    /// Takes the first of its entries, of which there is at least one.
    #[inline]
    fn take(&mut self) -> E {
        let event = self.ring[self.first].event;
        self.first = (self.first + 1) & (self.ring.len() - 1);
        self.count -= 1;
        event
    }
}

/// Where the event that is due next is.
#[derive(Clone, Copy, Debug)]
pub struct Due(usize);

/// A queue of future events and the clock that follows it.
#[derive(Debug)]
pub struct EventQueue<E> {
    now: Time,
    sequence: u64,
    /// When the first event of each lane is due, and that of the heap at the end.
    heads_ps: [u64; LANES + 1],
    lanes: [Lane<E>; LANES],
    heap: BinaryHeap<Reverse<Entry<E>>>,
}

impl<E: Copy> EventQueue<E> {
    /// An empty queue; `filler` is what empty places of it hold.
    pub fn new(filler: E) -> EventQueue<E> {
        EventQueue {
            now: Time::ZERO,
            sequence: 0,
            heads_ps: [EMPTY; LANES + 1],
            lanes: std::array::from_fn(|_| Lane::new(filler)),
            heap: BinaryHeap::new(),
        }
    }

    /// The time of the event taken last.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The time of the next event; later than any when there is none.
    #[inline]
    pub fn next_at(&self) -> Time {
        Time::from_ps(self.heads_ps.iter().copied().fold(EMPTY, u64::min))
    }

    /// Moves the clock to `at`, for something that comes before all events of that time.
    #[inline]
    pub fn advance_to(&mut self, at: Time) {
        debug_assert!(at >= self.now && at <= self.next_at(), "the clock cannot go from {} to {at}", self.now);
        self.now = at;
    }

    /// Schedules `event` for `at`, which must not lie in the past.
    ///
    /// `lane` (below [`LANES`], or [`NO_LANE`]) is where events of this kind queue up; it decides the cost, never the order.
    ///
    /// Always inlined: an event that is passed on is written in pieces and read again whole, which stalls a processor until the
    /// pieces have reached its cache.
    #[inline(always)]
    pub fn schedule(&mut self, lane: usize, at: Time, event: E) {
        debug_assert!(at >= self.now, "an event was scheduled for {at}, before now, {}", self.now);
        let at_ps = at.as_ps();
        let sequence = self.sequence;
        self.sequence += 1;
        if let Some(queue) = self.lanes.get_mut(lane) {
            // The newest entry has the highest sequence number, so only the time can be out of order.
            if queue.count == 0 {
                self.heads_ps[lane] = at_ps;
                return queue.push(at_ps, sequence, event);
            }
            if queue.last_ps <= at_ps {
                return queue.push(at_ps, sequence, event);
            }
        }
        self.schedule_in_heap(at_ps, sequence, event);
    }

    #[inline(never)]
    fn schedule_in_heap(&mut self, at_ps: u64, sequence: u64, event: E) {
        self.heads_ps[NO_LANE] = self.heads_ps[NO_LANE].min(at_ps);
        self.heap.push(Reverse(Entry { at_ps, sequence, event }));
    }

    /// Takes the next event and moves the clock to it.
    #[inline]
    pub fn pop(&mut self) -> Option<E> {
        self.advance().map(|due| self.take(due))
    }

    /// Moves the clock to the next event, which is to be taken now; apart from the taking, so that the event need not pass through an
    /// `Option`, which moves it in pieces.
    #[inline]
    pub fn advance(&mut self) -> Option<Due> {
        // Without a branch, and in pairs that do not wait for one another: which lane is next cannot be predicted.
        let heads = self.heads_ps;
        let earlier = |a: u64, b: u64| select_unpredictable(a < b, a, b);
        let pairs: [u64; 4] = std::array::from_fn(|at| earlier(heads[2 * at], heads[2 * at + 1]));
        let best = earlier(earlier(pairs[0], pairs[1]), earlier(pairs[2], pairs[3]));
        if best == EMPTY {
            return None;
        }
        let due = (0..=NO_LANE).fold(0, |due, lane| due | u32::from(heads[lane] == best) << lane);
        let is_tied = due & (due - 1) != 0;
        let first = if is_tied { self.first_scheduled(best) } else { due.trailing_zeros() as usize };
        self.now = Time::from_ps(best);
        Some(Due(first))
    }

    /// Takes the event to which the clock has just been moved.
    #[inline]
    pub fn take(&mut self, Due(lane): Due) -> E {
        if let Some(queue) = self.lanes.get_mut(lane) {
            let event = queue.take();
            self.heads_ps[lane] = queue.front().map_or(EMPTY, |next| next.at_ps);
            return event;
        }
        let Reverse(entry) = self.heap.pop().expect("the clock has been moved to the first event of the heap");
        self.heads_ps[NO_LANE] = self.heap.peek().map_or(EMPTY, |Reverse(next)| next.at_ps);
        entry.event
    }

    /// Of the lanes whose first event is due at `at_ps`, the one whose event was scheduled first.
    #[inline(never)]
    fn first_scheduled(&self, at_ps: u64) -> usize {
        let sequence = |lane: &usize| match self.lanes.get(*lane) {
            Some(queue) => queue.front().map(|entry| entry.sequence),
            None => self.heap.peek().map(|Reverse(entry)| entry.sequence),
        };
        (0..=NO_LANE).filter(|&lane| self.heads_ps[lane] == at_ps).min_by_key(sequence).unwrap_or(NO_LANE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_ties_by_the_order_of_scheduling_whatever_their_lane() {
        let mut queue = EventQueue::new(0);
        // A small linear congruence gives times with many ties, in lanes that do not fit them.
        let mut state = 7u64;
        let mut expected = Vec::new();
        for event in 0..1000u32 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = Time::from_ps(state >> 58);
            queue.schedule((state >> 33) as usize % (LANES + 1), at, event);
            expected.push((at, event));
        }
        expected.sort();
        for (at, event) in expected {
            assert_eq!(queue.next_at(), at);
            assert_eq!(queue.pop(), Some(event));
            assert_eq!(queue.now(), at);
        }
        assert_eq!((queue.pop(), queue.next_at()), (None, Time::from_ps(u64::MAX)));
    }

    #[test]
    #[should_panic(expected = "before now")]
    fn an_event_in_the_past_is_a_bug() {
        let mut queue = EventQueue::new(());
        queue.schedule(0, Time::from_ps(5), ());
        queue.pop();
        queue.schedule(0, Time::from_ps(4), ());
    }
}
