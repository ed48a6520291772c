//! SPC: "SPC Trace File Format Specification", revision 1.0.1, Storage Performance Council 2002; the format of the Financial and
//! WebSearch traces of the UMass repository.
//!
//! Format: `ASU, LBA, size, opcode, time stamp`, and any number of further fields, which are ignored. The specification leaves
//! the block size of logical block addresses to the description of a trace: it is 512 B in those of UMass, and here. The size is
//! in bytes, the opcode is `R` or `W` in any case, the time stamp is in seconds from the start of the trace, with decimals.
//! Fields may be surrounded by blanks. The application storage unit (ASU) is the device; all units share one address space.

use super::fields::{Fields, is_header};
use super::line_errors::{LineError, LineErrorKind};
use super::{Format, Framing, Line, RawRequest, Sample, TraceReader};
use crate::config::TraceFormat;
use crate::request::RequestKind;
use crate::units::Time;

pub static FORMAT: Format = Format {
    kind: Some(TraceFormat::Spc),
    name: "spc",
    title: "SPC",
    framing: Framing::Lines,
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, _| sample.share_understood(&mut Spc),
    open: |_| Box::new(Spc),
};

struct Spc;

impl TraceReader for Spc {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let mut fields = Fields::new(record);
        fields.skip_blanks();
        let device = match fields.number_u32("the application storage unit, a number") {
            Ok(device) => device,
            Err(_) if is_header(record, 5) => return Ok(Line::Skipped),
            Err(bad) => return Err(bad),
        };
        fields.next_column("a comma and the logical block address")?;
        let offset_column = fields.column();
        let offset = fields.sectors("the logical block address")?;
        fields.next_column("a comma and the size in bytes")?;
        let size_column = fields.column();
        let size = fields.number("the size in bytes")?;
        fields.next_column("a comma and the opcode")?;
        let kind_column = fields.column();
        let kind = match fields.word() {
            b"R" | b"r" => RequestKind::Read,
            b"W" | b"w" => RequestKind::Write,
            _ => return Err(LineError::new(LineErrorKind::Kind, kind_column, "the opcode, R or W")),
        };
        fields.next_column("a comma and the time stamp in seconds")?;
        let time_column = fields.column();
        let time_ps = fields.decimal(Time::PS_PER_SECOND, "the time stamp in seconds")?;
        fields.skip_blanks();
        if fields.peek() != Some(b',') {
            fields.end()?;
        }
        Ok(Line::Request(RawRequest { time_ps, offset, size, device, kind, time_column, offset_column, size_column }))
    }
}
