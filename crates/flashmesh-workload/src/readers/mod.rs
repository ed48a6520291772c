//! Readers of trace files: one file per format, all streaming in constant memory.
//!
//! ```text
//! file -> input (decompress) -> records (split) -> a TraceReader (parse) -> fit (to the drive) -> order (by time) -> requests
//! ```
//!
//! One thread decompresses and one parses, each a bounded distance ahead of its consumer (`read_ahead`). Requests and errors come in the order of the
//! file.
//!
//! [`scan`] reads a trace once before the run and summarizes it; [`TraceSource`] feeds its requests to the host. Both return the same requests and
//! leave out the same lines, because both read a [`TraceStream`].
//!
//! Every line has exactly one outcome: *usable* (a request), *rejected* (an invalid request), *ignored* (an action without work for the drive,
//! such as a flush) or *skipped* (blank, comment, header, bookkeeping).
//!
//! # Adding a format
//! One new file with a [`TraceReader`] and a `pub static FORMAT`, and one line in [`FORMATS`].

mod address_space;
mod alibaba;
mod ascii;
mod blkparse;
mod diskmon;
mod fields;
mod fio_iolog;
mod fiu;
mod footprint;
mod input;
mod libcachesim;
mod line_errors;
mod msr;
mod read_ahead;
mod records;
mod reorder;
mod sample;
mod scan;
mod source;
mod spc;
mod srt;
mod stream;
mod summary;
mod systor;
mod tencent;
mod ties;
pub mod time_unit;
mod vscsi;

pub use address_space::{ADDRESSES_MAX, SIZE_MAX};
pub use fields::Fields;
pub(crate) use footprint::Footprint;
pub use input::{Compression, FileIdentity};
pub use line_errors::{LineError, LineErrorKind, Tally};
pub use records::{Framing, RECORD_BYTES_MAX};
pub use reorder::{DISORDER_MAX, LEAP_MAX, WINDOW_REQUESTS};
pub use sample::{FormatMatch, Sample};
pub use scan::{scan, scan_each, scan_stream};
pub use source::TraceSource;
pub use stream::{LineCounts, TraceStream};
pub use summary::TraceSummary;

use crate::config::{TraceFormat, Workload};
use crate::request::RequestKind;

/// A parser of the records of one trace format.
///
/// # Contract
/// - Records are passed in the order of the file, each once. A reader may keep state for later lines (a version, a clock, names of files),
///   in constant memory.
/// - A record is judged on its own. Order and address range are checked later, for all formats alike.
/// - Records may contain any bytes; invalid ones return an `Err`, and never panic. An invalid line does not change the reader.
/// - The columns of a binary record are its bytes, from 1.
/// - Text records have no line end and at most [`RECORD_BYTES_MAX`] bytes. Blank lines and `#` comments are not passed.
/// - A well-formed line allocates nothing.
pub trait TraceReader: Send {
    /// Parses one record.
    ///
    /// # Errors
    /// The position of the error in the record, and what was expected there.
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError>;
}

/// The outcome of parsing one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// A request with the address of the trace, not yet fitted to the drive.
    Request(RawRequest),
    /// An action without work for the drive, counted and reported under this name.
    Ignored(&'static str),
    /// A header, or bookkeeping such as the name of a file.
    Skipped,
}

/// A request of a trace, with the columns of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRequest {
    /// The time stamp, in picoseconds since the epoch of the file.
    pub time_ps: u128,
    /// The offset of the request, in bytes.
    pub offset: u64,
    /// The size of the request, in bytes.
    pub size: u64,
    /// The number of the device, disk or file in the trace. It becomes the stream of the request.
    pub device: u32,
    /// The kind of the request: a read, a write, a deallocation or a flush.
    pub kind: RequestKind,
    /// The column of the time stamp, from 1.
    pub time_column: u16,
    /// The column of the address, from 1.
    pub offset_column: u16,
    /// The column of the size, from 1.
    pub size_column: u16,
}

impl RawRequest {
    /// Creates a flush of `device`, with the columns of its time stamp and of its action.
    fn flush(time_ps: u128, device: u32, (time_column, kind_column): (u16, u16)) -> RawRequest {
        let (offset_column, size_column) = (kind_column, kind_column);
        RawRequest {
            time_ps,
            offset: 0,
            size: 0,
            device,
            kind: RequestKind::Flush,
            time_column,
            offset_column,
            size_column,
        }
    }
}

/// A trace format: an entry of [`FORMATS`].
pub struct Format {
    /// The value of `workload.format`; `None` for a format of a library user, which is opened with [`TraceStream::open_as`].
    pub kind: Option<TraceFormat>,
    /// The name in reports; for a registered format the text form of `kind`.
    pub name: &'static str,
    /// The title in messages.
    pub title: &'static str,
    /// The separation of records: lines of text, or blocks of a fixed size.
    pub framing: Framing,
    /// Whether the writing program merges several logs, so that slightly unordered lines are normal.
    pub is_merged: bool,
    /// The remedy for a file without any request and without any bad line; `None` if none is known.
    pub remedy: Option<&'static str>,
    /// Returns how well the start of a file matches this format.
    pub detect: fn(&Sample<'_>, &Workload) -> FormatMatch,
    /// Creates a reader for the start of a file, with the options of the workload that concern the format.
    pub open: fn(&Workload) -> Box<dyn TraceReader>,
}

/// All trace formats that `workload.format` can name.
pub static FORMATS: &[&Format] = &[
    &msr::FORMAT,
    &msr::SHORT,
    &ascii::FORMAT,
    &fio_iolog::FORMAT,
    &spc::FORMAT,
    &systor::FORMAT,
    &blkparse::FORMAT,
    &vscsi::VERSION_1,
    &vscsi::VERSION_2,
    &diskmon::FORMAT,
    &alibaba::FORMAT,
    &tencent::FORMAT,
    &fiu::FORMAT,
    &libcachesim::CSV,
    &libcachesim::ORACLE_GENERAL,
    &srt::FORMAT,
];
