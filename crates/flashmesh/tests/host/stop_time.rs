//! Stop time of a stream: no request arrives after it, and earlier ones are served.

use flashmesh::simulation::Simulation;
use flashmesh::units::Time;

use crate::support::drives::{config_of, finish};

const STOP: Time = Time::from_us(300);

const DRIVE: &str = "\
[geometry]
channels = 2
chips-per-channel = 2
blocks-per-plane = 16
pages-per-block = 32
over-provisioning = 0.3
";

/// Returns the arrival time and the offset in bytes of each request of a run, in order of issue. `replay` and `extra` are settings of the sections.
fn arrivals(replay: &str, extra: &str) -> Vec<(Time, u64)> {
    let text = format!("{DRIVE}[workload]\nread-share = 0.7\nrequests = 500\n{extra}\n[replay]\n{replay}");
    let config = config_of(&text);
    let (_, mut records) = finish(Simulation::new(&config).unwrap_or_else(|error| panic!("{error}")));
    records.sort_by_key(|record| record.id);
    records.iter().map(|record| (record.arrival, record.offset.as_u64())).collect()
}

#[test]
fn what_arrives_by_the_stop_time_is_served_and_nothing_else() {
    for (replay, extra) in [
        ("mode = \"stress\"\noutstanding = 8", ""),
        ("mode = \"closed\"\nthreads = 3", ""),
        ("mode = \"closed\"\nthreads = 3\nthink-time = \"5us\"", ""),
        ("mode = \"open\"", "interarrival = \"1us\""),
        ("mode = \"open\"\ntime-scale = 0.5", "interarrival = \"3us\""),
    ] {
        let all = arrivals(replay, extra);
        let stopped = arrivals(&format!("{replay}\nstop-time = \"300us\""), extra);
        let by_then = all.iter().filter(|(arrival, _)| *arrival <= STOP).count();
        assert!(0 < by_then && by_then < all.len(), "{replay}: the stop time is within the run");
        assert_eq!(stopped, all[..by_then], "{replay}");
    }
}

#[test]
fn a_request_that_arrives_at_the_stop_time_is_served() {
    let arrivals_until = |stop: &str| {
        let replay = format!("mode = \"open\"\nstop-time = \"{stop}\"");
        arrivals(&replay, "arrivals = \"constant\"\ninterarrival = \"1us\"").len()
    };
    assert_eq!(arrivals_until("10us"), arrivals_until("9999999ps") + 1);
}

#[test]
fn a_stop_time_beyond_the_workload_changes_nothing() {
    let replay = "mode = \"stress\"\noutstanding = 8";
    assert_eq!(arrivals(&format!("{replay}\nstop-time = \"1000s\""), ""), arrivals(replay, ""));
}
