//! Cases in which MQSim aborts, loses requests or is wrong (`../shared/golden/mqsim/README.md`, "What must not be reproduced"), on a similar drive.
//! Here all requests complete, no queue slot is lost, and no work is left over.
//!
//! `tests/python/test_import_mqsim_device.py` covers MQSim's own drives, including the 412 GB drive whose preconditioning crashes MQSim.

use flashmesh::measure::report::Report;
use flashmesh::measure::request_log::RequestRecord;
use flashmesh::simulation::Simulation;
use flashmesh::units::Time;

use crate::support::drives::{config_of, finish};

/// Small drive configured like MQSim's drives.
const DRIVE: &str = "\
[geometry]
channels = 2
chips-per-channel = 2
planes-per-die = 2
blocks-per-plane = 32
pages-per-block = 16
over-provisioning = 0.3
[flash]
die-interleaving = false
partial-program = true
read-command-time = [\"290ns\", \"940ns\"]
program-command-time = [\"361ns\", \"1177ns\"]
erase-command-time = [\"220ns\", \"920ns\"]
[fabric]
arbitration = \"data-first-round-robin\"
[schedule]
lookahead = 65535
[host]
interface = \"nvme\"
lanes = 8
link-rate = \"1GB/s\"
packet-payload = \"128B\"
packet-overhead = \"28B\"
read-data = \"request\"
";

const SLOTS: usize = 64;

/// Runs the drive with the additional configuration `sections` and all oracles enabled. Returns the report, and the records in order of issue.
fn run(sections: &str) -> (Report, Vec<RequestRecord>) {
    let config = config_of(&format!("{DRIVE}{sections}"));
    let (report, mut records) = finish(Simulation::new(&config).unwrap_or_else(|error| panic!("{error}")));
    records.sort_by_key(|record| record.id);
    (report, records)
}

/// Returns the sections of a run of random requests on a full drive in steady state.
fn workload(requests: u32, read_share: f64) -> String {
    format!(
        "[precondition]\nkind = \"random\"\n[workload]\nrequests = {requests}\nread-share = {read_share}\n\
         [replay]\noutstanding = {SLOTS}\n"
    )
}

#[test]
fn mixed_requests_behind_collection_all_complete() {
    for (gc, read_share) in [("", 0.5), ("preemptible = true", 0.7), ("victim = \"d-choices\"", 0.3)] {
        let (report, records) = run(&format!("{}[gc]\n{gc}\n", workload(6_000, read_share)));
        assert_eq!((report.requests, records.len()), (6_000, 6_000), "{gc}");
        assert!(report.gc.erases > 100, "{gc}: only {} blocks were erased", report.gc.erases);
    }
}

#[test]
fn no_slot_of_a_queue_is_lost_behind_collection() {
    let requests = 30_000;
    let (report, records) = run(&workload(requests, 0.0));
    assert_eq!(report.requests, u64::from(requests));
    assert!(report.gc.erases > 1_000, "only {} blocks were erased", report.gc.erases);
    // Each completion immediately causes the next issue, so all slots are in use until no request is left.
    let mut completed: Vec<Time> = records.iter().map(|record| record.completed).collect();
    completed.sort_unstable();
    let mut arrived: Vec<Time> = records.iter().map(|record| record.arrival).collect();
    arrived.sort_unstable();
    assert_eq!(arrived[SLOTS..], completed[..completed.len() - SLOTS]);
}

#[test]
fn entries_of_the_map_that_changed_are_written_back() {
    let mapping = "[mapping]\ncache-capacity = \"512B\"\nread-size = \"512B\"\n";
    let (report, _) = run(&format!("{}{mapping}", workload(4_000, 0.3)));
    assert_eq!(report.requests, 4_000);
    assert!(report.flash.map_reads > 1_000, "only {} map reads", report.flash.map_reads);
    assert!(report.flash.map_programs > 1_000, "only {} map programs", report.flash.map_programs);
}

#[test]
fn pages_move_inside_their_plane() {
    let (report, _) = run(&format!("{}[gc]\ncopyback = true\n", workload(6_000, 0.3)));
    assert_eq!(report.requests, 6_000);
    assert!(report.gc.pages_moved > 1_000, "only {} pages were moved", report.gc.pages_moved);
    // GC moves pages within their planes, so the channels carry only data of requests.
    let crossed = |bytes: &[u64]| bytes.iter().sum::<u64>() / 4096;
    let (links, flash) = (&report.links, &report.flash);
    assert_eq!(
        (crossed(&links.bytes_to_chips), crossed(&links.bytes_from_chips)),
        (flash.user_programs, flash.user_reads)
    );
}

/// Runs a trace of 40 requests at intervals of 10 units of `unit`, on a preconditioned drive. Returns the report, and the records in order of issue.
fn replayed(unit: &str) -> (Report, Vec<RequestRecord>) {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let trace = folder.path().join("oltp.trace");
    let lines: String = (0..40).map(|line| format!("{} 0 {} 8 {}\n", 10 * line, 8 * (line % 7), line % 2)).collect();
    std::fs::write(&trace, lines).expect("the trace can be written");
    run(&format!(
        "[precondition]\nkind = \"random\"\n[workload]\ntrace = {:?}\nformat = \"ascii\"\ntime-unit = \"{unit}\"\n\
         [replay]\nmode = \"open\"\n",
        trace.display().to_string()
    ))
}

#[test]
fn a_trace_is_replayed_on_a_preconditioned_drive_in_its_unit_of_time() {
    for (unit, step) in [("ps", Time::from_ps(10)), ("ns", Time::from_ns(10)), ("us", Time::from_us(10))] {
        let (report, records) = replayed(unit);
        assert_eq!(report.requests, 40, "{unit}");
        for (number, record) in records.iter().enumerate() {
            assert_eq!(record.arrival, Time::from_ps(step.as_ps() * number as u64), "{unit}");
        }
    }
}

#[test]
fn a_run_below_a_second_has_its_rate() {
    let (report, _) = run(&workload(1_000, 1.0));
    let seconds = report.makespan_ps as f64 / 1e12;
    assert!(seconds < 1.0);
    let rate = 1_000.0 / seconds;
    assert!((report.iops / rate - 1.0).abs() < 1e-9, "{} requests/s, not {rate}", report.iops);
}
