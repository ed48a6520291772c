//! Trace format blkparse (text).

use flashmesh_workload::RequestKind::{Deallocate, Flush, Read, Write};
use flashmesh_workload::config::{Beyond, BlkparseEvent, TraceFormat, Workload};
use flashmesh_workload::units::Time;

use super::helpers::{assert_each_is_rejected, request, requests, summary, workload};

const DEVICE: u32 = 8 << 20 | 16;

const LOG: &str = "\
  8,16   3        1     0.000011950  3645  Q   R 4938888 + 256 [java]
  8,16   3        2     0.000011951  3645  G   R 4938888 + 256 [java]
  8,16   3        3     0.000011952  3645  P   N [java]
  8,16   3        4     0.000011953  3645  I   R 4938888 + 256 [java]
  8,16   3        5     0.000011954  3645 UT   N [java] 1
  8,16   3        6     0.000026421  3645  D   R 488 + 256 [java]
  8,16   3        7     0.000795683  3557  C   R 488 + 256 [0]
  8,16   3        8     0.001000000  3557  D  WS 8 + 8 [java]
  8,16   3        9     0.001000001  3557  A  WS 8 + 8 <- (8,17) 4
  8,0    3       10     0.001500000  3557  D FWFS 16 + 8 (     450) [jbd2/sda-8]
  8,16   3       11     0.002000000  3557  D   D 1024 + 2048 [fstrim]
  8,16   3       12     0.002100000  3557  D  DE 1024 + 2048 [blkdiscard]
  8,16   3       13     0.002200000  3557  D  FN [kworker/3:1]
  8,16   3       14     0.002300000  3557  D FWS 0 + 0 [kworker/3:1]
  8,16   3       15     0.002400000  3557  D   N [kworker/3:1]
  8,16   3       16     0.002500000  3557  D   R 36 (12 00 00 00 24 00 ..) [hdparm]
  8,16   3       17     0.002600000  3557  D   R (12 00 00 00 24 00 ..) [hdparm]
  8,16   3       18     0.002700000     0  m   N cfq3557 dispatch
  8,16   3       19     0.003000000  3557  D  RM 0 + 1 [ls]
CPU3 (8,16):
 Reads Queued:           0,        0KiB\t Writes Queued:           0,        0KiB
 Read depth:             7        \t Write depth:            33

Total (8,16):
 IO unplugs:             0        \t Timer unplugs:           0

Throughput (R/W): 0KiB/s / 0KiB/s
Events (8,16): 29662 entries
Skips: 0 forward (0 -   0.0%)
";

#[test]
fn the_events_sent_to_the_drive_are_the_requests() {
    let at = |us_from_the_first| Time::from_ns(us_from_the_first);
    let expected = [
        request(Time::ZERO, Read, 488 * 512, 256 * 512, DEVICE),
        request(at(973_579), Write, 4096, 4096, DEVICE),
        request(at(1_473_579), Write, 8192, 4096, 8 << 20),
        request(at(1_973_579), Deallocate, 1024 * 512, 2048 * 512, DEVICE),
        request(at(2_073_579), Deallocate, 1024 * 512, 2048 * 512, DEVICE),
        request(at(2_973_579), Read, 0, 512, DEVICE),
    ];
    assert_eq!(requests(LOG, &workload(TraceFormat::Auto)), expected);
    let summary = summary(LOG, &workload(TraceFormat::Auto)).unwrap();
    assert_eq!((summary.format, summary.devices, summary.rejected_lines()), ("blkparse", 2, 0));
    assert_eq!(summary.lines, summary.requests + 5 + summary.skipped);
    let ignored: Vec<_> = summary.ignored.iter().map(|tally| (tally.reason.as_str(), tally.lines)).collect();
    assert_eq!(ignored, [("flush", 2), ("no-data", 1), ("passed-through", 2)]);
}

#[test]
fn another_event_can_stand_for_the_request() {
    let with = |blkparse_event| Workload { blkparse_event, beyond: Beyond::Wrap, ..workload(TraceFormat::Auto) };
    assert_eq!(requests(LOG, &with(BlkparseEvent::Queue)).len(), 1);
    let completed = requests(LOG, &with(BlkparseEvent::Complete));
    assert_eq!(completed, [request(Time::ZERO, Read, 488 * 512, 256 * 512, DEVICE)]);
}

#[test]
fn a_log_without_the_event_is_recognised_and_refused_with_the_way_out() {
    let queued: String = LOG
        .lines()
        .filter(|line| !line.contains("  D ") && !line.contains(" D "))
        .map(|line| format!("{line}\n"))
        .collect();
    let refused = summary(queued, &workload(TraceFormat::Auto)).unwrap_err().to_string();
    assert!(refused.contains("(read as blkparse text)"), "{refused}");
    assert!(refused.contains("help: choose an event that the log holds with workload.blkparse-event"), "{refused}");
}

#[test]
fn completions_without_sectors_are_flushes() {
    let text = "8,0 0 1 0.1 1 C R 8 + 8 [0]\n8,0 0 2 0.2 1 C FWS 0 [0]\n8,0 0 3 0.3 1 C FWS 0 (  450) [0]\n\
                8,0 0 4 0.4 1 C WS 0 [0]\n";
    let workload = Workload { blkparse_event: BlkparseEvent::Complete, ..workload(TraceFormat::Auto) };
    let summary = summary(text, &workload).unwrap();
    let ignored: Vec<_> = summary.ignored.iter().map(|tally| (tally.reason.as_str(), tally.lines)).collect();
    assert_eq!((summary.requests, ignored), (1, vec![("flush", 2), ("no-data", 1)]));
}

#[test]
fn flushes_are_requests_when_asked_for() {
    let workload = Workload { flushes: true, ..workload(TraceFormat::Auto) };
    let flushes = requests(LOG, &workload).into_iter().filter(|request| request.kind == Flush).count();
    let found = summary(LOG, &workload).unwrap();
    let ignored: Vec<_> = found.ignored.iter().map(|tally| (tally.reason.as_str(), tally.lines)).collect();
    assert_eq!((flushes, found.flushes, ignored), (2, 2, vec![("no-data", 1), ("passed-through", 2)]));
}

#[test]
fn events_out_of_order_are_no_fault_of_the_log() {
    // Two processors flush their events in batches, and the second batch starts before the first ends.
    let times = (0..100_u64).map(|i| 20 * i).chain((0..100).map(|i| 20 * i + 10));
    let text: String = times.map(|us| format!("8,0 0 1 0.{us:06} 1 D R 8 + 8 [a]\n")).collect();
    let workload = Workload { tolerate: 0.0, ..workload(TraceFormat::Auto) };
    let found = summary(&text, &workload).unwrap();
    assert_eq!((found.requests, found.reordered_lines()), (200, 99), "{found}");
    assert!(requests(&text, &workload).is_sorted_by_key(|request| request.arrival));
}

#[test]
fn a_request_that_the_driver_puts_back_and_sends_again_counts_once() {
    let text = "\
8,0 0 1 0.001 1 D R 8 + 8 [a]
8,0 0 2 0.002 1 R R 8 + 8 [0]
8,0 0 3 0.003 1 D R 8 + 8 [a]
8,0 0 4 0.004 1 C R 8 + 8 [0]
8,0 0 5 0.005 1 D R 8 + 8 [a]
8,0 0 6 0.006 1 C R 8 + 8 [0]
";
    let found = requests(text, &workload(TraceFormat::Auto));
    let arrivals: Vec<_> = found.iter().map(|request| request.arrival).collect();
    assert_eq!(arrivals, [Time::ZERO, Time::from_ms(4)]);
    let told = summary(text, &workload(TraceFormat::Auto)).unwrap().to_string();
    assert!(told.contains("1 requeued line ignored"), "{told}");
    let completed = Workload { blkparse_event: BlkparseEvent::Complete, ..workload(TraceFormat::Blkparse) };
    assert_eq!(requests(text, &completed).len(), 2);
}

#[test]
fn a_log_without_processes_is_read() {
    let text = LOG.lines().filter(|line| line.contains(" D ")).map(|line| {
        let end = line.find(" [").unwrap_or(line.len());
        format!("{}\n", &line[..end])
    });
    let text: String = text.collect();
    let found = requests(&text, &workload(TraceFormat::Auto));
    let whole = requests(LOG, &workload(TraceFormat::Auto));
    assert_eq!(found, whole);
}

#[test]
fn every_bad_blkparse_line_is_named_with_its_place() {
    let good = ["8,16 3 1 0.1 9 D R 8 + 8 [a]", "8,16 3 3 0.3 9 D W 8 + 8 [a]"];
    let bad = [
        ("8 16 3 2 0.2 9 D R 8 + 8 [a]", "fields", 2, "the device: major,minor"),
        ("8,x 3 2 0.2 9 D R 8 + 8 [a]", "number", 3, "the device: major,minor, found \"x\""),
        ("4096,0 3 2 0.2 9 D R 8 + 8 [a]", "number", 1, "major below 2^12"),
        ("8,1048576 3 2 0.2 9 D R 8 + 8 [a]", "number", 1, "minor below 2^20"),
        ("8,16 3", "fields", 7, "the sequence number, found the end of the line"),
        ("8,16 3 2 now 9 D R 8 + 8 [a]", "number", 10, "the time stamp in seconds, found \"now\""),
        ("8,16 3 2 0.2 java D R 8 + 8 [a]", "number", 14, "the number of the process, found \"java\""),
        ("8,16 3 2 0.2 9", "fields", 15, "the action, found the end of the line"),
        ("8,16 3 2 0.2 9 Z R 8 + 8 [a]", "kind", 16, "an action of blkparse: Q, D, C, ..., found \"Z\""),
        ("8,16 3 2 0.2 9 D ZR 8 + 8 [a]", "kind", 18, "(RWBS): R, W, D, F or N, and flags, found \"ZR\""),
        ("8,16 3 2 0.2 9 D r 8 + 8 [a]", "kind", 18, "(RWBS)"),
        ("8,16 3 2 0.2 9 D R", "fields", 19, "the first sector, found the end of the line"),
        ("8,16 3 2 0.2 9 D R x + 8 [a]", "number", 20, "the first sector, found \"x\""),
        ("8,16 3 2 0.2 9 D R 8 8 [a]", "fields", 22, "a plus sign, found \"8\""),
        ("8,16 3 2 0.2 9 D R 8 + -8 [a]", "number", 24, "the number of sectors, found \"-8\""),
        ("8,16 3 2 0.2 9 D R 8 + 8", "fields", 25, "the process or the error in brackets, found the end of the line"),
        ("8,16 3 2 0.2 9 D R 8 + 0 [a]", "zero-size", 24, "the size is zero"),
        ("8,16 3 2 0.2 9 D R 2097152 + 8 [a]", "beyond-drive", 20, "beyond the drive"),
    ];
    assert_each_is_rejected(TraceFormat::Blkparse, "", good, &bad);
}
