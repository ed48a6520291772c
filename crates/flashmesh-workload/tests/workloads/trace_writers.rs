//! Conversion of traces: a trace written in another format reads back as the original requests.

use std::io::Write;
use std::path::{Path, PathBuf};

use flashmesh_workload::config::{TraceFormat, TraceTimeUnit, Workload};
use flashmesh_workload::readers::{ADDRESSES_MAX, Compression, TraceStream};
use flashmesh_workload::units::{Bytes, Time};
use flashmesh_workload::writers::{
    CompressedWriter, Conversion, ConvertError, LeftOut, OUTPUT_FORMATS, OutputFormat, WriteSummary, convert,
    write_source,
};
use flashmesh_workload::{IoRequest, RequestKind};

use crate::support::Listed;

const ASCII: &str = "1000 0 8 16 1\n1000.25 3 0 1 0\n\n2000 1 64 8 1\nbad\n1900 0 8 8 1\n";

fn stream(trace: &[u8], workload: &Workload, sector_size: Bytes) -> TraceStream {
    let bytes = std::io::Cursor::new(trace.to_vec());
    TraceStream::from_reader(PathBuf::from("t"), bytes, workload, ADDRESSES_MAX, sector_size).unwrap()
}

fn requests(trace: &[u8], workload: &Workload, sector_size: Bytes) -> Vec<IoRequest> {
    let mut stream = stream(trace, workload, sector_size);
    std::iter::from_fn(|| stream.next_request().unwrap()).collect()
}

fn converted(
    trace: &str,
    format: &OutputFormat,
    workload: &Workload,
    leave_out: bool,
) -> Result<(Vec<u8>, Conversion), ConvertError> {
    let mut out = Vec::new();
    let stream = stream(trace.as_bytes(), workload, format.sector_size);
    let conversion = convert(stream, workload.tolerate, format, leave_out, &mut out)?;
    Ok((out, conversion))
}

fn tolerant() -> Workload {
    Workload { tolerate: 1.0, ..Workload::default() }
}

#[test]
fn every_format_reads_back_as_the_requests_it_was_written_from() {
    for format in OUTPUT_FORMATS {
        // Times are multiples of 100 ns, the tick of the coarsest format.
        let text = "0 0 8 16 1\n100 3 0 1 0\n1200 1 64 8 1\n1200 4294967295 64 8 0\n";
        let (written, conversion) = converted(text, format, &Workload::default(), false).unwrap();
        let sector = format.sector_size;
        let expected = requests(text.as_bytes(), &Workload::default(), sector);
        assert_eq!(requests(&written, &Workload::default(), sector), expected, "{}", format.name);
        assert_eq!((conversion.written, conversion.read.requests), (4, 4));
        let (again, _) =
            converted(std::str::from_utf8(&written).unwrap(), format, &Workload::default(), false).unwrap();
        assert_eq!(again, written, "{} of itself", format.name);
    }
}

#[test]
fn ascii_lines_count_nanoseconds_from_the_first_request_and_come_in_order() {
    let (written, conversion) = converted(ASCII, OutputFormat::find("ascii").unwrap(), &tolerant(), false).unwrap();
    let expected = "0 0 8 16 1\n0.250 3 0 1 0\n900 0 8 8 1\n1000 1 64 8 1\n";
    assert_eq!(String::from_utf8(written).unwrap(), expected);
    assert_eq!((conversion.written, conversion.read.rejected_lines(), conversion.read.reordered_lines()), (4, 1, 1));
}

#[test]
fn msr_lines_keep_bytes_and_cut_time_to_ticks() {
    let alibaba = "7,R,1001,3,50\n8,W,4096,512,61\n";
    let (written, _) = converted(alibaba, OutputFormat::find("msr").unwrap(), &Workload::default(), false).unwrap();
    let expected = "0,flashmesh,7,Read,1001,3,0\n110,flashmesh,8,Write,4096,512,0\n";
    assert_eq!(String::from_utf8(written).unwrap(), expected);
    let finer = Workload { time_unit: Some(TraceTimeUnit::Nanoseconds), ..Workload::default() };
    let (written, _) =
        converted("0 0 0 1 1\n199 0 0 1 1\n", OutputFormat::find("msr").unwrap(), &finer, false).unwrap();
    assert!(written.ends_with(b"\n1,flashmesh,0,Read,0,512,0\n"));
}

#[test]
fn a_trace_is_refused_as_a_run_would_refuse_it() {
    for format in OUTPUT_FORMATS {
        let refused = converted(ASCII, format, &Workload::default(), false).unwrap_err().to_string();
        assert!(refused.contains("2 of 5 lines (40.00 %) cannot be used"), "{refused}");
    }
    let refused = OutputFormat::find("spc").err().unwrap().to_string();
    assert!(refused.contains("\"spc\": choose ascii or msr"), "{refused}");
}

#[test]
fn requests_that_cannot_be_said_are_refused_or_left_out_and_counted_by_kind() {
    let text = "fio version 3 iolog\n0 /a add\n10 /a read 0 512\n20 /a trim 0 512\n25 /a sync 0 0\n27 /a sync 0 0\n\
                30 /a write 0 512\n";
    let workload = Workload { flushes: true, ..Workload::default() };
    for format in OUTPUT_FORMATS {
        let refused = converted(text, format, &workload, false).unwrap_err().to_string();
        assert!(
            refused.starts_with("t: holds requests that deallocate") && refused.contains(format.title),
            "{refused}"
        );
        let (written, conversion) = converted(text, format, &workload, true).unwrap();
        assert_eq!(conversion.written, 2);
        assert_eq!(conversion.left_out, LeftOut { deallocates: 1, flushes: 2, write_zeroes: 0 });
        let read = requests(&written, &Workload::default(), format.sector_size);
        assert_eq!(
            read.iter().map(|request| request.kind).collect::<Vec<_>>(),
            [RequestKind::Read, RequestKind::Write]
        );
        assert_eq!(read[1].arrival, Time::from_us(20));
    }
}

#[test]
fn requests_of_a_source_are_left_out_by_kind_as_well() {
    let text = b"fio version 3 iolog\n0 /a add\n10 /a read 0 512\n20 /a trim 0 512\n30 /a sync 0 0\n";
    let workload = Workload { flushes: true, ..Workload::default() };
    let mut listed = requests(text, &workload, Bytes::new(512));
    listed.push(IoRequest { kind: RequestKind::WriteZeroes, ..listed[0] });
    for format in OUTPUT_FORMATS {
        let mut out = Vec::new();
        let refused = write_source(&mut Listed(listed.clone().into()), format, false, &mut out).unwrap_err();
        assert!(refused.to_string().starts_with("the profile: holds requests that deallocate"), "{refused}");
        out.clear();
        let written = write_source(&mut Listed(listed.clone().into()), format, true, &mut out).unwrap();
        let left_out = LeftOut { deallocates: 1, flushes: 1, write_zeroes: 1 };
        assert_eq!(written, WriteSummary { written: 1, left_out });
        assert_eq!(requests(&out, &Workload::default(), format.sector_size), listed[..1]);
    }
}

#[test]
fn packed_as_the_name_says_and_read_back() {
    let plain = ASCII.repeat(1000);
    for (name, compression) in [
        ("a.trace", Compression::Plain),
        ("a.csv.gz", Compression::Gzip),
        ("a.zst", Compression::Zstd),
        ("b/a.gz.xz", Compression::Xz),
        ("gz", Compression::Plain),
    ] {
        assert_eq!(Compression::of_name(Path::new(name)), compression, "{name}");
        let mut packed = CompressedWriter::new(compression, Vec::new()).unwrap();
        packed.write_all(plain.as_bytes()).unwrap();
        packed.flush().unwrap();
        let packed = packed.finish().unwrap();
        assert!(compression == Compression::Plain || packed.len() < plain.len() / 10, "{name}");
        let workload = Workload { format: TraceFormat::Ascii, ..tolerant() };
        assert_eq!(stream(&packed, &workload, Bytes::new(512)).compression(), compression);
        assert_eq!(
            requests(&packed, &workload, Bytes::new(512)),
            requests(plain.as_bytes(), &workload, Bytes::new(512)),
            "{name}"
        );
    }
}

#[test]
fn a_full_disk_is_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for compression in [Compression::Plain, Compression::Gzip, Compression::Zstd, Compression::Xz] {
        let mut packed = CompressedWriter::new(compression, Full).unwrap();
        let written = packed.write_all(&[7; 100]).and_then(|()| packed.finish().map(|_| ()));
        assert_eq!(written.unwrap_err().kind(), std::io::ErrorKind::StorageFull, "{compression:?}");
    }
}
