//! Starts of streams and think times of threads: `replay.phase`, `replay.start-delay`, `replay.ramp-time`, `replay.think-every` and
//! `replay.outstanding-max`.

use flashmesh::measure::request_log::RequestRecord;
use flashmesh::simulation::Simulation;
use flashmesh::units::Time;

use crate::support::drives::{config_of, finish};

const DRIVE: &str = "\
[geometry]
channels = 2
chips-per-channel = 2
blocks-per-plane = 16
pages-per-block = 32
over-provisioning = 0.3
[workload]
requests = 50
";

/// Returns the records of a run with the settings `streams`, in order of issue within each stream.
fn records(streams: &str) -> Vec<RequestRecord> {
    let config = config_of(&format!("{DRIVE}{streams}"));
    let (_, mut records) = finish(Simulation::new(&config).unwrap_or_else(|error| panic!("{error}")));
    records.sort_by_key(|record| record.id);
    records
}

/// Returns the arrival of the first request of a stream and its last completion.
fn span(records: &[RequestRecord], stream: u32) -> (Time, Time) {
    let own = || records.iter().filter(|record| record.issuer.0 == stream);
    let first = own().map(|record| record.arrival).min().unwrap();
    (first, own().map(|record| record.completed).max().unwrap())
}

#[test]
fn a_phase_begins_when_the_phases_before_it_have_ended() {
    for mode in ["stress", "closed", "open"] {
        let text = format!(
            "[replay]\nmode = \"{mode}\"\n[stream.a.workload]\n[stream.b.replay]\nphase = 3\n[stream.c.workload]\nrequests = 9\n"
        );
        let records = records(&text);
        assert_eq!(records.len(), 109, "{mode}");
        let ends = span(&records, 0).1.later(span(&records, 2).1);
        assert_eq!((span(&records, 0).0, span(&records, 2).0), (Time::ZERO, Time::ZERO), "{mode}");
        assert_eq!(span(&records, 1).0, ends, "{mode}");
    }
}

#[test]
fn a_stream_begins_behind_its_delay_and_stops_as_long_after() {
    for mode in ["stress", "closed", "open"] {
        let text = format!(
            "[replay]\nmode = \"{mode}\"\nstop-time = \"200us\"\n[stream.a.workload]\nrequests = 1000000\n\
             [stream.b.replay]\nphase = 1\nstart-delay = \"3ms\"\n[stream.b.workload]\nrequests = 1000000\n"
        );
        let records = records(&text);
        let end = span(&records, 0).1;
        let begun = end + Time::from_ms(3);
        assert_eq!(span(&records, 1).0, begun, "{mode}");
        let last = records.iter().filter(|record| record.issuer.0 == 1).map(|record| record.arrival).max().unwrap();
        assert!(last <= begun + Time::from_us(200) && last > begun + Time::from_us(50), "{mode}: {last}");
    }
}

#[test]
fn a_thread_thinks_after_so_many_requests() {
    let records = records("[replay]\nmode = \"closed\"\nthink-time = \"1ms\"\nthink-every = 5\n");
    let pauses: Vec<bool> =
        records.windows(2).map(|pair| pair[1].arrival == pair[0].completed + Time::from_ms(1)).collect();
    for (number, pauses) in pauses.into_iter().enumerate() {
        assert_eq!(pauses, number % 5 == 4, "after request {number}");
    }
}

#[test]
fn an_open_stream_keeps_to_its_own_depth() {
    let records = records(
        "interarrival = \"100ns\"\narrivals = \"constant\"\n[replay]\nmode = \"open\"\noutstanding-max = 2\nlatency-start = \"issue\"\n",
    );
    for record in &records {
        let in_flight = |other: &&RequestRecord| other.arrival <= record.arrival && other.completed > record.arrival;
        assert!(records.iter().filter(in_flight).count() <= 2, "at {}", record.arrival);
    }
    assert!(records.len() == 50 && records[49].arrival > Time::from_us(20));
}

/// The results of a stream exclude requests that complete during its ramp; those of the run include all.
#[test]
fn requests_of_the_ramp_count_in_the_run_and_not_in_their_stream() {
    const RAMP: Time = Time::from_us(400);
    for mode in ["stress", "closed", "open"] {
        let text = format!(
            "{DRIVE}[replay]\nmode = \"{mode}\"\nstop-time = \"2ms\"\nramp-time = \"400us\"\n\
             [stream.a.workload]\nrequests = 1000000\n\
             [stream.b.replay]\nphase = 1\nstart-delay = \"1ms\"\n[stream.b.workload]\nrequests = 1000000\n"
        );
        let simulation = Simulation::new(&config_of(&text)).unwrap_or_else(|error| panic!("{error}"));
        let (report, records) = finish(simulation);
        assert_eq!(report.requests, records.len() as u64, "{mode}");
        for (number, stream) in (0..).zip(&report.streams) {
            let counted_from = Time::from_ps(stream.start_ps) + RAMP;
            let own = || records.iter().filter(|record| record.issuer.0 == number);
            let counted = own().filter(|record| record.completed >= counted_from).count() as u64;
            assert!(0 < counted && counted < own().count() as u64, "{mode}: the ramp is a part of the stream");
            assert_eq!(stream.requests, counted, "{mode}");
            let seconds = (span(&records, number).1 - counted_from).as_secs_f64();
            assert!((stream.iops * seconds / counted as f64 - 1.0).abs() < 1e-9, "{mode}");
            assert_eq!(stream.latency_ps.all.as_ref().map(|latency| latency.count), Some(counted), "{mode}");
        }
    }
}

/// The warm-up ends before the second stream starts. The rate of that stream counts from its own start.
#[test]
fn the_rate_of_a_stream_in_the_measured_window_begins_with_the_stream() {
    let text = format!(
        "{DRIVE}[measure]\nwarm-up = \"time\"\nwarm-up-time = \"50us\"\n\
         [replay]\nmode = \"closed\"\n[stream.a.workload]\nrequests = 200\n[stream.b.replay]\nphase = 1\n"
    );
    let (report, _) = finish(Simulation::new(&config_of(&text)).unwrap_or_else(|error| panic!("{error}")));
    let measured = report.measured.expect("the warm-up ended");
    assert!((measured.streams[1].iops / report.streams[1].iops - 1.0).abs() < 1e-9);
}

/// Confidence intervals of the run include the requests of the ramp.
#[test]
fn a_ramp_changes_no_interval_of_the_run() {
    let confidence = |ramp: &str| {
        let text = format!("{DRIVE}[replay]\nmode = \"stress\"\n{ramp}[stream.a.workload]\nrequests = 4000\n");
        let (report, _) = finish(Simulation::new(&config_of(&text)).unwrap_or_else(|error| panic!("{error}")));
        assert!(report.confidence.iops.is_some(), "the run is long enough for intervals");
        report.to_json()["confidence"].clone()
    };
    assert_eq!(confidence("ramp-time = \"400us\"\n"), confidence(""));
}
