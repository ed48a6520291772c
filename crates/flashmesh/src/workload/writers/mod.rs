//! Writes the requests of a trace in another format.
//!
//! ```text
//! TraceStream -> an OutputFormat (one line a request) -> Packed (as its name says) -> file
//! ```
//!
//! What is written are the requests as a run would get them: in the order of their arrivals, which count from the first, and
//! without the lines that cannot be used.
//!
//! # Adding a format
//! One new file with a `pub static FORMAT`, and one line in [`OUTPUT_FORMATS`].

mod ascii;
mod msr;
mod packed;

use std::io::{self, Write};

use serde::Serialize;

pub use packed::Packed;

use super::readers::{ADDRESSES_MAX, TraceStream, TraceSummary, scan_each};
use super::source::WorkloadSource;
use super::{IoRequest, RequestKind};
use crate::config::Workload;
use crate::error::WorkloadError;
use crate::units::Bytes;

/// A format that traces are written in: an entry of [`OUTPUT_FORMATS`].
pub struct OutputFormat {
    /// How a person names it.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The unit of its addresses and sizes; requests are widened to it.
    pub sector_size: Bytes,
    /// Writes one request, which reads or writes, with its line end.
    write: fn(&IoRequest, &mut dyn Write) -> io::Result<()>,
}

/// All formats that traces are written in; one line each.
pub static OUTPUT_FORMATS: &[&OutputFormat] = &[&ascii::FORMAT, &msr::FORMAT];

impl OutputFormat {
    /// The format of this name.
    ///
    /// # Errors
    /// When there is none, naming those there are.
    pub fn find(name: &str) -> Result<&'static OutputFormat, WorkloadError> {
        OUTPUT_FORMATS.iter().find(|format| format.name == name).copied().ok_or_else(|| {
            let names: Vec<&str> = OUTPUT_FORMATS.iter().map(|format| format.name).collect();
            WorkloadError::Unusable(format!("no trace can be written as \"{name}\": choose {}", names.join(" or ")))
        })
    }

    /// Opens the trace of `workload` for being written in this format.
    ///
    /// # Errors
    /// As [`TraceStream::open`].
    pub fn open(&self, workload: &Workload) -> Result<TraceStream, WorkloadError> {
        TraceStream::open(workload, ADDRESSES_MAX, self.sector_size)
    }
}

/// What became of a trace that was written in another format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conversion {
    /// What is in the trace that was read.
    pub read: TraceSummary,
    /// Requests written.
    pub written: u64,
    /// Requests that deallocate or flush and were left out.
    pub deallocates_left_out: u64,
}

/// A trace cannot be written in another format.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The trace cannot be read, or not be said in the other format.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The system takes no more.
    #[error("{0}")]
    Write(#[from] io::Error),
}

/// Writes the requests of `stream`, at its start, to `out`; nothing is flushed. `tolerate` is the share of lines that may be bad.
///
/// # Errors
/// - When `out` takes no more.
/// - When a request deallocates or flushes, which none of the formats can say, unless `leave_out_deallocates`.
/// - As [`super::readers::scan`]; what was written until then is of no use.
pub fn convert(
    stream: TraceStream,
    tolerate: f64,
    format: &OutputFormat,
    leave_out_deallocates: bool,
    out: &mut dyn Write,
) -> Result<Conversion, ConvertError> {
    let path = stream.path().to_owned();
    let (mut written, mut deallocates_left_out) = (0, 0);
    let read = scan_each(stream, tolerate, |request| {
        if request.kind.moves_data() {
            (format.write)(request, out)?;
            written += 1;
        } else if leave_out_deallocates {
            deallocates_left_out += 1;
        } else {
            return Err(ConvertError::from(WorkloadError::Unusable(format!(
                "{}: holds requests that {}, which {} cannot say: leave them out with --drop-deallocates",
                path.display(),
                if request.kind == RequestKind::Flush { "flush" } else { "deallocate" },
                format.title
            ))));
        }
        Ok(())
    })?;
    Ok(Conversion { read, written, deallocates_left_out })
}

/// What became of requests that were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Requests written.
    pub written: u64,
    /// Requests that deallocate and were left out.
    pub deallocates_left_out: u64,
}

/// Writes all requests of `source`, which has one common stream, to `out`; nothing is flushed.
///
/// # Errors
/// - When `out` takes no more.
/// - When a request deallocates, which none of the formats can say, unless `leave_out_deallocates`.
/// - Those of the source.
pub fn write_source(
    source: &mut dyn WorkloadSource,
    format: &OutputFormat,
    leave_out_deallocates: bool,
    out: &mut dyn Write,
) -> Result<Written, ConvertError> {
    let mut result = Written { written: 0, deallocates_left_out: 0 };
    while let Some(request) = source.next_request(0)? {
        if request.kind != RequestKind::Deallocate {
            (format.write)(&request, out)?;
            result.written += 1;
        } else if leave_out_deallocates {
            result.deallocates_left_out += 1;
        } else {
            return Err(ConvertError::from(WorkloadError::Unusable(format!(
                "the profile has requests that deallocate, which {} cannot say: leave them out with --drop-deallocates",
                format.title
            ))));
        }
    }
    Ok(result)
}
