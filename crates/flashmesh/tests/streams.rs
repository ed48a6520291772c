//! Several streams on one drive: each with its own workload, replay and results, and what they do to one another.
#![allow(missing_docs)]

mod arbitrary;
mod drives;

use std::collections::VecDeque;

use arbitrary::Case;
use drives::{Kept, Listed, PAGE, assert_within, read, run_source, write};
use flashmesh::config::{Config, ReplayMode};
use flashmesh::error::RunError;
use flashmesh::ids::StreamId;
use flashmesh::measure::log::RequestRecord;
use flashmesh::measure::report::{Report, StreamReport};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::source::WorkloadSource;
use flashmesh::workload::{IoRequest, RequestKind};
use proptest::prelude::*;

fn config(text: &str) -> Config {
    Config::from_str(text, "drive.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn finish(mut simulation: Simulation) -> (Report, Vec<RequestRecord>) {
    simulation.enable_checks();
    let kept = Kept::default();
    simulation.set_request_sink(Box::new(kept.clone()));
    let report = simulation.run(&Control::default()).expect("the run ends and no oracle speaks");
    let records = kept.0.lock().expect("no other thread panicked").clone();
    (report, records)
}

fn run(config: &Config) -> (Report, Vec<RequestRecord>) {
    finish(Simulation::new(config).unwrap_or_else(|error| panic!("{error}")))
}

fn run_lists(config: &Config, lists: Vec<Vec<IoRequest>>) -> (Report, Vec<RequestRecord>) {
    let listed = |list: Vec<IoRequest>| Box::new(Listed(VecDeque::from(list))) as Box<dyn WorkloadSource>;
    let sources = lists.into_iter().map(listed).collect();
    finish(Simulation::with_sources(config, sources).unwrap_or_else(|error| panic!("{error}")))
}

fn of(records: &[RequestRecord], stream: u32) -> Vec<RequestRecord> {
    records.iter().filter(|record| record.issuer == StreamId(stream)).copied().collect()
}

fn mean(stream: &StreamReport) -> f64 {
    stream.latency_ps.all.as_ref().expect("the stream had requests").mean
}

const MIXED: &str = "\
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
        let (plain, plain_records) = run(&config(&format!("{MIXED}[replay]\n{mode}")));
        let (named, named_records) = run(&config(&format!("{MIXED}[stream.x.replay]\n{mode}\n[namespace.n]")));
        assert_eq!(plain_records, named_records);
        let [host] = &plain.streams[..] else { panic!("not one stream") };
        let [x] = &named.streams[..] else { panic!("not one stream") };
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
fn equal_streams_get_equal_results_and_draw_other_requests() {
    let text = format!("{MIXED}[stream.a]\n[stream.b]\n[stream.c]");
    let (report, records) = run(&config(&text));
    for stream in &report.streams[1..] {
        assert_eq!(stream.requests, 3_000);
        assert_within("mean latency", mean(stream), mean(&report.streams[0]), 0.05);
        assert_within("IOPS", stream.iops, report.streams[0].iops, 0.05);
    }
    let offsets = |stream| of(&records, stream).iter().map(|record| record.offset).collect::<Vec<_>>();
    assert_ne!(offsets(0), offsets(1));
    assert_ne!(offsets(1), offsets(2));
    assert_eq!(run(&config(&text)).1, records, "one seed, one result");
}

#[test]
fn the_whole_is_the_sum_of_its_streams() {
    let text = format!("{MIXED}[stream.a]\n[stream.b.workload]\nread-share = 0.1\nrequests = 500");
    let (report, records) = run(&config(&text));
    assert_eq!(report.streams.iter().map(|stream| stream.requests).collect::<Vec<_>>(), [3_000, 500]);
    assert_eq!(report.requests, 3_500);
    assert_eq!(report.makespan_ps, report.streams.iter().map(|stream| stream.makespan_ps).max().unwrap());
    let all = report.latency_ps.all.expect("there are requests");
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
    let (report, records) = run_lists(&config(text), vec![reads(9, 0), reads(4, 100), reads(3, 200)]);
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
    // The last arrival of the open stream bounds the run from below, whatever the others do.
    assert_eq!(report.lower_bound.arrivals_ps, Some(Time::from_us(40).as_ps()));
}

#[test]
fn every_stream_has_a_queue_of_its_own() {
    let text = "[host]\nqueue-depth = 1\nlink-rate = \"unlimited\"\n[stream.a.replay]\noutstanding = 4\n[stream.b]";
    // All reads on one die: they run one after the other.
    let reads = |count| (0..count).map(|_| read(0, 1, Time::ZERO)).collect::<Vec<_>>();
    let (_, records) = run_lists(&config(text), vec![reads(4), reads(1)]);
    let at_zero = records.iter().filter(|record| record.submitted == Time::ZERO);
    assert_eq!(at_zero.map(|record| record.issuer.0).collect::<Vec<_>>(), [0, 1], "one of each");
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
    let (_, records) = run_lists(&config(text), lists);
    let pages = |stream| of(&records, stream).iter().map(|record| record.offset.as_u64() / PAGE).collect::<Vec<_>>();
    assert_eq!((pages(0), pages(1)), (vec![65_536, 65_543], vec![0]));

    let drawn = config(&format!("workload.requests = 2000\n{text}"));
    let (_, records) = run(&drawn);
    let border = Bytes::from_kib(256 << 10);
    assert!(of(&records, 0).iter().all(|record| record.offset >= border));
    assert!(of(&records, 1).iter().all(|record| record.offset + record.size <= border));
}

#[test]
fn a_stream_alone_issues_the_same_requests_and_waits_for_nobody() {
    let text =
        format!("{MIXED}[stream.a]\n[stream.b.workload]\npattern = \"zipf\"\n[stream.b.replay]\noutstanding = 8");
    let config = config(&text);
    let (together, records) = run(&config);
    for index in 0..2 {
        let (alone, alone_records) = finish(Simulation::alone(&config, index).expect("the drive can be built"));
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
    let error = Simulation::alone(&config, 2).err().expect("there are two streams");
    assert!(error.to_string().contains("there is no stream 2"), "{error}");
}

#[test]
fn a_workload_that_does_not_fit_its_namespace_is_refused_with_the_name_of_the_stream() {
    let text = "[stream.a]\n[stream.b.workload]\nprofile = \"hm_0\"\nfootprint-start = \"512KiB\"\n[namespace.n]\ncapacity = \"1MiB\"";
    let error = Simulation::new(&config(text)).err().expect("the profile needs more");
    assert!(error.to_string().starts_with("stream \"b\": profile \"hm_0\": workload."), "{error}");

    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("streams");
    std::fs::create_dir_all(&folder).unwrap();
    let trace = folder.join("far.ascii");
    std::fs::write(&trace, "0 0 4096 8 1\n1000 0 1000000 8 1\n").unwrap();
    let whole = format!("[stream.a.workload]\ntrace = \"{}\"\nformat = \"ascii\"\n", trace.display());
    assert_eq!(run(&config(&whole)).0.requests, 2);
    let error = Simulation::new(&config(&format!("{whole}[namespace.n]\ncapacity = \"256MiB\"")));
    let error = error.err().expect("the second request is beyond the namespace").to_string();
    assert!(error.contains("far.ascii"), "{error}");
}

#[test]
fn as_many_sources_as_streams_are_needed() {
    let config = config("[stream.a]\n[stream.b]");
    let source = || Box::new(Listed(VecDeque::new())) as Box<dyn WorkloadSource>;
    let error = Simulation::with_source(&config, source()).err().expect("one is missing");
    assert!(matches!(error, RunError::Workload(_)), "{error}");
    assert_eq!(error.to_string(), "1 workloads for 2 streams: each stream needs one");
    let report = Simulation::with_sources(&config, vec![source(), source()]).unwrap().run(&Control::default()).unwrap();
    assert_eq!((report.requests, report.streams.len(), report.streams[1].iops), (0, 2, 0.0));
}

/// A stream for each of `modes`, otherwise with the replay that the random drive has.
fn with_streams(case: &Case, modes: &[ReplayMode]) -> Config {
    let template = case.config.streams().remove(0);
    let stream = |(index, mode): (usize, &ReplayMode)| {
        let mut stream = template.clone();
        stream.name = format!("s{index}");
        stream.replay.mode = *mode;
        stream
    };
    Config { stream: modes.iter().enumerate().map(stream).collect(), ..case.config.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn streams_on_random_drives_issue_all_they_have_in_their_order(
        case in arbitrary::case(),
        modes in prop::collection::vec(prop::sample::select(ReplayMode::ALL), 1..=4),
    ) {
        let config = with_streams(&case, &modes);
        prop_assert!(config.validate().is_ok());
        let mut lists = vec![Vec::new(); modes.len()];
        for (index, io) in case.requests.iter().enumerate() {
            lists[index % modes.len()].push(*io);
        }
        let (report, records) = run_lists(&config, lists.clone());
        prop_assert_eq!(report.requests, case.requests.len() as u64);
        for (index, list) in lists.iter().enumerate() {
            let mut own = of(&records, index as u32);
            own.sort_by_key(|record| record.id);
            prop_assert_eq!(report.streams[index].requests, list.len() as u64);
            let asked: Vec<_> = own.iter().map(|record| (record.kind, record.offset, record.size)).collect();
            let listed: Vec<_> = list.iter().map(|io| (io.kind, io.offset, io.size)).collect();
            if modes[index] == ReplayMode::Closed {
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
        if let [_] = modes[..] {
            let mut alone = case.config.clone();
            alone.replay.mode = modes[0];
            let source = Listed(case.requests.iter().copied().collect());
            prop_assert_eq!(run_source(&alone, source).1, records);
        }
    }
}
