//! Real traces in `../shared`: their known figures, compared with the figures that the readers return.

use std::path::PathBuf;

use flashmesh_workload::config::{TracePolarity, TraceTimeUnit, Workload};
use flashmesh_workload::readers::{TraceSource, scan};
use flashmesh_workload::source::WorkloadSource;
use flashmesh_workload::units::Bytes;

use crate::support::shared;

/// Known figures of a trace, and the settings with which it is read.
struct Known {
    file: &'static str,
    format: &'static str,
    time_unit: TraceTimeUnit,
    polarity: TracePolarity,
    requests: u64,
    read_percent: f64,
    mean_kib: f64,
    span_s: f64,
    tolerate: f64,
}

fn known() -> Vec<Known> {
    use TracePolarity::ReadIsOne;
    use TraceTimeUnit::{Microseconds, Nanoseconds};
    let row = |file, format, time_unit, requests, read_percent, mean_kib, span_s| Known {
        file,
        format,
        time_unit,
        polarity: ReadIsOne,
        requests,
        read_percent,
        mean_kib,
        span_s,
        tolerate: 0.0,
    };
    let day_s = 24.0 * 3600.0;
    vec![
        row("msr-rsrch_1.csv", "msr", Nanoseconds, 13_780, 0.3, 12.2, 6.7 * day_s),
        row("msr-wdev_1.csv", "msr", Nanoseconds, 1_055, 0.0, 5.1, 6.9 * day_s),
        row("msr-hm_0-7k.csv", "msr", Nanoseconds, 7_016, 83.0, 11.8, 148.0),
        row("financial1-10k.ascii", "ascii", Nanoseconds, 10_000, 40.8, 5.4, 259.6),
        row("dtrs-127k.ascii.gz", "ascii", Microseconds, 127_043, 89.0, 55.3, 300.0),
        row("tpcc-small.trace", "ascii", Nanoseconds, 6_999, 62.6, 8.3, 0.14),
        // The last line has no line end.
        row("wsrch-small.trace", "ascii", Nanoseconds, 24_783, 100.0, 15.1, 60.0),
        // One event has a corrupt time stamp, and is rejected.
        Known { tolerate: 0.001, ..row("blkparse-ycsb-ext4.txt", "blkparse", Nanoseconds, 9_886, 91.4, 128.4, 810.4) },
    ]
}

#[test]
fn real_traces_give_their_known_figures() {
    let Some(traces) = shared::shared("traces") else { return };
    let (capacity, sector_size) = (Bytes::from_kib(1 << 30), Bytes::new(512));
    for known in known() {
        let path: PathBuf = traces.join(known.file);
        let workload = Workload {
            trace: Some(path),
            time_unit: Some(known.time_unit),
            polarity: known.polarity,
            tolerate: known.tolerate,
            ..Workload::default()
        };
        let summary = scan(&workload, capacity, sector_size).unwrap();
        println!("{summary}");
        assert_eq!((summary.format, summary.requests), (known.format, known.requests), "{}", known.file);
        let read_percent = summary.read_share * 100.0;
        assert!((read_percent - known.read_percent).abs() < 0.06, "{}: {read_percent} % reads", known.file);
        let mean_kib = (summary.read_bytes + summary.write_bytes) as f64 / summary.requests as f64 / 1024.0;
        assert!((mean_kib - known.mean_kib).abs() < 0.06, "{}: mean {mean_kib} KiB", known.file);
        let span_s = summary.span_ps as f64 / 1e12;
        assert!((span_s / known.span_s - 1.0).abs() < 0.05, "{}: {span_s} s", known.file);

        let mut source = TraceSource::open(&workload, capacity, sector_size).unwrap().with_summary(&summary);
        let mut requests = 0;
        while source.next_request(0).unwrap().is_some() {
            requests += 1;
        }
        assert_eq!(requests, known.requests);
    }
}
