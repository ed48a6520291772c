//! Conversion of a trace to another format.
//!
//! ```text
//! TraceStream -> an OutputFormat (one line per request) -> CompressedWriter (compression by file name) -> file
//! ```
//!
//! The requests are written as a run would issue them: in the order of arrival, with times relative to the first, and without lines that cannot
//! be used.
//!
//! # Adding a format
//! One new file with a `pub static FORMAT`, and one line in [`OUTPUT_FORMATS`].

mod ascii;
mod compressed_writer;
mod msr;

use std::io::{self, Write};

use serde::Serialize;

pub use compressed_writer::CompressedWriter;

use super::readers::{ADDRESSES_MAX, TraceStream, TraceSummary, scan_each};
use super::source::WorkloadSource;
use crate::config::Workload;
use crate::error::WorkloadError;
use crate::request::{IoRequest, RequestKind};
use crate::units::{Bytes, printable_path};

/// An output format: an entry of [`OUTPUT_FORMATS`].
pub struct OutputFormat {
    /// The name by which users select the format.
    pub name: &'static str,
    /// The title in messages.
    pub title: &'static str,
    /// The unit of addresses and sizes. Requests are widened to multiples of this unit.
    pub sector_size: Bytes,
    /// Writes one request, a read or a write, including its line end.
    write: fn(&IoRequest, &mut dyn Write) -> io::Result<()>,
}

/// All output formats that users can select.
pub static OUTPUT_FORMATS: &[&OutputFormat] = &[&ascii::FORMAT, &msr::FORMAT];

impl OutputFormat {
    /// Returns the output format of this name.
    ///
    /// # Errors
    /// If no output format has this name. The message names all formats.
    pub fn find(name: &str) -> Result<&'static OutputFormat, WorkloadError> {
        OUTPUT_FORMATS.iter().find(|format| format.name == name).copied().ok_or_else(|| {
            let names: Vec<&str> = OUTPUT_FORMATS.iter().map(|format| format.name).collect();
            WorkloadError::Unusable(format!("no trace can be written as \"{name}\": choose {}", names.join(" or ")))
        })
    }

    /// Opens the trace of `workload` for conversion to this format.
    ///
    /// # Errors
    /// Like [`TraceStream::open`].
    pub fn open(&self, workload: &Workload) -> Result<TraceStream, WorkloadError> {
        TraceStream::open(workload, ADDRESSES_MAX, self.sector_size)
    }
}

/// The result of the conversion of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conversion {
    /// The summary of the trace that was converted.
    pub read: TraceSummary,
    /// The number of requests written.
    pub written: u64,
    /// The numbers of requests left out, by kind.
    pub left_out: LeftOut,
}

/// The numbers of requests left out, because no output format supports their kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The number of deallocations.
    pub deallocates: u64,
    /// The number of flushes.
    pub flushes: u64,
    /// The number of requests that write zeroes without transferring them.
    pub write_zeroes: u64,
}

impl LeftOut {
    /// Counts `request` as left out if it moves no data and `drop` is set. Returns whether the request is left out.
    ///
    /// # Errors
    /// If `request` moves no data and `drop` is not set. `whose` names the source of the request in the message.
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

/// The error of a conversion.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// A trace that cannot be read, or not be represented in the output format.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// An output that cannot be written.
    #[error("{0}")]
    Write(#[from] io::Error),
}

/// Writes the requests of `stream`, from its start, to `out`. The caller must flush `out`. `tolerate` is the accepted share of bad lines.
///
/// # Errors
/// - If `out` cannot be written.
/// - If a request is neither a read nor a write, which no format supports, unless `drop_unwritable`.
/// - Any error of [`super::readers::scan`]. The output is then incomplete or wrong.
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

/// The result of writing the requests of a workload source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WriteSummary {
    /// The number of requests written.
    pub written: u64,
    /// The numbers of requests left out, by kind.
    pub left_out: LeftOut,
}

/// Writes all requests of `source`, which must have one common stream, to `out`. The caller must flush `out`.
///
/// # Errors
/// - If `out` cannot be written.
/// - If a request is neither a read nor a write, which no format supports, unless `drop_unwritable`.
/// - Any error of the source.
pub fn write_source(
    source: &mut dyn WorkloadSource,
    format: &OutputFormat,
    drop_unwritable: bool,
    out: &mut dyn Write,
) -> Result<WriteSummary, ConvertError> {
    let mut result = WriteSummary { written: 0, left_out: LeftOut::default() };
    while let Some(request) = source.next_request(0)? {
        if !result.left_out.leave_out(&request, drop_unwritable, format, &|| "the profile".to_owned())? {
            (format.write)(&request, out)?;
            result.written += 1;
        }
    }
    Ok(result)
}
