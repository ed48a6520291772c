//! `replay.latency-start = "issue"`: the latency of a request starts at its issue, so it excludes the wait on the host while the queue is full.

use flashmesh::measure::request_log::RequestRecord;
use flashmesh::simulation::Simulation;
use flashmesh::units::Time;

use crate::support::drives::{config_of, finish};

const DEPTH: usize = 4;

const DRIVE: &str = "\
[geometry]
channels = 2
chips-per-channel = 2
blocks-per-plane = 16
pages-per-block = 32
over-provisioning = 0.3
[host]
queue-depth = 4
[workload]
read-share = 0.7
requests = 400
";

/// Returns the records of an open replay with the given mean time between arrivals and further settings `replay`, in order of issue.
fn records(interarrival: &str, replay: &str) -> Vec<RequestRecord> {
    let text = format!("{DRIVE}interarrival = \"{interarrival}\"\n[replay]\nmode = \"open\"\n{replay}");
    let config = config_of(&text);
    let (_, mut records) = finish(Simulation::new(&config).unwrap_or_else(|error| panic!("{error}")));
    records.sort_by_key(|record| record.id);
    records
}

#[test]
fn a_request_counts_from_its_issue_and_is_served_as_before() {
    let from_arrival = records("100ns", "");
    let from_issue = records("100ns", "latency-start = \"issue\"");
    assert_eq!(from_issue.len(), from_arrival.len());
    for (issue, arrival) in from_issue.iter().zip(&from_arrival) {
        assert_eq!((issue.offset, issue.completed), (arrival.offset, arrival.completed));
        assert!(issue.arrival >= arrival.arrival);
    }
    // Arrivals outpace completions, so each request after the first four is issued when an outstanding one completes. That time is recorded as its
    // arrival.
    for (number, record) in from_issue.iter().enumerate().skip(DEPTH) {
        let completed = |until: Time| from_issue.iter().filter(|other| other.completed <= until).count();
        assert!(completed(record.arrival) > number - DEPTH, "one of {DEPTH} has completed by its issue");
    }
}

#[test]
fn where_no_request_waits_nothing_changes() {
    let arrivals = |records: Vec<RequestRecord>| -> Vec<(Time, Time)> {
        records.iter().map(|record| (record.arrival, record.completed)).collect()
    };
    assert_eq!(arrivals(records("1ms", "latency-start = \"issue\"")), arrivals(records("1ms", "")));
}

#[test]
fn what_is_not_issued_by_the_stop_time_is_not_issued() {
    let stopped = records("100ns", "latency-start = \"issue\"\nstop-time = \"200us\"");
    let backlog = records("100ns", "stop-time = \"200us\"");
    assert!(stopped.iter().all(|record| record.arrival <= Time::from_us(200)));
    assert!(DEPTH < stopped.len() && stopped.len() < backlog.len(), "{} of {}", stopped.len(), backlog.len());
}
