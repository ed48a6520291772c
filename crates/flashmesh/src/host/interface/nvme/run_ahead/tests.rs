//! Compares run-ahead mode with a drive in which every message is an event: the outcomes must be equal.

use std::collections::{BTreeSet, VecDeque};

use proptest::prelude::*;

use crate::config::{Config, Priority, QueueArbitration};
use crate::host::interface::{Command, Doorbells, EventSink, HostEvent, Interface, InterfaceNotice, Nvme, WakeReason};
use crate::host::link::Direction;
use crate::ids::{RequestId, StreamId};
use crate::random_cases::cases;
use crate::units::{Bytes, Rate, Time};

/// Kinds of events, in the order in which a drive processes events of equal time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happens {
    CompletionDoorbell(u32),
    Done(u32),
    SubmissionDoorbell(u32),
    EntryArrived,
    InDrive(u32),
    EntryRead,
    DataRead,
    AtHost(u32),
}

/// Pending events. `alarm` is the arrival event, which can be rescheduled.
#[derive(Default)]
struct Agenda {
    due: BTreeSet<(Time, Happens, u64)>,
    scheduled: u64,
    alarm: Option<Time>,
    /// Requests in transit to the drive, in order, because [`Happens::InDrive`] does not name its request.
    to_drive: VecDeque<u32>,
}

impl Agenda {
    fn put(&mut self, at: Time, happens: Happens) {
        self.due.insert((at, happens, self.scheduled));
        self.scheduled += 1;
    }
}

impl EventSink for Agenda {
    fn schedule(&mut self, at: Time, event: HostEvent) {
        let happens = match event {
            HostEvent::InDrive(request) => {
                self.to_drive.push_back(request.0);
                Happens::InDrive(0)
            }
            HostEvent::AtHost(request) => Happens::AtHost(request.0),
            HostEvent::Wake(WakeReason::SubmissionDoorbell(stream)) => Happens::SubmissionDoorbell(stream.0),
            HostEvent::Wake(WakeReason::CompletionDoorbell(stream)) => Happens::CompletionDoorbell(stream.0),
            HostEvent::Wake(WakeReason::EntryRead) => Happens::EntryRead,
            HostEvent::Wake(WakeReason::EntryArrived) => Happens::EntryArrived,
            HostEvent::Wake(WakeReason::DataRead) => Happens::DataRead,
            HostEvent::Wake(WakeReason::AdapterIssue) => unreachable!("that is an event of SATA"),
        };
        self.put(at, happens);
    }

    fn schedule_arrival(&mut self, at: Time) {
        self.alarm = Some(at);
    }

    fn notify(&mut self, _seen: InterfaceNotice) {}
}

/// Load of the drive: streams with a constant number of outstanding requests.
#[derive(Clone, Debug)]
struct Load {
    priorities: Vec<Priority>,
    outstanding: u32,
    requests: u32,
    /// Write interval: requests 0, `writes_in`, 2 `writes_in`, ... are writes.
    writes_in: u32,
    sizes: Vec<u64>,
    services_ns: Vec<u64>,
}

impl Load {
    fn command(&self, number: u32, stream: StreamId) -> Command {
        let size = self.sizes[number as usize % self.sizes.len()];
        let data = if number.is_multiple_of(self.writes_in) { Bytes::new(size) } else { Bytes::ZERO };
        Command { request: RequestId(number), stream, data }
    }
}

/// The steps of a command that are simulated as events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Events {
    Messages,
    /// Arrivals of commands at the drive and of completions at the host.
    Requests,
    /// In reactive mode (the host answers each completion with at most one command) only command arrivals, afterwards like [`Events::Requests`].
    Arrivals,
}

/// Observable behaviour, which must be equal in all modes.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    /// Arrival times of commands at the drive and of completions at the host.
    passed: Vec<(Happens, Time)>,
    carried: [Bytes; 2],
    busy: [Time; 2],
    doorbells: Doorbells,
    /// Bytes sent to the drive by the time of each completion.
    looked_at: Vec<Bytes>,
    events: usize,
}

fn run(config: &Config, load: &Load, events: Events) -> Outcome {
    let mut nvme = Nvme::new(config, &load.priorities);
    if events != Events::Messages {
        nvme.run_ahead();
    }
    let ahead = nvme.is_ahead();
    let mut is_reactive = events == Events::Arrivals && nvme.begin_reactive(load.outstanding);
    let mut agenda = Agenda::default();
    let mut outcome = Outcome::default();
    let mut commands: Vec<Command> = Vec::new();
    let issue = |nvme: &mut Nvme, commands: &mut Vec<Command>, agenda: &mut Agenda, stream, now| {
        let number = commands.len() as u32;
        if number < load.requests {
            commands.push(load.command(number, stream));
            nvme.issue(commands[number as usize], now, agenda);
        }
    };
    for _ in 0..load.outstanding {
        for stream in 0..load.priorities.len() as u32 {
            issue(&mut nvme, &mut commands, &mut agenda, StreamId(stream), Time::ZERO);
        }
    }
    let mut now = Time::ZERO;
    loop {
        let next = agenda.due.first().map(|&(at, happens, _)| (at, happens));
        let arrival = agenda.alarm.map(|at| (at, Happens::InDrive(0)));
        let Some((at, happens)) = next.into_iter().chain(arrival).min() else { break };
        now = at;
        outcome.events += 1;
        if Some((at, happens)) == next {
            agenda.due.pop_first();
        } else {
            agenda.alarm = None;
        }
        match happens {
            Happens::InDrive(_) => {
                let arrived = if ahead {
                    nvme.arrived(now, &mut agenda).map(|request| request.0)
                } else {
                    agenda.to_drive.pop_front()
                };
                let Some(number) = arrived else { continue };
                outcome.passed.push((Happens::InDrive(number), now));
                let service = load.services_ns[number as usize % load.services_ns.len()];
                agenda.put(now + Time::from_ns(service), Happens::Done(number));
            }
            Happens::Done(number) => {
                let command = commands[number as usize];
                if command.data == Bytes::ZERO {
                    nvme.send_data(Bytes::new(load.sizes[number as usize % load.sizes.len()]), now);
                }
                if !is_reactive {
                    nvme.respond(command.request, command.stream, now, &mut agenda);
                    continue;
                }
                let at =
                    nvme.complete(command.request, command.stream, now, &mut agenda).expect("there is room for it");
                let next = commands.len() as u32;
                if next < load.requests {
                    outcome.passed.push((Happens::AtHost(number), at));
                    commands.push(load.command(next, command.stream));
                    nvme.issue_on_completion(commands[next as usize], at, &mut agenda);
                } else {
                    is_reactive = false;
                    nvme.end_reactive(command.stream);
                    agenda.put(at, Happens::AtHost(number));
                }
            }
            Happens::AtHost(number) => {
                nvme.catch_up_before(now);
                outcome.looked_at.push(nvme.link().carried(Direction::ToDrive));
                outcome.passed.push((happens, now));
                let stream = commands[number as usize].stream;
                nvme.consume_completion(stream, now, &mut agenda);
                issue(&mut nvme, &mut commands, &mut agenda, stream, now);
            }
            Happens::SubmissionDoorbell(stream) => {
                nvme.wake(WakeReason::SubmissionDoorbell(StreamId(stream)), now, &mut agenda)
            }
            Happens::CompletionDoorbell(stream) => {
                nvme.wake(WakeReason::CompletionDoorbell(StreamId(stream)), now, &mut agenda)
            }
            Happens::EntryArrived => nvme.wake(WakeReason::EntryArrived, now, &mut agenda),
            Happens::EntryRead => nvme.wake(WakeReason::EntryRead, now, &mut agenda),
            Happens::DataRead => nvme.wake(WakeReason::DataRead, now, &mut agenda),
        }
    }
    let directions = [Direction::ToDrive, Direction::ToHost];
    outcome.carried = directions.map(|direction| nvme.link().carried(direction));
    outcome.busy = directions.map(|direction| nvme.link().busy(direction, now));
    outcome.doorbells = nvme.doorbells();
    outcome.passed.sort_by_key(|&(happens, at)| (at, happens));
    outcome
}

fn load() -> impl Strategy<Value = Load> {
    let priority = prop::sample::select(Priority::ALL);
    (
        prop::collection::vec(priority, 1..4),
        1..20u32,
        1..200u32,
        1..5u32,
        prop::collection::vec(1..5000u64, 1..5),
        prop::collection::vec(1..4000u64, 1..5),
    )
        .prop_map(|(priorities, outstanding, requests, writes_in, sizes, services_ns)| Load {
            priorities,
            outstanding,
            requests,
            writes_in,
            sizes,
            services_ns,
        })
}

fn config() -> impl Strategy<Value = Config> {
    let limit = |max: u32| prop::option::of(1..max);
    (1..12u32, limit(12), limit(6), any::<bool>(), 1..3u32, 1..400u64, prop::collection::vec(1..90u64, 4)).prop_map(
        |(fetch_size, commands_max, completion_depth, is_weighted, burst, nanoseconds, sizes)| {
            let mut config = Config::default();
            let nvme = &mut config.nvme;
            (nvme.fetch_size, nvme.commands_max, nvme.completion_depth) = (fetch_size, commands_max, completion_depth);
            nvme.arbitration = if is_weighted { QueueArbitration::Weighted } else { QueueArbitration::RoundRobin };
            nvme.arbitration_burst = burst;
            (nvme.doorbell_size, nvme.read_request_size) = (Bytes::new(sizes[0]), Bytes::new(sizes[1]));
            config.host.submission_size = Bytes::new(sizes[2]);
            config.host.completion_size = Bytes::new(sizes[3]);
            config.host.link_rate = Rate::from_bytes_per_second(nanoseconds * 100_000_000);
            config
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2_000)))]

    #[test]
    fn commands_pass_when_they_would_if_each_message_were_an_event(config in config(), load in load()) {
        let by_events = run(&config, &load, Events::Messages);
        prop_assert_eq!(by_events.passed.len(), 2 * load.requests as usize);
        for events in [Events::Requests, Events::Arrivals] {
            let mut ahead = run(&config, &load, events);
            // With `Arrivals`, completion events exist only after the end of reactive mode, so the run records only the last of the values that the
            // run with all events records.
            prop_assert!(by_events.looked_at.ends_with(&ahead.looked_at));
            prop_assert!(events == Events::Arrivals || ahead.looked_at.len() == by_events.looked_at.len());
            ahead.looked_at.clone_from(&by_events.looked_at);
            prop_assert_eq!(&by_events, &Outcome { events: by_events.events, ..ahead });
        }
    }
}

/// One request at a time. With every message as an event, a read has 5 events (doorbell, read request, arrival, end of service, completion), a write
/// 7 (also the arrival of its entry, and the request for its data).
#[test]
fn a_command_on_an_idle_link_is_one_event_until_it_is_in_the_drive() {
    let requests = 101;
    for (writes_in, by_messages) in [(1, 7), (u32::MAX, 5)] {
        let load = Load {
            priorities: vec![Priority::Medium],
            outstanding: 1,
            requests,
            writes_in,
            sizes: vec![4096],
            services_ns: vec![1000],
        };
        let config = Config::default();
        let events = |events| run(&config, &load, events).events as u32;
        // Request 0 is a write even in a load of reads, and has two more events.
        assert_eq!(events(Events::Messages), requests * by_messages + if writes_in == 1 { 0 } else { 2 });
        // Per request: its arrival, the end of its service, and its completion.
        assert_eq!(events(Events::Requests), requests * 3);
        // Per request: its arrival and the end of its service. The last completion ends reactive mode and is an event as well.
        assert_eq!(events(Events::Arrivals), requests * 2 + 1);
    }
}
