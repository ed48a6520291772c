//! libCacheSim: the CSV of its examples, and its binary format oracleGeneral (Yang, Yue and Rashmi, "A Large-Scale Analysis of
//! Hundreds of In-Memory Key-Value Cache Clusters", TOS 2021, and the traces published with the library).
//!
//! The CSV is `version, time, op, size, lbn`, as in the example trace of the library: seconds with optional decimals, the SCSI
//! operation code in hexadecimal (or `R`, `W`, `read`, `write`), bytes, blocks of 512 B. A header line can name the columns in
//! another order, or use other usual names, such as `obj_id` and `obj_size`; columns with unknown names are ignored. Without `op` every
//! request is a read.
//!
//! A record of oracleGeneral has 24 bytes, little endian: `clock_time` u32 in seconds, `obj_id` u64, `obj_size` u32,
//! `next_access_vtime` i64. The object is the first block of 512 B, as in files that the library converts from block traces; the
//! next access is ignored. The format does not distinguish reads from writes: every request is a read.

use super::fields::Fields;
use super::line_errors::{LineError, LineErrorKind};
use super::{Format, FormatMatch, Framing, Line, RawRequest, Sample, TraceReader};
use crate::config::TraceFormat;
use crate::request::RequestKind;
use crate::units::Time;

/// The CSV of the examples of libCacheSim.
pub static CSV: Format = Format {
    kind: Some(TraceFormat::LibcachesimCsv),
    name: "libcachesim-csv",
    title: "libCacheSim CSV",
    framing: Framing::Lines,
    is_merged: false,
    remedy: Some("begin the file with a line that names its columns, such as version,time,op,size,lbn"),
    detect: |sample: &Sample<'_>, _| match sample.lines.first() {
        // Without its header, a line of this CSV is five fields between commas, as in other formats. So only the header identifies the format.
        Some((_, line)) if Columns::of_header(line).is_some() => FormatMatch::CERTAIN,
        _ => FormatMatch::NONE,
    },
    open: |_| Box::new(Csv { columns: Columns::DEFAULT }),
};

/// The binary format oracleGeneral of libCacheSim.
pub static ORACLE_GENERAL: Format = Format {
    kind: Some(TraceFormat::OracleGeneral),
    name: "oracle-general",
    title: "libCacheSim oracleGeneral",
    framing: Framing::Fixed(RECORD_BYTES),
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, _| detect_records(sample.bytes),
    open: |_| Box::new(OracleGeneral),
};

const BLOCK_BYTES: u64 = 512;
const RECORD_BYTES: usize = 24;
/// The maximum number of records for format detection; the constant below is the minimum.
const SAMPLE_RECORDS: usize = 100;
const SAMPLE_RECORDS_MIN: usize = 4;
/// The maximum number of columns in a header.
const COLUMNS_MAX: u8 = 32;

/// The positions of the columns of a CSV, from 0, and the number of columns. `op` is `None` if there is no such column: every request is a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    time: u8,
    op: Option<u8>,
    size: u8,
    block: u8,
    count: u8,
}

impl Columns {
    const DEFAULT: Columns = Columns { time: 1, op: Some(2), size: 3, block: 4, count: 5 };

    /// Parses a header; `None` if the line does not name a time, a size and a block, or has too many columns.
    fn of_header(line: &[u8]) -> Option<Columns> {
        let (mut time, mut op, mut size, mut block, mut count) = (None, None, None, None, 0);
        for name in line.split(|&byte| byte == b',') {
            let place = match name.trim_ascii().to_ascii_lowercase().as_slice() {
                b"time" | b"ts" | b"timestamp" | b"clock_time" | b"real_time" => &mut time,
                b"op" | b"opcode" | b"cmd" => &mut op,
                b"size" | b"obj_size" | b"object_size" | b"len" | b"length" | b"bytes" => &mut size,
                b"lbn" | b"lba" | b"obj" | b"obj_id" | b"object" | b"object_id" | b"id" => &mut block,
                _ => &mut None,
            };
            *place = Some(count);
            count += 1;
            if count == COLUMNS_MAX {
                return None;
            }
        }
        Some(Columns { time: time?, op, size: size?, block: block?, count })
    }
}

struct Csv {
    columns: Columns,
}

impl TraceReader for Csv {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let mut fields = Fields::new(record);
        fields.skip_blanks();
        let columns = self.columns;
        let (mut time_ps, mut offset, mut size, mut kind) = (0, 0, 0, Some(RequestKind::Read));
        let (mut time_column, mut offset_column, mut size_column) = (0, 0, 0);
        for place in 0..columns.count {
            if place > 0 {
                fields.next_column("a comma and the next column")?;
            }
            if place == columns.time {
                time_column = fields.column();
                time_ps = match fields.decimal(Time::PS_PER_SECOND, "the time in seconds") {
                    Ok(time_ps) => time_ps,
                    Err(bad) => match Columns::of_header(record) {
                        Some(named) => {
                            self.columns = named;
                            return Ok(Line::Skipped);
                        }
                        None => return Err(bad),
                    },
                };
            } else if place == columns.size {
                size_column = fields.column();
                size = fields.number("the size in bytes")?;
            } else if place == columns.block {
                offset_column = fields.column();
                offset = fields.sectors("the first block")?;
            } else if columns.op == Some(place) {
                let op_column = fields.column();
                kind = kind_of(fields.word()).ok_or_else(|| {
                    LineError::new(LineErrorKind::Kind, op_column, "the operation, such as 28, 2a, R or W")
                })?;
            } else {
                fields.skip_to_comma();
            }
        }
        fields.end()?;
        match kind {
            Some(kind) => Ok(Line::Request(RawRequest {
                time_ps,
                offset,
                size,
                device: 0,
                kind,
                time_column,
                offset_column,
                size_column,
            })),
            None => Ok(Line::Ignored("other-scsi")),
        }
    }
}

/// Returns the kind of an operation: `Some(None)` for one that moves no data, `None` if the code is invalid.
fn kind_of(word: &[u8]) -> Option<Option<RequestKind>> {
    match word.to_ascii_lowercase().as_slice() {
        b"r" | b"read" | b"08" | b"8" | b"28" | b"a8" | b"88" => Some(Some(RequestKind::Read)),
        b"w" | b"write" | b"0a" | b"a" | b"2a" | b"aa" | b"8a" => Some(Some(RequestKind::Write)),
        [_] | [_, _] if word.iter().all(u8::is_ascii_hexdigit) => Some(None),
        _ => None,
    }
}

struct OracleGeneral;

impl TraceReader for OracleGeneral {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let Ok(record) = <&[u8; RECORD_BYTES]>::try_from(record) else {
            let column = u16::try_from(record.len() + 1).unwrap_or(u16::MAX);
            return Err(LineError::new(LineErrorKind::Fields, column, "a record"));
        };
        let seconds = u32::from_le_bytes(record[..4].try_into().unwrap_or_default());
        let block = u64::from_le_bytes(record[4..12].try_into().unwrap_or_default());
        let size = u32::from_le_bytes(record[12..16].try_into().unwrap_or_default());
        let offset = block
            .checked_mul(BLOCK_BYTES)
            .ok_or_else(|| LineError::new(LineErrorKind::Number, 5, "a first block below 2^55"))?;
        Ok(Line::Request(RawRequest {
            time_ps: u128::from(seconds) * u128::from(Time::PS_PER_SECOND),
            offset,
            size: u64::from(size),
            device: 0,
            kind: RequestKind::Read,
            time_column: 1,
            offset_column: 5,
            size_column: 13,
        }))
    }
}

/// Returns how well bytes match the format: times that do not decrease, plausible sizes, and next accesses that are request numbers or -1. Files of
/// other formats rarely satisfy all three in every record.
fn detect_records(bytes: &[u8]) -> FormatMatch {
    let records: Vec<&[u8]> = bytes.chunks_exact(RECORD_BYTES).take(SAMPLE_RECORDS).collect();
    if records.len() < SAMPLE_RECORDS_MIN {
        return FormatMatch::NONE;
    }
    let time = |record: &[u8]| record.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let size = |record: &[u8]| record[12..].first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let next = |record: &[u8]| record[16..].first_chunk::<8>().map_or(0, |bytes| i64::from_le_bytes(*bytes));
    let is_sound = |record: &&&[u8]| {
        (1..=64 << 20).contains(&size(record))
            && (next(record) == -1 || next(record) == i64::MAX || (1..1 << 40).contains(&next(record)))
    };
    let sound = records.iter().filter(is_sound).count();
    let runs_on = records.windows(2).all(|pair| time(pair[0]) <= time(pair[1]));
    let percent = if runs_on { sound * 100 / records.len() } else { 0 };
    // Other binary formats have a version in each record. They take precedence if both match.
    FormatMatch { percent: u8::try_from(percent).unwrap_or(100).min(95), first_failure: None }
}
