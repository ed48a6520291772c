//! One request at a time on MQSim's drive (CMU-SAFARI), to the nanosecond, from the doorbell to the completion. `tests/python/test_golden_mqsim.py`
//! compares these latencies through the importer, and whole runs.

use flashmesh::config::{Allocation, ArrayLevel, Config, ReplayMode};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::{IoRequest, RequestKind};

use crate::support::drives::{Listed, config_of, run_source};

/// Drive with 8 lanes of 1 GB/s, channels of 1000 MT/s, and tR of 3 us plus the time that MQSim adds.
const DRIVE: &str = "\
[geometry]
channels = 8
chips-per-channel = 8
planes-per-die = 2
blocks-per-plane = 80
pages-per-block = 768
[flash]
read-time = \"3020ns\"
program-time = \"100us\"
erase-time = \"1ms\"
read-command-time = [\"290ns\", \"940ns\"]
program-command-time = [\"361ns\", \"1177ns\"]
erase-command-time = [\"220ns\", \"920ns\"]
multi-plane = \"same-offset\"
die-interleaving = false
partial-program = true
program-order = \"any\"
[ftl]
write-binding = \"early\"
first-touch = \"write-block\"
[fabric]
channel-rate = \"1GB/s\"
arbitration = \"data-first-round-robin\"
[schedule]
lookahead = 65535
[host]
interface = \"nvme\"
lanes = 8
link-rate = \"1GB/s\"
packet-payload = \"128B\"
packet-overhead = \"28B\"
submission-size = \"72B\"
completion-size = \"16B\"
read-data = \"request\"
[nvme]
fetch-size = 512
doorbell-size = \"2B\"
read-request-size = \"4B\"
";

/// Link time of the completion doorbell of the previous request and the submission doorbell. These and the following constants are in ns.
const DOORBELLS: u64 = 4 + 4;
const READ_REQUEST: u64 = 4;
const ENTRY: u64 = 13;
const COMPLETION: u64 = 6;

/// Returns [`DRIVE`] with one chip, so that consecutive pages are on its two planes.
fn one_chip() -> Config {
    let mut config = config_of(DRIVE);
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.ftl.allocation =
        Allocation::Static([ArrayLevel::Plane, ArrayLevel::Channel, ArrayLevel::Way, ArrayLevel::Die]);
    config
}

/// Returns the latency of a request of `pages` pages that follows an equal one.
fn latency(mut config: Config, kind: RequestKind, pages: u64) -> Time {
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 1;
    let size = config.geometry.page_size * pages;
    let request = |at: u64| IoRequest { arrival: Time::ZERO, kind, offset: size * at, size, stream: 0 };
    let (_, records) = run_source(&config, Listed((0..2).map(request).collect()));
    assert_eq!(records[1].offset, size);
    records[1].completed - records[1].arrival
}

#[test]
fn a_read_of_one_page() {
    let expected = DOORBELLS + READ_REQUEST + ENTRY + 290 + 3_020 + 4_096 + 624 + COMPLETION;
    assert_eq!(expected, 8_061);
    assert_eq!(latency(config_of(DRIVE), RequestKind::Read, 1), Time::from_ns(expected));
}

#[test]
fn a_write_of_one_page() {
    let data = READ_REQUEST + 624;
    let expected = DOORBELLS + READ_REQUEST + ENTRY + data + 361 + 4_096 + 100_000 + COMPLETION;
    assert_eq!(expected, 105_116);
    assert_eq!(latency(config_of(DRIVE), RequestKind::Write, 1), Time::from_ns(expected));
}

#[test]
fn a_read_over_two_planes_of_a_chip() {
    let expected = DOORBELLS + READ_REQUEST + ENTRY + 290 + 650 + 3_020 + 2 * 4_096 + 1_248 + COMPLETION;
    assert_eq!(expected, 13_431);
    assert_eq!(latency(one_chip(), RequestKind::Read, 2), Time::from_ns(expected));
}

#[test]
fn a_write_of_sixteen_pages_on_one_chip() {
    let data = READ_REQUEST + 9_984;
    let program = 361 + 816 + 2 * 4_096 + 100_000;
    let expected = DOORBELLS + READ_REQUEST + ENTRY + data + 8 * program + COMPLETION;
    assert_eq!(expected, 884_971);
    assert_eq!(latency(one_chip(), RequestKind::Write, 16), Time::from_ns(expected));
}

#[test]
fn a_partial_write_reads_what_is_missing_first() {
    let mut config = config_of(DRIVE);
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 1;
    let write = |sectors: u64| {
        let size = Bytes::new(512 * sectors);
        IoRequest { arrival: Time::ZERO, kind: RequestKind::Write, offset: Bytes::ZERO, size, stream: 0 }
    };
    let (_, records) = run_source(&config, Listed([8, 3].map(write).into()));
    // Three sectors are 12 packets of 128 B with 28 B of framing each: 1872 B over 8 lanes.
    let data = READ_REQUEST + 234;
    let flash = 290 + 3_020 + 5 * 512 + 361 + 3 * 512 + 100_000;
    let expected = DOORBELLS + READ_REQUEST + ENTRY + data + flash + COMPLETION;
    assert_eq!(records[1].completed - records[1].arrival, Time::from_ns(expected));
}
