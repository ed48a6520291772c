//! Turns that are kept for events whose time is not known yet, and the event that comes last at its time.

use std::cmp::Reverse;
use std::collections::VecDeque;

use crate::units::Time;

use super::super::key::{KIND_BITS, NEXT_ORDER, NO_LANE, OFFSET_END, OFFSET_SHIFT, ORDER_BITS, PLACE_BITS};
use super::super::scheduled::Far;
use super::{EventQueue, Queued};

/// The last order of a key.
const LAST_ORDER: u64 = ((1 << ORDER_BITS) - 1) * NEXT_ORDER;

/// The order of an event too far ahead that comes last at its time.
const LAST_FAR_ORDER: u64 = u64::MAX;

/// The turn of an event that was to be scheduled when the turn was kept.
///
/// Which order that event would have depends on its time: a key from the beginning, one since the base moved so far that it got one, or none yet.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    number: usize,
    /// Its order, at its place in a key, of an event before each time in ps; the times rise.
    orders: Vec<(u64, u64)>,
    /// Its order among events too far ahead.
    far_order: u64,
}

/// Whether an event of this key has no turn, but comes last.
pub(super) fn comes_last<E: Queued>(key: u64) -> bool {
    E::comes_last((key >> PLACE_BITS) as u8 & ((1 << KIND_BITS) - 1))
}

impl<E: Queued> EventQueue<E> {
    /// Keeps the turn of an event that would be scheduled now if its time were known, under `number`, for which none is kept.
    pub fn keep_turn(&mut self, number: usize) {
        debug_assert!(self.turns.iter().all(|turn| turn.number != number), "the turn {number} is kept already");
        self.make_room();
        let orders = vec![(self.base + OFFSET_END, self.order)];
        self.turns.push(Turn { number, orders, far_order: self.far_order });
        self.order += NEXT_ORDER;
        self.far_order += 1;
    }

    /// Schedules `event` for `at`, which must not lie in the past, as if that had been done when the turn `number` was kept.
    pub fn schedule_in_turn(&mut self, number: usize, at: Time, event: E) {
        debug_assert!(at >= self.now, "an event was scheduled for {at}, before now, {}", self.now);
        let place = self.turns.iter().position(|turn| turn.number == number).expect("the turn is kept");
        let turn = self.turns.swap_remove(place);
        match turn.orders.iter().find(|&&(until, _)| at.as_ps() < until) {
            Some(&(_, order)) => self.schedule_by_order(at.as_ps() - self.base, order, event),
            None => self.far.push(Reverse(Far { at: at.as_ps(), order: turn.far_order, event })),
        }
    }

    /// Schedules `event` for `at`, which must not lie in the past, behind all events of that time, those that are scheduled later included. Its
    /// kind is one that [comes last](Queued::comes_last).
    pub fn schedule_last(&mut self, at: Time, event: E) {
        debug_assert!(at >= self.now && E::comes_last(event.parts().0));
        self.make_room();
        let offset = at.as_ps() - self.base;
        if offset < OFFSET_END {
            self.schedule_by_order(offset, LAST_ORDER, event);
        } else {
            self.far.push(Reverse(Far { at: at.as_ps(), order: LAST_FAR_ORDER, event }));
        }
    }

    fn schedule_by_order(&mut self, offset: u64, order: u64, event: E) {
        let (kind, number) = event.parts();
        let key = offset << OFFSET_SHIFT | order | u64::from(kind) << PLACE_BITS | NO_LANE as u64;
        self.schedule_in_heap(key, number);
    }

    /// The base has moved: what is no longer too far ahead gets its key, in the order of scheduling. All of that comes after what had a key before,
    /// and before what will get one.
    ///
    /// Lanes are in that order already, and are merged: with a deep queue most events wait here first, more of them than a cache holds.
    pub(super) fn take_near(&mut self) {
        let end = self.base + OFFSET_END;
        let mut turns = std::mem::take(&mut self.turns);
        turns.sort_unstable_by_key(|turn| turn.far_order);
        let mut kept = turns.iter_mut().peekable();
        let mut others = self.near_of_heap(end);
        while let Some((lane, until)) = self.next_near(&others, end) {
            while let Some(far) = self.far_lanes.get(lane).unwrap_or(&others).front().copied()
                && far.at < end
                && far.order <= until
            {
                self.far_lanes.get_mut(lane).unwrap_or(&mut others).pop_front();
                while let Some(turn) = kept.next_if(|turn| turn.far_order < far.order) {
                    self.extend(turn, end);
                }
                let offset = far.at - self.base;
                if far.order == LAST_FAR_ORDER {
                    self.schedule_by_order(offset, LAST_ORDER, far.event);
                } else {
                    self.schedule_at(lane, offset, far.event);
                }
            }
        }
        kept.for_each(|turn| self.extend(turn, end));
        self.turns = turns;
    }

    /// Takes the events of no lane before `end`, in the order of scheduling.
    fn near_of_heap(&mut self, end: u64) -> VecDeque<Far<E>> {
        let mut near = Vec::new();
        while let Some(Reverse(far)) = self.far.peek()
            && far.at < end
        {
            near.push(*far);
            self.far.pop();
        }
        near.sort_by_key(|far| far.order);
        near.into()
    }

    /// The lane whose first event before `end` was scheduled first, [`NO_LANE`] for that of `others`; and when the next one was that is first
    /// elsewhere.
    fn next_near(&self, others: &VecDeque<Far<E>>, end: u64) -> Option<(usize, u64)> {
        let (mut first, mut until) = (None, u64::MAX);
        let of_lanes = self.far_lanes.iter().enumerate();
        for (lane, waiting) in of_lanes.chain([(NO_LANE, others)]) {
            let Some(far) = waiting.front().filter(|far| far.at < end) else { continue };
            match first {
                Some((order, _)) if order <= far.order => until = until.min(far.order),
                _ => {
                    until = first.map_or(until, |(order, _)| order);
                    first = Some((far.order, lane));
                }
            }
        }
        first.map(|(_, lane)| (lane, until))
    }

    /// Gives a turn its order for events before `end` that were too far ahead.
    fn extend(&mut self, turn: &mut Turn, end: u64) {
        turn.orders.retain(|&(until, _)| until > self.now.as_ps());
        if turn.orders.last().is_none_or(|&(until, _)| until < end) {
            turn.orders.push((end, self.order));
            self.order += NEXT_ORDER;
        }
    }
}

impl Turn {
    pub fn orders(&self) -> impl Iterator<Item = u64> {
        self.orders.iter().map(|&(_, order)| order)
    }

    pub fn replace_orders(&mut self, other: impl Fn(u64) -> u64) {
        self.orders.iter_mut().for_each(|(_, order)| *order = other(*order));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::key::{KINDS, LANES};
    use super::*;
    use proptest::prelude::*;

    /// An event of the tests: its number, and whether it comes last.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Told(u32);

    const LAST: u8 = KINDS as u8 - 1;

    impl Queued for Told {
        fn parts(self) -> (u8, u32) {
            (if self.0 >= 1_000_000 { LAST } else { (self.0 % 7) as u8 }, self.0)
        }

        fn of_kind(kind: u8, take: impl FnOnce(usize) -> u32) -> Told {
            Told(take(usize::from(kind) % (LANES + 2)))
        }

        fn comes_last(kind: u8) -> bool {
            kind == LAST
        }
    }

    /// What a step does, after so many events were taken.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Schedule,
        Keep,
        InTurn,
        Last,
    }

    fn compare(first_order: u64, steps: &[(Step, u64, usize)]) {
        let mut queue = EventQueue { order: first_order * NEXT_ORDER, ..EventQueue::default() };
        // The events to come, by time and then by when they were, or would have been, scheduled.
        let mut listed: Vec<(u64, u64, u32)> = Vec::new();
        let mut kept: Vec<(usize, u64)> = Vec::new();
        let take = |queue: &mut EventQueue<Told>, listed: &mut Vec<(u64, u64, u32)>| {
            listed.sort_unstable();
            let first = if listed.is_empty() { None } else { Some(listed.remove(0)) };
            assert_eq!(queue.next_at(), first.map_or(Time::MAX, |(at, ..)| Time::from_ps(at)));
            assert_eq!(queue.pop(), first.map(|(_, _, event)| Told(event)));
        };
        for (event, &(step, delay, taken)) in (0u32..).zip(steps) {
            (0..taken).for_each(|_| take(&mut queue, &mut listed));
            let (at, scheduled) = (queue.now().as_ps() + delay, u64::from(event));
            let time = Time::from_ps(at);
            match step {
                Step::Schedule => {
                    queue.schedule(event as usize % (LANES + 2) % LANES, time, Told(event));
                    listed.push((at, scheduled, event));
                }
                Step::Keep => {
                    queue.keep_turn(event as usize);
                    kept.push((event as usize, scheduled));
                }
                Step::InTurn => {
                    let Some((number, scheduled)) = (!kept.is_empty()).then(|| kept.remove(kept.len() / 2)) else {
                        continue;
                    };
                    queue.schedule_in_turn(number, time, Told(event));
                    listed.push((at, scheduled, event));
                }
                Step::Last => {
                    if listed.iter().any(|&(other, _, event)| other == at && event >= 1_000_000) {
                        continue;
                    }
                    queue.schedule_last(time, Told(1_000_000 + event));
                    listed.push((at, u64::MAX, 1_000_000 + event));
                }
            }
        }
        while !listed.is_empty() {
            take(&mut queue, &mut listed);
        }
        assert_eq!(queue.pop(), None);
    }

    fn steps() -> impl Strategy<Value = Vec<(Step, u64, usize)>> {
        let step = prop_oneof![
            4 => Just(Step::Schedule),
            2 => Just(Step::Keep),
            2 => Just(Step::InTurn),
            1 => Just(Step::Last)
        ];
        let near = prop_oneof![8 => 0..4u64, 2 => 0..40u64];
        // Around the end of what a key can say, and the times at which the base moves.
        let far =
            prop_oneof![OFFSET_END - 3..OFFSET_END + 3, OFFSET_END / 2 - 2..OFFSET_END / 2 + 2, 0..OFFSET_END * 3];
        prop::collection::vec((step, prop_oneof![4 => near, 1 => far], 0..3usize), 1..300)
    }

    proptest! {
        #[test]
        fn an_event_in_a_kept_turn_comes_as_if_it_had_been_scheduled_then(steps in steps()) {
            compare(0, &steps);
        }

        #[test]
        fn kept_turns_stay_when_keys_have_to_be_numbered_anew(left in 0..200u64, steps in steps()) {
            compare((1 << ORDER_BITS) - left, &steps);
        }
    }
}
