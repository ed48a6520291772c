//! Several streams on one drive: each with its own workload, replay and results, and their effects on each other.

use std::collections::VecDeque;

use flashmesh::config::{Caching, Config, Namespace, Priority, ReplayMode, Sizes};
use flashmesh::error::RunError;
use flashmesh::ids::{Lpn, StreamId};
use flashmesh::measure::report::{Report, StreamReport};
use flashmesh::measure::request_log::RequestRecord;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::source::WorkloadSource;
use flashmesh::workload::{IoRequest, RequestKind};
use proptest::prelude::*;
use proptest::sample::select;

use crate::support::arbitrary;
use crate::support::arbitrary::Case;
use crate::support::cases::cases;
use crate::support::drives::{Listed, PAGE, assert_within, config_of, finish, read, run_source, write};
use crate::support::partitions;

fn run(config: &Config) -> (Report, Vec<RequestRecord>) {
    finish(Simulation::new(config).unwrap_or_else(|error| panic!("{error}")))
}

pub fn simulation(config: &Config, lists: Vec<Vec<IoRequest>>) -> Simulation {
    let listed = |list: Vec<IoRequest>| Box::new(Listed(VecDeque::from(list))) as Box<dyn WorkloadSource>;
    let sources = lists.into_iter().map(listed).collect();
    Simulation::with_sources(config, sources).unwrap_or_else(|error| panic!("{error}"))
}

pub fn run_lists(config: &Config, lists: Vec<Vec<IoRequest>>) -> (Report, Vec<RequestRecord>) {
    finish(simulation(config, lists))
}

pub fn of(records: &[RequestRecord], stream: u32) -> Vec<RequestRecord> {
    records.iter().filter(|record| record.issuer == StreamId(stream)).copied().collect()
}

fn mean(stream: &StreamReport) -> f64 {
    stream.latency_ps.all.as_ref().expect("requests of the stream completed").mean
}

const MIXED: &str = "\
geometry.blocks-per-plane = 64
[workload]
read-share = 0.7
deallocate-share = 0.05
request-size = [[\"4KiB\", 1], [\"24KiB\", 1]]
footprint = \"64MiB\"
requests = 3_000
";

#[test]
fn a_single_stream_is_the_run_without_streams() {
    let modes = ["mode = \"stress\"", "mode = \"closed\"\nthreads = 5\nthink-time = \"7us\"", "mode = \"open\""];
    for mode in modes {
        let (plain, plain_records) = run(&config_of(&format!("{MIXED}[replay]\n{mode}")));
        let (named, named_records) = run(&config_of(&format!("{MIXED}[stream.x.replay]\n{mode}\n[namespace.n]")));
        assert_eq!(plain_records, named_records);
        let [host] = &plain.streams[..] else { panic!("the report has not exactly one stream") };
        let [x] = &named.streams[..] else { panic!("the report has not exactly one stream") };
        assert_eq!((host.name.as_str(), x.name.as_str()), ("host", "x"));
        for stream in [host, x] {
            assert_eq!(stream.requests, plain.requests);
            assert_eq!(stream.makespan_ps, plain.makespan_ps);
            assert_eq!((stream.iops, stream.bandwidth_bytes_per_s), (plain.iops, plain.bandwidth_bytes_per_s));
            assert_eq!(stream.latency_ps.all, plain.latency_ps.all);
            assert_eq!(stream.latency_ps.write, plain.latency_ps.write);
            assert_eq!(stream.breakdown_ps.mean, plain.breakdown_ps.mean);
            assert_eq!(stream.breakdown_ps.tail, plain.breakdown_ps.tail);
        }
        assert!(named.workload.is_some() && named.workload == plain.workload);
    }
}

#[test]
fn a_reader_alone_on_a_full_drive_is_not_delayed_by_collections_of_the_writer() {
    let drive = "geometry.blocks-per-plane = 64\nprecondition.kind = \"random\"\nworkload.requests = 2_000\n\
                 [stream.reader.workload]\nread-share = 1.0\n";
    let (expected, _) = run(&config_of(drive));
    let config = config_of(&format!("{drive}[stream.writer.workload]\nread-share = 0.0"));
    let (together, _) = run(&config);
    let (alone, _) = finish(Simulation::single_stream(&config, 0).expect("the drive can be built"));
    assert!(together.gc.pages_moved > 0);
    assert_eq!(alone.gc.pages_moved, 0);
    assert_within("mean latency", mean(&alone.streams[0]), mean(&expected.streams[0]), 0.02);
}

#[test]
fn equal_streams_get_equal_results_and_draw_other_requests() {
    let text = format!("{MIXED}[stream.a]\n[stream.b]\n[stream.c]");
    let (report, records) = run(&config_of(&text));
    assert_eq!(report.streams.len(), 3);
    for stream in &report.streams[1..] {
        assert_eq!(stream.requests, 3_000);
        assert_within("mean latency", mean(stream), mean(&report.streams[0]), 0.05);
        assert_within("IOPS", stream.iops, report.streams[0].iops, 0.05);
    }
    let offsets = |stream| of(&records, stream).iter().map(|record| record.offset).collect::<Vec<_>>();
    assert_ne!(offsets(0), offsets(1));
    assert_ne!(offsets(1), offsets(2));
    assert_eq!(run(&config_of(&text)).1, records, "equal seeds give equal results");
}

#[test]
fn the_whole_is_the_sum_of_its_streams() {
    let text = format!("{MIXED}[stream.a]\n[stream.b.workload]\nread-share = 0.1\nrequests = 500");
    let (report, records) = run(&config_of(&text));
    assert_eq!(report.streams.iter().map(|stream| stream.requests).collect::<Vec<_>>(), [3_000, 500]);
    assert_eq!(report.requests, 3_500);
    assert_eq!(report.makespan_ps, report.streams.iter().map(|stream| stream.makespan_ps).max().unwrap());
    let all = report.latency_ps.all.expect("requests completed");
    let sum: f64 = report.streams.iter().map(|stream| mean(stream) * stream.requests as f64).sum();
    assert_within("sum of latencies", sum, all.mean * 3_500.0, 1e-12);
    for (index, stream) in report.streams.iter().enumerate() {
        let own = of(&records, index as u32);
        let bytes: u64 =
            own.iter().filter(|record| record.kind != RequestKind::Deallocate).map(|record| record.size.as_u64()).sum();
        let seconds = Time::from_ps(stream.makespan_ps).as_secs_f64();
        assert_within("bandwidth", stream.bandwidth_bytes_per_s, bytes as f64 / seconds, 1e-12);
        assert_eq!(own.iter().map(|record| record.completed).max(), Some(Time::from_ps(stream.makespan_ps)));
    }
    assert!(report.workload.is_none() && report.streams.iter().all(|stream| stream.workload.is_some()));
}

#[test]
fn each_stream_keeps_its_own_mode_and_all_start_at_time_zero() {
    let text = "\
host.link-rate = \"unlimited\"
[stream.stress.replay]
outstanding = 3
[stream.closed.replay]
mode = \"closed\"
threads = 2
think-time = \"100us\"
[stream.open.replay]
mode = \"open\"
time-scale = 2.0
";
    let reads =
        |count: u64, from: u64| (0..count).map(|n| read(from + n, 1, Time::from_us(10 * n))).collect::<Vec<_>>();
    let (report, records) = run_lists(&config_of(text), vec![reads(9, 0), reads(4, 100), reads(3, 200)]);
    assert_eq!(report.streams.iter().map(|stream| stream.requests).collect::<Vec<_>>(), [9, 4, 3]);
    let arrivals = |stream| {
        let mut arrivals: Vec<Time> = of(&records, stream).iter().map(|record| record.arrival).collect();
        arrivals.sort_unstable();
        arrivals
    };
    assert_eq!(arrivals(0).iter().filter(|at| **at == Time::ZERO).count(), 3);
    let closed = arrivals(1);
    assert_eq!(closed[..2], [Time::ZERO; 2]);
    assert!(closed[2] > Time::from_us(100), "{closed:?}");
    assert_eq!(arrivals(2), [Time::ZERO, Time::from_us(20), Time::from_us(40)]);
    // The makespan cannot be shorter than the last arrival of the open stream.
    assert_eq!(report.lower_bound.arrivals_ps, Some(Time::from_us(40).as_ps()));
}

#[test]
fn every_stream_has_a_queue_of_its_own() {
    let text = "[host]\nqueue-depth = 1\nlink-rate = \"unlimited\"\n[stream.a.replay]\noutstanding = 4\n[stream.b]";
    // All reads are on one die, so they run one after the other.
    let reads = |count| (0..count).map(|_| read(0, 1, Time::ZERO)).collect::<Vec<_>>();
    let (_, records) = run_lists(&config_of(text), vec![reads(4), reads(1)]);
    let at_zero = records.iter().filter(|record| record.submitted == Time::ZERO);
    assert_eq!(at_zero.map(|record| record.issuer.0).collect::<Vec<_>>(), [0, 1], "one request of each stream");
    let a = of(&records, 0);
    assert!(a.windows(2).all(|pair| pair[1].submitted >= pair[0].completed), "{a:?}");
}

#[test]
fn offsets_of_a_stream_count_from_its_namespace() {
    let text = "\
geometry.capacity = \"1GiB\"
[stream.a.queue]
namespace = \"second\"
[stream.b]
[namespace.first]
capacity = \"256MiB\"
[namespace.second]
";
    let lists = vec![vec![write(0, 1, Time::ZERO), write(7, 2, Time::ZERO)], vec![read(0, 1, Time::ZERO)]];
    let (_, records) = run_lists(&config_of(text), lists);
    let pages = |stream| of(&records, stream).iter().map(|record| record.offset.as_u64() / PAGE).collect::<Vec<_>>();
    assert_eq!((pages(0), pages(1)), (vec![0, 7], vec![0]));

    let lists = vec![vec![write(7, 1, Time::ZERO)], vec![write(0, 1, Time::ZERO)]];
    let mut simulation = simulation(&config_of(text), lists);
    simulation.run(&Control::default()).expect("the run succeeds");
    let logical_pages = 0..simulation.geometry().logical_pages;
    let mapped: Vec<u32> = logical_pages.filter(|&lpn| simulation.ftl().lookup(Lpn(lpn)).is_some()).collect();
    assert_eq!(mapped, [0, 65_536 + 7], "each namespace starts where the previous one ends");

    let drawn = config_of(&format!("workload.requests = 2000\n{text}"));
    let (_, records) = run(&drawn);
    let (whole, first) = (Bytes::from_kib(1 << 20), Bytes::from_kib(256 << 10));
    let end = |stream| of(&records, stream).iter().map(|record| record.offset + record.size).max();
    assert!(end(0).is_some_and(|end| end > first && end <= whole - first));
    assert!(end(1).is_some_and(|end| end <= first));
}

#[test]
fn a_stream_alone_issues_the_same_requests_and_waits_for_nobody() {
    let text =
        format!("{MIXED}[stream.a]\n[stream.b.workload]\npattern = \"zipf\"\n[stream.b.replay]\noutstanding = 8");
    let config = config_of(&text);
    let (together, records) = run(&config);
    for index in 0..2 {
        let (alone, alone_records) = finish(Simulation::single_stream(&config, index).expect("the drive can be built"));
        let asked = |records: &[RequestRecord]| {
            let mut own = of(records, index as u32);
            own.sort_by_key(|record| record.id);
            own.iter().map(|record| (record.kind, record.offset, record.size)).collect::<Vec<_>>()
        };
        assert_eq!(asked(&alone_records), asked(&records));
        assert_eq!(alone.streams[1 - index].requests, 0);
        assert_eq!(alone.streams[1 - index].latency_ps.all, None);
        assert!(mean(&alone.streams[index]) < mean(&together.streams[index]));
    }
    let error = Simulation::single_stream(&config, 2).err().expect("a third stream is refused");
    assert!(error.to_string().contains("there is no stream 2"), "{error}");
}

#[test]
fn a_workload_that_does_not_fit_its_namespace_is_refused_with_the_name_of_the_stream() {
    let text = "[stream.a]\n[stream.b.workload]\nprofile = \"hm_0\"\nfootprint-start = \"512KiB\"\n[namespace.n]\ncapacity = \"1MiB\"";
    let error = Simulation::new(&config_of(text)).err().expect("the profile needs a larger namespace");
    assert!(error.to_string().starts_with("stream \"b\": profile \"hm_0\": workload."), "{error}");

    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("streams");
    std::fs::create_dir_all(&folder).unwrap();
    let trace = folder.join("far.ascii");
    std::fs::write(&trace, "0 0 4096 8 1\n1000 0 1000000 8 1\n").unwrap();
    let whole =
        format!("[stream.a.workload]\ntrace = \"{}\"\nformat = \"ascii\"\ntime-unit = \"us\"\n", trace.display());
    assert_eq!(run(&config_of(&whole)).0.requests, 2);
    let error = Simulation::new(&config_of(&format!("{whole}[namespace.n]\ncapacity = \"256MiB\"")));
    let error = error.err().expect("the second request is beyond the namespace").to_string();
    assert!(error.contains("far.ascii"), "{error}");
}

#[test]
fn as_many_sources_as_streams_are_needed() {
    let config = config_of("[stream.a]\n[stream.b]");
    let source = || Box::new(Listed(VecDeque::new())) as Box<dyn WorkloadSource>;
    let error = Simulation::with_source(&config, source()).err().expect("a missing source is refused");
    assert!(matches!(error, RunError::Workload(_)), "{error}");
    assert_eq!(error.to_string(), "1 workloads for 2 streams: each stream needs one");
    let report = Simulation::with_sources(&config, vec![source(), source()]).unwrap().run(&Control::default()).unwrap();
    assert_eq!((report.requests, report.streams.len(), report.streams[1].iops), (0, 2, 0.0));
}

/// Random settings of one stream. All other settings equal those of the drive's original stream.
#[derive(Clone, Copy, Debug)]
struct Sketch {
    mode: ReplayMode,
    caching: Caching,
    priority: Priority,
    /// Index of the namespace of the stream, if there are two.
    namespace: usize,
}

fn sketches() -> impl Strategy<Value = Vec<Sketch>> {
    let own = (select(ReplayMode::ALL), select(Caching::ALL), select(Priority::ALL), 0..2usize);
    let sketch = own.prop_map(|(mode, caching, priority, namespace)| Sketch { mode, caching, priority, namespace });
    prop::collection::vec(sketch, 1..=4)
}

/// Returns the drive of `case` with a stream for each of `sketches`. With `split`, the drive, which must have no namespaces, is divided into two.
fn with_streams(case: &Case, sketches: &[Sketch], split: bool) -> Config {
    let mut config = case.config.clone();
    let template = case.config.streams().remove(0);
    let names = ["one", "two"];
    let stream = |(index, sketch): (usize, &Sketch)| {
        let mut stream = template.clone();
        stream.name = format!("s{index}");
        stream.replay.mode = sketch.mode;
        (stream.queue.caching, stream.queue.priority) = (sketch.caching, sketch.priority);
        stream.queue.namespace = split.then(|| names[sketch.namespace].to_owned());
        if split {
            // The requests are listed, so the size only has to be valid: the default may exceed half of a small drive.
            stream.workload.request_size = Sizes(vec![(case.config.geometry.sector_size, 1.0)]);
        }
        stream
    };
    config.stream = sketches.iter().enumerate().map(stream).collect();
    if split {
        config.namespace = names.map(|name| (name.to_owned(), Namespace::default())).to_vec();
    }
    partitions::share_out(&mut config, sketches.len() as u64);
    config
}

/// Distributes the requests of `case` to `streams` streams in turn.
fn dealt(case: &Case, streams: usize) -> Vec<Vec<IoRequest>> {
    let mut lists = vec![Vec::new(); streams];
    for (index, io) in case.requests.iter().enumerate() {
        lists[index % streams].push(*io);
    }
    lists
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    #[test]
    fn streams_on_random_drives_issue_all_they_have_in_their_order(
        case in arbitrary::case(),
        sketches in sketches(),
        split in any::<bool>(),
    ) {
        let split = split && case.config.namespace.is_empty();
        let config = with_streams(&case, &sketches, split);
        prop_assert!(config.validate().is_ok(), "{:?}", config.validate());
        let lists = dealt(&case, sketches.len());
        let (report, records) = run_lists(&config, lists.clone());
        prop_assert_eq!(report.requests, case.requests.len() as u64);
        for (index, list) in lists.iter().enumerate() {
            let mut own = of(&records, index as u32);
            own.sort_by_key(|record| record.id);
            prop_assert_eq!(report.streams[index].requests, list.len() as u64);
            let asked: Vec<_> = own.iter().map(|record| (record.kind, record.offset, record.size)).collect();
            let listed: Vec<_> = list.iter().map(|io| (io.kind, io.offset, io.size)).collect();
            if sketches[index].mode == ReplayMode::Closed {
                prop_assert_eq!(asked.len(), listed.len());
            } else {
                prop_assert_eq!(asked, listed);
            }
            let mut in_queue = own.iter().flat_map(|record| [(record.completed, -1), (record.submitted, 1)]).collect::<Vec<_>>();
            in_queue.sort_unstable();
            let mut depth = 0;
            for (at, change) in in_queue {
                depth += change;
                prop_assert!(depth <= config.host.queue_depth as i32, "{depth} in flight at {at}");
            }
        }
        if let ([Sketch { mode, caching, priority, .. }], false) = (&sketches[..], split) {
            let mut alone = Config { geometry: config.geometry.clone(), ..case.config.clone() };
            alone.replay.mode = *mode;
            (alone.queue.caching, alone.queue.priority) = (*caching, *priority);
            let source = Listed(case.requests.iter().copied().collect());
            prop_assert_eq!(run_source(&alone, source).1, records);
        }
    }

    /// The cache oracle counts the lost data independently, and fails the run if the report differs.
    #[test]
    fn a_cut_of_the_power_loses_what_all_streams_have_in_flight(
        case in arbitrary::case(),
        sketches in sketches(),
        split in any::<bool>(),
        at_us in 0..8_000u64,
        capacitors in any::<bool>(),
        pages in 4..40u64,
    ) {
        let mut config = with_streams(&case, &sketches, split);
        if config.cache.capacity == Bytes::ZERO {
            config.cache.capacity = config.geometry.page_size * pages;
        }
        config.power.cut = Some(Time::from_us(at_us));
        config.power.capacitors = capacitors;
        config.cache.flush_programs |= !capacitors;
        config.validate().expect("the configuration is valid");
        let (report, records) = run_lists(&config, dealt(&case, sketches.len()));
        prop_assert_eq!(report.requests, records.len() as u64);
        let Some(cut) = report.power_cut else {
            prop_assert_eq!(report.requests, case.requests.len() as u64);
            return Ok(());
        };
        prop_assert!(records.iter().all(|record| record.completed <= Time::from_us(at_us)));
        prop_assert!(report.requests + cut.requests_lost <= case.requests.len() as u64);
        prop_assert_eq!(report.host.queues.iter().map(|queue| queue.commands).sum::<u64>(), report.requests);
        if capacitors {
            prop_assert_eq!((cut.pages_lost, cut.bytes_lost), (0, 0));
            prop_assert!(cut.pages_programmed >= cut.dirty_pages);
        } else {
            prop_assert_eq!((cut.pages_programmed, cut.duration_ps), (0, 0));
        }
    }
}

#[test]
fn mixes_of_the_configuration_are_workloads_of_streams() {
    let text = "\
preset = \"venice-z-nand\"
[stream.left.workload]
profile = \"hm_0 + 2*proj_3\"
footprint = \"2GiB\"
requests = 300
[stream.right.workload]
profile = \"mix1\"
footprint-start = \"2GiB\"
footprint = \"2GiB\"
arrivals = \"exponential\"
requests = 200
[stream.right.replay]
mode = \"open\"
";
    let config = Config::from_str(text, "drive.toml", &[]).unwrap();
    let report = Simulation::new(&config).unwrap().run(&Control::default()).unwrap();
    let counts: Vec<u64> = report.streams.iter().map(|stream| stream.requests).collect();
    assert_eq!(counts, [300, 200]);
    let wrong = text.replace("2*proj_3", "2*proj_33");
    let config = Config::from_str(&wrong, "drive.toml", &[]).unwrap();
    let refused = Simulation::new(&config).err().expect("an unknown profile is refused").to_string();
    assert!(refused.contains("no profile is called \"proj_33\""), "{refused}");
}
