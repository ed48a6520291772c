//! SRT: the disk traces of HP Laboratories (Ruemmler and Wilkes, "UNIX Disk Access Patterns", USENIX Winter 1993), as text.
//!
//! They are published in files of DataSeries, whose tools print them (Anderson, Arlitt, Morrey and Veitch, "DataSeries: An
//! Efficient, Flexible Data Format for Structured Serial Data", ACM SIGOPS Operating Systems Review 43(1), 2009). Two layouts are
//! supported:
//!
//! - `dssrt2txt`, separated by blanks: `created, start, stop, bytes, R or W, offset, device, logical volume, thread, pid`. The creation time is in
//!   seconds after the first request. Start and stop are microseconds relative to the creation time, and ignored. The offset is in KiB, the device
//!   number is hexadecimal. All later fields are optional and ignored.
//! - `ds2txt`, separated by blanks or, with `--csv`, commas: a line names the columns, in any order. `enter_driver` is in
//!   seconds, `bytes` and `disk_offset` are in bytes, `is_read` is `T`, `true` or `R`, or else `F`, `false` or `W`. The device is
//!   `device_number`, decimal, or is composed, as in HP-UX, from those of `device_major`, `device_minor`, `device_controller`,
//!   `device_disk` and `device_partition` that are present. Descriptions of types, the header of the trace and the index of the
//!   file are skipped.

use super::fields::Fields;
use super::line_errors::{LineError, LineErrorKind};
use super::{Format, Framing, Line, RawRequest, Sample, TraceReader};
use crate::config::TraceFormat;
use crate::request::RequestKind;
use crate::units::Time;

pub static FORMAT: Format = Format {
    kind: Some(TraceFormat::Srt),
    name: "srt",
    title: "HP SRT as text",
    framing: Framing::Lines,
    is_merged: false,
    remedy: Some("keep the line that names the columns, enter_driver, bytes, is_read and disk_offset among them"),
    detect: |sample: &Sample<'_>, _| sample.share_understood(&mut Srt { layout: Layout::Fixed }),
    open: |_| Box::new(Srt { layout: Layout::Fixed }),
};

const KIB: u64 = 1 << 10;
/// The maximum number of columns; DataSeries has 61 for version 8 of the traces.
const COLUMNS_MAX: usize = 128;
/// The parts of a device number, each with its lowest bit and its number of bits.
const DEVICE_PARTS: [(&[u8], u32, u32); 5] = [
    (b"device_major", 24, 8),
    (b"device_minor", 16, 8),
    (b"device_controller", 12, 4),
    (b"device_disk", 8, 4),
    (b"device_partition", 0, 8),
];

struct Srt {
    layout: Layout,
}

#[derive(Clone, Copy)]
enum Layout {
    /// The columns of `dssrt2txt`, in their fixed order.
    Fixed,
    /// The columns in the order of the last line of column names.
    Named(Columns),
    /// Lines without requests, such as the index of the file or the header of the trace, until the next line of column names.
    Bookkeeping,
}

/// The positions of the columns of `ds2txt`, from 0.
#[derive(Clone, Copy)]
struct Columns {
    time: usize,
    size: usize,
    kind: usize,
    offset: usize,
    device: Option<usize>,
    device_parts: [Option<usize>; DEVICE_PARTS.len()],
    has_commas: bool,
    /// The position after the last column that is used; later columns are not parsed.
    end: usize,
}

impl Columns {
    /// Parses a line of column names of `ds2txt`; `None` if one of the four required columns is not named.
    fn of_names(line: &[u8]) -> Option<Columns> {
        let has_commas = line.contains(&b',');
        let (mut time, mut size, mut kind, mut offset, mut device) = (None, None, None, None, None);
        let mut device_parts = [None; DEVICE_PARTS.len()];
        let is_separator = |byte: &u8| if has_commas { *byte == b',' } else { matches!(byte, b' ' | b'\t') };
        let names = line.trim_ascii().split(is_separator).map(<[u8]>::trim_ascii).filter(|name| !name.is_empty());
        for (place, name) in names.enumerate().take(COLUMNS_MAX) {
            match name {
                b"enter_driver" => time = Some(place),
                b"bytes" => size = Some(place),
                b"is_read" => kind = Some(place),
                b"disk_offset" => offset = Some(place),
                b"device_number" => device = Some(place),
                _ => {
                    if let Some(part) = DEVICE_PARTS.iter().position(|(part, ..)| *part == name) {
                        device_parts[part] = Some(place);
                    }
                }
            }
        }
        let (time, size, kind, offset) = (time?, size?, kind?, offset?);
        let used = [time, size, kind, offset].into_iter().chain(device).chain(device_parts.into_iter().flatten());
        let end = used.max()? + 1;
        Some(Columns { time, size, kind, offset, device, device_parts, has_commas, end })
    }

    fn parse(&self, record: &[u8]) -> Result<Line, LineError> {
        let mut fields = Fields::new(record);
        fields.skip_blanks();
        let mut read = RawRequest {
            time_ps: 0,
            offset: 0,
            size: 0,
            device: 0,
            kind: RequestKind::Read,
            time_column: 0,
            offset_column: 0,
            size_column: 0,
        };
        for place in 0..self.end {
            match (place, self.has_commas) {
                (0, _) => {}
                (_, true) => fields.next_column("a comma and the next column")?,
                (_, false) => fields.next_blank_separated("the next column")?,
            }
            if place == self.time {
                read.time_column = fields.column();
                read.time_ps = fields.decimal(Time::PS_PER_SECOND, "enter_driver, the time in seconds")?;
            } else if place == self.size {
                read.size_column = fields.column();
                read.size = fields.number("the size in bytes")?;
            } else if place == self.kind {
                read.kind = kind(&mut fields, "is_read, T or F")?;
            } else if place == self.offset {
                read.offset_column = fields.column();
                read.offset = fields.number("the offset in bytes")?;
            } else if self.device == Some(place) {
                read.device = fields.number_u32("the device number")?;
            } else if let Some(part) = self.device_parts.iter().position(|part| *part == Some(place)) {
                let column = fields.column();
                let (_, shift, bits) = DEVICE_PARTS[part];
                let value = fields.number_u32("a part of the device number")?;
                if value >> bits != 0 {
                    return Err(LineError::new(
                        LineErrorKind::Number,
                        column,
                        "a part of the device number that fits its bits",
                    ));
                }
                read.device |= if self.device.is_none() { value << shift } else { 0 };
            } else if self.has_commas {
                fields.skip_to_comma();
            } else {
                fields.blank_separated_word();
            }
            if self.has_commas {
                fields.skip_blanks();
            }
            if !matches!((fields.peek(), self.has_commas), (None, _) | (Some(b','), true) | (Some(b' ' | b'\t'), false))
            {
                return Err(LineError::new(LineErrorKind::Fields, fields.column(), "the end of the column"));
            }
        }
        Ok(Line::Request(read))
    }
}

impl TraceReader for Srt {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let understood = match self.layout {
            Layout::Fixed => parse_fixed(record),
            Layout::Named(columns) => columns.parse(record),
            Layout::Bookkeeping => Ok(Line::Skipped),
        };
        if matches!(understood, Ok(Line::Request(_))) {
            return understood;
        }
        if let Some(columns) = Columns::of_names(record) {
            self.layout = Layout::Named(columns);
            return Ok(Line::Skipped);
        }
        match record.trim_ascii() {
            b"offset extenttype" | b"offset,extenttype" | b"header_text" => self.layout = Layout::Bookkeeping,
            line if [&b"<ExtentType"[..], b"<field", b"</ExtentType"].iter().any(|start| line.starts_with(start)) => {}
            _ => return understood,
        }
        Ok(Line::Skipped)
    }
}

/// Parses a request in the layout of `dssrt2txt`.
fn parse_fixed(record: &[u8]) -> Result<Line, LineError> {
    let mut fields = Fields::new(record);
    fields.skip_blanks();
    let time_column = fields.column();
    let time_ps = fields.decimal(Time::PS_PER_SECOND, "the time of creation in seconds")?;
    fields.next_blank_separated("the start in microseconds")?;
    fields.blank_separated_word();
    fields.next_blank_separated("the stop in microseconds")?;
    fields.blank_separated_word();
    fields.next_blank_separated("the size in bytes")?;
    let size_column = fields.column();
    let size = fields.number("the size in bytes")?;
    fields.next_blank_separated("the type, R or W")?;
    let kind = kind(&mut fields, "the type, R or W")?;
    fields.next_blank_separated("the offset in KiB")?;
    let offset_column = fields.column();
    let too_far = LineError::new(LineErrorKind::Number, offset_column, "an offset in KiB below 2^54");
    let offset = fields.number("the offset in KiB")?.checked_mul(KIB).ok_or(too_far)?;
    fields.next_blank_separated("the device number in hexadecimal")?;
    let device_column = fields.column();
    let device = hexadecimal(fields.blank_separated_word())
        .ok_or_else(|| LineError::new(LineErrorKind::Number, device_column, "the device number in hexadecimal"))?;
    Ok(Line::Request(RawRequest { time_ps, offset, size, device, kind, time_column, offset_column, size_column }))
}

fn kind(fields: &mut Fields<'_>, expected: &'static str) -> Result<RequestKind, LineError> {
    let column = fields.column();
    match fields.word() {
        b"R" | b"T" | b"true" => Ok(RequestKind::Read),
        b"W" | b"F" | b"false" => Ok(RequestKind::Write),
        _ => Err(LineError::new(LineErrorKind::Kind, column, expected)),
    }
}

fn hexadecimal(word: &[u8]) -> Option<u32> {
    let word = word.strip_prefix(b"0x").unwrap_or(word);
    let is_plain = (1..=8).contains(&word.len()) && word.iter().all(u8::is_ascii_hexdigit);
    is_plain.then(|| std::str::from_utf8(word).ok()).flatten().and_then(|word| u32::from_str_radix(word, 16).ok())
}
