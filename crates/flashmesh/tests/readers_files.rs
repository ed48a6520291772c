//! Files as they come: packed, damaged, binary, empty, changed while they are read.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use flashmesh::config::Workload;
use flashmesh::units::Bytes;
use flashmesh::workload::IoRequest;
use flashmesh::workload::readers::{FORMATS, Framing, TraceSource, scan};
use flashmesh::workload::source::WorkloadSource;

const CAPACITY: Bytes = Bytes::from_kib(1 << 20);
const SECTOR: Bytes = Bytes::new(512);

fn workload(path: &Path) -> Workload {
    Workload { trace: Some(path.to_owned()), ..Workload::default() }
}

fn trace(lines: u64) -> Vec<u8> {
    (0..lines)
        .flat_map(|i| format!("{} {} {} 8 {}\n", i * 1000, i % 3, i * 7919 % 100_000, i % 2).into_bytes())
        .collect()
}

fn written(directory: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

type Packer = fn(&[u8]) -> Vec<u8>;
const PACKERS: [(&str, Packer); 3] = [("gzip", gzip), ("zstd", zstd), ("xz", xz)];

fn requests(workload: &Workload) -> Vec<IoRequest> {
    let mut source = TraceSource::open(workload, CAPACITY, SECTOR).unwrap();
    std::iter::from_fn(|| source.next_request(0).unwrap()).collect()
}

fn refusal(path: &Path) -> String {
    scan(&workload(path), CAPACITY, SECTOR).unwrap_err().to_string()
}

#[test]
fn packed_traces_give_the_requests_of_the_plain_one_whatever_their_names() {
    let directory = tempfile::tempdir().unwrap();
    let plain = trace(30_000);
    let expected = requests(&workload(&written(directory.path(), "plain.gz", &plain)));
    assert_eq!(expected.len(), 30_000);
    for (name, pack) in PACKERS {
        let whole = written(directory.path(), "packed.txt", &pack(&plain));
        assert_eq!(requests(&workload(&whole)), expected, "{name}");
        let summary = scan(&workload(&whole), CAPACITY, SECTOR).unwrap();
        assert_eq!((summary.compression.name(), summary.requests), (name, 30_000));
        // Logs are often packed in parts and joined.
        let (head, tail) = plain.split_at(100_001);
        let joined = written(directory.path(), "joined", &[pack(head), pack(tail)].concat());
        assert_eq!(requests(&workload(&joined)), expected, "{name} in two parts");
    }
}

#[test]
fn truncated_and_damaged_packed_traces_name_the_file_and_the_damage() {
    let directory = tempfile::tempdir().unwrap();
    for (name, pack) in PACKERS {
        let packed = pack(&trace(50_000));
        for cut in [packed.len() - 1, packed.len() / 2, 20] {
            let path = written(directory.path(), "cut", &packed[..cut]);
            let refused = refusal(&path);
            assert!(refused.starts_with(&path.display().to_string()), "{refused}");
            assert!(
                refused.contains(&format!("the {name} data ends early: the file is truncated")),
                "{cut}: {refused}"
            );
        }
        let mut damaged = packed.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 200].fill(0x55);
        let refused = refusal(&written(directory.path(), "damaged", &damaged));
        assert!(refused.contains(&format!("the {name} data ")), "{refused}");
    }
}

#[test]
fn what_is_no_text_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let noise: Vec<u8> = (0..100_000_u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    for (bytes, needle) in [
        (&noise[..], "binary, not text: is it compressed with something else?"),
        (b"1000 0 8 8 1\n\0\0\0\0", "binary, not text"),
        (b"BZh91AY&SY", "bzip2"),
        (b"PK\x03\x04\x14", "zip"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"\xff\xfe1\0 \0", "UTF-16"),
        (b"", "the trace is empty"),
        (b"\n# only this\n\n", "no requests, only blank lines and comments"),
    ] {
        let path = written(directory.path(), "input", bytes);
        let refused = refusal(&path);
        assert!(refused.starts_with(&format!("{}: ", path.display())), "{refused}");
        assert!(refused.contains(needle), "{needle}: {refused}");
        assert!(TraceSource::open(&workload(&path), CAPACITY, SECTOR).is_err());
        let packed = written(directory.path(), "packed", &gzip(bytes));
        assert!(refusal(&packed).contains(needle), "{needle}, packed");
    }
}

#[test]
fn a_named_format_does_not_let_binary_pass() {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), "input", &[0; 1000]);
    for format in FORMATS.iter().filter(|format| format.framing == Framing::Lines) {
        let workload = Workload { format: format.kind, ..workload(&path) };
        assert!(scan(&workload, CAPACITY, SECTOR).unwrap_err().to_string().contains("binary, not text"));
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), "input", b"\xef\xbb\xbf1000 0 8 8 1\r\n");
    assert_eq!(requests(&workload(&path)).len(), 1);
}

#[test]
fn missing_files_and_directories_are_errors_that_name_them() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    assert!(refusal(&missing).starts_with(&format!("{}: ", missing.display())));
    assert!(refusal(directory.path()).contains("not a regular file"));
    let unnamed = scan(&Workload::default(), CAPACITY, SECTOR).unwrap_err().to_string();
    assert!(unnamed.contains("workload.trace"), "{unnamed}");
}

#[test]
fn a_file_that_vanishes_after_the_scan_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), "input", &trace(10));
    let workload = workload(&path);
    scan(&workload, CAPACITY, SECTOR).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(TraceSource::open(&workload, CAPACITY, SECTOR).is_err());
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), "input", &trace(200_000));
    let mut source = TraceSource::open(&workload(&path), CAPACITY, SECTOR).unwrap();
    for _ in 0..1000 {
        assert!(source.next_request(0).unwrap().is_some());
    }
    File::options().write(true).open(&path).unwrap().set_len(1_000_000).unwrap();
    let error = loop {
        match source.next_request(0) {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the end of a shrunken file passes for the end of the trace"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.starts_with(&path.display().to_string()) && error.contains("shrunk"), "{error}");
}

#[test]
fn a_trace_that_changed_since_the_scan_is_an_error_and_a_longer_one_stops_where_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), "input", &trace(10));
    let workload = workload(&path);
    let summary = scan(&workload, CAPACITY, SECTOR).unwrap();
    let source = || TraceSource::open(&workload, CAPACITY, SECTOR).unwrap().with_summary(&summary);
    assert_eq!(source().request_count(), Some(10));

    written(directory.path(), "input", &trace(7));
    let mut shorter = source();
    for _ in 0..7 {
        shorter.next_request(0).unwrap().unwrap();
    }
    assert!(shorter.next_request(0).unwrap_err().to_string().contains("of 10 counted before the run"));

    written(directory.path(), "input", &trace(12));
    let mut longer = source();
    for _ in 0..10 {
        longer.next_request(0).unwrap().unwrap();
    }
    for thread in [0, 1, 7] {
        assert!(longer.next_request(thread).unwrap().is_none());
    }
}
