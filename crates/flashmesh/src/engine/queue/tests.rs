use super::super::key::{OFFSET_BITS, ORDER_BITS};
use super::*;
use proptest::prelude::*;

impl Queued for u32 {
    fn parts(self) -> (u8, u32) {
        ((self % 32) as u8, self)
    }

    fn of_kind(kind: u8, take: impl FnOnce(usize) -> u32) -> u32 {
        let number = take(usize::from(kind) % (LANES + 2));
        assert_eq!(number.parts(), (kind, number));
        number
    }
}

/// Runs `steps`, each of which schedules an event so long after now, in that lane or as the alarm, after taking so many; compares with a
/// list that is searched for the earliest, and of those for the one scheduled first.
fn compare(first_order: u64, steps: &[(u64, usize, usize)]) {
    let mut queue = EventQueue { order: first_order * NEXT_ORDER, ..EventQueue::default() };
    let mut listed: Vec<(u64, u32)> = Vec::new();
    // What the alarm was set to since it last rang, and to which of that it is set.
    let mut alarms: Vec<(u64, u32)> = Vec::new();
    let mut set = None;
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
        let rang = |set: &(u64, u32)| !listed.contains(set);
        if set.is_some_and(|set| rang(&set)) {
            let (last, _) = set.take().expect("it was set");
            alarms.retain(|&(at, _)| at > last);
        }
        if lane != ALARM {
            let at = queue.now().as_ps() + delay;
            queue.schedule(lane, Time::from_ps(at), event);
            listed.push((at, event));
            continue;
        }
        // Alarms far ahead come as other events do, as well as those for now.
        let at = queue.now().as_ps() + delay.min(5_000);
        queue.set_alarm(Time::from_ps(at), event);
        if let Some(set) = set.take() {
            listed.retain(|&other| other != set);
        }
        if delay == 0 {
            listed.push((at, event));
            continue;
        }
        let before = alarms.iter().copied().find(|&(other, _)| other == at);
        let alarm = before.unwrap_or_else(|| {
            alarms.push((at, event));
            (at, event)
        });
        listed.push(alarm);
        set = Some(alarm);
    }
    while !listed.is_empty() {
        take(&mut queue, &mut listed);
    }
    assert_eq!((queue.pop(), queue.next_at()), (None, Time::MAX));
}

fn steps() -> impl Strategy<Value = Vec<(u64, usize, usize)>> {
    // Mostly short delays with many ties, and events that wait while many others pass.
    let near = prop_oneof![8 => 0..8u64, 4 => 0..40u64, 1 => 0..5_000u64, 1 => Just(3_000u64)];
    // Some lie beyond what a key can say, or at the edge of it, or make the base move.
    let far = prop_oneof![OFFSET_END - 3..OFFSET_END + 3, Just(BASE_STAYS_PS), 0..OFFSET_END * 8];
    let delay = prop_oneof![12 => near, 1 => far];
    prop::collection::vec((delay, 0..=NO_LANE, 0..3usize), 1..400)
}

proptest! {
    #[test]
    fn events_come_by_time_and_ties_by_the_order_of_scheduling_whatever_their_lane(steps in steps()) {
        compare(0, &steps);
    }

    #[test]
    fn the_order_stays_when_keys_have_to_be_numbered_anew(left in 0..300u64, steps in steps()) {
        compare((1 << ORDER_BITS) - left, &steps);
    }
}

#[test]
fn what_the_alarm_was_set_to_is_forgotten_when_the_base_moves_further_than_a_key_can_say() {
    const FAR: u64 = 1 << OFFSET_BITS;
    let mut queue = EventQueue::default();
    queue.schedule(0, Time::from_ps(FAR), 0);
    queue.set_alarm(Time::from_ps(31), 1);
    queue.set_alarm(Time::ZERO, 2);
    assert_eq!((queue.pop(), queue.pop()), (Some(2), Some(0)));
    queue.set_alarm(Time::from_ps(FAR + 31), 3);
    assert_eq!((queue.pop(), queue.now()), (Some(3), Time::from_ps(FAR + 31)));
}

#[test]
fn events_of_one_delay_keep_their_order_when_all_numbers_of_keys_are_used_up() {
    const EVENTS: u32 = (1 << ORDER_BITS) + 1_000_000;
    let mut queue = EventQueue::default();
    // The next event of each of two delays: that of every fourth event, and that of the others.
    let (mut fourth, mut other) = (0, 1);
    let mut check = |event: u32| {
        if event.is_multiple_of(4) {
            assert_eq!(event, fourth);
            fourth += 4;
        } else {
            assert_eq!(event, other);
            other += if event % 4 == 3 { 2 } else { 1 };
        }
    };
    for event in 0..EVENTS {
        let (lane, delay) = if event.is_multiple_of(4) { (NO_LANE, 3) } else { (1, 7) };
        queue.schedule(lane, queue.now() + Time::from_ps(delay), event);
        if event >= 64 {
            check(queue.pop().expect("64 events wait"));
        }
    }
    while let Some(event) = queue.pop() {
        check(event);
    }
    assert_eq!((fourth, other), (EVENTS, EVENTS + 1));
}

#[test]
#[should_panic(expected = "before now")]
fn an_event_in_the_past_is_a_bug() {
    let mut queue = EventQueue::default();
    queue.schedule(0, Time::from_ps(5), 0);
    queue.pop();
    queue.schedule(0, Time::from_ps(4), 0);
}
