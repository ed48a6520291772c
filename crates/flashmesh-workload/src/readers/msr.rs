//! MSR Cambridge CSV: the block traces of Narayanan, Donnelly and Rowstron, "Write Off-Loading", FAST 2008, as SNIA publishes them.
//!
//! Format: `time stamp, host, disk, type, offset, size, response time`. The time stamp is in Windows filetime ticks of 100 ns, the
//! type is `Read` or `Write`, or its first letter, in any case; offset and size are in bytes. A header line is skipped. The
//! response time is required and ignored; the disk number is the device, whatever the host.
//!
//! A common short form is `time stamp, type, offset, size`, in the same units.

use super::fields::{Fields, is_header};
use super::line_errors::{LineError, LineErrorKind};
use super::{Format, Framing, Line, RawRequest, Sample, TraceReader};
use crate::config::TraceFormat;
use crate::request::RequestKind;

pub static FORMAT: Format = Format {
    kind: Some(TraceFormat::Msr),
    name: "msr",
    title: "MSR Cambridge CSV",
    framing: Framing::Lines,
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, _| sample.share_understood(&mut Msr),
    open: |_| Box::new(Msr),
};

pub static SHORT: Format = Format {
    kind: Some(TraceFormat::MsrShort),
    name: "msr-short",
    title: "MSR Cambridge CSV of four columns",
    framing: Framing::Lines,
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, _| sample.share_understood(&mut MsrShort),
    open: |_| Box::new(MsrShort),
};

/// The number of picoseconds in a Windows filetime tick of 100 ns.
const PS_PER_TICK: u128 = 100_000;

struct Msr;

impl TraceReader for Msr {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let mut fields = Fields::new(record);
        fields.skip_blanks();
        let time_column = fields.column();
        let ticks = match fields.number("the time stamp, in filetime ticks of 100 ns") {
            Ok(ticks) => ticks,
            Err(_) if is_header(record, 7) => return Ok(Line::Skipped),
            Err(bad) => return Err(bad),
        };
        fields.next_column("a comma and the host")?;
        fields.skip_to_comma();
        fields.next_column("a comma and the disk number")?;
        let device = fields.number_u32("the disk number")?;
        fields.next_column("a comma and the type")?;
        let kind = kind(&mut fields)?;
        fields.next_column("a comma and the offset in bytes")?;
        let offset_column = fields.column();
        let offset = fields.number("the offset in bytes")?;
        fields.next_column("a comma and the size in bytes")?;
        let size_column = fields.column();
        let size = fields.number("the size in bytes")?;
        // A line truncated within its size would look like a smaller request, so the next field must follow.
        fields.next_column("a comma and the response time")?;
        fields.decimal(1, "the response time")?;
        fields.end()?;
        let time_ps = u128::from(ticks) * PS_PER_TICK;
        Ok(Line::Request(RawRequest { time_ps, offset, size, device, kind, time_column, offset_column, size_column }))
    }
}

struct MsrShort;

impl TraceReader for MsrShort {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let mut fields = Fields::new(record);
        fields.skip_blanks();
        let time_column = fields.column();
        let ticks = match fields.number("the time stamp, in filetime ticks of 100 ns") {
            Ok(ticks) => ticks,
            Err(_) if is_header(record, 4) => return Ok(Line::Skipped),
            Err(bad) => return Err(bad),
        };
        fields.next_column("a comma and the type")?;
        let kind = kind(&mut fields)?;
        fields.next_column("a comma and the offset in bytes")?;
        let offset_column = fields.column();
        let offset = fields.number("the offset in bytes")?;
        fields.next_column("a comma and the size in bytes")?;
        let size_column = fields.column();
        let size = fields.number("the size in bytes")?;
        fields.end()?;
        let time_ps = u128::from(ticks) * PS_PER_TICK;
        Ok(Line::Request(RawRequest {
            time_ps,
            offset,
            size,
            device: 0,
            kind,
            time_column,
            offset_column,
            size_column,
        }))
    }
}

fn kind(fields: &mut Fields<'_>) -> Result<RequestKind, LineError> {
    let column = fields.column();
    match fields.word() {
        word if word.eq_ignore_ascii_case(b"read") || word.eq_ignore_ascii_case(b"r") => Ok(RequestKind::Read),
        word if word.eq_ignore_ascii_case(b"write") || word.eq_ignore_ascii_case(b"w") => Ok(RequestKind::Write),
        _ => Err(LineError::new(LineErrorKind::Kind, column, "the type, Read or Write (or R, W)")),
    }
}
