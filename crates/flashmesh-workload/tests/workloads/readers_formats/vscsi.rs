//! Trace format CloudPhysics vscsi (binary).

use flashmesh_workload::RequestKind::{Read, Write};
use flashmesh_workload::config::{TraceFormat, Workload};
use flashmesh_workload::units::Time;

use super::helpers::{request, requests, summary, workload};

/// Fields of a record: serial number, bytes, operation code, block, microseconds.
type Fields = (u32, u32, u16, u64, u64);

const READ_10: u16 = 0x28;
const WRITE_16: u16 = 0x8a;
const SYNCHRONIZE_CACHE: u16 = 0x35;

fn version_1((serial, bytes, code, block, time_us): Fields) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend(serial.to_le_bytes());
    record.extend(bytes.to_le_bytes());
    record.extend(1_u32.to_le_bytes());
    record.extend(code.to_le_bytes());
    record.extend(0x0107_u16.to_le_bytes());
    record.extend(block.to_le_bytes());
    record.extend(time_us.to_le_bytes());
    record
}

fn version_2((serial, bytes, code, block, time_us): Fields) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend(code.to_le_bytes());
    record.extend(0x0207_u16.to_le_bytes());
    record.extend(serial.to_le_bytes());
    record.extend(bytes.to_le_bytes());
    record.extend(1_u32.to_le_bytes());
    record.extend(block.to_le_bytes());
    record.extend(time_us.to_le_bytes());
    record.extend(345_u64.to_le_bytes());
    record
}

type Encoder = fn(Fields) -> Vec<u8>;
const VERSIONS: [(&str, TraceFormat, usize, Encoder); 2] =
    [("vscsi1", TraceFormat::Vscsi1, 32, version_1), ("vscsi2", TraceFormat::Vscsi2, 40, version_2)];

const FIELDS: [Fields; 4] = [
    (7, 4096, READ_10, 8, 5_678_000_000),
    (8, 0, SYNCHRONIZE_CACHE, 0, 5_678_000_001),
    (9, 65536, WRITE_16, 1024, 5_678_000_002),
    (10, 512, READ_10, 2_097_151, 5_678_001_000),
];

#[test]
fn records_of_both_versions_become_requests() {
    for (name, format, bytes, encode) in VERSIONS {
        let trace: Vec<u8> = FIELDS.into_iter().flat_map(encode).collect();
        assert_eq!(trace.len(), 4 * bytes);
        let expected = [
            request(Time::ZERO, Read, 4096, 4096, 0),
            request(Time::from_us(2), Write, 524_288, 65536, 0),
            request(Time::from_us(1000), Read, 2_097_151 * 512, 512, 0),
        ];
        for format in [format, TraceFormat::Auto] {
            assert_eq!(requests(&trace, &workload(format)), expected, "{name}");
        }
        let summary = summary(&trace, &workload(TraceFormat::Auto)).unwrap();
        assert_eq!((summary.format, summary.lines, summary.requests, summary.devices), (name, 4, 3, 1));
        let ignored = "1 synchronize-cache record ignored, first at record 2";
        assert!(summary.to_string().contains(ignored), "{summary}");
    }
}

#[test]
fn one_record_alone_is_recognised() {
    for (name, _, _, encode) in VERSIONS {
        let summary = summary(encode(FIELDS[0]), &workload(TraceFormat::Auto)).unwrap();
        assert_eq!((summary.format, summary.requests), (name, 1));
    }
}

/// Reads a record changed by `spoil` between two good ones, and checks that it is rejected with one error at byte `byte`.
fn assert_is_rejected(version: usize, spoil: impl Fn(&mut Vec<u8>), reason: &str, byte: usize, message: &str) {
    let (name, format, bytes, encode) = VERSIONS[version];
    let mut bad = encode((8, 512, READ_10, 8, 5_678_000_001));
    spoil(&mut bad);
    let trace = [encode(FIELDS[0]), bad, encode(FIELDS[2])].concat();
    let tolerant = Workload { tolerate: 1.0, ..workload(format) };
    let found = summary(&trace, &tolerant).unwrap();
    let tally = &found.rejected[0];
    assert_eq!((found.requests, found.rejected.len()), (2, 1), "{name}: {found}");
    assert_eq!((tally.reason.as_str(), tally.first_line, tally.lines), (reason, 2, 1), "{name}");
    assert!(tally.message.contains(message), "{name}: {}", tally.message);
    let place = format!("record 2 (byte {})", bytes + byte);
    assert!(found.to_string().contains(&format!("1 record rejected ({reason}), first at {place}")), "{found}");
    let refused = summary(&trace, &workload(format)).unwrap_err().to_string();
    assert!(refused.starts_with(&format!("t: {place}: 1 of 3 records (33.33 %)")), "{refused}");
    assert!(refused.contains("1 record ") && refused.contains("help: "), "{refused}");
}

#[test]
fn bad_records_are_named_with_their_number_and_byte() {
    let set = |at: usize, bytes: &'static [u8]| {
        move |record: &mut Vec<u8>| record[at..at + bytes.len()].copy_from_slice(bytes)
    };
    let (code_1, version_at_1, length_1) = (12, 14, 4);
    assert_is_rejected(0, set(code_1, &[0x28, 0x01]), "kind", 12, "an operation code of SCSI, found the bytes 28 01");
    assert_is_rejected(
        0,
        set(version_at_1, &[7, 2]),
        "kind",
        14,
        "the version of the first record, found the bytes 07 02",
    );
    assert_is_rejected(0, set(length_1, &[0; 4]), "zero-size", 4, "the size is zero");
    assert_is_rejected(0, set(length_1, &[0xff; 4]), "too-large", 4, "more than 1GiB");
    assert_is_rejected(1, set(16, &[0xff; 8]), "number", 16, "a block below 2^55, found the bytes ff ff");
    assert_is_rejected(1, set(16, &[0, 0, 0x20, 0, 0]), "beyond-drive", 16, "beyond the drive");
}

#[test]
fn a_corrupt_time_stamp_is_named_with_its_byte() {
    for (corrupt, reason) in [(u64::MAX, "time-leaps-ahead"), (0, "time-runs-back")] {
        let at = |number: u32| if number == 5 { corrupt } else { 5_678_000_000 + u64::from(number) };
        let trace: Vec<u8> = (0..10).flat_map(|number| version_2((number, 512, READ_10, 8, at(number)))).collect();
        let tolerant = Workload { tolerate: 1.0, ..workload(TraceFormat::Auto) };
        let found = summary(&trace, &tolerant).unwrap();
        assert_eq!((found.requests, found.rejected[0].reason.as_str()), (9, reason), "{found}");
        assert!(found.to_string().contains("first at record 6 (byte 224)"), "{found}");
    }
}

#[test]
fn a_last_record_cut_short_is_rejected() {
    for (name, _, bytes, encode) in VERSIONS {
        let whole: Vec<u8> = FIELDS.into_iter().flat_map(encode).collect();
        for cut in 1..bytes {
            let tolerant = Workload { tolerate: 1.0, ..workload(TraceFormat::Auto) };
            let found = summary(&whole[..whole.len() - cut], &tolerant).unwrap();
            let tally = &found.rejected[0];
            assert_eq!((found.requests, tally.first_line, tally.reason.as_str()), (2, 4, "fields"), "{name}: {found}");
            let message = format!("expected a whole record of {bytes} bytes, found the end of the file");
            assert_eq!(tally.message, message);
        }
    }
}

#[test]
fn other_binary_files_are_still_no_traces() {
    for other in [vec![0_u8; 4000], (0..4000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()] {
        let refused = summary(&other, &workload(TraceFormat::Auto)).unwrap_err().to_string();
        assert!(refused.contains("binary, not text"), "{refused}");
    }
}
