//! Trace formats of libCacheSim: CSV and oracleGeneral.

use flashmesh_workload::RequestKind::{Read, Write};
use flashmesh_workload::config::TraceFormat;
use flashmesh_workload::units::Time;

use super::helpers::{assert_each_is_rejected, request, requests, summary, workload};

#[test]
fn csv_counts_seconds_bytes_and_blocks_and_knows_operations_of_scsi() {
    let text = "version,time,op,size,lbn\n1,33898,2a,512,8\n1,33899,28,4096,16\n1,33899,35,0,0\n1,33900,8A,1024,24\n";
    let expected = [
        request(Time::ZERO, Write, 4096, 512, 0),
        request(Time::from_ms(1_000), Read, 8192, 4096, 0),
        request(Time::from_ms(2_000), Write, 12288, 1024, 0),
    ];
    assert_eq!(requests(text, &workload(TraceFormat::Auto)), expected);
    let summary = summary(text, &workload(TraceFormat::Auto)).unwrap();
    assert_eq!((summary.format, summary.skipped, summary.ignored[0].lines), ("libcachesim-csv", 1, 1));
}

#[test]
fn header_names_the_columns_and_without_an_operation_every_request_reads() {
    let text = "obj_id, obj_size, time, next\n8,512,1.5,7\n16,1024,2.5,9\n";
    let expected = [request(Time::ZERO, Read, 4096, 512, 0), request(Time::from_ms(1_000), Read, 8192, 1024, 0)];
    assert_eq!(requests(text, &workload(TraceFormat::Auto)), expected);
}

#[test]
fn header_may_use_other_usual_names_of_the_columns() {
    let expected = [request(Time::ZERO, Read, 4096, 512, 0)];
    for names in ["object,object_size,ts", "object_id,length,timestamp", "lba,bytes,clock_time"] {
        assert_eq!(requests(format!("{names}\n8,512,1.5\n"), &workload(TraceFormat::Auto)), expected, "{names}");
    }
}

#[test]
fn every_bad_csv_line_is_named_with_its_place() {
    let good = ["1,100,28,512,8", "1,200,2a,512,8"];
    let bad = [
        ("1,x,28,512,8", "number", 3, "the time in seconds, found \"x\""),
        ("1,150,xx,512,8", "kind", 7, "the operation"),
        ("1,150,28,x,8", "number", 10, "the size in bytes"),
        ("1,150,28,512", "fields", 13, "a comma and the next column"),
        ("1,150,28,512,8,9", "fields", 15, "the end of the line"),
        ("1,150,28,0,8", "zero-size", 10, "the size is zero"),
    ];
    assert_each_is_rejected(TraceFormat::LibcachesimCsv, "version,time,op,size,lbn\n", good, &bad);
}

fn record(seconds: u32, block: u64, size: u32, next: i64) -> Vec<u8> {
    [&seconds.to_le_bytes()[..], &block.to_le_bytes(), &size.to_le_bytes(), &next.to_le_bytes()].concat()
}

#[test]
fn oracle_general_is_recognised_and_every_request_of_it_reads() {
    let bytes = [record(7, 8, 512, 3), record(7, 16, 4096, -1), record(9, 8, 512, 1), record(9, 8, 512, -1)].concat();
    let expected = [
        request(Time::ZERO, Read, 4096, 512, 0),
        request(Time::ZERO, Read, 8192, 4096, 0),
        request(Time::from_ms(2_000), Read, 4096, 512, 0),
        request(Time::from_ms(2_000), Read, 4096, 512, 0),
    ];
    assert_eq!(requests(&bytes, &workload(TraceFormat::Auto)), expected);
    let cut = [bytes, vec![1; 7]].concat();
    let error = summary(cut, &workload(TraceFormat::Auto)).unwrap_err().to_string();
    assert!(error.contains("a record of 24 bytes, found the end of the file"), "{error}");
}

/// Start times whose first two bytes equal the magic number of gzip.
#[test]
fn an_oracle_general_trace_that_begins_like_gzip_is_read_as_it_is() {
    for first in [0x0000_8b1f, 0x0007_8b1f, 0xe008_8b1f] {
        let bytes = [record(first, 8, 512, 3), record(first + 1, 16, 4096, -1)].concat();
        let expected = [request(Time::ZERO, Read, 4096, 512, 0), request(Time::from_ms(1_000), Read, 8192, 4096, 0)];
        assert_eq!(requests(&bytes, &workload(TraceFormat::OracleGeneral)), expected, "{first:#x}");
    }
}
