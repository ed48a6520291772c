//! Tests of interfaces between hosts with a constant number of outstanding requests and a drive with a constant service time.

use std::collections::BTreeMap;

use super::*;
use crate::check::Queues;
use crate::config::{InterfaceKind, QueueArbitration, SataTransport};
use crate::units::Rate;

#[derive(Clone, Copy, Debug)]
enum Happens {
    Host(HostEvent),
    Done(RequestId),
}

/// Event queue that also reports each event to the protocol oracle.
struct CheckedEvents {
    due: BTreeMap<(Time, u64), Happens>,
    scheduled: u64,
    oracle: Queues,
}

impl CheckedEvents {
    fn put(&mut self, at: Time, happens: Happens) {
        self.due.insert((at, self.scheduled), happens);
        self.scheduled += 1;
    }
}

impl EventSink for CheckedEvents {
    fn schedule(&mut self, at: Time, event: HostEvent) {
        self.put(at, Happens::Host(event));
    }

    fn schedule_arrival(&mut self, _at: Time) {
        unreachable!("interfaces do not run ahead while an oracle is attached");
    }

    fn notify(&mut self, seen: InterfaceNotice) {
        self.oracle.check_event(seen).expect("the oracle accepts the event");
    }
}

struct Testbed {
    interface: AnyInterface,
    calendar: CheckedEvents,
    service: Time,
    /// Stream of each request, indexed by request id.
    streams: Vec<StreamId>,
    in_drive: usize,
    in_drive_max: usize,
    completed: Vec<usize>,
    completed_at: Vec<Time>,
}

impl Testbed {
    fn new(config: &Config, priorities: &[Priority], service: Time) -> Testbed {
        let kind = config.host.interface;
        // SATA has one queue for all streams.
        let pairs = if kind == InterfaceKind::Sata { &[Priority::Medium] } else { priorities };
        Testbed {
            interface: AnyInterface::new(config, priorities),
            calendar: CheckedEvents { due: BTreeMap::new(), scheduled: 0, oracle: Queues::new(config, pairs) },
            service,
            streams: Vec::new(),
            in_drive: 0,
            in_drive_max: 0,
            completed: vec![0; priorities.len()],
            completed_at: Vec::new(),
        }
    }

    fn issue(&mut self, stream: StreamId, data: Bytes, now: Time) {
        let request = RequestId(self.streams.len() as u32);
        self.streams.push(stream);
        self.calendar.oracle.issued(request, stream).expect("the stream has room");
        self.interface.issue(Command { request, stream, data }, now, &mut self.calendar);
    }

    /// Runs until `count` requests have completed. If `reissues` is true, each completion issues another request.
    fn run(&mut self, count: usize, reissues: bool) {
        while self.completed_at.len() < count {
            let ((now, _), happens) = self.calendar.due.pop_first().expect("requests in flight complete");
            match happens {
                Happens::Host(HostEvent::InDrive(request)) => {
                    self.in_drive += 1;
                    self.in_drive_max = self.in_drive_max.max(self.in_drive);
                    self.calendar.put(now + self.service, Happens::Done(request));
                }
                Happens::Done(request) => {
                    self.in_drive -= 1;
                    let stream = self.streams[request.index()];
                    self.interface.respond(request, stream, now, &mut self.calendar);
                }
                Happens::Host(HostEvent::AtHost(request)) => {
                    let stream = self.streams[request.index()];
                    self.completed[stream.index()] += 1;
                    self.completed_at.push(now);
                    self.calendar.oracle.completed(request);
                    self.interface.consume_completion(stream, now, &mut self.calendar);
                    if reissues {
                        self.issue(stream, Bytes::ZERO, now);
                    }
                }
                Happens::Host(HostEvent::Wake(token)) => self.interface.wake(token, now, &mut self.calendar),
            }
        }
    }
}

/// Returns a configuration in which each message takes one nanosecond per byte (1 GB/s).
fn config(interface: InterfaceKind) -> Config {
    let mut config = Config::default();
    config.host.interface = interface;
    config.host.link_rate = Rate::from_bytes_per_second(1_000_000_000);
    config
}

/// Returns each stream's share of the completions, with 64 requests outstanding per stream and 8 slots in the drive.
fn shares(arbitration: QueueArbitration, priorities: &[Priority]) -> Vec<f64> {
    let mut config = config(InterfaceKind::Nvme);
    config.nvme.arbitration = arbitration;
    config.nvme.commands_max = Some(8);
    let mut bench = Testbed::new(&config, priorities, Time::from_us(20));
    for _ in 0..64 {
        (0..priorities.len()).for_each(|stream| bench.issue(StreamId(stream as u32), Bytes::ZERO, Time::ZERO));
    }
    let count = 14_000;
    bench.run(count, true);
    assert_eq!(bench.in_drive_max, 8);
    bench.completed.iter().map(|&completed| completed as f64 / count as f64).collect()
}

#[test]
fn saturated_queues_share_by_weight() {
    let shares = shares(QueueArbitration::Weighted, &[Priority::Low, Priority::High, Priority::Medium]);
    for (share, expected) in shares.iter().zip([1.0 / 7.0, 4.0 / 7.0, 2.0 / 7.0]) {
        assert!((share / expected - 1.0).abs() < 0.01, "{shares:?}");
    }
}

#[test]
fn urgent_queues_starve_all_others_and_share_among_themselves() {
    let shares = shares(QueueArbitration::Weighted, &[Priority::Urgent, Priority::High, Priority::Urgent]);
    assert!(shares[1] < 0.001, "{shares:?}");
    assert!((shares[0] - shares[2]).abs() < 0.002, "{shares:?}");
}

#[test]
fn queues_that_take_turns_share_evenly_whatever_their_priority() {
    let shares = shares(QueueArbitration::RoundRobin, &[Priority::Urgent, Priority::Low, Priority::High]);
    assert!(shares.iter().all(|share| (share * 3.0 - 1.0).abs() < 0.01), "{shares:?}");
}

/// One queue with a fetch size of 1, so the second command is fetched when the first is done. A doorbell takes 4 ns, a read request 16 ns, an entry
/// 64 ns, a command 1 us.
#[test]
fn a_queue_has_no_more_commands_in_the_drive_than_are_fetched_at_once() {
    let mut config = config(InterfaceKind::Nvme);
    config.nvme.fetch_size = 1;
    let mut bench = Testbed::new(&config, &[Priority::Medium], Time::from_us(1));
    bench.issue(StreamId(0), Bytes::ZERO, Time::ZERO);
    bench.issue(StreamId(0), Bytes::ZERO, Time::ZERO);
    bench.run(2, false);
    // The read request for the second entry (16 ns) is sent before the first completion and delays it.
    let (first, second) = (4 + 16 + 64 + 1000, 16 + 64 + 1000 + 16);
    assert_eq!(bench.completed_at, [Time::from_ns(first + 16 + 16), Time::from_ns(first + second)]);
    assert_eq!(bench.in_drive_max, 1);
}

/// The completion queue has one entry, so the second completion waits for the doorbell of the first.
#[test]
fn a_full_completion_queue_holds_commands_back_until_the_host_says_that_it_has_taken_one() {
    let mut config = config(InterfaceKind::Nvme);
    config.nvme.completion_depth = Some(1);
    config.nvme.doorbell_size = Bytes::new(400);
    let mut bench = Testbed::new(&config, &[Priority::Medium], Time::from_us(1));
    bench.issue(StreamId(0), Bytes::ZERO, Time::ZERO);
    bench.issue(StreamId(0), Bytes::ZERO, Time::ZERO);
    bench.run(2, false);
    // Both submission doorbells (400 ns each) precede the first entry, sent from 800 to 864 ns, and the second, sent until 928 ns.
    let first = 864 + 1000 + 16;
    assert_eq!(bench.completed_at, [Time::from_ns(first), Time::from_ns(first + 400 + 16)]);
    assert_eq!(bench.interface.doorbells(), Doorbells { submission: 2, completion: 2 });
}

#[test]
fn the_data_of_a_write_is_fetched_when_its_entry_is_in_the_drive() {
    let mut bench = Testbed::new(&config(InterfaceKind::Nvme), &[Priority::Medium], Time::from_us(1));
    bench.issue(StreamId(0), Bytes::new(4096), Time::ZERO);
    bench.run(1, false);
    assert_eq!(bench.completed_at, [Time::from_ns(4 + 16 + 64 + 16 + 4096 + 1000 + 16)]);
}

#[test]
fn a_sata_drive_holds_32_commands_of_all_streams() {
    for &transport in SataTransport::ALL {
        let mut config = config(InterfaceKind::Sata);
        config.sata.transport = transport;
        let mut bench = Testbed::new(&config, &[Priority::Medium, Priority::Urgent], Time::from_us(100));
        for _ in 0..40 {
            bench.issue(StreamId(0), Bytes::ZERO, Time::ZERO);
            bench.issue(StreamId(1), Bytes::ZERO, Time::ZERO);
        }
        bench.run(2000, true);
        assert_eq!(bench.in_drive_max, 32, "{transport}");
        // SATA ignores priorities.
        assert!(bench.completed.iter().all(|completed| completed.abs_diff(1000) < 40), "{:?}", bench.completed);
    }
}

/// The adapter takes 5 us per command and per completion, so it is the bottleneck.
#[test]
fn the_adapter_of_sata_bounds_the_commands_in_a_second() {
    for &transport in SataTransport::ALL {
        let mut config = config(InterfaceKind::Sata);
        config.sata.transport = transport;
        config.sata.processing_delay = Time::from_us(5);
        let mut bench = Testbed::new(&config, &[Priority::Medium], Time::from_us(1));
        bench.issue(StreamId(0), Bytes::ZERO, Time::ZERO);
        bench.run(1, false);
        let fetch = if transport == SataTransport::Doorbells { 4 + 16 } else { 0 };
        let one = Time::from_ns(5_000 + fetch + 64 + 1000 + 16 + 5_000);
        assert_eq!(bench.completed_at, [one], "{transport}");

        let mut bench = Testbed::new(&config, &[Priority::Medium], Time::from_us(1));
        (0..20).for_each(|_| bench.issue(StreamId(0), Bytes::ZERO, Time::ZERO));
        bench.run(1000, true);
        let last = bench.completed_at[999];
        assert_eq!(last, one + Time::from_us(5) * 999, "{transport}");
    }
}

#[test]
fn on_the_cable_of_sata_data_of_both_directions_takes_turns() {
    let mut bench = Testbed::new(&config(InterfaceKind::Sata), &[Priority::Medium], Time::from_us(1));
    bench.interface.send_data(Bytes::new(10_000), Time::ZERO);
    bench.issue(StreamId(0), Bytes::new(4096), Time::ZERO);
    bench.run(1, false);
    assert_eq!(bench.completed_at, [Time::from_ns(10_000 + 64 + 4096 + 1000 + 16)]);
}
