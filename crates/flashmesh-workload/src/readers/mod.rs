//! Turns a trace file into requests: one file a format, all streamed in constant memory.
//!
//! ```text
//! file -> input (unpack) -> records (cut) -> a TraceReader (parse) -> fit (onto the drive) -> order (by time) -> requests
//! ```
//!
//! One thread unpacks and one parses, each a bounded way ahead of what takes its work (`ahead`): what comes, and what goes wrong, comes in
//! the order of the file.
//!
//! [`scan`] walks a trace once before the run and says what is in it; [`TraceSource`] hands its requests to the host.
//! Both take the same requests and leave out the same lines, since both pull from one [`TraceStream`].
//!
//! Every line has exactly one outcome: *usable* (it became a request), *rejected* (it should have, but cannot be used),
//! *ignored* (a flush or the like, for which a drive of this model has no work) or *skipped* (blank, comment, header, bookkeeping).
//!
//! # Adding a format
//! One new file with a [`TraceReader`] and a `pub static FORMAT`, and one line in [`FORMATS`].

mod ahead;
mod alibaba;
mod ascii;
mod blkparse;
pub mod clock;
mod diskmon;
mod fields;
mod fio_iolog;
mod fit;
mod fiu;
mod footprint;
mod input;
mod libcachesim;
mod msr;
mod order;
mod records;
mod reject;
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
mod vscsi;

pub use fields::Fields;
pub use fit::{ADDRESSES_MAX, SIZE_MAX};
pub(crate) use footprint::Footprint;
pub use input::{Compression, FileIdentity};
pub use order::{DISORDER_MAX, LEAP_MAX, WINDOW_REQUESTS};
pub use records::{Framing, RECORD_BYTES_MAX};
pub use reject::{BadLine, Reason, Tally};
pub use sample::{Match, Sample};
pub use scan::{scan, scan_each, scan_stream};
pub use source::TraceSource;
pub use stream::{LineCounts, TraceStream};
pub use summary::TraceSummary;

use crate::config::{TraceFormat, Workload};
use crate::request::RequestKind;

/// Parses the records of one trace format.
///
/// # Contract
/// - Records come in the order of the file, each once. A reader may remember what a line tells about later ones
///   (a version, a clock, names of files), within constant memory.
/// - A record is judged by itself: what is out of order or beyond the drive is found later, for all formats alike.
/// - Any bytes may come; they give an `Err`, never a panic. A bad line leaves the reader as it was.
/// - The columns of a binary record are its bytes, from 1.
/// - Text comes without its line end, at most [`RECORD_BYTES_MAX`] long; blank lines and `#` comments do not come at all.
/// - Nothing is allocated for a line that is well-formed.
pub trait TraceReader: Send {
    /// Parses one record.
    ///
    /// # Errors
    /// Where the record is wrong and what should stand there.
    fn parse(&mut self, record: &[u8]) -> Result<Line, BadLine>;
}

/// What a line of a trace says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// A request, in the file's own terms.
    Request(RawRequest),
    /// An action that the drive does not serve; it is counted by this name and shown.
    Ignored(&'static str),
    /// Header or bookkeeping.
    Skipped,
}

/// A request as a trace has it, with the places of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRequest {
    /// The time stamp, in picoseconds since whatever epoch the file uses.
    pub time_ps: u128,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub size: u64,
    /// The device, disk or file.
    pub device: u32,
    /// What it asks.
    pub kind: RequestKind,
    /// The column of the time stamp, from 1.
    pub time_column: u16,
    /// The column of the address.
    pub offset_column: u16,
    /// The column of the size.
    pub size_column: u16,
}

impl RawRequest {
    /// A flush of `device`, with the columns of its time stamp and of its name.
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
    /// How the configuration names it; `None` for a format of a library user, which is opened by [`TraceStream::open_as`].
    pub kind: Option<TraceFormat>,
    /// How reports name it: of a registered format the text form of `kind`.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// How records are told apart.
    pub framing: Framing,
    /// Whether what writes it merges several logs, so that lines slightly out of order are no fault of the file.
    pub is_merged: bool,
    /// What a person can do when a file holds no request and no line of it is bad.
    pub remedy: Option<&'static str>,
    /// How well the start of a file looks like this format.
    pub detect: fn(&Sample<'_>, &Workload) -> Match,
    /// A reader at the start of a file, with the options of the workload that concern it.
    pub open: fn(&Workload) -> Box<dyn TraceReader>,
}

/// All trace formats; one line each.
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
