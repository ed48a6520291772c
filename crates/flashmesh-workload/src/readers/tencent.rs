//! Tencent block storage traces: the cloud virtual volumes of Zhang, Huang, Zhou and others, "OSCA: An Online-Model Based Cache
//! Allocation Scheme in Cloud Block Storage Systems", USENIX ATC 2020, as SNIA publishes them.
//!
//! Format: `Timestamp, Offset, Size, IOType, VolumeID`. The time stamp is in seconds of Unix time, offset and size are in sectors
//! of 512 B, the type is 0 for a read and 1 for a write. A header line is skipped. The clock of the published files has a
//! resolution of one second, so all requests of a second arrive at once. The volume is the device; all volumes share one address
//! space.

use super::fields::{Fields, is_header};
use super::line_errors::{LineError, LineErrorKind};
use super::{Format, Framing, Line, RawRequest, Sample, TraceReader};
use crate::config::TraceFormat;
use crate::request::RequestKind;
use crate::units::Time;

pub static FORMAT: Format = Format {
    kind: Some(TraceFormat::Tencent),
    name: "tencent",
    title: "Tencent block CSV",
    framing: Framing::Lines,
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, _| sample.share_understood(&mut Tencent),
    open: |_| Box::new(Tencent),
};

struct Tencent;

impl TraceReader for Tencent {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let mut fields = Fields::new(record);
        fields.skip_blanks();
        let time_column = fields.column();
        let time_ps = match fields.decimal(Time::PS_PER_SECOND, "the time stamp in seconds") {
            Ok(time_ps) => time_ps,
            Err(_) if is_header(record, 5) => return Ok(Line::Skipped),
            Err(bad) => return Err(bad),
        };
        fields.next_column("a comma and the first sector")?;
        let offset_column = fields.column();
        let offset = fields.sectors("the first sector")?;
        fields.next_column("a comma and the number of sectors")?;
        let size_column = fields.column();
        let size = fields.sectors("the number of sectors")?;
        fields.next_column("a comma and the type")?;
        let kind_column = fields.column();
        let kind = match fields.word() {
            b"0" => RequestKind::Read,
            b"1" => RequestKind::Write,
            _ => return Err(LineError::new(LineErrorKind::Kind, kind_column, "the type, 0 or 1")),
        };
        fields.next_column("a comma and the number of the volume")?;
        let device = fields.number_u32("the number of the volume")?;
        fields.end()?;
        Ok(Line::Request(RawRequest { time_ps, offset, size, device, kind, time_column, offset_column, size_column }))
    }
}
