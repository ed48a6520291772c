//! Trace files in any state: compressed, damaged, binary, empty, or changed during reading.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flashmesh_workload::IoRequest;
use flashmesh_workload::config::{TraceTimeUnit, Workload};
use flashmesh_workload::error::WorkloadError;
use flashmesh_workload::readers::{FORMATS, Framing, TraceSource, TraceStream, scan, time_unit};
use flashmesh_workload::source::WorkloadSource;
use flashmesh_workload::units::Bytes;

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
        // Logs are often compressed in parts that are then concatenated.
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
    let mut tar = b"trace.csv".to_vec();
    tar.resize(257, 0);
    tar.extend(b"ustar\x0000");
    for (bytes, needle) in [
        (&noise[..], "binary, not text: is it compressed with something else?"),
        (b"1000 0 8 8 1\n\0\0\0\0", "binary, not text"),
        (b"\x07tae\0\0\0\0\x01\0\0\0", "a binary log of blktrace, not text: run blkparse on it"),
        (b"eat\x07\0\0\0\0\0\0\0\x01", "a binary log of blktrace, not text: run blkparse on it"),
        (b"BZh91AY&SY", "bzip2"),
        (b"PK\x03\x04\x14", "zip"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"\xff\xfe1\0 \0", "UTF-16"),
        (b"\xff\xfe\0\x001\0\0\0", "UTF-32"),
        (b"]\0\0\x80\0", "lzma"),
        (b"\x1f\x9d\x90abc", "compress, "),
        (&tar, "a tar archive"),
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
    for (name, pack) in PACKERS {
        let twice = written(directory.path(), "twice", &gzip(&pack(&trace(1_000))));
        assert!(refusal(&twice).contains(&format!("packed twice, the first time with {name}")), "{name}");
    }
}

#[test]
fn requests_months_ahead_are_told_as_such() {
    let directory = tempfile::tempdir().unwrap();
    let line = |at: u64| format!("{at} 0 8 8 1\n");
    let late = 20_000_000_000_000_000; // ns, 231 days
    let lines: String = (0..500).map(|at| line(at * 1_000)).chain((0..500).map(|at| line(late + at * 1_000))).collect();
    let refused = refusal(&written(directory.path(), "leap.txt", lines.as_bytes()));
    assert!(refused.contains("500 lines with a time stamp that leaps ahead"), "{refused}");
    assert!(refused.contains(":501:1: the time stamp lies far ahead of those around it"), "{refused}");
}

#[test]
fn a_named_format_does_not_let_binary_pass() {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), "input", &[0; 1000]);
    for format in FORMATS.iter().filter(|format| format.framing == Framing::Lines) {
        let workload = Workload { format: format.kind.expect("the format is registered"), ..workload(&path) };
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
            Ok(None) => panic!("the end of a shrunken file is taken as the end of the trace"),
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

#[test]
fn comments_at_the_start_may_be_longer_than_what_the_format_is_told_by() {
    let directory = tempfile::tempdir().unwrap();
    for kilobytes in [63, 64, 65, 300] {
        let comment = format!("# {}\n\n", "x".repeat(100));
        let comments = comment.repeat(kilobytes * 1024 / comment.len() + 1);
        let path = written(directory.path(), "commented", &[comments.as_bytes(), &trace(50)].concat());
        let summary = scan(&workload(&path), CAPACITY, SECTOR).unwrap();
        let lines = comments.lines().count() as u64;
        assert_eq!((summary.requests, summary.skipped, summary.lines), (50, lines, lines + 50), "{kilobytes} KiB");
    }
    for kilobytes in [3, 5, 64, 65, 300, 2_000] {
        let comment = format!("# {}\n", "x".repeat(kilobytes * 1024));
        for comments in [comment.clone(), comment.repeat(3), format!("# short\n{comment}\n")] {
            let path = written(
                directory.path(),
                "commented",
                &[comments.as_bytes(), &trace(50), comments.as_bytes(), &trace(0)].concat(),
            );
            let summary = scan(&workload(&path), CAPACITY, SECTOR).unwrap();
            let lines = 2 * comments.lines().count() as u64;
            assert_eq!((summary.requests, summary.skipped, summary.lines), (50, lines, lines + 50), "{kilobytes} KiB");
        }
    }
    let path = written(directory.path(), "commented", "# nothing else\n".repeat(30_000).as_bytes());
    assert!(refusal(&path).contains("only blank lines and comments"), "{}", refusal(&path));
}

#[test]
fn zeros_behind_a_gzip_file_say_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let plain = trace(100);
    let expected = requests(&workload(&written(directory.path(), "plain", &plain)));
    for zeros in [1, 511, 1 << 20] {
        let padded = written(directory.path(), "padded.gz", &[gzip(&plain), vec![0; zeros]].concat());
        assert_eq!(requests(&workload(&padded)), expected, "{zeros} zeros");
    }
    let spoilt = written(directory.path(), "spoilt.gz", &[gzip(&plain), vec![0; 99], b"junk".to_vec()].concat());
    assert!(refusal(&spoilt).contains("what follows its end is no gzip data"), "{}", refusal(&spoilt));
}

#[test]
fn window_of_zstd_that_takes_too_much_memory_is_named_as_such() {
    let directory = tempfile::tempdir().unwrap();
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(30).unwrap();
    encoder.write_all(&trace(100)).unwrap();
    let path = written(directory.path(), "long.zst", &encoder.finish().unwrap());
    assert!(refusal(&path).contains("repack it with zstd --long=27"), "{}", refusal(&path));
}

#[test]
fn dictionary_of_xz_that_takes_too_much_memory_is_named_as_such() {
    use liblzma::stream::{Check, Filters, LzmaOptions, Stream};
    let directory = tempfile::tempdir().unwrap();
    let packed = |dictionary_mib: u32| {
        let mut options = LzmaOptions::new_preset(0).unwrap();
        options.dict_size(dictionary_mib << 20);
        let stream = Stream::new_stream_encoder(Filters::new().lzma2(&options), Check::Crc32).unwrap();
        let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
        encoder.write_all(&trace(100)).unwrap();
        written(directory.path(), "packed.xz", &encoder.finish().unwrap())
    };
    assert_eq!(requests(&workload(&packed(128))).len(), 100);
    let refused = refusal(&packed(192));
    assert!(refused.contains("takes more than 160 MiB to unpack with: repack it with xz -9 or lower"), "{refused}");
}

#[test]
fn packed_parts_follow_one_another_and_what_is_none_is_named_as_such() {
    let directory = tempfile::tempdir().unwrap();
    for (name, packer) in [PACKERS[0], PACKERS[2]] {
        let part = packer(&trace(10));
        let behind = |rest: &[u8]| written(directory.path(), name, &[&part, rest].concat());
        for (rest, requests_expected) in [(Vec::new(), 10), (vec![0; 8], 10), (part.clone(), 20)] {
            assert_eq!(requests(&sorted(&behind(&rest))).len(), requests_expected, "{name}");
        }
        // Shorter than, equal to and longer than the header of an xz stream.
        for length in [1, 4, 11, 12, 13, 100] {
            let refused = refusal(&behind(&vec![b'j'; length]));
            assert!(refused.contains(&format!("what follows its end is no {name} data")), "{length}: {refused}");
        }
        let refused = refusal(&behind(&part[..part.len() / 2]));
        assert!(refused.contains("ends early: the file is truncated"), "{name}: {refused}");
    }
}

/// Returns a workload that sorts its trace, because the times of the trace restart in each part.
fn sorted(path: &Path) -> Workload {
    Workload { sort: true, ..workload(path) }
}

#[test]
fn trace_out_of_order_is_taken_when_it_is_to_be_sorted() {
    let directory = tempfile::tempdir().unwrap();
    let lines: String = (0..100_u64).map(|i| format!("{} 0 {} 8 1\n", (i ^ 1) * 1000, i * 8)).collect();
    let path = written(directory.path(), "unsorted", lines.as_bytes());
    let refused = refusal(&path);
    assert!(refused.contains("out of order") && refused.contains("--sort"), "{refused}");
    let sorted = Workload { sort: true, ..workload(&path) };
    let summary = scan(&sorted, CAPACITY, SECTOR).unwrap();
    assert_eq!((summary.requests, summary.reordered_lines()), (100, 50));
    assert!(requests(&sorted).is_sorted_by_key(|request| request.arrival));
}

#[test]
fn open_replay_needs_time_stamps_and_the_unit_of_those_of_the_ascii_family() {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), "ascii", &trace(1_000));
    let required = |workload: &Workload| {
        let summary = scan(workload, CAPACITY, SECTOR).unwrap();
        time_unit::require_time_unit(&summary, workload).map_err(|error| error.to_string())
    };
    let refused = required(&workload(&path)).unwrap_err();
    // The trace has a thousand requests, 1000 ticks apart: a microsecond if ticks are ns, a millisecond if they are us.
    assert!(refused.contains("set workload.time-unit = \"us\" if that is right"), "{refused}");
    assert!(refused.contains("ms: 1.000e0 requests a second for 9.990e2 s"), "{refused}");
    for unit in [TraceTimeUnit::Nanoseconds, TraceTimeUnit::Seconds] {
        assert_eq!(required(&Workload { time_unit: Some(unit), ..workload(&path) }), Ok(()));
    }
    let path = written(directory.path(), "still", "5 0 0 8 1\n".repeat(9).as_bytes());
    let refused = required(&workload(&path)).unwrap_err();
    assert!(refused.contains("all 9 requests have the same time stamp"), "{refused}");
}

#[test]
fn trace_that_is_rewritten_during_the_replay_of_its_beginning_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), "plain", &trace(5_000));
    let workload = Workload { requests: Some(10), ..workload(&path) };
    let counted = TraceStream::open(&workload, CAPACITY, SECTOR).unwrap().identity();
    let summary = scan(&workload, CAPACITY, SECTOR).unwrap();
    let source =
        || TraceSource::open(&workload, CAPACITY, SECTOR).unwrap().with_summary(&summary).expecting_file(counted);
    let walk = |mut source: TraceSource| {
        (0..10).for_each(|_| assert!(source.next_request(0).unwrap().is_some()));
        source.next_request(0).map_err(|error| error.to_string())
    };
    assert_eq!(walk(source()), Ok(None));
    let open = source();
    written(directory.path(), "plain", &trace(4_999));
    let error = walk(open).unwrap_err();
    assert!(error.contains("the file was changed while it was replayed"), "{error}");
}

/// Reads a trace without a thread. Returns the requests, and the error that ended the trace; `None` if it was read to its end.
fn pulled(workload: &Workload) -> (Vec<IoRequest>, Option<String>) {
    let mut stream = match TraceStream::open(workload, CAPACITY, SECTOR) {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Some(error.to_string())),
    };
    all_of(|| stream.next_request())
}

/// Like [`pulled`], but with a read-ahead thread.
fn read_ahead(workload: &Workload) -> (Vec<IoRequest>, Option<String>) {
    let mut source = match TraceSource::open(workload, CAPACITY, SECTOR) {
        Ok(source) => source,
        Err(error) => return (Vec::new(), Some(error.to_string())),
    };
    all_of(|| source.next_request(0))
}

fn all_of(mut next: impl FnMut() -> Result<Option<IoRequest>, WorkloadError>) -> (Vec<IoRequest>, Option<String>) {
    let mut requests = Vec::new();
    loop {
        match next() {
            Ok(Some(request)) => requests.push(request),
            Ok(None) => return (requests, None),
            Err(error) => return (requests, Some(error.to_string())),
        }
    }
}

#[test]
fn requests_that_are_read_ahead_are_those_of_the_stream_with_errors_in_their_place() {
    let directory = tempfile::tempdir().unwrap();
    let (mut failed, plain) = (0, trace(100_000));
    let mut files: Vec<(String, Vec<u8>)> = vec![("plain".to_owned(), plain.clone())];
    for (name, pack) in PACKERS {
        let packed = pack(&plain);
        for cut in [1, packed.len() / 3, packed.len() - 7] {
            let mut broken = packed.clone();
            broken[cut] ^= 0xff;
            files.push((format!("{name}-broken-{cut}"), broken));
            files.push((format!("{name}-cut-{cut}"), packed[..cut].to_vec()));
        }
        files.push((name.to_owned(), packed));
    }
    for (name, bytes) in files {
        let path = written(directory.path(), &name, &bytes);
        for requests in [None, Some(1), Some(1024), Some(1025), Some(50_000)] {
            let workload = Workload { requests, ..workload(&path) };
            let (expected, error) = pulled(&workload);
            failed += u32::from(error.is_some());
            let expected_count = expected.len() as u64;
            assert_eq!(read_ahead(&workload), (expected, error.clone()), "{name}, {requests:?}");
            let scanned = scan(&workload, CAPACITY, SECTOR).map(|summary| summary.requests);
            match (error, scanned) {
                (Some(error), scanned) => assert_eq!(scanned.unwrap_err().to_string(), error, "{name}, {requests:?}"),
                (None, Ok(count)) => assert_eq!(count, expected_count, "{name}, {requests:?}"),
                // Damaged data may still decompress, into too many bad lines.
                (None, Err(error)) => assert!(error.to_string().contains("cannot be used"), "{name}: {error}"),
            }
        }
    }
    assert!(failed > 30, "{failed} files with an error");
}

/// Reader that blocks forever at the end of its data, like a pipe whose writer stops writing.
struct Stuck(std::io::Cursor<Vec<u8>>, std::sync::mpsc::Receiver<()>);

impl Read for Stuck {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.read(buffer)?;
        if count == 0 {
            let _ = self.1.recv();
        }
        Ok(count)
    }
}

#[test]
fn nobody_waits_for_a_thread_whose_requests_are_wanted_no_more() {
    let (writer, waits) = std::sync::mpsc::channel();
    let stuck = Stuck(std::io::Cursor::new(trace(100_000)), waits);
    let workload = workload(Path::new("stuck"));
    let stream = TraceStream::from_reader("stuck".into(), stuck, &workload, CAPACITY, SECTOR).unwrap();
    let mut source = TraceSource::from_stream(stream);
    (0..90_000).for_each(|_| assert!(source.next_request(0).unwrap().is_some()));
    drop(source);
    drop(writer);
}
