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
use crate::config::Workload;
use crate::error::WorkloadError;
use crate::request::{IoRequest, RequestKind};
use crate::units::{Bytes, printable_path};

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

/// Outcome of a conversion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conversion {
    /// What is in the trace that was read.
    pub read: TraceSummary,
    /// Requests written.
    pub written: u64,
    /// Requests left out.
    pub left_out: LeftOut,
}

/// Requests that no output format has, which were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Those that deallocate.
    pub deallocates: u64,
    /// Those that flush.
    pub flushes: u64,
    /// Those that write zeroes without sending them.
    pub write_zeroes: u64,
}

impl LeftOut {
    /// Leaves out `request`, unless it moves data, where `drop` allows that; gives whether it is left out.
    ///
    /// # Errors
    /// When it does not move data and `drop` is off; `whose` names where it comes from.
    fn leave_out(
        &mut self,
        request: &IoRequest,
        drop: bool,
        format: &OutputFormat,
        whose: &dyn Fn() -> String,
    ) -> Result<bool, WorkloadError> {
        let (count, what) = match request.kind {
            RequestKind::Read | RequestKind::Write => return Ok(false),
            RequestKind::Deallocate => (&mut self.deallocates, "deallocate"),
            RequestKind::Flush => (&mut self.flushes, "flush"),
            RequestKind::WriteZeroes => (&mut self.write_zeroes, "write zeroes"),
        };
        if !drop {
            return Err(WorkloadError::Unusable(format!(
                "{}: holds requests that {what}, which {} cannot say: leave them out with --drop-unwritable",
                whose(),
                format.title
            )));
        }
        *count += 1;
        Ok(true)
    }
}

/// A trace cannot be written in another format.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The trace cannot be read, or not be said in the other format.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The output cannot be written.
    #[error("{0}")]
    Write(#[from] io::Error),
}

/// Writes the requests of `stream`, at its start, to `out`; nothing is flushed. `tolerate` is the share of lines that may be bad.
///
/// # Errors
/// - When `out` takes no more.
/// - When a request neither reads nor writes, which none of the formats can say, unless `drop_unwritable`.
/// - As [`super::readers::scan`]; what was written until then is of no use.
pub fn convert(
    stream: TraceStream,
    tolerate: f64,
    format: &OutputFormat,
    drop_unwritable: bool,
    out: &mut dyn Write,
) -> Result<Conversion, ConvertError> {
    let path = stream.path().to_owned();
    let (mut written, mut left_out) = (0, LeftOut::default());
    let read = scan_each(stream, tolerate, |request| {
        if !left_out.leave_out(request, drop_unwritable, format, &|| printable_path(&path))? {
            (format.write)(request, out)?;
            written += 1;
        }
        Ok::<(), ConvertError>(())
    })?;
    Ok(Conversion { read, written, left_out })
}

/// Outcome of writing a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Requests written.
    pub written: u64,
    /// Requests left out.
    pub left_out: LeftOut,
}

/// Writes all requests of `source`, which has one common stream, to `out`; nothing is flushed.
///
/// # Errors
/// - When `out` takes no more.
/// - When a request neither reads nor writes, which none of the formats can say, unless `drop_unwritable`.
/// - Those of the source.
pub fn write_source(
    source: &mut dyn WorkloadSource,
    format: &OutputFormat,
    drop_unwritable: bool,
    out: &mut dyn Write,
) -> Result<Written, ConvertError> {
    let mut result = Written { written: 0, left_out: LeftOut::default() };
    while let Some(request) = source.next_request(0)? {
        if !result.left_out.leave_out(&request, drop_unwritable, format, &|| "the profile".to_owned())? {
            (format.write)(&request, out)?;
            result.written += 1;
        }
    }
    Ok(result)
}
