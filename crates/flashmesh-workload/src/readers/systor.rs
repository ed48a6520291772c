//! SYSTOR '17 CSV: the traces of an enterprise virtual desktop infrastructure of Lee, Kumano, Matsuki, Endo, Fukumoto and
//! Sugawara, SYSTOR 2017, as SNIA publishes them.
//!
//! Format: `time stamp, response, type, LUN, offset, size`. The time stamp is in seconds of Unix time with nine decimals, the
//! last three of which the authors ask to ignore; the type is `R` or `W`; offset and size are in bytes. A header line is skipped.
//! The response time is ignored and may be blank. A blank type means that no response was captured, so the kind of the request is
//! unknown: such lines are ignored and counted as `untyped`. The LUN is the device; all LUNs share one address space.

use super::fields::{Fields, is_header};
use super::line_errors::{LineError, LineErrorKind};
use super::{Format, Framing, Line, RawRequest, Sample, TraceReader};
use crate::config::TraceFormat;
use crate::request::RequestKind;
use crate::units::Time;

pub static FORMAT: Format = Format {
    kind: Some(TraceFormat::Systor),
    name: "systor",
    title: "SYSTOR '17 CSV",
    framing: Framing::Lines,
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, _| sample.share_understood(&mut Systor),
    open: |_| Box::new(Systor),
};

const US_PER_SECOND: u64 = 1_000_000;

struct Systor;

impl TraceReader for Systor {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let mut fields = Fields::new(record);
        fields.skip_blanks();
        let time_column = fields.column();
        // Parsed in microseconds, which truncates the meaningless digits.
        let time_us = match fields.decimal(US_PER_SECOND, "the time stamp in seconds") {
            Ok(time_us) => time_us,
            Err(_) if is_header(record, 6) => return Ok(Line::Skipped),
            Err(bad) => return Err(bad),
        };
        fields.next_column("a comma and the response time")?;
        fields.skip_to_comma();
        fields.next_column("a comma and the type")?;
        let kind_column = fields.column();
        let kind = match fields.word() {
            b"R" => Some(RequestKind::Read),
            b"W" => Some(RequestKind::Write),
            b"" => None,
            _ => return Err(LineError::new(LineErrorKind::Kind, kind_column, "the type, R, W or blank")),
        };
        fields.next_column("a comma and the LUN")?;
        let device = fields.number_u32("the LUN")?;
        fields.next_column("a comma and the offset in bytes")?;
        let offset_column = fields.column();
        let offset = fields.number("the offset in bytes")?;
        fields.next_column("a comma and the size in bytes")?;
        let size_column = fields.column();
        let size = fields.number("the size in bytes")?;
        fields.end()?;
        let Some(kind) = kind else {
            return Ok(Line::Ignored("untyped"));
        };
        let time_ps = time_us * u128::from(Time::from_us(1).as_ps());
        Ok(Line::Request(RawRequest { time_ps, offset, size, device, kind, time_column, offset_column, size_column }))
    }
}
