//! The ASCII family, in the units that its reader expects by default: nanoseconds, sectors of 512 B, type 1 for a read.
//!
//! Fractions of a nanosecond are written as decimals.

use super::OutputFormat;
use crate::request::RequestKind;
use crate::units::{Bytes, Time};

pub static FORMAT: OutputFormat = OutputFormat {
    name: "ascii",
    title: "SSDSim/DiskSim/MQSim ASCII",
    sector_size: Bytes::new(SECTOR_BYTES),
    write: |request, out| {
        let (time_ns, rest_ps) = (request.arrival.as_ps() / PS_PER_NS, request.arrival.as_ps() % PS_PER_NS);
        write!(out, "{time_ns}")?;
        if rest_ps > 0 {
            write!(out, ".{rest_ps:03}")?;
        }
        let (sector, sectors) = (request.offset.as_u64() / SECTOR_BYTES, request.size.as_u64() / SECTOR_BYTES);
        let kind = u8::from(request.kind == RequestKind::Read);
        writeln!(out, " {} {sector} {sectors} {kind}", request.stream)
    },
};

const SECTOR_BYTES: u64 = 512;
const PS_PER_NS: u64 = Time::from_ns(1).as_ps();
