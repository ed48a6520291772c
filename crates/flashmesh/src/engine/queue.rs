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

/// In place of a lane: for events that do not come a constant delay after their cause.
pub const NO_LANE: usize = LANES;

/// Where events wait: the lanes and the heap.
const PLACES: usize = LANES + 1;

/// When the next event of a place is due that has none: later than any event, and never at the same time as another such place, so that ties are
/// those of events.
#[inline(always)]
const fn never(place: usize) -> u64 {
    u64::MAX - place as u64
}

/// From here on times are those of places without events.
const NEVER: u64 = never(PLACES - 1);

/// An event, ordered by its time, then by its place in the order of scheduling.
#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    at: u64,
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    fn key(&self) -> (u64, u64) {
        (self.at, self.sequence)
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
    last: u64,
}

impl<E: Copy> Lane<E> {
    /// No entries; `filler` is what empty places hold.
    fn new(filler: E) -> Lane<E> {
        Lane { ring: vec![Entry { at: 0, sequence: 0, event: filler }; 64], first: 0, count: 0, last: 0 }
    }

    #[inline(always)]
    fn push(&mut self, at: u64, sequence: u64, event: E) {
        if self.count == self.ring.len() {
            self.grow();
        }
        let place = (self.first + self.count) & (self.ring.len() - 1);
        self.last = at;
        // Field by field: an entry that is put together first is written twice.
        let entry = &mut self.ring[place];
        entry.at = at;
        entry.sequence = sequence;
        entry.event = event;
        self.count += 1;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.ring.rotate_left(self.first);
        self.first = 0;
        self.ring.extend_from_within(..);
    }

    /// Takes the first of its entries, of which there is at least one.
    #[inline(always)]
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
    /// When the first event of each lane is due, and of the heap at the end.
    times: [u64; PLACES],
    /// Its place in the order of scheduling.
    sequences: [u64; PLACES],
    lanes: [Lane<E>; LANES],
    heap: BinaryHeap<Reverse<Entry<E>>>,
}

impl<E: Copy> EventQueue<E> {
    /// An empty queue; `filler` is what empty places of it hold.
    pub fn new(filler: E) -> EventQueue<E> {
        EventQueue {
            now: Time::ZERO,
            sequence: 0,
            times: std::array::from_fn(never),
            sequences: [0; PLACES],
            lanes: std::array::from_fn(|_| Lane::new(filler)),
            heap: BinaryHeap::new(),
        }
    }

    /// The time of the event taken last.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The place of the next event, and when it is due. Without `ALL` the last lane, of which nothing is scheduled, is not looked at.
    #[inline(always)]
    fn first<const ALL: bool>(&self) -> (usize, u64) {
        let mut first = (0, self.times[0]);
        for place in 1..LANES - 1 {
            first = self.sooner(first, place);
        }
        if ALL {
            first = self.sooner(first, LANES - 1);
        }
        self.sooner(first, NO_LANE)
    }

    /// Of a place with the time of its event and another one, that whose event comes first.
    #[inline(always)]
    fn sooner(&self, first: (usize, u64), place: usize) -> (usize, u64) {
        let at = self.times[place];
        if at == first.1 {
            self.earlier_scheduled(first, place)
        } else if at < first.1 {
            (place, at)
        } else {
            first
        }
    }

    /// Of two places whose events are due at the same time, the one whose event was scheduled first.
    #[cold]
    #[inline(never)]
    fn earlier_scheduled(&self, (place, at): (usize, u64), other: usize) -> (usize, u64) {
        (if self.sequences[other] < self.sequences[place] { other } else { place }, at)
    }

    /// The time of the next event; later than any when there is none.
    #[inline]
    pub fn next_at(&self) -> Time {
        let (_, at) = self.first::<true>();
        if at >= NEVER { Time::MAX } else { Time::from_ps(at) }
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
        let (at, sequence) = (at.as_ps(), self.sequence);
        self.sequence += 1;
        if let Some(queue) = self.lanes.get_mut(lane) {
            // The newest entry has the highest sequence number, so only the time can be out of order.
            if queue.count == 0 {
                self.times[lane] = at;
                self.sequences[lane] = sequence;
                return queue.push(at, sequence, event);
            }
            if queue.last <= at {
                return queue.push(at, sequence, event);
            }
        }
        self.schedule_in_heap(Entry { at, sequence, event });
    }

    #[inline(never)]
    fn schedule_in_heap(&mut self, entry: Entry<E>) {
        self.heap.push(Reverse(entry));
        self.look_at_heap();
    }

    fn look_at_heap(&mut self) {
        let first = self.heap.peek().map_or((never(NO_LANE), 0), |Reverse(first)| first.key());
        (self.times[NO_LANE], self.sequences[NO_LANE]) = first;
    }

    /// Takes the next event and moves the clock to it.
    #[inline]
    pub fn pop(&mut self) -> Option<E> {
        self.advance::<true>().map(|due| self.take(due))
    }

    /// Moves the clock to the next event, which is to be taken now; apart from the taking, so that the event need not pass through an
    /// `Option`, which moves it in pieces. Without `ALL` nothing may have been scheduled in the last lane.
    #[inline(always)]
    pub fn advance<const ALL: bool>(&mut self) -> Option<Due> {
        debug_assert!(
            ALL || self.lanes[LANES - 1].count == 0,
            "an event was scheduled in a lane that is not looked at"
        );
        let (place, at) = self.first::<ALL>();
        if at >= NEVER {
            return None;
        }
        self.now = Time::from_ps(at);
        Some(Due(place))
    }

    /// Takes the event to which the clock has just been moved.
    #[inline(always)]
    pub fn take(&mut self, Due(place): Due) -> E {
        if let Some(queue) = self.lanes.get_mut(place) {
            let event = queue.take();
            let next = &queue.ring[queue.first];
            self.times[place] = if queue.count == 0 { never(place) } else { next.at };
            self.sequences[place] = next.sequence;
            return event;
        }
        self.take_from_heap()
    }

    #[inline(never)]
    fn take_from_heap(&mut self) -> E {
        let Reverse(entry) = self.heap.pop().expect("the clock has been moved to the first event of the heap");
        self.look_at_heap();
        entry.event
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs `steps`, each of which schedules an event so long after now, in that lane, after taking so many; compares with a list that is
    /// searched for the earliest, and of those for the one scheduled first.
    fn compare(steps: &[(u64, usize, usize)]) {
        let mut queue = EventQueue::new(0);
        let mut listed: Vec<(u64, u32)> = Vec::new();
        let take = |queue: &mut EventQueue<u32>, listed: &mut Vec<(u64, u32)>| {
            let first = listed.iter().copied().min();
            assert_eq!(queue.next_at(), first.map_or(Time::MAX, |(at, _)| Time::from_ps(at)));
            assert_eq!(queue.pop(), first.map(|(_, event)| event));
            if let Some((at, event)) = first {
                assert_eq!(queue.now(), Time::from_ps(at));
                listed.retain(|&(_, other)| other != event);
            }
        };
        for (event, &(delay, lane, taken)) in (0u32..).zip(steps) {
            (0..taken).for_each(|_| take(&mut queue, &mut listed));
            let at = queue.now().as_ps() + delay;
            queue.schedule(lane, Time::from_ps(at), event);
            listed.push((at, event));
        }
        while !listed.is_empty() {
            take(&mut queue, &mut listed);
        }
        assert_eq!((queue.pop(), queue.next_at()), (None, Time::MAX));
    }

    fn steps() -> impl Strategy<Value = Vec<(u64, usize, usize)>> {
        // Mostly short delays with many ties, and events that wait while many others pass.
        let delay = prop_oneof![8 => 0..8u64, 4 => 0..40u64, 1 => 0..5_000u64, 1 => Just(3_000u64)];
        prop::collection::vec((delay, 0..=LANES, 0..3usize), 1..400)
    }

    proptest! {
        #[test]
        fn events_come_by_time_and_ties_by_the_order_of_scheduling_whatever_their_lane(steps in steps()) {
            compare(&steps);
        }
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
