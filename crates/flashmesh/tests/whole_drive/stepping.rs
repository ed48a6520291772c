//! Stepped drives: the caller submits requests and advances the time. The results equal those of an ordinary run of the same requests, whatever the
//! steps, and also after a restore.
//!
//! `FLASHMESH_STEP_CASES` sets the number of random drives.

use std::collections::BTreeMap;

use flashmesh::config::{Config, ReplayMode};
use flashmesh::engine::random::SimRng;
use flashmesh::error::{RunError, StepError};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::stepping::{Completion, Drive, Submission};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::source::WorkloadSource;
use flashmesh::workload::{IoRequest, RequestKind};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as Runner, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use crate::support::arbitrary;
use crate::support::cases::cases;
use crate::support::drives::{Kept, Listed, bare_drive, config_of, read};

const CASES: u32 = 500;

fn drives() -> u64 {
    std::env::var("FLASHMESH_STEP_CASES")
        .map_or(cases(CASES).into(), |text| text.parse().expect("FLASHMESH_STEP_CASES is a number"))
}

/// Returns the report without the fields that depend on wall-clock time and on the machine.
fn simulated(report: &flashmesh::measure::report::Report) -> Value {
    let mut report = report.to_json();
    let fields = report.as_object_mut().expect("a report is an object");
    for key in ["wall_s", "requests_per_wall_s", "peak_rss_bytes"] {
        fields.remove(key).expect("the report has the fields of the machine");
    }
    report
}

fn assert_same(expected: &Value, found: &Value, what: &str) {
    for (key, value) in expected.as_object().expect("a report is an object") {
        assert_eq!(Some(value), found.get(key), "{what}: {key}");
    }
    assert_eq!(expected, found, "{what}");
}

/// Results of a run, with which a stepped drive is compared.
struct Expected {
    report: Value,
    /// Completion time and latency of each request, by stream and number in the stream.
    completed: BTreeMap<(usize, u64), (Time, Time)>,
}

/// Runs the requests of each stream. Returns the report and the completions, which are empty if the power is cut.
fn expected(config: &Config, requests: &[Vec<IoRequest>]) -> Expected {
    let sources = requests.iter().map(|of| Box::new(Listed(of.iter().copied().collect())) as Box<dyn WorkloadSource>);
    let mut simulation = Simulation::with_sources(config, sources.collect()).expect("the drive can be built");
    let kept = Kept::default();
    simulation.set_request_sink(Box::new(kept.clone()));
    let report = simulation.run(&Control::default()).unwrap_or_else(|error| panic!("{error}\n{}", config.to_toml()));
    let mut records = kept.0.lock().expect("no other thread panicked").clone();
    records.sort_by_key(|record| record.id);
    let mut issued = vec![0; requests.len()];
    let completed = records.iter().filter(|_| config.power.cut.is_none()).map(|record| {
        let stream = record.issuer.0 as usize;
        issued[stream] += 1;
        ((stream, issued[stream] - 1), (record.completed, record.completed - record.arrival))
    });
    Expected { completed: completed.collect(), report: simulated(&report) }
}

/// Requests of all streams in order of arrival, for submission.
struct Feed {
    requests: Vec<Submission>,
    next: usize,
    /// Stream and number in that stream of the request with each id.
    ids: Vec<(usize, u64)>,
    issued: Vec<u64>,
}

impl Feed {
    fn new(requests: &[Vec<IoRequest>]) -> Feed {
        let of_stream = |(stream, requests): (usize, &Vec<IoRequest>)| {
            let submitted = |&IoRequest { arrival: time, kind, offset, size, .. }: &IoRequest| Submission {
                time,
                kind,
                offset,
                size,
                stream,
            };
            requests.iter().map(submitted).collect::<Vec<_>>()
        };
        let issued = vec![0; requests.len()];
        let mut requests: Vec<Submission> = requests.iter().enumerate().flat_map(of_stream).collect();
        requests.sort_by_key(|request| request.time);
        Feed { requests, next: 0, ids: Vec::new(), issued }
    }

    /// Submits up to `count` of the remaining requests.
    fn submit(&mut self, drive: &mut Drive, count: usize) {
        for &request in self.requests.iter().skip(self.next).take(count) {
            let id = drive.submit(request).expect("the request is accepted");
            assert_eq!(id, self.ids.len() as u64);
            self.ids.push((request.stream, self.issued[request.stream]));
            self.issued[request.stream] += 1;
        }
        self.next = (self.next + count).min(self.requests.len());
    }

    /// Returns the last time before the arrival of the next request; `None` if no request is left or the next arrives at time 0.
    fn limit(&self) -> Option<Time> {
        let next = self.requests.get(self.next)?.time;
        (next > Time::ZERO).then(|| Time::from_ps(next.as_ps() - 1))
    }
}

/// Completion of a request, with the stream and the number in that stream.
type Completed = ((usize, u64), Completion);

/// Runs all requests in random steps. Returns the report without machine-dependent fields, and the completions in order.
fn stepped(mut drive: Drive, requests: &[Vec<IoRequest>], random: &mut SimRng) -> (Value, Vec<Completed>) {
    let mut feed = Feed::new(requests);
    let mut completed = Vec::new();
    let mut step = 1 + random.next_u64() % 40;
    while feed.next < feed.requests.len() {
        feed.submit(&mut drive, step as usize);
        step = 1 + random.next_u64() % 40;
        let Some(limit) = feed.limit().filter(|&limit| limit >= drive.now()) else { continue };
        // The extra request must have no effect, because the drive is restored to the snapshot.
        if random.next_u64().is_multiple_of(8) {
            let snapshot = drive.snapshot();
            let read =
                Submission { time: limit.later(feed.requests[feed.next - 1].time), ..feed.requests[feed.next - 1] };
            drive.submit(read).expect("the request is accepted");
            drive.drain().expect("no oracle reports a violation");
            drive.restore(&snapshot).expect("the snapshot is from the same drive");
        }
        let done = match random.next_u64() % 4 {
            0 => drive.advance(limit),
            1 => {
                let now = drive.now().as_ps();
                drive.advance(Time::from_ps(now + random.next_u64() % (limit.as_ps() - now + 1)))
            }
            2 => drive.advance_to_completion(Some(limit)),
            _ => {
                let next = drive.next_event().unwrap_or(limit).min(limit);
                drive.advance(next)
            }
        };
        let done = done.expect("no oracle reports a violation");
        completed.extend(done.iter().map(|&done| (feed.ids[done.id as usize], done)));
    }
    let done = drive.drain().expect("no oracle reports a violation");
    completed.extend(done.iter().map(|&done| (feed.ids[done.id as usize], done)));
    let report = drive.report().expect("no oracle reports a violation");
    let finished = simulated(&drive.finish().expect("no oracle reports a violation"));
    assert_same(&simulated(&report), &finished, "`report` and `finish`");
    (finished, completed)
}

/// Compares a run with two stepped drives, one that gets its requests between steps and one that gets them all in advance.
fn compare(number: u64, config: &Config, requests: &[Vec<IoRequest>]) {
    let what = || format!("case {number}\n{}", config.to_toml());
    let expected = expected(config, requests);
    let open = || if number.is_multiple_of(5) { Drive::checked(config) } else { Drive::new(config) };
    let drive = open().unwrap_or_else(|error| panic!("{error}: {}", what()));
    let mut random = SimRng::new(number);
    let (report, completed) = stepped(drive.clone(), requests, &mut random);
    assert_same(&expected.report, &report, &what());
    if config.power.cut.is_none() {
        let found: BTreeMap<(usize, u64), (Time, Time)> =
            completed.iter().map(|&(request, done)| (request, (done.time, done.latency))).collect();
        assert_eq!(expected.completed, found, "{}", what());
        assert!(completed.is_sorted_by_key(|(_, done)| done.time), "{}", what());
    }
    // The second drive gets all requests in advance.
    let mut drive = drive;
    let mut feed = Feed::new(requests);
    let count = feed.requests.len();
    let first = drive.submit_all(feed.requests.iter().copied()).expect("the requests are accepted");
    assert_eq!(first, 0);
    feed.next = count;
    drive.drain().expect("no oracle reports a violation");
    assert_same(&expected.report, &simulated(&drive.finish().expect("no oracle reports a violation")), &what());
}

/// Returns a random drive with requests at their arrival times (open replay).
fn drawn(number: u64, runner: &mut TestRunner) -> arbitrary::Case {
    let mut case = arbitrary::case_of(1..100).new_tree(runner).expect("a case can be drawn").current();
    let config = &mut case.config;
    config.replay = flashmesh::config::Replay { mode: ReplayMode::Open, ..Default::default() };
    if number.is_multiple_of(3) {
        config.measure.epoch = Some(Time::from_us(1 + number % 700));
        config.measure.epochs_max = 16;
    }
    if number.is_multiple_of(4) {
        // Stretches arrivals beyond the time range of the packed event key.
        case.requests.iter_mut().for_each(|io| io.arrival = Time::from_ps(io.arrival.as_ps() * 97));
    }
    if number % 11 == 5 {
        // Many requests arrive at the same time, at multiples of 300 us.
        case.requests.iter_mut().for_each(|io| io.arrival = Time::from_us(io.arrival.as_ps() / 1_000_000 / 300 * 300));
    }
    case
}

#[test]
fn random_drives_give_the_report_of_a_run_however_they_are_stepped() {
    std::thread::scope(|scope| {
        for first in 1..=3 {
            scope.spawn(move || {
                let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[100 + first as u8; 32]);
                let mut runner = TestRunner::new_with_rng(Runner::default(), random);
                for number in (first..=drives()).step_by(3) {
                    let case = drawn(number, &mut runner);
                    compare(number, &case.config, &[case.requests]);
                }
            });
        }
    });
}

#[test]
fn the_power_is_cut_for_a_drive_that_is_stepped_as_for_a_run() {
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Runner::default(), random);
    for number in 1..=drives() / 10 {
        let mut case = drawn(number, &mut runner);
        let last = case.requests.last().expect("the case has requests").arrival;
        case.config.power.cut = Some(Time::from_ps(1 + last.as_ps() / 2));
        case.config.power.capacitors = number.is_multiple_of(2);
        case.config.cache.flush_programs |= !case.config.power.capacitors;
        let expected = expected(&case.config, std::slice::from_ref(&case.requests));
        let mut drive = Drive::new(&case.config).expect("the drive can be built");
        let mut feed = Feed::new(std::slice::from_ref(&case.requests));
        feed.submit(&mut drive, usize::MAX);
        drive.drain().expect("the step succeeds");
        assert_same(
            &expected.report,
            &simulated(&drive.report().expect("the step succeeds")),
            &format!("case {number}"),
        );
        if expected.report["power_cut"].is_object() {
            let refused = drive.submit(Submission { time: Time::RUN_MAX, ..feed.requests[0] });
            assert!(matches!(refused, Err(StepError::PowerCut { .. })), "case {number}: {refused:?}");
        }
    }
}

#[test]
fn streams_arrive_in_the_turns_that_they_have_in_a_run() {
    let text = "[geometry]\nchannels = 2\nchips-per-channel = 2\nblocks-per-plane = 16\npages-per-block = 16\n\
                over-provisioning = 0.5\n[host]\nqueue-depth = 3\n\
                [stream.a.replay]\nmode = \"open\"\n[stream.b.replay]\nmode = \"open\"\n[stream.c.replay]\nmode = \"open\"\n";
    let config = config_of(text);
    let times = proptest::collection::vec((0..3u64, 0..500u64, 0..4u64), 1..60);
    let strategy = proptest::collection::vec(times, 3..=3);
    let mut runner = TestRunner::new_with_rng(Runner::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]));
    for number in 1..=40 {
        let drawn = strategy.new_tree(&mut runner).expect("a case can be drawn").current();
        let requests: Vec<Vec<IoRequest>> = drawn
            .iter()
            .map(|of| {
                let mut arrival = Time::ZERO;
                let of = of.iter().map(|&(gap, page, kind)| {
                    // Arrivals coincide with the ends of reads on an idle drive.
                    arrival += Time::from_us(gap);
                    let kind = if kind == 0 { RequestKind::Write } else { RequestKind::Read };
                    IoRequest { kind, ..read(page, 1, arrival) }
                });
                of.collect()
            })
            .collect();
        compare(number, &config, &requests);
    }
}

fn open_drive() -> Drive {
    Drive::new(&bare_drive()).expect("the drive can be built")
}

fn page_read(page: u64, time: Time) -> Submission {
    let size = Bytes::from_kib(4);
    Submission { time, kind: RequestKind::Read, offset: size * page, size, stream: 0 }
}

#[test]
fn a_tenant_waits_for_each_of_its_requests() {
    let mut drive = open_drive();
    let mut time = Time::ZERO;
    for number in 0..100 {
        let id = drive.submit(page_read(number, time)).expect("the request is accepted");
        let done = drive.advance_to_completion(None).expect("the step succeeds");
        assert_eq!(done.iter().map(|done| done.id).collect::<Vec<_>>(), [id]);
        assert_eq!(done[0].time, time + done[0].latency);
        time = done[0].time;
        assert_eq!((drive.now(), drive.outstanding(), drive.next_event()), (time, 0, None));
    }
    assert_eq!(drive.report().expect("the step succeeds").requests, 100);
}

#[test]
fn a_drive_that_follows_its_events_comes_to_its_end() {
    let mut drive = open_drive();
    let mut steps = 0;
    for number in 0..50 {
        // The drive is idle in this step, but its event queue may still hold the pause events of earlier steps.
        let time = drive.now() + Time::from_us(number);
        drive.advance(time).expect("the step succeeds");
        drive.submit(page_read(number, time)).expect("the request is accepted");
        while let Some(next) = drive.next_event() {
            steps += 1;
            assert!(steps < 10_000, "the drive stands still at {next}");
            drive.advance(next).expect("the step succeeds");
        }
        assert_eq!(drive.outstanding(), 0);
        let beyond = drive.now() + Time::from_us(200);
        drive.submit(page_read(number, drive.now())).expect("the request is accepted");
        while drive.outstanding() > 0 {
            steps += 1;
            assert!(steps < 10_000, "the drive stands still");
            drive.advance_to_completion(Some(beyond)).expect("the step succeeds");
        }
    }
}

#[test]
fn an_idle_drive_goes_where_it_is_told_and_back_to_a_snapshot() {
    let mut drive = open_drive();
    assert!(drive.advance(Time::from_us(30)).expect("the step succeeds").is_empty());
    assert_eq!(drive.now(), Time::from_us(30));
    let snapshot = drive.snapshot();
    drive.submit(page_read(0, Time::from_us(30))).expect("the request is not in the past");
    assert_eq!(drive.drain().expect("the step succeeds").len(), 1);
    let late = drive.now();
    drive.restore(&snapshot).expect("the snapshot is from the same drive");
    assert!(late > drive.now());
    assert_eq!((drive.now(), drive.outstanding()), (Time::from_us(30), 0));
    assert_eq!(drive.submit(page_read(0, late)).expect("the request is not in the past"), 0);
    assert_eq!(drive.outstanding(), 1);
}

#[test]
fn a_snapshot_of_another_drive_is_refused_with_the_key_that_differs() {
    let read = |text: &str| Config::from_str(text, "test", &[]).expect("the configuration is valid");
    let plain = Drive::new(&read("")).expect("the drive can be built");
    for (text, told) in [
        ("seed = 5\n[flash]\nread-time = \"30us\"\n", "its seed is "),
        ("[flash]\nread-time = \"31us\"\n", "its flash.read-time is "),
        ("[power]\ncut = \"200us\"\n", "its power.cut is not set, and that of this drive is \"200us\""),
    ] {
        let mut other = Drive::new(&read(text)).expect("the drive can be built");
        other.advance(Time::from_us(7)).expect("the step succeeds");
        let refused = other.restore(&plain.snapshot()).expect_err("the drives differ").to_string();
        assert!(refused.contains(told), "{refused}");
        assert_eq!(other.now(), Time::from_us(7));
    }
    let mut checked = Drive::checked(&read("")).expect("the drive can be built");
    let refused = checked.restore(&plain.snapshot()).expect_err("only one drive is checked").to_string();
    assert!(refused.contains("its check is false, and that of this drive is true"), "{refused}");
    let mut twin = Drive::new(&read("")).expect("the drive can be built");
    twin.restore(&plain.snapshot()).expect("the drives have the same configuration");
}

#[test]
fn what_a_drive_cannot_do_is_refused_and_changes_nothing() {
    let mut drive = open_drive();
    drive.advance(Time::from_us(10)).expect("the step succeeds");
    let good = page_read(0, Time::from_us(20));
    let refused = [
        (Submission { time: Time::from_us(9), ..good }, "before"),
        (Submission { stream: 1, ..good }, "no stream 1"),
        (Submission { offset: Bytes::new(100), ..good }, "offset of a request is 100 bytes"),
        (Submission { size: Bytes::new(100), ..good }, "size of a request is 100 bytes"),
        (Submission { size: Bytes::ZERO, ..good }, "at least one sector"),
        (Submission { kind: RequestKind::Flush, ..good }, "no bytes"),
        (Submission { offset: Bytes::new(u64::MAX / 4096 * 4096), ..good }, "ends beyond"),
        (Submission { time: Time::MAX, ..good }, "106 days"),
    ];
    for (request, text) in refused {
        let error = drive.submit(request).expect_err("the request is refused").to_string();
        assert!(error.contains(text), "{error}");
        let (place, _) = drive.submit_all([good, request].into_iter()).expect_err("the request is refused");
        assert_eq!(place, 1);
    }
    drive.submit(good).expect("refused requests do not count as submitted");
    let before = Submission { time: Time::from_us(15), ..good };
    assert!(matches!(drive.submit(before), Err(StepError::OutOfOrder { .. })));
    let error = drive.advance(Time::from_us(9)).expect_err("a time in the past is refused");
    assert!(matches!(error, RunError::Step(StepError::Backwards { .. })));
    assert_eq!((drive.outstanding(), drive.now()), (1, Time::from_us(10)));
}

#[test]
fn keys_that_a_stepped_drive_does_not_follow_are_refused() {
    for (text, key) in [
        ("[replay]\nmode = \"closed\"", "replay.mode = \"closed\""),
        ("[replay]\nmode = \"open\"\ntime-scale = 2.0", "replay.time-scale = 2"),
        ("[replay]\nstop-time = \"1ms\"", "replay.stop-time"),
        ("[replay]\nstart-delay = \"1ms\"", "replay.start-delay = \"1ms\""),
        ("[replay]\nphase = 1", "replay.phase = 1"),
        ("[stream.a.replay]\nmode = \"closed\"", "stream.a.replay.mode"),
        ("[measure]\nnetwork = true", "measure.network = true"),
    ] {
        let error = Drive::new(&config_of(text)).expect_err("the key is refused").to_string();
        assert!(error.contains(key), "{error}");
    }
}
