//! fio's iolog, versions 2 and 3: the format that fio's `write_iolog` writes and `read_iolog` replays ("Trace file format" in fio's manual).
//!
//! The first line names the version. In version 2, the lines are `file action` (add, open, close) and `file action offset length` (read, write, trim,
//! sync, datasync, sync_file_range, wait). Version 3 has a time stamp before each line and no wait. Offsets and lengths are in bytes. Files are
//! devices, numbered in the order in which they are added. The addresses of each begin at 0, so that several files of one log overlap on the drive.
//!
//! - Time stamps of version 3 are microseconds from the start of the job: the manual names no unit, fio writes microseconds.
//! - Version 2 has no clock but `wait`. According to the manual, its number is microseconds after the previous wait; fio 3.33 interprets it as
//!   milliseconds since the start of the job. `workload.iolog-wait` selects the meaning. The manual's "everything below 100 is discarded" describes a
//!   limit of fio's sleep and is not applied.
//! - `sync` and `datasync` are flushes with `workload.flushes`; otherwise they are ignored and counted. `sync_file_range` is always ignored and
//!   counted: the writes that it syncs are in the log.

use rustc_hash::FxHashMap;

use super::fields::Fields;
use super::line_errors::{LineError, LineErrorKind};
use super::sample::{FormatMatch, Sample};
use super::{Format, Framing, Line, RawRequest, TraceReader};
use crate::config::{IologWait, TraceFormat};
use crate::request::RequestKind;
use crate::units::Time;

pub static FORMAT: Format = Format {
    kind: Some(TraceFormat::FioIolog),
    name: "fio-iolog",
    title: "fio iolog",
    framing: Framing::Lines,
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, _| match sample.lines.first() {
        Some((_, line)) if Version::of_header(line).is_some() => FormatMatch::CERTAIN,
        Some((number, line)) => FormatMatch::none_at(*number, MISSING_HEADER, line),
        None => FormatMatch::NONE,
    },
    open: |workload| {
        let counts_from_start = workload.iolog_wait == IologWait::SinceStart;
        Box::new(FioIolog { flushes: workload.flushes, counts_from_start, ..FioIolog::default() })
    },
};

const MISSING_HEADER: LineError = LineError {
    reason: LineErrorKind::Header,
    column: 1,
    expected: "the header \"fio version 2 iolog\" or \"fio version 3 iolog\"",
};

/// The maximum number of files in one log, which bounds memory.
const FILES_MAX: usize = 65_536;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Two,
    Three,
}

impl Version {
    fn of_header(line: &[u8]) -> Option<Version> {
        match line.trim_ascii() {
            b"fio version 2 iolog" => Some(Version::Two),
            b"fio version 3 iolog" => Some(Version::Three),
            _ => None,
        }
    }
}

#[derive(Default)]
struct FioIolog {
    flushes: bool,
    /// Whether the number of a `wait` is milliseconds from the start of the log.
    counts_from_start: bool,
    version: Option<Version>,
    /// The time reached by the waits so far, in microseconds (version 2).
    waited_us: u64,
    files: FxHashMap<Box<[u8]>, u32>,
}

impl TraceReader for FioIolog {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let Some(version) = self.version else {
            self.version = Some(Version::of_header(record).ok_or(MISSING_HEADER)?);
            return Ok(Line::Skipped);
        };
        let mut fields = Fields::new(record);
        fields.skip_blanks();
        let time_column = fields.column();
        let mut time_us = self.waited_us;
        if version == Version::Three {
            time_us = fields.number("the time stamp in microseconds")?;
            fields.next_blank_separated("the file")?;
        }
        let file_column = fields.column();
        let file = fields.blank_separated_word();
        fields.next_blank_separated("the action")?;
        let action_column = fields.column();
        let kind = match fields.blank_separated_word() {
            b"read" => RequestKind::Read,
            b"write" => RequestKind::Write,
            b"trim" => RequestKind::Deallocate,
            b"sync" | b"datasync" if self.flushes => RequestKind::Flush,
            b"sync" => return Ok(Line::Ignored("sync")),
            b"datasync" => return Ok(Line::Ignored("datasync")),
            b"sync_file_range" => return Ok(Line::Ignored("sync_file_range")),
            b"add" => {
                fields.end()?;
                return self.add_file(file, file_column);
            }
            b"open" | b"close" => return fields.end().map(|()| Line::Skipped),
            b"wait" if version == Version::Two => return self.wait(&mut fields),
            b"wait" => {
                return Err(LineError::new(
                    LineErrorKind::Kind,
                    action_column,
                    "another action (version 3 has no wait)",
                ));
            }
            _ => {
                return Err(LineError::new(
                    LineErrorKind::Kind,
                    action_column,
                    "an action of fio: read, write, trim, ...",
                ));
            }
        };
        let unknown_file = LineError::new(LineErrorKind::UnknownFile, file_column, "a file that an add line has named");
        let device = *self.files.get(file).ok_or(unknown_file)?;
        let time_ps = u128::from(time_us) * u128::from(Time::from_us(1).as_ps());
        if kind == RequestKind::Flush {
            // fio may write an offset and a length after the action. They are ignored.
            return Ok(Line::Request(RawRequest::flush(time_ps, device, (time_column, action_column))));
        }
        fields.next_blank_separated("the offset in bytes")?;
        let offset_column = fields.column();
        let offset = fields.number("the offset in bytes")?;
        fields.next_blank_separated("the length in bytes")?;
        let size_column = fields.column();
        let size = fields.number("the length in bytes")?;
        fields.end()?;
        Ok(Line::Request(RawRequest { time_ps, offset, size, device, kind, time_column, offset_column, size_column }))
    }
}

impl FioIolog {
    fn add_file(&mut self, file: &[u8], column: u16) -> Result<Line, LineError> {
        if !self.files.contains_key(file) {
            if self.files.len() == FILES_MAX {
                return Err(LineError::new(LineErrorKind::TooManyFiles, column, "no more than 65,536 files"));
            }
            // Lossless: the number is below [`FILES_MAX`].
            let device = self.files.len() as u32;
            self.files.insert(file.into(), device);
        }
        Ok(Line::Skipped)
    }

    fn wait(&mut self, fields: &mut Fields<'_>) -> Result<Line, LineError> {
        fields.next_blank_separated("the time to wait in microseconds")?;
        let column = fields.column();
        let wait_us = fields.number("the time to wait in microseconds")?;
        let too_long = LineError::new(LineErrorKind::Number, column, "waits that sum to less than 2^64 microseconds");
        let waited_us = match self.counts_from_start {
            // A wait for a time in the past does not move the clock back.
            true => wait_us.checked_mul(1000).map(|until| until.max(self.waited_us)),
            false => self.waited_us.checked_add(wait_us),
        };
        self.waited_us = waited_us.ok_or(too_long)?;
        Ok(Line::Skipped)
    }
}
