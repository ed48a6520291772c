use super::key::OFFSET_BITS;
use super::*;
use proptest::prelude::*;

/// Numbers as test events. The low five bits of a number are the kind of the event.
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

/// Reference model of the event queue: an unsorted list of pending events.
#[derive(Default)]
struct Listed {
    events: Vec<(u64, u32)>,
    /// Pending alarm: time in ps and event.
    alarm: Option<(u64, u32)>,
}

impl Listed {
    fn first(&self) -> Option<(u64, u32)> {
        self.events.iter().chain(&self.alarm).copied().min_by_key(|&(at, event)| (at, event.parts()))
    }

    fn take(&mut self) -> Option<(u64, u32)> {
        let first = self.first()?;
        match self.events.iter().position(|&other| other == first) {
            Some(place) => drop(self.events.swap_remove(place)),
            None => self.alarm = None,
        }
        Some(first)
    }
}

/// Kind of the alarm. No other event has this kind, as in a drive, so an alarm never ties with an event.
const ALARM_KIND: u32 = 31;

/// Step of a test: number of the event to schedule, delay from now in ps, lane or alarm, and number of events to dequeue first.
type Step = (u32, u64, usize, usize);

fn compare(steps: &[Step]) {
    let mut queue = EventQueue::default();
    let mut listed = Listed::default();
    let take = |queue: &mut EventQueue<u32>, listed: &mut Listed| {
        assert_eq!(queue.next_at(), listed.first().map_or(Time::MAX, |(at, _)| Time::from_ps(at)));
        let first = listed.take();
        assert_eq!(queue.pop(), first.map(|(_, event)| event));
        if let Some((at, _)) = first {
            assert_eq!(queue.now(), Time::from_ps(at));
        }
    };
    for &(event, delay, lane, taken) in steps {
        (0..taken).for_each(|_| take(&mut queue, &mut listed));
        if lane == ALARM {
            // An alarm beyond the time range of a key would become an ordinary event.
            let at = queue.now().as_ps() + delay.min(5_000);
            let event = event / 32 * 32 + ALARM_KIND;
            queue.set_alarm(Time::from_ps(at), event);
            listed.alarm = Some((at, event));
        } else {
            let at = queue.now().as_ps() + delay;
            let event = event - u32::from(event % 32 == ALARM_KIND);
            queue.schedule(lane, Time::from_ps(at), event);
            listed.events.push((at, event));
        }
    }
    while listed.first().is_some() {
        take(&mut queue, &mut listed);
    }
    assert_eq!((queue.pop(), queue.next_at()), (None, Time::MAX));
}

fn delays() -> impl Strategy<Value = u64> {
    // Most delays are short, with many ties. Some events stay pending while many others are dequeued.
    let near = prop_oneof![8 => 0..8u64, 4 => 0..40u64, 1 => 0..5_000u64, 1 => Just(3_000u64)];
    // Some delays are at the edge of the time range of a key or beyond it, or move the base time of the keys.
    let far = prop_oneof![OFFSET_END - 3..OFFSET_END + 3, Just(REBASE_INTERVAL_PS), 0..OFFSET_END * 8];
    prop_oneof![12 => near, 1 => far]
}

fn steps(delays: impl Strategy<Value = u64>) -> impl Strategy<Value = Vec<Step>> {
    let event = prop_oneof![0..200u32, NUMBERS - 40..NUMBERS];
    prop::collection::vec((event, delays, 0..=NO_LANE, 0..3usize), 1..400)
}

proptest! {
    #[test]
    fn events_are_dequeued_by_time_then_kind_then_number_in_any_lane(steps in steps(delays())) {
        compare(&steps);
    }

    #[test]
    fn the_order_of_scheduling_does_not_change_the_order_of_simultaneous_events(
        events in prop::collection::vec((0..500u32, 0..NO_LANE), 1..60),
        order in any::<prop::sample::Index>(),
    ) {
        let drawn = |events: &[(u32, usize)]| {
            let mut queue = EventQueue::default();
            for &(event, lane) in events {
                queue.schedule(if lane == ALARM { NO_LANE } else { lane }, Time::from_ps(7), event);
            }
            std::iter::from_fn(|| queue.pop()).collect::<Vec<u32>>()
        };
        let mut others = events.clone();
        others.rotate_left(order.index(events.len()));
        others.reverse();
        prop_assert_eq!(drawn(&events), drawn(&others));
    }
}

#[test]
fn a_rescheduled_alarm_does_not_fire_at_its_former_time() {
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
#[should_panic(expected = "before now")]
fn an_event_in_the_past_is_a_bug() {
    let mut queue = EventQueue::default();
    queue.schedule(0, Time::from_ps(5), 0);
    queue.pop();
    queue.schedule(0, Time::from_ps(4), 0);
}

#[test]
#[should_panic(expected = "2^24")]
fn a_number_too_large_for_a_key_is_a_bug() {
    EventQueue::default().schedule(NO_LANE, Time::from_ps(5), NUMBERS);
}

/// When the clock has advanced to an event, but the event is still queued, a caller may schedule one that sorts before it.
#[test]
fn the_due_event_leaves_the_queue_although_an_earlier_one_was_scheduled_since() {
    let mut queue: EventQueue<u32> = EventQueue::default();
    queue.schedule(NO_LANE, Time::from_ns(5), 7);
    queue.schedule(NO_LANE, Time::from_ns(9), 8);
    let due = queue.advance().expect("two events are pending");
    queue.schedule(NO_LANE, Time::from_ns(5), 3);
    assert_eq!(queue.dequeue(due), 7);
    assert_eq!([queue.pop(), queue.pop(), queue.pop()], [Some(3), Some(8), None]);
}
