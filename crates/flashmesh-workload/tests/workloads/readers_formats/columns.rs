//! Trace formats of simple columns: SPC, SYSTOR '17, Alibaba, Tencent, DiskMon, FIU, and the short form of MSR.

use flashmesh_workload::RequestKind::{Read, Write};
use flashmesh_workload::config::{Beyond, TraceFormat, Workload};
use flashmesh_workload::units::Time;

use super::helpers::{assert_each_is_rejected, request, requests, summary, workload};

#[test]
fn spc_lines_count_blocks_of_512_bytes_and_seconds() {
    let text = "0,21741712,24576,R,0.000774\n1,8,1024,w,0.000938,more,7\r\n 2 , 16 , 512 , W , 1.5 \n";
    let expected = [
        request(Time::ZERO, Read, 0, 24576, 0),
        request(Time::from_us(164), Write, 4096, 1024, 1),
        request(Time::from_us(1_499_226), Write, 8192, 512, 2),
    ];
    let wrapped = Workload { beyond: Beyond::Wrap, ..workload(TraceFormat::Auto) };
    let read = requests(text, &wrapped);
    // Block 21,741,712 wraps on a drive of 2,097,152 blocks.
    assert_eq!(read[0].offset.as_u64(), 21_741_712 % 2_097_152 * 512);
    assert_eq!(read[1..], expected[1..]);
    let summary = summary(text, &wrapped).unwrap();
    assert_eq!((summary.format, summary.devices, summary.wrapped), ("spc", 3, 1));
}

#[test]
fn every_bad_spc_line_is_named_with_its_place() {
    let good = ["0,8,512,R,0.1", "1,8,512,W,0.3"];
    let bad = [
        ("x,8,512,R,0.2", "number", 1, "the application storage unit, a number, found \"x\""),
        ("4294967296,8,512,R,0.2", "number", 1, "the application storage unit"),
        ("0", "fields", 2, "the logical block address, found the end of the line"),
        ("0,,512,R,0.2", "number", 3, "the logical block address, found \",\""),
        ("0,36028797018963968,512,R,0.2", "number", 3, "a number of 512-byte sectors below 2^55"),
        ("0,8,-512,R,0.2", "number", 5, "the size in bytes, found \"-512\""),
        ("0,8,512,Read,0.2", "kind", 9, "the opcode, R or W, found \"Read\""),
        ("0,8,512,,0.2", "kind", 9, "the opcode, R or W"),
        ("0,8,512,R", "fields", 10, "the time stamp in seconds, found the end of the line"),
        ("0,8,512,R,", "number", 11, "the time stamp in seconds, found the end of the line"),
        ("0,8,512,R,2e-1", "number", 11, "the time stamp in seconds, found \"2e-1\""),
        ("0,8,512,R,0.2 7", "fields", 15, "the end of the line, found \"7\""),
        ("0,8,0,R,0.2", "zero-size", 5, "the size is zero"),
        ("0,2097152,512,R,0.2", "beyond-drive", 3, "beyond the drive"),
    ];
    assert_each_is_rejected(TraceFormat::Spc, "", good, &bad);
}

#[test]
fn systor_time_stamps_are_cut_to_microseconds_and_untyped_lines_counted() {
    let text = "Timestamp,Response,IOType,LUN,Offset,Size\n\
                1455592411.154846000,0.001325000,R,3,4096,8192\n\
                1455592411.154847999,0.000174000,W,4,512,512\n\
                1455592411.154848000,,,4,0,4096\n\
                1455592411.154849,0.1,R,0,0,4096\n";
    let expected = [
        request(Time::ZERO, Read, 4096, 8192, 3),
        request(Time::from_us(1), Write, 512, 512, 4),
        request(Time::from_us(3), Read, 0, 4096, 0),
    ];
    assert_eq!(requests(text, &workload(TraceFormat::Auto)), expected);
    let summary = summary(text, &workload(TraceFormat::Auto)).unwrap();
    assert_eq!((summary.format, summary.lines, summary.skipped, summary.devices), ("systor", 5, 1, 3));
    let ignored = &summary.ignored[0];
    assert_eq!((ignored.reason.as_str(), ignored.lines, ignored.first_line), ("untyped", 1, 4));
}

#[test]
fn every_bad_systor_line_is_named_with_its_place() {
    let good = ["100.1,0.1,R,0,0,512", "100.3,0.1,W,0,0,512"];
    let bad = [
        ("now,0.1,R,0,0,512", "number", 1, "the time stamp in seconds, found \"now\""),
        ("100.2", "fields", 6, "a comma and the response time"),
        ("100.2,0.1", "fields", 10, "a comma and the type"),
        ("100.2,0.1,", "fields", 11, "a comma and the LUN, found the end of the line"),
        ("100.2,0.1,Read,0,0,512", "kind", 11, "the type, R, W or blank, found \"Read\""),
        ("100.2,0.1,R,a,0,512", "number", 13, "the LUN, found \"a\""),
        ("100.2,0.1,,0,0", "fields", 15, "a comma and the size in bytes"),
        ("100.2,0.1,R,0,99999999999999999999,512", "number", 15, "the offset in bytes"),
        ("100.2,0.1,R,0,0,5l2", "number", 17, "the size in bytes, found \"5l2\""),
        ("100.2,0.1,R,0,0,512,9", "fields", 20, "the end of the line, found \",\""),
        ("100.2,0.1,R,0,0,0", "zero-size", 17, "the size is zero"),
    ];
    assert_each_is_rejected(TraceFormat::Systor, "", good, &bad);
}

#[test]
fn alibaba_disks_become_devices() {
    let text = "device_id,opcode,offset,length,timestamp\n\
                419,W,8792731,4096,1577808144360767\n\
                725,R,4096,12288,1577808144360813\n";
    let workload = workload(TraceFormat::Auto);
    // 8,792,731 is no multiple of 512, so the request is extended to whole sectors.
    let expected =
        [request(Time::ZERO, Write, 8_792_576, 4608, 419), request(Time::from_us(46), Read, 4096, 12288, 725)];
    assert_eq!(requests(text, &workload), expected);
    let summary = summary(text, &workload).unwrap();
    assert_eq!((summary.format, summary.skipped, summary.devices), ("alibaba", 1, 2));
}

#[test]
fn every_bad_alibaba_line_is_named_with_its_place() {
    let good = ["1,R,0,512,1000", "2,W,0,512,3000"];
    let bad = [
        ("d1,R,0,512,2000", "number", 1, "the number of the virtual disk, found \"d1\""),
        ("1", "fields", 2, "a comma and the opcode"),
        ("1,T,0,512,2000", "kind", 3, "the opcode, R or W, found \"T\""),
        ("1,r,0,512,2000", "kind", 3, "the opcode, R or W"),
        ("1,R,-1,512,2000", "number", 5, "the offset in bytes, found \"-1\""),
        ("1,R,0,1073741825,2000", "too-large", 7, "more than 1GiB"),
        ("1,R,0,512", "fields", 10, "a comma and the time stamp in microseconds"),
        ("1,R,0,512,2000.5", "number", 11, "the time stamp in microseconds, found \"2000.5\""),
        ("1,R,0,512,2000,", "fields", 15, "the end of the line"),
    ];
    assert_each_is_rejected(TraceFormat::Alibaba, "", good, &bad);
}

#[test]
fn tencent_requests_of_one_second_arrive_at_once() {
    let text = "1538323200,12912,8,1,1063\n1538323200,4680,64,0,1283\n1538323201,0,1,0,1063\n";
    let expected = [
        request(Time::ZERO, Write, 12912 * 512, 4096, 1063),
        request(Time::ZERO, Read, 4680 * 512, 32768, 1283),
        request(Time::from_ms(1000), Read, 0, 512, 1063),
    ];
    assert_eq!(requests(text, &workload(TraceFormat::Auto)), expected);
    let headed = format!("Timestamp,Offset,Size,IOType,VolumeID\n{text}");
    let summary = summary(headed, &workload(TraceFormat::Auto)).unwrap();
    assert_eq!((summary.format, summary.requests, summary.skipped), ("tencent", 3, 1));
}

#[test]
fn every_bad_tencent_line_is_named_with_its_place() {
    let good = ["100,0,8,0,1", "102,0,8,1,1"];
    let bad = [
        ("t,0,8,0,1", "number", 1, "the time stamp in seconds, found \"t\""),
        ("101", "fields", 4, "a comma and the first sector"),
        ("101,0.5,8,0,1", "number", 5, "the first sector, found \"0.5\""),
        ("101,0,36028797018963968,0,1", "number", 7, "a number of 512-byte sectors below 2^55"),
        ("101,0,8,2,1", "kind", 9, "the type, 0 or 1, found \"2\""),
        ("101,0,8,R,1", "kind", 9, "the type, 0 or 1, found \"R\""),
        ("101,0,8,0", "fields", 10, "a comma and the number of the volume"),
        ("101,0,8,0,v", "number", 11, "the number of the volume, found \"v\""),
        ("101,0,8,0,1,1", "fields", 12, "the end of the line"),
    ];
    assert_each_is_rejected(TraceFormat::Tencent, "", good, &bad);
}

#[test]
fn diskmon_lines_count_sectors_and_seconds() {
    let text = "0\t0.000000\t0.00012207\t0\tRead\t58752\t8\r\n1\t0.000312\t1.526e-005\t1\tWrite\t64\t128\r\n\
                12  2.5  0  0  write  0  1\n";
    let expected = [
        request(Time::ZERO, Read, 58752 * 512, 4096, 0),
        request(Time::from_us(312), Write, 32768, 65536, 1),
        request(Time::from_ms(2500), Write, 0, 512, 0),
    ];
    assert_eq!(requests(text, &workload(TraceFormat::Auto)), expected);
    assert_eq!(summary(text, &workload(TraceFormat::Auto)).unwrap().format, "diskmon");
}

#[test]
fn every_bad_diskmon_line_is_named_with_its_place() {
    let good = ["0\t0.1\t0\t0\tRead\t0\t8", "2\t0.3\t0\t0\tWrite\t0\t8"];
    let bad = [
        ("-\t0.2\t0\t0\tRead\t0\t8", "number", 1, "the number of the request, found \"-\""),
        ("1\t10:15:32\t0\t0\tRead\t0\t8", "number", 3, "not the time of day), found \"10:15:32\""),
        ("1\t0.2", "fields", 6, "the duration, found the end of the line"),
        ("1\t0.2\t0\tC:\tRead\t0\t8", "number", 9, "the disk number, found \"C:\""),
        ("1\t0.2\t0\t0\tFlush\t0\t8", "kind", 11, "the request, Read or Write, found \"Flush\""),
        ("1\t0.2\t0\t0\tRead\t0x8\t8", "number", 16, "the first sector, found \"0x8\""),
        ("1\t0.2\t0\t0\tRead\t0", "fields", 17, "the number of sectors, found the end of the line"),
        ("1\t0.2\t0\t0\tRead\t0\t8\t9", "fields", 20, "the end of the line, found \"9\""),
        ("1\t0.2\t0\t0\tRead\t0\t0", "zero-size", 18, "the size is zero"),
    ];
    assert_each_is_rejected(TraceFormat::Diskmon, "", good, &bad);
}

#[test]
fn a_trace_of_blank_fields_alone_is_refused() {
    for (format, line) in [
        (TraceFormat::Spc, ",,,,"),
        (TraceFormat::Systor, ",,,,,"),
        (TraceFormat::Alibaba, ",,,,"),
        (TraceFormat::Tencent, ",,,,"),
        (TraceFormat::Diskmon, "\t\t\t\t\t\t-"),
        (TraceFormat::Blkparse, ","),
    ] {
        let refused = summary(format!("{line}\n{line}\n"), &workload(format)).unwrap_err().to_string();
        assert!(refused.contains("no line of 2 can be used as a request"), "{format:?}: {refused}");
    }
}

#[test]
fn fiu_lines_count_nanoseconds_and_sectors() {
    let text = "89966104926803 21092 nfsd 808 8 W 6 0 0ec0ddaeeb7a4d0c8d2c3ac9b13f1a8f\n\
                89966104928803 4 pdflush (1) 16 8 R 6 1\n\
                89966104929803 21092 nfsd 24 16 r 6 1 one two\n";
    let device = |minor: u32| (6 << 20) | minor;
    let expected = [
        request(Time::ZERO, Write, 808 * 512, 4096, device(0)),
        request(Time::from_us(3), Read, 24 * 512, 8192, device(1)),
    ];
    let tolerant = Workload { tolerate: 0.5, ..workload(TraceFormat::Auto) };
    assert_eq!(requests(text, &tolerant), expected);
    let summary = summary(text, &tolerant).unwrap();
    assert_eq!((summary.format, summary.rejected_lines()), ("fiu", 1));
}

#[test]
fn every_bad_fiu_line_is_named_with_its_place() {
    let good = ["1000 1 nfsd 8 8 R 6 0 abc", "3000 1 nfsd 8 8 W 6 0 abc"];
    let bad = [
        ("x 1 nfsd 8 8 R 6 0", "number", 1, "the time stamp in nanoseconds, found \"x\""),
        ("2000", "fields", 5, "the process number, found the end of the line"),
        ("2000 a nfsd 8 8 R 6 0", "number", 6, "the process number"),
        ("2000 1 nfsd x 8 R 6 0", "number", 13, "the first sector"),
        ("2000 1 nfsd 8 8 X 6 0", "kind", 17, "the type, R or W, found \"X\""),
        ("2000 1 nfsd 8 8 R 4096 0", "number", 19, "the major device number, below 4096"),
        ("2000 1 nfsd 8 8 R 6", "fields", 20, "the minor device number"),
        ("2000 1 nfsd 8 8 R 6 0,9", "number", 21, "the minor device number, found \"0\""),
        ("2000 1 nfsd 8 0 R 6 0", "zero-size", 15, "the size is zero"),
    ];
    assert_each_is_rejected(TraceFormat::Fiu, "", good, &bad);
}

#[test]
fn short_msr_lines_have_time_type_offset_and_size() {
    let text = "Timestamp,Type,Offset,Size\n128166372003061629,Read,4096,8192\n128166372003061639,write,512,512\n";
    let expected = [request(Time::ZERO, Read, 4096, 8192, 0), request(Time::from_us(1), Write, 512, 512, 0)];
    assert_eq!(requests(text, &workload(TraceFormat::Auto)), expected);
    let good = ["100,Read,4096,8192", "200,Write,4096,8192"];
    let bad = [
        ("1x0,Read,0,512", "number", 1, "the time stamp, in filetime ticks of 100 ns, found \"1x0\""),
        ("150,Raed,0,512", "kind", 5, "the type, Read or Write (or R, W), found \"Raed\""),
        ("150,Read,0", "fields", 11, "a comma and the size in bytes"),
        ("150,Read,0,512,1", "fields", 15, "the end of the line, found \",\""),
    ];
    assert_each_is_rejected(TraceFormat::MsrShort, "", good, &bad);
}
