//! Trace format SRT, as printed by `dssrt2txt` and `ds2txt` of DataSeries.

use flashmesh_workload::RequestKind::{Read, Write};
use flashmesh_workload::config::{TraceFormat, Workload};
use flashmesh_workload::units::Time;

use super::helpers::{assert_each_is_rejected, request, requests, summary, workload};

/// Header printed by `dssrt2txt`.
const HEAD: &str = "# Extent, type='I/O trace: SRT-V7'\n\
                    # created  start   stop  bytes disk_offset(k) device#   lv#  thrid pid\n";

#[test]
fn lines_of_dssrt2txt_count_seconds_bytes_and_kib() {
    let text = format!(
        "{HEAD} 0.000000      3   7487   4096 R     124808 1f016000 40000002 0     0\n\
         \x20 0.007832      4   7016   8192 W     117544 0x1F015000 null null  1207\n\
         12.516142      2     -1    512 R          1 0\n"
    );
    let expected = [
        request(Time::ZERO, Read, 127_803_392, 4096, 0x1f01_6000),
        request(Time::from_us(7_832), Write, 117_544 << 10, 8192, 0x1f01_5000),
        request(Time::from_us(12_516_142), Read, 1024, 512, 0),
    ];
    assert_eq!(requests(&text, &workload(TraceFormat::Srt)), expected);
    assert_eq!(requests(&text, &workload(TraceFormat::Auto)), expected);
    let summary = summary(&text, &workload(TraceFormat::Auto)).unwrap();
    assert_eq!((summary.format, summary.rejected_lines(), summary.devices), ("srt", 0, 3));
}

#[test]
fn every_bad_line_of_dssrt2txt_is_named_with_its_place() {
    let good = ["0.1 3 70 512 R 8 1f", "0.3 3 70 512 W 8 1f"];
    let bad = [
        ("x 3 70 512 R 8 1f", "number", 1, "the time of creation in seconds, found \"x\""),
        ("0.2", "fields", 4, "the start in microseconds, found the end of the line"),
        ("0.2 3 70 x R 8 1f", "number", 10, "the size in bytes, found \"x\""),
        ("0.2 3 70 512 Q 8 1f", "kind", 14, "the type, R or W, found \"Q\""),
        ("0.2 3 70 512 R -8 1f", "number", 16, "the offset in KiB, found \"-8\""),
        ("0.2 3 70 512 R 18014398509481984 1f", "number", 16, "an offset in KiB below 2^54"),
        ("0.2 3 70 512 R 8", "fields", 17, "the device number in hexadecimal"),
        ("0.2 3 70 512 R 8 1fg", "number", 18, "the device number in hexadecimal, found \"1fg\""),
        ("0.2 3 70 512 R 8 123456789", "number", 18, "the device number in hexadecimal"),
        ("0.2 3 70 0 R 8 1f", "zero-size", 10, "the size is zero"),
    ];
    assert_each_is_rejected(TraceFormat::Srt, "", good, &bad);
}

#[test]
fn line_of_names_says_where_ds2txt_puts_what() {
    let text = "# Extent Types ...\n\
                <ExtentType name=\"Trace::BlockIO::HP-UX\">\n  <field type=\"int32\" name=\"bytes\"/>\n</ExtentType>\n\
                # Extent, type='Trace::BlockIO::SRTMetadata'\nheader_text\n$$TR_IOREC-1.7 :\n\
                # Extent, type='Trace::BlockIO::HP-UX'\n\
                enter_driver leave_driver bytes disk_offset device_major device_minor device_controller device_disk \
                device_partition flag_async is_read pid\n\
                7.000000000 0.000003000 4096 8192 31 1 6 1 2 F T 12\n\
                7.000250500 0.000003000 512 1024 31 1 5 0 0 F F null\n\
                # Extent, type='DataSeries: ExtentIndex'\noffset extenttype\n40 Trace::BlockIO::HP-UX\n";
    let expected = [
        request(Time::ZERO, Read, 8192, 4096, 0x1f01_6102),
        request(Time::from_ns(250_500), Write, 1024, 512, 0x1f01_5000),
    ];
    assert_eq!(requests(text, &workload(TraceFormat::Auto)), expected);
    let summary = summary(text, &workload(TraceFormat::Auto)).unwrap();
    assert_eq!((summary.format, summary.rejected_lines()), ("srt", 0));

    let commas = "is_read,buffertype_text,device_number,disk_offset,bytes,enter_driver\n\
                  true,\"a b\",7,4096,512,1.5\nfalse,,8,0,1024,2.5\n";
    let expected = [request(Time::ZERO, Read, 4096, 512, 7), request(Time::from_ms(1_000), Write, 0, 1024, 8)];
    assert_eq!(requests(commas, &workload(TraceFormat::Auto)), expected);
}

#[test]
fn every_bad_line_of_ds2txt_is_named_with_its_place() {
    let names = "device_number,enter_driver,bytes,is_read,disk_offset,device_disk\n";
    let good = ["1,0.1,512,T,8192,3", "1,0.3,512,F,8192,3"];
    let bad = [
        ("x,0.2,512,T,8192,3", "number", 1, "the device number, found \"x\""),
        ("1,x,512,T,8192,3", "number", 3, "enter_driver, the time in seconds, found \"x\""),
        ("1,0.2,x,T,8192,3", "number", 7, "the size in bytes"),
        ("1,0.2,512,Q,8192,3", "kind", 11, "is_read, T or F, found \"Q\""),
        ("1,0.2,512,T,x,3", "number", 13, "the offset in bytes"),
        ("1,0.2,512,T,8192,16", "number", 18, "a part of the device number that fits its bits"),
        ("1,0.2,512,T,8192", "fields", 17, "a comma and the next column"),
    ];
    assert_each_is_rejected(TraceFormat::Srt, names, good, &bad);
}

#[test]
fn file_without_the_names_that_are_needed_is_refused() {
    let text = "enter_driver,bytes,disk_offset\n1.5,512,4096\n2.5,512,4096\n";
    let tolerant = Workload { tolerate: 1.0, ..workload(TraceFormat::Srt) };
    let error = summary(text, &tolerant).unwrap_err().to_string();
    assert!(error.contains("the time of creation in seconds, found \"enter_driver\""), "{error}");
}
