//! The ASCII family of SSDSim, DiskSim and MQSim.
//!
//! Format: `time, device, sector, sectors, type`, separated by blanks. A sector has 512 B, whatever the sector size of the drive.
//! Files differ in the unit of time stamps (SSDSim and MQSim ns, DiskSim ms with decimals), in the type that means a read, and
//! some count bytes instead of sectors. A file does not say which applies, so all three are options (`workload.time-unit`,
//! `workload.polarity`, `workload.address-unit`).

use super::fields::Fields;
use super::line_errors::{LineError, LineErrorKind};
use super::{Format, Framing, Line, RawRequest, Sample, TraceReader};
use crate::config::{TraceAddressUnit, TraceFormat, TracePolarity, TraceTimeUnit, Workload};
use crate::request::RequestKind;
use crate::units::Time;

pub static FORMAT: Format = Format {
    kind: Some(TraceFormat::Ascii),
    name: "ascii",
    title: "SSDSim/DiskSim/MQSim ASCII",
    framing: Framing::Lines,
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, workload| sample.share_understood(&mut Ascii::new(workload)),
    open: |workload| Box::new(Ascii::new(workload)),
};

struct Ascii {
    unit_ps: u64,
    /// The unit of offsets and sizes.
    unit: TraceAddressUnit,
    /// The kind of a request whose type field is 0, and of one whose type field is 1.
    kinds: [RequestKind; 2],
}

impl Ascii {
    fn new(workload: &Workload) -> Ascii {
        let unit_ps = match workload.time_unit.unwrap_or(TraceTimeUnit::Nanoseconds) {
            TraceTimeUnit::Picoseconds => 1,
            TraceTimeUnit::Nanoseconds => Time::from_ns(1).as_ps(),
            TraceTimeUnit::Microseconds => Time::from_us(1).as_ps(),
            TraceTimeUnit::Milliseconds => Time::from_ms(1).as_ps(),
            TraceTimeUnit::Seconds => Time::PS_PER_SECOND,
        };
        let kinds = match workload.polarity {
            TracePolarity::ReadIsOne => [RequestKind::Write, RequestKind::Read],
            TracePolarity::ReadIsZero => [RequestKind::Read, RequestKind::Write],
        };
        Ascii { unit_ps, unit: workload.address_unit, kinds }
    }

    /// Parses an offset or a size, and returns it in bytes. `expected` names the field for the error.
    fn bytes(&self, fields: &mut Fields<'_>, expected: &'static str) -> Result<u64, LineError> {
        match self.unit {
            TraceAddressUnit::Sectors => fields.sectors(expected),
            TraceAddressUnit::Bytes => fields.number(expected),
        }
    }
}

impl TraceReader for Ascii {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let mut fields = Fields::new(record);
        fields.skip_blanks();
        let time_column = fields.column();
        let time_ps = fields.decimal(self.unit_ps, "the time stamp")?;
        fields.next_blank_separated("the device number")?;
        let device = fields.number_u32("the device number")?;
        fields.next_blank_separated("the first sector")?;
        let offset_column = fields.column();
        let offset = self.bytes(&mut fields, "the first sector")?;
        fields.next_blank_separated("the number of sectors")?;
        let size_column = fields.column();
        let size = self.bytes(&mut fields, "the number of sectors")?;
        fields.next_blank_separated("the type, 0 or 1")?;
        let kind_column = fields.column();
        let kind = match fields.word() {
            b"0" => self.kinds[0],
            b"1" => self.kinds[1],
            _ => return Err(LineError::new(LineErrorKind::Kind, kind_column, "the type, 0 or 1")),
        };
        fields.end()?;
        Ok(Line::Request(RawRequest { time_ps, offset, size, device, kind, time_column, offset_column, size_column }))
    }
}
