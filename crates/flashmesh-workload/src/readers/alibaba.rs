//! Alibaba block traces: the virtual disks of a month of Alibaba Cloud, published with Li, Wang, Lee and Shi, "An In-Depth
//! Analysis of Cloud Block Storage Workloads in Large-Scale Production", IISWC 2020.
//!
//! Format: `device_id, opcode, offset, length, timestamp`. The opcode is `R` or `W`, offset and length are in bytes, the time
//! stamp is in microseconds of Unix time. A header line is skipped. The disk is the device; all disks share one address space.

use super::fields::{Fields, is_header};
use super::line_errors::{LineError, LineErrorKind};
use super::{Format, Framing, Line, RawRequest, Sample, TraceReader};
use crate::config::TraceFormat;
use crate::request::RequestKind;
use crate::units::Time;

pub static FORMAT: Format = Format {
    kind: Some(TraceFormat::Alibaba),
    name: "alibaba",
    title: "Alibaba block CSV",
    framing: Framing::Lines,
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, _| sample.share_understood(&mut Alibaba),
    open: |_| Box::new(Alibaba),
};

struct Alibaba;

impl TraceReader for Alibaba {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let mut fields = Fields::new(record);
        fields.skip_blanks();
        let device = match fields.number_u32("the number of the virtual disk") {
            Ok(device) => device,
            Err(_) if is_header(record, 5) => return Ok(Line::Skipped),
            Err(bad) => return Err(bad),
        };
        fields.next_column("a comma and the opcode")?;
        let kind_column = fields.column();
        let kind = match fields.word() {
            b"R" => RequestKind::Read,
            b"W" => RequestKind::Write,
            _ => return Err(LineError::new(LineErrorKind::Kind, kind_column, "the opcode, R or W")),
        };
        fields.next_column("a comma and the offset in bytes")?;
        let offset_column = fields.column();
        let offset = fields.number("the offset in bytes")?;
        fields.next_column("a comma and the length in bytes")?;
        let size_column = fields.column();
        let size = fields.number("the length in bytes")?;
        fields.next_column("a comma and the time stamp in microseconds")?;
        let time_column = fields.column();
        let time_us = fields.number("the time stamp in microseconds")?;
        fields.end()?;
        let time_ps = u128::from(time_us) * u128::from(Time::from_us(1).as_ps());
        Ok(Line::Request(RawRequest { time_ps, offset, size, device, kind, time_column, offset_column, size_column }))
    }
}
