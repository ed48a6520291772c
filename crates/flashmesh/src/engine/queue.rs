//! Event queue with the clock: the only place where time advances.
//!
//! Events are ordered by time, then by kind, then by number. The order is total, and does not depend on when an event was scheduled. Events with
//! equal time, kind and number are identical.
//!
//! Nearly every event of a drive follows its cause after a constant delay: tR, tPROG, the transfer of a page. Events with equal delays are scheduled
//! in time order, so each kind of delay has a *lane*, a plain FIFO. An event out of order in its lane (a shorter transfer, a resumed program) goes to
//! a binary heap. The next event is the smallest of the lane heads, the heap head and the *alarm*, an event that can be rescheduled.
//!
//! Time, kind, number and queue of an event are packed in one word, its *key*. A single comparison orders two events, and the event is decoded from
//! the smallest key. Times in keys are relative to a base, which is moved forward regularly. Events beyond the range of a key are kept separately, in
//! other lanes or another heap, until the base has moved.

mod key;
mod lane;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::units::Time;

use key::{ALARM, NEVER, OFFSET_END, OFFSET_SHIFT, QUEUES, key_without_time, kind_of, number_of, queue_of};
use lane::Lane;

pub use key::{KINDS, LANES, NO_LANE, NUMBERS};

/// Minimum time between two moves of the base (the origin of the times in keys): a move rewrites all pending keys. Earlier moves occur only while no
/// key is pending.
const REBASE_INTERVAL_PS: u64 = OFFSET_END / 2;

/// Index of the first rarely used queue: the last lane, the alarm and the heap. Their smallest key is cached, for comparison with the heads of the
/// other lanes.
const FIRST_RARE: usize = LANES - 1;

/// An event in the queue. Its kind selects the handler, and its number is below [`NUMBERS`].
pub trait Queued: Copy {
    fn parts(self) -> (u8, u32);
    /// Builds the next event of `kind`. Calls `take` once with the lane on which events of this kind are scheduled; `take` dequeues the event and
    /// returns its payload.
    fn of_kind(kind: u8, take: impl FnOnce(usize) -> u32) -> Self;
}

#[derive(Clone, Copy, Debug)]
pub struct DueEvent(u64);

/// An event beyond the range of a key: time in ps, and key without the time.
type Far = (u64, u64);

/// A queue of future events, with the clock.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    now: Time,
    /// Origin of the time offsets in keys, in ps; at most `now`.
    base: u64,
    /// First key of each queue: of the lanes, the alarm and the heap.
    heads: [u64; QUEUES],
    /// Smallest first key of the rarely used queues, from [`FIRST_RARE`] on.
    others: u64,
    /// Smallest key of all queues; [`NEVER`] if no event has a key. Every change updates it, so the next event is known when a handler ends.
    first: u64,
    lanes: [Lane; LANES],
    heap: BinaryHeap<Reverse<u64>>,
    /// Events beyond the range of a key, by lane, in the order of their times.
    far_lanes: [VecDeque<Far>; LANES],
    /// Events beyond the range of a key that have no lane, or are out of order in their lane.
    far: BinaryHeap<Reverse<Far>>,
    event: std::marker::PhantomData<fn() -> E>,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue {
            now: Time::ZERO,
            base: 0,
            heads: [NEVER; QUEUES],
            others: NEVER,
            first: NEVER,
            lanes: std::array::from_fn(|_| Lane::default()),
            heap: BinaryHeap::new(),
            far_lanes: std::array::from_fn(|_| VecDeque::new()),
            far: BinaryHeap::new(),
            event: std::marker::PhantomData,
        }
    }
}

impl<E: Queued> EventQueue<E> {
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Sets the first key of queue `place`, which may be later than the previous one, as after a dequeue.
    #[inline(always)]
    fn set_head(&mut self, place: usize, key: u64) {
        self.heads[place] = key;
        let [a, b, c, d, e, f, g, h] = self.heads;
        if place >= FIRST_RARE {
            self.others = f.min(g).min(h);
        }
        // Pairwise comparison: a sequential one takes twice as long.
        self.first = a.min(b).min(c.min(d)).min(e.min(self.others));
    }

    /// Lowers the first key of queue `place` to `key`, if `key` is earlier, after an event was scheduled.
    #[inline(always)]
    fn add_head(&mut self, place: usize, key: u64) {
        self.heads[place] = self.heads[place].min(key);
        if place >= FIRST_RARE {
            self.others = self.others.min(key);
        }
        // A branch, because it is nearly always predicted: with a branch-free minimum, the CPU would wait for this key before the next event.
        if key < self.first {
            self.first = key;
        }
    }

    #[inline(always)]
    fn time_of(&self, key: u64) -> Time {
        Time::from_ps(self.base + (key >> OFFSET_SHIFT))
    }

    /// Returns the time of the next event; `Time::MAX` if there is none.
    #[inline]
    pub fn next_at(&self) -> Time {
        match self.first {
            NEVER => self.far_at().map_or(Time::MAX, Time::from_ps),
            key => self.time_of(key),
        }
    }

    /// Returns the time in ps of the first event beyond the range of a key; `None` if there is none.
    fn far_at(&self) -> Option<u64> {
        let of_lanes = self.far_lanes.iter().filter_map(VecDeque::front);
        of_lanes.chain(self.far.peek().map(|Reverse(far)| far)).map(|&(at, _)| at).min()
    }

    /// Advances the clock to `at`, for work before all events of that time. No event may be pending before `at`.
    #[inline]
    pub fn advance_to(&mut self, at: Time) {
        debug_assert!(at >= self.now && at <= self.next_at(), "the clock cannot go from {} to {at}", self.now);
        self.now = at;
    }

    /// Schedules `event` for `at`, which must not be in the past.
    ///
    /// `lane` (below [`LANES`], or [`NO_LANE`]) is the lane of events of this kind. It affects the run time, never the order.
    ///
    /// Always inlined. Otherwise the event would be stored in memory in parts and loaded as a whole, which stalls the CPU (failed store-to-load
    /// forwarding).
    #[inline(always)]
    pub fn schedule(&mut self, lane: usize, at: Time, event: E) {
        debug_assert!(at >= self.now, "an event was scheduled for {at}, before now, {}", self.now);
        let offset = at.as_ps() - self.base;
        let (kind, number) = event.parts();
        // Check only kinds without a lane. The numbers of the others are dies or streams, which the configuration bounds.
        assert!(
            lane != NO_LANE || number < NUMBERS,
            "there are 2^24 of the things with which an event of kind {kind} comes"
        );
        if offset >= OFFSET_END {
            return self.schedule_far(lane, at, key_without_time(kind, number, lane));
        }
        self.schedule_key(lane, offset << OFFSET_SHIFT | key_without_time(kind, number, lane));
    }

    /// Schedules `event` as the alarm for `at`, which must not be in the past. Replaces the pending alarm.
    #[inline]
    pub fn set_alarm(&mut self, at: Time, event: E) {
        let offset = at.as_ps() - self.base;
        if offset >= OFFSET_END {
            return self.set_far_alarm(at, event);
        }
        self.set_alarm_at(offset, event);
    }

    #[inline]
    fn set_alarm_at(&mut self, offset: u64, event: E) {
        let (kind, number) = event.parts();
        self.set_head(ALARM, offset << OFFSET_SHIFT | key_without_time(kind, number, ALARM));
    }

    /// Sets an alarm beyond the range of a key. If it stays out of range after a move of the base, it becomes an ordinary event.
    #[cold]
    #[inline(never)]
    fn set_far_alarm(&mut self, at: Time, event: E) {
        self.refresh_base();
        let offset = at.as_ps() - self.base;
        if offset < OFFSET_END {
            return self.set_alarm_at(offset, event);
        }
        self.set_head(ALARM, NEVER);
        self.schedule(NO_LANE, at, event);
    }

    /// Schedules an event by its key. The queue field of the key must be `lane`.
    #[inline(always)]
    fn schedule_key(&mut self, lane: usize, key: u64) {
        if let Some(queue) = self.lanes.get_mut(lane)
            && queue.last <= key
        {
            queue.push(key);
            self.add_head(lane, key);
            return;
        }
        self.schedule_in_heap(key | NO_LANE as u64);
    }

    #[inline(never)]
    fn schedule_in_heap(&mut self, key: u64) {
        self.heap.push(Reverse(key));
        self.add_head(NO_LANE, key);
    }

    /// Schedules an event beyond the range of a key. `rest` is its key without the time.
    #[cold]
    #[inline(never)]
    fn schedule_far(&mut self, lane: usize, at: Time, rest: u64) {
        self.refresh_base();
        let far = (at.as_ps(), rest);
        let offset = at.as_ps() - self.base;
        if offset < OFFSET_END {
            return self.schedule_key(lane, offset << OFFSET_SHIFT | rest);
        }
        match self.far_lanes.get_mut(lane) {
            Some(lane) if lane.back().is_none_or(|&last| last <= far) => lane.push_back(far),
            _ => self.far.push(Reverse(far)),
        }
    }

    /// Moves the base to the current time, if the last move was at least [`REBASE_INTERVAL_PS`] ago.
    fn refresh_base(&mut self) {
        if self.now.as_ps() - self.base >= REBASE_INTERVAL_PS {
            self.move_base(self.now.as_ps());
        }
    }

    /// Sets the base to `base`, at most the time of the first event, and assigns keys to the events that are now in range.
    fn move_base(&mut self, base: u64) {
        // The base moves further than the range of a key only if no key is pending.
        let moved = (base - self.base).min(OFFSET_END) << OFFSET_SHIFT;
        self.base = base;
        for (head, lane) in self.heads.iter_mut().zip(&mut self.lanes) {
            lane.keys.map_in_place(|key| key - moved);
            lane.last = lane.keys.back().copied().unwrap_or_default();
            *head = lane.first_key();
        }
        self.heap = std::mem::take(&mut self.heap).into_iter().map(|Reverse(key)| Reverse(key - moved)).collect();
        if self.heads[ALARM] != NEVER {
            self.heads[ALARM] -= moved;
        }
        self.update_heap_head();
        self.import_near_events();
    }

    /// Assigns keys to the events whose time offset is now below [`OFFSET_END`].
    fn import_near_events(&mut self) {
        let end = self.base + OFFSET_END;
        let key = |(at, rest): Far, base: u64| (at - base) << OFFSET_SHIFT | rest;
        for lane in 0..LANES {
            while let Some(&far) = self.far_lanes[lane].front()
                && far.0 < end
            {
                self.far_lanes[lane].pop_front();
                self.schedule_key(lane, key(far, self.base));
            }
        }
        while let Some(&Reverse(far)) = self.far.peek()
            && far.0 < end
        {
            self.far.pop();
            self.schedule_in_heap(key(far, self.base) | NO_LANE as u64);
        }
    }

    fn update_heap_head(&mut self) {
        self.set_head(NO_LANE, self.heap.peek().map_or(NEVER, |&Reverse(first)| first));
    }

    #[inline]
    #[cfg(feature = "internals")]
    pub fn pop(&mut self) -> Option<E> {
        self.advance().map(|due| self.dequeue(due))
    }

    /// Advances the clock to the next event; `None` if no event is pending. The caller then calls [`dequeue`](Self::dequeue). The calls are separate,
    /// because an event in an `Option` would be copied in parts.
    #[inline(always)]
    pub fn advance(&mut self) -> Option<DueEvent> {
        let key = if self.first == NEVER { self.rebase_to_far()? } else { self.first };
        self.now = self.time_of(key);
        Some(DueEvent(key))
    }

    /// If only events beyond the range of a key are pending, moves the base to the first of them and returns its key; `None` if the queue is empty.
    #[cold]
    #[inline(never)]
    fn rebase_to_far(&mut self) -> Option<u64> {
        let at = self.far_at()?;
        self.move_base(at);
        Some(self.first)
    }

    /// Dequeues the event to which the clock has just advanced.
    ///
    /// The caller dispatches on the kind first, so that the usual lane of the kind is a compile-time constant here.
    #[inline(always)]
    pub fn dequeue(&mut self, DueEvent(key): DueEvent) -> E {
        let place = queue_of(key);
        E::of_kind(kind_of(key), |usual| {
            if place == usual && usual != NO_LANE {
                self.dequeue_from_lane(usual);
            } else {
                self.dequeue_from(place, key);
            }
            number_of(key)
        })
    }

    #[inline(always)]
    fn dequeue_from_lane(&mut self, lane: usize) {
        let next = self.lanes[lane].pop();
        self.set_head(lane, next);
    }

    /// Removes one event with `key` from inside the heap. An earlier event, scheduled after the clock had advanced to this one, is now the head.
    #[cold]
    fn remove_from_heap(&mut self, key: u64) {
        let mut is_removed = false;
        self.heap.retain(|&Reverse(other)| {
            let is_due = other == key && !is_removed;
            is_removed |= is_due;
            !is_due
        });
    }

    #[inline(never)]
    fn dequeue_from(&mut self, place: usize, key: u64) {
        match place {
            ALARM => self.set_head(ALARM, NEVER),
            NO_LANE => {
                match self.heap.peek() {
                    Some(&Reverse(first)) if first == key => {
                        self.heap.pop();
                    }
                    _ => self.remove_from_heap(key),
                }
                self.update_heap_head();
            }
            lane => self.dequeue_from_lane(lane),
        }
    }
}

#[cfg(test)]
mod tests;
