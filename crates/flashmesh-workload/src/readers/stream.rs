//! The stream of requests of a trace, with counts of all lines by outcome.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::address_space::AddressSpace;
use super::input::{Compression, FileIdentity, Input, binary_kind};
use super::line_errors::{LineError, LineErrorKind, Tallies, Tally};
use super::records::{Framing, Record, Records};
use super::reorder::{ReorderOutcome, ReorderWindow, TimedRequest};
use super::sample::{Sample, format_of, has_content, looks_like_records, named};
use super::{Format, Line, TraceReader};
use crate::config::{TraceAddressUnit, TraceFormat, TraceTimeUnit, Workload};
use crate::error::WorkloadError;
use crate::request::IoRequest;
use crate::units::{Bytes, Time};

/// The bytes sampled to detect the format, and to distinguish text from binary.
const SAMPLE_BYTES: usize = 64 << 10;

/// The requests of one trace, read one by one in constant memory.
///
/// The first request arrives at time zero and arrivals never decrease. Unless `workload.beyond` is `send`, every request lies on
/// the drive, in whole sectors.
pub struct TraceStream {
    records: Records,
    reader: Box<dyn TraceReader>,
    format: &'static Format,
    fit: AddressSpace,
    window: ReorderWindow,
    has_file_ended: bool,
    /// Whether any number of requests may be out of order, as long as the sorting window can sort them.
    is_sorted_here: bool,
    /// The unit of time stamps; `None` if the format determines the unit.
    time_unit: Option<TraceTimeUnit>,
    /// The unit of offsets and sizes; `None` if the format determines the unit.
    address_unit: Option<TraceAddressUnit>,
    left: u64,
    /// The time stamp of the first request, which arrives at time zero; `None` before that request.
    origin_ps: Option<u128>,
    fates: LineOutcomes,
}

#[derive(Default)]
struct LineOutcomes {
    skipped: u64,
    handed_out: u64,
    wrapped: u64,
    rejected: Tallies<LineErrorKind>,
    reordered: Tallies<LineErrorKind>,
    ignored: Tallies<&'static str>,
}

/// The number of lines so far, by outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineCounts {
    /// The lines read, or the records of a binary trace.
    pub lines: u64,
    /// Lines that are requests, including requests still in the sorting window.
    pub usable: u64,
    /// Lines that cannot be used, because they are invalid or do not fit the drive.
    pub rejected: u64,
    /// Lines with an action without work for the drive.
    pub ignored: u64,
    /// Lines without requests: blank lines, comments, headers and bookkeeping.
    pub skipped: u64,
}

impl TraceStream {
    /// Opens the trace of `workload` for a drive of `capacity` with sectors of `sector_size`.
    ///
    /// # Errors
    /// If no trace is named, or the file is missing, empty, damaged, binary or of no known format.
    pub fn open(workload: &Workload, capacity: Bytes, sector_size: Bytes) -> Result<TraceStream, WorkloadError> {
        TraceStream::new(Input::open(trace_of(workload)?)?, None, workload, capacity, sector_size)
    }

    /// Opens the trace of `workload` in a format that is not in [`FORMATS`](super::FORMATS).
    ///
    /// # Errors
    /// If no trace is named, or the file is missing, empty, damaged, or binary although the format is text.
    pub fn open_as(
        format: &'static Format,
        workload: &Workload,
        capacity: Bytes,
        sector_size: Bytes,
    ) -> Result<TraceStream, WorkloadError> {
        TraceStream::new(Input::open(trace_of(workload)?)?, Some(format), workload, capacity, sector_size)
    }

    /// Opens a trace like [`TraceStream::open`], but from any reader; `path` only names the reader in messages.
    ///
    /// # Errors
    /// Like [`TraceStream::open`].
    pub fn from_reader(
        path: PathBuf,
        reader: impl Read + Send + 'static,
        workload: &Workload,
        capacity: Bytes,
        sector_size: Bytes,
    ) -> Result<TraceStream, WorkloadError> {
        TraceStream::new(Input::from_reader(&path, reader)?, None, workload, capacity, sector_size)
    }

    /// Opens `input` as `format`. If `format` is `None`, opens it in the format that `workload` names, or else in the detected format. Fails like
    /// [`TraceStream::open`].
    fn new(
        input: Input,
        format: Option<&'static Format>,
        workload: &Workload,
        capacity: Bytes,
        sector_size: Bytes,
    ) -> Result<Self, WorkloadError> {
        let fit = AddressSpace::new(capacity, sector_size, workload.beyond)?;
        let path = input.path().to_owned();
        let mut records = Records::new(input)?;
        let refuse = |message| WorkloadError::Parse { path: path.clone(), line: 0, column: 0, message };
        if records.sample().is_empty() {
            return Err(refuse("the trace is empty".to_owned()));
        }
        let comments = records.skip_comments(SAMPLE_BYTES)?;
        let bytes = &records.sample()[..records.sample().len().min(SAMPLE_BYTES)];
        let sample = Sample::new(bytes);
        let is_text_wanted = match format.or_else(|| named(workload.format)) {
            Some(format) => format.framing == Framing::Lines,
            None => !looks_like_records(&sample, workload),
        };
        if is_text_wanted && let Some(kind) = binary_kind(bytes) {
            return Err(refuse(kind));
        }
        if is_text_wanted && sample.lines.is_empty() {
            return Err(refuse("the trace holds no requests, only blank lines and comments".to_owned()));
        }
        let format = match format {
            Some(format) => format,
            None => format_of(&sample, workload, &path)?,
        };
        records.set_framing(format.framing);
        Ok(TraceStream {
            records,
            reader: (format.open)(workload),
            format,
            fit,
            window: ReorderWindow::default(),
            has_file_ended: false,
            is_sorted_here: workload.sort || format.is_merged,
            time_unit: (format.kind == Some(TraceFormat::Ascii))
                .then(|| workload.time_unit.unwrap_or(TraceTimeUnit::Nanoseconds)),
            address_unit: (format.kind == Some(TraceFormat::Ascii)).then_some(workload.address_unit),
            left: workload.requests.unwrap_or(u64::MAX),
            origin_ps: None,
            fates: LineOutcomes { skipped: comments, ..LineOutcomes::default() },
        })
    }

    /// Returns the next request; `None` at the end of the trace or after `workload.requests`.
    ///
    /// # Errors
    /// If the file vanishes or shrinks, or its compressed data is damaged.
    pub fn next_request(&mut self) -> Result<Option<IoRequest>, WorkloadError> {
        if self.left == 0 {
            return Ok(None);
        }
        loop {
            while let Some(released) = self.window.release(self.has_file_ended) {
                if let Some(request) = self.hand_out(released) {
                    return Ok(Some(request));
                }
            }
            if self.has_file_ended {
                return Ok(None);
            }
            self.take_record()?;
        }
    }

    /// Reads one record into the sorting window, or counts it as rejected, ignored or skipped.
    fn take_record(&mut self) -> Result<(), WorkloadError> {
        let number = self.records.number() + 1;
        let record = match self.records.next()? {
            None => {
                self.has_file_ended = true;
                return Ok(());
            }
            Some(Record::Whole(record)) => record,
            Some(Record::LongComment) => {
                self.fates.skipped += 1;
                return Ok(());
            }
            Some(Record::TooLong) => {
                let message = || format!("the line is longer than {} bytes", super::RECORD_BYTES_MAX);
                self.fates.rejected.reject(LineErrorKind::TooLong, (number, 0), message);
                return Ok(());
            }
        };
        if self.format.framing == Framing::Lines && !has_content(record) {
            self.fates.skipped += 1;
            return Ok(());
        }
        let raw = match self.reader.parse(record) {
            Ok(Line::Request(raw)) => raw,
            Ok(Line::Skipped) => {
                self.fates.skipped += 1;
                return Ok(());
            }
            Ok(Line::Ignored(action)) => {
                let message = || format!("{action}: no work of the drive is asked, or it is not said which");
                self.fates.ignored.count(action, || action.to_owned(), (number, 0), message);
                return Ok(());
            }
            Err(bad) => {
                self.fates.reject_bad(bad, number, record, self.format.framing);
                return Ok(());
            }
        };
        let fitted = match self.fit.fit(raw.kind, raw.offset, raw.size) {
            Ok(fitted) => fitted,
            Err(reason) => {
                self.fates.reject_unfit(reason, number, &raw, self.fit.capacity());
                return Ok(());
            }
        };
        self.fates.wrapped += u64::from(fitted.is_wrapped);
        let placed = self.window.offer(TimedRequest {
            time_ps: raw.time_ps,
            offset: fitted.offset,
            size: fitted.size,
            line: number,
            device: raw.device,
            time_column: raw.time_column,
            kind: raw.kind,
        });
        if placed != ReorderOutcome::InOrder {
            self.fates.count_misplaced(placed, (number, raw.time_column));
        }
        Ok(())
    }

    fn hand_out(&mut self, released: TimedRequest) -> Option<IoRequest> {
        let origin_ps = *self.origin_ps.get_or_insert(released.time_ps);
        let Ok(arrival_ps) = u64::try_from(released.time_ps - origin_ps) else {
            let message = || "the request comes more than 213 days after the first, beyond the clock".to_owned();
            self.fates.rejected.reject(LineErrorKind::TimeLeapsAhead, (released.line, released.time_column), message);
            return None;
        };
        self.left -= 1;
        self.fates.handed_out += 1;
        Some(IoRequest {
            arrival: Time::from_ps(arrival_ps),
            kind: released.kind,
            offset: Bytes::new(released.offset),
            size: Bytes::new(released.size),
            stream: released.device,
        })
    }

    /// Returns the path of the file, for messages.
    pub fn path(&self) -> &Path {
        self.records.path()
    }

    /// Returns the format of the trace, as configured or detected.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Returns whether any number of requests may be out of order, as long as the sorting window can sort them.
    pub(super) fn may_be_unsorted(&self) -> bool {
        self.is_sorted_here
    }

    /// Returns the unit of time stamps; `None` if the format determines the unit.
    pub(super) fn time_unit(&self) -> Option<TraceTimeUnit> {
        self.time_unit
    }

    /// Returns the unit of offsets and sizes; `None` if the format determines the unit.
    pub(super) fn address_unit(&self) -> Option<TraceAddressUnit> {
        self.address_unit
    }

    /// Returns the identity of the file when it was opened; `None` if the trace is not read from a file.
    pub fn identity(&self) -> Option<FileIdentity> {
        self.records.identity()
    }

    /// Returns the compression, which was detected from the first bytes of the file.
    pub fn compression(&self) -> Compression {
        self.records.compression()
    }

    /// Returns the number of lines so far, by outcome.
    pub fn line_counts(&self) -> LineCounts {
        LineCounts {
            lines: self.records.number(),
            usable: self.fates.handed_out + self.window.len() as u64,
            rejected: self.fates.rejected.lines(),
            ignored: self.fates.ignored.lines(),
            skipped: self.fates.skipped,
        }
    }

    /// Returns the tallies of rejected lines, each with its reason, in the order of first occurrence.
    pub(super) fn rejected(&self) -> &[(LineErrorKind, Tally)] {
        self.fates.rejected.entries()
    }

    /// Returns the tally of requests that were out of order and sorted; `None` if there are none.
    pub(super) fn reordered(&self) -> Option<&Tally> {
        self.fates.reordered.entries().first().map(|(_, tally)| tally)
    }

    /// Returns the tallies of ignored lines, one per action.
    pub(super) fn ignored(&self) -> Vec<Tally> {
        self.fates.ignored.tallies()
    }

    /// Returns the number of requests whose address was taken modulo the capacity.
    pub(super) fn wrapped(&self) -> u64 {
        self.fates.wrapped
    }
}

fn trace_of(workload: &Workload) -> Result<&Path, WorkloadError> {
    workload.trace.as_deref().ok_or_else(|| {
        WorkloadError::Unusable("no trace file is named: set workload.trace, or pass --trace FILE".to_owned())
    })
}

impl LineOutcomes {
    #[cold]
    fn reject_bad(&mut self, bad: LineError, number: u64, record: &[u8], framing: Framing) {
        let is_binary = framing == Framing::Lines && memchr::memchr(0, record).is_some();
        let reason = if is_binary { LineErrorKind::Binary } else { bad.reason };
        self.rejected.reject(reason, (number, bad.column), || bad.message(record, framing));
    }

    #[cold]
    fn reject_unfit(&mut self, reason: LineErrorKind, number: u64, raw: &super::RawRequest, capacity: Bytes) {
        let column = if reason == LineErrorKind::BeyondDrive { raw.offset_column } else { raw.size_column };
        self.rejected.reject(reason, (number, column), || match reason {
            LineErrorKind::BeyondDrive => format!(
                "{} bytes from byte {} on end beyond the drive of {} bytes",
                raw.size,
                raw.offset,
                capacity.as_u64()
            ),
            LineErrorKind::ZeroSize => "the size is zero".to_owned(),
            _ => format!("{} bytes in one request are more than {}", raw.size, super::SIZE_MAX),
        });
    }

    #[cold]
    fn count_misplaced(&mut self, placed: ReorderOutcome, place: (u64, u16)) {
        match placed {
            ReorderOutcome::InOrder => {}
            ReorderOutcome::OutOfOrder => {
                let message = || "the time stamp lies before an earlier one".to_owned();
                self.reordered.reject(LineErrorKind::OutOfOrder, place, message);
            }
            ReorderOutcome::Refused(reason) => self.rejected.reject(reason, place, || misplaced_message(reason)),
            ReorderOutcome::Displaced(reason, thrown_out) => {
                let place = (thrown_out.line, thrown_out.time_column);
                self.rejected.reject(reason, place, || misplaced_message(reason));
            }
        }
    }
}

fn misplaced_message(reason: LineErrorKind) -> String {
    match reason {
        LineErrorKind::TimeLeapsAhead => "the time stamp lies far ahead of those around it".to_owned(),
        _ => "the time stamp lies far before those around it".to_owned(),
    }
}
