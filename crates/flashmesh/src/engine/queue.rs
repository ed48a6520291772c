//! The event queue, the only place where time moves.
//!
//! Nearly every event of a drive comes a constant delay after its cause: tR, tPROG, the transfer of a page. Events of one
//! delay are scheduled in the order in which they fall due, so each kind of delay has a *lane*, a plain FIFO; an event that
//! does not fit its lane (a shorter transfer, a resumed program) goes to a binary heap. The next event is the smallest
//! among the heads of the lanes and of the heap. The order is total: by time, then by the order of scheduling.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Time;

/// The number of lanes of an [`EventQueue`].
pub const LANES: usize = 7;

// The next event is looked for in pairs of pairs of pairs, and its lane is kept in three bits of its key.
const _: () = assert!(LANES + 1 == 8, "the lanes and the heap are eight places");

/// In place of a lane: for events that do not come a constant delay after their cause.
pub const NO_LANE: usize = LANES;

/// When an event is due (64 bits), its place in the order of scheduling (61 bits), its lane (3 bits): the order of keys is the
/// order of events, and the smallest key tells where its event is.
type Key = u128;

/// The key of an empty lane: later than any event.
const EMPTY: Key = Key::MAX;

#[inline(always)]
fn key(at: Time, sequence: u64, lane: usize) -> Key {
    (Key::from(at.as_ps()) << u64::BITS) | Key::from((sequence << 3) | lane as u64)
}

#[inline(always)]
fn time_of(key: Key) -> Time {
    Time::from_ps((key >> u64::BITS) as u64)
}

/// An event, ordered by its key.
#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    key: Key,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
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
        self.key.cmp(&other.key)
    }
}

/// Events in the order in which they fall due, in a ring of a power of two places.
#[derive(Debug)]
struct Lane<E> {
    ring: Vec<Entry<E>>,
    first: usize,
    count: usize,
    /// When the newest is due.
    last: Time,
}

impl<E: Copy> Lane<E> {
    /// No entries; `filler` is what empty places hold.
    fn new(filler: E) -> Lane<E> {
        Lane { ring: vec![Entry { key: EMPTY, event: filler }; 64], first: 0, count: 0, last: Time::ZERO }
    }

    #[inline(always)]
    fn push(&mut self, at: Time, key: Key, event: E) {
        if self.count == self.ring.len() {
            self.grow();
        }
        let place = (self.first + self.count) & (self.ring.len() - 1);
        self.ring[place] = Entry { key, event };
        self.count += 1;
        self.last = at;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.ring.rotate_left(self.first);
        self.first = 0;
        self.ring.extend_from_within(..);
    }

    /// Takes the first of its entries, of which there is at least one; gives the key of the next beside it.
    #[inline(always)]
    fn take(&mut self) -> (E, Key) {
        let event = self.ring[self.first].event;
        self.first = (self.first + 1) & (self.ring.len() - 1);
        self.count -= 1;
        let next = self.ring[self.first].key;
        (event, if self.count == 0 { EMPTY } else { next })
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
    /// The key of the first event of each lane, and of the heap at the end.
    heads: [Key; LANES + 1],
    lanes: [Lane<E>; LANES],
    heap: BinaryHeap<Reverse<Entry<E>>>,
}

impl<E: Copy> EventQueue<E> {
    /// An empty queue; `filler` is what empty places of it hold.
    pub fn new(filler: E) -> EventQueue<E> {
        EventQueue {
            now: Time::ZERO,
            sequence: 0,
            heads: [EMPTY; LANES + 1],
            lanes: std::array::from_fn(|_| Lane::new(filler)),
            heap: BinaryHeap::new(),
        }
    }

    /// The time of the event taken last.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The key of the next event. Without a branch, and in pairs that do not wait for one another: which lane is next cannot be
    /// predicted.
    #[inline(always)]
    fn first(&self) -> Key {
        let pairs: [Key; 4] = std::array::from_fn(|at| self.heads[2 * at].min(self.heads[2 * at + 1]));
        pairs[0].min(pairs[1]).min(pairs[2].min(pairs[3]))
    }

    /// The time of the next event; later than any when there is none.
    #[inline]
    pub fn next_at(&self) -> Time {
        time_of(self.first())
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
        let sequence = self.sequence;
        self.sequence += 1;
        if let Some(queue) = self.lanes.get_mut(lane) {
            // The newest entry has the highest sequence number, so only the time can be out of order.
            let key = key(at, sequence, lane);
            if queue.count == 0 {
                self.heads[lane] = key;
                return queue.push(at, key, event);
            }
            if queue.last <= at {
                return queue.push(at, key, event);
            }
        }
        self.schedule_in_heap(key(at, sequence, NO_LANE), event);
    }

    #[inline(never)]
    fn schedule_in_heap(&mut self, key: Key, event: E) {
        self.heads[NO_LANE] = self.heads[NO_LANE].min(key);
        self.heap.push(Reverse(Entry { key, event }));
    }

    /// Takes the next event and moves the clock to it.
    #[inline]
    pub fn pop(&mut self) -> Option<E> {
        self.advance().map(|due| self.take(due))
    }

    /// Moves the clock to the next event, which is to be taken now; apart from the taking, so that the event need not pass through an
    /// `Option`, which moves it in pieces.
    #[inline(always)]
    pub fn advance(&mut self) -> Option<Due> {
        let first = self.first();
        if first == EMPTY {
            return None;
        }
        self.now = time_of(first);
        Some(Due((first & 0b111) as usize))
    }

    /// Takes the event to which the clock has just been moved.
    #[inline(always)]
    pub fn take(&mut self, Due(lane): Due) -> E {
        if let Some(queue) = self.lanes.get_mut(lane) {
            let (event, next) = queue.take();
            self.heads[lane] = next;
            return event;
        }
        self.take_from_heap()
    }

    #[inline(never)]
    fn take_from_heap(&mut self) -> E {
        let Reverse(entry) = self.heap.pop().expect("the clock has been moved to the first event of the heap");
        self.heads[NO_LANE] = self.heap.peek().map_or(EMPTY, |Reverse(next)| next.key);
        entry.event
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
