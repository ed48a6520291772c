//! MSR Cambridge CSV as its reader expects it, without a header: ticks of 100 ns from the first request, bytes.
//!
//! Times are truncated to ticks. The host is `flashmesh`, the stream is the disk number, and the response time, which is unknown,
//! is 0.

use super::OutputFormat;
use crate::request::RequestKind;
use crate::units::{Bytes, Time};

pub static FORMAT: OutputFormat = OutputFormat {
    name: "msr",
    title: "MSR Cambridge CSV",
    sector_size: Bytes::new(1),
    write: |request, out| {
        let ticks = request.arrival.as_ps() / PS_PER_TICK;
        let kind = if request.kind == RequestKind::Read { "Read" } else { "Write" };
        let (offset, size) = (request.offset.as_u64(), request.size.as_u64());
        writeln!(out, "{ticks},flashmesh,{},{kind},{offset},{size},0", request.stream)
    },
};

const PS_PER_TICK: u64 = Time::from_ns(100).as_ps();
