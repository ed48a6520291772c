//! The event queue, the only place where time moves.
//!
//! Nearly every event of a drive comes a constant delay after its cause: tR, tPROG, the transfer of a page. Events of one
//! delay are scheduled in the order in which they fall due, so each kind of delay has a *lane*, a plain FIFO; an event that
//! does not fit its lane (a shorter transfer, a resumed program) goes to a binary heap. The next event is the smallest
//! among the heads of the lanes, of the heap and of the *alarm*, an event that can be moved. The order is total: by time, then by the order of
//! scheduling.
//!
//! Time, order, kind and lane of an event are one word, its *key*, so that one comparison tells which of two comes first, and what and where
//! it is. From time to time the base of times moves on, and what waits is numbered anew. Events that lie further ahead than a key can say
//! wait apart, in lanes of their own or in a heap, and get a key then.

mod turns;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::units::Time;

use super::alarm::Alarm;
use super::key::{ALARM, NEVER, NEXT_ORDER, OFFSET_END, OFFSET_SHIFT, PLACE_BITS, PLACES};
use super::lane::Lane;
use super::scheduled::{Far, Scheduled};
use turns::{Turn, comes_last};

pub use super::key::{KINDS, LANES, NO_LANE};

/// The base moves only after so long, or when nothing else is left: moving it rewrites all waiting keys.
const BASE_STAYS_PS: u64 = OFFSET_END / 2;

/// The places from this one on, the last lane, the alarm and the heap, hold the next event of few: the smallest key of theirs is kept, and compared
/// with those of the other lanes.
const OTHERS: usize = LANES - 1;

/// An event in the queue: a number, and its kind, which is part of the key. The kind selects the handler, and the processor knows
/// it sooner from the key than from the place of the event.
pub trait Queued: Copy {
    fn parts(self) -> (u8, u32);
    /// The event of `kind`; `take` returns its number, given the usual lane of the kind.
    fn of_kind(kind: u8, take: impl FnOnce(usize) -> u32) -> Self;
    /// Whether events of `kind` are scheduled with [`EventQueue::schedule_last`]; such kinds are behind all others.
    fn comes_last(_kind: u8) -> bool {
        false
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Due(u64);

/// A queue of future events and the clock that follows it.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    now: Time,
    /// Origin of the offsets in keys; not later than now.
    base: u64,
    /// Sequence number of the next event, at its place in a key.
    order: u64,
    /// First key of each lane, of the alarm and of the heap.
    heads: [u64; PLACES],
    /// The smallest of those from [`OTHERS`] on.
    others: u64,
    /// The smallest of them, found when an event is taken, so that it is known when its handler ends.
    first: u64,
    lanes: [Lane; LANES],
    alarm: Alarm,
    heap: BinaryHeap<Reverse<Scheduled>>,
    /// Events that come after all that have keys, by lane.
    far_lanes: [VecDeque<Far<E>>; LANES],
    /// Those of them that do not fit their lane.
    far: BinaryHeap<Reverse<Far<E>>>,
    far_order: u64,
    turns: Vec<Turn>,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue {
            now: Time::ZERO,
            base: 0,
            order: 0,
            heads: [NEVER; PLACES],
            others: NEVER,
            first: NEVER,
            lanes: std::array::from_fn(|_| Lane::default()),
            alarm: Alarm::default(),
            heap: BinaryHeap::new(),
            far_lanes: std::array::from_fn(|_| VecDeque::new()),
            far: BinaryHeap::new(),
            far_order: 0,
            turns: Vec::new(),
        }
    }
}

impl<E: Queued> EventQueue<E> {
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// `key` is the head of `place`; not for a newly scheduled event.
    #[inline(always)]
    fn set_head(&mut self, place: usize, key: u64) {
        self.heads[place] = key;
        let [a, b, c, d, e, f, g, h] = self.heads;
        if place >= OTHERS {
            self.others = f.min(g).min(h);
        }
        // Compared in pairs: one after the other takes twice as long.
        self.first = a.min(b).min(c.min(d)).min(e.min(self.others));
    }

    /// An event was scheduled in `place`.
    #[inline(always)]
    fn add_head(&mut self, place: usize, key: u64) {
        self.heads[place] = self.heads[place].min(key);
        if place >= OTHERS {
            self.others = self.others.min(key);
        }
        // A branch, which is nearly always predicted: by a minimum, the next event would depend on the time of this one.
        if key < self.first {
            self.first = key;
        }
    }

    #[inline(always)]
    fn time_of(&self, key: u64) -> Time {
        Time::from_ps(self.base + (key >> OFFSET_SHIFT))
    }

    /// `Time::MAX` when there is none.
    #[inline]
    pub fn next_at(&self) -> Time {
        match self.first {
            NEVER => self.far_at().map_or(Time::MAX, Time::from_ps),
            key => self.time_of(key),
        }
    }

    /// An event of a lane, so many behind the first one: to prefetch what it is about.
    #[inline(always)]
    pub fn upcoming(&self, lane: usize, index: usize) -> Option<E> {
        let entry = self.lanes[lane].entries.get(index)?;
        Some(E::of_kind(((entry.key >> PLACE_BITS) as usize % KINDS) as u8, |_| entry.number))
    }

    /// When the first event comes that has no key yet.
    fn far_at(&self) -> Option<u64> {
        let of_lanes = self.far_lanes.iter().filter_map(VecDeque::front);
        of_lanes.chain(self.far.peek().map(|Reverse(far)| far)).map(|far| far.at).min()
    }

    /// Moves the clock to `at`, before all events of that time.
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
        let offset = at.as_ps() - self.base;
        // Either the offset is OFFSET_END or more, or the sequence numbers are used up: one test for both.
        if ((offset + 1) | self.order) >> OFFSET_SHIFT != 0 {
            return self.schedule_beyond(lane, at, event);
        }
        self.schedule_at(lane, offset, event);
    }

    /// Whether the sequence numbers are used up.
    #[inline(always)]
    fn is_numbered_out(&self) -> bool {
        self.order & (1 << OFFSET_SHIFT) != 0
    }

    /// Sets the alarm to `at`, which must not lie in the past: `event` comes then, and what the alarm was set to before does not. Among the
    /// events of that time it has the turn of the first call for that time since the alarm last rang.
    #[inline]
    pub fn set_alarm(&mut self, at: Time, event: E) {
        let offset = at.as_ps() - self.base;
        if offset >= OFFSET_END || self.is_numbered_out() || at <= self.now {
            return self.set_alarm_apart(at, event);
        }
        self.set_alarm_at(offset, event);
    }

    #[inline]
    fn set_alarm_at(&mut self, offset: u64, event: E) {
        let entry = self.entry(ALARM, offset, event);
        let key = self.alarm.set(entry, |key| key >> OFFSET_SHIFT == offset);
        self.set_head(ALARM, key);
    }

    /// Sets an alarm that has no key left: for now, or too far ahead. It then is an ordinary event.
    #[cold]
    #[inline(never)]
    fn set_alarm_apart(&mut self, at: Time, event: E) {
        self.make_room();
        let offset = at.as_ps() - self.base;
        if offset < OFFSET_END && at > self.now {
            return self.set_alarm_at(offset, event);
        }
        self.set_head(ALARM, NEVER);
        self.schedule(NO_LANE, at, event);
    }

    #[inline(always)]
    fn schedule_at(&mut self, lane: usize, offset: u64, event: E) {
        let entry = self.entry(lane, offset, event);
        if let Some(queue) = self.lanes.get_mut(lane)
            && queue.last <= entry.key
        {
            queue.push(entry);
            self.add_head(lane, entry.key);
            return;
        }
        self.schedule_in_heap(entry.key | NO_LANE as u64, entry.number);
    }

    #[inline(always)]
    fn entry(&mut self, place: usize, offset: u64, event: E) -> Scheduled {
        let (kind, number) = event.parts();
        debug_assert!(usize::from(kind) < KINDS, "a key has no room for the kind {kind}");
        let key = offset << OFFSET_SHIFT | self.order | u64::from(kind) << PLACE_BITS | place as u64;
        self.order += NEXT_ORDER;
        Scheduled { key, number }
    }

    #[inline(never)]
    fn schedule_in_heap(&mut self, key: u64, number: u32) {
        self.heap.push(Reverse(Scheduled { key, number }));
        self.add_head(NO_LANE, key);
    }

    /// Schedules an event that has no key left.
    #[cold]
    #[inline(never)]
    fn schedule_beyond(&mut self, lane: usize, at: Time, event: E) {
        self.make_room();
        let offset = at.as_ps() - self.base;
        if offset < OFFSET_END {
            return self.schedule_at(lane, offset, event);
        }
        let far = Far { at: at.as_ps(), order: self.far_order, event };
        self.far_order += 1;
        match self.far_lanes.get_mut(lane) {
            Some(lane) if lane.back().is_none_or(|last| last.at <= far.at) => lane.push_back(far),
            _ => self.far.push(Reverse(far)),
        }
    }

    /// Moves the base where no key is left, or after [`BASE_STAYS_PS`].
    fn make_room(&mut self) {
        if self.is_numbered_out() || self.now.as_ps() - self.base >= BASE_STAYS_PS {
            self.move_base(self.now.as_ps());
        }
    }

    /// Sets the base, no later than any event, and renumbers once half of the sequence numbers are used.
    fn move_base(&mut self, base: u64) {
        // Nothing waits where the base moves further than a key can say, but the alarm may still know times it was set to before.
        let moved = (base - self.base).min(OFFSET_END) << OFFSET_SHIFT;
        self.base = base;
        self.alarm.forget_before(moved);
        self.replace_keys(|key| key - moved);
        if self.order >= 1 << (OFFSET_SHIFT - 1) {
            self.number_anew();
        }
        self.take_near();
        assert!(!self.is_numbered_out(), "fewer than 2^24 events are to come");
        self.look_at_heap();
    }

    /// Renumbers the waiting events from 0 in the same order.
    fn number_anew(&mut self) {
        let order_of = |key: u64| key & ((1 << OFFSET_SHIFT) - NEXT_ORDER);
        let of_lanes = self.lanes.iter().flat_map(|lane| lane.entries.iter());
        let of_heap = self.heap.iter().map(|Reverse(entry)| entry);
        let of_all = of_lanes.chain(of_heap).chain(self.alarm.iter());
        let of_events = of_all.filter(|entry| !comes_last::<E>(entry.key)).map(|entry| order_of(entry.key));
        let mut orders: Vec<u64> = of_events.chain(self.turns.iter().flat_map(Turn::orders)).collect();
        orders.sort_unstable();
        self.order = orders.len() as u64 * NEXT_ORDER;
        let anew = |order: u64| orders.partition_point(|&before| before < order) as u64 * NEXT_ORDER;
        self.turns.iter_mut().for_each(|turn| turn.replace_orders(anew));
        self.replace_keys(|key| if comes_last::<E>(key) { key } else { key - order_of(key) + anew(order_of(key)) });
    }

    /// Changes the keys of all waiting events, keeping their order.
    fn replace_keys(&mut self, other: impl Fn(u64) -> u64) {
        let replaced = |entry: Scheduled| Scheduled { key: other(entry.key), ..entry };
        for (head, lane) in self.heads.iter_mut().zip(&mut self.lanes) {
            lane.entries.replace(replaced);
            lane.last = lane.entries.back().map_or(0, |entry| entry.key);
            *head = lane.first_key();
        }
        let mut heap = std::mem::take(&mut self.heap).into_vec();
        heap.iter_mut().for_each(|Reverse(entry)| *entry = replaced(*entry));
        self.heap = heap.into();
        self.alarm.replace(replaced);
        if self.heads[ALARM] != NEVER {
            self.heads[ALARM] = other(self.heads[ALARM]);
        }
    }

    fn look_at_heap(&mut self) {
        self.set_head(NO_LANE, self.heap.peek().map_or(NEVER, |Reverse(first)| first.key));
    }

    #[inline]
    #[cfg(feature = "internals")]
    pub fn pop(&mut self) -> Option<E> {
        self.advance().map(|due| self.take(due))
    }

    /// Moves the clock to the next event, which is taken next; separate from taking, since an event moved through an `Option` is
    /// copied in pieces.
    #[inline(always)]
    pub fn advance(&mut self) -> Option<Due> {
        let key = if self.first == NEVER { self.approach()? } else { self.first };
        self.now = self.time_of(key);
        Some(Due(key))
    }

    /// Gives a key to the first event too far ahead, when no other is left.
    #[cold]
    #[inline(never)]
    fn approach(&mut self) -> Option<u64> {
        let at = self.far_at()?;
        self.move_base(at);
        Some(self.first)
    }

    /// Takes the event to which the clock has just been moved.
    ///
    /// Dispatches on the kind before it takes from the lane, so that the usual lane of a kind is a constant.
    #[inline(always)]
    pub fn take(&mut self, Due(key): Due) -> E {
        let (place, kind) = (key as usize % PLACES, (key >> PLACE_BITS) as usize % KINDS);
        E::of_kind(kind as u8, |usual| {
            if place == usual && usual < LANES { self.take_from_lane(usual) } else { self.take_from(place) }
        })
    }

    #[inline(always)]
    fn take_from_lane(&mut self, lane: usize) -> u32 {
        let (number, next) = self.lanes[lane].take();
        self.set_head(lane, next);
        number
    }

    #[inline(never)]
    fn take_from(&mut self, place: usize) -> u32 {
        match place {
            ALARM => self.ring(),
            NO_LANE => self.take_from_heap(),
            lane => self.take_from_lane(lane),
        }
    }

    fn ring(&mut self) -> u32 {
        let number = self.alarm.ring(self.heads[ALARM]);
        self.set_head(ALARM, NEVER);
        number
    }

    fn take_from_heap(&mut self) -> u32 {
        let Reverse(entry) = self.heap.pop().expect("the clock has been moved to the first event of the heap");
        self.look_at_heap();
        entry.number
    }
}

#[cfg(test)]
mod tests;
