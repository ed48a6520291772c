//! FIU: the traces of Koller and Rangaswami, "I/O Deduplication: Utilizing Content Similarity to Improve I/O Performance", FAST
//! 2010, as SNIA publishes them.
//!
//! Format: `time, pid, process, sector, sectors, R or W, major, minor, MD5`, separated by blanks. The time stamp is in
//! nanoseconds; sectors have 512 B. One or several digests after the minor number are optional and ignored; pid and process are
//! required and ignored. The device is the major number times 2^20 plus the minor, as for blkparse.

use super::fields::Fields;
use super::line_errors::{LineError, LineErrorKind};
use super::{Format, Framing, Line, RawRequest, Sample, TraceReader};
use crate::config::TraceFormat;
use crate::request::RequestKind;
use crate::units::Time;

pub static FORMAT: Format = Format {
    kind: Some(TraceFormat::Fiu),
    name: "fiu",
    title: "FIU",
    framing: Framing::Lines,
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, _| sample.share_understood(&mut Fiu),
    open: |_| Box::new(Fiu),
};

/// The bits of the minor number in a device number.
const MINOR_BITS: u32 = 20;

struct Fiu;

impl TraceReader for Fiu {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let mut fields = Fields::new(record);
        fields.skip_blanks();
        let time_column = fields.column();
        let time_ns = fields.number("the time stamp in nanoseconds")?;
        fields.next_blank_separated("the process number")?;
        fields.number("the process number")?;
        fields.next_blank_separated("the name of the process")?;
        fields.blank_separated_word();
        fields.next_blank_separated("the first sector")?;
        let offset_column = fields.column();
        let offset = fields.sectors("the first sector")?;
        fields.next_blank_separated("the number of sectors")?;
        let size_column = fields.column();
        let size = fields.sectors("the number of sectors")?;
        fields.next_blank_separated("the type, R or W")?;
        let kind_column = fields.column();
        let kind = match fields.word() {
            b"R" | b"r" => RequestKind::Read,
            b"W" | b"w" => RequestKind::Write,
            _ => return Err(LineError::new(LineErrorKind::Kind, kind_column, "the type, R or W")),
        };
        fields.next_blank_separated("the major device number")?;
        let major_column = fields.column();
        let major = fields.number_u32("the major device number")?;
        if major >= 1 << (u32::BITS - MINOR_BITS) {
            return Err(LineError::new(LineErrorKind::Number, major_column, "the major device number, below 4096"));
        }
        fields.next_blank_separated("the minor device number")?;
        let minor_column = fields.column();
        let minor = fields.number_u32("the minor device number")?;
        if minor >= 1 << MINOR_BITS {
            return Err(LineError::new(LineErrorKind::Number, minor_column, "the minor device number, below 2^20"));
        }
        if !matches!(fields.peek(), None | Some(b' ' | b'\t')) {
            return Err(LineError::new(LineErrorKind::Number, minor_column, "the minor device number"));
        }
        let device = (major << MINOR_BITS) | minor;
        let time_ps = u128::from(time_ns) * u128::from(Time::from_ns(1).as_ps());
        Ok(Line::Request(RawRequest { time_ps, offset, size, device, kind, time_column, offset_column, size_column }))
    }
}
