//! Timelines and network recordings, compared with the counts in the report of the run.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use flashmesh::config::{Config, FabricKind, Instance, Suspension};
use flashmesh::fabric::ScoutMove;
use flashmesh::measure::network::NetworkReport;
use flashmesh::measure::report::Report;
use flashmesh::recording::timeline::proto::{Kind, Trace, TrackEvent};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Time;
use prost::Message;

/// Sink whose content the test can read.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no other thread panicked").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sink that is always full.
struct Full;

impl Write for Full {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a configuration of reads and writes on a drive of 4 x 4 chips.
fn config(kind: FabricKind) -> Config {
    let mut config = Config::default();
    config.fabric.kind = kind;
    config.geometry.channels = 4;
    config.geometry.chips_per_channel = 4;
    config.replay.outstanding = 32;
    config.workload.read_share = 0.7;
    config.workload.requests = Some(1_500);
    config
}

fn run(config: &Config) -> Report {
    Simulation::new(config).expect("the drive can be built").run(&Control::default()).expect("the run succeeds")
}

/// Contents of a timeline: timed events, track names by id, the report, and the time at which the timeline was full (`None` if never).
type Recorded = (Vec<(u64, TrackEvent)>, BTreeMap<u64, String>, Report, Option<Time>);

fn timeline(config: &Config) -> Recorded {
    let bytes = Shared::default();
    let mut simulation = Simulation::new(config).expect("the drive can be built");
    let outcome = simulation.record_timeline(Box::new(bytes.clone()));
    let report = simulation.run(&Control::default()).expect("the run succeeds");
    let bytes = bytes.0.lock().expect("no other thread panicked").clone();
    let trace = Trace::decode(bytes.as_slice()).expect("the timeline is a trace");
    let mut names = BTreeMap::new();
    let mut parents = BTreeMap::new();
    for track in trace.packet.iter().filter_map(|packet| packet.track_descriptor.as_ref()) {
        names.insert(track.uuid.expect("a track has a number"), track.name.clone().expect("a track has a name"));
        parents.insert(track.uuid, track.parent_uuid);
    }
    assert!(parents.values().flatten().all(|parent| names.contains_key(parent)), "every parent of a track is a track");
    let event = |packet: &flashmesh::recording::timeline::proto::TracePacket| {
        Some((packet.timestamp.expect("an event has a time"), packet.track_event.clone()?))
    };
    let events: Vec<_> = trace.packet.iter().filter_map(event).collect();
    assert!(events.iter().all(|(_, event)| names.contains_key(&event.track_uuid.expect("an event has a track"))));
    (events, names, report, outcome.full_at())
}

fn is(event: &TrackEvent, kind: Kind) -> bool {
    event.r#type() == kind
}

#[test]
fn a_timeline_has_what_the_report_counts_on_every_interconnect() {
    for kind in FabricKind::ALL {
        let config = config(*kind);
        let plain = run(&config);
        let (events, names, report, full_at) = timeline(&config);
        assert_eq!(full_at, None);
        assert_eq!(
            (report.makespan_ps, &report.latency_ps),
            (plain.makespan_ps, &plain.latency_ps),
            "{kind}: the recording changes the run"
        );
        let begun = |category: &str| {
            let of = |(_, event): &&(u64, TrackEvent)| is(event, Kind::SliceBegin) && event.categories == [category];
            events.iter().filter(of).count() as u64
        };
        let ended = events.iter().filter(|(_, event)| is(event, Kind::SliceEnd)).count();
        assert_eq!(ended, events.iter().filter(|(_, event)| is(event, Kind::SliceBegin)).count(), "{kind}");
        assert_eq!(begun("request"), report.requests, "{kind}");
        let flash = &report.flash;
        let pages = flash.user_reads + flash.user_programs + flash.partial_write_reads + report.gc.pages_moved * 2;
        assert!(begun("array") > 0 && begun("array") <= pages + report.gc.erases, "{kind}");
        assert_eq!(begun("command") + begun("data"), report.path_conflict.transfers, "{kind}");
        assert!(begun("link") >= report.path_conflict.transfers, "{kind}: a transfer holds at least one link");
        // At the end all counters are zero and all request flows (arrows that link the events of a request) have ended.
        let mut last = BTreeMap::new();
        for (_, event) in events.iter().filter(|(_, event)| is(event, Kind::Counter)) {
            last.insert(
                event.track_uuid.expect("an event has a track"),
                event.counter_value.expect("a counter has a value"),
            );
        }
        assert!(last.values().all(|&value| value == 0), "{kind}: {last:?}");
        assert!(last.len() > 16, "{kind}: one queue per die, and that of the stream");
        assert_eq!(
            events.iter().map(|(_, event)| event.terminating_flow_ids.len()).sum::<usize>() as u64,
            report.requests
        );
        assert_eq!(names.values().filter(|name| *name == "array").count(), 16, "{kind}");
    }
}

#[test]
fn the_slices_of_a_track_do_not_overlap() {
    let (events, names, ..) = timeline(&config(FabricKind::Venice));
    let mut free_at: BTreeMap<u64, u64> = BTreeMap::new();
    let mut slices: Vec<(u64, u64, u64)> = Vec::new();
    for pair in events
        .iter()
        .filter(|(_, event)| matches!(event.r#type(), Kind::SliceBegin | Kind::SliceEnd))
        .collect::<Vec<_>>()
        .chunks(2)
    {
        let [(from, begin), (until, end)] = pair else { panic!("a slice has no end") };
        assert_eq!(begin.track_uuid, end.track_uuid);
        slices.push((begin.track_uuid.expect("an event has a track"), *from, *until));
    }
    slices.sort_unstable();
    for (track, from, until) in slices {
        let free = free_at.entry(track).or_default();
        assert!(*free <= from && from <= until, "{}: {from} before {free}", names[&track]);
        *free = until;
    }
}

#[test]
fn every_request_is_followed_from_the_host_to_a_die_and_back() {
    let (events, ..) = timeline(&config(FabricKind::Bus));
    let mut stations: BTreeMap<u64, Vec<(u64, String)>> = BTreeMap::new();
    for (at, event) in &events {
        for request in &event.flow_ids {
            stations.entry(*request).or_default().push((*at, event.categories[0].clone()));
        }
    }
    for (request, mut stations) in stations {
        stations.sort();
        let of = |category: &str| stations.iter().filter(|(_, found)| found == category).count();
        assert_eq!(of("request"), 1, "request {request}");
        assert!(of("command") > 0 && of("array") > 0, "request {request}: {stations:?}");
        let first =
            stations.iter().find(|(_, category)| category == "request").expect("the request has an event of its own").0;
        assert!(stations.iter().all(|(at, _)| *at >= first), "request {request} is served before it is issued");
    }
}

#[test]
fn a_timeline_shows_the_parts_of_operations_that_were_suspended() {
    let mut config = config(FabricKind::Bus);
    config.flash.suspension = Suspension::Both;
    let (events, _, report, _) = timeline(&config);
    let named = |(_, event): &&(u64, TrackEvent)| event.name.as_deref().is_some_and(|name| name.ends_with(", resumed"));
    let resumed = events.iter().filter(named).count() as u64;
    assert!(resumed > 0);
    assert_eq!(resumed, report.flash.suspensions, "every suspended operation resumes");
}

#[test]
fn a_timeline_keeps_to_its_window_and_its_size() {
    let mut small = config(FabricKind::Bus);
    small.measure.timeline_events_max = 100;
    let (events, _, _, full_at) = timeline(&small);
    assert!(full_at.is_some_and(|at| at > Time::ZERO));
    assert!(events.len() <= 200, "{} events", events.len());

    let mut part = config(FabricKind::Bus);
    (part.measure.window_start, part.measure.window_length) = (Time::from_us(100), Some(Time::from_us(50)));
    let (events, ..) = timeline(&part);
    assert!(!events.is_empty());
    for (at, event) in events.iter().filter(|(_, event)| !matches!(event.r#type(), Kind::SliceBegin | Kind::SliceEnd)) {
        assert!((100_000..150_000).contains(at), "{at}: {event:?}");
    }
}

#[test]
fn a_timeline_that_cannot_be_written_leaves_the_run_its_report() {
    let config = config(FabricKind::Bus);
    let mut simulation = Simulation::new(&config).expect("the drive can be built");
    let outcome = simulation.record_timeline(Box::new(Full));
    let report = simulation.run(&Control::default()).expect("the run succeeds");
    assert_eq!(Some(report.requests), config.workload.requests);
    assert_eq!(outcome.failed().as_deref(), Some("no storage space"));
}

fn recorded(kind: FabricKind) -> (NetworkReport, Report) {
    let mut config = config(kind);
    let plain = run(&config);
    (config.measure.network, config.measure.network_events_max) = (true, 1_000_000);
    let mut report = run(&config);
    assert_eq!(
        (report.makespan_ps, &report.latency_ps),
        (plain.makespan_ps, &plain.latency_ps),
        "{kind}: the recording changes the run"
    );
    (report.network.take().expect("the network was recorded"), report)
}

#[test]
fn a_recording_of_the_network_has_what_the_report_counts() {
    for kind in FabricKind::ALL {
        let (network, report) = recorded(*kind);
        assert!(!network.is_cut);
        let sent = network.transfers.iter().filter(|transfer| transfer.message.is_some());
        assert_eq!(sent.clone().count() as u64, report.path_conflict.transfers, "{kind}");
        assert_eq!(network.requests.len() as u64, report.requests, "{kind}: every request transferred data");
        if *kind != FabricKind::Nossd {
            // NoSSD is excluded, because its packets are also blocked behind other packets in the network.
            let blocked: u64 = sent.clone().map(|transfer| transfer.blocked_ps).sum();
            // If a busy die requests a path, the report counts the wait only from the end of the die's operation, the recording from the request.
            assert!(blocked >= report.path_conflict.wait_ps, "{kind}");
            let causes = &report.path_conflict.causes;
            let all = causes.channel.transfers + causes.controller.transfers + causes.link.transfers;
            assert_eq!(sent.map(|transfer| transfer.causes.len() as u64).sum::<u64>(), all, "{kind}");
        }
        for transfer in &network.transfers {
            let times = [Some(transfer.asked_ps), transfer.granted_ps, transfer.delivered_ps, transfer.released_ps];
            assert!(times.iter().flatten().is_sorted(), "{kind}: {transfer:?}");
        }
        let held = network.holds.iter().filter(|hold| hold.transfer.is_some()).count();
        if *kind != FabricKind::Nossd {
            // NoSSD is excluded, because its acknowledgements hold links too.
            assert_eq!(held, network.holds.len(), "{kind}: holds without a transfer");
        }
        for hold in &network.holds {
            let Some(transfer) = hold.transfer else { continue };
            let transfer = &network.transfers[transfer as usize];
            assert!(transfer.asked_ps <= hold.from_ps, "{kind}: a link is held before its transfer was requested");
        }
    }
}

#[test]
fn links_of_channels_are_held_as_long_as_they_are_busy() {
    let (network, report) = recorded(FabricKind::Bus);
    let mut held = vec![0; report.links.busy_ps.len()];
    for hold in &network.holds {
        held[hold.link as usize] += hold.until_ps - hold.from_ps;
    }
    assert_eq!(held, report.links.busy_ps);
}

#[test]
fn scouts_take_as_many_steps_as_the_report_counts() {
    let (network, report) = recorded(FabricKind::Venice);
    let scouts = report.scouts.expect("Venice has scouts");
    let steps = |step: ScoutMove| network.scouts.iter().filter(|scout| scout.step == step).count() as u64;
    assert_eq!((steps(ScoutMove::Sent), steps(ScoutMove::Failed)), (scouts.sent, scouts.failed));
    assert_eq!(steps(ScoutMove::Found), scouts.circuit_lengths.iter().sum::<u64>());
    assert!(steps(ScoutMove::Back) > 0, "no scout ever backtracked");
    assert_eq!(steps(ScoutMove::Back), scouts.backtracks);
    let all = [ScoutMove::Forward, ScoutMove::Back, ScoutMove::Found, ScoutMove::Failed].map(steps);
    assert_eq!(all.iter().sum::<u64>(), scouts.steps);
    assert!((1..steps(ScoutMove::Forward)).contains(&scouts.misroutes), "{}", scouts.misroutes);
    assert!(network.scouts.is_sorted_by_key(|scout| scout.at_ps));
}

#[test]
fn a_recording_that_is_full_says_so() {
    let mut config = config(FabricKind::Venice);
    (config.measure.network, config.measure.network_events_max) = (true, 500);
    config.measure.window_start = Time::from_us(50);
    let network = run(&config).network.expect("the network was recorded");
    assert!(network.is_cut);
    let events = network.transfers.len() + network.holds.len() + network.scouts.len();
    assert!((400..600).contains(&events), "{events} events");
    assert!(network.start_ps == 50_000_000 && network.end_ps > network.start_ps);
    for transfer in &network.transfers {
        assert!(transfer.asked_ps < network.end_ps && transfer.released_ps.is_none_or(|at| at >= network.start_ps));
    }
}

/// Returns a configuration whose recording window ends long before the run.
fn windowed(kind: FabricKind) -> Config {
    let mut config = config(kind);
    (config.measure.window_start, config.measure.window_length) = (Time::from_us(20), Some(Time::from_us(40)));
    config
}

#[test]
fn recordings_let_go_of_the_run_and_are_the_same_as_where_they_cannot() {
    for kind in FabricKind::ALL {
        let mut config = windowed(*kind);
        config.measure.network = true;
        let run = |is_held: bool| {
            let (bytes, mut simulation) =
                (Shared::default(), Simulation::new(&config).expect("the drive can be built"));
            simulation.record_timeline(Box::new(bytes.clone()));
            if is_held {
                simulation.enable_checks();
            }
            let mut report = simulation.run(&Control::default()).expect("the run succeeds");
            let network = report.network.take().expect("the network was recorded");
            let bytes = bytes.0.lock().expect("no other thread panicked").clone();
            let events: Vec<_> = Trace::decode(bytes.as_slice())
                .expect("the timeline is a trace")
                .packet
                .into_iter()
                .filter(|packet| packet.track_event.is_some())
                .collect();
            (simulation.instance(), network, events, report.makespan_ps)
        };
        let (left, held) = (run(false), run(true));
        assert_eq!((left.0, held.0), (Instance::Plain, Instance::Probed), "{kind}");
        assert!(!left.1.transfers.is_empty() && !left.2.is_empty(), "{kind}");
        assert!(left.1 == held.1, "{kind}: the network");
        assert!(left.2 == held.2, "{kind}: the timeline");
        assert_eq!(left.3, held.3, "{kind}");
    }
}

#[test]
fn a_run_goes_on_without_recorders_that_are_full_or_cannot_write() {
    let mut full = config(FabricKind::Bus);
    full.measure.timeline_events_max = 100;
    let sinks: [(Config, Box<dyn Write + Send>); 2] =
        [(full, Box::new(io::sink())), (config(FabricKind::Bus), Box::new(Full))];
    for (config, sink) in sinks {
        let mut simulation = Simulation::new(&config).expect("the drive can be built");
        simulation.record_timeline(sink);
        simulation.run(&Control::default()).expect("the run succeeds");
        assert_eq!(simulation.instance(), Instance::Plain);
    }
}
