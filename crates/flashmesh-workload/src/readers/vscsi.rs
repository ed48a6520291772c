//! CloudPhysics vscsi: the SCSI commands of virtual disks, in binary records, as VMware's `vscsiStats` traces them (Waldspurger,
//! Park, Garthwaite and Ahmad, "Efficient MRC Construction with SHARDS", FAST 2015, uses such traces).
//!
//! Little endian, two versions, told apart by the upper byte of `ver`:
//!
//! ```text
//! version 1, 32 bytes: sn u32, len u32, nSG u32, cmd u16, ver u16, lbn u64, ts u64
//! version 2, 40 bytes: cmd u16, ver u16, sn u32, len u32, nSG u32, lbn u64, ts u64, rt u64
//! ```
//!
//! `cmd` is the operation code of SCSI, `lbn` the first block of 512 B, `len` the bytes moved, `ts` microseconds. The serial number `sn`, the
//! scatter-gather count `nSG` and the response time `rt` are not used. A file holds one virtual disk: device 0. Commands that move no data of an
//! address (test unit ready, synchronize cache, ...) are ignored and counted; so are unmap and write same, whose records do not state their range.

use super::line_errors::{LineError, LineErrorKind};
use super::{Format, FormatMatch, Framing, Line, RawRequest, Sample, TraceReader};
use crate::config::TraceFormat;
use crate::request::RequestKind;
use crate::units::Time;

/// The format of version 1, with records of 32 bytes.
pub static VERSION_1: Format = Format {
    kind: Some(TraceFormat::Vscsi1),
    name: "vscsi1",
    title: "CloudPhysics vscsi, version 1",
    framing: Framing::Fixed(LAYOUT_1.bytes),
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, _| LAYOUT_1.detect(sample),
    open: |_| Box::new(LAYOUT_1),
};

/// The format of version 2, with records of 40 bytes.
pub static VERSION_2: Format = Format {
    kind: Some(TraceFormat::Vscsi2),
    name: "vscsi2",
    title: "CloudPhysics vscsi, version 2",
    framing: Framing::Fixed(LAYOUT_2.bytes),
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, _| LAYOUT_2.detect(sample),
    open: |_| Box::new(LAYOUT_2),
};

const LAYOUT_1: Layout = Layout { number: 1, bytes: 32, command: 12, version: 14, length: 4 };
const LAYOUT_2: Layout = Layout { number: 2, bytes: 40, command: 0, version: 2, length: 8 };
/// The offset of the first block in a record of either version, in bytes.
const BLOCK: usize = 16;
/// The offset of the time stamp in a record of either version, in bytes.
const TIME: usize = 24;
const BLOCK_BYTES: u64 = 512;
/// The maximum number of records for format detection.
const SAMPLE_RECORDS: usize = 100;

/// The offsets of the fields of one version, in bytes from the start of a record.
#[derive(Clone, Copy)]
struct Layout {
    number: u8,
    bytes: usize,
    command: usize,
    version: usize,
    length: usize,
}

impl Layout {
    fn detect(self, sample: &Sample<'_>) -> FormatMatch {
        let records = || sample.bytes.chunks_exact(self.bytes).take(SAMPLE_RECORDS);
        let alike = records().filter(|record| self.has_version(record) && record[self.command + 1] == 0).count();
        let percent = (alike * 100).checked_div(records().count()).unwrap_or(0);
        FormatMatch { percent: u8::try_from(percent).unwrap_or(100), first_failure: None }
    }

    /// Returns whether the upper byte of `ver` is this version.
    fn has_version(self, record: &[u8]) -> bool {
        record.get(self.version + 1) == Some(&self.number)
    }
}

impl TraceReader for Layout {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        if record.len() != self.bytes {
            return Err(LineError::new(LineErrorKind::Fields, column(record.len()), "a whole record"));
        }
        if !self.has_version(record) {
            return Err(LineError::new(LineErrorKind::Kind, column(self.version), "the version of the first record"));
        }
        let code = u16::from_le_bytes(array(record, self.command));
        let kind = match command(code) {
            Some(Command::Moves(kind)) => kind,
            Some(Command::Other(name)) => return Ok(Line::Ignored(name)),
            None => return Err(LineError::new(LineErrorKind::Kind, column(self.command), "an operation code of SCSI")),
        };
        let block = u64::from_le_bytes(array(record, BLOCK));
        let too_high = LineError::new(LineErrorKind::Number, column(BLOCK), "a block below 2^55");
        let time_us = u64::from_le_bytes(array(record, TIME));
        Ok(Line::Request(RawRequest {
            time_ps: u128::from(time_us) * u128::from(Time::from_us(1).as_ps()),
            offset: block.checked_mul(BLOCK_BYTES).ok_or(too_high)?,
            size: u64::from(u32::from_le_bytes(array(record, self.length))),
            device: 0,
            kind,
            time_column: column(TIME),
            offset_column: column(BLOCK),
            size_column: column(self.length),
        }))
    }
}

enum Command {
    Moves(RequestKind),
    Other(&'static str),
}

/// Returns the meaning of an operation code of the SCSI block commands; `None` if the code is invalid.
fn command(code: u16) -> Option<Command> {
    Some(match u8::try_from(code).ok()? {
        // READ (6), (10), (16), (12).
        0x08 | 0x28 | 0x88 | 0xa8 => Command::Moves(RequestKind::Read),
        // WRITE (6), (10), (16), (12); WRITE AND VERIFY (10), (16), (12); WRITE ATOMIC (16).
        0x0a | 0x2a | 0x8a | 0xaa | 0x2e | 0x8e | 0xae | 0x9c => Command::Moves(RequestKind::Write),
        0x35 | 0x91 => Command::Other("synchronize-cache"),
        0x42 => Command::Other("unmap"),
        0x41 | 0x93 => Command::Other("write-same"),
        _ => Command::Other("other-scsi"),
    })
}

/// Returns the `N` bytes of the field at offset `at`. `record` must be complete.
fn array<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|index| record[at + index])
}

/// Returns the column, from 1, of the byte at offset `at`.
fn column(at: usize) -> u16 {
    u16::try_from(at + 1).unwrap_or(u16::MAX)
}
