//! The text that Sysinternals DiskMon saves ("Read and write offsets are presented in terms of sectors (512 bytes)").
//!
//! Format: `number, time, duration, disk, request, sector, length`, separated by tabs, without a header. The time is in seconds
//! from the start of the capture, the request is `Read` or `Write`, sector and length are in sectors of 512 B. Number and
//! duration are required but ignored. A log with the time of day instead of seconds is rejected, because it has neither date nor
//! fractions of a second. The disk is the device; all disks share one address space.

use super::fields::Fields;
use super::line_errors::{LineError, LineErrorKind};
use super::{Format, Framing, Line, RawRequest, Sample, TraceReader};
use crate::config::TraceFormat;
use crate::request::RequestKind;
use crate::units::Time;

pub static FORMAT: Format = Format {
    kind: Some(TraceFormat::Diskmon),
    name: "diskmon",
    title: "Windows DiskMon",
    framing: Framing::Lines,
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, _| sample.share_understood(&mut Diskmon),
    open: |_| Box::new(Diskmon),
};

struct Diskmon;

impl TraceReader for Diskmon {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let mut fields = Fields::new(record);
        fields.skip_blanks();
        fields.number("the number of the request")?;
        fields.next_blank_separated("the time in seconds")?;
        let time_column = fields.column();
        let time_ps = fields.decimal(Time::PS_PER_SECOND, "the time in seconds (not the time of day)")?;
        fields.next_blank_separated("the duration")?;
        fields.blank_separated_word();
        fields.next_blank_separated("the disk number")?;
        let device = fields.number_u32("the disk number")?;
        fields.next_blank_separated("the request")?;
        let kind_column = fields.column();
        let kind = match fields.word() {
            word if word.eq_ignore_ascii_case(b"read") => RequestKind::Read,
            word if word.eq_ignore_ascii_case(b"write") => RequestKind::Write,
            _ => return Err(LineError::new(LineErrorKind::Kind, kind_column, "the request, Read or Write")),
        };
        fields.next_blank_separated("the first sector")?;
        let offset_column = fields.column();
        let offset = fields.sectors("the first sector")?;
        fields.next_blank_separated("the number of sectors")?;
        let size_column = fields.column();
        let size = fields.sectors("the number of sectors")?;
        fields.end()?;
        Ok(Line::Request(RawRequest { time_ps, offset, size, device, kind, time_column, offset_column, size_column }))
    }
}
