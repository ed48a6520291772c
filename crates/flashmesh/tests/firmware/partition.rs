//! Namespaces with their own planes, and streams with their own open blocks.

use std::collections::VecDeque;

use flashmesh::config::Config;
use flashmesh::ids::StreamId;
use flashmesh::measure::report::StreamReport;
use flashmesh::measure::request_log::RequestRecord;
use flashmesh::simulation::Simulation;
use flashmesh::units::Time;
use flashmesh::workload::source::WorkloadSource;
use proptest::prelude::*;

use crate::support::cases::cases;
use crate::support::drives::{Listed, config_of, finish, unwarmed};
use crate::support::{arbitrary, partitions};

/// Returns the arrival, submission and completion time of each request of a stream, in order of issue.
fn times(records: &[RequestRecord], stream: u32) -> Vec<[Time; 3]> {
    let mut own: Vec<_> = records.iter().filter(|record| record.issuer == StreamId(stream)).collect();
    own.sort_by_key(|record| record.id);
    own.iter().map(|record| [record.arrival, record.submitted, record.completed]).collect()
}

/// Returns a small drive with two busy streams and GC. `sets` has the channels of each stream's namespace.
fn two(sets: [&str; 2], more: &str) -> Config {
    config_of(&format!(
        "\
[host]
link-rate = \"unlimited\"
[geometry]
channels = 4
chips-per-channel = 2
blocks-per-plane = 24
pages-per-block = 16
capacity = \"16MiB\"
[gc]
threshold = 0.1
[precondition]
kind = \"random\"
[workload]
requests = 6_000
read-share = 0.4
[stream.a.queue]
namespace = \"x\"
[stream.b.workload]
pattern = \"zipf\"
request-size = \"16KiB\"
[stream.b.queue]
namespace = \"y\"
[namespace.x]
{}
[namespace.y]
{}
{more}",
        sets[0], sets[1]
    ))
}

#[test]
fn streams_on_channels_of_their_own_are_as_fast_as_alone_to_the_picosecond() {
    for more in ["", "ftl.allocation = \"dynamic\"", "ftl.allocation = \"PDWC\"\nftl.write-streams = \"per-stream\""] {
        let text = two(["channels = \"0-1\"", "channels = \"2-3\""], "").to_toml();
        let overrides: Vec<String> = more.lines().map(|line| line.replace(['"', ' '], "")).collect();
        let config = Config::from_str(&text, "drive.toml", &overrides).unwrap_or_else(|error| panic!("{error}"));
        let (together, records) = finish(Simulation::new(&unwarmed(&config)).expect("the drive can be built"));
        assert!(together.gc.erases > 100, "GC never ran");
        for stream in 0..2 {
            let (_, alone) =
                finish(Simulation::single_stream(&config, stream as usize).expect("the drive can be built"));
            let (together, alone) = (times(&records, stream), times(&alone, stream));
            assert_eq!(together.len(), 6_000);
            assert!(together == alone, "stream {stream} is slowed down: {more}");
        }
    }
}

#[test]
fn streams_that_share_all_channels_disturb_one_another() {
    let mean = |stream: &StreamReport| stream.latency_ps.all.as_ref().expect("requests of the stream completed").mean;
    let config = two(["", ""], "");
    let (together, _) = finish(Simulation::new(&unwarmed(&config)).expect("the drive can be built"));
    for stream in 0..2 {
        let (alone, _) = finish(Simulation::single_stream(&config, stream).expect("the drive can be built"));
        let slowdown = mean(&together.streams[stream]) / mean(&alone.streams[stream]);
        assert!(slowdown > 1.1, "stream {stream}: {slowdown}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(48), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_namespaces_under_streams_of_their_own_keep_to_their_planes(
        case in arbitrary::case(),
        count in 2..=4usize,
    ) {
        let mut config = case.config.clone();
        partitions::stream_by_stream(&mut config, count);
        prop_assert!(config.validate().is_ok(), "{:?}", config.validate());
        let mut lists = vec![VecDeque::new(); count];
        for (index, io) in case.requests.iter().enumerate() {
            lists[index % count].push_back(*io);
        }
        let sources = lists.into_iter().map(|list| Box::new(Listed(list)) as Box<dyn WorkloadSource>).collect();
        let (report, _) = finish(Simulation::with_sources(&config, sources).expect("the drive can be built"));
        prop_assert_eq!(report.requests, case.requests.len() as u64);
    }
}
