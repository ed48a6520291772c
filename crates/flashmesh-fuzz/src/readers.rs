//! Fuzz targets of the trace readers: texts of each format with injected faults, arbitrary bytes, and damaged
//! compressed traces.

use std::io::{Cursor, Write};
use std::path::PathBuf;

use flashmesh::config::{Beyond, TraceFormat, TracePolarity, TraceTimeUnit, Workload};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;
use flashmesh::workload::readers::{FORMATS, LEAP_MAX, LineCounts, TraceStream, TraceSummary, scan_stream};

use crate::choices::FuzzInput;
use crate::oracle::{self, ReaderRules, ReferenceRequest};

pub fn msr(bytes: &[u8]) {
    let mut choices = FuzzInput::new(bytes);
    let setup = Setup::new(&mut choices, TraceFormat::Msr);
    let text = text(&mut choices, "", |choices, time| {
        let disk = choices.pick(&["0", "1", "7", "4294967295", "4294967296"]);
        let kind = choices.pick(&["Read", "Write", "read", "WRITE", "R", "w", " Read ", "Red"]);
        format!("{time},usr,{disk},{kind},{},{},{}", offset(choices), size(choices), choices.number())
    });
    let expected = lines(&text).filter_map(|line| oracle::msr(line, &setup.rules)).collect();
    check_against(&text, &setup, expected);
}

/// Checks that texts in the ASCII trace format are read as the naive reader (`oracle.rs`) reads them.
pub fn ascii(bytes: &[u8]) {
    check_ascii(bytes, 512);
}

/// Compares with a naive reader that has an injected fault: sectors of 513 bytes.
pub fn canary(bytes: &[u8]) {
    check_ascii(bytes, 513);
}

fn check_ascii(bytes: &[u8], sector: i128) {
    let mut choices = FuzzInput::new(bytes);
    let mut setup = Setup::new(&mut choices, TraceFormat::Ascii);
    setup.rules.ascii_sector = sector;
    let text = text(&mut choices, "", |choices, time| {
        let blank = choices.pick(&[" ", "\t", "  "]);
        let kind = choices.pick(&["0", "1", "0", "1", "2"]);
        let (sector, sectors) = (offset(choices) / 512, size(choices) / 512);
        format!("{time}{blank}{} {sector}{blank}{sectors} {kind}", choices.byte())
    });
    let expected = lines(&text).filter_map(|line| oracle::ascii(line, &setup.rules)).collect();
    check_against(&text, &setup, expected);
}

pub fn fio_iolog(bytes: &[u8]) {
    let mut choices = FuzzInput::new(bytes);
    let setup = Setup::new(&mut choices, TraceFormat::FioIolog);
    let text = text(&mut choices, "fio version 3 iolog\n0 /a add\n", |choices, time| {
        let file = choices.pick(&["/a", "/a", "/b", "/c"]);
        match choices.pick(&["read", "write", "trim", "read", "write", "sync", "add", "open", "wait"]) {
            action @ ("add" | "open") => format!("{time} {file} {action}"),
            action => format!("{time} {file} {action} {} {}", offset(choices), size(choices)),
        }
    });
    let lines: Vec<&str> = lines(&text).collect();
    let expected = oracle::fio_iolog(&lines, &setup.rules);
    check_against(&text, &setup, expected);
}

pub fn spc(bytes: &[u8]) {
    check_lines(bytes, TraceFormat::Spc, oracle::spc, |choices, time| {
        let unit = choices.pick(&["0", "1", "7", "4294967295", "4294967296"]);
        let kind = choices.pick(&["R", "W", "r", "w", "X"]);
        let rest = choices.pick(&["", "", ",1", ",a,b", " "]);
        format!("{unit},{},{},{kind},{}{rest}", offset(choices) / 512, size(choices), seconds(time))
    });
}

pub fn systor(bytes: &[u8]) {
    check_lines(bytes, TraceFormat::Systor, oracle::systor, |choices, time| {
        let response = choices.pick(&["0.001325000", "0.1", ""]);
        let kind = choices.pick(&["R", "W", "R", "W", "", "r"]);
        let lun = choices.pick(&["0", "6", "4294967296"]);
        format!("{},{response},{kind},{lun},{},{}", seconds(time), offset(choices), size(choices))
    });
}

pub fn blkparse(bytes: &[u8]) {
    let mut choices = FuzzInput::new(bytes);
    let setup = Setup::new(&mut choices, TraceFormat::Blkparse);
    let name = choices.pick(&[" [java]", " [java]", " [java]", ""]);
    let text = text(&mut choices, "", |choices, time| {
        let device = choices.pick(&["8,16", "8,0", "259,1", "4096,0"]);
        let action = choices.pick(&["D", "D", "D", "D", "Q", "C", "I", "m", "Z"]);
        let asked = choices.pick(&["R", "W", "WS", "RA", "D", "DE", "FWFS", "FN", "N", "ZR"]);
        let sectors = format!("{} + {}", offset(choices) / 512, size(choices) / 512);
        let what = match choices.below(8) {
            0 => name.trim_start().to_owned(),
            1 => "36 (12 00 ..) [hdparm]".to_owned(),
            2 => format!("{sectors} ({:>8}){name}", choices.byte()),
            _ => format!("{sectors}{name}"),
        };
        format!("  {device} {:>3} {:>8} {} {:>5} {action:>2} {asked:>3} {what}", 1, choices.byte(), seconds(time), 77)
    });
    let mut has_process = false;
    let expected = lines(&text).filter_map(|line| oracle::blkparse(line, &setup.rules, &mut has_process)).collect();
    check_against(&text, &setup, expected);
}

pub fn diskmon(bytes: &[u8]) {
    check_lines(bytes, TraceFormat::Diskmon, oracle::diskmon, |choices, time| {
        let kind = choices.pick(&["Read", "Write", "read", "WRITE", "Trim"]);
        let blank = choices.pick(&["\t", "\t", "  "]);
        let (sector, sectors) = (offset(choices) / 512, size(choices) / 512);
        let disk = choices.byte();
        ["1", &seconds(time), "1.5e-005", &disk.to_string(), kind, &sector.to_string(), &sectors.to_string()]
            .join(blank)
    });
}

pub fn alibaba(bytes: &[u8]) {
    check_lines(bytes, TraceFormat::Alibaba, oracle::alibaba, |choices, time| {
        let kind = choices.pick(&["R", "W", "R", "W", "r"]);
        format!("{},{kind},{},{},{time}", choices.byte(), offset(choices), size(choices))
    });
}

pub fn tencent(bytes: &[u8]) {
    check_lines(bytes, TraceFormat::Tencent, oracle::tencent, |choices, time| {
        let kind = choices.pick(&["0", "1", "0", "1", "2"]);
        let (sector, sectors) = (offset(choices) / 512, size(choices) / 512);
        format!("{},{sector},{sectors},{kind},{}", time >> 10, choices.byte())
    });
}

/// Checks that MSR texts of four columns are read as the naive reader (`oracle.rs`) reads them.
pub fn msr_short(bytes: &[u8]) {
    check_lines(bytes, TraceFormat::MsrShort, oracle::msr_short, |choices, time| {
        let kind = choices.pick(&["Read", "Write", "read", "WRITE", "Red"]);
        format!("{time},{kind},{},{}", offset(choices), size(choices))
    });
}

pub fn fiu(bytes: &[u8]) {
    check_lines(bytes, TraceFormat::Fiu, oracle::fiu, |choices, time| {
        let blank = choices.pick(&[" ", " ", "\t", "  "]);
        let kind = choices.pick(&["R", "W", "r", "w", "Read"]);
        let major = choices.pick(&["6", "8", "4095", "4096"]);
        let minor = choices.pick(&["0", "1", "1048575", "1048576"]);
        let rest = choices.pick(&["", " 0ec0ddaeeb7a4d0c", " a b"]);
        let (sector, sectors) = (offset(choices) / 512, size(choices) / 512);
        format!("{time}{blank}77 nfsd{blank}{sector} {sectors}{blank}{kind} {major} {minor}{rest}")
    });
}

/// Checks that CSV texts of libCacheSim are read as the naive reader (`oracle.rs`) reads them, for several column orders.
pub fn libcachesim_csv(bytes: &[u8]) {
    let mut choices = FuzzInput::new(bytes);
    let setup = Setup::new(&mut choices, TraceFormat::LibcachesimCsv);
    let names = choices.pick(&["version,time,op,size,lbn", "lbn,size,next,time", "time,lbn,op,size"]);
    let head = format!("{names}\n");
    let text = text(&mut choices, &head, |choices, time| {
        let values = names.split(',').map(|name| match name {
            "time" => seconds(time),
            "op" => choices.pick(&["28", "2a", "8A", "R", "w", "read", "35", "a", "zz", "128"]).to_owned(),
            "size" => size(choices).to_string(),
            "lbn" => (offset(choices) / 512).to_string(),
            _ => choices.byte().to_string(),
        });
        values.collect::<Vec<_>>().join(choices.pick(&[",", ",", ", ", " ,"]))
    });
    let expected = lines(&text).skip(1).filter_map(|line| oracle::libcachesim_csv(line, names, &setup.rules)).collect();
    check_against(&text, &setup, expected);
}

/// Checks that texts of `dssrt2txt` and of `ds2txt --csv` are read as the naive reader (`oracle.rs`) reads them.
pub fn srt(bytes: &[u8]) {
    let mut choices = FuzzInput::new(bytes);
    let setup = Setup::new(&mut choices, TraceFormat::Srt);
    let is_named = choices.one_in(2);
    let head = match is_named {
        true => "header_text\n$$TR_IOREC-1.7\nis_read,device_number,pid,enter_driver,disk_offset,bytes,x\n",
        false => "# created  start   stop  bytes disk_offset(k) device#   lv#  thrid pid\n",
    };
    let text = text(&mut choices, head, |choices, time| {
        let kind = choices.pick(&["R", "W", "T", "F", "true", "false", "r"]);
        let (time, offset, size) = (seconds(time), offset(choices), size(choices));
        if is_named {
            let device = choices.pick(&["0", "31", "4294967295", "4294967296"]);
            return format!("{kind},{device},null,{time},{offset},{size},{}", choices.byte());
        }
        let blank = choices.pick(&[" ", "  ", "\t"]);
        let device = choices.pick(&["0", "1f016000", "FFFFFFFF", "100000000", "0x1f"]);
        let rest = choices.pick(&["", " 40000002 null 77", " x"]);
        format!("{time}{blank}3 {blank}7487 {size}{blank}{kind}{blank}{}{blank}{device}{rest}", offset / 1024)
    });
    let naive = if is_named { oracle::srt_named } else { oracle::srt_fixed };
    let heads = if is_named { 3 } else { 0 };
    let expected = lines(&text).skip(heads).filter_map(|line| naive(line, &setup.rules)).collect();
    check_against(&text, &setup, expected);
}

fn check_lines(
    bytes: &[u8],
    format: TraceFormat,
    naive: fn(&str, &ReaderRules) -> Option<ReferenceRequest>,
    line: impl FnMut(&mut FuzzInput<'_>, u64) -> String,
) {
    let mut choices = FuzzInput::new(bytes);
    let setup = Setup::new(&mut choices, format);
    let text = text(&mut choices, "", line);
    let expected = lines(&text).filter_map(|line| naive(line, &setup.rules)).collect();
    check_against(&text, &setup, expected);
}

fn seconds(time_us: u64) -> String {
    format!("{}.{:06}", time_us / 1_000_000, time_us % 1_000_000)
}

/// Checks that any bytes are read as valid requests or an error, without a panic.
pub fn any_bytes(bytes: &[u8]) {
    let mut choices = FuzzInput::new(bytes);
    let formats: Vec<TraceFormat> =
        FORMATS.iter().filter_map(|format| format.kind).chain([TraceFormat::Auto, TraceFormat::Auto]).collect();
    let format = choices.pick(&formats);
    let setup = Setup::new(&mut choices, format);
    let heads = [
        &b""[..],
        b"1 0 8 8 1\n",
        b"1,h,0,Read,0,512,1\n",
        b"fio version 2 iolog\n",
        b"8,0 0 1 0.1 1 D R 8 + 8 [a]\n",
        b"\x28\0\x07\x02",
    ];
    let head: &[u8] = choices.pick(&heads);
    let is_nearly_text = choices.one_in(2);
    let letters = b"0123456789 ,.\t\r\n#-Readwritwait/";
    let body = choices
        .rest()
        .iter()
        .map(|&byte| if is_nearly_text { letters[usize::from(byte) % letters.len()] } else { byte });
    read(head.iter().copied().chain(body).collect(), &setup);
}

/// Checks, like [`any_bytes`], compressed traces of which one byte is changed or the end is missing.
pub fn packed_bytes(bytes: &[u8]) {
    let mut choices = FuzzInput::new(bytes);
    let setup = Setup::new(&mut choices, TraceFormat::Auto);
    let packer = choices.pick(&PACKERS);
    let (is_cut, place, byte) = (choices.one_in(2), choices.number(), choices.byte());
    let mut packed = packer(format!("1 0 8 8 1\n{}", choices.rest().escape_ascii()).as_bytes());
    let place = usize::try_from(place).unwrap_or(0) % packed.len();
    if is_cut {
        packed.truncate(place);
    } else {
        packed[place] ^= byte;
    }
    read(packed, &setup);
}

type Packer = fn(&[u8]) -> Vec<u8>;
const PACKED_ONE_IN: usize = 32;
const PACKERS: [Packer; 4] = [gzip, zstd, xz, gzip_in_two];

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("a write to memory succeeds");
    encoder.finish().expect("a write to memory succeeds")
}

fn gzip_in_two(bytes: &[u8]) -> Vec<u8> {
    let (head, tail) = bytes.split_at(bytes.len() / 2);
    [gzip(head), gzip(tail)].concat()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("a write to memory succeeds")
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
    encoder.write_all(bytes).expect("a write to memory succeeds");
    encoder.finish().expect("a write to memory succeeds")
}

pub struct Setup {
    workload: Workload,
    pub rules: ReaderRules,
    /// The packer that compresses the trace for a second reading; `None` for most traces, because compression is slow.
    packer: Option<Packer>,
}

impl Setup {
    pub fn new(choices: &mut FuzzInput<'_>, format: TraceFormat) -> Setup {
        let (time_unit, ascii_unit_ps) = choices.pick(&[
            (TraceTimeUnit::Nanoseconds, 1_000),
            (TraceTimeUnit::Picoseconds, 1),
            (TraceTimeUnit::Seconds, 1_000_000_000_000),
        ]);
        let is_one_read = choices.one_in(2);
        let polarity = if is_one_read { TracePolarity::ReadIsOne } else { TracePolarity::ReadIsZero };
        let wrap = choices.one_in(2);
        let capacity = Bytes::new(choices.pick(&[1 << 30, 1 << 40, 1 << 30, 600_000]));
        let sector_size = Bytes::new(choices.pick(&[512, 4096]));
        let beyond = if wrap { Beyond::Wrap } else { Beyond::Reject };
        let workload =
            Workload { format, time_unit: Some(time_unit), polarity, beyond, tolerate: 1.0, ..Workload::default() };
        let rules = ReaderRules { capacity, sector_size, wrap, ascii_sector: 512, ascii_unit_ps, is_one_read };
        let packer = choices.one_in(PACKED_ONE_IN).then(|| choices.pick(&PACKERS));
        Setup { workload, rules, packer }
    }

    fn stream(&self, bytes: Vec<u8>) -> Option<TraceStream> {
        let path = PathBuf::from("fuzzed");
        TraceStream::from_reader(path, Cursor::new(bytes), &self.workload, self.rules.capacity, self.rules.sector_size)
            .ok()
    }
}

/// Creates a text of up to 600 lines, mostly in order of time and well-formed.
fn text(choices: &mut FuzzInput<'_>, head: &str, mut line: impl FnMut(&mut FuzzInput<'_>, u64) -> String) -> String {
    let mut text = head.to_owned();
    let lacks_line_end = choices.one_in(2);
    let mut time = choices.number() >> 8;
    for _ in 0..600 {
        if choices.is_used_up() {
            break;
        }
        time = match choices.below(32) {
            0 => choices.number(),
            1 => time.saturating_sub(u64::from(choices.byte())),
            2 => time.saturating_add(choices.number()),
            _ => time.saturating_add(u64::from(choices.byte())),
        };
        let mut line = line(choices, time);
        match choices.below(24) {
            0 => line.clear(),
            1 => line.insert(0, '#'),
            2 => line.truncate(choices.below(64).min(line.len())),
            3 => line.push_str(choices.pick(&[" ", ",", "9", " 9", ",9", "x"])),
            4 => {
                let place = choices.below(256) % (line.len() + 1);
                line.insert(place, char::from(choices.byte() & 0x7f));
            }
            _ => {}
        }
        text.push_str(&line);
        text.push_str(choices.pick(&["\n", "\n", "\n", "\r\n"]));
    }
    if lacks_line_end {
        text.truncate(text.trim_ascii_end().len());
    }
    text
}

pub fn offset(choices: &mut FuzzInput<'_>) -> u64 {
    if choices.one_in(16) { choices.number() } else { u64::from(choices.byte()) * 4096 }
}

pub fn size(choices: &mut FuzzInput<'_>) -> u64 {
    if choices.one_in(16) { choices.number() } else { u64::from(choices.byte() % 32) * 512 }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .filter(|line| !line.trim_ascii().starts_with('#'))
}

/// Reads the trace until its end or an error, and checks the invariants of requests and line counts. Returns the requests and the line
/// counts; `None` if an error occurred.
fn read(bytes: Vec<u8>, setup: &Setup) -> Option<(Vec<IoRequest>, LineCounts)> {
    let rules = &setup.rules;
    let mut stream = setup.stream(bytes)?;
    let mut requests: Vec<IoRequest> = Vec::new();
    while let Some(request) = stream.next_request().ok()? {
        let (offset, size) = (request.offset.as_u64(), request.size.as_u64());
        assert!(size > 0 && offset + size <= rules.capacity.as_u64(), "{request:?} lies on the drive");
        let sector = rules.sector_size.as_u64();
        assert!(offset % sector == 0 && size % sector == 0, "{request:?} is made of sectors");
        match requests.last() {
            Some(last) => assert!(last.arrival <= request.arrival, "time runs back from {last:?} to {request:?}"),
            None => assert_eq!(request.arrival, Time::ZERO, "the first request arrives at the start"),
        }
        requests.push(request);
    }
    let counts = stream.line_counts();
    assert_eq!(counts.usable, requests.len() as u64, "usable lines are the requests");
    assert_eq!(counts.lines, counts.usable + counts.rejected + counts.ignored + counts.skipped, "{counts:?} add up");
    assert_eq!(stream.next_request().ok()?, None, "the end stays the end");
    Some((requests, counts))
}

fn check_against(text: &str, setup: &Setup, expected: Vec<ReferenceRequest>) {
    check_records(text.as_bytes(), text.lines().count() as u64, setup, expected);
}

/// Checks the requests of a trace against those of the naive reader, sometimes the compressed trace against the plain
/// one, and the summary against the requests.
pub fn check_records(trace: &[u8], records: u64, setup: &Setup, expected: Vec<ReferenceRequest>) {
    let plain = read(trace.to_vec(), setup);
    if let Some(packer) = setup.packer {
        assert_eq!(plain, read(packer(trace), setup), "compression changes no request");
    }
    let Some((requests, counts)) = plain else { return };
    assert_eq!(counts.lines, records, "every line is read");

    let summary = (setup.stream(trace.to_vec())).and_then(|stream| scan_stream(stream, setup.workload.tolerate).ok());
    assert_eq!(summary.is_some(), !requests.is_empty(), "a trace without requests is refused, any other is not");
    let Some(summary) = summary else {
        return;
    };
    assert_eq!(summary.requests, counts.usable);
    assert_eq!(summary.rejected_lines(), counts.rejected);
    assert_eq!(summary.span_ps, requests.last().map_or(0, |request| request.arrival.as_ps()));

    let misplaced = lines_misplaced_in_time(&summary);
    assert_eq!(expected.len() as u64, summary.requests + misplaced, "as many requests as the naive reading finds");
    let leap_max = i128::from(LEAP_MAX.as_ps());
    let is_plain_sailing = expected.windows(2).all(|pair| (0..=leap_max).contains(&(pair[1].0 - pair[0].0)))
        && expected.last().zip(expected.first()).is_some_and(|(last, first)| last.0 - first.0 <= i128::from(u64::MAX));
    if is_plain_sailing {
        assert_eq!(misplaced + summary.reordered_lines(), 0, "sorted stamps stay where they are");
        let origin = expected[0].0;
        for (request, (time, kind, offset, size, device)) in requests.iter().zip(expected) {
            let read = (
                i128::from(request.arrival.as_ps()),
                request.kind,
                i128::from(request.offset.as_u64()),
                i128::from(request.size.as_u64()),
                request.stream,
            );
            assert_eq!(read, (time - origin, kind, offset, size, device), "the naive reading agrees");
        }
    }
}

fn lines_misplaced_in_time(summary: &TraceSummary) -> u64 {
    (summary.rejected.iter()).filter(|tally| tally.reason.starts_with("time-")).map(|tally| tally.lines).sum()
}
